//! Averages that fade: an observation of slot *s* weighs `gamma^(t-s)` in slot *t*.
//!
//! With weights `w_s = gamma^(t-s)`: the faded count `n = sum w_s`, the estimate
//! `sum w_s Z_s / n`, the variance `1 / (2 n)`. The memory reaches back about
//! `1 / (1 - gamma)` slots.
//!
//! Fading every channel in every slot would cost *O(channels)*. Instead all weights
//! share one factor, `scale = gamma^(slots since the last rescale)`: stored weights are
//! true weights divided by it, a slot multiplies the factor once, and an observation
//! touches its channel only. Before the factor gets so small that stored weights could
//! overflow, all of them are multiplied by it once; that is every
//! `230 / (1 - gamma)` slots or so, *O(1)* amortised a slot.
//!
//! A channel whose count has faded below [`FORGOTTEN`] counts as never tried: its variance
//! is infinite. Else the variance would grow beyond what a solver can weigh against the
//! rest. Uses without an outcome fade as well, so one whose outcome never comes is
//! forgotten in time.

use super::record::{ChannelRecord, carried, rescaled};
use super::state::{self, Learned, STATE_VERSION, StateError, StatisticsState};
use super::{Statistics, variance_of};
use crate::model::{ChannelId, ClusterChange, Observation, Outcome, Slot};

/// The faded count below which a channel counts as never tried.
pub const FORGOTTEN: f64 = 1e-3;

/// The scale below which all weights are rescaled.
const SMALLEST_SCALE: f64 = 1e-100;

/// Exponentially fading averages of each channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Discounted {
    gamma: f64,
    slot: Slot,
    scale: f64,
    weight: Vec<f64>,
    sum: Vec<f64>,
    open: Vec<f64>,
    pending: Vec<u32>,
}

impl Discounted {
    /// Nothing known of any of `channels` channels; what is learned fades by `gamma` a slot.
    ///
    /// # Panics
    /// If `gamma` is not in (0, 1].
    pub fn new(channels: usize, gamma: f64) -> Self {
        assert!(gamma > 0.0 && gamma <= 1.0, "gamma is {gamma}, expected a number in (0, 1]");
        Self {
            gamma,
            slot: Slot(0),
            scale: 1.0,
            weight: vec![0.0; channels],
            sum: vec![0.0; channels],
            open: vec![0.0; channels],
            pending: vec![0; channels],
        }
    }

    /// What an event of slot `then` weighs in the open slot.
    fn fade(&self, then: Slot) -> f64 {
        self.gamma.powf(self.slot.0.saturating_sub(then.0) as f64)
    }

    /// The faded number of outcomes of a channel and their faded sum.
    pub(super) fn faded(&self, index: usize) -> (f64, f64) {
        (self.weight[index] * self.scale, self.sum[index] * self.scale)
    }

    /// The faded number of uses of a channel, seen or open.
    pub(super) fn faded_uses(&self, index: usize) -> f64 {
        (self.weight[index] + self.open[index]) * self.scale
    }

    fn rescale(&mut self) {
        for list in [&mut self.weight, &mut self.sum, &mut self.open] {
            for value in list {
                *value *= self.scale;
            }
        }
        self.scale = 1.0;
    }
}

impl Statistics for Discounted {
    fn advance(&mut self, slot: Slot) {
        let passed = slot.0.saturating_sub(self.slot.0);
        if passed == 0 {
            return;
        }
        self.slot = slot;
        // A long pause fades in two steps: first down to a scale that is no longer
        // small, so that one factor never leaves the range of f64 by more than rounding to 0.
        let fade = self.gamma.powf(passed as f64);
        if self.scale * fade < SMALLEST_SCALE {
            self.rescale();
        }
        self.scale *= fade;
        if self.scale < SMALLEST_SCALE {
            self.rescale();
        }
    }

    fn estimate(&self, channel: ChannelId) -> f64 {
        let weight = self.weight[channel.index()];
        if weight * self.scale < FORGOTTEN { 0.0 } else { (self.sum[channel.index()] / weight).min(1.0) }
    }

    fn variance(&self, channel: ChannelId) -> f64 {
        let count = (self.weight[channel.index()] + self.open[channel.index()]) * self.scale;
        variance_of(if count < FORGOTTEN { 0.0 } else { count })
    }

    fn count(&self, channel: ChannelId) -> f64 {
        self.weight[channel.index()] * self.scale
    }

    fn outcomes(&self) -> f64 {
        self.weight.iter().map(|weight| weight * self.scale).sum()
    }

    fn pending(&self, channel: ChannelId) -> u32 {
        self.pending[channel.index()]
    }

    fn commit(&mut self, slot: Slot, channel: ChannelId) {
        let index = channel.index();
        self.pending[index] = self.pending[index].saturating_add(1);
        let weight = if slot == self.slot { 1.0 } else { self.fade(slot) };
        self.open[index] += weight / self.scale;
    }

    fn observe(&mut self, seen: &Observation) {
        let index = seen.channel.index();
        let weight = self.fade(seen.slot) / self.scale;
        match &mut self.pending[index] {
            0 => {}
            // The last one leaves nothing open, whatever rounding left there.
            last @ 1 => (*last, self.open[index]) = (0, 0.0),
            more => {
                *more -= 1;
                self.open[index] = (self.open[index] - weight).max(0.0);
            }
        }
        if let Outcome::Ran(utility) = seen.outcome {
            self.weight[index] += weight;
            self.sum[index] += weight * utility;
        }
    }

    fn record(&self, channel: ChannelId) -> ChannelRecord {
        let (count, sum) = self.faded(channel.index());
        ChannelRecord { slot: self.slot.0, count, sum, ..ChannelRecord::default() }
    }

