//! Running averages: the paper's statistics, equations (st1) and (st2).
//!
//! Per channel the number of observations `n` and their sum; the estimate is `sum / n`
//! and the variance `1 / (2 n)`. *O(1)* an observation. Two repairs of the printed text:
//! the statistics of slot *t* hold what was known *before* it, and the matrix formula,
//! which divides each observation by the count at its own time, is not used.
//!
//! Limit: every observation weighs the same for ever, so a speed that changed is
//! believed only after as many slots again. See [`Discounted`](super::Discounted).
//!
//! ```
//! use esdp::model::{ChannelId, Observation, Outcome, Slot};
//! use esdp::stats::{Means, Statistics};
//!
//! let mut means = Means::new(2);
//! means.advance(Slot(1));
//! means.commit(Slot(1), ChannelId(0));
//! assert_eq!(means.variance(ChannelId(0)), 0.5); // open, but no longer unknown
//! means.observe(&Observation { slot: Slot(1), channel: ChannelId(0), outcome: Outcome::Ran(0.8) });
//! assert_eq!(means.estimate(ChannelId(0)), 0.8);
//! ```

use super::record::{ChannelRecord, carried, rescaled};
use super::state::{self, Learned, STATE_VERSION, StateError, StatisticsState};
use super::{Statistics, variance_of};
use crate::model::{ChannelId, ClusterChange, Observation, Outcome, Slot};

/// The plain average of all observations of each channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Means {
    count: Vec<u64>,
    sum: Vec<f64>,
    pending: Vec<u32>,
}

impl Means {
    /// Nothing known of any of `channels` channels.
    pub fn new(channels: usize) -> Self {
        Self { count: vec![0; channels], sum: vec![0.0; channels], pending: vec![0; channels] }
    }
}

impl Statistics for Means {
    fn advance(&mut self, _slot: Slot) {}

    fn estimate(&self, channel: ChannelId) -> f64 {
        match self.count[channel.index()] {
            0 => 0.0,
            count => self.sum[channel.index()] / count as f64,
        }
    }

    fn variance(&self, channel: ChannelId) -> f64 {
        let index = channel.index();
        variance_of(self.count[index].saturating_add(u64::from(self.pending[index])) as f64)
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.count[channel.index()] as f64
    }

    fn outcomes(&self) -> f64 {
        self.count.iter().map(|&count| count as f64).sum()
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.pending[channel.index()]
    }

    fn commit(&mut self, _slot: Slot, channel: ChannelId) {
        let pending = &mut self.pending[channel.index()];
        *pending = pending.saturating_add(1);
    }

    fn observe(&mut self, seen: &Observation) {
        let index = seen.channel.index();
        self.pending[index] = self.pending[index].saturating_sub(1);
        if let Outcome::Ran(utility) = seen.outcome {
            self.count[index] = self.count[index].saturating_add(1);
            self.sum[index] += utility;
        }
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        let index = channel.index();
        ChannelRecord { count: self.count[index] as f64, sum: self.sum[index], ..ChannelRecord::default() }
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        let (index, whole) = (channel.index(), record.count.round());
        if whole > 0.0 {
            self.count[index] = self.count[index].saturating_add(whole as u64);
            // A share of an outcome is not kept, nor is its share of the sum.
            self.sum[index] +=
                if whole == record.count { record.sum } else { record.sum / record.count * whole };
        }
    }

    fn reset(&mut self, channel: ChannelId) {
        (self.count[channel.index()], self.sum[channel.index()]) = (0, 0.0);
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.count = carried(&self.count, change, &0);
        self.sum = carried(&self.sum, change, &0.0);
        self.pending = carried(&self.pending, change, &0);
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        let index = channel.index();
        self.sum[index] = rescaled(self.sum[index], self.count[index] as f64, factor, cost);
    }

    fn state(&self) -> StatisticsState {
        let Self { count, sum, pending } = self.clone();
        StatisticsState { version: STATE_VERSION, learned: Learned::Means { count, sum, pending } }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        let channels = self.count.len();
        match state::open(state)? {
            Learned::Means { count, sum, pending } => {
                state::check_length("count", count.len(), channels)?;
                state::check_length("sum", sum.len(), channels)?;
                state::check_length("pending", pending.len(), channels)?;
                let limits: Vec<f64> = count.iter().map(|&count| count as f64).collect();
                state::check_numbers("sum", &sum, Some(&limits))?;
                *self = Self { count, sum, pending };
                Ok(())
            }
            other => Err(StateError::Kind { found: other.kind(), expected: "means" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{A, B, censored, check_contract, ran};

    #[test]
    fn keeps_the_contract() {
        check_contract(|| Box::new(Means::new(3)));
    }

    #[test]
    fn averages_in_any_order() {
        let mut means = Means::new(2);
        for slot in 1..=3 {
            means.advance(Slot(slot));
            means.commit(Slot(1), A);
        }
        assert_eq!((means.pending(A), means.variance(A)), (3, 1.0 / 6.0));
        means.observe(&ran(3, A, 0.5));
        means.observe(&ran(1, A, 0.25));
        means.observe(&censored(2, A));
        assert_eq!((means.estimate(A), means.count(A), means.pending(A)), (0.375, 2.0, 0));
        assert_eq!((means.estimate(B), means.variance(B)), (0.0, f64::INFINITY));
    }

    #[test]
    fn damage_is_refused_and_changes_nothing() {
        let mut means = Means::new(1);
        let learned =
            |count, sum: f64| Learned::Means { count: vec![count], sum: vec![sum], pending: vec![0] };
        let mut restore = |learned, version| {
            let refused = means.restore(StatisticsState { version, learned });
            assert_eq!(means, Means::new(1));
            refused.unwrap_err().to_string()
        };
        assert!(restore(learned(1, 2.0), 1).contains("`sum` is damaged at entry 0"));
        assert!(restore(learned(1, f64::NAN), 1).contains("finite"));
        assert!(restore(learned(1, 0.5), 9).contains("version 9"));
        let two = Learned::Means { count: vec![0; 2], sum: vec![0.0; 2], pending: vec![0; 2] };
        assert_eq!(restore(two, 1), "the saved `count` has length 2, expected 1");
    }
}
