//! Servers with capacities of their own, and gangs: two relaxations, decisions made from them, and a tree.
//!
//! ```text
//! lay the problem out by server                                   problem/: form, fill, groups, limits
//! place tasks one by one: the first decision                      place/: baseline
//! if servers are small and many, and no limit ties all of them:   (decision 5)
//!     price tasks; every server is a knapsack of its own          dual/: prices, knapsack, descent, start
//!     minimise that dual, smoothed, then as it is                 smooth/: newton, gibbs, offers, grid
//!     build decisions, dive, polish by server, ruin and recreate  place/, improve/: polish, ruin
//! else:                                                           (decision 9)
//!     price capacities: the linear relaxation, rounded rows       relax/
//!     dive on it; ruin and recreate where that is far off         search/relaxed, place/: dive, eject
//!     split by a job's copies or a channel's uses, dive again     search/copies
//!     take a few jobs out and solve for them alone, many times    improve/: region, part
//!     where its linear systems are too dear: the same by steps    relax/saddle, search/large
//!     of first order, a dive on them, and regions
//! if small: fix what costs more than the gap, branch              search/: fixing, tree
//! ```
//!
//! Every tuned number is in `tuning/`.
//!
//! Words: a *job* has *copies*, of which some run, and *groups* of alike *tasks*; a *channel* is a group on a
//! server, a *use* of it one task there. A *room* is what a server has, a *row* a limit of the whole cluster.
//! *Limits* are what a search has settled so far: lower and upper uses of each channel, fewest and most
//! copies of each job. Channels, jobs, groups and servers are told by numbers, each kind with a type of its
//! own (`problem/number.rs`).
//!
//! An example: two servers with 3 free devices each, a job of 4 tasks that need one device each, all or none,
//! worth 1 on the first server and .5 on the second; a job of one task that needs 2, worth 1.8 on either. The
//! relaxation runs the first job with 3 tasks and 1, and the second on the second server: 3.5 + 1.8, all
//! whole, and the prices of the two servers prove it.
//!
//! Where the best decision is lost in the rounding of vast numbers, `search/doubt.rs` leaves out gangs that
//! cannot run.

mod cholesky;
mod dual;
mod improve;
mod place;
mod problem;
mod relax;
mod search;
mod smooth;
mod tuning;

use self::dual::descent::{Descent, Stop};
use self::dual::prices::Pricing;
use self::dual::{prices, start};
use self::improve::polish::Polish;
use self::improve::region;
use self::improve::ruin::Ruin;
use self::place::build::Builder;
use self::place::dive::Dive;
use self::place::placement::Placement;
use self::problem::form::Form;
use self::problem::limits::Limits;
use self::problem::number::{ByChannel, ByJob, ChannelNo, ServerNo};
use self::relax::Relaxation;
use self::search::relaxed::Relaxed;
use self::search::tree::Tree;
use self::smooth::newton;
use self::smooth::newton::Newton;
use super::{Guarantee, Problem, Solution, Stopped};
use crate::solver::gang::tuning::choose;
use crate::solver::gang::tuning::relaxed::{GOAL, MOST_WORK};
use crate::solver::gang::tuning::search::{
    CANDIDATE, CLOSE, LARGE, LARGE_NEEDS, LEAST_WORK, LEAST_WORK_RELAXED, LITTLE_WORK, MORE_WORK_PER_CHANNEL,
    MOST_BY_DEFAULT, RELAXED_NEEDS, ROUNDS, SCORES, SERVER_VISITS, SLOWEST, SMALL, SMALL_SERVERS_NEED, STEPS,
    TREE, WIDE, WORK, WORK_PER_CHANNEL, WORK_PER_VISIT,
};

/// A decision's work by default, at least this.
fn default_budget(channels: u64, least: u64) -> u64 {
    let most = (WORK + MORE_WORK_PER_CHANNEL * channels).min(MOST_BY_DEFAULT);
    (WORK_PER_CHANNEL * channels).min(most).max(least)
}

/// The decomposition and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Decomposition {
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
    part: Option<Box<Decomposition>>,
    start: Vec<f64>,
    order: Vec<(f64, ChannelNo)>,
    root: prices::Point,
    scratch: ByChannel<u32>,
    other: ByChannel<u32>,
    by_worth: Vec<ChannelNo>,
    touched: Vec<ServerNo>,
    best: ByChannel<u32>,
    best_value: f64,
    best_copies: ByJob<u32>,
    root_copies: ByJob<f64>,
    /// What the relaxation of the whole problem runs of each job, as a share: of its copies, or of its tasks
    /// where these may run alone.
    root_share: ByJob<f64>,
    /// Whether servers' knapsacks bound the problem better than the relaxation does.
    sharper_by_servers: bool,
    /// Nodes of the tree so far.
    nodes: u64,
    /// Whether the budget is the default one.
    is_default: bool,
    /// For each job, whether it is known not to run.
    left_out: ByJob<bool>,
}

