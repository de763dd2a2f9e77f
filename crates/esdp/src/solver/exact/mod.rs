//! Optimal decisions at any size, or a certified gap when the work budget ends.
//!
//! 1. Reduce (`reduce.rs`), minimise the dual (`dual.rs`): a bound `D` and reduced values.
//! 2. Greedy on the reduced values (`greedy.rs`): a lower bound `LB`.
//! 3. Channels with `|r| >= D - LB` are decided. The rest, the *core*, is searched by
//!    [`tab`] where the table is small, else by [`core`] with a small budget, else by the
//!    table up to a larger size, else by [`core`] with all the budget that is left.
//!
//! Gangs, and servers with capacities of their own where the cluster as a whole has none, are solved by a
//! decomposition, `solver/gang/`. Limits of both, and weights too wide to pack, are searched by [`branch`].
//!
//! Work is counted in visits (a label, a few table cells, a channel in a dual step), never
//! in time: the same problem gives the same answer on any machine. A solver carries
//! nothing but buffers from slot to slot.

mod branch;
mod core;
mod labels;
mod tab;

use self::branch::Branch;
use self::core::Core;
use self::tab::Tab;
use super::dual::Dual;
use super::gang::Gang;
use super::greedy::Pass;
use super::reduce::Reduced;
use super::{Guarantee, Problem, Solution, SolveError, Solver};
use crate::model::Amount;

/// Boxes of at most this many cells, times channels, are solved without minimising the dual.
const TINY_BOX: u64 = 1_000;
/// Tables of at most this many cells are filled before anything else is tried.
const SMALL_TABLE: u128 = 1_500;
/// Tables of at most this many cells are filled when CORE overflows its small budget.
const LARGE_TABLE: u128 = 2_000_000;
/// CORE's budget before the table.
const SMALL_CORE: u64 = 1_000_000;
/// A core of at least this many channels is scouted with few labels first, for a better `LB`.
const SCOUT_FROM: usize = 64;
/// Labels alive at once.
const LABELS: usize = 50_000;

/// Finds an optimal set of channels, or the best within a work budget with a certified bound.
///
/// ```
/// use esdp::solver::{Exact, Guarantee, Instance, Solver};
///
/// // The best set need not lie on the hull of (mean, width): here it does not.
/// let mut instance = Instance::new(vec![1]);
/// instance.push(&[1], 0.0, 4.0); // 0 + sqrt(4) = 2
/// instance.push(&[1], 2.0, 0.0); // 2
/// instance.push(&[1], 0.9, 1.9); // 0.9 + sqrt(1.9) = 2.28
/// let solution = Exact::default().solve(&instance.problem()?)?;
/// assert_eq!((solution.chosen, solution.guarantee), (vec![2], Guarantee::Optimal));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Exact {
    work_budget: Option<u64>,
    /// The caller's limit, which goes before the budget.
    limit: Option<u64>,
    reduced: Reduced,
    dual: Dual,
    pass: Pass,
    order: Vec<u32>,
    core: Core,
    tab: Tab,
    branch: Branch,
    gang: Gang,
    found: Found,
}

/// The best set so far, in kept channels and scaled values, and what is proved of it.
#[derive(Debug, Clone, Default)]
struct Found {
    chosen: Vec<u32>,
    value: f64,
    bound: f64,
    work: u64,
}

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Labels alive at once.
    labels: usize,
    /// Visits in all, counted in [`Found::work`].
    work: u64,
}

impl Found {
    /// Replaces the chosen set by the union of two.
    fn take(&mut self, fixed: &[u32], rest: impl Iterator<Item = u32>) {
        self.chosen.clear();
        self.chosen.extend_from_slice(fixed);
        self.chosen.extend(rest);
    }

    fn is_optimal(&self) -> bool {
        self.bound <= self.value
    }
}

impl Exact {
    /// Limits a decision to about this many visits of labels, table cells and channels;
    /// a visit takes some nanoseconds. However small, the answer is feasible and its bound
    /// holds. Without a limit of yours: 4 million, or 100 for every channel where that is more; with
    /// gangs, or limits of servers alone, 8,000 for every channel, but at least 6 and at most 40 million, or
    /// 2,500 for every channel where that is more.
    #[must_use]
    pub fn with_work_budget(mut self, visits: u64) -> Self {
        self.work_budget = Some(visits);
        self
    }

