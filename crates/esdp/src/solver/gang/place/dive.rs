//! Builds a decision by diving: the relaxation is decided bit by bit and solved again after each bit.
//!
//! First the copies, those that the relaxation is sure of before others; then the tasks, the surest first.
//! Prices settle in between (`newton.rs`). A job that can no longer reach its minimum loses a copy and begins
//! anew. What is left when nothing more fits is completed as in `by_server.rs`.
//!
//! The relaxation may put half a task that needs a whole server beside two small ones, which it is sure of:
//! once these are decided, no whole task has room. A job that is left too little is *urgent*: the last tasks
//! are decided on again, its own first.

use crate::solver::gang::Decomposition;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByJob, ChannelNo, JobNo};
use crate::solver::gang::relax::Relaxation;
use crate::solver::gang::search::fixing::take;
use crate::solver::gang::smooth::newton::Newton;
use crate::solver::gang::tuning::dive::{
    COPIES, FEW_LEFT, FEWEST, RELAXED_TASKS, ROUNDS, STEPS, SURE, TASKS, TASKS_BY_STEPS, TEMPERATURE,
};

/// What is decided on the way down; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Dive {
    pub(in crate::solver::gang) limits: Limits,
    before: Limits,
    /// The limits before the last tasks were decided.
    earlier: Limits,
    /// Jobs for which other tasks left no room: theirs are decided first.
    urgent: ByJob<bool>,
    /// Open copies and tasks by how sure they are.
    jobs: Vec<(f64, JobNo)>,
    channels: Vec<(f64, ChannelNo)>,
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
        for (e, &uses) in dive.limits.low.numbered() {
            placement.set(form, e, uses.min(placement.most_more(form, e)));
        }
        self.finish();
    }
}

