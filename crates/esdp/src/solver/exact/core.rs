//! CORE: labels over the few channels whose choice is in doubt. Any capacity.
//!
//! Start from `x = [r > 0]`, which the dual would choose. By the identity in `dual/` a
//! set that beats the lower bound `LB` differs from it only in channels with
//! `|r| < D - LB`, the *core*, and the flipped `|r|` sum to less than `D - LB`. The core is
//! offered by ascending `|r|`. A label dies when its penalty and the flips it still needs
//! reach `D - LB`: at least one, and as many as it takes to come back to the capacity,
//! from above (it must fit) or from below (idle devices cost their price). Labels over
//! capacity may live on the way; feasible ones raise `LB`.
//!
//! Over the label budget the worse half is dropped, and the smallest dropped penalty
//! bounds what was lost: the answer stays certified.

use super::labels::{Cone, Label, Labels, Packing, ROOT, Toggle};
use super::{Found, Limits};
use crate::solver::dual::Dual;
use crate::solver::reduce::Reduced;

/// A search over fewer channels than this is left to others.
const FEWEST: usize = 16;

/// A CORE search and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Core {
    labels: Labels,
    packing: Packing,
    rows: Vec<Row>,
}

/// One capacity row as the core sees it. Weights count from `lowest`.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// What is used when every core channel is left out.
    lowest: u128,
    /// What `[r > 0]` uses.
    used: u128,
    /// What all core channels together request.
    reach: u128,
    /// The largest request of a core channel.
    largest: u64,
    /// The capacity above `lowest`, or `reach` where that is less.
    limit: u64,
}

impl Core {
    /// Searches for a set better than `found` among `order`, the core by ascending `|r|`.
    /// False, with nothing done, when not even a few channels' weights fit in a word.
    pub fn search(
        &mut self,
        problem: &Reduced,
        dual: &Dual,
        order: &[u32],
        limits: Limits,
        found: &mut Found,
    ) -> bool {
        let r = &dual.reduced;
        found.work += (2 * problem.len() + 2 * problem.rows() * order.len()) as u64;
        let Some((usable, mut root)) = self.measure(problem, r, order) else { return false };
        // A set that flips a channel beyond the usable ones pays at least the first one's `|r|`.
        let mut given_up = order.get(usable).map_or(f64::INFINITY, |&e| r[e as usize].abs());
        let order = &order[..usable];
        if self.rows.iter().zip(&problem.capacity).any(|(row, &capacity)| row.lowest > u128::from(capacity)) {
            // Without the usable channels the others still do not fit: no label ever will.
            found.bound = found.value.max(found.bound.min(dual.bound - given_up));
            return true;
        }
        let packing = &self.packing;
        let limit = packing.word(self.rows.iter().map(|row| row.limit));
        root.key = packing.word(self.rows.iter().map(|row| (row.used - row.lowest) as u64));
        self.labels.start(root);
        let mut best = None;
        let value = Reduced::value(root.mean, root.variance);
        if packing.within(root.key, limit) && value > found.value {
            found.value = value;
            best = Some(ROOT);
        }
        for (position, &e) in order.iter().enumerate() {
            let channel = e as usize;
            let penalty = r[channel].abs();
            if penalty >= dual.bound - found.value {
                break;
            }
            found.work += 6 * self.labels.len() as u64 + 8;
            if found.work > limits.work {
                let least = self.labels.iter().map(|label| label.penalty).fold(f64::INFINITY, f64::min);
                given_up = given_up.min(least + penalty);
                break;
            }
            let word = packing.word(problem.request(channel).iter().copied());
            let (sign, key) = if r[channel] > 0.0 { (-1.0, word.wrapping_neg()) } else { (1.0, word) };
            let (mean, variance) = (sign * problem.v[channel], sign * problem.w[channel]);
            let toggle = Toggle { channel: e, key, mean, variance, penalty };
            // Candidates first, so that the merge prunes with the best lower bound.
            let fits = |label: &Label| packing.within(label.key.wrapping_add(key), limit);
            best = self.labels.best_with(&toggle, fits, &mut found.value).or(best);
            let room = dual.bound - found.value;
            let next = order.get(position + 1).map_or(f64::INFINITY, |&e| r[e as usize].abs());
            let [one, two, three] = [1, 2, 3].map(|flips| self.window(flips, room, &dual.price));
            let windows = [one, two, three, (0, !packing.guards)];
            // Labels die here without a pattern: a branch for each reason would be foretold wrongly.
            let alive = |label: &Label| {
                let left = room - label.penalty;
                let more = [2.0, 3.0, 4.0].map(|flips| usize::from(left > flips * next));
                let (low, high) = windows[more[0] + more[1] + more[2]];
                (left > next) & packing.within(label.key, high) & packing.within(low, label.key)
            };
            self.labels.offer(&toggle, &Cone::new(dual.lambda, room), alive);
            if self.labels.len() == 0 {
                break;
            }
            if self.labels.len() > limits.labels {
                given_up = given_up.min(self.labels.halve() + next);
            }
        }
        found.bound = found.value.max(found.bound.min(dual.bound - given_up));
        if let Some(last) = best {
            found.chosen.clear();
            found.chosen.extend((0..problem.len() as u32).filter(|&e| r[e as usize] > 0.0));
            for e in self.labels.toggles(last) {
                match found.chosen.binary_search(&e) {
                    Ok(place) => drop(found.chosen.remove(place)),
                    Err(place) => found.chosen.insert(place, e),
                }
            }
        }
        true
    }

