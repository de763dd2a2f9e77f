//! Decisions guided by the linear relaxation (`relax/`).

use crate::solver::gang::Decomposition;
use crate::solver::gang::dual::descent::Stop;
use crate::solver::gang::dual::prices::{Layout, project};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::ChannelNo;
use crate::solver::gang::relax::Multipliers;
use crate::solver::gang::tuning::region;
use crate::solver::gang::tuning::relax::LEAST_GAIN;
use crate::solver::gang::tuning::relaxed::{
    DESCENT_PART, JOBS_PER_NODE, LEAST_NODES, MOST_TIMES, MOST_TIMES_REAL, RUIN_FROM, RUIN_PER_GAP,
    RUIN_SHARE, RUIN_TURNS, TREE_TENTHS, WANTED, WORTH_ALL,
};
use crate::solver::gang::tuning::search::{CLOSE, RELAXED_TENTHS, STEPS, WEAK, WORK_PER_VISIT};

/// What the linear relaxation and decisions from it show.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Relaxed {
    /// The bound of the relaxation alone, and the best one.
    pub relaxed: f64,
    pub bound: f64,
    /// Whether a tree on the servers' knapsacks is worth it.
    pub has_dual_tree: bool,
}

impl Decomposition {
    /// The linear relaxation, and decisions from it. Of the budget, a tree on the servers' knapsacks is left
    /// a part if it may follow.
    pub(in crate::solver::gang) fn search_relaxed(&mut self, budget: u64, has_tree: bool) -> Relaxed {
        self.relaxation.is_generous = self.is_default;
        let without_tree = budget / 10 * RELAXED_TENTHS;
        let relaxed = self.relax(if has_tree { without_tree } else { budget } / 3 * 2);
        let by_servers = self.certify();
        let has_dual_tree =
            has_tree && (self.has_tree(budget / WORK_PER_VISIT) || by_servers <= WEAK * relaxed);
        let budget = if has_dual_tree { without_tree } else { budget }.saturating_add(self.relaxation.extra);
        let mut bound = relaxed.min(by_servers);
        self.sharper_by_servers = by_servers < relaxed;
        if self.sharper_by_servers {
            bound = bound.min(self.descend(budget / DESCENT_PART));
        }
        self.build_relaxed();
        self.note_root();
        let left = |gang: &Self| budget.saturating_sub(gang.pricing.work);
        let gap = |gang: &Self, bound: f64| (bound - gang.best_value) / bound.abs().max(f64::MIN_POSITIVE);
        if gap(self, bound) > CLOSE {
            self.dive_within_root(left(self) / 2);
        }
        if gap(self, bound) > RUIN_FROM {
            let share = (RUIN_PER_GAP * gap(self, bound)).min(RUIN_SHARE);
            self.ruin_relaxed((left(self) as f64 * share) as u64);
        }
        let tree = left(self) / 10 * TREE_TENTHS;
        let has_tree = self.affords_tree(tree);
        if gap(self, bound) > CLOSE && has_tree {
            bound = bound.min(self.branch_on_copies((relaxed, bound), tree));
        }
        // Where the whole problem is no larger than a region, the tree has looked for all that regions could
        // find.
        if gap(self, bound) > CLOSE && (!has_tree || self.form.jobs.len() > region::JOBS) {
            self.improve_regions(bound, left(self));
        }
        Relaxed { relaxed, bound, has_dual_tree }
    }

    /// Takes down what the relaxation of the whole problem runs.
    pub(in crate::solver::gang) fn note_root(&mut self) {
        let Self { form, relaxation, root_copies, root_share, .. } = self;
        root_copies.clone_from(&relaxation.copies);
        root_share.clear();
        root_share.extend(form.jobs.numbered().map(|(l, job)| {
            let copies = f64::from(job.copies.max(1));
            if job.is_gang() {
                return root_copies[l] / copies;
            }
            let tasks: f64 = form.groups_of_job(l).map(|g| f64::from(form.groups[g].count)).sum();
            let uses: f64 = form.channels_of_job(l).iter().map(|&e| relaxation.uses[e]).sum();
            uses / (copies * tasks.max(1.0))
        }));
    }

    /// The share of so much work that is worth it at a bound: the less there is to gain, the less.
    pub(in crate::solver::gang) fn worth_it(&self, work: u64, bound: f64) -> u64 {
        let gap = (bound - self.best_value) / bound.abs().max(f64::MIN_POSITIVE);
        (work as f64 * (gap / WORTH_ALL).clamp(0.0, 1.0)) as u64
    }

    /// Searches around the best decision by ruin and recreate.
    fn ruin_relaxed(&mut self, work: u64) {
        self.take_up_best();
        let before = self.pricing.work;
        self.improve(RUIN_TURNS, work / WORK_PER_VISIT);
        self.pricing.work += (self.pricing.work - before) * (WORK_PER_VISIT - 1);
    }

