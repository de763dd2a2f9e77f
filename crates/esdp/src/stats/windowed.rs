//! Averages over the last *W* slots, forgotten an eighth at a time.
//!
//! The window is cut into 8 blocks of `length = ceil(W / 8)` slots; block number `s / length`
//! of slot *s* lives at that number modulo 8. Entering a new block drops the oldest one, so
//! between 7/8 and all of the window is remembered: the price for memory of *O(channels)*
//! instead of one entry an observation. Totals are added up from the blocks when one is
//! dropped, so no rounding error builds up. That costs *O(channels)* every `W / 8` slots.
//!
//! An outcome later than the window is not learned from. Uses without an outcome leave
//! with their block.

use super::record::{ChannelRecord, carried, rescaled};
use super::state::{self, Learned, STATE_VERSION, StateError, StatisticsState};
use super::{Statistics, variance_of};
use crate::model::{ChannelId, ClusterChange, Observation, Outcome, Slot};
use serde::{Deserialize, Serialize};

const BLOCKS: usize = 8;

/// What happened to one channel in one block of slots.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WindowBlock {
    /// Observations.
    pub count: u64,
    /// The sum of the observed net utilities.
    pub sum: f64,
    /// Uses without an outcome yet.
    pub pending: u32,
}

impl WindowBlock {
    fn plus(self, other: &WindowBlock) -> WindowBlock {
        WindowBlock {
            count: self.count.saturating_add(other.count),
            sum: self.sum + other.sum,
            pending: self.pending.saturating_add(other.pending),
        }
    }
}

/// Averages of each channel over the last slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Windowed {
    window: u64,
    slot: Slot,
    blocks: Vec<[WindowBlock; BLOCKS]>,
    total: Vec<WindowBlock>,
}

impl Windowed {
    /// Nothing known of any of `channels` channels; what is learned lasts `window` slots,
    /// rounded up to a multiple of 8.
    ///
    /// # Panics
    /// If the window is empty.
    pub fn new(channels: usize, window: u64) -> Self {
        assert!(window > 0, "the window is 0 slots, expected at least 1");
        Self {
            window,
            slot: Slot(0),
            blocks: vec![[WindowBlock::default(); BLOCKS]; channels],
            total: vec![WindowBlock::default(); channels],
        }
    }

    /// The number of the block that a slot falls in.
    fn block(&self, slot: Slot) -> u64 {
        slot.0 / self.window.div_ceil(BLOCKS as u64)
    }

    /// Where a block that is still remembered lives.
    fn place(&self, slot: Slot) -> Option<usize> {
        let block = self.block(slot);
        let age = self.block(self.slot).checked_sub(block);
        age.is_some_and(|age| age < BLOCKS as u64).then_some((block % BLOCKS as u64) as usize)
    }

    fn add_up(blocks: &[WindowBlock; BLOCKS]) -> WindowBlock {
        blocks.iter().fold(WindowBlock::default(), WindowBlock::plus)
    }
}

impl Statistics for Windowed {
    fn advance(&mut self, slot: Slot) {
        if slot <= self.slot {
            return;
        }
        let (old, new) = (self.block(self.slot), self.block(slot));
        self.slot = slot;
        if old == new {
            return;
        }
        let dropped = (new - old).min(BLOCKS as u64);
        for (blocks, total) in self.blocks.iter_mut().zip(&mut self.total) {
            for block in new - dropped + 1..=new {
                blocks[(block % BLOCKS as u64) as usize] = WindowBlock::default();
            }
            *total = Self::add_up(blocks);
        }
    }

    fn estimate(&self, channel: ChannelId) -> f64 {
        match self.total[channel.index()] {
            WindowBlock { count: 0, .. } => 0.0,
            WindowBlock { count, sum, .. } => sum / count as f64,
        }
    }

    fn variance(&self, channel: ChannelId) -> f64 {
        let WindowBlock { count, pending, .. } = self.total[channel.index()];
        variance_of(count.saturating_add(u64::from(pending)) as f64)
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.total[channel.index()].count as f64
    }

    fn outcomes(&self) -> f64 {
        self.total.iter().map(|total| total.count as f64).sum()
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.total[channel.index()].pending
    }

    fn commit(&mut self, slot: Slot, channel: ChannelId) {
        let Some(place) = self.place(slot) else { return };
        let block = &mut self.blocks[channel.index()][place];
        block.pending = block.pending.saturating_add(1);
        self.total[channel.index()].pending = self.total[channel.index()].pending.saturating_add(1);
    }

    fn observe(&mut self, seen: &Observation) {
        let Some(place) = self.place(seen.slot) else { return };
        let index = seen.channel.index();
        let (block, total) = (&mut self.blocks[index][place], &mut self.total[index]);
        if block.pending > 0 {
            block.pending -= 1;
            total.pending -= 1;
        }
        if let Outcome::Ran(utility) = seen.outcome {
            for counted in [block, total] {
                counted.count = counted.count.saturating_add(1);
                counted.sum += utility;
            }
        }
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        let WindowBlock { count, sum, .. } = self.total[channel.index()];
        ChannelRecord { slot: self.slot.0, count: count as f64, sum, ..ChannelRecord::default() }
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        let Some(place) = self.place(Slot(record.slot.min(self.slot.0))) else { return };
        let whole = record.count.round();
        if whole > 0.0 {
            let sum = if whole == record.count { record.sum } else { record.sum / record.count * whole };
            let seen = WindowBlock { count: whole as u64, sum, pending: 0 };
            let blocks = &mut self.blocks[channel.index()];
            blocks[place] = blocks[place].plus(&seen);
            self.total[channel.index()] = Self::add_up(blocks);
        }
    }

