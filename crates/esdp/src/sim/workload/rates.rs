//! A number for all ports, or one for each, by position or by name.

use crate::model::PortId;
use crate::sim::parameter::{ParameterError, check_number};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// A number for all ports, or one for each; written as a number, a list, or a table by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rates {
    /// The same for all ports.
    All(f64),
    /// One per port.
    Each(Vec<f64>),
    /// One per port, by name.
    Named(BTreeMap<String, f64>),
}

impl Rates {
    /// The number of a port.
    ///
    /// # Panics
    /// If there is none for it, or they are by name: see [`by_port`](Rates::by_port).
    pub fn of(&self, port: PortId) -> f64 {
        match self {
            Rates::All(rate) => *rate,
            Rates::Each(rates) => rates[port.index()],
            Rates::Named(_) => panic!("names are turned into positions first"),
        }
    }

    /// The same by position, where it is by name.
    ///
    /// # Errors
    /// When a port is missing, or there is no such port.
    pub fn by_port(&self, key: &str, ports: &[String]) -> Result<Self, ParameterError> {
        let Rates::Named(rates) = self else { return Ok(self.clone()) };
        if let Some(name) = rates.keys().find(|name| !ports.contains(name)) {
            let accepted = format!("the ports {}", ports.join(", "));
            return Err(ParameterError::new(key, format!("a table with `{name}`"), accepted));
        }
        let of = |port: &String| {
            let missing =
                || ParameterError::new(key, format!("a table without `{port}`"), "one number per port");
            rates.get(port).copied().ok_or_else(missing)
        };
        Ok(Rates::Each(ports.iter().map(of).collect::<Result<_, _>>()?))
    }

    /// The same by position, checked as weights: positive, one for each port.
    pub(crate) fn weights(&self, key: &str, ports: &[String]) -> Result<Self, ParameterError> {
        self.check_range(key, 1e-6..=1e6)?;
        self.check_ports(key, ports.len())?;
        self.by_port(key, ports)
    }

    pub(crate) fn check(&self, key: &str, most: f64) -> Result<(), ParameterError> {
        self.check_range(key, 0.0..=most)
    }

    fn check_range(&self, key: &str, range: RangeInclusive<f64>) -> Result<(), ParameterError> {
        let each = |(at, rate): (String, f64)| check_number(at, rate, range.clone());
        match self {
            Rates::All(rate) => check_number(key, *rate, range),
            Rates::Each(rates) => rates
                .iter()
                .enumerate()
                .map(|(port, &rate)| (format!("{key}[{port}]"), rate))
                .try_for_each(each),
            Rates::Named(rates) => {
                rates.iter().map(|(port, &rate)| (format!("{key}.{port}"), rate)).try_for_each(each)
            }
        }
    }

    pub(crate) fn check_ports(&self, key: &str, ports: usize) -> Result<(), ParameterError> {
        match self {
            Rates::Each(rates) if rates.len() != ports => {
                let found = format!("a list of {} numbers", rates.len());
                Err(ParameterError::new(key, found, format!("one number, or {ports}, one per port")))
            }
            _ => Ok(()),
        }
    }
}

impl From<f64> for Rates {
    fn from(rate: f64) -> Self {
        Rates::All(rate)
    }
}

impl From<Vec<f64>> for Rates {
    fn from(rates: Vec<f64>) -> Self {
        Rates::Each(rates)
    }
}

// By hand: an untagged enum would say no more than that nothing matched.
impl<'de> Deserialize<'de> for Rates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Rates;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers, or a table of numbers by port")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Rates, E> {
                Ok(Rates::All(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Rates, E> {
                Ok(Rates::All(value as f64))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Rates, E> {
                Ok(Rates::All(value as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Rates, A::Error> {
                let mut rates = Vec::new();
                while let Some(rate) = items.next_element()? {
                    rates.push(rate);
                }
                Ok(Rates::Each(rates))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Rates, A::Error> {
                let mut rates = BTreeMap::new();
                while let Some((port, rate)) = items.next_entry()? {
                    rates.insert(port, rate);
                }
                Ok(Rates::Named(rates))
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}
