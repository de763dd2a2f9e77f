//! Algorithm 2 of the paper: one table over budgets, capacities and channels.
//!
//! Means and variances are rounded up to whole numbers, `Y = ceil(xi v)` and
//! `S2 = ceil(xi^2 w)` (eq. scal-mean, scal-var). For every budget `s` the table holds
//!
//! ```text
//! V(s, c', i) = max { S2.x : A x <= c', Y.x >= s, x_1 = .. = x_i = 0 }
//!             = max { V(s, c', i + 1),  V(max(s - Y_{i+1}, 0), c' - A_{i+1}, i + 1) + S2_{i+1} }
//! ```
//!
//! and the answer is the `x` behind the best `s + sqrt(V(s, c, 0))` (eq. P4), which is the
//! maximum of the rounded objective `Y.x + sqrt(S2.x)`. The paper's slips are fixed
//! (`docs/paper.md` 1): a flag for every state says whether its channel was taken, instead of
//! copying solutions and losing some; a channel is taken only where it fits; `-inf` stays
//! `-inf`. Negative means, which the paper excludes, extend the budgets below zero.
//!
//! Complexity: `n * budgets * prod(c_k + 1)` in time, and as many bytes.
//! This is the reference that tests compare with and that speed is measured against.

use super::{Guarantee, Problem, Solution, SolveError, Solver};

/// The paper's dynamic program.
#[derive(Debug, Clone)]
pub struct Paper {
    scale: Option<f64>,
    budgets: Option<u64>,
    memory_limit: u128,
    values: Vec<f64>,
    taken: Vec<bool>,
    row: Vec<f64>,
}

impl Default for Paper {
    /// A scale that keeps the rounding below 1 % of the largest `v + sqrt(w)` for each
    /// channel that fits, all budgets that can be reached, and 400 MiB.
    fn default() -> Self {
        Self {
            scale: None,
            budgets: None,
            memory_limit: 400 << 20,
            values: Vec::new(),
            taken: Vec::new(),
            row: Vec::new(),
        }
    }
}

impl Paper {
    /// The scale `xi` and the largest budget, as a policy that follows the paper sets them;
    /// without a largest budget, all that can be reached.
    ///
    /// # Panics
    /// If the scale is not a finite, positive number.
    #[must_use]
    pub fn new(scale: f64, budgets: Option<u64>) -> Self {
        assert!(scale.is_finite() && scale > 0.0, "the scale is {scale}, expected a finite, positive number");
        Self { scale: Some(scale), budgets, ..Self::default() }
    }

    /// Refuses problems whose table would need more bytes than this (400 MiB by default).
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u128) -> Self {
        self.memory_limit = bytes;
        self
    }
}

/// A channel with its rounded statistics.
struct Item {
    channel: u32,
    offset: usize,
    mean: i64,
    variance: f64,
}

/// The extent of the table.
struct Extent {
    scale: f64,
    /// Budgets from `low` (0 unless means are negative) to `low + budgets - 1`.
    low: i64,
    budgets: usize,
    cells: usize,
    stride: Vec<usize>,
    /// The capacities, or what all channels together request where that is less.
    room: Vec<u64>,
    /// Whether some set reaches more than the largest budget.
    capped: bool,
}

impl Paper {
    /// Rounds the channels that fit and measures the table, refusing what is too large.
    fn measure(&self, problem: &Problem<'_>) -> Result<(Vec<Item>, Extent), SolveError> {
        let too_large = |needed| SolveError::TooLarge {
            solver: "paper",
            needed,
            limit: self.memory_limit,
            unit: "bytes",
        };
        // A channel can add at most v + sqrt(w); those that add nothing would only cost budgets.
        let gain = |&e: &u32| problem.mean()[e as usize] + problem.width()[e as usize].sqrt();
        let useful = |e: &u32| problem.fits_alone(*e as usize) && gain(e) > 0.0;
        let fitting: Vec<u32> = (0..problem.len() as u32).filter(useful).collect();
        let scale = self.scale.unwrap_or_else(|| {
            let largest = fitting.iter().map(gain).fold(0.0, f64::max);
            if largest > 0.0 { (100.0 / largest).clamp(f64::MIN_POSITIVE, f64::MAX) } else { 1.0 }
        });
        // Beyond 2^52 whole numbers are no longer exact: such a table would be too large anyway.
        let rounded = |e: u32| {
            let (mean, variance) = (problem.mean()[e as usize], problem.width()[e as usize]);
            // What underflows beside a huge scale is still more than nothing.
            let up = |rounded: f64, positive: bool| if positive { rounded.max(1.0) } else { rounded };
            (up((scale * mean).ceil(), mean > 0.0), up((scale * (scale * variance)).ceil(), variance > 0.0))
        };
        let total: f64 =
            fitting.iter().map(|&e| rounded(e)).map(|(mean, variance)| mean.abs() + variance).sum();
        // Not finite, or past 2^52: also refused here.
        if total.is_nan() || total > 4.5e15 {
            return Err(too_large(u128::MAX));
        }
        let mut low = 0i64;
        let mut high = 0i64;
        for &e in &fitting {
            let mean = rounded(e).0 as i64;
            low += mean.min(0);
            high += mean.max(0);
        }
        let mut capped = false;
        if let Some(budgets) = self.budgets {
            let printed = i64::try_from(budgets).unwrap_or(i64::MAX).min(4_500_000_000_000_000);
            capped = printed < high;
            high = printed;
        }
        let budgets = u128::from((high - low).unsigned_abs()) + 1;
        let room = box_of(problem, &fitting);
        let cells = room.iter().fold(1u128, |cells, &room| cells.saturating_mul(u128::from(room) + 1));
        let states = cells.saturating_mul(budgets);
        let value = size_of::<f64>() as u128;
        let needed = states.saturating_mul(value + fitting.len() as u128);
        if needed > self.memory_limit {
            return Err(too_large(needed));
        }
        let mut stride = vec![0; problem.devices()];
        let mut next = 1usize;
        for (stride, room) in stride.iter_mut().zip(&room).rev() {
            *stride = next;
            next *= *room as usize + 1;
        }
        let item = |&e: &u32| {
            let (mean, variance) = rounded(e);
            let offset =
                problem.request(e as usize).iter().zip(&stride).map(|(&a, stride)| a as usize * stride).sum();
            Item { channel: e, offset, mean: mean as i64, variance }
        };
        let items = fitting.iter().map(item).collect();
        Ok((
            items,
            Extent { scale, low, budgets: budgets as usize, cells: cells as usize, stride, room, capped },
        ))
    }
}

