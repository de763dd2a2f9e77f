//! Optimal decisions at any size, or a certified gap when the work budget ends.
//!
//! 1. Reduce (`reduce.rs`). A tiny box of capacities is searched by [`tab`] as a whole, and that is all. Else
//!    minimise the dual (`dual/`): a bound `D` and reduced values.
//! 2. Round the relaxed point (`greedy.rs`): a lower bound `LB`.
//! 3. Channels with `|r| >= D - LB` are decided. The rest, the *core*, is searched by
//!    [`tab`] where the table is small, else by [`core`] with a small budget, else by the
//!    table up to a larger size, else, with few rows, by [`core`] again.
//! 4. Where none of these ends with a proof: [`exchange`] for a better set, then [`tree`], over the part of
//!    the core with the smallest `|r|` first, then over all of it until the budget ends.
//!
//! Every stage keeps the best set and the best bound of those before it, and none but the last spends more if
//! more is there: a larger budget goes on where a smaller one ends.
//!
//! Gangs, and servers with capacities of their own where the cluster as a whole has none, are solved by a
//! decomposition, `solver/gang/`. Limits of both are searched by [`branch`].
//!
//! Work is counted in visits (a label, a few table cells, a channel that is priced) of about 2.5 ns, never
//! in time: the same problem gives the same answer on any machine. A solver carries
//! nothing but buffers from slot to slot.

mod branch;
mod core;
mod exchange;
mod ground;
mod labels;
mod rounding;
mod tab;
mod tree;

use self::branch::Branch;
use self::core::Core;
use self::exchange::Exchange;
use self::tab::Tab;
use self::tree::Tree;
use super::dual::Dual;
use super::gang::Decomposition;
use super::greedy::Pass;
use super::reduce::Reduced;
use super::{Guarantee, LimitedBy, Problem, Solution, SolveError, Solver, Stopped};
use crate::model::Amount;

/// Boxes of at most this many cells, times channels, are searched before anything is priced: their table
/// proves more than the best multipliers, for less. So much it may take.
const TINY_BOX: u64 = 1_000;
const TINY_WORK: u64 = 1_000_000;
/// Tables of at most this many cells are filled before anything else is tried.
const SMALL_TABLE: u128 = 1_500;
/// Tables of at most this many cells are filled when CORE overflows its small budget.
const LARGE_TABLE: u128 = 2_000_000;
/// CORE's budget before the table.
const SMALL_CORE: u64 = 1_000_000;
/// CORE's budget after the table, with so few rows that labels of equal weight are common: there it ends with
/// a proof sooner than trees do.
const LARGE_CORE: u64 = 3_000_000;
const FEW_ROWS: usize = 4;
/// A core of at least this many channels is scouted with few labels first, for a better `LB`.
const SCOUT_FROM: usize = 64;
/// What exchanges may spend for every row, of at most so many: the more rows, the less a tree proves.
const EXCHANGES: u64 = 800_000;
const EXCHANGED_ROWS: usize = 30;
/// What a tree over a part of the core may spend.
const SMALL_TREE: u64 = 2_000_000;
/// Labels alive at once.
const LABELS: usize = 50_000;

/// Finds an optimal set of channels, or the best within a work budget with a certified bound.
///
/// ```
/// use esdp::solver::{Exact, Guarantee, Instance, Solver, Uses};
///
/// // The best set need not lie on the hull of (mean, variance): here it does not.
/// let mut instance = Instance::new(vec![1]);
/// instance.push(&[1], 0.0, 4.0); // 0 + sqrt(4) = 2
/// instance.push(&[1], 2.0, 0.0); // 2
/// instance.push(&[1], 0.9, 1.9); // 0.9 + sqrt(1.9) = 2.28
/// let solution = Exact::default().solve(&instance.problem()?)?;
/// assert_eq!((solution.chosen, solution.guarantee), (Uses::from([2]), Guarantee::Optimal));
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
    exchange: Exchange,
    tree: Tree,
    gang: Decomposition,
    found: Found,
}