    fn reset(&mut self, channel: ChannelId) {
        let blocks = &mut self.blocks[channel.index()];
        blocks
            .iter_mut()
            .for_each(|block| *block = WindowBlock { pending: block.pending, ..WindowBlock::default() });
        self.total[channel.index()] = Self::add_up(blocks);
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.blocks = carried(&self.blocks, change, &[WindowBlock::default(); BLOCKS]);
        self.total = self.blocks.iter().map(Self::add_up).collect();
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        let blocks = &mut self.blocks[channel.index()];
        for block in blocks.iter_mut() {
            block.sum = rescaled(block.sum, block.count as f64, factor, cost);
        }
        self.total[channel.index()] = Self::add_up(blocks);
    }

    fn state(&self) -> StatisticsState {
        let learned = Learned::Windowed { slot: self.slot, window: self.window, blocks: self.blocks.clone() };
        StatisticsState { version: STATE_VERSION, learned }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        match state::open(state)? {
            Learned::Windowed { slot, window, blocks } => {
                state::check_length("blocks", blocks.len(), self.blocks.len())?;
                if window != self.window {
                    return Err(StateError::Parameter {
                        parameter: "window",
                        found: window,
                        expected: self.window,
                    });
                }
                for place in 0..BLOCKS {
                    let sums: Vec<f64> = blocks.iter().map(|blocks| blocks[place].sum).collect();
                    let limits: Vec<f64> = blocks.iter().map(|blocks| blocks[place].count as f64).collect();
                    state::check_numbers("blocks", &sums, Some(&limits))?;
                }
                let total = blocks.iter().map(Self::add_up).collect();
                *self = Self { window, slot, blocks, total };
                Ok(())
            }
            other => Err(StateError::Kind { found: other.kind(), expected: "windowed" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, censored, check_contract, ran};

    #[test]
    fn keeps_the_contract() {
        check_contract(|| Box::new(Windowed::new(3, 40)));
    }

    #[test]
    fn remembers_between_seven_eighths_and_all_of_the_window() {
        let mut recent = Windowed::new(1, 80);
        for slot in 1..=1000u64 {
            recent.advance(Slot(slot));
            recent.observe(&ran(slot, A, if slot <= 500 { 1.0 } else { 0.25 }));
            if slot > 80 {
                assert!((70.0..=80.0).contains(&recent.count(A)), "{} at {slot}", recent.count(A));
            }
        }
        assert_eq!(recent.estimate(A), 0.25);
        recent.advance(Slot(5000));
        assert_eq!((recent.count(A), recent.variance(A)), (0.0, f64::INFINITY));
    }

    #[test]
    fn late_news_counts_in_its_own_block_or_not_at_all() {
        let mut recent = Windowed::new(1, 8);
        recent.advance(Slot(3));
        recent.commit(Slot(3), A);
        recent.commit(Slot(3), A);
        recent.advance(Slot(9));
        recent.observe(&ran(3, A, 0.5));
        assert_eq!((recent.count(A), recent.pending(A)), (1.0, 1));
        recent.advance(Slot(11));
        assert_eq!((recent.count(A), recent.pending(A), recent.variance(A)), (0.0, 0, f64::INFINITY));
        recent.observe(&ran(3, A, 0.5));
        recent.observe(&censored(3, A));
        assert_eq!((recent.count(A), recent.pending(A)), (0.0, 0));
    }

    /// Speeds counted anew: block by block, so that what leaves the window leaves in the new unit.
    #[test]
    fn speeds_counted_anew_are_so_in_every_block() {
        let mut recent = Windowed::new(2, 8);
        for slot in 1..=8u64 {
            recent.advance(Slot(slot));
            recent.observe(&ran(slot, A, if slot <= 4 { 0.8 } else { 0.4 }));
        }
        let other = recent.estimate(ChannelId(1));
        recent.rescale(A, 0.5, 0.0);
        assert!((recent.estimate(A) - 0.3).abs() < 1e-12, "{}", recent.estimate(A));
        recent.advance(Slot(12));
        assert!((recent.estimate(A) - 0.2).abs() < 1e-12, "the first four have left: {}", recent.estimate(A));
        // Speeds are 0.1 above what is left of them after their cost.
        recent.rescale(A, 0.5, 0.1);
        assert!((recent.estimate(A) - 0.05).abs() < 1e-12, "{}", recent.estimate(A));
        assert_eq!(recent.estimate(ChannelId(1)), other);
    }

    #[test]
    fn another_window_is_refused() {
        let state = Windowed::new(1, 8).state();
        let refused = Windowed::new(1, 16).restore(state).unwrap_err();
        assert_eq!(refused.to_string(), "the saved `window` is 8, expected 16");
    }
}
