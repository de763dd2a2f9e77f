//! TAB: a table of best completions, for small capacity boxes.
//!
//! With the channels outside the core fixed (see `core.rs`), let `R_i(c')` be the most
//! that channels `i..` can add to `v + lambda w` within `c'`: an integer knapsack table,
//! filled backwards. A label that has used `a` after channel `i` can reach at most
//! `S + lambda W + 1/(4 lambda) + R_{i+1}(c - a)`, the exact bound at this `lambda`, and is
//! dropped when that is not above the lower bound. A few updates `lambda <- 1/(2 sqrt(W))`
//! tighten it. Learned states are the hard ones: the learner drives all `r_e` towards 0,
//! and only a bound as strong as this one still tells them apart.
//!
//! A linear problem needs no labels: the table holds its optimum.
//!
//! Cost: `core * prod(c_k + 1)` for the table, then the labels that survive.

use super::labels::{Cone, Label, Labels, Packing, ROOT, Toggle};
use super::{Found, Limits};
use crate::solver::dual::Dual;
use crate::solver::reduce::Reduced;

/// Tables are filled at most this often, each time with a better `lambda`.
const ROUNDS: usize = 3;

/// Channels that only more others than this could replace are kept unseen: the list of these others would
/// cost more than it saves.
const MOST_DOMINATORS: usize = 1_024;

/// The low bits of a label's key hold its table cell, the bits above its packed weight.
const CELL_BITS: u32 = 32;

/// A TAB search and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Tab {
    labels: Labels,
    packing: Packing,
    /// The capacity that the fixed channels leave, and the distance between neighbouring
    /// cells, row by row; the last row is contiguous.
    room: Vec<u64>,
    stride: Vec<usize>,
    cells: usize,
    /// The channels to decide, and the sums of those that are fixed in.
    items: Vec<u32>,
    fixed: (f64, f64),
    table: Vec<f64>,
    fixed_in: Vec<u32>,
    chosen: Vec<u32>,
    /// Buffers of [`drop_dominated`](Tab::drop_dominated).
    largest: Vec<f64>,
    /// Buffers of the odometer.
    digit: Vec<u64>,
}

impl Tab {
    /// Fixes what is outside the core and measures the rest. Returns the number of table cells, or `None`
    /// when the fixed channels alone do not fit: nothing beats the lower bound. Tables of more cells than
    /// `most` are not filled.
    pub fn prepare(&mut self, problem: &Reduced, dual: &Dual, order: &[u32], most: u128) -> Option<u128> {
        self.room.clear();
        self.room.extend_from_slice(&problem.capacity);
        let (mut mean, mut variance) = (0.0, 0.0);
        self.fixed_in.clear();
        self.items.clear();
        self.items.extend_from_slice(order);
        self.items.sort_unstable();
        let mut core = self.items.iter().peekable();
        for (e, &r) in dual.reduced.iter().enumerate() {
            if core.next_if(|&&item| item as usize == e).is_some() || r <= 0.0 {
                continue;
            }
            self.fixed_in.push(e as u32);
            mean += problem.v[e];
            variance += problem.w[e];
            for (room, &request) in self.room.iter_mut().zip(problem.request(e)) {
                *room = room.checked_sub(request)?;
            }
        }
        self.fixed = (mean, variance);
        let room = &self.room;
        self.items.retain(|&e| problem.request(e as usize).iter().zip(room).all(|(a, c)| a <= c));
        let cells = self.room.iter().fold(1u128, |cells, &room| cells.saturating_mul(u128::from(room) + 1));
        // Where one channel is too much already, the others need not be told apart.
        if cells.saturating_mul(2) <= most {
            self.drop_dominated(problem);
        }
        Some(cells.saturating_mul(self.items.len() as u128 + 1))
    }

