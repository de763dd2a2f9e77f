//! `hauf`: highest accumulated utility first (the paper also calls it HSWF).
//!
//! Ports with a job are ranked by the sum of their channels' estimated net utilities,
//! and take their channels in turn while they fit. The printed rank sums over decisions
//! that are not made yet; this reading sums over all of the port's channels. The
//! variant `by = "channel"` ranks channels one by one, which is much stronger.
//!
//! It learns but never explores: what it has not tried counts as 0.

use super::kit::Order;
use super::{Choice, Policy, PolicyError, PolicyState};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Slot, SlotView};
use crate::stats::{Means, StateError, Statistics};
use serde::{Deserialize, Serialize};

/// The parameters of `hauf`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct HaufSpec {
    /// What is ranked: `"port"` (default) or `"channel"`.
    pub by: Rank,
    /// Whether a slot ends with the first channel that does not fit, as printed; by default that channel is
    /// skipped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// What a policy ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// Whole ports.
    #[default]
    Port,
    /// Channels, one by one.
    Channel,
}

impl HaufSpec {
    pub(super) const NAME: &'static str = "hauf";

    /// Builds the policy.
    pub fn policy(&self, cluster: &Cluster) -> Hauf {
        Hauf {
            order: Order::stopping(self.stop),
            statistics: Means::new(cluster.channels().len()),
            by: self.by,
        }
    }
}

/// Takes what looks best first.
pub struct Hauf {
    order: Order,
    statistics: Means,
    by: Rank,
}

impl Policy for Hauf {
    fn name(&self) -> &str {
        HaufSpec::NAME
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        let Self { order, statistics, by } = self;
        statistics.advance(view.slot);
        let utility = |channel| statistics.estimate(channel);
        match by {
            Rank::Port => order.by_port(view, choice, |port| {
                let all = view.cluster.channels_of(port).iter().map(|&channel| utility(channel)).sum::<f64>();
                -all * view.weight(port)
            }),
            Rank::Channel => order.by_channel(view, choice, |channel| {
                -utility(channel) * view.weight(view.cluster.channel(channel).port)
            }),
        }
        Ok(())
    }

    fn commit(&mut self, _cluster: &Cluster, slot: Slot, channels: &[ChannelId]) {
        channels.iter().for_each(|&channel| self.statistics.commit(slot, channel));
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.statistics.change(change);
    }

    fn learned(&self) -> Option<&dyn Statistics> {
        Some(&self.statistics)
    }

    fn learned_mut(&mut self) -> Option<&mut dyn Statistics> {
        Some(&mut self.statistics)
    }

    fn learn(&mut self, seen: &Observation) {
        self.statistics.observe(seen);
    }

    fn state(&self) -> PolicyState {
        PolicyState { statistics: Some(self.statistics.state()), ..PolicyState::empty(HaufSpec::NAME) }
    }

    fn restore(&mut self, state: PolicyState) -> Result<(), StateError> {
        state.check(HaufSpec::NAME)?;
        let statistics = state.statistics.ok_or(StateError::Kind { found: "none", expected: "means" })?;
        self.statistics.restore(statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, ChannelId, Outcome, Slot};
    use crate::policy::testing::{tiny, view};

    fn choose(by: Rank, stop: bool) -> Vec<ChannelId> {
        let (cluster, arrivals, mut choice) = (tiny(), Arrivals::everywhere(2), Choice::default());
        let mut policy = HaufSpec { by, stop }.policy(&cluster);
        for (channel, utility) in [0.4, 0.5, 0.1, 0.7].into_iter().enumerate() {
            let seen = Observation {
                slot: Slot(1),
                channel: ChannelId::at(channel),
                outcome: Outcome::Ran(utility),
            };
            policy.learn(&seen);
        }
        policy.decide(&view(&cluster, 2, &arrivals, cluster.capacity()), &mut choice).unwrap();
        choice.channels
    }

    #[test]
    fn ports_or_channels_are_ranked() {
        assert_eq!(choose(Rank::Port, false), [0, 1, 2].map(ChannelId)); // 0.9 against 0.8
        assert_eq!(choose(Rank::Channel, false), [3, 2].map(ChannelId)); // 0.7 first, then what fits
    }

    #[test]
    fn a_slot_may_end_with_what_does_not_fit() {
        assert_eq!(choose(Rank::Port, true), [0, 1, 2].map(ChannelId)); // 3 is the last anyway
        assert_eq!(choose(Rank::Channel, true), [3].map(ChannelId)); // 1 is next and does not fit
    }
}
