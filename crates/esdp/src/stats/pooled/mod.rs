//! Averages that learn from each other: empirical Bayes over ports, server kinds and servers.
//!
//! A channel that was never tried is expected to be what channels of its port on servers of its kind turned
//! out to be, give or take how much those differ; what is seen of it then moves it away from there. So no
//! channel has to be tried to be judged, its variance is finite from the start, and with thousands of servers
//! a scheduler is good long before it has tried them all. `prior.rs` has the model, `tree.rs` who is alike,
//! `posterior.rs` what is believed of one channel, `refit.rs` how what is shared is learned, `pool.rs` all of
//! it at one rate of forgetting.
//!
//! With `n` outcomes of sum `S`, noise `s2`, and a prior mean `m` with variance `tau2`:
//!
//! ```text
//! estimate = (S / s2 + m / tau2) / (n / s2 + 1 / tau2) - cost
//! variance = 1 / (n / s2 + 1 / tau2)   + what is uncertain of m, as far as it is relied on
//! reads as = variance / (2 UNIT)
//! ```
//!
//! The noise of a channel is drawn to that of its group, so speeds whose noise grows with their mean are
//! weighed rightly. Open outcomes count in the variance. [`UNIT`] makes one scale of `kappa` and `sigma`
//! serve policies on these statistics and on plain averages.
//!
//! An observation costs *O(1)*. What is shared is learned again in a refit over all channels, after `1 + t /
//! 20` slots at first and never less often than every [`LONGEST_PAUSE`] slots where old outcomes fade:
//! *O(channels)* each, amortised over those slots. Memory is *O(channels + servers)*.
//!
//! What every channel reads as is kept. Where nothing fades it changes only with an event of the channel and
//! with a refit; where old outcomes fade it is computed anew in every slot, in one pass.
//!
//! Limits: Gaussian, so a few outliers among many alike channels are found late, unless [`Pooled::with_slab`]
//! allows for them; and one refit is one step of the iteration that fits the prior, which converges over the
//! first refits, not in the first slot.

mod pool;
mod posterior;
mod prior;
mod refit;
#[cfg(test)]
mod tests;
mod tree;

pub use prior::{GroupPrior, Prior, ServerPrior};

pub(super) use pool::Pool;
pub(super) use posterior::Belief;
pub(super) use tree::{Place, Tree};

use super::Statistics;
use super::record::ChannelRecord;
use super::state::{self, Learned, STATE_VERSION, StateError, StatisticsState};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Slot};
use posterior::Slab;
use std::sync::Arc;

/// The variance of an outcome for which a channel with *n* of them and no prior has the variance `1 / (2 n)`
/// of plain averages.
pub const UNIT: f64 = 0.16;

/// The most slots between two refits where old outcomes fade.
pub const LONGEST_PAUSE: u64 = 26;

/// The faded count from which on an outcome tells something of the noise.
const COMPARABLE: f64 = 0.5;

/// How many outcomes the noise of a channel counts for after all speeds have changed.
const KEPT_OF_NOISE: f64 = 2.0;

/// Averages of each channel, drawn to what was learned of channels like it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pooled {
    labelled: bool,
    pool: Pool,
    /// What each channel reads as in the open slot.
    readings: Vec<Reading>,
}

/// What a channel reads as.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    estimate: f64,
    variance: f64,
}

/// What was learned of a group of channels, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupReport {
    /// The port, then the labels from coarse to fine; empty for everything together.
    pub path: Vec<String>,
    /// What was learned.
    pub prior: GroupPrior,
}

impl Pooled {
    /// Nothing known of any channel of a cluster; its labels are used if `labelled`, and what is learned
    /// fades by `gamma` a slot.
    ///
    /// # Panics
    /// If `gamma` is not in (0, 1].
    pub fn new(cluster: &Cluster, labelled: bool, gamma: f64) -> Self {
        let pool = Pool::new(Arc::new(Tree::new(cluster, labelled)), gamma);
        let mut pooled = Self { labelled, pool, readings: Vec::new() };
        pooled.read_all();
        pooled
    }

    /// The same where a share `slab` of the channels may be far better or worse than others of their group:
    /// insurance for rare outliers, which 0.1 is a good value for; 0 is none.
    ///
    /// # Panics
    /// If `slab` is not in [0, 0.5].
    #[must_use]
    pub fn with_slab(mut self, slab: f64) -> Self {
        self.pool.slab = Slab::new(slab);
        self.read_all();
        self
    }

    /// What is expected of channels before they are tried: everything together first, then every port,
    /// every label of its servers, and so on.
    pub fn prior(&self) -> Vec<GroupReport> {
        let path = |group| self.pool.tree.path(group);
        let report = |(group, prior): (usize, &GroupPrior)| GroupReport { path: path(group), prior: *prior };
        self.pool.prior.groups.iter().enumerate().map(report).collect()
    }

    /// How much faster each server is than others of its kind, with its uncertainty.
    pub fn servers(&self) -> &[ServerPrior] {
        &self.pool.prior.servers
    }

    fn compute(&self, index: usize) -> Reading {
        let Belief { estimate, variance } = self.pool.belief(index);
        Reading { estimate, variance: variance / (2.0 * UNIT) }
    }

    /// Reads every channel.
    fn read_all(&mut self) {
        let mut readings = std::mem::take(&mut self.readings);
        readings.clear();
        readings.extend((0..self.pool.tree.places.len()).map(|index| self.compute(index)));
        self.readings = readings;
    }

    /// Reads a channel that something happened to.
    fn read_again(&mut self, channel: ChannelId) {
        self.readings[channel.index()] = self.compute(channel.index());
    }
}

impl Statistics for Pooled {
    fn advance(&mut self, slot: Slot) {
        // Where old outcomes fade, every count is smaller than in the slot before.
        if self.pool.is_ahead(slot) && (self.pool.advance(slot) || self.pool.fades()) {
            self.read_all();
        }
    }

    fn estimate(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].estimate
    }

    fn variance(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].variance
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.pool.seen.count(channel)
    }

    fn outcomes(&self) -> f64 {
        self.pool.seen.outcomes()
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.pool.seen.pending(channel)
    }

    fn commit(&mut self, slot: Slot, channel: ChannelId) {
        self.pool.seen.commit(slot, channel);
        self.read_again(channel);
    }

    fn observe(&mut self, seen: &Observation) {
        self.pool.observe(seen);
        self.read_again(seen.channel);
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        self.pool.record(channel)
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        self.pool.add(channel, record);
        self.read_again(channel);
    }

    fn reset(&mut self, channel: ChannelId) {
        self.pool.reset(channel);
        self.read_again(channel);
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.pool.change(&Arc::new(Tree::new(change.new, self.labelled)), change);
        self.read_all();
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        self.pool.rescale(channel, factor, cost);
        self.read_again(channel);
    }

    fn state(&self) -> StatisticsState {
        StatisticsState { version: STATE_VERSION, learned: Learned::Pooled(self.pool.saved()) }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        match state::open(state)? {
            Learned::Pooled(saved) => self.pool.restore(saved)?,
            other => return Err(StateError::Kind { found: other.kind(), expected: "pooled" }),
        }
        self.read_all();
        Ok(())
    }
}
