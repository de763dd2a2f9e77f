//! `cts`: combinatorial Thompson sampling.
//!
//! Each channel's index is a draw from what is believed of its mean, and the slot is a
//! linear problem, solved exactly. Two beliefs:
//!
//! - `gaussian`: `estimate + sigma / sqrt(n) * N(0,1)`, sigma 0.25; never-tried channels
//!   are covered first.
//! - `beta`: a draw from `Beta(1 + n estimate, 1 + n (1 - estimate))`, whose flat prior needs
//!   no cover. Wider than speeds in [0, 1] need, so it explores more.
//!
//! Open outcomes count in `n` as if they had confirmed the estimate (for `beta` without any
//! outcome: as half good, half bad), so that a channel is not drawn wide again and again
//! while news is under way. A draw depends on the seed, the slot and the channel alone;
//! several jobs at a port share it.

use super::estimator::Estimator;
use super::kit::{Index, Learning, Score};
use super::spec::{SpecError, check_number};
use crate::model::{ChannelId, Cluster, SlotView};
use crate::rng::{Purpose, Stream, stream};
use crate::stats::Statistics;
use rand_distr::{Beta, Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// The parameters of `cts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CtsSpec {
    /// What is believed of a channel: `"gaussian"` (default) or `"beta"`.
    pub belief: Belief,
    /// The standard deviation of one observation, for `gaussian`. At least 0 (default: 0.25).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
    pub sigma: f64,
    /// What the belief stands on: `"means"` (default), or, for `gaussian`, `"pooled"` or `"pooled-by-port"`.
    pub estimator: Estimator,
    /// The share of channels that may be far from others of their kind, for the pooled estimators: 0 to 0.5
    /// (default: 0).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = *super::estimator::SLAB_RANGE.end(), "x-unit" = "share", "x-range" = "0 for `means`")))]
    pub slab: f64,
}

/// What is believed of a channel's mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// Normal around the estimate.
    #[default]
    Gaussian,
    /// Beta with a flat prior.
    Beta,
}

impl Default for CtsSpec {
    fn default() -> Self {
        Self { belief: Belief::Gaussian, sigma: 0.25, estimator: Estimator::Means, slab: 0.0 }
    }
}

impl CtsSpec {
    pub(super) const NAME: &'static str = "cts";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        if self.belief == Belief::Beta && self.estimator != Estimator::Means {
            return Err(SpecError::Parameter {
                policy: Self::NAME,
                key: "estimator",
                value: format!("{:?}", self.estimator).to_lowercase(),
                accepted: "`means` for the belief `beta`, which has a prior of its own".to_owned(),
            });
        }
        check_number(Self::NAME, "sigma", self.sigma, 0.0..=1e6)?;
        self.estimator.check_slab(Self::NAME, self.slab)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster, seed: u64) -> Result<Cts, SpecError> {
        self.check()?;
        let statistics = self.estimator.statistics(cluster, self.slab);
        let index = Draws { belief: self.belief, sigma: self.sigma, seed };
        Ok(Learning::new(Self::NAME, statistics, index))
    }
}

/// A random draw for every channel, one linear problem a slot.
pub type Cts = Learning<Draws>;

/// The index of `cts`.
pub struct Draws {
    belief: Belief,
    sigma: f64,
    seed: u64,
}

fn gaussian(statistics: &dyn Statistics, channel: ChannelId, sigma: f64, rng: &mut Stream) -> Score {
    let noise: f64 = StandardNormal.sample(rng);
    // The variance is 1 / (2 n).
    Score::from(statistics.estimate(channel) + sigma * (2.0 * statistics.variance(channel)).sqrt() * noise)
}

fn beta(statistics: &dyn Statistics, channel: ChannelId, rng: &mut Stream) -> Score {
    let count = 0.5 / statistics.variance(channel); // 0 where the variance is infinite
    let mean =
        if statistics.count(channel) > 0.0 { statistics.estimate(channel).clamp(0.0, 1.0) } else { 0.5 };
    let belief = Beta::new(1.0 + count * mean, 1.0 + count * (1.0 - mean));
    Score::from(belief.expect("both parameters are at least 1").sample(rng))
}

impl Index for Draws {
    fn score(&self, seen: &dyn Statistics, view: &SlotView<'_>, channel: ChannelId) -> Score {
        let mut rng = stream(self.seed, Purpose::Policy, view.slot.0, u64::from(channel.0));
        match self.belief {
            Belief::Gaussian => gaussian(seen, channel, self.sigma, &mut rng),
            Belief::Beta => beta(seen, channel, &mut rng),
        }
    }

    /// A flat prior says something of what was never tried.
    fn covers(&self) -> bool {
        self.belief == Belief::Gaussian
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Observation, Outcome, Slot};
    use crate::stats::Means;

    /// Mean and standard deviation of many draws for a channel with 8 outcomes of 0.75 and 2 open ones.
    fn moments(draw: impl Fn(&dyn Statistics, &mut Stream) -> Score) -> (f64, f64) {
        let (mut statistics, channel) = (Means::new(1), ChannelId(0));
        for _ in 0..8 {
            statistics.observe(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(0.75) });
        }
        (0..2).for_each(|_| statistics.commit(Slot(1), channel));
        let draws: Vec<f64> = (0..20_000)
            .map(|slot| draw(&statistics, &mut stream(3, Purpose::Policy, slot, 0)).mean)
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn draws_have_the_moments_of_the_belief() {
        let (mean, deviation) = moments(|s, rng| gaussian(s, ChannelId(0), 0.25, rng));
        assert!((mean - 0.75).abs() < 0.003 && (deviation - 0.25 / 10f64.sqrt()).abs() < 0.002);

        // Beta(8.5, 3.5).
        let (mean, deviation) = moments(|s, rng| beta(s, ChannelId(0), rng));
        let expected = (8.5 * 3.5 / (12.0 * 12.0 * 13.0f64)).sqrt();
        assert!((mean - 8.5 / 12.0).abs() < 0.005 && (deviation - expected).abs() < 0.003);
    }

    #[test]
    fn the_flat_prior_needs_no_cover() {
        let statistics = Means::new(1);
        let Score { mean, width } = beta(&statistics, ChannelId(0), &mut stream(0, Purpose::Policy, 1, 0));
        assert!((0.0..=1.0).contains(&mean) && width == 0.0);
    }
}
