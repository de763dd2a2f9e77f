//! Greedy on reduced values: a good feasible set and a certified bound, in near linear time.
//!
//! Channels are taken in descending order of `r = v + lambda w - u.a` (see `dual.rs`):
//! the multipliers price devices, so a channel that is dear in scarce devices comes late.
//! What does not fit is skipped; a channel is taken only if it raises the objective.
//! [`Exact`](super::Exact) starts from the same set.
//!
//! With gangs: task by task, the best first, wherever it fits, then the jobs that came short of their
//! minimum are dropped. What a scheduler without a joint view does; the bound is the decomposition's.

use super::dual::Dual;
use super::gang::Gang;
use super::problem::Room;
use super::reduce::Reduced;
use super::{Guarantee, Problem, Solution, SolveError, Solver};

/// Ties are rounded by share only in problems of more channels than this.
const SHARES_FROM: usize = 256;

/// Takes channels by reduced value; certifies with the dual bound.
#[derive(Debug, Clone, Default)]
pub struct Greedy {
    reduced: Reduced,
    dual: Dual,
    pass: Pass,
    gang: Gang,
}

impl Solver for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        if problem.gangs().is_some() {
            self.gang.solve_greedily(problem, solution);
            return super::exact::whole_or_unsupported(problem, solution, self.name());
        }
        self.reduced.fill(problem);
        self.dual.minimise(&self.reduced, u64::MAX);
        self.pass.run(problem, &self.reduced, &self.dual);
        solution.chosen.clear();
        solution.chosen.extend(self.pass.taken.iter().map(|&e| self.reduced.ids[e as usize]));
        solution.seal(problem, self.dual.bound * self.reduced.scale, Guarantee::Bounded, self.name());
        Ok(())
    }
}

/// The greedy passes and their buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    /// The kept channels that were taken.
    pub taken: Vec<u32>,
    /// Their scaled objective.
    pub value: f64,
    order: Vec<u32>,
    rival: Vec<u32>,
    is_taken: Vec<bool>,
    sums: (f64, f64),
    room: Room,
}

impl Pass {
    /// Fills `taken` and `value` with the better of two passes: by reduced value alone, and
    /// by the dual's shares first. Early in learning thousands of channels tie, and taking
    /// them in any fixed order would fill one row and leave the others idle.
    pub(super) fn run(&mut self, problem: &Problem<'_>, reduced: &Reduced, dual: &Dual) {
        let near = self.sort(reduced.len(), &dual.reduced);
        self.pass(problem, reduced, dual, near, false);
        if reduced.len() > SHARES_FROM {
            let value = self.value;
            std::mem::swap(&mut self.taken, &mut self.rival);
            self.pass(problem, reduced, dual, near, true);
            if self.value <= value {
                self.value = value;
                std::mem::swap(&mut self.taken, &mut self.rival);
            }
        }
    }

    /// Puts the channels near zero first, by descending reduced value, and says how many
    /// they are. The others are hardly in doubt; sorting all would dominate large slots.
    fn sort(&mut self, n: usize, r: &[f64]) -> usize {
        self.order.clear();
        self.order.extend(0..n as u32);
        let near = n.min(64 + n / 16);
        if near < n {
            let size = |e: &u32| r[*e as usize].abs();
            self.order.select_nth_unstable_by(near, |a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
            self.order[near..].sort_unstable();
        }
        self.order[..near].sort_unstable_by(|&a, &b| r[b as usize].total_cmp(&r[a as usize]).then(a.cmp(&b)));
        near
    }

    fn pass(&mut self, problem: &Problem<'_>, reduced: &Reduced, dual: &Dual, near: usize, by_share: bool) {
        self.taken.clear();
        self.is_taken.clear();
        self.is_taken.resize(reduced.len(), false);
        self.room.reset(problem);
        (self.value, self.sums) = (0.0, (0.0, 0.0));
        let order = std::mem::take(&mut self.order);
        for &e in order[near..].iter().filter(|&&e| dual.reduced[e as usize] > 0.0) {
            self.offer(problem, reduced, e);
        }
        if by_share {
            // Systematic rounding: one channel for every whole unit of shares passed.
            let mut passed = 0.5;
            for &e in &order[..near] {
                passed += dual.share(e as usize);
                if passed >= 1.0 {
                    passed -= 1.0;
                    self.offer(problem, reduced, e);
                }
            }
        }
        for &e in &order[..near] {
            self.offer(problem, reduced, e);
        }
        self.order = order;
    }

    /// Takes a channel that is not taken yet, raises the objective, and fits.
    fn offer(&mut self, problem: &Problem<'_>, reduced: &Reduced, e: u32) {
        let channel = e as usize;
        if self.is_taken[channel] {
            return;
        }
        let sums = (self.sums.0 + reduced.v[channel], self.sums.1 + reduced.w[channel]);
        let value = Reduced::value(sums.0, sums.1);
        if value > self.value && self.room.take(problem, reduced.ids[channel] as usize) {
            (self.value, self.sums) = (value, sums);
            self.is_taken[channel] = true;
            self.taken.push(e);
        }
    }
}
