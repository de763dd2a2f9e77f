//! `maxweight-ucb`: MaxWeight with discounted optimism, the rival for jobs that wait.
//!
//! Z. Yang, R. Srikant, L. Ying, "Learning While Scheduling in Multi-Server Systems With Unknown Statistics:
//! MaxWeight with Discounted UCB", AISTATS 2023 (arXiv 2209.01126). A free server takes a job of the type `l`
//! that maximises backlog times an optimistic rate, from averages that forget by a factor `gamma` per slot:
//!
//! ```text
//! weight(l, r) = Q_l(t) * min(v_lr(t) + b_lr(t), 1)
//! b_lr(t)      = sqrt(kappa * ln(1 + gamma + ... + gamma^(t-1)) / N_lr(t))
//! ```
//!
//! `Q_l` jobs wait at port `l`; `v_lr` is the discounted mean net utility of its channel on server `r`, and
//! `N_lr` the discounted number of outcomes. A slot maximises the sum of the weights of what starts, exactly.
//!
//! Deviations: the paper observes how many slots a job takes, puts the bonus on that mean and inverts it.
//! Here an outcome is a rate already, and how much work a job has is unknown, so the bonus is on the rate;
//! both cut the rate at 1. Weights of ports in any unit leave MaxWeight stable. The paper's servers take one
//! job each; here the linear problem of the slot packs several devices, and gangs.

use super::kit::{Index, Learning, Score};
use super::spec::{SpecError, check_number};
use crate::model::{ChannelId, Cluster, SlotView};
use crate::stats::{Discounted, Statistics};
use serde::{Deserialize, Serialize};

/// The parameters of `maxweight-ucb`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MaxweightUcbSpec {
    /// How much it explores: the bonus is `sqrt(kappa ln(1 + gamma + ... + gamma^(t-1)) / n)`. At least 0
    /// (default: 0.1).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
    pub kappa: f64,
    /// What is left of the weight of an outcome after a slot: above 0, at most 1 (default: 0.999).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-3, "maximum" = 1)))]
    pub gamma: f64,
}

impl Default for MaxweightUcbSpec {
    fn default() -> Self {
        Self { kappa: 0.1, gamma: 0.999 }
    }
}

impl MaxweightUcbSpec {
    pub(super) const NAME: &'static str = "maxweight-ucb";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        check_number(Self::NAME, "gamma", self.gamma, 1e-3..=1.0)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<MaxweightUcb, SpecError> {
        self.check()?;
        let statistics = Discounted::new(cluster.channels().len(), self.gamma);
        let index = Backlogged { kappa: self.kappa, gamma: self.gamma, rate: 0.0 };
        Ok(Learning::new(Self::NAME, Box::new(statistics), index))
    }
}

/// Backlog times an optimistic rate, one linear problem a slot.
pub type MaxweightUcb = Learning<Backlogged>;

/// The index of `maxweight-ucb`.
pub struct Backlogged {
    kappa: f64,
    gamma: f64,
    /// `kappa ln(1 + gamma + ...)` of the slot.
    rate: f64,
}

impl Index for Backlogged {
    fn ranks_jobs(&self) -> bool {
        true
    }

    fn prepare(&mut self, _seen: &dyn Statistics, view: &SlotView<'_>) {
        let slots = view.slot.0.max(1) as f64;
        let horizon = match self.gamma < 1.0 {
            true => (1.0 - self.gamma.powf(slots)) / (1.0 - self.gamma),
            false => slots,
        };
        self.rate = self.kappa * horizon.ln().max(0.0);
    }

    fn score(&self, seen: &dyn Statistics, view: &SlotView<'_>, channel: ChannelId) -> Score {
        let backlog = view.arrivals.jobs(view.cluster.channel(channel).port);
        // The variance is 1 / (2 n).
        let bonus = (2.0 * self.rate * seen.variance(channel)).sqrt();
        Score::from(f64::from(backlog) * (seen.estimate(channel) + bonus).min(1.0))
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
        let spec = MaxweightUcbSpec { kappa: 0.02, gamma: 1.0 };
        let mut policy = spec.policy(&cluster).unwrap().with_solver(solver());
        for (channel, uses) in [4, 8, 16, 32].into_iter().enumerate() {
            for _ in 0..uses {
                let channel = ChannelId::at(channel);
                policy.learn(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(0.5) });
            }
        }
        let mut value = |slot, jobs: [u32; 2]| {
            let (arrivals, mut choice) = (Arrivals::new(jobs.to_vec()), Choice::default());
            policy.decide(&view(&cluster, slot, &arrivals, cluster.capacity()), &mut choice).unwrap();
            choice.certificate.unwrap().value
        };
        let index = |n: f64| 0.5 + (0.02 * 9f64.ln() / n).sqrt();
        assert!((value(9, [1, 0]) - (index(4.0) + index(8.0))).abs() < 1e-12);
        // The backlog counts, and in the first slot there is nothing to be unsure about.
        assert!(value(10, [3, 0]) > 3.0 * value(9, [1, 0]) - 1e-12);
    }

    #[test]
    fn a_long_queue_goes_before_a_fast_port() {
        let cluster = tiny();
        let mut policy = MaxweightUcbSpec::default().policy(&cluster).unwrap().with_solver(solver());
        for (channel, utility) in [0.9, 0.9, 0.3, 0.3].into_iter().enumerate() {
            for _ in 0..50 {
                let channel = ChannelId::at(channel);
                policy.learn(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(utility) });
            }
        }
        // Room for channel 0 of the fast port, or for channel 2 of the slow one.
        let free = crate::model::Capacity::cluster_wide(vec![1, 2]);
        let mut first = |jobs: [u32; 2]| {
            let (arrivals, mut choice) = (Arrivals::new(jobs.to_vec()), Choice::default());
            policy.decide(&view(&cluster, 60, &arrivals, &free), &mut choice).unwrap();
            choice.channels[0]
        };
        assert_eq!((first([1, 1]), first([1, 9])), (ChannelId(0), ChannelId(2)));
    }
}
