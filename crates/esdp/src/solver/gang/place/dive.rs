//! Builds a decision by diving: the relaxation is decided bit by bit and solved again after each bit.
//!
//! First the copies, those that the relaxation is sure of before others; then the tasks, the surest first.
//! Prices settle in between (`newton.rs`). A job that can no longer reach its minimum loses a copy and begins
//! anew. What is left when nothing more fits is completed as in `by_server.rs`.

use crate::solver::gang::Decomposition;
use crate::solver::gang::problem::form::{Form, NO_GROUP};
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::relax::Relaxation;
use crate::solver::gang::search::fixing::take;
use crate::solver::gang::smooth::newton::Newton;
use crate::solver::gang::tuning::dive::{
    COPIES, FEW_LEFT, FEWEST, RELAXED_TASKS, ROUNDS, STEPS, SURE, TASKS, TEMPERATURE,
};

/// What is decided on the way down; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Dive {
    pub(in crate::solver::gang) limits: Limits,
    before: Limits,
    order: Vec<(f64, u32)>,
}

impl Decomposition {
    /// Dives from the last Newton prices, into the placement.
    pub(in crate::solver::gang) fn dive(&mut self, work: u64) {
        let Self { form, limits, newton, dive, pricing, .. } = self;
        let before = newton.work;
        dive.run(form, limits, newton, work);
        pricing.work += newton.work - before;
        self.place_dive();
    }

    /// Makes a decision of what a dive decided.
    pub(in crate::solver::gang) fn place_dive(&mut self) {
        let Self { form, dive, placement, .. } = self;
        placement.reset(form);
        placement.copies.clone_from(&dive.limits.fewest);
        for (e, &uses) in dive.limits.low.iter().enumerate() {
            placement.set(form, e, uses.min(placement.most_more(form, e)));
        }
        self.finish();
    }
}

impl Dive {
    /// Decides until nothing is left to decide, or the work is spent.
    fn run(&mut self, form: &Form, root: &Limits, newton: &mut Newton, work: u64) {
        self.limits.clone_from(root);
        let end = newton.work.saturating_add(work);
        for _ in 0..ROUNDS {
            if newton.work > end {
                break;
            }
            newton.resume(form, &self.limits, TEMPERATURE, STEPS);
            let jobs_open = self.decide_copies(form, &newton.smooth.copies, COPIES);
            let decided = if jobs_open { 0 } else { self.decide_tasks(form, &newton.smooth.uses, TASKS) };
            newton.work += 4 * form.len() as u64;
            if !self.tighten(form, root) || (!jobs_open && decided == 0) || self.limits.is_decided() {
                break;
            }
        }
    }

    /// The same, on the linear relaxation, which is solved within these limits.
    pub fn run_relaxed(
        &mut self,
        form: &Form,
        root: &Limits,
        relaxation: &mut Relaxation,
        wanted: impl Fn(usize) -> bool,
        work: u64,
    ) {
        self.limits.clone_from(root);
        self.limits.lenient = true;
        let end = relaxation.work.saturating_add(work);
        for round in 0..ROUNDS {
            let before = relaxation.work;
            if before > end {
                break;
            }
            if round > 0 {
                relaxation.resume(form, &self.limits, &wanted, end - before);
            }
            let cost = relaxation.work - before;
            let is_short = end.saturating_sub(relaxation.work) < FEW_LEFT * cost;
            let jobs_open = self.decide_copies(form, &relaxation.copies, if is_short { 1.0 } else { COPIES });
            let decided =
                if jobs_open { 0 } else { self.decide_tasks(form, &relaxation.uses, RELAXED_TASKS) };
            if !self.tighten(form, root) || (!jobs_open && decided == 0) || self.limits.is_decided() {
                break;
            }
        }
    }

    /// Decides copies, at least a share of those that are open; whether some were open.
    fn decide_copies(&mut self, form: &Form, copies: &[f64], share: f64) -> bool {
        let Self { limits, order, .. } = self;
        order.clear();
        for (l, &copies) in copies.iter().enumerate().take(form.jobs.len()) {
            let (fewest, most) = (limits.fewest[l], limits.most[l]);
            if fewest == most {
                continue;
            }
            limits.fewest[l] = fewest.max((copies + SURE) as u32).min(most);
            limits.most[l] = most.min(libm::ceil(copies - SURE).max(0.0) as u32).max(limits.fewest[l]);
            if limits.fewest[l] < limits.most[l] {
                let part = copies - libm::floor(copies);
                order.push(((part - 0.5).abs(), l as u32));
            }
        }
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let bit = (order.len() as f64 * share) as usize;
        for &(_, l) in order.iter().take(bit.max(1)) {
            let l = l as usize;
            let whole = (libm::floor(copies[l] + 0.5) as u32).clamp(limits.fewest[l], limits.most[l]);
            (limits.fewest[l], limits.most[l]) = (whole, whole);
        }
        !order.is_empty()
    }

    /// Decides tasks; how many.
    fn decide_tasks(&mut self, form: &Form, uses: &[f64], share: f64) -> u64 {
        let Self { limits, order, .. } = self;
        order.clear();
        for (e, &uses) in uses.iter().enumerate().take(form.len()) {
            let more = uses - f64::from(limits.low[e]);
            if limits.low[e] < limits.high[e] && more > FEWEST {
                order.push((more, e as u32));
            }
        }
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let unsure: f64 = order.iter().map(|(more, _)| more - libm::floor(more + SURE)).sum();
        let mut left = (share * unsure).max(1.0) as u64;
        let mut decided = 0;
        for &(more, e) in order.iter() {
            let e = e as usize;
            let mut uses = libm::floor(more + SURE) as u32;
            if uses == 0 {
                if left == 0 {
                    break;
                }
                left -= 1;
                uses = 1;
            }
            let uses = uses.min(limits.high[e] - limits.low[e]);
            let group = (form.group[e] != NO_GROUP).then_some(form.group[e] as usize);
            let has_tasks = group.is_none_or(|g| {
                let all = u64::from(form.groups[g].count) * u64::from(limits.most[form.job[e] as usize]);
                limits.group_low[g] + u64::from(uses) <= all
            });
            if has_tasks && take(form, limits, e, uses) {
                limits.low[e] += uses;
                decided += u64::from(uses);
                if let Some(g) = group {
                    limits.group_low[g] += u64::from(uses);
                }
            }
        }
        decided
    }

    /// Propagates what was decided; a job that cannot reach its minimum any more loses a copy and begins
    /// anew.
    fn tighten(&mut self, form: &Form, root: &Limits) -> bool {
        let Self { limits, before, .. } = self;
        for _ in 0..=form.jobs.len() {
            // Upper limits are only what follows from the lower ones.
            limits.high.clone_from(&root.high);
            before.clone_from(limits);
            if limits.propagate(form) {
                return true;
            }
            let failed = limits.failed;
            limits.clone_from(before);
            let Some(l) = failed.filter(|&l| limits.fewest[l] > root.fewest[l]) else { return false };
            limits.fewest[l] -= 1;
            limits.most[l] = limits.fewest[l];
            for &e in form.channels_of_job(l) {
                limits.low[e as usize] = root.low[e as usize];
            }
        }
        false
    }
}
