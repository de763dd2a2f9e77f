//! Speeds in any unit.
//!
//! Policies learn net utilities from 0 to 1. Drivers report speeds in whatever unit they have: images or
//! tokens a second, slots per job. Every port has a scale of its own,
//!
//! ```text
//! speed = rate / reference / 2^exponent
//! ```
//!
//! with the smallest exponent that keeps every speed seen so far at or below 1. When something faster comes,
//! the exponent is raised and what was learned is multiplied by a power of two, which is exact: the numbers
//! are what they would have been had the scale been known from the start. The reference is 1 unless the port
//! has one, whose exponent is then at least 0.
//!
//! Under the rule for queues the reference of a port without one is twice the first speed that is reported,
//! so that optimism counts as much at every port, and speeds relative to it are rounded to [`DIGITS`]
//! binary digits. What is learned then does not depend on the unit, whatever it is: multiplied by any
//! constant, all reports give the same numbers, but for the rare speed whose last digits round the other
//! way.
//!
//! Where speeds have not come near 1 for long, the exponent comes down again, as exactly. When the unit in
//! which a port's speeds are reported has changed, which [`judge`](super::judge) finds out, only `unit` does:
//! what was learned is as true as before.

use super::event::{EventError, SpeedReport};
use serde::{Deserialize, Serialize};

/// The scale comes down once its end is so many powers of two above all speeds.
const FAR_FROM_END: i32 = 3;

/// The binary digits of a speed relative to the first one of its port.
const DIGITS: u32 = 30;

/// The scale of a port's speeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpeedScale {
    /// The speed that counts as 1, before the power of two.
    pub reference: f64,
    /// The power of two; none before anything was seen.
    pub exponent: Option<i32>,
    /// How many times larger the numbers have become since the reporters count in another unit.
    #[serde(default = "same", skip_serializing_if = "is_same")]
    pub unit: f64,
    /// Whether the reference was made of the first speed that was reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
}

fn same() -> f64 {
    1.0
}

fn is_same(unit: &f64) -> bool {
    *unit == 1.0
}

/// A report that was checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Told {
    /// A net utility.
    Utility(f64),
    /// A speed in the unit of the reporters.
    Speed(f64),
    /// Nothing.
    Lost,
}

impl SpeedScale {
    /// Before anything was seen.
    pub(super) fn new(reference: Option<f64>) -> Self {
        Self { reference: reference.unwrap_or(1.0), exponent: reference.map(|_| 0), unit: 1.0, is_own: false }
    }

    /// Checks a report.
    pub(super) fn check(&self, report: SpeedReport) -> Result<Told, EventError> {
        let number = |key, value: f64, sound: bool, accepted| match sound {
            true => Ok(value),
            false => Err(EventError::Number { key, value, accepted }),
        };
        let positive = "a finite number of at least 0";
        let rate = match report {
            SpeedReport::Lost => return Ok(Told::Lost),
            SpeedReport::Utility(value) => {
                let value = number("utility", value, (0.0..=1.0).contains(&value), "a number from 0 to 1")?;
                return Ok(Told::Utility(value));
            }
            SpeedReport::Rate(value) => number("rate", value, value.is_finite() && value >= 0.0, positive)?,
            SpeedReport::Work { work, seconds } => {
                number("seconds", seconds, seconds.is_finite() && seconds > 0.0, "a finite number above 0")?;
                number("work", work, work.is_finite() && work >= 0.0, positive)?;
                work / seconds
            }
        };
        let finite = self.relative(rate).is_finite();
        number("rate", rate, finite, "a speed whose ratio to the reference is finite").map(Told::Speed)
    }

    fn relative(&self, rate: f64) -> f64 {
        let relative = rate / self.unit / self.reference;
        // A reference that nobody has chosen refuses nothing; whether to believe it is for the judge to say.
        if self.is_own { rounded(relative).min(f64::MAX) } else { relative }
    }

    /// A speed from 0 to 1; and what speeds seen before must be multiplied with, if the scale has grown.
    pub(super) fn take(&mut self, rate: f64, unit_free: bool) -> (f64, Option<f64>) {
        let first = rate / self.unit;
        // An absurd first speed is no reference: the ratio of others to it might not be finite.
        if unit_free && self.exponent.is_none() && (1e-100..=1e100).contains(&first) {
            (self.reference, self.is_own) = (2.0 * first, true);
        }
        let relative = self.relative(rate);
        if relative == 0.0 {
            return (0.0, None);
        }
        let needed = exponent_of(relative);
        let raised = match self.exponent {
            Some(exponent) if exponent >= needed => None,
            Some(exponent) => Some(libm::ldexp(1.0, (exponent - needed).max(-1074))),
            None => None,
        };
        if self.exponent.is_none_or(|exponent| exponent < needed) {
            self.exponent = Some(needed);
        }
        let speed = libm::ldexp(relative, -self.exponent.unwrap_or(0));
        (speed.min(1.0), raised)
    }

