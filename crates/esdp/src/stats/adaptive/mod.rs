//! Pooled statistics that find out by themselves how fast to forget.
//!
//! Whether speeds drift, how fast, and on which servers, nobody knows beforehand. So several memories run
//! side by side, each a pool of its own ([`Pooled`](super::Pooled): averages that fade at one rate, and what
//! channels share by them), and are weighed by how well they predict. An outcome *z* of channel *e* on server
//! *r* is judged by
//!
//! ```text
//! ln p = -( ln v + (z - estimate_m)^2 / v ) / 2,      v = variance_m + noise_m
//! ```
//!
//! before any of them learns it; the memory that forgets nothing twice, as it is and moved by what changed
//! for all channels alike (`trend.rs`). When all servers changed by one factor, both memories are multiplied
//! by it (`shift.rs`). `weights.rs` has what the weights *w_m* of server *r* become. A channel then reads as
//! the mixture:
//!
//! ```text
//! estimate = sum_m w_m estimate_m
//! variance = sum_m w_m ( variance_m + (estimate_m - estimate)^2 )
//! ```
//!
//! so memories that disagree are by themselves a reason to look again. [`Statistics::fading`] is the weight
//! of the memories that forget.
//!
//! Cost: an outcome costs *O(memories)*. A slot costs one reading of the channels that were ever used, of all
//! of them after a refit, and what [`Pooled`](super::Pooled) costs for each memory. Memory is *O(channels +
//! servers)*.
//!
//! What another state knows is added to every memory, to a short one no more than it could hold. Weights are
//! not merged: they are learned again, within some dozen outcomes.

mod shift;
#[cfg(test)]
mod tests;
mod trend;
mod weights;

pub use shift::{Shift, ShiftSums};
pub use trend::Trend;
pub use weights::MemoryWeights;

use super::Statistics;
use super::insight::{Insight, ServerInsight};
use super::pooled::{Belief, Place, Pool, Tree, UNIT};
use super::record::ChannelRecord;
use super::state::{self, AdaptiveState, Learned, STATE_VERSION, StateError, StatisticsState};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Outcome, Slot};
use std::sync::Arc;
use weights::{COUNT, MOST, PerMemory, Weights};

/// The memories in slots, the longest first; 0 forgets nothing.
pub const MEMORIES: [u64; COUNT] = [0, 100];

/// Averages of each channel, drawn to those of channels like it, that forget as fast as it pays.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    tree: Arc<Tree>,
    pools: [Pool; COUNT],
    weights: Weights,
    trend: Trend,
    shift: Shift,
    /// What each memory holds of each channel in the open slot; the weights come in when it is asked for.
    readings: Vec<Reading>,
}

/// What the memories hold of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    believed: [Belief; COUNT],
    counts: PerMemory,
}

impl Reading {
    fn estimate(&self, weights: &PerMemory) -> f64 {
        self.believed.iter().zip(weights).map(|(belief, weight)| weight * belief.estimate).sum()
    }

    /// The variance of the mixture.
    fn variance(&self, weights: &PerMemory) -> f64 {
        let estimate = self.estimate(weights);
        let each = self.believed.iter().zip(weights);
        each.map(|(belief, weight)| {
            let apart = belief.estimate - estimate;
            weight * (belief.variance + apart * apart)
        })
        .sum()
    }

    fn count(&self, weights: &PerMemory) -> f64 {
        self.counts.iter().zip(weights).map(|(count, weight)| weight * count).sum()
    }
}

impl Adaptive {
    /// Nothing known of any channel of a cluster; its labels are used if it has any.
    pub fn new(cluster: &Cluster) -> Self {
        let tree = Arc::new(Tree::new(cluster, true));
        let pools = MEMORIES.map(|slots| Pool::new(Arc::clone(&tree), gamma(slots)));
        let weights = Weights::new(tree.servers);
        let (trend, shift) = (Trend::default(), Shift::new(tree.servers));
        let mut adaptive = Self { tree, pools, weights, trend, shift, readings: Vec::new() };
        adaptive.read_all();
        adaptive
    }

    fn weights(&self, index: usize) -> &PerMemory {
        self.weights.on(self.tree.places[index].server)
    }

    #[inline]
    fn compute(&self, index: usize) -> Reading {
        Reading {
            believed: self.pools.each_ref().map(|pool| pool.belief(index)),
            counts: self.pools.each_ref().map(|pool| pool.seen.faded(index).0),
        }
    }

    /// Reads every channel.
    fn read_all(&mut self) {
        let mut readings = std::mem::take(&mut self.readings);
        readings.clear();
        readings.extend((0..self.tree.places.len()).map(|index| self.compute(index)));
        self.readings = readings;
    }

    /// Reads the channels of which there is anything to forget.
    fn read_used(&mut self) {
        for index in 0..self.readings.len() {
            if self.pools[0].seen.faded_uses(index) > 0.0 {
                self.readings[index] = self.compute(index);
            }
        }
    }

    /// Does the same to every memory, then reads the channel.
    fn each(&mut self, channel: ChannelId, act: impl Fn(&mut Pool)) {
        self.pools.iter_mut().for_each(act);
        self.readings[channel.index()] = self.compute(channel.index());
    }
}

fn gamma(slots: u64) -> f64 {
    if slots == 0 { 1.0 } else { 1.0 - 1.0 / slots as f64 }
}

/// How many slots are remembered after `passed` of them.
fn remembered(weights: &PerMemory, passed: f64) -> f64 {
    let length = |slots: u64| match slots {
        0 => passed,
        slots => slots as f64 * (1.0 - gamma(slots).powf(passed)),
    };
    weights.iter().zip(MEMORIES).map(|(weight, slots)| weight * length(slots)).sum()
}

