//! Decisions: built from the relaxation, improved, and the best one kept.

use crate::solver::gang::Decomposition;
use crate::solver::gang::improve::ruin;
use crate::solver::gang::problem::number::{GroupNo, JobNo};
use crate::solver::gang::tuning::search::{LARGE, SCORED};

impl Decomposition {
    /// Searches around the last decision built.
    pub(in crate::solver::gang) fn improve(&mut self, turns: usize, work: u64) {
        let jobs = self.form.jobs.len();
        if !self.has_gangs() {
            return;
        }
        self.polish(work / 2);
        let Self { form, pricing, builder, placement, ruin, polish, .. } = self;
        let stop = ruin::Stop { turns: turns * jobs, patience: 2 + turns * jobs / 4, work };
        pricing.work += ruin.run(form, builder, (polish, &mut pricing.knapsack), placement, stop);
        self.keep();
        self.polish(work / 2);
    }

    fn has_gangs(&self) -> bool {
        self.form.jobs.iter().any(|job| job.is_gang())
    }

    /// Improves the last decision built, server by server.
    pub(in crate::solver::gang) fn polish(&mut self, work: u64) {
        if self.form.len() > LARGE || !self.has_gangs() {
            return;
        }
        let Self { form, pricing, placement, polish, .. } = self;
        pricing.work += polish.run(form, &mut pricing.knapsack, placement, work);
        self.keep();
    }

    /// Builds a decision from the averages and keeps it if it is the best, within about so many visits or a
    /// few for each channel.
    pub(in crate::solver::gang) fn candidate(&mut self, work: u64) {
        // The same decision for all small budgets: more work must not give less.
        self.score(work.max(SCORED * self.form.len().min(LARGE) as u64));
        self.builder.rank(&self.form, &self.descent.copies);
        self.builder.build(&self.form, &mut self.placement);
        self.pricing.work += 4 * self.form.len() as u64;
        self.keep();
        if self.has_gangs() {
            let value = self.placement.value();
            std::mem::swap(&mut self.placement, &mut self.rival);
            self.place_by_server();
            if value > self.placement.value() {
                std::mem::swap(&mut self.placement, &mut self.rival);
            }
            self.keep();
            self.polish(self.form.len() as u64 * 100);
        }
    }

    /// Keeps the last decision if it is the best and all gangs in it are whole: one that a search left short
    /// of tasks is none.
    pub(in crate::solver::gang) fn keep(&mut self) {
        let Self { form, placement, .. } = &*self;
        let has_tasks = |g: GroupNo, l: JobNo| {
            placement.group[g] <= u64::from(form.groups[g].count) * u64::from(placement.copies[l])
        };
        let is_whole = |l: JobNo| {
            !form.jobs[l].is_gang()
                || placement.is_whole(form, l) && form.groups_of_job(l).all(|g| has_tasks(g, l))
        };
        if placement.value() > self.best_value && form.jobs.numbers().all(is_whole) {
            self.best_value = self.placement.value();
            self.best.clone_from(&self.placement.uses);
            self.best_copies.clone_from(&self.placement.copies);
        }
    }
}
