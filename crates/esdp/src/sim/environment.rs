//! The world that runs decisions.

use crate::model::{ChannelId, Slot};
use crate::policy::Truth;

/// A stretch of slots with the same true means: equal epochs, equal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(pub u64, pub u64);

/// A world that runs decisions. It alone knows the true means.
pub trait Environment: Truth {
    /// The true mean of one channel, where asking for all would cost more.
    fn mean(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        self.means(slot)[channel.index()]
    }

    /// The epoch of a slot. By default there is none, and every slot may differ.
    fn epoch(&self, _slot: Slot) -> Option<Epoch> {
        None
    }

    /// Runs channels for a slot, in ascending order, one for each task, and adds the net utility of
    /// each.
    fn run(&mut self, slot: Slot, channels: &[ChannelId], utilities: &mut Vec<f64>);
}

/// True means that are the same in every slot.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedTruth(pub Vec<f64>);

impl Truth for FixedTruth {
    fn means(&mut self, _slot: Slot) -> &[f64] {
        &self.0
    }
}
