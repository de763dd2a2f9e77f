//! `lcf`: lowest cost first.
//!
//! Open channels by ascending supply cost, the sum over devices of *f_k(a_k)*, each taken if
//! it still fits. The paper has it keep estimates, which its ranking never uses; so it
//! keeps none.

use super::kit::Order;
use super::{Choice, Policy, PolicyError};
use crate::model::SlotView;
use serde::{Deserialize, Serialize};

/// The parameters of `lcf`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LcfSpec {
    /// Whether a slot ends with the first channel that does not fit, as printed; by default that channel is
    /// skipped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

impl LcfSpec {
    pub(super) const NAME: &'static str = "lcf";

    /// Builds the policy.
    pub fn policy(&self) -> Lcf {
        Lcf { order: Order::stopping(self.stop) }
    }
}

/// Takes cheap channels first.
#[derive(Debug, Default)]
pub struct Lcf {
    order: Order,
}

impl Policy for Lcf {
    fn name(&self) -> &str {
        LcfSpec::NAME
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        self.order.by_channel(view, choice, |channel| view.cluster.cost(channel));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Capacity, ChannelId};
    use crate::policy::testing::{tiny, view};

    #[test]
    fn cheap_channels_come_first() {
        // Costs: 0.12, 0.21, 0.11, 0.33.
        let (cluster, mut choice) = (tiny(), Choice::default());
        let arrivals = Arrivals::everywhere(2);
        Lcf::default().decide(&view(&cluster, 1, &arrivals, cluster.capacity()), &mut choice).unwrap();
        assert_eq!(choice.channels, [2, 0, 1].map(ChannelId));
    }

    #[test]
    fn a_slot_may_end_with_what_does_not_fit() {
        // 2 takes (1,1), 0 with (1,2) does not fit; 1 with (2,1) would.
        let (cluster, free, both) = (tiny(), Capacity::cluster_wide(vec![3, 2]), Arrivals::everywhere(2));
        let chosen = |stop| {
            let mut choice = Choice::default();
            LcfSpec { stop }.policy().decide(&view(&cluster, 1, &both, &free), &mut choice).unwrap();
            choice.channels
        };
        assert_eq!(chosen(false), [2, 1].map(ChannelId));
        assert_eq!(chosen(true), [ChannelId(2)]);
    }
}