    /// Goes on beyond the budget, by default and as long as the gap is wide, up to so much work in all: a
    /// tree for the bound, where it is affordable, then regions; the bound.
    pub(in crate::solver::gang) fn go_on(
        &mut self,
        relaxed: f64,
        mut bound: f64,
        (budget, most): (u64, u64),
    ) -> f64 {
        let times = if self.form.has_small_servers() { MOST_TIMES } else { MOST_TIMES_REAL };
        let end = budget.saturating_mul(times).min(most);
        let left = |gang: &Self| end.saturating_sub(gang.pricing.work);
        let tree = left(self) / 10 * TREE_TENTHS;
        if self.affords_tree(tree) {
            bound = bound.min(self.branch_on_copies((relaxed, bound), tree));
        }
        if self.goes_on(bound) {
            self.improve_regions(bound, left(self));
        }
        bound
    }

    /// Whether so much work suffices for a tree over copies that is worth it.
    fn affords_tree(&self, work: u64) -> bool {
        let nodes = LEAST_NODES.max(self.form.jobs.len() as u64 / JOBS_PER_NODE);
        self.relaxation.last_cost.saturating_mul(nodes) <= work
    }

    /// Lowers the bound of the servers' knapsacks from the relaxation's prices on; that bound.
    fn descend(&mut self, work: u64) -> f64 {
        let before = self.pricing.work;
        let end = before + work / WORK_PER_VISIT;
        let mut bound = self.descent.best.value;
        loop {
            let stop = Stop { steps: STEPS, work: end, target: self.best_value };
            self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
            let gained = bound - self.descent.best.value;
            bound = self.descent.best.value;
            // Also where the bound is 0, or is met and no step is made.
            let is_worth_more = gained > LEAST_GAIN * bound.abs() && bound > self.best_value;
            if !is_worth_more || self.pricing.work >= end {
                break;
            }
        }
        let bound = self.certify();
        self.pricing.work += (self.pricing.work - before) * (WORK_PER_VISIT - 1);
        bound
    }

    /// Solves the relaxation; its bound. The dual starts from its prices.
    pub(in crate::solver::gang) fn relax(&mut self, budget: u64) -> f64 {
        let Self { form, limits, relaxation, pricing, descent, start, .. } = self;
        let bound = relaxation.solve(form, limits, budget);
        pricing.work += std::mem::take(&mut relaxation.work);
        task_prices(form, &relaxation.multipliers, start);
        pricing.server_prices.clone_from(&relaxation.multipliers.server);
        descent.start(form, limits, pricing, start);
        bound
    }

    /// Scores every channel by its reduced value at the relaxation's prices, and ranks.
    pub(in crate::solver::gang) fn score_relaxed(&mut self) {
        let Self { form, relaxation, builder, .. } = self;
        let multipliers = &relaxation.multipliers;
        builder.score.clear();
        builder.score.extend(form.all_channels().map(|e| multipliers.score(form, e)));
        builder.rank(form, &relaxation.copies);
    }

    /// Builds a decision by the relaxation's ranks.
    pub(in crate::solver::gang) fn build_relaxed(&mut self) {
        self.score_relaxed();
        self.builder.build(&self.form, &mut self.placement);
        self.pricing.work += 4 * self.form.len() as u64;
        self.keep();
    }

    /// Dives from the relaxation's solution of the whole problem.
    pub(in crate::solver::gang) fn dive_within_root(&mut self, work: u64) {
        let limits = std::mem::take(&mut self.limits);
        self.dive_from_relaxation(&limits, work);
        self.limits = limits;
    }

    /// Dives within limits from the relaxation's solution there; channels are wanted by their scores.
    pub(in crate::solver::gang) fn dive_from_relaxation(&mut self, limits: &Limits, work: u64) {
        let Self { form, relaxation, dive, builder, .. } = self;
        let wanted = |e: ChannelNo| builder.score[e] > WANTED;
        dive.run_relaxed(form, limits, relaxation, wanted, work);
        self.pricing.work += std::mem::take(&mut self.relaxation.work);
        self.place_dive();
        self.keep();
    }

    /// The best decision becomes the one at hand.
    pub(in crate::solver::gang) fn take_up_best(&mut self) {
        let Self { form, placement, best, best_copies, .. } = self;
        placement.reset(form);
        placement.copies.clone_from(best_copies);
        best.numbered().for_each(|(e, &uses)| placement.set(form, e, uses));
        placement.commit();
    }
}

/// The prices of tasks, minima and rows that the dual of `prices.rs` has for the relaxation's.
pub(in crate::solver::gang) fn task_prices(form: &Form, from: &Multipliers, prices: &mut Vec<f64>) {
    let layout = Layout::of(form);
    prices.clear();
    prices.resize(layout.len, 0.0);
    for (l, job) in form.jobs.numbered() {
        // A task's price is what it costs its group less what it does for the minimum; both are at least 0,
        // but for groups with a minimum of their own.
        let groups = form.groups_of_job(l);
        let bound = groups.clone().filter(|&g| !form.groups[g].is_needed());
        let lowest = bound.map(|g| from.task[g]).fold(0.0, f64::min);
        let minimum = if job.is_gang() { -lowest } else { 0.0 };
        prices[layout.job(l)] = minimum;
        for g in groups {
            prices[layout.group(g)] = project(form, layout.group(g), from.task[g] + minimum);
        }
    }
    for (place, row) in form.rows.iter().enumerate() {
        prices[layout.rows + place] = from.wide[place] * row.unit;
    }
    if !form.linear {
        prices[layout.lambda] = libm::log(from.lambda);
    }
}