    fn add(&mut self, channel: ChannelId, record: &ChannelRecord) {
        let fade = self.fade(Slot(record.slot)) / self.scale;
        self.weight[channel.index()] += fade * record.count;
        self.sum[channel.index()] += fade * record.sum;
    }

    fn reset(&mut self, channel: ChannelId) {
        (self.weight[channel.index()], self.sum[channel.index()]) = (0.0, 0.0);
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        for list in [&mut self.weight, &mut self.sum, &mut self.open] {
            *list = carried(list, change, &0.0);
        }
        self.pending = carried(&self.pending, change, &0);
    }

    fn rescale(&mut self, channel: ChannelId, factor: f64, cost: f64) {
        let index = channel.index();
        self.sum[index] = rescaled(self.sum[index], self.weight[index], factor, cost);
    }

    fn state(&self) -> StatisticsState {
        let Self { gamma: _, slot, scale, weight, sum, open, pending } = self.clone();
        let learned = Learned::Discounted { slot, scale, weight, sum, open, pending };
        StatisticsState { version: STATE_VERSION, learned }
    }

    fn restore(&mut self, state: StatisticsState) -> Result<(), StateError> {
        let channels = self.weight.len();
        match state::open(state)? {
            Learned::Discounted { slot, scale, weight, sum, open, pending } => {
                state::check_length("weight", weight.len(), channels)?;
                state::check_length("sum", sum.len(), channels)?;
                state::check_length("open", open.len(), channels)?;
                state::check_length("pending", pending.len(), channels)?;
                if !(SMALLEST_SCALE..=1.0).contains(&scale) {
                    let reason = "expected a number in [1e-100, 1]";
                    return Err(StateError::Damaged { list: "scale", entry: 0, reason });
                }
                state::check_numbers("weight", &weight, None)?;
                state::check_numbers("sum", &sum, Some(&weight))?;
                state::check_numbers("open", &open, None)?;
                *self = Self { gamma: self.gamma, slot, scale, weight, sum, open, pending };
                Ok(())
            }
            other => Err(StateError::Kind { found: other.kind(), expected: "discounted" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Means;
    use crate::stats::testing::{A, B, censored, check_contract, ran};

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn keeps_the_contract() {
        check_contract(|| Box::new(Discounted::new(3, 0.9)));
    }

    #[test]
    fn weights_are_powers_of_gamma() {
        let mut fading = Discounted::new(2, 0.5);
        fading.advance(Slot(1));
        fading.observe(&ran(1, A, 1.0));
        fading.advance(Slot(2));
        fading.observe(&ran(2, A, 0.0));
        fading.advance(Slot(4));
        assert_eq!(fading.count(A), 0.125 + 0.25);
        assert!(close(fading.estimate(A), 0.125 / 0.375));
        // Late news weighs as if it had come in time.
        fading.observe(&ran(1, B, 0.5));
        assert_eq!((fading.count(B), fading.estimate(B)), (0.125, 0.5));
    }

    #[test]
    fn agrees_with_the_sum_written_out_over_many_rescales() {
        let gamma = 0.6; // rescales about every 450 slots
        let mut fading = Discounted::new(1, gamma);
        let (mut weight, mut sum) = (0.0, 0.0);
        for slot in 1..=3000u64 {
            fading.advance(Slot(slot));
            weight *= gamma;
            sum *= gamma;
            if slot % 3 == 0 {
                let utility = (slot % 7) as f64 / 7.0;
                fading.observe(&ran(slot, A, utility));
                weight += 1.0;
                sum += utility;
            }
            assert!(
                close(fading.count(A), weight) && (weight == 0.0 || close(fading.estimate(A), sum / weight))
            );
        }
    }

    #[test]
    fn forgetting_forgets() {
        let mut fading = Discounted::new(1, 0.9);
        fading.advance(Slot(1));
        (0..10).for_each(|_| fading.observe(&ran(1, A, 1.0)));
        fading.advance(Slot(60));
        (0..10).for_each(|_| fading.observe(&ran(60, A, 0.2)));
        assert!(fading.estimate(A) < 0.21);
        fading.advance(Slot(200));
        assert_eq!((fading.estimate(A), fading.variance(A)), (0.0, f64::INFINITY));
        fading.advance(Slot(u64::MAX));
        assert_eq!(fading.count(A), 0.0);
        fading.observe(&ran(u64::MAX, A, 0.5));
        assert_eq!((fading.count(A), fading.estimate(A)), (1.0, 0.5));
    }

    #[test]
    fn outcomes_that_never_come_fade() {
        let mut fading = Discounted::new(1, 0.5);
        fading.advance(Slot(1));
        fading.commit(Slot(1), A);
        fading.commit(Slot(1), A);
        assert_eq!(fading.variance(A), 0.25);
        fading.advance(Slot(2));
        assert_eq!(fading.variance(A), 0.5);
        fading.observe(&censored(1, A));
        assert_eq!((fading.pending(A), fading.variance(A)), (1, 1.0));
        fading.advance(Slot(30));
        assert_eq!(fading.variance(A), f64::INFINITY);
    }

    #[test]
    fn no_fading_is_the_plain_average() {
        let (mut fading, mut means) = (Discounted::new(1, 1.0), Means::new(1));
        for slot in 1..50 {
            let statistics: [&mut dyn Statistics; 2] = [&mut fading, &mut means];
            for one in statistics {
                one.advance(Slot(slot));
                one.commit(Slot(slot), A);
                one.observe(&ran(slot, A, (slot % 5) as f64 / 4.0));
            }
        }
        assert_eq!((fading.estimate(A), fading.variance(A)), (means.estimate(A), means.variance(A)));
    }
}
