//! One kind of complaint for every number of a simulation's description.

use std::fmt::Display;
use std::ops::RangeInclusive;
use thiserror::Error;

/// A number that is out of range. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{key}` is {value}, expected {accepted}")]
pub struct ParameterError {
    /// The path of the number, such as `rho[2]`.
    pub key: String,
    /// The value found.
    pub value: String,
    /// What is accepted.
    pub accepted: String,
}

impl ParameterError {
    pub(crate) fn new(key: impl Into<String>, value: impl Display, accepted: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.to_string(), accepted: accepted.into() }
    }
}

/// Checks that a number is in a range; NaN is in none.
pub(crate) fn check_number(
    key: impl Into<String>,
    value: f64,
    range: RangeInclusive<f64>,
) -> Result<(), ParameterError> {
    if range.contains(&value) {
        return Ok(());
    }
    // The shortest form: 1e300 has 301 digits otherwise.
    let shown = format!("{value:?}");
    let shown = shown.trim_end_matches(".0");
    Err(ParameterError::new(key, shown, format!("a number from {} to {}", range.start(), range.end())))
}

/// Checks that a whole number is in a range.
pub(crate) fn check_whole(
    key: impl Into<String>,
    value: u64,
    range: RangeInclusive<u64>,
) -> Result<(), ParameterError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ParameterError::new(key, value, format!("a whole number from {} to {}", range.start(), range.end())))
}
