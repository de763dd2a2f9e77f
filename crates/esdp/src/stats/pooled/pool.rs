//! What was seen at one rate of forgetting, and the prior learned from it.
//!
//! A pool answers what is believed of a channel and keeps no answers: [`Pooled`](super::Pooled) keeps those
//! of one pool, [`Adaptive`](crate::stats::Adaptive) weighs several.

use super::posterior::{Belief, Evidence, Expected, Slab};
use super::prior::Prior;
use super::refit::{Data, Scratch};
use super::tree::Tree;
use super::{COMPARABLE, KEPT_OF_NOISE, LONGEST_PAUSE};
use crate::model::{ChannelId, ClusterChange, Observation, Outcome, Slot};
use crate::stats::Statistics;
use crate::stats::discounted::Discounted;
use crate::stats::record::{ChannelRecord, carried};
use crate::stats::state::{self, PooledState, STATE_VERSION, StateError, StatisticsState};
use std::sync::Arc;

/// Averages that fade at one rate, and what channels share by them.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::stats) struct Pool {
    pub(super) tree: Arc<Tree>,
    pub(super) slab: Slab,
    gamma: f64,
    slot: Slot,
    next: Slot,
    pub(in crate::stats) seen: Discounted,
    /// Squared distances of outcomes from the average before them, by channel, and how many.
    residuals: Vec<f64>,
    freedom: Vec<f64>,
    pub(in crate::stats) prior: Prior,
    /// What the last refit says of each channel, and its noise by now.
    known: Vec<(Expected, f64)>,
    scratch: Scratch,
}

impl Pool {
    /// Nothing known; what is learned fades by `gamma` per slot.
    ///
    /// # Panics
    /// If `gamma` is not in (0, 1].
    pub(in crate::stats) fn new(tree: Arc<Tree>, gamma: f64) -> Self {
        let channels = tree.places.len();
        let prior = Prior::new(&tree);
        let mut pool = Self {
            tree,
            slab: Slab::NONE,
            gamma,
            slot: Slot(0),
            next: Slot(0),
            seen: Discounted::new(channels, gamma),
            residuals: vec![0.0; channels],
            freedom: vec![0.0; channels],
            prior,
            known: Vec::new(),
            scratch: Scratch::default(),
        };
        pool.expect_all();
        pool
    }

    /// Whether old outcomes count less.
    pub(in crate::stats) fn fades(&self) -> bool {
        self.gamma < 1.0
    }

    /// The open slot.
    pub(in crate::stats) fn slot(&self) -> Slot {
        self.slot
    }

    /// Whether `slot` is after the open one.
    pub(in crate::stats) fn is_ahead(&self, slot: Slot) -> bool {
        slot > self.slot || self.slot == Slot(0)
    }

    /// Opens a slot; whether what channels share was learned again.
    pub(in crate::stats) fn advance(&mut self, slot: Slot) -> bool {
        self.slot = slot;
        self.seen.advance(slot);
        if slot < self.next {
            return false;
        }
        let Self { tree, slab, seen, residuals, freedom, prior, scratch, .. } = self;
        prior.refit(&Data { tree, seen, residuals, freedom, slab: *slab }, scratch);
        let pause = 1 + slot.0 / 20;
        self.next = Slot(slot.0.saturating_add(if self.fades() { pause.min(LONGEST_PAUSE) } else { pause }));
        self.expect_all();
        true
    }

    /// What is believed of a channel's net utility; open outcomes narrow it.
    #[inline]
    pub(in crate::stats) fn belief(&self, index: usize) -> Belief {
        self.believed(index, self.seen.faded_uses(index))
    }

    /// The net utility expected of a channel's next outcome, and the variance of that outcome.
    pub(in crate::stats) fn predicted(&self, index: usize) -> (f64, f64) {
        let Belief { estimate, variance } = self.believed(index, self.seen.faded(index).0);
        (estimate, variance + self.known[index].1)
    }

    #[inline]
    fn believed(&self, index: usize, uses: f64) -> Belief {
        let cost = self.tree.places[index].cost;
        let (expected, noise) = self.known[index];
        let (count, total) = self.seen.faded(index);
        let evidence = Evidence { count, total: total + count * cost, noise };
        let Belief { estimate, variance } = self.slab.belief(expected, evidence, uses);
        Belief { estimate: estimate - cost, variance }
    }

