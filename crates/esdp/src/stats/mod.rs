//! What has been learned of each channel: estimates, variances, open outcomes.
//!
//! One seam, [`Statistics`], under every policy. [`Means`] is the paper's running average, [`Discounted`] and
//! [`Windowed`] forget, for speeds that drift, [`Pooled`] lets channels learn from each other, and
//! [`Adaptive`] also finds out how fast to forget. Updates cost *O(chosen channels)*, memory is
//! *O(channels)*.

mod adaptive;
mod discounted;
mod factors;
mod insight;
mod means;
mod pooled;
mod record;
mod sequence;
mod state;
#[cfg(test)]
mod testing;
mod windowed;

pub use adaptive::{Adaptive, MEMORIES, MemoryWeights, Shift, ShiftSums, Trend};
pub use discounted::{Discounted, FORGOTTEN};
pub use factors::{SeenSpeed, ServerFactor, Z95, estimate_variance, server_factors, server_factors_beside};
pub use insight::{Insight, ServerInsight};
pub use means::Means;
pub use pooled::{GroupPrior, GroupReport, LONGEST_PAUSE, Pooled, Prior, ServerPrior, UNIT};
pub use record::ChannelRecord;
pub use sequence::{Exploration, Slack};
pub use state::{AdaptiveState, Learned, PooledState, STATE_VERSION, StateError, StatisticsState};
pub use windowed::{WindowBlock, Windowed};

use crate::model::{ChannelId, ClusterChange, Observation, Slot};

/// What has been learned of each channel.
///
/// The order of calls in a slot: [`advance`](Statistics::advance), reads,
/// [`commit`](Statistics::commit) for each use that was accepted; then, now or slots later,
/// [`observe`](Statistics::observe) for each outcome.
pub trait Statistics: Send {
    /// Opens a slot. Forgetting happens here, at *O(1)* amortised cost.
    fn advance(&mut self, slot: Slot);

    /// The estimated net utility, *upsilon-hat* (eq. st1). For a channel never seen: 0, or what is
    /// known of channels like it.
    fn estimate(&self, channel: ChannelId) -> f64;

    /// The width *sigma-hat squared* (eq. st2) per unit of *g(t)*: `1 / (2 n)`, infinite for a channel
    /// neither seen nor pending, unless it is judged by others like it. Open outcomes count in `n`, so that a
    /// policy does not send everything to one channel while it waits for outcomes.
    fn variance(&self, channel: ChannelId) -> f64;

    /// How many observations stand behind the estimate; not whole when old ones fade.
    fn count(&self, channel: ChannelId) -> f64;

    /// How many observations stand behind the estimates of all channels together.
    fn outcomes(&self) -> f64;

    /// The chance that old outcomes of a channel no longer tell how fast it is, 0 to 1; 0 where nobody looks.
    fn fading(&self, _channel: ChannelId) -> f64 {
        0.0
    }

    /// How many chosen uses have no outcome yet.
    fn pending(&self, channel: ChannelId) -> u32;

    /// Notes that a channel is used by a decision of `slot` and that its outcome is open. A use that came to
    /// nothing is taken back by observing it as [`Censored`](crate::model::Outcome::Censored).
    fn commit(&mut self, slot: Slot, channel: ChannelId);

    /// Takes an outcome, in any order, possibly late. A use that was never committed
    /// is learned from all the same.
    fn observe(&mut self, seen: &Observation);

    /// What was seen of a channel, in a form that all kinds of statistics take.
    fn record(&self, channel: ChannelId) -> ChannelRecord;

    /// Adds what was seen of a channel elsewhere: before it left the cluster, or in another one.
    fn add(&mut self, channel: ChannelId, record: &ChannelRecord);

    /// Forgets a channel, as if it had never been used. Uses that are open stay open.
    fn reset(&mut self, channel: ChannelId);

    /// Goes on in the next version of the cluster. What is known of a channel that stays, stays; a newcomer
    /// is unknown, or judged by others like it.
    fn change(&mut self, change: &ClusterChange<'_>);

    /// Speeds of a channel are from now on counted in a unit that is larger: `factor`, a power of two below
    /// 1, is what the old unit is in the new one. `cost` is what is taken off a speed to get its net utility.
    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64);

    /// What was found out beside the speeds; none where nothing is.
    fn insight(&self) -> Option<Insight> {
        None
    }

    /// Everything learned, as a versioned value.
    fn state(&self) -> StatisticsState;

    /// Puts a saved state back, exactly.
    ///
    /// # Errors
    /// When the state is of another version, kind or number of channels, or damaged.
    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError>;
}

impl std::fmt::Debug for dyn Statistics + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "statistics of {} outcomes", self.outcomes())
    }
}

/// The variance of a channel with `count` uses, seen or pending: `1 / (2 n)`.
fn variance_of(count: f64) -> f64 {
    if count > 0.0 { 0.5 / count } else { f64::INFINITY }
}
