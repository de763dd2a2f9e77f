//! `first-fit`: open channels in the order of their ids, each taken if it still fits.
//!
//! What a scheduler without any knowledge of speeds does: jobs in order, each on the first servers with
//! room. Learns nothing.

use super::kit::Order;
use super::{Choice, Policy, PolicyError};
use crate::model::SlotView;

/// Takes channels in order.
#[derive(Debug, Default)]
pub struct FirstFit {
    order: Order,
}

impl FirstFit {
    pub(super) const NAME: &'static str = "first-fit";
}

impl Policy for FirstFit {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        self.order.by_channel(view, choice, |channel| f64::from(channel.0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, ChannelId};
    use crate::policy::testing::{tiny, view};

    #[test]
    fn the_first_that_fit_are_taken() {
        let (cluster, mut choice) = (tiny(), Choice::default());
        let arrivals = Arrivals::everywhere(2);
        FirstFit::default().decide(&view(&cluster, 1, &arrivals, cluster.capacity()), &mut choice).unwrap();
        assert_eq!(choice.channels, [0, 1, 2].map(ChannelId));
    }
}
