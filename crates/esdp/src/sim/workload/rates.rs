//! A number for all ports, or one for each.

use crate::model::PortId;
use crate::sim::parameter::{ParameterError, check_number};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A number for all ports, or one for each; written as a number or a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rates {
    /// The same for all ports.
    All(f64),
    /// One per port.
    Each(Vec<f64>),
}

impl Rates {
    /// The number of a port.
    ///
    /// # Panics
    /// If there is none for it.
    pub fn of(&self, port: PortId) -> f64 {
        match self {
            Rates::All(rate) => *rate,
            Rates::Each(rates) => rates[port.index()],
        }
    }

    pub(super) fn check(&self, key: &str, most: f64) -> Result<(), ParameterError> {
        match self {
            Rates::All(rate) => check_number(key, *rate, 0.0..=most),
            Rates::Each(rates) => {
                let check =
                    |(port, &rate): (usize, &f64)| check_number(format!("{key}[{port}]"), rate, 0.0..=most);
                rates.iter().enumerate().try_for_each(check)
            }
        }
    }

    pub(super) fn check_ports(&self, key: &str, ports: usize) -> Result<(), ParameterError> {
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
                f.write_str("a number or a list of numbers")
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
        }

        deserializer.deserialize_any(OneOrMany)
    }
}
