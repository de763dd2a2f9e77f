//! Servers with capacities of their own, and gangs: two relaxations, decisions made from them, and a tree.
//!
//! ```text
//! lay the problem out by server                                      form.rs, fill.rs, limits.rs
//! place tasks one by one: the first decision                         baseline.rs
//! if servers are small and many:                                     (decision 5)
//!     price tasks; every server is a knapsack of its own             prices.rs, knapsack.rs
//!     minimise that dual, smoothed, then as it is                    newton.rs, smooth.rs, gibbs.rs, descent.rs
//!     build decisions, dive, polish by server, ruin and recreate     build.rs, sweep.rs, dive.rs, polish.rs, ruin.rs
//! else:                                                              (decision 9)
//!     price capacities: the linear relaxation, rounded rows added    relax/
//!     dive on it                                                     relaxed.rs, dive.rs, eject.rs
//!     split by the copies of a job, relax and dive again, as affordable  copies.rs
//!     take a few jobs out and solve for them alone, many times       region.rs, part.rs
//! if small: fix what costs more than the gap, branch                 fixing.rs, tree.rs
//! ```
//!
//! Words: a *job* has *copies*, of which some run, and *groups* of alike *tasks*; a *channel* is a group on a server, a
//! *use* of it one task there. A *room* is what a server has, a *row* a limit of the whole cluster. *Limits* are what a search has
//! settled so far: lower and upper uses of each channel, fewest and most copies of each job.
//!
//! An example: two servers with 3 free devices each, a job of 4 tasks that need one device each, all or none, worth 1 on
//! the first server and .5 on the second; a job of one task that needs 2, worth 1.8 on either. The relaxation runs the first
//! job with 3 tasks and 1, and the second on the second server: 3.5 + 1.8, all whole, and the prices of the two
//! servers prove it.
//!
//! Where the best decision is lost in the rounding of vast numbers, `doubt.rs` leaves out gangs that cannot run.

mod baseline;
mod build;
mod candidates;
mod cells;
mod cholesky;
mod copies;
mod descent;
mod dive;
mod doubt;
mod eject;
mod fill;
mod fixing;
mod form;
mod gibbs;
mod grid;
mod groups;
mod knapsack;
mod limits;
mod newton;
mod offers;
mod part;
mod placement;
mod polish;
mod prices;
mod region;
mod relax;
mod relaxed;
mod ruin;
mod sequence;
mod smooth;
mod start;
mod sweep;
mod tree;

use self::build::Builder;
use self::descent::{Descent, Stop};
use self::dive::Dive;
use self::form::Form;
use self::limits::Limits;
use self::newton::Newton;
use self::placement::Placement;
use self::polish::Polish;
use self::prices::Pricing;
use self::relax::Relaxation;
use self::ruin::Ruin;
use self::tree::Tree;
use super::{Guarantee, Problem, Solution, Stopped};

/// A decision's work by default: so much for each channel, up to so much in all, and a little for each channel beyond.
const WORK_PER_CHANNEL: u64 = 30_000;
const WORK: u64 = 120_000_000;
const MORE_WORK_PER_CHANNEL: u64 = 6_000;
/// No decision gets less: what proves nearly all problems of 8 jobs and 40 servers.
const LEAST_WORK: u64 = 40_000_000;
/// A visit of a server's knapsack or table takes as long as so many units of work.
const WORK_PER_VISIT: u64 = 5;
/// At least so many knapsacks of each server are within the budget.
const SCORES: u64 = 8;
/// Visits of one server's knapsack before its bound is taken instead.
const SERVER_VISITS: u64 = 4_000;

/// Decisions closer to the bound than this are not worth a dive.
const CLOSE: f64 = 1e-4;
/// Closer than this, they are improved with less than all the work that is left, in proportion.
const WIDE: f64 = 0.01;
/// Rounds of dual steps at the root, each followed by a decision.
const ROUNDS: usize = 8;
/// Before a tree, a round that lowers the bound by less than this share of the gap is the last one.
const SLOWEST: f64 = 0.2;
/// Dual steps in a round.
const STEPS: usize = 35;