    /// Drops channels that are never needed: as many others of the same request as could
    /// fit at all are at least as good in mean and variance.
    fn drop_dominated(&mut self, problem: &Reduced) {
        let order = |&a: &u32, &b: &u32| {
            let (a, b) = (a as usize, b as usize);
            let better = |x: &[f64]| x[b].total_cmp(&x[a]);
            problem
                .request(a)
                .cmp(problem.request(b))
                .then(better(&problem.v))
                .then(better(&problem.w))
                .then(a.cmp(&b))
        };
        self.items.sort_unstable_by(order);
        let (mut class, mut fit): (&[u64], usize) = (&[], 0);
        let (room, largest) = (&self.room, &mut self.largest);
        largest.clear();
        self.items.retain(|&e| {
            let request = problem.request(e as usize);
            if largest.is_empty() || request != class {
                class = request;
                let most = request.iter().zip(room).filter(|(a, _)| **a > 0).map(|(a, c)| c / a).min();
                fit = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
                largest.clear();
            }
            if fit > MOST_DOMINATORS {
                return true;
            }
            // The variances of the better means so far, the `fit` largest of them, descending.
            let variance = problem.w[e as usize];
            let place = largest.partition_point(|&other| other >= variance);
            if place < fit {
                largest.insert(place, variance);
                largest.truncate(fit);
            }
            place < fit
        });
    }

    /// Searches for a set better than `found`; `prepare` came before. False, with nothing
    /// done, when weight and cell do not fit in a word.
    pub fn search(&mut self, problem: &Reduced, dual: &Dual, limits: Limits, found: &mut Found) -> bool {
        self.stride.clear();
        self.stride.resize(self.room.len(), 1);
        self.cells = 1;
        for row in (0..self.room.len()).rev() {
            self.stride[row] = self.cells;
            self.cells *= self.room[row] as usize + 1;
        }
        if !self.packing.fit(self.room.iter().map(|&room| u128::from(room)))
            || self.packing.bits + CELL_BITS > 64
        {
            return false;
        }
        // The channels least in doubt first: labels multiply late.
        let r = &dual.reduced;
        self.items
            .sort_unstable_by(|&a, &b| r[b as usize].abs().total_cmp(&r[a as usize].abs()).then(a.cmp(&b)));
        let mut lambda = dual.lambda;
        let mut bound = f64::INFINITY;
        for round in 0..ROUNDS {
            self.fill(problem, lambda);
            found.work += self.table.len() as u64 / 4;
            let (mean, variance) = self.walk(problem);
            let value = Reduced::value(mean, variance);
            if value > found.value {
                found.value = value;
                found.take(&self.fixed_in, self.chosen.iter().copied());
            }
            bound = self.table[self.table.len() - 1] + self.fixed.0;
            if problem.linear {
                found.bound = found.value;
                return true;
            }
            bound += lambda * self.fixed.1 + 0.25 / lambda;
            let better = 0.5 / variance.max(1e-12).sqrt();
            if bound <= found.value || round + 1 == ROUNDS || (better / lambda - 1.0).abs() < 0.05 {
                break;
            }
            lambda = better;
        }
        self.label(problem, lambda, bound, limits, found);
        true
    }

