//! Whom a job's own speed tells something about, where its tasks wait for each other.
//!
//! What is seen of such a job is the minimum over its tasks. It is credited to the channel that is believed
//! to be the slowest of them; of the others nothing is learned. A wrong belief corrects itself: the channel
//! that is blamed in error falls, until a job without it, or with others, shows who it was.

use super::Scheduler;
use crate::model::{ChannelId, Cluster, Observation, Outcome, Slot};
use thiserror::Error;

/// Why an observation was refused. Fatal for it: nothing was learned; the scheduler goes on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ObserveError {
    /// A channel that the cluster does not have.
    #[error("{channel} does not exist, the cluster has {channels}")]
    UnknownChannel {
        /// The channel.
        channel: ChannelId,
        /// The number of channels.
        channels: usize,
    },
    /// A slot that has not been decided.
    #[error("{slot} has not been decided, the last one was {last}; the first is 1")]
    UnknownSlot {
        /// The slot observed.
        slot: Slot,
        /// The last slot decided.
        last: Slot,
    },
    /// A net utility that is not a number in [0, 1].
    #[error("the net utility of {channel} in {slot} is {value}, expected a number from 0 to 1")]
    Utility {
        /// The channel.
        channel: ChannelId,
        /// The slot.
        slot: Slot,
        /// The value found.
        value: f64,
    },
}

/// What a job would have done on one server: its speed without what it lost by spanning several.
pub(crate) fn without_crossing(cluster: &Cluster, channels: &[ChannelId], speed: f64) -> f64 {
    let port = channels.first().map(|&channel| cluster.channel(channel).port);
    match port.and_then(|port| cluster.crossing(port)).filter(|_| cluster.spans(channels)) {
        Some(crossing) => speed / crossing,
        None => speed,
    }
}

impl Scheduler {
    /// The channel of a job that is believed to be the slowest, the first of those that are alike; where
    /// nothing is learned, the first.
    pub fn believed_slowest(&self, channels: &[ChannelId]) -> Option<ChannelId> {
        let learned = self.policy.learned();
        let estimate = |channel: ChannelId| learned.map_or(0.0, |all| all.estimate(channel));
        channels.iter().copied().min_by(|&a, &b| estimate(a).total_cmp(&estimate(b)).then(a.cmp(&b)))
    }

    /// Takes the outcome of a job whose tasks wait for each other: how much each of its tasks did, a net
    /// utility.
    ///
    /// # Errors
    /// When a channel or the slot is unknown or the net utility is not a number in [0, 1].
    pub fn observe_job(
        &mut self,
        slot: Slot,
        channels: &[ChannelId],
        outcome: Outcome,
    ) -> Result<(), ObserveError> {
        let slowest = self.believed_slowest(channels);
        for &channel in channels {
            let outcome = match outcome {
                Outcome::Ran(speed) if slowest == Some(channel) => {
                    let alone = without_crossing(&self.cluster, channels, speed);
                    // Noise may lift it above 1; what was no utility stays none, and is refused.
                    Outcome::Ran(if (0.0..=1.0).contains(&speed) { alone.min(1.0) } else { speed })
                }
                Outcome::Ran(_) | Outcome::Censored => Outcome::Censored,
            };
            self.observe(&Observation { slot, channel, outcome })?;
        }
        Ok(())
    }
}
