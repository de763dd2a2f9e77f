//! Optimism about sets: the policy behind `esdp-index`, `escb` and `esdp-drift`.
//!
//! In slot *t* it chooses, over channels that have a job and within what is free,
//!
//! ```text
//! max  sum_e estimate_e x_e + sqrt( sum_e g(t) / (2 n_e) x_e )
//! ```
//!
//! the paper's *P_3(t)* without slack, solved exactly. The width grows with the root of
//! the *sum* over the chosen channels, not with the sum of their roots, so a set of many
//! channels is not over-rated as it is by a bonus on each channel.
//!
//! The three differ in *g(t)* and in what their statistics forget.

use super::kit::{Index, Learning, Score};
use crate::model::{ChannelId, Cluster, ClusterChange, SlotView};
use crate::stats::{Exploration, Statistics};

/// Solves the optimistic index exactly over the open channels.
pub type Optimistic = Learning<Optimism>;

/// The index of `esdp-index`, `escb` and `esdp-drift`.
pub struct Optimism {
    exploration: Exploration,
    most: f64,
    /// *g(t)* of the slot.
    rate: f64,
}

impl Optimism {
    /// A policy with these statistics, *g* and, for those *g* that need it, the largest
    /// number of channels a slot can hold.
    pub(super) fn policy(
        name: &'static str,
        statistics: Box<dyn Statistics>,
        exploration: Exploration,
        most: f64,
    ) -> Optimistic {
        Learning::new(name, statistics, Self { exploration, most, rate: 0.0 })
    }
}

impl Index for Optimism {
    fn prepare(&mut self, _seen: &dyn Statistics, view: &SlotView<'_>) {
        self.rate = self.exploration.at(view.slot, self.most);
    }

    fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
        Score { mean: seen.estimate(channel), width: self.rate * seen.variance(channel) }
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.most = of_channels(self.most, change);
    }
}

/// A number that is a share of the channels, in the next version of the cluster.
pub(super) fn of_channels(number: f64, change: &ClusterChange<'_>) -> f64 {
    number * (change.new.channels().len() as f64 / change.old.channels().len() as f64)
}

/// The paper's stand-in for the largest number of channels a slot can hold: `alpha |E|`.
pub(super) fn share_of_channels(alpha: f64, cluster: &Cluster) -> f64 {
    alpha * cluster.channels().len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Observation, Outcome, Slot};
    use crate::policy::testing::{solver, tiny, view};
    use crate::policy::{Choice, Policy};
    use crate::solver::Guarantee;
    use crate::stats::Means;

    #[test]
    fn the_index_is_the_one_of_the_header() {
        let cluster = tiny();
        let exploration = Exploration::Log { kappa: 2.0 };
        let mut policy =
            Optimism::policy("test", Box::new(Means::new(4)), exploration, 0.0).with_solver(solver());
        for (channel, uses) in [1, 2, 4, 8].into_iter().enumerate() {
            for _ in 0..uses {
                let channel = ChannelId::at(channel);
                policy.learn(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(0.5) });
            }
        }
        let (arrivals, mut choice) = (Arrivals::everywhere(2), Choice::default());
        policy.decide(&view(&cluster, 9, &arrivals, cluster.capacity()), &mut choice).unwrap();
        assert_eq!(choice.channels, [0, 1, 2].map(ChannelId));
        let certificate = choice.certificate.unwrap();
        let width = 2.0 * 10f64.ln() * (1.0 / 2.0 + 1.0 / 4.0 + 1.0 / 8.0);
        assert!((certificate.value - (1.5 + width.sqrt())).abs() < 1e-12);
        assert_eq!(certificate.guarantee, Guarantee::Optimal);
        assert_eq!(policy.statistics().pending(ChannelId(0)), 0, "chosen is not accepted");
        policy.commit(&cluster, Slot(9), &choice.channels);
        assert_eq!(policy.statistics().pending(ChannelId(0)), 1);
    }
}