    /// What share of a channel's estimate comes from channels like it.
    pub(in crate::stats) fn shared(&self, index: usize) -> f64 {
        let (Expected { between, .. }, noise) = self.known[index];
        noise / (self.seen.faded(index).0 * between + noise)
    }

    fn noise(&self, index: usize) -> f64 {
        self.prior.channel_noise(self.tree.places[index], self.residuals[index], self.freedom[index])
    }

    /// Takes over what channels share.
    fn expect_all(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        let places = self.tree.places.iter().enumerate();
        known.extend(places.map(|(index, &place)| (self.prior.expected(place), self.noise(index))));
        self.known = known;
    }

    pub(in crate::stats) fn observe(&mut self, seen: &Observation) {
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
    }

    pub(in crate::stats) fn record(&self, channel: ChannelId) -> ChannelRecord {
        let index = channel.index();
        let (residuals, freedom) = (self.residuals[index], self.freedom[index]);
        ChannelRecord { residuals, freedom, ..self.seen.record(channel) }
    }

    pub(in crate::stats) fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        let index = channel.index();
        self.seen.add(channel, record);
        self.residuals[index] += record.residuals;
        self.freedom[index] += record.freedom;
        self.changed(index);
    }

    pub(in crate::stats) fn reset(&mut self, channel: ChannelId) {
        let index = channel.index();
        self.seen.reset(channel);
        (self.residuals[index], self.freedom[index]) = (0.0, 0.0);
        self.changed(index);
    }

    pub(in crate::stats) fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        let index = channel.index();
        self.seen.rescale(channel, factor, cost);
        self.residuals[index] = (self.residuals[index] * factor * factor).min(self.freedom[index]);
        self.changed(index);
    }

    /// Speeds of all channels are `factor` times what they were. How much they scatter by now is not known:
    /// less by `factor` or by its square, or as before. So it is guessed, and learned again.
    pub(in crate::stats) fn shift(&mut self, factor: f64) {
        for (index, place) in self.tree.places.iter().enumerate() {
            self.seen.rescale(ChannelId::at(index), factor, place.cost);
            let kept = (KEPT_OF_NOISE / self.freedom[index]).min(1.0);
            self.residuals[index] *= factor * kept;
            self.freedom[index] *= kept;
        }
        self.prior.shift(factor);
        self.next = self.slot;
        self.expect_all();
    }

    /// A channel's outcomes are others than before, and so is what they say of channels like it.
    fn changed(&mut self, index: usize) {
        self.known[index].1 = self.noise(index);
        self.next = self.slot;
    }

    /// Goes on in the next version of the cluster, whose tree is `tree`.
    pub(in crate::stats) fn change(&mut self, tree: &Arc<Tree>, change: &ClusterChange<'_>) {
        self.prior = self.prior.carried(&self.tree, tree, &change.remap);
        self.tree = Arc::clone(tree);
        self.seen.change(change);
        self.residuals = carried(&self.residuals, change, &0.0);
        self.freedom = carried(&self.freedom, change, &0.0);
        self.next = self.slot;
        self.expect_all();
    }

    pub(in crate::stats) fn saved(&self) -> PooledState {
        PooledState {
            slot: self.slot,
            next: self.next,
            seen: Box::new(self.seen.state().learned),
            residuals: self.residuals.clone(),
            freedom: self.freedom.clone(),
            prior: self.prior.clone(),
        }
    }

    /// Puts a saved state back; one that is refused changes nothing.
    pub(in crate::stats) fn restore(&mut self, saved: PooledState) -> Result<(), StateError> {
        let PooledState { slot, next, seen, residuals, freedom, prior } = saved;
        state::check_length("residuals", residuals.len(), self.residuals.len())?;
        state::check_length("freedom", freedom.len(), self.freedom.len())?;
        state::check_numbers("residuals", &residuals, Some(&freedom))?;
        state::check_numbers("freedom", &freedom, None)?;
        prior.check(&self.tree)?;
        // Last, for it changes this.
        self.seen.restore(StatisticsState { version: STATE_VERSION, learned: *seen })?;
        (self.slot, self.next, self.residuals, self.freedom, self.prior) =
            (slot, next, residuals, freedom, prior);
        self.expect_all();
        Ok(())
    }
}
