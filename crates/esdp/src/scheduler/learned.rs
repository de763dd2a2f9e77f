//! What a scheduler has learned, carried from one version of its cluster to the next, and from one state to
//! another.

use super::{Checkpoint, RestoreError, Scheduler};
use crate::model::{ChannelId, ChannelKey, Cluster, ClusterChange, PortId};
use crate::stats::ChannelRecord;
use std::cmp::Ordering;
use std::sync::Arc;

/// The records of channels that have left, which are kept however small the cluster is.
pub const DEPARTED_CHANNELS: usize = 1 << 14;

impl Scheduler {
    /// Goes on with another version of the cluster. Channels are the same if their names are: what was
    /// learned of those that stay, stays; newcomers are unknown, or judged by others like them; what was
    /// learned of those that leave is kept for their return, until [`Scheduler::forget`], or until there are
    /// more of them than the cluster had channels, and more than [`DEPARTED_CHANNELS`]: then those that left
    /// first are forgotten.
    pub fn change(&mut self, cluster: Arc<Cluster>) {
        let old = Arc::clone(&self.cluster);
        let change = ClusterChange::new(&old, &cluster);
        if let Some(learned) = self.policy.learned() {
            for channel in change.remap.left() {
                let record = learned.record(channel);
                if record.count > 0.0 {
                    // As of the slot in which it left, which is what tells old ones from new ones.
                    let record = ChannelRecord { slot: self.slot.0, ..record };
                    self.departed.insert(old.channel_key(channel), record);
                }
            }
        }
        self.policy.change(&change);
        if let Some(learned) = self.policy.learned_mut().filter(|_| !self.departed.is_empty()) {
            let newcomers = change.remap.old_channels().iter().enumerate().filter(|(_, old)| old.is_none());
            for channel in newcomers.map(|(index, _)| ChannelId::at(index)) {
                if let Some(record) = self.departed.remove(&cluster.channel_key(channel)) {
                    learned.add(channel, &record);
                }
            }
        }
        self.cluster = cluster;
        self.forget_oldest(old.channels().len());
    }

    /// Forgets those that left first, if there are too many; of those that left together, by name.
    fn forget_oldest(&mut self, channels: usize) {
        let kept = channels.max(self.cluster.channels().len()).max(DEPARTED_CHANNELS);
        if self.departed.len() > kept {
            let mut slots: Vec<u64> = self.departed.values().map(|record| record.slot).collect();
            let surplus = slots.len() - kept;
            let (_, &mut last, _) = slots.select_nth_unstable(surplus - 1);
            let mut surplus_at_last = surplus - slots.iter().filter(|slot| **slot < last).count();
            self.departed.retain(|_, record| match record.slot.cmp(&last) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => match surplus_at_last.checked_sub(1) {
                    Some(left) => {
                        surplus_at_last = left;
                        false
                    }
                    None => true,
                },
            });
        }
    }

    /// What was seen of channels that are not part of the cluster now.
    pub fn departed(&self) -> impl Iterator<Item = (&ChannelKey, &ChannelRecord)> {
        self.departed.iter()
    }

    /// Forgets what was seen of departed channels to which this applies.
    pub fn forget(&mut self, mut applies: impl FnMut(&ChannelKey) -> bool) {
        self.departed.retain(|key, _| !applies(key));
    }

    /// Forgets a channel, as if it had never been used: its server was repaired, or replaced.
    pub fn reset(&mut self, channel: ChannelId) {
        if let Some(learned) = self.policy.learned_mut() {
            learned.reset(channel);
        }
    }

    /// Counts the speeds of a port in a larger unit from now on; see
    /// [`Statistics::rescale`](crate::stats::Statistics::rescale).
    pub fn rescale(&mut self, port: PortId, factor: f64) {
        if let Some(learned) = self.policy.learned_mut() {
            for &channel in self.cluster.channels_of(port) {
                learned.rescale(channel, factor, self.cluster.cost(channel));
            }
        }
        let name = &self.cluster.ports()[port.index()];
        // Costs of channels that have left are not known; their speeds are counted as if there were none.
        for (_, record) in self.departed.iter_mut().filter(|(key, _)| key.port == *name) {
            record.sum = (record.sum * factor).min(record.count);
            record.residuals = (record.residuals * factor * factor).min(record.freedom);
        }
    }

    /// Adds what another scheduler has learned, by name, as if it had been seen now. `share` is how much a
    /// foreign outcome counts against one of our own, above 0, at most 1. The number of channels that were
    /// found here; the others are kept for the case that they come, within the bound of
    /// [`Scheduler::change`].
    ///
    /// # Errors
    /// When the state has no names or is damaged. Nothing is changed then.
    pub fn merge(&mut self, other: &Checkpoint, share: f64) -> Result<usize, RestoreError> {
        let experience = other.experience()?;
        let places: std::collections::HashMap<ChannelKey, ChannelId> = (0..self.cluster.channels().len())
            .map(ChannelId::at)
            .map(|channel| (self.cluster.channel_key(channel), channel))
            .collect();
        let mut found = 0;
        for (key, record) in experience {
            let record = record.weighed(share.clamp(0.0, 1.0), self.slot);
            match (places.get(&key), self.policy.learned_mut()) {
                (Some(&channel), Some(learned)) => {
                    learned.add(channel, &record);
                    found += 1;
                }
                _ => {
                    let known = self.departed.entry(key).or_default();
                    *known = known.plus(&record);
                }
            }
        }
        self.forget_oldest(0);
        Ok(found)
    }
}
