//! How much the outcomes of a port scatter, from one outcome of a channel to the next: a change of the speed
//! counts once in this, and not with every outcome after it.

use serde::{Deserialize, Serialize};

/// The relative variance before anything was seen, and how many pairs of outcomes it counts as.
const FIRST: f64 = 0.1;
const FIRST_PAIRS: f64 = 4.0;
/// The least weight of a new pair.
const FORGETTING: f64 = 1.0 / 64.0;
/// The mean distance of two normal numbers, in standard deviations.
const DISTANCE: f64 = 1.128;

/// The noise of a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Noise {
    pairs: u64,
    /// The variance relative to the square of the speed.
    relative: f64,
    /// The standard deviation in the unit of the reporters.
    absolute: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self { pairs: 0, relative: FIRST, absolute: 0.0 }
    }
}

impl Noise {
    /// Two outcomes of a channel, one after the other.
    pub(super) fn add(&mut self, earlier: f64, later: f64) {
        let (mean, distance) = (earlier / 2.0 + later / 2.0, (earlier - later).abs());
        if mean <= 0.0 {
            return;
        }
        self.pairs += 1;
        let weight = (1.0 / (self.pairs as f64 + FIRST_PAIRS)).max(FORGETTING);
        let relative = distance / mean;
        self.relative += weight * (relative * relative / 2.0 - self.relative);
        self.absolute += weight * (distance / DISTANCE - self.absolute);
    }

    /// All speeds are so many times what they were.
    pub(super) fn change_unit(&mut self, factor: f64) {
        self.absolute = (self.absolute * factor).min(f64::MAX);
    }

    /// The standard deviation relative to the speed, if it grows with the speed.
    pub(super) fn relative(&self) -> f64 {
        self.relative.sqrt()
    }

    /// The standard deviation relative to a speed, if it is the same for all speeds.
    pub(super) fn absolute(&self, speed: f64) -> f64 {
        (self.absolute / speed).min(LARGEST)
    }
}

/// So that squares are finite.
const LARGEST: f64 = 1e100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_found_in_any_unit_and_a_step_counts_once() {
        for unit in [1e-200, 1.0, 1e200] {
            let mut noise = Noise::default();
            // A tenth more or less in turn, at a speed of 1 and then of 1000.
            let speed = |at: u32| {
                unit * (if at < 500 { 1.0 } else { 1000.0 }) * if at.is_multiple_of(2) { 1.1 } else { 0.9 }
            };
            (1..500).for_each(|at| noise.add(speed(at - 1), speed(at)));
            assert!((0.1..0.2).contains(&noise.relative()), "{noise:?}");
            assert!((0.1..0.2).contains(&noise.absolute(unit)), "{noise:?}");
            (500..1000).for_each(|at| noise.add(speed(at - 1), speed(at)));
            assert!((0.1..0.3).contains(&noise.relative()), "{noise:?}");
            assert!((0.1..0.3).contains(&noise.absolute(1000.0 * unit)), "{noise:?}");
            noise.change_unit(1000.0);
            assert!((0.1..0.3).contains(&noise.absolute(1e6 * unit)), "{noise:?}");
        }
    }
}
