//! Servers with capacities of their own, and gangs: a certified decomposition.
//!
//! 1. `form.rs` lays the problem out by server; `prices.rs` is its dual, in which every server is a
//!    small exact knapsack (`knapsack.rs`) and every job a part of its own; `descent.rs` minimises it.
//! 2. `build.rs` makes decisions from the relaxation's averages: a lower bound.
//! 3. `tree.rs` branches on jobs and channels until the two meet or the work is spent.

mod baseline;
mod build;
mod descent;
mod fixing;
mod form;
mod knapsack;
mod limits;
mod placement;
mod prices;
mod ruin;
mod sweep;
mod tree;

use self::build::Builder;
use self::descent::{Descent, Stop};
use self::form::Form;
use self::limits::Limits;
use self::placement::Placement;
use self::prices::{Layout, Pricing};
use self::ruin::Ruin;
use self::tree::Tree;
use super::{Guarantee, Problem, Solution};

/// A decision's visits by default: this many for each channel, or this many where that is more.
const VISITS_PER_CHANNEL: u64 = 1_000;
const LEAST_VISITS: u64 = 20_000_000;
/// Visits of one server's knapsack before its bound is taken instead.
const SERVER_VISITS: u64 = 4_000;

/// Rounds of dual steps at the root, each followed by a decision.
const ROUNDS: usize = 8;
/// Dual steps in a round.
const STEPS: usize = 35;

/// Problems of more channels than this get fewer decisions while the dual goes down.
const LARGE: usize = 20_000;
/// Visits for each channel below which branching is not worth a try.
const TREE: u64 = 10_000;

/// The decomposition and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Gang {
    form: Form,
    limits: Limits,
    pricing: Pricing,
    descent: Descent,
    builder: Builder,
    placement: Placement,
    rival: Placement,
    ruin: Ruin,
    tree: Tree,
    start: Vec<f64>,
    root: prices::Point,
    scratch: Vec<u32>,
    best: Vec<u32>,
    best_value: f64,
    /// Nodes of the tree so far.
    nodes: u64,
}

impl Gang {
    /// Solves within a budget of visits, if one is given.
    pub fn solve(&mut self, problem: &Problem<'_>, budget: Option<u64>, solution: &mut Solution) {
        let budget = budget.unwrap_or_else(|| (VISITS_PER_CHANNEL * problem.len() as u64).max(LEAST_VISITS));
        let bound = if self.begin(problem, budget) { self.search(budget) } else { 0.0 };
        self.write(solution);
        let optimal = bound <= self.best_value + self.tolerance();
        let guarantee = if optimal { Guarantee::Optimal } else { Guarantee::Bounded };
        solution.seal(problem, bound * self.form.scale, guarantee, "exact/gang");
    }

    /// Takes over a problem; false when nothing can run.
    fn begin(&mut self, problem: &Problem<'_>, budget: u64) -> bool {
        self.form.fill(problem);
        self.best.clear();
        self.best.resize(self.form.len(), 0);
        self.best_value = 0.0;
        self.nodes = 0;
        self.pricing.work = 0;
        self.pricing.server_limit = (budget / self.form.servers().max(1) as u64).clamp(64, SERVER_VISITS);
        self.limits.reset(&self.form);
        self.form.len() > 0 && self.limits.propagate(&self.form)
    }

    /// Writes the best decision.
    fn write(&self, solution: &mut Solution) {
        solution.chosen.clear();
        for (&id, &uses) in self.form.ids.iter().zip(&self.best) {
            solution.chosen.extend(std::iter::repeat_n(id, uses as usize));
        }
    }

    /// What rounding leaves in doubt: bounds closer than this to a value are met.
    fn tolerance(&self) -> f64 {
        1e-11 * (1.0 + self.best_value)
    }

    fn beats(&self, bound: f64) -> bool {
        bound > self.best_value + self.tolerance()
    }

    /// Returns what is proved, in scaled units.
    fn search(&mut self, budget: u64) -> f64 {
        self.first_prices();
        self.descent.start(&self.form, &self.limits, &mut self.pricing, &self.start);
        self.candidate();
        self.ruin.reset();
        let is_large = self.form.len() > LARGE;
        for round in 1..=ROUNDS {
            let stop = Stop { steps: STEPS, work: budget / 2, target: self.best_value };
            self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
            // Scoring all channels costs as much as many dual steps where servers are crowded.
            if !is_large || round == 2 || round == ROUNDS {
                self.candidate();
                self.improve(4, budget / 20);
            }
            if !self.beats(self.descent.best.value) {
                break;
            }
        }
        let has_tree = self.form.len() as u64 * TREE <= budget;
        if has_tree {
            self.improve(20, budget / 4);
        } else {
            self.improve(1_000, budget.saturating_sub(self.pricing.work));
        }
        self.root.prices.clone_from(&self.descent.best.prices);
        let root = self.pricing.certify(&self.form, &self.limits, &mut self.root);
        if !self.beats(self.descent.best.value) {
            return self.best_value;
        }
        if !has_tree {
            return root;
        }
        self.fix();
        if !self.is_open() {
            return self.best_value;
        }
        let proved = self.branch(budget);
        root.min(proved.max(self.best_value))
    }

    /// Prices to start from: a group's are what its last task would bring if servers were free.
    fn first_prices(&mut self) {
        let layout = Layout::of(&self.form);
        self.start.clear();
        self.start.resize(layout.len, 0.0);
        if !self.form.linear {
            let width: f64 = self.form.w.iter().zip(&self.form.most).map(|(w, &most)| w * f64::from(most)).sum();
            self.start[layout.lambda] = libm::log(0.5 / (0.25 * width).max(1e-24).sqrt());
        }
    }

    /// Searches around the last decision built.
    fn improve(&mut self, turns: usize, work: u64) {
        let jobs = self.form.jobs.len();
        if !self.form.jobs.iter().any(|job| job.is_gang()) {
            return;
        }
        let Self { form, builder, placement, ruin, .. } = self;
        self.pricing.work += ruin.run(form, builder, placement, turns * jobs, 2 + turns * jobs / 4, work);
        self.keep();
    }

    /// Builds a decision from the averages and keeps it if it is the best.
    fn candidate(&mut self) {
        self.score();
        self.builder.rank(&self.form, &self.descent.copies);
        self.builder.build(&self.form, &mut self.placement);
        self.pricing.work += 4 * self.form.len() as u64;
        self.keep();
        if self.form.jobs.iter().any(|job| job.is_gang()) {
            let value = self.placement.value();
            std::mem::swap(&mut self.placement, &mut self.rival);
            self.sweep(0);
            if value > self.placement.value() {
                std::mem::swap(&mut self.placement, &mut self.rival);
            }
            self.keep();
        }
    }

    /// Keeps the last decision if it is the best.
    fn keep(&mut self) {
        if self.placement.value() > self.best_value {
            self.best_value = self.placement.value();
            self.best.clone_from(&self.placement.uses);
        }
    }
}
