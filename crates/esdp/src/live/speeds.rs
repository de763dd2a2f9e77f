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
//! Limit: one absurd report makes all others of the port look slow, until the port is reset.

use super::event::{EventError, SpeedReport};
use serde::{Deserialize, Serialize};

/// The scale of a port's speeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpeedScale {
    /// The speed that counts as 1, before the power of two.
    pub reference: f64,
    /// The power of two; none before anything was seen.
    pub exponent: Option<i32>,
}

/// A report in the terms of a scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scaled {
    /// A net utility.
    Utility(f64),
    /// A speed from 0 to 1.
    Speed(f64),
    /// Nothing.
    Lost,
}

impl SpeedScale {
    /// Before anything was seen.
    pub(super) fn new(reference: Option<f64>) -> Self {
        Self { reference: reference.unwrap_or(1.0), exponent: reference.map(|_| 0) }
    }

    /// Takes a report; `raised` is what speeds seen before must be multiplied with, if the scale has grown.
    pub(super) fn take(&mut self, report: SpeedReport) -> Result<(Scaled, Option<f64>), EventError> {
        let number = |key, value: f64, sound: bool, accepted| match sound {
            true => Ok(value),
            false => Err(EventError::Number { key, value, accepted }),
        };
        let positive = "a finite number of at least 0";
        let rate = match report {
            SpeedReport::Lost => return Ok((Scaled::Lost, None)),
            SpeedReport::Utility(value) => {
                let value = number("utility", value, (0.0..=1.0).contains(&value), "a number from 0 to 1")?;
                return Ok((Scaled::Utility(value), None));
            }
            SpeedReport::Rate(value) => number("rate", value, value.is_finite() && value >= 0.0, positive)?,
            SpeedReport::Work { work, seconds } => {
                number("seconds", seconds, seconds.is_finite() && seconds > 0.0, "a finite number above 0")?;
                number("work", work, work.is_finite() && work >= 0.0, positive)?;
                work / seconds
            }
        };
        let relative = rate / self.reference;
        number("rate", rate, relative.is_finite(), "a speed whose ratio to the reference is finite")?;
        if relative == 0.0 {
            return Ok((Scaled::Speed(0.0), None));
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
        Ok((Scaled::Speed(speed.min(1.0)), raised))
    }

    /// A speed from 0 to 1 in the unit in which it was reported.
    pub fn in_unit(&self, speed: f64) -> f64 {
        libm::ldexp(speed, self.exponent.unwrap_or(0)) * self.reference
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
        match scale.take(SpeedReport::Rate(rate)).unwrap() {
            (Scaled::Speed(speed), raised) => (speed, raised),
            other => panic!("{other:?}"),
        }
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
        assert_eq!(scale.take(report).unwrap(), (Scaled::Speed(500.0 / 1024.0), None));
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
        for rate in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(scale.take(SpeedReport::Rate(rate)).is_err());
        }
        assert!(scale.take(SpeedReport::Utility(1.1)).is_err());
        assert!(scale.take(SpeedReport::Work { work: 1.0, seconds: 0.0 }).is_err());
    }
}