    /// The labels, forwards through the table.
    fn label(&mut self, problem: &Reduced, lambda: f64, bound: f64, limits: Limits, found: &mut Found) {
        let proved = found.bound.min(bound);
        found.bound = found.value.max(proved);
        let limit = self.packing.word(self.room.iter().copied());
        let tangent = 0.25 / lambda;
        let (mean, variance) = self.fixed;
        self.labels.start(Label { key: 0, mean, variance, penalty: 0.0, last: ROOT });
        let (mut best, mut finished) = (None, true);
        let alone = Reduced::value(mean, variance);
        if alone > found.value {
            found.value = alone;
            best = Some(ROOT);
        }
        for position in 0..self.items.len() {
            found.work += 4 * self.labels.len() as u64 + 8;
            if found.work > limits.work || self.labels.len() > limits.labels {
                finished = false;
                break;
            }
            let e = self.items[position];
            let request = problem.request(e as usize);
            let cell: usize = request.iter().zip(&self.stride).map(|(&a, stride)| a as usize * stride).sum();
            let word = self.packing.word(request.iter().copied());
            let key = word << CELL_BITS | cell as u64;
            let (mean, variance) = (problem.v[e as usize], problem.w[e as usize]);
            let toggle = Toggle { channel: e, key, mean, variance, penalty: 0.0 };
            let packing = &self.packing;
            let fits = |key: u64| packing.within(key >> CELL_BITS, limit);
            best = self.labels.best_with(&toggle, |label| fits(label.key + key), &mut found.value).or(best);
            let rest = &self.table[(self.items.len() - position - 1) * self.cells..][..self.cells];
            let reach = |label: &Label| {
                label.mean
                    + lambda * label.variance
                    + tangent
                    + rest[self.cells - 1 - label.key as u32 as usize]
            };
            let alive = |label: &Label| fits(label.key) && reach(label) > found.value;
            self.labels.offer(&toggle, &Cone::new(lambda, bound - found.value), alive);
            found.bound = self.labels.iter().map(reach).fold(found.value, f64::max).min(found.bound);
            if self.labels.len() == 0 {
                break;
            }
        }
        if finished {
            found.bound = found.value;
        }
        if let Some(last) = best {
            found.take(&self.fixed_in, self.labels.toggles(last));
        }
    }

    /// Fills the table for one `lambda`. Layer `j` is `R` for the last `j` items.
    fn fill(&mut self, problem: &Reduced, lambda: f64) {
        let (cells, rows) = (self.cells, self.room.len());
        self.table.clear();
        self.table.resize(cells, 0.0);
        for &e in self.items.iter().rev() {
            let from = self.table.len() - cells;
            self.table.extend_from_within(from..);
            let (before, after) = self.table[from..].split_at_mut(cells);
            let value = problem.v[e as usize] + lambda * problem.w[e as usize];
            if value <= 0.0 {
                continue;
            }
            let request = problem.request(e as usize);
            let offset: usize =
                request.iter().zip(&self.stride).map(|(&a, stride)| a as usize * stride).sum();
            let run = rows.checked_sub(1).map_or(1, |last| (self.room[last] - request[last]) as usize + 1);
            // An odometer over all rows but the last, each from its request to its room.
            self.digit.clear();
            self.digit.extend_from_slice(request);
            let mut start = offset;
            'cells: loop {
                let taken = &before[start - offset..][..run];
                for (cell, taken) in after[start..][..run].iter_mut().zip(taken) {
                    *cell = cell.max(taken + value);
                }
                let mut row = rows.saturating_sub(1);
                loop {
                    if row == 0 {
                        break 'cells;
                    }
                    row -= 1;
                    if self.digit[row] < self.room[row] {
                        self.digit[row] += 1;
                        start += self.stride[row];
                        break;
                    }
                    start -= (self.digit[row] - request[row]) as usize * self.stride[row];
                    self.digit[row] = request[row];
                }
            }
        }
    }

    /// Reads the best set off the table into `chosen`; its sums with the fixed channels.
    fn walk(&mut self, problem: &Reduced) -> (f64, f64) {
        let (mut mean, mut variance) = self.fixed;
        self.chosen.clear();
        let mut cell = self.cells - 1;
        for (position, &e) in self.items.iter().enumerate() {
            let layer = self.items.len() - position;
            if self.table[layer * self.cells + cell] > self.table[(layer - 1) * self.cells + cell] {
                let request = problem.request(e as usize);
                cell -=
                    request.iter().zip(&self.stride).map(|(&a, stride)| a as usize * stride).sum::<usize>();
                mean += problem.v[e as usize];
                variance += problem.w[e as usize];
                self.chosen.push(e);
            }
        }
        (mean, variance)
    }
}
