//! A part of a problem: some jobs alone, on what all others leave.
//!
//! Its objective is linear, by the slope of the square root at a decision. Servers without room for any of
//! these jobs' tasks are no part of it, so it is small, and solved like a problem of its own: relaxation,
//! dive, tree.

use crate::solver::gang::Decomposition;
use crate::solver::gang::improve::polish::slope;
use crate::solver::gang::improve::ruin::fill_touched;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::{Form, GroupForm, JobForm, Row};
use crate::solver::gang::problem::number::{ChannelNo, GroupNo, JobNo, Number, ServerNo};
use crate::solver::gang::tuning::part::LEAST_GAIN;
use crate::solver::gang::tuning::relaxed::WANTED;
use crate::solver::gang::tuning::search::WORK_PER_VISIT;

impl Form {
    /// Takes over some jobs of a problem, their wanted channels, and what a decision leaves free. `ids` are
    /// then channels of that problem; a unit of variance counts `slope`.
    fn fill_part(
        &mut self,
        from: &Self,
        placement: &Placement,
        jobs: &[JobNo],
        wanted: impl Fn(ChannelNo) -> bool,
        slope: f64,
    ) {
        (self.scale, self.even, self.linear, self.devices) = (1.0, true, true, from.devices);
        self.groups.clear();
        self.jobs.clear();
        self.clear_channels();
        for (own, &l) in (0..).map(JobNo::at).zip(jobs) {
            let first_group = GroupNo::at(self.groups.len());
            self.jobs.push(JobForm { first_group, ..from.jobs[l] });
            let groups = &from.groups[from.groups_of_job(l)];
            self.groups.extend(groups.iter().map(|group| GroupForm { job: own, ..*group }));
            let channels =
                from.channels_of_job(l).iter().filter(|&&e| wanted(e) && placement.fits_more(from, e));
            self.ids.extend(channels.map(|e| e.place() as u32));
        }
        self.ids.sort_unstable();
        let mut last = None;
        for e in self.ids.numbers() {
            let whole = self.whole_channel(e);
            if last != Some(from.server[whole]) {
                last = Some(from.server[whole]);
                self.start.push(e.place());
                self.room.extend_from_slice(placement.room(from, from.server[whole]));
            }
            self.v.push(from.v[whole] + slope * from.w[whole]);
            self.w.push(0.0);
            self.most.push(placement.fits(from, whole));
            self.requests.extend_from_slice(from.request(whole));
            self.server.push(ServerNo::at(self.start.len() - 1));
            let job = JobNo::at(jobs.iter().position(|&l| l == from.job[whole]).unwrap_or(0));
            self.job.push(job);
            // The job's groups are in the same order here and there.
            let here = self.jobs[job].first_group.place();
            let there = from.jobs[from.job[whole]].first_group.place();
            self.group.push(from.group[whole].map(|g| GroupNo::at(g.place() - there + here)));
        }
        self.start.push(self.ids.len());
        self.rows.clear();
        self.rows.extend(
            from.rows.iter().zip(placement.cluster()).map(|(row, &capacity)| Row { capacity, ..*row }),
        );
        self.list_by_job();
    }

    /// The channel of the whole problem behind one of a part.
    fn whole_channel(&self, e: ChannelNo) -> ChannelNo {
        ChannelNo::at(self.ids[e] as usize)
    }
}

impl Decomposition {
    /// Takes some jobs out of the decision at hand and decides on them anew, within so much work; whether
    /// that was better.
    pub(in crate::solver::gang) fn decide_anew(&mut self, jobs: &[JobNo], work: u64) -> bool {
        let mut part = self.part.take().unwrap_or_default();
        let Self { form, placement, builder, best, .. } = self;
        placement.commit();
        let before = placement.value();
        let copies: Vec<u32> = jobs.iter().map(|&l| placement.copies[l]).collect();
        let mut spent = 0;
        let slope = slope(form, placement);
        let mut now = 0.0;
        for &l in jobs {
            for &e in form.channels_of_job(l) {
                now += (form.v[e] + slope * form.w[e]) * f64::from(placement.uses[e]);
                placement.set(form, e, 0);
            }
            spent += form.channels_of_job(l).len() as u64;
        }
        // Those that the relaxation leaves far from use only make the part larger.
        let wanted = |e: ChannelNo| builder.score[e] > WANTED || best[e] > 0;
        part.form.fill_part(form, placement, jobs, wanted, slope);
        spent = 10 * (spent + part.form.len() as u64);
        let better = part.search_part(now, work.saturating_sub(spent));
        spent += std::mem::take(&mut part.pricing.work);
        if better {
            for (&l, &copies) in jobs.iter().zip(&part.best_copies) {
                placement.copies[l] = copies;
            }
            for (e, &uses) in part.best.numbered() {
                placement.set(form, part.form.whole_channel(e), uses);
            }
            spent += fill_touched(form, placement, 0, &mut self.touched) * WORK_PER_VISIT;
        }
        let gains = better && placement.value() > before * (1.0 + LEAST_GAIN);
        if gains {
            placement.commit();
        } else {
            placement.undo(form, 0);
            jobs.iter().zip(&copies).for_each(|(&l, &copies)| placement.copies[l] = copies);
        }
        self.part = Some(part);
        self.pricing.work += spent;
        gains
    }

    /// Searches for a decision worth more than `known` in the form at hand; whether there is one.
    fn search_part(&mut self, known: f64, work: u64) -> bool {
        self.best.reset(self.form.len(), 0);
        self.best_copies.reset(self.form.jobs.len(), 0);
        self.best_value = known;
        self.pricing.work = 0;
        self.limits.reset(&self.form);
        if self.form.len() == 0 || !self.limits.propagate(&self.form) {
            return false;
        }
        let bound = self.relaxation.solve(&self.form, &self.limits, work / 2);
        self.pricing.work += std::mem::take(&mut self.relaxation.work);
        let is_worth_it = |gang: &Self| bound > gang.best_value * (1.0 + 1e-6);
        if !is_worth_it(self) {
            return false;
        }
        self.root_copies.clone_from(&self.relaxation.copies);
        self.build_relaxed();
        self.dive_within_root(work.saturating_sub(self.pricing.work));
        if is_worth_it(self) {
            self.sharper_by_servers = false;
            self.branch_on_copies((bound, bound), work.saturating_sub(self.pricing.work));
        }
        self.best_value > known
    }
}
