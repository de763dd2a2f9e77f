//! What statistics have learned, as a value that can be saved, inspected and restored.
//!
//! Every number in it is finite, so that it survives JSON bit for bit.

use super::adaptive::{MemoryWeights, Shift, Trend};
use super::pooled::Prior;
use super::record::ChannelRecord;
use super::windowed::WindowBlock;
use crate::model::Slot;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of [`StatisticsState`] that this library writes and reads.
pub const STATE_VERSION: u32 = 1;

/// Everything [`Statistics`](super::Statistics) know, one entry per channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticsState {
    /// The layout's version, [`STATE_VERSION`].
    pub version: u32,
    /// What was learned.
    pub learned: Learned,
}

/// What was learned, by kind of statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Learned {
    /// Of [`Means`](super::Means).
    Means {
        /// Observations.
        count: Vec<u64>,
        /// The sum of the observed net utilities.
        sum: Vec<f64>,
        /// Uses without an outcome yet.
        pending: Vec<u32>,
    },
    /// Of [`Discounted`](super::Discounted). The weights are stored *before* the common
    /// factor `scale` is applied.
    Discounted {
        /// The slot that is open.
        slot: Slot,
        /// What a stored weight is multiplied with.
        scale: f64,
        /// The faded number of observations, stored.
        weight: Vec<f64>,
        /// The faded sum of the observed net utilities, stored.
        sum: Vec<f64>,
        /// The faded number of uses without an outcome, stored.
        open: Vec<f64>,
        /// Uses without an outcome yet.
        pending: Vec<u32>,
    },
    /// Of [`Windowed`](super::Windowed).
    Windowed {
        /// The slot that is open.
        slot: Slot,
        /// The window in slots, *W*.
        window: u64,
        /// Each channel's blocks; the block of slot *s* is at `(s / length) % 8`.
        blocks: Vec<[WindowBlock; 8]>,
    },
    /// Of [`Pooled`](super::Pooled).
    Pooled(PooledState),
    /// Of [`Adaptive`](super::Adaptive).
    Adaptive(AdaptiveState),
}

/// What [`Pooled`](super::Pooled) statistics know: the prior they have learned is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledState {
    /// The slot that is open.
    pub slot: Slot,
    /// The slot in which what is shared is learned again.
    pub next: Slot,
    /// What was seen of each channel: [`Learned::Discounted`].
    pub seen: Box<Learned>,
    /// Squared distances of outcomes from the average before them, by channel.
    pub residuals: Vec<f64>,
    /// How many of them.
    pub freedom: Vec<f64>,
    /// What channels share.
    pub prior: Prior,
}

/// What [`Adaptive`](super::Adaptive) statistics know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveState {
    /// The memories in slots; 0 forgets nothing.
    pub memories: Vec<u64>,
    /// What was seen with each memory, and the prior learned from it.
    pub pools: Vec<PooledState>,
    /// How much each memory is believed.
    pub weights: MemoryWeights,
    /// What changed for all channels alike.
    #[serde(default)]
    pub trend: Trend,
    /// What the last slots say of a change of all servers.
    pub shift: Shift,
}

impl Learned {
    /// What was seen of each channel, in a form that all kinds of statistics take.
    pub fn records(&self) -> Vec<ChannelRecord> {
        match self {
            Learned::Means { count, sum, .. } => {
                let record = |(&count, &sum): (&u64, &f64)| ChannelRecord {
                    count: count as f64,
                    sum,
                    ..ChannelRecord::default()
                };
                count.iter().zip(sum).map(record).collect()
            }
            Learned::Discounted { slot, scale, weight, sum, .. } => {
                let record = |(weight, sum): (&f64, &f64)| ChannelRecord {
                    slot: slot.0,
                    count: weight * scale,
                    sum: sum * scale,
                    ..ChannelRecord::default()
                };
                weight.iter().zip(sum).map(record).collect()
            }
            Learned::Windowed { slot, blocks, .. } => {
                let record = |blocks: &[WindowBlock; 8]| ChannelRecord {
                    slot: slot.0,
                    count: blocks.iter().map(|block| block.count as f64).sum(),
                    sum: blocks.iter().map(|block| block.sum).sum(),
                    ..ChannelRecord::default()
                };
                blocks.iter().map(record).collect()
            }
            // The first memory forgets nothing.
            Learned::Adaptive(AdaptiveState { pools, .. }) => {
                pools.first().map_or_else(Vec::new, |saved| Learned::Pooled(saved.clone()).records())
            }
            Learned::Pooled(saved) => {
                let mut records = saved.seen.records();
                for (record, (&residuals, &freedom)) in
                    records.iter_mut().zip(saved.residuals.iter().zip(&saved.freedom))
                {
                    (record.residuals, record.freedom) = (residuals, freedom);
                }
                records
            }
        }
    }

