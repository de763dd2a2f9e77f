//! A part of a problem: some jobs alone, on what all others leave.
//!
//! Its objective is linear, by the slope of the square root at a decision. Servers without room for any of
//! these jobs' tasks are no part of it, so it is small, and solved like a problem of its own: relaxation,
//! dive, tree.

use crate::solver::gang::Decomposition;
use crate::solver::gang::improve::polish::slope;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::{Form, GroupForm, JobForm, NO_GROUP, Row};
use crate::solver::gang::tuning::part::LEAST_GAIN;
use crate::solver::gang::tuning::search::WORK_PER_VISIT;

impl Form {
    /// Takes over some jobs of a problem and what a decision leaves free. `ids` are then channels of that
    /// problem; a unit of width counts `slope`.
    fn fill_part(&mut self, from: &Self, placement: &Placement, jobs: &[u32], slope: f64) {
        (self.scale, self.even, self.linear, self.devices) = (1.0, true, true, from.devices);
        self.groups.clear();
        self.jobs.clear();
        self.ids.clear();
        for &l in jobs {
            let (first_group, own) = (self.groups.len() as u32, self.jobs.len() as u32);
            let groups = &from.groups[from.groups_of_job(l as usize)];
            self.groups.extend(groups.iter().map(|group| GroupForm { job: own, ..*group }));
            self.jobs.push(JobForm {
                first_group,
                end_group: self.groups.len() as u32,
                ..from.jobs[l as usize]
            });
            let channels = from.channels_of_job(l as usize).iter().copied();
            self.ids.extend(channels.filter(|&e| placement.fits_more(from, e as usize)));
        }
        self.ids.sort_unstable();
        for list in [&mut self.most, &mut self.group, &mut self.job, &mut self.server, &mut self.start] {
            list.clear();
        }
        for list in [&mut self.requests, &mut self.room] {
            list.clear();
        }
        self.v.clear();
        let mut last = None;
        for place in 0..self.ids.len() {
            let e = self.ids[place] as usize;
            if last != Some(from.server[e]) {
                last = Some(from.server[e]);
                self.start.push(place as u32);
                self.room.extend_from_slice(placement.room(from, from.server[e] as usize));
            }
            self.v.push(from.v[e] + slope * from.w[e]);
            self.most.push(placement.fits(from, e));
            self.requests.extend_from_slice(from.request(e));
            self.server.push(self.start.len() as u32 - 1);
            let own = jobs.iter().position(|&l| l == from.job[e]).unwrap_or(0);
            self.job.push(own as u32);
            self.group.push(match from.group[e] {
                NO_GROUP => NO_GROUP,
                g => g - from.jobs[from.job[e] as usize].first_group + self.jobs[own].first_group,
            });
        }
        self.start.push(self.ids.len() as u32);
        self.w.clear();
        self.w.resize(self.ids.len(), 0.0);
        self.rows.clear();
        self.rows.extend(
            from.rows.iter().zip(placement.cluster()).map(|(row, &capacity)| Row { capacity, ..*row }),
        );
        self.list_by_job();
    }
}

impl Decomposition {
    /// Takes some jobs out of the decision at hand and decides on them anew, within so much work; whether
    /// that was better.
    pub(in crate::solver::gang) fn decide_anew(&mut self, jobs: &[u32], work: u64) -> bool {
        let mut part = self.part.take().unwrap_or_default();
        let Self { form, placement, .. } = self;
        placement.commit();
        let before = placement.value();
        let copies: Vec<u32> = jobs.iter().map(|&l| placement.copies[l as usize]).collect();
        let mut spent = 0;
        let slope = slope(form, placement);
        let mut now = 0.0;
        for &l in jobs {
            for &e in form.channels_of_job(l as usize) {
                let e = e as usize;
                now += (form.v[e] + slope * form.w[e]) * f64::from(placement.uses[e]);
                placement.set(form, e, 0);
            }
            spent += form.channels_of_job(l as usize).len() as u64;
        }
        part.form.fill_part(form, placement, jobs, slope);
        spent = 10 * (spent + part.form.len() as u64);
        let better = part.search_part(now, work.saturating_sub(spent));
        spent += std::mem::take(&mut part.pricing.work);
        if better {
            for (&l, &copies) in jobs.iter().zip(&part.best_copies) {
                placement.copies[l as usize] = copies;
            }
            for (&e, &uses) in part.form.ids.iter().zip(&part.best) {
                placement.set(form, e as usize, uses);
            }
            spent += crate::solver::gang::improve::ruin::fill_touched(form, placement, 0, &mut self.scratch)
                * WORK_PER_VISIT;
        }
        let gains = better && placement.value() > before * (1.0 + LEAST_GAIN);
        if gains {
            placement.commit();
        } else {
            placement.undo(form, 0);
            jobs.iter().zip(&copies).for_each(|(&l, &copies)| placement.copies[l as usize] = copies);
        }
        self.part = Some(part);
        self.pricing.work += spent;
        gains
    }

    /// Searches for a decision worth more than `known` in the form at hand; whether there is one.
    fn search_part(&mut self, known: f64, work: u64) -> bool {
        self.best.clear();
        self.best.resize(self.form.len(), 0);
        self.best_copies.clear();
        self.best_copies.resize(self.form.jobs.len(), 0);
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
