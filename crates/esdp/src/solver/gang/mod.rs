//! Servers with capacities of their own, and gangs: a certified decomposition.
//!
//! 1. `form.rs` lays the problem out by server; `prices.rs` is its dual, in which every server is a
//!    small exact knapsack (`knapsack.rs`) and every job a part of its own; `descent.rs` minimises it.
//! 2. `build.rs` makes decisions from the relaxation's averages: a lower bound.
//! 3. `tree.rs` branches on jobs and channels until the two meet or the work is spent.

mod build;
mod descent;
mod fixing;
mod form;
mod knapsack;
mod limits;
mod placement;
mod prices;
mod ruin;
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

/// Visits of one server's knapsack before its bound is taken instead.
const SERVER_VISITS: u64 = 4_000;

/// Rounds of dual steps at the root, each followed by a decision.
const ROUNDS: usize = 8;
/// Dual steps in a round.
const STEPS: usize = 35;

/// The decomposition and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Gang {
    form: Form,
    limits: Limits,
    pricing: Pricing,
    descent: Descent,
    builder: Builder,
    placement: Placement,
    ruin: Ruin,
    tree: Tree,
    start: Vec<f64>,
    root: prices::Point,
    scratch: Vec<u32>,
    best: Vec<u32>,
    best_value: f64,
}

impl Gang {
    /// Solves within a budget of visits, if one is given.
    pub fn solve(&mut self, problem: &Problem<'_>, budget: Option<u64>, solution: &mut Solution) {
        self.form.fill(problem);
        let n = self.form.len() as u64;
        let budget = budget.unwrap_or((1_000 * n).max(20_000_000));
        self.best.clear();
        self.best.resize(self.form.len(), 0);
        self.best_value = 0.0;
        self.pricing.work = 0;
        self.pricing.server_limit = (budget / self.form.servers().max(1) as u64).clamp(64, SERVER_VISITS);
        self.limits.reset(&self.form);
        let mut bound = 0.0;
        if self.limits.propagate(&self.form) {
            bound = self.search(budget);
        }
        solution.chosen.clear();
        for (&id, &uses) in self.form.ids.iter().zip(&self.best) {
            solution.chosen.extend(std::iter::repeat_n(id, uses as usize));
        }
        let optimal = bound <= self.best_value + self.tolerance();
        let guarantee = if optimal { Guarantee::Optimal } else { Guarantee::Bounded };
        solution.seal(problem, bound * self.form.scale, guarantee, "exact/gang");
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
        for _ in 0..ROUNDS {
            self.improve(4, budget / 20);
            let stop = Stop { steps: STEPS, work: budget / 2, target: self.best_value };
            self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
            self.candidate();
            if !self.beats(self.descent.best.value) {
                break;
            }
        }
        self.improve(40, budget / 4);
        self.root.prices.clone_from(&self.descent.best.prices);
        let root = self.pricing.certify(&self.form, &self.limits, &mut self.root);
        if !self.beats(self.descent.best.value) {
            return self.best_value;
        }
        if self.form.len() as u64 * 2_000 > budget {
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
        if self.placement.value() > self.best_value {
            self.best_value = self.placement.value();
            self.best.clone_from(&self.placement.uses);
        }
    }

    /// Builds a decision from the averages and keeps it if it is the best.
    fn candidate(&mut self) {
        let lambda = prices::lambda(&self.form, &self.descent.best.prices);
        self.builder.rank(&self.form, &self.descent.uses, &self.descent.copies, lambda);
        self.builder.build(&self.form, &mut self.placement);
        self.pricing.work += 4 * self.form.len() as u64;
        if self.placement.value() > self.best_value {
            self.best_value = self.placement.value();
            self.best.clone_from(&self.placement.uses);
        }
    }
}
