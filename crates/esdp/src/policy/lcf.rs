//! `lcf`: lowest cost first.
//!
//! Open channels by ascending supply cost, the sum over devices of *f_k(a_k)*, each taken if
//! it still fits. The paper has it keep estimates, which its ranking never uses; so it
//! keeps none.

use super::kit::Order;
use super::{Choice, Policy, PolicyError};
use crate::model::SlotView;

/// Takes cheap channels first.
#[derive(Debug, Default)]
pub struct Lcf {
    order: Order,
}

impl Lcf {
    pub(super) const NAME: &'static str = "lcf";
}

impl Policy for Lcf {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        self.order.by_channel(view, choice, |channel| view.cluster.cost(channel));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, ChannelId};
    use crate::policy::testing::{tiny, view};

    #[test]
    fn cheap_channels_come_first() {
        // Costs: 0.12, 0.21, 0.11, 0.33.
        let (cluster, mut choice) = (tiny(), Choice::default());
        let arrivals = Arrivals::everywhere(2);
        Lcf::default().decide(&view(&cluster, 1, &arrivals, cluster.capacity()), &mut choice).unwrap();
        assert_eq!(choice.channels, [2, 0, 1].map(ChannelId));
    }
}
