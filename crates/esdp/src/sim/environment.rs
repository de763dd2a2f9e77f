//! How fast chosen channels run, and the truth about it.
//!
//! The paper draws a channel's speed from `N(mu, mu/2)` with `mu ~ U(0.1, 1)`. Its net
//! utility is the speed less the supply cost, clipped to [0, 1]. With `m = mu - cost`,
//! `s = mu/2`, `a = -m/s` and `b = (1-m)/s`, the mean of the clipped law is
//!
//! ```text
//! m (Phi(b) - Phi(a)) - s (phi(b) - phi(a)) + 1 - Phi(b)
//! ```
//!
//! which is what the oracle knows and what a decision is credited with.

use crate::model::{ChannelId, Cluster, Observation, Outcome, Slot};
use crate::policy::Truth;
use crate::rng::{Purpose, Stream, stream};
use crate::scheduler::Decision;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::Arc;

/// A world that runs decisions. It alone knows the true means.
pub trait Environment: Truth {
    /// Runs a decision and adds what is observed now, possibly of earlier slots.
    fn run(&mut self, decision: &Decision, seen: &mut Vec<Observation>);
}

/// Normal speeds that never change, as in the paper's evaluation.
#[derive(Debug, Clone)]
pub struct NormalSpeeds {
    cluster: Arc<Cluster>,
    seed: u64,
    /// Each channel's mean speed, *mu*.
    speeds: Vec<f64>,
    /// Each channel's mean net utility after clipping.
    means: Vec<f64>,
}

/// The standard deviation of a speed, as a share of its mean.
const DEVIATION: f64 = 0.5;

impl NormalSpeeds {
    /// Draws each channel's mean speed from `U(0.1, 1)`.
    pub fn new(cluster: Arc<Cluster>, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Laws, 0, 0);
        let speeds = (0..cluster.channels().len()).map(|_| rng.random_range(0.1..1.0)).collect();
        Self::with_speeds(cluster, seed, speeds)
    }

    /// Takes the mean speeds as given, one a channel.
    ///
    /// # Panics
    /// If there is not one for every channel.
    pub fn with_speeds(cluster: Arc<Cluster>, seed: u64, speeds: Vec<f64>) -> Self {
        assert_eq!(speeds.len(), cluster.channels().len(), "one mean speed a channel");
        let net = |(channel, &mu): (usize, &f64)| {
            clipped_normal_mean(mu - cluster.cost(ChannelId::at(channel)), DEVIATION * mu)
        };
        let means = speeds.iter().enumerate().map(net).collect();
        Self { cluster, seed, speeds, means }
    }

    /// The true mean net utilities, in the order of the channels' ids.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The truth for an oracle.
    pub fn truth(&self) -> Box<dyn Truth> {
        Box::new(FixedTruth(self.means.clone()))
    }
}

impl Truth for NormalSpeeds {
    fn means(&mut self, _slot: Slot) -> &[f64] {
        &self.means
    }
}

impl Environment for NormalSpeeds {
    fn run(&mut self, decision: &Decision, seen: &mut Vec<Observation>) {
        let slot = decision.slot();
        let mut open: Option<(ChannelId, Stream)> = None;
        for &channel in decision.channels() {
            // Channels come sorted: several jobs on one channel go on with its stream.
            let rng = match &mut open {
                Some((current, rng)) if *current == channel => rng,
                _ => &mut open.insert((channel, stream(self.seed, Purpose::Speeds, slot.0, u64::from(channel.0)))).1,
            };
            let noise: f64 = StandardNormal.sample(rng);
            let speed = self.speeds[channel.index()] * (1.0 + DEVIATION * noise);
            let outcome = Outcome::Ran(self.cluster.net_utility(channel, speed));
            seen.push(Observation { slot, channel, outcome });
        }
    }
}

/// True means that are the same in every slot.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedTruth(pub Vec<f64>);

impl Truth for FixedTruth {
    fn means(&mut self, _slot: Slot) -> &[f64] {
        &self.0
    }
}

/// The mean of `N(mean, deviation)` clipped to [0, 1].
///
/// ```
/// use esdp::sim::clipped_normal_mean;
///
/// assert_eq!(clipped_normal_mean(0.5, 0.2), 0.5); // symmetric
/// assert_eq!(clipped_normal_mean(1.7, 0.0), 1.0);
/// ```
pub fn clipped_normal_mean(mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return mean.clamp(0.0, 1.0);
    }
    let (a, b) = (-mean / deviation, (1.0 - mean) / deviation);
    let inside = normal_cdf(b) - normal_cdf(a);
    let above = normal_cdf(-b);
    (mean * inside - deviation * (normal_density(b) - normal_density(a)) + above).clamp(0.0, 1.0)
}

/// Accurate in both tails: `erfc` does not cancel.
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_integral() {
        for (mean, deviation) in [(0.3, 0.2), (-0.1, 0.05), (0.9, 0.5), (0.02, 0.06), (1.4, 0.3), (0.5, 3.0)] {
            // Midpoints of 200,000 strips over +-9 deviations.
            let (strips, width) = (200_000, 18.0 / 200_000.0);
            let strip = |i: i32| {
                let z = -9.0 + (f64::from(i) + 0.5) * width;
                (mean + deviation * z).clamp(0.0, 1.0) * normal_density(z) * width
            };
            let integral: f64 = (0..strips).map(strip).sum();
            let found = clipped_normal_mean(mean, deviation);
            assert!((found - integral).abs() < 1e-8, "{mean} {deviation}: {found}, not {integral}");
        }
    }
}
