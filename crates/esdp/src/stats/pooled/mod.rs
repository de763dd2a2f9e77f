//! Averages that learn from each other: empirical Bayes over ports, server kinds and servers.
//!
//! A channel that was never tried is expected to be what channels of its port on servers of its kind turned
//! out to be, give or take how much those differ; what is seen of it then moves it away from there. So no
//! channel has to be tried to be judged, its spread is finite from the start, and with thousands of servers a
//! scheduler is good long before it has tried them all. `prior.rs` has the model, `tree.rs` who is alike, `posterior.rs` what
//! is believed of one channel, `sweep.rs` how what is shared is learned.
//!
//! With `n` outcomes of sum `S`, noise `s2`, and a prior mean `m` with variance `tau2`:
//!
//! ```text
//! estimate = (S / s2 + m / tau2) / (n / s2 + 1 / tau2) - cost
//! variance = 1 / (n / s2 + 1 / tau2)   + what is uncertain of m, as far as it is relied on
//! spread   = variance / (2 UNIT)
//! ```
//!
//! The noise of a channel is drawn to that of its group, so speeds whose noise grows with their mean are
//! weighed rightly. Open outcomes count in the variance. [`UNIT`] makes one scale of `kappa` and `sigma` serve
//! policies on these statistics and on plain averages.
//!
//! An observation costs *O(1)*. What is shared is learned again in a sweep over all channels, after
//! `1 + t / 20` slots at first and never less often than every [`LONGEST_PAUSE`] slots where old outcomes fade:
//! *O(channels)* each, amortised over those slots. Memory is *O(channels + servers)*.
//!
//! What every channel reads as is kept. Where nothing fades it changes only with an event of the channel and with a
//! sweep; where old outcomes fade it is computed anew in every slot, in one pass.
//!
//! Limits: Gaussian, so a few outliers among many alike channels are found late, unless [`Pooled::with_slab`] allows
//! for them; and one sweep is one step of the iteration that fits the prior, which converges over the first sweeps, not
//! in the first slot.

mod posterior;
mod prior;
mod sweep;
#[cfg(test)]
mod tests;
mod tree;

pub use prior::{GroupPrior, Prior, ServerPrior};

use super::Statistics;
use super::discounted::Discounted;
use super::record::{ChannelRecord, carried};
use super::state::{self, Learned, PooledState, STATE_VERSION, StateError, StatisticsState};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Outcome, Slot};
use posterior::{Belief, Evidence, Expected, Slab};
use sweep::{Data, Scratch};
use tree::Tree;

/// The variance of an outcome for which a channel with *n* of them and no prior has the spread `1 / (2 n)` of
/// plain averages.
pub const UNIT: f64 = 0.16;

/// The most slots between two sweeps where old outcomes fade.
pub const LONGEST_PAUSE: u64 = 26;

/// The faded count below which a channel counts as never tried.
const TRIED: f64 = 1e-3;
/// The faded count from which on an outcome tells something of the noise.
const COMPARABLE: f64 = 0.5;

/// Averages of each channel, drawn to what was learned of channels like it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pooled {
    tree: Tree,
    labelled: bool,
    gamma: f64,
    slab: Slab,
    slot: Slot,
    next: Slot,
    seen: Discounted,
    /// Squared distances of outcomes from the average before them, by channel, and how many.
    residuals: Vec<f64>,
    freedom: Vec<f64>,
    prior: Prior,
    /// What the last sweep says of each channel, and its noise by now.
    known: Vec<(Expected, f64)>,
    scratch: Scratch,
    /// What each channel reads as in the open slot.
    readings: Vec<Reading>,
}

/// What a channel reads as.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    estimate: f64,
    spread: f64,
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
    /// Nothing known of any channel of a cluster; its labels are used if `labelled`, and what is learned fades by
    /// `gamma` a slot.
    ///
    /// # Panics
    /// If `gamma` is not in (0, 1].
    pub fn new(cluster: &Cluster, labelled: bool, gamma: f64) -> Self {
        let tree = Tree::new(cluster, labelled);
        let channels = cluster.channels().len();
        let prior = Prior::new(&tree);
        let mut pooled = Self {
            tree,
            labelled,
            gamma,
            slab: Slab::NONE,
            slot: Slot(0),
            next: Slot(0),
            seen: Discounted::new(channels, gamma),
            residuals: vec![0.0; channels],
            freedom: vec![0.0; channels],
            prior,
            known: Vec::new(),
            scratch: Scratch::default(),
            readings: Vec::new(),
        };
        pooled.expect_all();
        pooled
    }

    /// The same where a share `slab` of the channels may be far better or worse than others of their group: insurance
    /// for rare outliers, which 0.1 is a good value for; 0 is none.
    ///
    /// # Panics
    /// If `slab` is not in [0, 0.5].
    #[must_use]
    pub fn with_slab(mut self, slab: f64) -> Self {
        self.slab = Slab::new(slab);
        self.read_all();
        self
    }

    /// What is expected of channels before they are tried: everything together first, then every port,
    /// every label of its servers, and so on.
    pub fn prior(&self) -> Vec<GroupReport> {
        let report = |(group, prior): (usize, &GroupPrior)| GroupReport { path: self.tree.path(group), prior: *prior };
        self.prior.groups.iter().enumerate().map(report).collect()
    }

    /// How much faster each server is than others of its kind, with its uncertainty.
    pub fn servers(&self) -> &[ServerPrior] {
        &self.prior.servers
    }

    fn compute(&self, index: usize) -> Reading {
        let place = self.tree.places[index];
        let (expected, noise) = self.known[index];
        let (count, total) = self.seen.faded(index);
        let evidence = Evidence { count, total: total + count * place.cost, noise };
        let Belief { estimate, variance } = self.slab.belief(expected, evidence, self.seen.faded_uses(index));
        Reading { estimate: estimate - place.cost, spread: variance / (2.0 * UNIT) }
    }

    fn noise(&self, index: usize) -> f64 {
        self.prior.channel_noise(self.tree.places[index], self.residuals[index], self.freedom[index])
    }

    /// Takes over what channels share, and reads every channel.
    fn expect_all(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        let places = self.tree.places.iter().enumerate();
        known.extend(places.map(|(index, &place)| (self.prior.expected(place), self.noise(index))));
        self.known = known;
        self.read_all();
    }

    /// Reads every channel.
    fn read_all(&mut self) {
        let mut readings = std::mem::take(&mut self.readings);
        readings.clear();
        readings.extend((0..self.tree.places.len()).map(|index| self.compute(index)));
        self.readings = readings;
    }

    /// Reads a channel that something happened to.
    fn read_again(&mut self, index: usize) {
        self.readings[index] = self.compute(index);
    }
}

