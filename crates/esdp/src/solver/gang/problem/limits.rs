//! What a part of the search tree still allows: how many copies of a job, how many uses of a
//! channel. Rows are propagated until nothing moves.

use crate::model::Amount;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob, GroupNo, JobNo};

/// Bounds on every variable, and what the lower bounds leave free.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Limits {
    /// Uses of each channel.
    pub low: ByChannel<u32>,
    pub high: ByChannel<u32>,
    /// Running copies of each job.
    pub fewest: ByJob<u32>,
    pub most: ByJob<u32>,
    /// Server after server, what the lower bounds leave.
    pub room: Vec<Amount>,
    /// What they leave of each cluster-wide row.
    pub cluster: Vec<Amount>,
    /// Whether jobs may stay short of their minimum for now: a dive completes them in the end.
    pub lenient: bool,
    /// The job that allowed nothing, if one did.
    pub failed: Option<JobNo>,
    /// The lower bounds of each group's channels together, as last propagated.
    pub group_low: ByGroup<u64>,
    /// The upper bounds of each group's channels, and of each job's as far as its copies can use them.
    group_high: ByGroup<u64>,
    job_high: ByJob<u64>,
}

impl Limits {
    /// The whole problem.
    pub fn reset(&mut self, form: &Form) {
        self.low.reset(form.len(), 0);
        self.high.clone_from(&form.most);
        self.most.clear();
        self.most.extend(form.jobs.iter().map(|job| job.copies));
        self.fewest.clear();
        self.fewest.extend(form.jobs.iter().map(|job| if job.is_gang() { 0 } else { job.copies }));
    }

    /// Whether every variable is decided.
    pub fn is_decided(&self) -> bool {
        self.low == self.high && self.fewest == self.most
    }

    /// Tightens all bounds; false when they allow nothing.
    pub fn propagate(&mut self, form: &Form) -> bool {
        self.failed = None;
        loop {
            let before = self.mark();
            if !self.take_low(form) || !self.jobs(form) {
                return false;
            }
            self.channels(form);
            if let Some(e) = form.all_channels().find(|&e| self.low[e] > self.high[e]) {
                self.failed = Some(form.job[e]);
                return false;
            }
            // Upper limits alone tighten nothing where jobs may stay short.
            if self.lenient || self.mark() == before {
                return true;
            }
        }
    }

    /// Changes whenever a bound does: bounds only ever tighten.
    fn mark(&self) -> [u64; 4] {
        [&*self.low, &*self.high, &*self.fewest, &*self.most]
            .map(|list| list.iter().map(|&value| u64::from(value)).sum())
    }

    /// Takes the lower bounds out of every capacity; false when they do not fit.
    fn take_low(&mut self, form: &Form) -> bool {
        self.room.clone_from(&form.room);
        self.cluster.clear();
        self.cluster.extend(form.rows.iter().map(|row| row.capacity));
        for e in form.all_channels() {
            let low = u64::from(self.low[e]);
            if low == 0 {
                continue;
            }
            let request = form.request(e);
            let room = &mut self.room[form.devices_of(form.server[e])];
            for (room, &a) in room.iter_mut().zip(request) {
                match a.checked_mul(low).and_then(|need| room.checked_sub(need)) {
                    Some(left) => *room = left,
                    None => return false,
                }
            }
            for (room, row) in self.cluster.iter_mut().zip(&form.rows) {
                match request[row.device].checked_mul(low).and_then(|need| room.checked_sub(need)) {
                    Some(left) => *room = left,
                    None => return false,
                }
            }
        }
        true
    }

    /// Group sums bound the copies, and copies are bounded by what can run.
    fn jobs(&mut self, form: &Form) -> bool {
        self.sum_groups(form);
        for (l, job) in form.jobs.numbered() {
            let over =
                |g: GroupNo| self.group_low[g] > u64::from(form.groups[g].count) * u64::from(self.most[l]);
            if form.groups_of_job(l).any(over) {
                self.failed = Some(l);
                return false;
            }
            if !job.is_gang() || self.lenient {
                continue;
            }
            for g in form.groups_of_job(l) {
                let needed = self.group_low[g].div_ceil(u64::from(form.groups[g].count).max(1));
                self.fewest[l] = self.fewest[l].max(u32::try_from(needed).unwrap_or(u32::MAX));
            }
            // The largest number of copies for which enough tasks can run. What can run is concave in
            // the copies and 0 at none, so the numbers that are possible are the small ones.
            let possible = |copies: u32| self.can_run(form, l, copies);
            if !possible(self.most[l]) {
                let (mut yes, mut no) = (0, self.most[l]);
                while no - yes > 1 {
                    let middle = yes + (no - yes) / 2;
                    if possible(middle) { yes = middle } else { no = middle }
                }
                self.most[l] = yes;
            }
            if self.fewest[l] > self.most[l] {
                self.failed = Some(l);
                return false;
            }
        }
        self.sum_high(form);
        true
    }

    /// Adds up the bounds of each group's channels.
    pub fn sum_groups(&mut self, form: &Form) {
        self.group_low.reset(form.groups.len(), 0);
        self.group_high.clone_from(&self.group_low);
        for e in form.all_channels() {
            if let Some(g) = form.group[e] {
                self.group_low[g] += u64::from(self.low[e]);
                self.group_high[g] += u64::from(self.high[e]);
            }
        }
    }

    /// Whether the groups' upper bounds leave so many copies of a job their tasks.
    pub fn can_run(&self, form: &Form, l: JobNo, copies: u32) -> bool {
        let run = |g: GroupNo| self.group_high[g].min(u64::from(form.groups[g].count) * u64::from(copies));
        let reaches = |g: GroupNo| run(g) >= u64::from(form.groups[g].minimum) * u64::from(copies);
        let groups = form.groups_of_job(l);
        groups.clone().map(run).sum::<u64>() >= u64::from(form.jobs[l].minimum) * u64::from(copies)
            && groups.into_iter().all(reaches)
    }

    /// What can run of each job.
    fn sum_high(&mut self, form: &Form) {
        self.job_high.reset(form.jobs.len(), 0);
        for (g, group) in form.groups.numbered() {
            let all = u64::from(group.count) * u64::from(self.most[group.job]);
            self.job_high[group.job] += self.group_high[g].min(all);
        }
    }

    /// Rows bound the uses of each channel from above, and job minima from below.
    fn channels(&mut self, form: &Form) {
        for e in form.all_channels() {
            if self.low[e] >= self.high[e] {
                continue;
            }
            let low = self.low[e];
            let mut more = form.fits(e, &self.room, &self.cluster, u64::from(self.high[e] - low));
            if let Some(g) = form.group[e] {
                let all = u64::from(form.groups[g].count) * u64::from(self.most[form.job[e]]);
                more = more.min(all.saturating_sub(self.group_low[g]));
                let others = self.group_high[g] - u64::from(self.high[e]);
                let l = form.job[e];
                let job = &form.jobs[l];
                if job.is_gang() && self.fewest[l] > 0 && !self.lenient {
                    // What the job lacks when everything else that can run does.
                    let need = u64::from(job.minimum) * u64::from(self.fewest[l]);
                    let elsewhere = self.job_high[l] - self.group_high[g].min(all) + others.min(all);
                    let of_group = u64::from(form.groups[g].minimum) * u64::from(self.fewest[l]);
                    let least = need.saturating_sub(elsewhere).max(of_group.saturating_sub(others));
                    self.low[e] = low.max(u32::try_from(least).unwrap_or(u32::MAX));
                }
            }
            self.high[e] = self.high[e].min(low.saturating_add(more as u32));
        }
    }
}