    /// Searches the core; the name of the method that ended it.
    fn search(&mut self, problem: &Problem<'_>, budget: u64) -> &'static str {
        let Self { reduced, dual, order, core, tab, branch, found, .. } = self;
        if problem.servers().is_some() {
            branch.search(problem, reduced, dual, budget, found);
            return "exact/branch";
        }
        if found.is_optimal() {
            return "exact/greedy";
        }
        let decided = |found: &Found| dual.bound - found.value;
        let narrow = |order: &mut Vec<u32>, found: &Found| {
            order.retain(|&e| dual.reduced[e as usize].abs() < decided(found));
        };
        order.clear();
        order.extend(0..reduced.len() as u32);
        narrow(order, found);
        order.sort_unstable_by(|&a, &b| {
            dual.reduced[a as usize].abs().total_cmp(&dual.reduced[b as usize].abs()).then(a.cmp(&b))
        });
        let whole = Limits { labels: LABELS, work: budget };
        if order.len() >= SCOUT_FROM {
            let scout = Limits { labels: 10, work: (found.work + SMALL_CORE).min(whole.work) };
            core.search(reduced, dual, order, scout, found);
            if found.is_optimal() {
                return "exact/core";
            }
            narrow(order, found);
        }
        let Some(cells) = tab.prepare(reduced, dual, order) else {
            found.bound = found.value;
            return "exact/greedy";
        };
        let affordable = LARGE_TABLE.min(u128::from(whole.work.saturating_sub(found.work)) * 4);
        if cells <= SMALL_TABLE.min(affordable) && tab.search(reduced, dual, whole, found) {
            return "exact/tab";
        }
        let small = Limits { labels: LABELS, work: (found.work + SMALL_CORE).min(whole.work) };
        if !core.search(reduced, dual, order, small, found) {
            branch.search(problem, reduced, dual, budget, found);
            return "exact/branch";
        }
        if found.is_optimal() {
            return "exact/core";
        }
        narrow(order, found);
        let Some(cells) = tab.prepare(reduced, dual, order) else {
            found.bound = found.value;
            return "exact/core";
        };
        if cells <= affordable && tab.search(reduced, dual, whole, found) {
            return "exact/tab";
        }
        core.search(reduced, dual, order, whole, found);
        "exact/core"
    }
}

/// The decomposition does not look at minima of task groups. Its bound holds without them, and so does its answer where
/// it happens to reach them; else there is none.
pub(super) fn whole_or_unsupported(
    problem: &Problem<'_>,
    solution: &Solution,
    solver: &'static str,
) -> Result<(), SolveError> {
    match problem.gangs() {
        Some(gangs) if gangs.have_group_minima() && !gangs.are_whole(&solution.chosen) => {
            Err(SolveError::Unsupported { solver, what: "minima of task groups" })
        }
        _ => Ok(()),
    }
}

impl Solver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.limit = visits;
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let limit = self.limit.or(self.work_budget);
        // Where the cluster as a whole limits, servers do not decouple: its price is as good there, and a set of
        // channels is easier to search than whole numbers of uses.
        let limited = problem.capacity().iter().any(|&capacity| capacity != Amount::MAX);
        if problem.gangs().is_some() || (problem.servers().is_some() && !limited) {
            self.gang.solve(problem, limit, solution);
            return whole_or_unsupported(problem, solution, self.name());
        }
        self.reduced.fill(problem);
        let n = self.reduced.len() as u64;
        let budget = limit.unwrap_or((100 * n).max(4_000_000));
        let box_cells = self.reduced.capacity.iter().fold(n, |cells, &c| cells.saturating_mul(c.saturating_add(1)));
        // A tiny table proves more than the best multipliers, for less.
        let steps = if box_cells <= TINY_BOX { 0 } else { budget / n.max(1) };
        self.dual.minimise(&self.reduced, steps);
        self.pass.run(problem, &self.reduced, &self.dual);
        let found = &mut self.found;
        found.chosen.clone_from(&self.pass.taken);
        found.value = self.pass.value;
        found.bound = self.dual.bound;
        found.work = self.dual.steps * n;
        let method = self.search(problem, budget);
        solution.chosen.clear();
        solution.chosen.extend(self.found.chosen.iter().map(|&e| self.reduced.ids[e as usize]));
        let guarantee = if self.found.is_optimal() { Guarantee::Optimal } else { Guarantee::Bounded };
        solution.seal(problem, self.found.bound * self.reduced.scale, guarantee, method);
        Ok(())
    }
}