    /// The name of the kind, as it is saved.
    pub fn kind(&self) -> &'static str {
        match self {
            Learned::Means { .. } => "means",
            Learned::Discounted { .. } => "discounted",
            Learned::Windowed { .. } => "windowed",
            Learned::Pooled(_) => "pooled",
            Learned::Adaptive(_) => "adaptive",
        }
    }
}

/// Why a saved state cannot be restored. Fatal for this state; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// Written by another version of the library.
    #[error("the saved `{what}` has version {found}, this library reads version {expected}")]
    Version {
        /// Which value.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// It belongs to another policy.
    #[error("the saved state is of policy `{found}`, expected `{expected}`")]
    Policy {
        /// The policy that saved it.
        found: String,
        /// The policy that is to go on.
        expected: String,
    },
    /// It belongs to a policy that had another name when it was saved.
    #[error("the saved state is of policy `{found}`, then called `{saved}`, expected `{expected}`")]
    Renamed {
        /// The policy that saved it, as it is called now.
        found: &'static str,
        /// As it was called then.
        saved: &'static str,
        /// The policy that is to go on.
        expected: String,
    },
    /// It belongs to another kind of statistics.
    #[error("the saved statistics are of kind `{found}`, expected `{expected}`")]
    Kind {
        /// The kind that was saved, or `none`.
        found: &'static str,
        /// The kind that is to go on, or `none`.
        expected: &'static str,
    },
    /// It belongs to another cluster.
    #[error("the saved `{list}` has length {found}, expected {expected}")]
    Length {
        /// The list.
        list: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A parameter differs, so that the numbers mean something else.
    #[error("the saved `{parameter}` is {found}, expected {expected}")]
    Parameter {
        /// The parameter.
        parameter: &'static str,
        /// The value saved.
        found: u64,
        /// The value in use.
        expected: u64,
    },
    /// A number that no run can lead to.
    #[error("the saved `{list}` is damaged at entry {entry}: {reason}")]
    Damaged {
        /// The list.
        list: &'static str,
        /// The position in it.
        entry: usize,
        /// What is wrong.
        reason: &'static str,
    },
}

/// Checks the version and hands out what was learned.
pub(super) fn open(state: StatisticsState) -> Result<Learned, StateError> {
    match state.version {
        STATE_VERSION => Ok(state.learned),
        found => Err(StateError::Version { what: "statistics", found, expected: STATE_VERSION }),
    }
}

pub(super) fn check_length(list: &'static str, found: usize, expected: usize) -> Result<(), StateError> {
    if found == expected { Ok(()) } else { Err(StateError::Length { list, found, expected }) }
}

/// Checks that every number is finite and at least 0, and at most its limit where one is given.
pub(super) fn check_numbers(
    list: &'static str,
    values: &[f64],
    limits: Option<&[f64]>,
) -> Result<(), StateError> {
    for (entry, &value) in values.iter().enumerate() {
        let damaged = |reason| Err(StateError::Damaged { list, entry, reason });
        if !(value.is_finite() && value >= 0.0) {
            return damaged("expected a finite number of at least 0");
        }
        // Utilities are at most 1, so a sum cannot exceed its count, up to rounding.
        if limits.is_some_and(|limits| value > limits[entry] * (1.0 + 1e-9)) {
            return damaged("expected at most the number of observations");
        }
    }
    Ok(())
}
