//! Comparing values of different answers.

/// Sums of a few hundred numbers.
const ROUNDING: f64 = 1e-9;

/// Whether a number is at least another, but for rounding.
pub fn at_least(a: f64, b: f64) -> bool {
    a >= b - ROUNDING * b.abs()
}