/// Problems of more channels than this get fewer decisions while the dual goes down.
const LARGE: usize = 20_000;
/// Visits for each channel below which branching is not worth a try, but for problems of at most this many channels.
const TREE: u64 = 20_000;
const SMALL: usize = 50;

/// A decision's work by default.
fn default_budget(channels: u64) -> u64 {
    (WORK_PER_CHANNEL * channels).min(WORK + MORE_WORK_PER_CHANNEL * channels).max(LEAST_WORK)
}

/// The decomposition and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Gang {
    form: Form,
    limits: Limits,
    pricing: Pricing,
    descent: Descent,
    newton: Newton,
    dive: Dive,
    builder: Builder,
    placement: Placement,
    rival: Placement,
    ruin: Ruin,
    polish: Polish,
    tree: Tree,
    relaxation: Relaxation,
    region: region::Region,
    /// The solver of parts of a problem.
    part: Option<Box<Gang>>,
    start: Vec<f64>,
    order: Vec<(f64, u32)>,
    root: prices::Point,
    scratch: Vec<u32>,
    other: Vec<u32>,
    best: Vec<u32>,
    best_value: f64,
    best_copies: Vec<u32>,
    root_copies: Vec<f64>,
    /// Nodes of the tree so far.
    nodes: u64,
    /// For each job, whether it is known not to run.
    left_out: Vec<bool>,
}

impl Gang {
    /// Solves within a budget of visits, if one is given.
    pub fn solve(&mut self, problem: &Problem<'_>, budget: Option<u64>, solution: &mut Solution) {
        let mut budget = budget.unwrap_or_else(|| default_budget(problem.len() as u64));
        self.leave_none_out(problem);
        solution.work = 0;
        loop {
            let bound = if self.begin(problem, budget) { self.search(budget) } else { 0.0 };
            solution.work += self.pricing.work.saturating_mul(WORK_PER_VISIT);
            self.write(solution);
            let in_doubt = self.is_in_doubt();
            let optimal = !in_doubt && bound <= self.best_value + self.tolerance();
            let guarantee = if optimal { Guarantee::Optimal } else { Guarantee::Bounded };
            let proved = if in_doubt { bound.max(self.best_value) + self.tolerance() } else { bound };
            solution.seal(problem, proved * self.form.scale, guarantee, "exact/gang");
            // Without doubt the tree ends with a proof: it was cut short, or there was no work for one.
            solution.stopped = Stopped::new(guarantee, !in_doubt || self.pricing.work >= budget / WORK_PER_VISIT);
            if !in_doubt || !self.leave_out_idle(problem, budget) {
                return;
            }
            // However often it is solved again, the work is that of a few budgets.
            budget /= 2;
        }
    }

    /// Takes over a problem; false when nothing can run.
    fn begin(&mut self, problem: &Problem<'_>, budget: u64) -> bool {
        self.form.fill(problem, &self.left_out);
        self.best.clear();
        self.best.resize(self.form.len(), 0);
        self.best_value = 0.0;
        self.best_copies.clear();
        self.best_copies.resize(self.form.jobs.len(), 0);
        self.nodes = 0;
        self.pricing.work = 0;
        self.pricing.server_limit =
            (budget / WORK_PER_VISIT / SCORES / self.form.servers().max(1) as u64).clamp(64, SERVER_VISITS);
        self.limits.reset(&self.form);
        self.polish.reset(&self.form);
        self.form.len() > 0 && self.limits.propagate(&self.form)
    }

    /// Writes the best decision.
    fn write(&self, solution: &mut Solution) {
        solution.chosen.clear();
        for (&id, &uses) in self.form.ids.iter().zip(&self.best) {
            solution.chosen.push(id, uses);
        }
    }

    /// What rounding leaves in doubt: bounds closer than this to a value are met. It grows with the value: what
    /// was once left for a smaller one stays left.
    fn tolerance(&self) -> f64 {
        // Less than 1e-9 of small values, as long as that is well above the rounding of numbers of 1.
        1e-11 * ((50.0 * self.best_value).clamp(0.01, 1.0) + self.best_value)
    }

    fn beats(&self, bound: f64) -> bool {
        bound > self.best_value + self.tolerance()
    }