impl Decomposition {
    /// Solves within a budget of visits, if one is given.
    pub fn solve(&mut self, problem: &Problem<'_>, budget: Option<u64>, solution: &mut Solution) {
        self.is_default = budget.is_none();
        let mut budget = budget.unwrap_or_else(|| default_budget(problem.len() as u64, LEAST_WORK));
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
            solution.complete(problem, proved * self.form.scale, guarantee, "exact/gang");
            // Without doubt the tree ends with a proof: it was cut short, or there was no work for one.
            solution.stopped =
                Stopped::new(guarantee, !in_doubt || self.pricing.work >= budget / WORK_PER_VISIT);
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
        self.best.reset(self.form.len(), 0);
        self.best_value = 0.0;
        self.best_copies.reset(self.form.jobs.len(), 0);
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

    /// What rounding leaves in doubt: bounds closer than this to a value are met. It grows with the value:
    /// what was once left for a smaller one stays left.
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
        self.region.reset();
        let visits = budget / WORK_PER_VISIT;
        // Cluster-wide rows tie all servers: prices of capacities see that, prices of tasks hardly.
        let by_servers = self.form.rows.is_empty()
            && (newton::has_many_servers(&self.form) || self.has_tree(visits))
            && newton::cost(&self.form).is_some_and(|cost| cost <= visits / 4 * 3);
        // A relaxation alone is no decision: of little work, most must be left for one.
        let part = if LITTLE_WORK.contains(&budget) { 8 } else { 2 };
        let is_relaxed = |gang: &mut Self| gang.relaxation.cost(&gang.form, &gang.limits) <= budget / part;
        if !by_servers && is_relaxed(self) {
            return self.search_by_relaxation(budget, self.has_tree(visits), MOST_WORK);
        }
        if !by_servers && self.affords_large(budget) {
            return self.search_large(budget);
        }
        let tree = self.has_tree(visits).then_some(visits);
        self.root_copies.clear();
        let bound = self.search_by_servers(visits, by_servers);
        let bound = self.prove(bound, tree);
        if !(by_servers && self.goes_on(bound) && is_relaxed(self)) {
            return bound;
        }
        // What prices of tasks leave wide, prices of capacities may not.
        let spent = std::mem::take(&mut self.pricing.work);
        self.limits.reset(&self.form);
        self.limits.propagate(&self.form);
        let most = MOST_WORK.saturating_sub(spent * WORK_PER_VISIT);
        let bound = bound.min(self.search_by_relaxation(budget, false, most));
        self.pricing.work += spent;
        bound
    }

    /// Whether a search by default goes on beyond its budget: as long as the gap is wide.
    fn goes_on(&self, bound: f64) -> bool {
        self.is_default && bound - self.best_value > GOAL * bound.abs()
    }

    /// The linear relaxation, decisions from it, and a tree if there is one; a bound. A search that goes on
    /// takes at most `most` units of work.
    fn search_by_relaxation(&mut self, budget: u64, has_tree: bool, most: u64) -> f64 {
        let budget = if self.is_default { budget.min(self.default_budget_relaxed()) } else { budget };
        let Relaxed { relaxed, mut bound, has_dual_tree } = self.search_relaxed(budget, has_tree);
        if has_dual_tree {
            self.pricing.work /= WORK_PER_VISIT;
            bound = self.prove(bound, Some(budget / WORK_PER_VISIT));
            self.pricing.work *= WORK_PER_VISIT;
            // From where the relaxation was: the tree has settled much.
            self.limits.reset(&self.form);
            self.limits.propagate(&self.form);
            self.score_relaxed();
        }
        if self.goes_on(bound) {
            bound = self.go_on(relaxed, bound, (budget, most));
        }
        self.pricing.work /= WORK_PER_VISIT;
        self.prove(bound, None)
    }

    /// A decision's work by default where the linear relaxation guides it.
    fn default_budget_relaxed(&self) -> u64 {
        let channels = self.form.len();
        let tenths = if self.form.has_small_servers() {
            SMALL_SERVERS_NEED
        } else if channels > choose::LARGE {
            LARGE_NEEDS
        } else {
            RELAXED_NEEDS
        };
        default_budget(channels as u64, LEAST_WORK_RELAXED) / 10 * tenths
    }

    /// Branches within so many visits, if any; what is proved then.
    fn prove(&mut self, bound: f64, visits: Option<u64>) -> f64 {
        if !self.beats(bound) {
            return self.best_value;
        }
        let Some(visits) = visits else { return bound };
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
        self.candidate(budget / CANDIDATE);
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
                self.candidate(budget / CANDIDATE);
                self.improve(4, budget / 20);
            }
            let bound = self.descent.best.value;
            if has_tree && last - bound < SLOWEST * (bound - self.best_value) {
                break;
            }
            last = bound;
            if !self.beats(self.descent.best.value) || self.pricing.work >= budget {
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
