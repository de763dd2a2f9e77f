//! `cucb`: optimism channel by channel (Chen et al., "Combinatorial multi-armed bandit").
//!
//! Each channel's index is `estimate + sqrt(kappa ln(t+1) / n)`, and the slot is a linear
//! problem, solved exactly. Kappa 1.5 is the textbook's constant; it explores far more than
//! these problems need, 0.1 is the best we measured and the default.

use super::estimator::Estimator;
use super::kit::{Index, Learning, Score};
use super::spec::{SpecError, check_number};
use crate::model::{ChannelId, Cluster, SlotView};
use crate::stats::{Exploration, Statistics};
use serde::{Deserialize, Serialize};

/// The parameters of `cucb`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CucbSpec {
    /// How much it explores: the bonus is `sqrt(kappa ln(t+1) / n)`. At least 0 (default: 0.1).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
    pub kappa: f64,
    /// What the index stands on: `"means"` (default), `"pooled"` or `"pooled-by-port"`.
    pub estimator: Estimator,
    /// The share of channels that may be far from others of their kind, for the pooled estimators: 0 to 0.5
    /// (default: 0).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = *super::estimator::SLAB_RANGE.end(), "x-unit" = "share", "x-range" = "0 for `means`")))]
    pub slab: f64,
}

impl Default for CucbSpec {
    fn default() -> Self {
        Self { kappa: 0.1, estimator: Estimator::Means, slab: 0.0 }
    }
}

impl CucbSpec {
    pub(super) const NAME: &'static str = "cucb";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        self.estimator.check_slab(Self::NAME, self.slab)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<Cucb, SpecError> {
        self.check()?;
        let statistics = self.estimator.statistics(cluster, self.slab);
        let index = Bonus { exploration: Exploration::Log { kappa: self.kappa }, rate: 0.0 };
        Ok(Learning::new(Self::NAME, statistics, index))
    }
}

/// A bonus on every channel, one linear problem a slot.
pub type Cucb = Learning<Bonus>;

/// The index of `cucb`.
pub struct Bonus {
    exploration: Exploration,
    /// `kappa ln(t+1)` of the slot.
    rate: f64,
}

impl Index for Bonus {
    fn prepare(&mut self, _seen: &dyn Statistics, view: &SlotView<'_>) {
        self.rate = self.exploration.at(view.slot, 0.0);
    }

    fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
        // The variance is 1 / (2 n).
        Score::from(seen.estimate(channel) + (2.0 * self.rate * seen.variance(channel)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Observation, Outcome, Slot};
    use crate::policy::testing::{solver, tiny, view};
    use crate::policy::{Choice, Policy};

    #[test]
    fn the_index_is_the_one_of_the_header() {
        let cluster = tiny();
        let mut policy =
            CucbSpec { kappa: 1.5, ..CucbSpec::default() }.policy(&cluster).unwrap().with_solver(solver());
        for (channel, uses) in [1, 2, 4, 8].into_iter().enumerate() {
            for _ in 0..uses {
                let channel = ChannelId::at(channel);
                policy.learn(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(0.5) });
            }
        }
        let (arrivals, mut choice) = (Arrivals::new(vec![1, 0]), Choice::default());
        policy.decide(&view(&cluster, 9, &arrivals, cluster.capacity()), &mut choice).unwrap();
        let bonus = |n: f64| (1.5 * 10f64.ln() / n).sqrt();
        assert_eq!(choice.channels, [0, 1].map(ChannelId));
        assert!((choice.certificate.unwrap().value - (1.0 + bonus(1.0) + bonus(2.0))).abs() < 1e-12);
    }
}