    /// Returns what is proved, in scaled units.
    fn search(&mut self, budget: u64) -> f64 {
        self.place_tasks();
        self.ruin.reset();
        let visits = budget / WORK_PER_VISIT;
        let by_servers = (newton::has_many_servers(&self.form) || self.has_tree(visits))
            && newton::cost(&self.form).is_some_and(|cost| cost <= visits / 4 * 3);
        let bound = if !by_servers && self.relaxation.cost(&self.form, &self.limits) <= budget / 2 {
            // A tree needs its own.
            let bound = self.search_relaxed(if self.has_tree(visits) { budget / 2 } else { budget });
            self.pricing.work /= WORK_PER_VISIT;
            bound
        } else {
            self.root_copies.clear();
            self.search_by_servers(visits, by_servers)
        };
        if !self.beats(bound) {
            return self.best_value;
        }
        if !self.has_tree(visits) {
            return bound;
        }
        self.fix();
        if !self.is_open() {
            return self.best_value;
        }
        let proved = self.branch(visits);
        bound.min(proved.max(self.best_value))
    }

    /// Whether a problem is so small that branching may prove its optimum.
    fn has_tree(&self, budget: u64) -> bool {
        self.form.len() <= SMALL || self.form.len() as u64 * TREE <= budget
    }

    /// The dual of `prices.rs`, with Newton's method or without, and decisions from it; a bound.
    fn search_by_servers(&mut self, budget: u64, newton: bool) -> f64 {
        self.price(budget, newton);
        let is_large = self.form.len() > LARGE;
        self.candidate();
        if newton && self.gap() > CLOSE {
            self.dive(budget / 4);
            self.keep();
            self.polish(self.form.len() as u64 * 100);
        }
        let has_tree = self.has_tree(budget);
        let rounds = if newton && !has_tree { 1 } else { ROUNDS };
        let mut last = f64::INFINITY;
        for round in 1..=rounds {
            let work = if is_large { budget / 10 * 6 } else { budget / 2 };
            let stop = Stop { steps: STEPS, work, target: self.best_value };
            self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
            // Scoring all channels costs as much as many dual steps where servers are crowded.
            if !newton && (!is_large || round == 3 || round == rounds) {
                self.candidate();
                self.improve(4, budget / 20);
            }
            let bound = self.descent.best.value;
            if has_tree && last - bound < SLOWEST * (bound - self.best_value) {
                break;
            }
            last = bound;
            if !self.beats(self.descent.best.value) {
                break;
            }
        }
        if has_tree {
            self.improve(20, budget / 4);
        } else {
            let left = budget.saturating_sub(self.pricing.work) as f64;
            self.improve(1_000, (left * (self.gap() / WIDE).min(1.0)) as u64);
        }
        self.certify()
    }

    /// The bound at the best prices of the dual, safe against rounding.
    fn certify(&mut self) -> f64 {
        self.root.prices.clone_from(&self.descent.best.prices);
        self.pricing.certify(&self.form, &self.limits, &mut self.root)
    }

    /// The distance of the bound to the best decision, relative.
    fn gap(&self) -> f64 {
        let bound = self.descent.best.value;
        (bound - self.best_value) / bound.abs().max(f64::MIN_POSITIVE)
    }

    /// Starts the dual, with Newton's method or without.
    fn price(&mut self, budget: u64, with_newton: bool) {
        let Self { form, limits, pricing, descent, newton, .. } = self;
        pricing.server_prices.clear();
        start::first_prices(form, self.polish.groups(), &mut self.start, &mut self.order);
        pricing.work += 4 * form.len() as u64;
        descent.start(form, limits, pricing, &self.start);
        if !with_newton {
            return;
        }
        newton.work = 0;
        newton.run(form, limits, &self.start, budget / 4 * 3);
        pricing.work += newton.work;
        let before = descent.best.value;
        descent.start(form, limits, pricing, &newton.prices);
        if descent.best.value < before {
            descent.uses.clone_from(&newton.smooth.uses);
            descent.copies.clone_from(&newton.smooth.copies);
        } else {
            descent.start(form, limits, pricing, &self.start);
        }
    }
}