/// The best set so far, in kept channels and scaled values, and what is proved of it.
#[derive(Debug, Clone, Default)]
struct Found {
    chosen: Vec<u32>,
    value: f64,
    bound: f64,
    /// What rounding may add to a bound, relative.
    rounding: f64,
    /// Whether the budget ended before the relaxation was solved.
    starved: bool,
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
    /// Starts over, with nothing chosen and nothing proved.
    fn start(&mut self, problem: &Reduced) {
        self.chosen.clear();
        (self.value, self.bound, self.work) = (0.0, f64::INFINITY, problem.work);
        self.rounding = f64::EPSILON * (2 * problem.len() + 8 * problem.rows() + 16) as f64;
        self.starved = false;
    }

    /// Replaces the chosen set by the union of two.
    fn take(&mut self, fixed: &[u32], rest: impl Iterator<Item = u32>) {
        self.chosen.clear();
        self.chosen.extend_from_slice(fixed);
        self.chosen.extend(rest);
    }

    /// Whether the bound is met, up to what summing so many numbers may round off.
    fn is_optimal(&self) -> bool {
        self.bound <= self.value * (1.0 + self.rounding)
    }
}

impl Exact {
    /// Limits a decision to about this many visits of labels, table cells and channels; a visit takes about
    /// 2.5 ns. However small, the answer is feasible and its bound holds. Without a limit of yours: 32
    /// million, or 200 for every channel where that is more; with gangs or limits of servers, 30,000 for
    /// every channel up to 120 million and 6,000 for every channel, but at least 40 million.
    #[must_use]
    pub fn with_work_budget(mut self, visits: u64) -> Self {
        self.work_budget = Some(visits);
        self
    }

    /// Searches a tiny box of capacities as a whole; whether that proved its optimum.
    fn search_box(&mut self, problem: &Problem<'_>, budget: u64) -> bool {
        let Self { reduced, dual, order, tab, found, .. } = self;
        let n = reduced.len() as u64;
        let cells = reduced.capacity.iter().fold(n, |cells, &c| cells.saturating_mul(c.saturating_add(1)));
        if problem.servers().is_some() || n == 0 || cells > TINY_BOX || budget < TINY_WORK {
            return false;
        }
        dual.skip(reduced);
        order.clear();
        order.extend(0..reduced.len() as u32);
        found.work += dual.work + 32 * n;
        let limits = Limits { labels: LABELS, work: found.work + TINY_WORK };
        tab.prepare(reduced, dual, order, SMALL_TABLE).is_some()
            && tab.search(reduced, dual, limits, found)
            && found.is_optimal()
    }

    /// The first answer and bound. The relaxation is given twice as much until it is solved, and every point
    /// is rounded: a larger budget then goes through the same points as a smaller one, and further.
    fn relax(&mut self, problem: &Problem<'_>, budget: u64) {
        let Self { reduced, dual, pass, found, .. } = self;
        let size = reduced.len() as u64 * (reduced.rows() as u64 + 2);
        let mut limit = 20 * size;
        loop {
            dual.minimise(reduced, limit);
            pass.run(problem, reduced, dual);
            found.work += dual.work + pass.work;
            found.bound = found.bound.min(dual.bound);
            if pass.value > found.value {
                found.value = pass.value;
                found.chosen.clone_from(&pass.taken);
            }
            found.starved = !dual.solved && dual.work >= limit;
            limit = limit.saturating_mul(2);
            if !found.starved || limit > budget {
                return;
            }
        }
    }

