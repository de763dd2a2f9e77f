//! Whole numbers, also where they are written with a point: `4.0` is 4, as JSON Schema has it and as some
//! languages write it.

use esdp::model::Amounts;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The largest; above it, not every whole number can be written with a point.
pub(crate) const LARGEST: u64 = 1 << 53;

/// A whole number, at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let exact = |value: &f64| value.fract() == 0.0 && (0.0..=LARGEST as f64).contains(value);
        let whole = match number.as_u64() {
            Some(number) => Some(number).filter(|number| *number <= LARGEST),
            None => number.as_f64().filter(exact).map(|value| value as u64),
        };
        match whole {
            Some(number) => Ok(Self(number)),
            None => {
                let found = Unexpected::Float(number.as_f64().unwrap_or(f64::NAN));
                Err(D::Error::invalid_value(found, &"a whole number, at least 0"))
            }
        }
    }
}

impl Whole {
    fn small<E: Error>(self) -> Result<u32, E> {
        u32::try_from(self.0)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(self.0), &"a number below 2^32"))
    }
}

pub(super) fn amounts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amounts, D::Error> {
    let amounts = BTreeMap::<String, Whole>::deserialize(deserializer)?;
    Ok(amounts.into_iter().map(|(device, Whole(amount))| (device, amount)).collect())
}

pub(super) fn some_amounts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amounts>, D::Error> {
    let amounts = Option::<BTreeMap<String, Whole>>::deserialize(deserializer)?;
    Ok(amounts.map(|amounts| amounts.into_iter().map(|(device, Whole(amount))| (device, amount)).collect()))
}

/// Amounts that change; none takes one away, or all of them.
pub(super) fn patch<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, Option<u64>>>, D::Error> {
    let amounts = Option::<BTreeMap<String, Option<Whole>>>::deserialize(deserializer)?;
    let named = |(device, amount): (String, Option<Whole>)| (device, amount.map(|Whole(amount)| amount));
    Ok(amounts.map(|amounts| amounts.into_iter().map(named).collect()))
}

pub(super) fn free<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Amounts>, D::Error> {
    let servers = BTreeMap::<String, BTreeMap<String, Whole>>::deserialize(deserializer)?;
    let named = |(device, Whole(amount)): (String, Whole)| (device, amount);
    Ok(servers
        .into_iter()
        .map(|(server, amounts)| (server, amounts.into_iter().map(named).collect()))
        .collect())
}

pub(super) fn small<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Whole::deserialize(deserializer)?.small()
}

pub(super) fn some_small<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::<Whole>::deserialize(deserializer)?.map(Whole::small).transpose()
}

pub(super) fn some_large<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Whole>::deserialize(deserializer)?.map(|Whole(number)| number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_a_point() {
        let read = |text: &str| serde_json::from_str::<Whole>(text).map(|Whole(number)| number).ok();
        assert_eq!([read("4"), read("4.0"), read("1e3")], [Some(4), Some(4), Some(1000)]);
        assert_eq!([read("4.5"), read("-1"), read("1e300"), read("\"4\""), read("null")], [None; 5]);
    }
}