    /// The weights from which a label can come back to the capacity in a few flips: at
    /// most `flips` of the largest request above it, or below what `room` can leave idle.
    fn window(&self, flips: u64, room: f64, price: &[f64]) -> (u64, u64) {
        let low = self.rows.iter().zip(price).map(|(row, price)| {
            // A cast from a float saturates: a price of 0 lets everything idle.
            let idle = (room / price) as u64;
            row.limit.saturating_sub(row.largest.saturating_mul(flips).saturating_add(idle))
        });
        let high = self.rows.iter().map(|row| {
            let top = u128::from(row.limit) + u128::from(row.largest) * u128::from(flips);
            top.min(row.reach) as u64
        });
        (self.packing.word(low), self.packing.word(high))
    }

    /// Measures the rows and packs them: how many channels of `order` can be used, and the
    /// root label without its key.
    fn measure(&mut self, problem: &Reduced, r: &[f64], order: &[u32]) -> Option<(usize, Label)> {
        self.rows.clear();
        self.rows.resize(problem.rows(), Row::default());
        let (mut mean, mut variance) = (0.0, 0.0);
        for (e, _) in r.iter().enumerate().filter(|(_, r)| **r > 0.0) {
            mean += problem.v[e];
            variance += problem.w[e];
            for (row, &request) in self.rows.iter_mut().zip(problem.request(e)) {
                row.used += u128::from(request);
            }
        }
        self.rows.iter_mut().for_each(|row| row.lowest = row.used);
        let mut usable = 0;
        for &e in order {
            let request = problem.request(e as usize);
            let reach = self.rows.iter().zip(request).map(|(row, &request)| row.reach + u128::from(request));
            if !self.packing.fit(reach) {
                break;
            }
            usable += 1;
            for (row, &request) in self.rows.iter_mut().zip(request) {
                row.reach += u128::from(request);
                row.largest = row.largest.max(request);
                if r[e as usize] > 0.0 {
                    row.lowest -= u128::from(request);
                }
            }
        }
        for (row, &capacity) in self.rows.iter_mut().zip(&problem.capacity) {
            row.limit = u128::from(capacity).saturating_sub(row.lowest).min(row.reach) as u64;
        }
        let fits = self.packing.fit(self.rows.iter().map(|row| row.reach));
        let root = Label { key: 0, mean, variance, penalty: 0.0, last: ROOT };
        (fits && usable >= FEWEST.min(order.len())).then_some((usable, root))
    }
}
