//! What was seen of one channel, in a form that outlives a cluster and a kind of statistics.
//!
//! A channel that leaves its cluster is remembered by its record, one that comes back gets it again, and two
//! states are merged by adding records. What a record cannot tell is when exactly its outcomes came: all of
//! them count as seen in its slot.

use crate::model::{ChannelId, ClusterChange, Slot};
use serde::{Deserialize, Serialize};

/// What was seen of a channel, as of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// The slot as of which it counts; old outcomes fade from there on.
    pub slot: u64,
    /// How many outcomes; not whole where old ones fade.
    pub count: f64,
    /// The sum of their net utilities.
    pub sum: f64,
    /// Squared distances of outcomes from the average before them.
    #[serde(default)]
    pub residuals: f64,
    /// How many of them.
    #[serde(default)]
    pub freedom: f64,
}

impl ChannelRecord {
    /// Whether it can have been seen: finite, not negative, and no more utility than outcomes.
    pub fn is_sound(&self) -> bool {
        let Self { count, sum, residuals, freedom, .. } = *self;
        let finite =
            [count, sum, residuals, freedom].into_iter().all(|value| value.is_finite() && value >= 0.0);
        finite && sum <= count * (1.0 + 1e-9) && residuals <= freedom * (1.0 + 1e-9)
    }

    /// The same, counted `share` times, as of another slot.
    #[must_use]
    pub fn weighed(&self, share: f64, slot: Slot) -> Self {
        Self {
            slot: slot.0,
            count: share * self.count,
            sum: share * self.sum,
            residuals: share * self.residuals,
            freedom: share * self.freedom,
        }
    }

    /// The record of two that are as of the same slot.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            slot: self.slot.max(other.slot),
            count: self.count + other.count,
            sum: self.sum + other.sum,
            residuals: self.residuals + other.residuals,
            freedom: self.freedom + other.freedom,
        }
    }
}

/// A list with an entry for each channel, carried to the next version of a cluster.
pub(super) fn carried<T: Clone>(list: &[T], change: &ClusterChange<'_>, unknown: &T) -> Vec<T> {
    let old = change.remap.old_channels().iter();
    old.map(|old: &Option<ChannelId>| old.map_or_else(|| unknown.clone(), |old| list[old.index()].clone()))
        .collect()
}

/// A sum of net utilities after speeds were counted anew: exactly `sum * factor` where nothing is taken off
/// and none is above 1.
pub(super) fn rescaled(sum: f64, count: f64, factor: f64, cost: f64) -> f64 {
    match cost == 0.0 {
        true => (sum * factor).min(count),
        false => ((sum + count * cost) * factor - count * cost).clamp(0.0, count),
    }
}