impl Statistics for Pooled {
    fn advance(&mut self, slot: Slot) {
        if slot <= self.slot && self.slot > Slot(0) {
            return;
        }
        self.slot = slot;
        self.seen.advance(slot);
        if slot >= self.next {
            let Self { tree, slab, seen, residuals, freedom, prior, scratch, .. } = self;
            prior.sweep(&Data { tree, seen, residuals, freedom, slab: *slab }, scratch);
            let pause = 1 + slot.0 / 20;
            self.next = Slot(slot.0.saturating_add(if self.gamma < 1.0 { pause.min(LONGEST_PAUSE) } else { pause }));
            self.expect_all();
        } else if self.gamma < 1.0 {
            // Every count is smaller than in the slot before.
            self.read_all();
        }
    }

    fn estimate(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].estimate
    }

    fn spread(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].spread
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.seen.count(channel)
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.seen.pending(channel)
    }

    fn commit(&mut self, slot: Slot, channel: ChannelId) {
        self.seen.commit(slot, channel);
        self.read_again(channel.index());
    }

    fn observe(&mut self, seen: &Observation) {
        let index = seen.channel.index();
        let (count, total) = self.seen.faded(index);
        if let Outcome::Ran(utility) = seen.outcome
            && count >= COMPARABLE
        {
            let distance = utility - total / count;
            self.residuals[index] += distance * distance * count / (count + 1.0);
            self.freedom[index] += 1.0;
            self.known[index].1 = self.noise(index);
        }
        self.seen.observe(seen);
        self.read_again(index);
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        let index = channel.index();
        let (residuals, freedom) = (self.residuals[index], self.freedom[index]);
        ChannelRecord { residuals, freedom, ..self.seen.record(channel) }
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        let index = channel.index();
        self.seen.add(channel, record);
        self.residuals[index] += record.residuals;
        self.freedom[index] += record.freedom;
        self.known[index].1 = self.noise(index);
        self.read_again(index);
        self.next = self.slot; // what is shared has changed
    }

    fn reset(&mut self, channel: ChannelId) {
        let index = channel.index();
        self.seen.reset(channel);
        (self.residuals[index], self.freedom[index]) = (0.0, 0.0);
        self.known[index].1 = self.noise(index);
        self.read_again(index);
        self.next = self.slot;
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        let tree = Tree::new(change.new, self.labelled);
        self.prior = self.prior.carried(&self.tree, &tree, &change.remap);
        self.tree = tree;
        self.seen.change(change);
        self.residuals = carried(&self.residuals, change, &0.0);
        self.freedom = carried(&self.freedom, change, &0.0);
        self.next = self.slot;
        self.expect_all();
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        let index = channel.index();
        self.seen.rescale(channel, factor, cost);
        self.residuals[index] *= factor * factor;
        self.known[index].1 = self.noise(index);
        self.read_again(index);
        self.next = self.slot;
    }

    fn state(&self) -> StatisticsState {
        let saved = PooledState {
            slot: self.slot,
            next: self.next,
            seen: Box::new(self.seen.state().learned),
            residuals: self.residuals.clone(),
            freedom: self.freedom.clone(),
            prior: self.prior.clone(),
        };
        StatisticsState { version: STATE_VERSION, learned: Learned::Pooled(saved) }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        let saved = match state::open(state)? {
            Learned::Pooled(saved) => saved,
            other => return Err(StateError::Kind { found: other.kind(), expected: "pooled" }),
        };
        let PooledState { slot, next, seen, residuals, freedom, prior } = saved;
        state::check_length("residuals", residuals.len(), self.residuals.len())?;
        state::check_length("freedom", freedom.len(), self.freedom.len())?;
        state::check_numbers("residuals", &residuals, Some(&freedom))?;
        state::check_numbers("freedom", &freedom, None)?;
        prior.check(&self.tree)?;
        // Last, for it changes this.
        self.seen.restore(StatisticsState { version: STATE_VERSION, learned: *seen })?;
        (self.slot, self.next, self.residuals, self.freedom, self.prior) = (slot, next, residuals, freedom, prior);
        self.expect_all();
        Ok(())
    }
}