impl Statistics for Adaptive {
    fn advance(&mut self, slot: Slot) {
        if !self.pools[0].is_ahead(slot) {
            return;
        }
        let passed = slot.0 - self.pools[0].slot().0;
        self.trend.advance(passed);
        self.shift.advance(passed);
        if let Some(factor) = self.shift.found(&self.tree, self.weights.drifting()) {
            self.pools.iter_mut().for_each(|pool| pool.shift(factor));
            self.trend = Trend::default();
        }
        let refitted = self.pools.each_mut().map(|pool| pool.advance(slot));
        if refitted[1..].contains(&true) {
            self.weights.refit();
        }
        match refitted.contains(&true) {
            true => self.read_all(),
            false => self.read_used(),
        }
    }

    fn estimate(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].estimate(self.weights(channel.index()))
    }

    fn variance(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].variance(self.weights(channel.index())) / (2.0 * UNIT)
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.readings[channel.index()].count(self.weights(channel.index()))
    }

    fn outcomes(&self) -> f64 {
        self.readings.iter().enumerate().map(|(index, reading)| reading.count(self.weights(index))).sum()
    }

    fn fading(&self, channel: ChannelId) -> f64 {
        1.0 - self.weights(channel.index())[0]
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.pools[0].seen.pending(channel)
    }

    fn commit(&mut self, slot: Slot, channel: ChannelId) {
        self.each(channel, |pool| pool.seen.commit(slot, channel));
    }

    fn observe(&mut self, seen: &Observation) {
        if let Outcome::Ran(utility) = seen.outcome {
            let index = seen.channel.index();
            let [long, short] = self.pools.each_ref().map(|pool| pool.predicted(index));
            let density = |(estimate, variance): (f64, f64)| {
                let distance = utility - estimate;
                -0.5 * (variance.ln() + distance * distance / variance)
            };
            let moved = (self.trend.moved(long.0), long.1);
            let densities = [long, moved, short].map(density);
            self.trend.observe(long.0, utility);
            let Place { server, cost, .. } = self.tree.places[index];
            let better = (densities[2] - densities[0]).clamp(-MOST, MOST);
            self.shift.observe(server, utility + cost, (long.0 + cost, long.1), better);
            self.weights.judge(server, &densities);
        }
        self.each(seen.channel, |pool| pool.observe(seen));
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        self.pools[0].record(channel)
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        for (pool, slots) in self.pools.iter_mut().zip(MEMORIES) {
            let most = if slots == 0 { f64::INFINITY } else { slots as f64 };
            let share = if record.count > most { most / record.count } else { 1.0 };
            pool.add(channel, &record.weighed(share, Slot(record.slot)));
        }
        self.readings[channel.index()] = self.compute(channel.index());
    }

    fn reset(&mut self, channel: ChannelId) {
        self.each(channel, |pool| pool.reset(channel));
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        let tree = Arc::new(Tree::new(change.new, true));
        self.pools.iter_mut().for_each(|pool| pool.change(&tree, change));
        self.weights.change(&change.remap);
        self.shift.change(&change.remap);
        self.tree = tree;
        self.read_all();
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        self.each(channel, |pool| pool.rescale(channel, factor, cost));
    }

    fn insight(&self) -> Option<Insight> {
        let passed = self.pools[0].slot().0 as f64;
        let server = |server: usize| {
            let weights = self.weights.on(server as u32);
            let factors = self.pools.iter().zip(weights);
            let factor =
                factors.map(|(pool, weight)| weight * pool.prior.servers[server].factor).sum::<f64>();
            ServerInsight { factor: 1.0 + factor, memory: remembered(weights, passed) }
        };
        let servers: Vec<ServerInsight> = (0..self.tree.servers).map(server).collect();
        let channel = |index: usize| {
            let weights = self.weights(index);
            let shared =
                self.pools.iter().zip(weights).map(|(pool, weight)| weight * pool.shared(index)).sum::<f64>();
            (remembered(weights, passed), shared)
        };
        Some(Insight::over((0..self.readings.len()).map(channel), servers))
    }

    fn state(&self) -> StatisticsState {
        let saved = AdaptiveState {
            memories: MEMORIES.to_vec(),
            pools: self.pools.iter().map(Pool::saved).collect(),
            weights: self.weights.saved(),
            trend: self.trend,
            shift: self.shift.clone(),
        };
        StatisticsState { version: STATE_VERSION, learned: Learned::Adaptive(saved) }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        let AdaptiveState { memories, pools, weights, trend, shift } = match state::open(state)? {
            Learned::Adaptive(saved) => saved,
            other => return Err(StateError::Kind { found: other.kind(), expected: "adaptive" }),
        };
        state::check_length("memories", memories.len(), COUNT)?;
        state::check_length("pools", pools.len(), COUNT)?;
        if let Some((&found, expected)) =
            memories.iter().zip(MEMORIES).find(|(found, expected)| *found != expected)
        {
            return Err(StateError::Parameter { parameter: "memories", found, expected });
        }
        let weights = Weights::restored(weights, self.tree.servers)?;
        trend.check()?;
        shift.check(self.tree.servers)?;
        // All or nothing; where all goes well, the pools keep their buffers.
        let before = self.pools.clone();
        if let Err(error) = self.pools.iter_mut().zip(pools).try_for_each(|(pool, saved)| pool.restore(saved))
        {
            self.pools = before;
            return Err(error);
        }
        self.weights = weights;
        (self.trend, self.shift) = (trend, shift);
        self.read_all();
        Ok(())
    }
}
