//! `lwtf`: longest waiting time first.
//!
//! The model has no queue, so a port waits since its first arrival that was not served,
//! and is reset when any of its channels is chosen. Ports with a job are ranked by that
//! time, longest first, and take their channels in turn while they fit. The paper has it
//! keep estimates, which its ranking never uses; so it keeps none.

use super::kit::Order;
use super::{Choice, Policy, PolicyError, PolicyState};
use crate::model::{Arrivals, ChannelId, Cluster, ClusterChange, PortId, Slot, SlotView};
use crate::stats::StateError;
use serde::{Deserialize, Serialize};

/// The parameters of `lwtf`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LwtfSpec {
    /// Whether a slot ends with the first channel that does not fit, as printed; by default that channel is
    /// skipped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

impl LwtfSpec {
    pub(super) const NAME: &'static str = "lwtf";

    /// Builds the policy; nobody waits yet.
    pub fn policy(&self, cluster: &Cluster) -> Lwtf {
        Lwtf { order: Order::stopping(self.stop), waiting: vec![None; cluster.ports().len()] }
    }
}

/// Takes ports that wait long first.
#[derive(Debug)]
pub struct Lwtf {
    order: Order,
    /// The first unserved arrival of each port.
    waiting: Vec<Option<Slot>>,
}

impl Policy for Lwtf {
    fn name(&self) -> &str {
        LwtfSpec::NAME
    }

    fn ranks_jobs(&self) -> bool {
        true
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        let Self { order, waiting } = self;
        // The earliest start is the longest wait. Exact up to 2^53 slots.
        order.by_port(view, choice, |port| waiting[port.index()].unwrap_or(view.slot).0 as f64);
        Ok(())
    }

    fn settle(&mut self, slot: Slot, arrivals: &Arrivals) {
        for (index, since) in self.waiting.iter_mut().enumerate() {
            if arrivals.jobs(PortId::at(index)) > 0 {
                since.get_or_insert(slot);
            }
        }
    }

    fn commit(&mut self, cluster: &Cluster, _slot: Slot, channels: &[ChannelId]) {
        for &channel in channels {
            self.waiting[cluster.channel(channel).port.index()] = None;
        }
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        let mut waiting = vec![None; change.new.ports().len()];
        for (index, since) in self.waiting.iter().enumerate() {
            if let Some(port) = change.remap.port(PortId::at(index)) {
                waiting[port.index()] = *since;
            }
        }
        self.waiting = waiting;
    }

    fn state(&self) -> PolicyState {
        PolicyState { waiting: self.waiting.clone(), ..PolicyState::empty(LwtfSpec::NAME) }
    }

    fn restore(&mut self, state: PolicyState) -> Result<(), StateError> {
        state.check(LwtfSpec::NAME)?;
        state.check_no_statistics()?;
        let (found, expected) = (state.waiting.len(), self.waiting.len());
        if found != expected {
            return Err(StateError::Length { list: "waiting", found, expected });
        }
        self.waiting = state.waiting;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Capacity;
    use crate::policy::testing::{tiny, view};

    #[test]
    fn who_was_passed_over_comes_first() {
        let (cluster, mut choice) = (tiny(), Choice::default());
        let (free, both) = (Capacity::cluster_wide(vec![1, 2]), Arrivals::everywhere(2));
        let mut policy = LwtfSpec::default().policy(&cluster);
        let mut decide = |slot, arrivals: &Arrivals| {
            policy.decide(&view(&cluster, slot, arrivals, &free), &mut choice).unwrap();
            policy.settle(Slot(slot), arrivals);
            policy.commit(&cluster, Slot(slot), &choice.channels);
            choice.channels.clone()
        };
        assert_eq!(decide(1, &both), [ChannelId(0)]); // a tie: the lower port
        assert_eq!(decide(2, &both), [ChannelId(2)]); // port 1 waits since 1
        assert_eq!(decide(3, &both), [ChannelId(0)]); // port 0 waits since 2
        assert_eq!(decide(4, &Arrivals::new(vec![1, 0])), [ChannelId(0)]); // absent ports take nothing
        assert_eq!(decide(5, &both), [ChannelId(2)]); // but still wait since 3
    }

    #[test]
    fn a_slot_may_end_with_what_does_not_fit() {
        // 0 takes (1,2), 1 with (2,1) does not fit; 2 with (1,1) would.
        let (cluster, free, both) = (tiny(), Capacity::cluster_wide(vec![2, 3]), Arrivals::everywhere(2));
        let chosen = |stop| {
            let (mut policy, mut choice) = (LwtfSpec { stop }.policy(&cluster), Choice::default());
            policy.decide(&view(&cluster, 1, &both, &free), &mut choice).unwrap();
            choice.channels
        };
        assert_eq!(chosen(false), [0, 2].map(ChannelId));
        assert_eq!(chosen(true), [ChannelId(0)]);
    }
}