    /// Searches the core; the name of the method that ended it.
    fn search(&mut self, problem: &Problem<'_>, budget: u64) -> &'static str {
        let Self { reduced, dual, order, core, tab, branch, exchange, tree, found, .. } = self;
        if problem.servers().is_some() {
            branch.search(problem, reduced, dual, budget, found);
            return "exact/branch";
        }
        if found.is_optimal() || found.starved {
            return "exact/greedy";
        }
        let decided = |found: &Found| dual.bound - found.value;
        let narrow = |order: &mut Vec<u32>, found: &Found| {
            order.retain(|&e| dual.reduced[e as usize].abs() < decided(found));
        };
        order.clear();
        order.extend(0..reduced.len() as u32);
        narrow(order, found);
        found.work += 2 * reduced.len() as u64 + 16 * order.len() as u64;
        order.sort_unstable_by(|&a, &b| {
            dual.reduced[a as usize].abs().total_cmp(&dual.reduced[b as usize].abs()).then(a.cmp(&b))
        });
        let whole = Limits { labels: LABELS, work: budget };
        let spent = |found: &Found| found.work >= whole.work;
        if spent(found) {
            return "exact/greedy";
        }
        if order.len() >= SCOUT_FROM {
            let scout = Limits { labels: 10, work: (found.work + SMALL_CORE).min(whole.work) };
            core.search(reduced, dual, order, scout, found);
            if found.is_optimal() {
                return "exact/core";
            }
            narrow(order, found);
        }
        if spent(found) {
            return "exact/core";
        }
        found.work += 2 * reduced.len() as u64 + 32 * order.len() as u64;
        let Some(cells) = tab.prepare(reduced, dual, order, SMALL_TABLE) else {
            found.bound = found.value;
            return "exact/greedy";
        };
        let affordable = LARGE_TABLE.min(u128::from(whole.work.saturating_sub(found.work)) * 4);
        if cells <= SMALL_TABLE.min(affordable) && tab.search(reduced, dual, whole, found) {
            return "exact/tab";
        }
        let small = Limits { labels: LABELS, work: (found.work + SMALL_CORE).min(whole.work) };
        core.search(reduced, dual, order, small, found);
        if found.is_optimal() {
            return "exact/core";
        }
        narrow(order, found);
        if spent(found) {
            return "exact/core";
        }
        found.work += 2 * reduced.len() as u64 + 32 * order.len() as u64;
        let Some(cells) = tab.prepare(reduced, dual, order, LARGE_TABLE) else {
            found.bound = found.value;
            return "exact/core";
        };
        if cells <= affordable && tab.search(reduced, dual, whole, found) && found.is_optimal() {
            return "exact/tab";
        }
        if reduced.rows() <= FEW_ROWS && !spent(found) {
            let large = Limits { labels: LABELS, work: (found.work + LARGE_CORE).min(whole.work) };
            core.search(reduced, dual, order, large, found);
            if found.is_optimal() {
                return "exact/core";
            }
            narrow(order, found);
        }
        // Good sets differ from the relaxation in few channels, those with the smallest `|r|`: trees over
        // these alone find them early, and the better the set, the smaller the core. What each stage may
        // spend does not depend on the budget, so that a larger one goes on where a smaller one ends.
        let mut count = 20 + reduced.rows() / 2;
        if count < order.len() && !spent(found) {
            let exchanges = EXCHANGES * reduced.rows().min(EXCHANGED_ROWS) as u64;
            let part = (found.work + exchanges).min(whole.work);
            exchange.search(reduced, dual, &order[..order.len().min(4 * count)], part, found);
            narrow(order, found);
        }
        while count < order.len() && !spent(found) && !found.is_optimal() {
            let part = Limits { work: (found.work + SMALL_TREE).min(whole.work), ..whole };
            tree.search(reduced, dual, order, count, part, found);
            narrow(order, found);
            count *= 2;
        }
        if !spent(found) && !found.is_optimal() {
            tree.search(reduced, dual, order, order.len(), whole, found);
        }
        "exact/tree"
    }
}

/// A decision's work by default, without gangs and servers.
pub(super) fn default_budget(channels: usize) -> u64 {
    (200 * channels as u64).max(32_000_000)
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
        let cluster = problem.capacity().iter().any(|&capacity| capacity != Amount::MAX);
        let limits = LimitedBy { cluster, servers: problem.servers().is_some() };
        if problem.gangs().is_some() || self.counts_uses(limits) {
            self.gang.solve(problem, limit, solution);
            return Ok(());
        }
        self.reduced.fill(problem);
        let budget = limit.unwrap_or_else(|| default_budget(self.reduced.len()));
        self.found.start(&self.reduced);
        let method = if self.search_box(problem, budget) {
            "exact/tab"
        } else {
            self.relax(problem, budget);
            self.search(problem, budget)
        };
        solution.chosen.clear();
        solution.chosen.extend(self.found.chosen.iter().map(|&e| self.reduced.ids[e as usize]));
        solution.work = self.found.work;
        let guarantee = if self.found.is_optimal() { Guarantee::Optimal } else { Guarantee::Bounded };
        solution.complete(problem, self.found.bound * self.reduced.scale, guarantee, method);
        solution.stopped = Stopped::new(guarantee, self.found.starved || self.found.work >= budget);
        Ok(())
    }
}
