//! Greedy on reduced values: a good feasible set and a certified bound, in near linear time.
//!
//! Channels are taken in descending order of `r = v + lambda w - u.a` (see `dual/`):
//! the multipliers price devices, so a channel that is dear in scarce devices comes late.
//! What does not fit is skipped; a channel is taken only if it raises the objective.
//! [`Exact`](super::Exact) starts from the same set.
//!
//! With gangs: task by task, the best first, wherever it fits, then the jobs that came short of their
//! minimum are dropped. What a scheduler without a joint view does; the bound is the decomposition's.

use super::dual::Dual;
use super::gang::Decomposition;
use super::reduce::Reduced;
use super::{Guarantee, Problem, Solution, SolveError, Solver, Stopped};
use crate::model::{Amount, Room};

/// Takes channels by reduced value; certifies with the dual bound.
#[derive(Debug, Clone, Default)]
pub struct Greedy {
    reduced: Reduced,
    dual: Dual,
    pass: Pass,
    gang: Decomposition,
}

impl Solver for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        if problem.gangs().is_some() {
            self.gang.solve_greedily(problem, solution);
            return Ok(());
        }
        self.reduced.fill(problem);
        let budget = super::exact::default_budget(self.reduced.len());
        self.dual.minimise(&self.reduced, budget);
        self.pass.run(problem, &self.reduced, &self.dual);
        solution.chosen.clear();
        solution.chosen.extend(self.pass.taken.iter().map(|&e| self.reduced.ids[e as usize]));
        solution.work = self.dual.work + self.pass.work;
        solution.complete(problem, self.dual.bound * self.reduced.scale, Guarantee::Bounded, self.name());
        solution.stopped = Stopped::new(solution.guarantee, !self.dual.solved && self.dual.work >= budget);
        Ok(())
    }
}

/// One greedy pass and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    /// The kept channels that were taken.
    pub taken: Vec<u32>,
    /// Their scaled objective.
    pub value: f64,
    /// Visits of the last run.
    pub work: u64,
    order: Vec<u32>,
    sums: (f64, f64),
    /// The devices that are left, in kept rows, and of servers too where they have limits.
    left: Vec<Amount>,
    room: Room,
}

impl Pass {
    /// Fills `taken` and `value`: what the relaxation takes wholly, then whatever fits, by descending reduced
    /// value. A relaxed point at a vertex shares few channels, however many tie, so little is left to fill.
    pub(super) fn run(&mut self, problem: &Problem<'_>, reduced: &Reduced, dual: &Dual) {
        let (n, r) = (reduced.len(), &dual.reduced);
        self.taken.clear();
        self.left.clear();
        self.left.extend_from_slice(&reduced.capacity);
        if problem.servers().is_some() {
            problem.fill(&mut self.room);
        }
        self.sums = (0.0, 0.0);
        self.order.clear();
        for e in 0..n as u32 {
            if !(dual.solved && dual.whole[e as usize] && self.fits(problem, reduced, e)) {
                self.order.push(e);
            }
        }
        self.value = Reduced::value(self.sums.0, self.sums.1);
        self.drop_losses(problem, reduced);
        self.work = n as u64 * (4 + reduced.rows() as u64);
        let mut order = std::mem::take(&mut self.order);
        // Sorting all would dominate large slots, and little fits behind the first ones.
        let near = if dual.solved { order.len().min(64 + n / 16) } else { order.len() };
        let descending = |a: &u32, b: &u32| r[*b as usize].total_cmp(&r[*a as usize]).then(a.cmp(b));
        if near < order.len() {
            order.select_nth_unstable_by(near, descending);
            self.work += 4 * n as u64;
        }
        if !self.is_full(reduced) {
            order[..near].sort_unstable_by(descending);
            self.work += 16 * near as u64;
            for &e in &order {
                self.work += 2;
                if self.offer(problem, reduced, e) && self.is_full(reduced) {
                    break;
                }
            }
        }
        self.order = order;
        if self.value <= 0.0 {
            (self.value, self.sums) = (0.0, (0.0, 0.0));
            self.taken.clear();
        }
    }

    /// Drops channels that cost more than their variance adds; the relaxation, with its one slope, may err.
    fn drop_losses(&mut self, problem: &Problem<'_>, reduced: &Reduced) {
        let mut taken = std::mem::take(&mut self.taken);
        taken.retain(|&e| {
            let channel = e as usize;
            let sums = (self.sums.0 - reduced.v[channel], self.sums.1 - reduced.w[channel]);
            let value = Reduced::value(sums.0, sums.1);
            let loses = reduced.v[channel] < 0.0 && value > self.value;
            if loses {
                (self.sums, self.value) = (sums, value);
                self.left.iter_mut().zip(reduced.request(channel)).for_each(|(left, a)| *left += a);
                if problem.servers().is_some() {
                    problem.give(&mut self.room, reduced.ids[channel] as usize);
                }
                self.order.push(e);
            }
            !loses
        });
        self.taken = taken;
    }

    /// Whether some row has less left than any channel requests.
    fn is_full(&self, reduced: &Reduced) -> bool {
        self.left.iter().zip(&reduced.least).any(|(left, least)| left < least)
    }

    /// Takes a channel that raises the objective and fits.
    fn offer(&mut self, problem: &Problem<'_>, reduced: &Reduced, e: u32) -> bool {
        let value = Reduced::value(self.sums.0 + reduced.v[e as usize], self.sums.1 + reduced.w[e as usize]);
        let raises = value > self.value && self.fits(problem, reduced, e);
        if raises {
            self.value = value;
        }
        raises
    }

    /// Takes a channel if it fits.
    fn fits(&mut self, problem: &Problem<'_>, reduced: &Reduced, e: u32) -> bool {
        let (channel, request) = (e as usize, reduced.request(e as usize));
        if !request.iter().zip(&self.left).all(|(a, left)| a <= left)
            || problem.servers().is_some() && !problem.take(&mut self.room, reduced.ids[channel] as usize, 1)
        {
            return false;
        }
        self.left.iter_mut().zip(request).for_each(|(left, a)| *left -= a);
        self.sums = (self.sums.0 + reduced.v[channel], self.sums.1 + reduced.w[channel]);
        self.taken.push(e);
        true
    }
}
