//! Improves a decision by regions: a few jobs are taken out, the others stay where they are, and the few are
//! decided on anew, with some that wait, as a problem of their own (`part.rs`).

use crate::solver::gang::Decomposition;
use crate::solver::gang::improve::sequence::Sequence;
use crate::solver::gang::problem::number::{ByJob, JobNo};
use crate::solver::gang::tuning::region::{LIKELY, PATIENCE, RUNNING, WAITING, WIDER, WIDEST, WORK};
use crate::solver::gang::tuning::search::CLOSE;

/// The search's buffers.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Region {
    jobs: Vec<JobNo>,
    free: ByJob<bool>,
    /// Jobs by what the relaxation of the whole problem runs of them.
    ranked: Vec<JobNo>,
    sequence: Sequence,
}

impl Region {
    /// The turns of the next problem do not depend on those of the last one.
    pub fn reset(&mut self) {
        self.sequence.reset();
    }

    fn next(&mut self, limit: usize) -> usize {
        self.sequence.next(limit as u64) as usize
    }
}

impl Decomposition {
    /// Takes turns until many of them in a row gain nothing, the bound is near, or the work is spent.
    pub(in crate::solver::gang) fn improve_regions(&mut self, bound: f64, work: u64) {
        let begin = self.pricing.work;
        let end = begin.saturating_add(work);
        self.take_up_best();
        self.rank_jobs();
        let mut idle = 0;
        while idle < PATIENCE && self.pricing.work < begin.saturating_add(self.worth_it(work, bound)) {
            let before = self.best_value;
            if bound - before <= CLOSE * bound || !self.choose_region(idle / WIDER % WIDEST) {
                return;
            }
            self.decide_region(end.saturating_sub(self.pricing.work));
            idle = if self.best_value > before * (1.0 + 1e-9) { 0 } else { idle + 1 };
        }
    }

    /// Ranks jobs by what the relaxation of the whole problem runs of them.
    fn rank_jobs(&mut self) {
        let Self { form, region: Region { ranked, .. }, root_share, .. } = self;
        ranked.clear();
        ranked.extend(form.jobs.numbers());
        ranked.sort_by(|&a, &b| root_share[b].total_cmp(&root_share[a]).then(a.cmp(&b)));
    }

    /// Chooses jobs: one, those that share its servers, and some that wait.
    fn choose_region(&mut self, more: usize) -> bool {
        let Self { form, region, best, builder, root_share, pricing, .. } = self;
        let jobs = form.jobs.len();
        if jobs == 0 {
            return false;
        }
        region.free.reset(jobs, false);
        // Jobs that run in the relaxation, if only in part, come first; most of the time only they count.
        let likely = region.ranked.partition_point(|&l| root_share[l] > LIKELY);
        let likely = (likely + WAITING + more).min(jobs);
        let among = if region.next(4) == 0 { jobs } else { likely };
        let place = region.next(among);
        let seed = region.ranked[place];
        region.free[seed] = true;
        let channels = builder.ranked(form, seed);
        let mut running = 0;
        let most = 2 + region.next(RUNNING - 1 + more);
        let spread = 1 + region.next(3);
        'found: for &e in channels.iter().step_by(spread).take(24 + 4 * more) {
            for other in form.channels(form.server[e]) {
                let job = form.job[other];
                if best[other] > 0 && !region.free[job] {
                    region.free[job] = true;
                    running += 1;
                    if running >= most {
                        break 'found;
                    }
                }
            }
        }
        let offset = region.next(among);
        let mut waiting = 0;
        for place in 0..jobs {
            let l = region.ranked[(offset + place) % jobs];
            if !region.free[l] && root_share[l] < 0.999 {
                region.free[l] = true;
                waiting += 1;
                if waiting >= WAITING + more {
                    break;
                }
            }
        }
        pricing.work += 4 * jobs as u64;
        region.jobs.clear();
        region.jobs.extend(form.jobs.numbers().filter(|&l| region.free[l]));
        true
    }

    /// Decides on the chosen jobs anew.
    fn decide_region(&mut self, work: u64) {
        let jobs = std::mem::take(&mut self.region.jobs);
        if self.decide_anew(&jobs, work.min(WORK)) {
            self.keep();
        }
        self.region.jobs = jobs;
    }
}
