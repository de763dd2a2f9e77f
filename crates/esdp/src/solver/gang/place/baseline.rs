//! Task-by-task placement, the baseline: it knows nothing of whole jobs until the end.

use crate::solver::gang::dual::descent::Stop;
use crate::solver::gang::problem::number::ChannelNo;
use crate::solver::gang::smooth::newton;
use crate::solver::gang::tuning::baseline::ROUNDS;
use crate::solver::gang::tuning::search::{LEAST_WORK, STEPS, WORK_PER_VISIT};
use crate::solver::gang::{Decomposition, default_budget};
use crate::solver::{Guarantee, Problem, Solution};

impl Decomposition {
    /// Places tasks one by one by what they add, drops jobs that are short of their minimum, and
    /// certifies with the dual's bound.
    pub fn solve_greedily(&mut self, problem: &Problem<'_>, solution: &mut Solution) {
        self.leave_none_out(problem);
        let is_open = self.begin(problem, u64::MAX);
        let mut bound = 0.0;
        if is_open {
            self.place_tasks();
            let budget = default_budget(self.form.len() as u64, LEAST_WORK) / WORK_PER_VISIT;
            self.price(budget, newton::cost(&self.form).is_some_and(|cost| cost <= budget / 4));
            let stop = Stop { steps: ROUNDS * STEPS, work: budget / 2, target: self.best_value };
            self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
            self.root.prices.clone_from(&self.descent.best.prices);
            bound = self.pricing.certify(&self.form, &self.limits, &mut self.root);
        }
        self.write(solution);
        solution.work = self.pricing.work.saturating_mul(WORK_PER_VISIT);
        solution.complete(problem, bound * self.form.scale, Guarantee::Bounded, "greedy");
    }

    pub(in crate::solver::gang) fn place_tasks(&mut self) {
        let Self { form, placement, by_worth, .. } = self;
        placement.reset(form);
        placement.copies.iter_mut().zip(&form.jobs).for_each(|(copies, job)| *copies = job.copies);
        by_worth.clear();
        by_worth.extend(form.all_channels());
        let alone = |e: ChannelNo| form.v[e] + form.w[e].sqrt();
        by_worth.sort_by(|&a, &b| alone(b).total_cmp(&alone(a)).then(a.cmp(&b)));
        for &e in &*by_worth {
            if placement.gain(form, e) > 0.0 {
                placement.set(form, e, placement.most_more(form, e));
            }
        }
        for l in form.jobs.numbers().filter(|&l| form.jobs[l].is_gang()) {
            let needed = form
                .groups_of_job(l)
                .map(|g| placement.group[g].div_ceil(u64::from(form.groups[g].count).max(1)));
            placement.copies[l] = needed.max().unwrap_or(0) as u32;
            // What a job cannot do without, though it gains nothing or little.
            for &e in form.channels_of_job(l) {
                if let Some(g) = form.group[e] {
                    placement.add(form, e, placement.missing_of_group(form, g));
                }
            }
            // Copies that are short give their tasks back.
            placement.cut_copies(form, l);
        }
        self.keep();
    }
}
