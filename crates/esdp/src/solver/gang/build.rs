//! Builds decisions guided by the relaxation: whole jobs first, by what the relaxation gives
//! them, then single tasks where room is left.

use super::form::Form;
use super::placement::Placement;

/// Orders in which jobs and their channels are tried; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Builder {
    /// Job after job, its channels by falling score, where `Form::job_start` says.
    pub ranked: Vec<u32>,
    /// Jobs by falling score.
    pub jobs: Vec<u32>,
    pub score: Vec<f64>,
}

impl Builder {
    /// Ranks channels and jobs: by the relaxation's share first, then by value.
    pub fn rank(&mut self, form: &Form, uses: &[f64], copies: &[f64], lambda: f64) {
        self.score.clear();
        self.score.extend((0..form.len()).map(|e| {
            let value = form.v[e] + lambda * form.w[e];
            4.0 * (uses[e] / f64::from(form.most[e])).min(1.0) + value
        }));
        self.ranked.clone_from(&form.of_job);
        let score = &self.score;
        for l in 0..form.jobs.len() {
            let range = form.job_start[l] as usize..form.job_start[l + 1] as usize;
            self.ranked[range]
                .sort_unstable_by(|&a, &b| score[b as usize].total_cmp(&score[a as usize]).then(a.cmp(&b)));
        }
        self.jobs.clear();
        self.jobs.extend(0..form.jobs.len() as u32);
        let share = |l: u32| copies[l as usize] / f64::from(form.jobs[l as usize].copies.max(1));
        self.jobs.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    }

    /// Builds a decision from nothing.
    pub fn build(&self, form: &Form, placement: &mut Placement) {
        placement.reset(form);
        for &l in &self.jobs {
            while self.insert(form, placement, l as usize, 0) {}
        }
        self.fill(form, placement);
        placement.commit();
    }

    /// One more copy of a job, if it fits and raises the objective. A `salt` other than 0 passes over
    /// some of its better channels at first.
    pub fn insert(&self, form: &Form, placement: &mut Placement, l: usize, salt: u64) -> bool {
        let job = &form.jobs[l];
        if !job.is_gang() || placement.copies[l] >= job.copies {
            return false;
        }
        let (mark, before) = (placement.mark(), placement.value());
        placement.copies[l] += 1;
        let need = u64::from(job.minimum) * u64::from(placement.copies[l]);
        let channels = &self.ranked[form.job_start[l] as usize..form.job_start[l + 1] as usize];
        for &e in channels {
            let e = e as usize;
            let passed = salt != 0 && (e as u64 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 < 2;
            if !passed && placement.gain(form, e) > 0.0 {
                let more = placement.most_more(form, e);
                placement.set(form, e, placement.uses[e] + more);
            }
        }
        for &e in channels {
            let missing = need.saturating_sub(placement.tasks[l]);
            if missing == 0 {
                break;
            }
            let e = e as usize;
            let more = u64::from(placement.most_more(form, e)).min(missing) as u32;
            placement.set(form, e, placement.uses[e] + more);
        }
        if placement.tasks[l] >= need && placement.value() > before {
            return true;
        }
        placement.copies[l] -= 1;
        placement.undo(form, mark);
        false
    }

    /// Single tasks of running jobs, wherever one fits and raises the objective.
    pub fn fill(&self, form: &Form, placement: &mut Placement) {
        for &l in &self.jobs {
            let l = l as usize;
            if placement.copies[l] == 0 {
                continue;
            }
            for &e in &self.ranked[form.job_start[l] as usize..form.job_start[l + 1] as usize] {
                let e = e as usize;
                if placement.gain(form, e) > 0.0 {
                    let more = placement.most_more(form, e);
                    placement.set(form, e, placement.uses[e] + more);
                }
            }
        }
    }
}
