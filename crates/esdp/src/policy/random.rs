//! `random`: open channels in random order, each taken if it still fits.
//!
//! Learns nothing; the floor that every other policy must clear.

use super::kit::Order;
use super::{Choice, Policy, PolicyError};
use crate::model::SlotView;
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// Takes channels in random order.
pub struct Random {
    order: Order,
    seed: u64,
}

impl Random {
    pub(super) const NAME: &'static str = "random";

    /// A policy whose order depends on the seed and the slot alone.
    pub fn new(seed: u64) -> Self {
        Self { order: Order::default(), seed }
    }
}

impl Policy for Random {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        let mut rng = stream(self.seed, Purpose::Policy, view.slot.0, 0);
        self.order.by_channel(view, choice, |_| rng.random());
        Ok(())
    }
}
