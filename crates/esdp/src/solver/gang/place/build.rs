//! Builds decisions guided by the relaxation: whole jobs first, by what the relaxation gives
//! them, then single tasks where room is left.

use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ByJob, ChannelNo, GroupNo, JobNo, Number};
use crate::solver::gang::tuning::build::{DEAREST, ONE_BY_ONE};

/// Orders in which jobs and their channels are tried; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Builder {
    /// Job after job, its channels by falling score.
    ranked: Vec<ChannelNo>,
    /// Group after group, its channels by falling score; where each group's begin, one more entry than
    /// groups.
    in_group: Vec<ChannelNo>,
    group_start: Vec<usize>,
    /// Jobs by falling score.
    pub jobs: Vec<JobNo>,
    pub score: ByChannel<f64>,
}

impl Builder {
    /// Ranks jobs by the share of their copies in the relaxation, and channels by `score`: what a use
    /// falls short of the server's best ones by, at the relaxation's prices.
    pub fn rank(&mut self, form: &Form, copies: &ByJob<f64>) {
        self.ranked.clone_from(&form.of_job);
        let score = &self.score;
        for l in form.jobs.numbers() {
            self.ranked[form.places_of_job(l)]
                .sort_unstable_by(|&a, &b| score[b].total_cmp(&score[a]).then(a.cmp(&b)));
        }
        self.rank_in_groups(form);
        self.jobs.clear();
        self.jobs.extend(form.jobs.numbers());
        let share = |l: JobNo| copies[l] / f64::from(form.jobs[l].copies.max(1));
        self.jobs.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    }

    /// Lists the ranked channels by group: counts, then places.
    fn rank_in_groups(&mut self, form: &Form) {
        let Self { ranked, in_group, group_start, .. } = self;
        group_start.clear();
        group_start.resize(form.groups.len() + 1, 0);
        let tied = || ranked.iter().filter_map(|&e| Some((e, form.group[e]?.place())));
        tied().for_each(|(_, g)| group_start[g] += 1);
        let mut end = 0;
        for start in group_start.iter_mut() {
            end += *start;
            *start = end;
        }
        in_group.clear();
        in_group.resize(end, ChannelNo::default());
        for (e, g) in tied().rev() {
            group_start[g] -= 1;
            in_group[group_start[g]] = e;
        }
    }

    /// The channels of a group by falling score.
    pub fn ranked_in_group(&self, g: GroupNo) -> &[ChannelNo] {
        &self.in_group[self.group_start[g.place()]..self.group_start[g.place() + 1]]
    }

    /// The channels of a job by falling score.
    pub fn ranked(&self, form: &Form, l: JobNo) -> &[ChannelNo] {
        &self.ranked[form.places_of_job(l)]
    }

    /// Builds a decision from nothing.
    pub fn build(&self, form: &Form, placement: &mut Placement) {
        placement.reset(form);
        for &l in &self.jobs {
            self.insert_all(form, placement, l, 0);
        }
        self.fill(form, placement);
        placement.commit();
    }

    /// More copies of a job as long as they fit and raise the objective, of very many a part at a time. A
    /// `salt` other than 0 passes over some of its better channels at first. How often it tried.
    pub fn insert_all(&self, form: &Form, placement: &mut Placement, l: JobNo, salt: u64) -> u64 {
        let (mut tries, mut more) = (0, 1);
        loop {
            tries += 1;
            if self.insert(form, placement, l, salt, more) {
                more *= if tries > ONE_BY_ONE { 2 } else { 1 };
            } else if more == 1 {
                return tries;
            } else {
                more /= 4;
            }
            more = more.min(form.jobs[l].copies - placement.copies[l]).max(1);
        }
    }

    /// More copies of a job, if all of them fit and raise the objective.
    fn insert(&self, form: &Form, placement: &mut Placement, l: JobNo, salt: u64, more: u32) -> bool {
        let job = &form.jobs[l];
        if !job.is_gang() || placement.copies[l] >= job.copies {
            return false;
        }
        let (mark, before) = (placement.mark(), placement.value());
        placement.copies[l] += more;
        self.add_needed_by_groups(form, placement, l);
        let channels = self.ranked(form, l);
        let mut open: u64 = form
            .groups_of_job(l)
            .map(|g| u64::from(form.groups[g].count) * u64::from(placement.copies[l]) - placement.group[g])
            .sum();
        for &e in channels {
            if open == 0 || self.score[e] < -DEAREST {
                break;
            }
            let passed = salt != 0 && (e.place() as u64 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 < 2;
            if !passed && placement.gain(form, e) > 0.0 {
                let more = placement.most_more(form, e);
                placement.set(form, e, placement.uses[e] + more);
                open -= u64::from(more);
            }
        }
        self.add_needed(form, placement, l);
        if placement.is_whole(form, l) && placement.value() > before {
            return true;
        }
        placement.copies[l] -= more;
        placement.undo(form, mark);
        false
    }

    /// Tasks that the running copies of a job lack of groups with a minimum of their own, as far as they fit.
    fn add_needed_by_groups(&self, form: &Form, placement: &mut Placement, l: JobNo) {
        for g in form.groups_of_job(l).filter(|&g| form.groups[g].is_needed()) {
            for &e in self.ranked_in_group(g) {
                let missing = placement.missing_of_group(form, g);
                if missing == 0 {
                    break;
                }
                placement.add(form, e, missing);
            }
        }
    }

    /// Tasks that the running copies of a job lack, as far as they fit.
    pub fn add_needed(&self, form: &Form, placement: &mut Placement, l: JobNo) {
        self.add_needed_by_groups(form, placement, l);
        for &e in self.ranked(form, l) {
            let missing = placement.missing(form, l);
            if missing == 0 {
                return;
            }
            placement.add(form, e, missing);
        }
    }

    /// Brings a running job to its minima, or cuts its copies to those that reach them.
    pub fn complete(&self, form: &Form, placement: &mut Placement, l: JobNo) {
        self.add_needed(form, placement, l);
        placement.cut_copies(form, l);
    }

    /// Single tasks of running jobs, wherever one fits and raises the objective.
    pub fn fill(&self, form: &Form, placement: &mut Placement) {
        for &l in &self.jobs {
            if placement.copies[l] == 0 {
                continue;
            }
            for &e in self.ranked(form, l) {
                if placement.gain(form, e) > 0.0 {
                    let more = placement.most_more(form, e);
                    placement.set(form, e, placement.uses[e] + more);
                }
            }
        }
    }
}