impl Dive {
    /// Decides until nothing is left to decide, or the work is spent.
    fn run(&mut self, form: &Form, root: &Limits, newton: &mut Newton, work: u64) {
        self.limits.clone_from(root);
        self.urgent.reset(form.jobs.len(), false);
        let end = newton.work.saturating_add(work);
        for _ in 0..ROUNDS {
            if newton.work > end {
                break;
            }
            newton.resume(form, &self.limits, TEMPERATURE, STEPS);
            let jobs_open = self.decide_copies(form, &newton.smooth.copies, COPIES);
            let decided = if jobs_open { 0 } else { self.decide_tasks(form, &newton.smooth.uses, TASKS) };
            newton.work += 4 * form.len() as u64;
            if !self.tighten(form, root, (&mut newton.work, end))
                || (!jobs_open && decided == 0)
                || self.limits.is_decided()
            {
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
        wanted: impl Fn(ChannelNo) -> bool,
        work: u64,
    ) {
        self.limits.clone_from(root);
        self.limits.lenient = true;
        self.urgent.reset(form.jobs.len(), false);
        let has_small_servers = form.has_small_servers();
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
            let share = if relaxation.by_steps { TASKS_BY_STEPS } else { RELAXED_TASKS };
            let decided = match (jobs_open, has_small_servers) {
                (true, _) => 0,
                // All tasks are large where a server holds a few: none of them is in the way of larger ones.
                (_, true) => self.decide_tasks(form, &relaxation.uses, share),
                _ => self.decide_with_room(form, root, relaxation, (share, end)),
            };
            if !self.tighten(form, root, (&mut relaxation.work, end))
                || (!jobs_open && decided == 0)
                || self.limits.is_decided()
            {
                break;
            }
        }
    }

    /// Decides copies, at least a share of those that are open; whether some were open.
    fn decide_copies(&mut self, form: &Form, copies: &ByJob<f64>, share: f64) -> bool {
        let Self { limits, jobs, .. } = self;
        jobs.clear();
        for l in form.jobs.numbers() {
            let copies = copies[l];
            let (fewest, most) = (limits.fewest[l], limits.most[l]);
            if fewest == most {
                continue;
            }
            limits.fewest[l] = fewest.max((copies + SURE) as u32).min(most);
            limits.most[l] = most.min(libm::ceil(copies - SURE).max(0.0) as u32).max(limits.fewest[l]);
            if limits.fewest[l] < limits.most[l] {
                let part = copies - libm::floor(copies);
                jobs.push(((part - 0.5).abs(), l));
            }
        }
        jobs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let bit = (jobs.len() as f64 * share) as usize;
        for &(_, l) in jobs.iter().take(bit.max(1)) {
            let whole = (libm::floor(copies[l] + 0.5) as u32).clamp(limits.fewest[l], limits.most[l]);
            (limits.fewest[l], limits.most[l]) = (whole, whole);
        }
        !jobs.is_empty()
    }

    /// Decides tasks of the linear relaxation such that jobs keep room for theirs, while the work is below
    /// its end; how many.
    fn decide_with_room(
        &mut self,
        form: &Form,
        root: &Limits,
        relaxation: &mut Relaxation,
        (share, end): (f64, u64),
    ) -> u64 {
        loop {
            self.earlier.clone_from(&self.limits);
            let decided = self.decide_tasks(form, &relaxation.uses, share);
            relaxation.work += 4 * form.len() as u64 * form.effort();
            if relaxation.work > end || !self.find_urgent(form, root) {
                return decided;
            }
            self.limits.clone_from(&self.earlier);
        }
    }

    /// Looks for jobs that are left too little room for their copies; whether there are new ones.
    fn find_urgent(&mut self, form: &Form, root: &Limits) -> bool {
        let Self { limits, before, urgent, .. } = self;
        before.clone_from(limits);
        before.high.clone_from(&root.high);
        if !before.propagate(form) {
            return false;
        }
        before.sum_groups(form);
        let mut is_new = false;
        for (l, job) in form.jobs.numbered() {
            if job.is_gang() && !urgent[l] && !before.can_run(form, l, before.fewest[l]) {
                urgent[l] = true;
                is_new = true;
            }
        }
        is_new
    }

    /// Decides tasks; how many. Where jobs are urgent, all of theirs, and no others.
    fn decide_tasks(&mut self, form: &Form, uses: &ByChannel<f64>, share: f64) -> u64 {
        let Self { limits, channels, urgent, .. } = self;
        channels.clear();
        for e in form.all_channels() {
            let more = uses[e] - f64::from(limits.low[e]);
            if limits.low[e] < limits.high[e] && more > FEWEST {
                channels.push((more, e));
            }
        }
        let is_urgent = |&(_, e): &(f64, ChannelNo)| urgent[form.job[e]];
        let has_urgent = channels.iter().any(is_urgent);
        channels.retain(|channel| !has_urgent || is_urgent(channel));
        let share = if has_urgent { 1.0 } else { share };
        channels.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let unsure: f64 = channels.iter().map(|(more, _)| more - libm::floor(more + SURE)).sum();
        let mut left = (share * unsure).max(1.0) as u64;
        let mut decided = 0;
        for &(more, e) in channels.iter() {
            let mut uses = libm::floor(more + SURE) as u32;
            if uses == 0 {
                if left == 0 {
                    break;
                }
                left -= 1;
                uses = 1;
            }
            let uses = uses.min(limits.high[e] - limits.low[e]);
            let group = form.group[e];
            let has_tasks = group.is_none_or(|g| {
                let all = u64::from(form.groups[g].count) * u64::from(limits.most[form.job[e]]);
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
    /// anew, while the work is below its end.
    fn tighten(&mut self, form: &Form, root: &Limits, (work, end): (&mut u64, u64)) -> bool {
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
            *work += 4 * form.len() as u64 * form.effort();
            let fails = failed.filter(|&l| limits.fewest[l] > root.fewest[l] && *work <= end);
            let Some(l) = fails else { return false };
            limits.fewest[l] -= 1;
            limits.most[l] = limits.fewest[l];
            for &e in form.channels_of_job(l) {
                limits.low[e] = root.low[e];
            }
        }
        false
    }
}
