//! Decisions that are lost in the rounding of vast numbers, and what is done about it.
//!
//! Everything is scaled by the largest number, and bounds that are closer to a value than rounding can tell
//! are met. A gang of vast means that cannot be placed sets the scale all the same: beside it, what does run
//! may be worth less than the rounding. Such a decision is not called optimal. Gangs that cannot run are
//! looked for, one at a time; without them the problem is solved again. A decision worth 1e-4 of the largest
//! number or more is never in doubt.

use crate::solver::Problem;
use crate::solver::gang::Decomposition;
use crate::solver::gang::problem::number::ByJob;
use crate::solver::gang::tuning::doubt::{DOUBTFUL, VAST};

impl Decomposition {
    /// Begins with all jobs.
    pub(in crate::solver::gang) fn leave_none_out(&mut self, problem: &Problem<'_>) {
        self.left_out.reset(problem.gangs().map_or(0, |gangs| gangs.jobs.len()), false);
    }

    /// Whether rounding may hide a better decision than the best.
    pub(in crate::solver::gang) fn is_in_doubt(&self) -> bool {
        if self.best_value > 0.0 { self.tolerance() > DOUBTFUL * self.best_value } else { !self.form.even }
    }

    /// Leaves out the gangs with vast numbers that cannot run; whether there are any. Takes about as much
    /// work as the budget again; the form is another one afterwards.
    pub(in crate::solver::gang) fn leave_out_idle(&mut self, problem: &Problem<'_>, budget: u64) -> bool {
        let mut asked = ByJob::from(vec![false; self.form.jobs.len()]);
        for (e, &job) in self.form.job.numbered() {
            let is_vast = self.form.v[e].abs() >= VAST || self.form.w[e].sqrt() >= VAST;
            asked[job] |= is_vast && self.form.jobs[job].is_gang();
        }
        let mut known = self.left_out.clone();
        let mut found = false;
        for job in known.numbers() {
            if asked[job] {
                self.left_out.fill(true);
                self.left_out[job] = false;
                known[job] = !self.can_run(problem, budget / known.len() as u64);
                found |= known[job];
            }
        }
        self.left_out = known;
        found
    }

    /// Whether what is not left out can run: if a task is worth 1, whether anything is worth more than 0.
    /// Yes, if the work does not suffice to tell.
    fn can_run(&mut self, problem: &Problem<'_>, budget: u64) -> bool {
        if !self.begin(problem, budget) {
            return false;
        }
        self.form.v.fill(1.0);
        self.form.w.fill(0.0);
        self.form.linear = true;
        self.search(budget) > 0.5
    }
}