    /// Makes the scale smaller if no speed above `largest` is known and that is far from its end; what speeds
    /// seen before must be multiplied with then. A port's own reference is its smallest end.
    pub(super) fn lower(&mut self, largest: f64, has_reference: bool) -> Option<f64> {
        let relative = self.relative(largest);
        let exponent = self.exponent.filter(|_| relative > 0.0 && relative.is_finite())?;
        let needed = exponent_of(relative).max(if has_reference { 0 } else { i32::MIN });
        let down = exponent - needed;
        (down >= FAR_FROM_END).then(|| {
            self.exponent = Some(needed);
            libm::ldexp(1.0, down)
        })
    }

    /// A speed from 0 to 1 in the unit in which it was reported.
    pub fn in_unit(&self, speed: f64) -> f64 {
        libm::ldexp(speed, self.exponent.unwrap_or(0)) * self.reference * self.unit
    }
}

/// A positive number to so many binary digits.
fn rounded(value: f64) -> f64 {
    let dropped = f64::MANTISSA_DIGITS - DIGITS;
    let half = 1_u64 << (dropped - 1);
    match value.is_normal() {
        true => f64::from_bits((value.to_bits() + half) >> dropped << dropped),
        false => value,
    }
}

/// The smallest power of two that is no less than a number.
fn exponent_of(value: f64) -> i32 {
    let (fraction, exponent) = libm::frexp(value);
    if fraction == 0.5 { exponent - 1 } else { exponent }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(scale: &mut SpeedScale, rate: f64) -> (f64, Option<f64>) {
        scale.take(rate, false)
    }

    #[test]
    fn the_scale_follows_the_fastest() {
        let mut scale = SpeedScale::new(None);
        assert_eq!(speed(&mut scale, 0.0), (0.0, None));
        assert_eq!(speed(&mut scale, 100.0), (100.0 / 128.0, None));
        assert_eq!(speed(&mut scale, 128.0), (1.0, None));
        assert_eq!(speed(&mut scale, 64.0), (0.5, None));
        assert_eq!(speed(&mut scale, 1000.0), (1000.0 / 1024.0, Some(1.0 / 8.0)));
        assert_eq!(scale.in_unit(0.5), 512.0);
        let report = SpeedReport::Work { work: 1000.0, seconds: 2.0 };
        assert_eq!(scale.check(report), Ok(Told::Speed(500.0)));
        assert_eq!(scale.lower(500.0, false), None);
        assert_eq!(scale.lower(100.0, false), Some(8.0));
        assert_eq!(speed(&mut scale, 100.0), (100.0 / 128.0, None));
        scale.unit = 1000.0;
        assert_eq!((scale.in_unit(0.5), speed(&mut scale, 64_000.0)), (64_000.0, (0.5, None)));
    }

    #[test]
    fn tiny_and_huge_speeds_work() {
        for unit in [1e-300, 1e-12, 1.0, 1e12, 1e300] {
            let mut scale = SpeedScale::new(None);
            let (slow, _) = speed(&mut scale, 0.3 * unit);
            assert!((0.5..=1.0).contains(&slow));
            let (fast, raised) = speed(&mut scale, 3.0 * unit);
            let before = slow * raised.unwrap();
            assert!((fast / before - 10.0).abs() < 1e-9, "ten times faster is ten times faster");
            assert!((scale.in_unit(fast) / unit - 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_reference_is_kept_and_what_is_no_speed_is_refused() {
        let mut scale = SpeedScale::new(Some(120.0));
        assert_eq!(speed(&mut scale, 60.0), (0.5, None));
        assert_eq!(speed(&mut scale, 180.0), (0.75, Some(0.5)));
        assert_eq!(scale.lower(0.01, true), None, "its own end is near enough");
        for rate in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(scale.check(SpeedReport::Rate(rate)).is_err());
        }
        assert!(scale.check(SpeedReport::Utility(1.1)).is_err());
        assert!(scale.check(SpeedReport::Work { work: 1.0, seconds: 0.0 }).is_err());
    }
}
