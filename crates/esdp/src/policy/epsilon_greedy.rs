//! `epsilon-greedy`: the best set by the estimates, and now and then a random one.
//!
//! With probability epsilon, 0.05, a slot takes open channels in random order while they
//! fit; else it maximises the sum of the estimates, exactly, after covering never-tried
//! channels. Its regret grows linearly: it never stops paying epsilon.

use super::kit::{Learner, Learning, Order, Rule, Scope};
use super::spec::{SpecError, check_number};
use super::{Choice, PolicyError};
use crate::model::{Cluster, SlotView};
use crate::rng::{Purpose, stream};
use crate::stats::Means;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The parameters of `epsilon-greedy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EpsilonGreedySpec {
    /// The probability of a random slot, 0 to 1 (default: 0.05).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
    pub epsilon: f64,
}

impl Default for EpsilonGreedySpec {
    fn default() -> Self {
        Self { epsilon: 0.05 }
    }
}

impl EpsilonGreedySpec {
    pub(super) const NAME: &'static str = "epsilon-greedy";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "epsilon", self.epsilon, 0.0..=1.0)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster, seed: u64) -> Result<EpsilonGreedy, SpecError> {
        self.check()?;
        let statistics = Box::new(Means::new(cluster.channels().len()));
        let rule = MostlyGreedy { order: Order::default(), epsilon: self.epsilon, seed };
        Ok(Learning::new(Self::NAME, statistics, rule))
    }
}

/// Mostly greedy, sometimes random.
pub type EpsilonGreedy = Learning<MostlyGreedy>;

/// The rule of `epsilon-greedy`.
pub struct MostlyGreedy {
    order: Order,
    epsilon: f64,
    seed: u64,
}

impl Rule for MostlyGreedy {
    fn decide(
        &mut self,
        learner: &mut Learner,
        view: &SlotView<'_>,
        choice: &mut Choice,
    ) -> Result<(), PolicyError> {
        let mut rng = stream(self.seed, Purpose::Policy, view.slot.0, 0);
        if rng.random::<f64>() < self.epsilon {
            learner.statistics.advance(view.slot);
            self.order.by_channel(view, choice, |_| rng.random());
            return Ok(());
        }
        learner.decide(view, Scope::Open, choice, |statistics, channel| statistics.estimate(channel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arrivals;
    use crate::policy::Policy;
    use crate::policy::testing::{solver, tiny, view};

    #[test]
    fn a_random_slot_has_no_certificate() {
        let (cluster, arrivals, mut choice) = (tiny(), Arrivals::everywhere(2), Choice::default());
        let mut random_slots = |epsilon| {
            let mut policy = EpsilonGreedySpec { epsilon }.policy(&cluster, 1).unwrap().with_solver(solver());
            let mut random = 0;
            for slot in 1..=400 {
                policy.decide(&view(&cluster, slot, &arrivals, cluster.capacity()), &mut choice).unwrap();
                random += u32::from(choice.certificate.is_none());
            }
            random
        };
        assert_eq!(random_slots(0.0), 0);
        assert_eq!(random_slots(1.0), 400);
        assert!((60..=140).contains(&random_slots(0.25)));
    }
}