/// The capacities, or what all fitting channels together request where that is less.
fn box_of(problem: &Problem<'_>, fitting: &[u32]) -> Vec<u64> {
    let mut total = vec![0u64; problem.devices()];
    for &e in fitting {
        for (total, &request) in total.iter_mut().zip(problem.request(e as usize)) {
            *total = total.saturating_add(request);
        }
    }
    total.iter().zip(problem.capacity()).map(|(&total, &capacity)| total.min(capacity)).collect()
}

impl Solver for Paper {
    fn name(&self) -> &'static str {
        "paper"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        if problem.servers().is_some() {
            return Err(SolveError::Unsupported { solver: self.name(), what: "per-server capacities" });
        }
        if problem.gangs().is_some() {
            return Err(SolveError::Unsupported { solver: self.name(), what: "gangs" });
        }
        let (items, extent) = self.measure(problem)?;
        let Extent { scale, low, budgets, cells, ref stride, ref room, capped } = extent;
        self.taken.clear();
        self.taken.resize(cells * budgets * items.len(), false);
        // V(s, c', |E|): nothing is worth 0 towards every budget it meets; the others are out of reach.
        self.values.clear();
        self.values.resize(cells * budgets, f64::NEG_INFINITY);
        let none = (0 - low) as usize;
        self.values.chunks_exact_mut(budgets).for_each(|cell| cell[..=none].fill(0.0));
        for (layer, item) in items.iter().enumerate().rev() {
            let request = problem.request(item.channel as usize);
            let taken = &mut self.taken[layer * cells * budgets..][..cells * budgets];
            // In place from the largest capacity down: what is read is still the layer before.
            for cell in (item.offset..cells).rev() {
                let fits =
                    (0..request.len()).all(|k| (cell / stride[k]) as u64 % (room[k] + 1) >= request[k]);
                if !fits {
                    continue;
                }
                let (before, after) = self.values.split_at_mut(cell * budgets);
                let into = &mut after[..budgets];
                let from = if item.offset == 0 {
                    self.row.clear();
                    self.row.extend_from_slice(into);
                    &self.row[..]
                } else {
                    &before[(cell - item.offset) * budgets..][..budgets]
                };
                update(into, from, &mut taken[cell * budgets..][..budgets], item);
            }
        }

        let full = (cells - 1) * budgets;
        let reached = |budget: usize| (budget as i64 + low) as f64 + self.values[full + budget].sqrt();
        let mut best = none;
        for budget in 0..budgets {
            if self.values[full + budget] >= 0.0 && reached(budget) > reached(best) {
                best = budget;
            }
        }
        let rounded_value = reached(best);
        solution.chosen.clear();
        let (mut cell, mut budget) = (cells - 1, best as i64);
        for (layer, item) in items.iter().enumerate() {
            if self.taken[(layer * cells + cell) * budgets + budget as usize] {
                solution.chosen.push(item.channel, 1);
                cell -= item.offset;
                budget = (budget - item.mean).max(0);
            }
        }
        // F(x) <= (Y.x + sqrt(S2.x)) / xi for every x (eq. proof1), so the rounded optimum bounds
        // it; but not when the budgets end below what can be reached.
        let everything = || {
            let (mean, variance) = items.iter().fold((0.0, 0.0), |(mean, variance), item| {
                (mean + item.mean.max(0) as f64, variance + item.variance)
            });
            mean + f64::sqrt(variance)
        };
        let bound = if capped { everything() } else { rounded_value };
        solution.work = (items.len() * cells * budgets) as u64;
        solution.complete(problem, bound / scale, Guarantee::Bounded, "paper");
        Ok(())
    }
}

/// One cell of the recurrence: takes the channel for every budget where that gives more.
fn update(into: &mut [f64], from: &[f64], taken: &mut [bool], item: &Item) {
    let mut take = |budget: usize, rest: f64| {
        let with = rest + item.variance;
        taken[budget] = with > into[budget];
        into[budget] = f64::max(with, into[budget]);
    };
    let shift = usize::try_from(item.mean.unsigned_abs()).unwrap_or(usize::MAX).min(from.len());
    if item.mean >= 0 {
        // max{s - Y, 0}: budgets below Y ask nothing of the rest.
        (0..shift).for_each(|budget| take(budget, from[0]));
        (shift..from.len()).for_each(|budget| take(budget, from[budget - shift]));
    } else {
        (shift..from.len()).for_each(|rest| take(rest - shift, from[rest]));
    }
}
