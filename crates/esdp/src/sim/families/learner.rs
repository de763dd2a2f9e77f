//! What a learner would know of a channel: its index from a truth, or from a plain number.

use super::{Draw, IndexKind};
use crate::rng::Stream;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// How noisy one observation of a speed near 1 is.
const NOISE: f64 = 0.3;
/// The weight of a linear index's bonus.
const BONUS: f64 = 0.5;

/// Gives channels their mean and width.
pub(super) struct Learner {
    index: IndexKind,
    rng: Stream,
    /// `ln t` of the slot that is decided.
    log_slot: f64,
    /// How often the best channels were tried by then.
    tries: f64,
}

impl Learner {
    pub(super) fn new(draw: &Draw) -> Self {
        let mut rng = draw.widths();
        // From slot 100 to 30,000.
        let log_slot = std::f64::consts::LN_10 * rng.random_range(2.0..4.5);
        Self { index: draw.index, rng, log_slot, tries: libm::exp(0.75 * log_slot) }
    }

    /// The mean as it is; a width from a number of tries that tells nothing of the mean. `unit` is
    /// what a mean is typically worth.
    pub(super) fn plain(&mut self, mean: f64, unit: f64) -> (f64, f64) {
        let share: f64 = self.rng.random();
        let tries = libm::ceil(libm::pow(self.tries, share));
        match self.index {
            IndexKind::Linear => (mean, 0.0),
            IndexKind::Optimistic => (mean, unit * unit * self.width(tries)),
        }
    }

    /// As learned: good channels were tried more often, and an estimate is off by what that leaves
    /// open. A linear index has a bonus on every channel.
    pub(super) fn learned(&mut self, truth: f64) -> (f64, f64) {
        let share: f64 = self.rng.random();
        let tries = libm::ceil(1.0 + self.tries * share * libm::pow(truth.clamp(0.0, 1.0), 6.0));
        let noise: f64 = StandardNormal.sample(&mut self.rng);
        let (mean, width) = (truth + NOISE * truth * noise / tries.sqrt(), self.width(tries));
        match self.index {
            IndexKind::Linear => (mean + BONUS * width.sqrt(), 0.0),
            IndexKind::Optimistic => (mean, width),
        }
    }

    /// The squared radius `ln t / (2 n)`.
    fn width(&self, tries: f64) -> f64 {
        self.log_slot / (2.0 * tries)
    }
}
