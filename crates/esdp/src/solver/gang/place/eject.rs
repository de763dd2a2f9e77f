//! Makes room for a task by moving others: what one server is short of, another has.
//!
//! Tasks leave gaps that are too small for the next one: two servers with one free device each hold no task
//! that needs two. A task is placed on a server from which a few tasks of one other group can move to servers
//! with room for them. Of all such moves among the best channels, the one with the best objective is taken.
//!
//! Where moves do not suffice, jobs that are worth less go: a gang that lacks one task is worth nothing.

use crate::solver::gang::improve::polish::slope;
use crate::solver::gang::place::build::Builder;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ChannelNo, GroupNo, JobNo};
use crate::solver::gang::tuning::eject::{CHANNELS, EVICTED, MOVED};

impl Builder {
    /// Places one more task of a group of a running job, others moved if need be; whether it did. Looks at no
    /// more than so many channels that are left to look at.
    pub fn place_by_moving(
        &self,
        form: &Form,
        placement: &mut Placement,
        g: GroupNo,
        left: &mut u64,
    ) -> bool {
        let l = form.groups[g].job;
        let all = u64::from(form.groups[g].count) * u64::from(placement.copies[l]);
        if placement.group[g] >= all || *left == 0 {
            return false;
        }
        let mark = placement.mark();
        let mut best: Option<(f64, ChannelNo, ChannelNo)> = None;
        for &e in self.ranked_in_group(g).iter().take(CHANNELS) {
            for f in form.channels(form.server[e]) {
                *left = left.saturating_sub(1);
                if placement.uses[f] == 0 || form.group[f] == Some(g) {
                    continue;
                }
                if self.swap_in(form, placement, e, f, left)
                    && best.is_none_or(|(value, ..)| placement.value() > value)
                {
                    best = Some((placement.value(), e, f));
                }
                placement.undo_to(form, mark);
            }
        }
        let is_done = best.is_some_and(|(_, e, f)| self.swap_in(form, placement, e, f, left));
        if !is_done {
            placement.undo_to(form, mark);
        }
        is_done
    }

    /// Moves tasks of one channel away until another fits once; false, with some of it done, when that fails.
    fn swap_in(
        &self,
        form: &Form,
        placement: &mut Placement,
        e: ChannelNo,
        f: ChannelNo,
        left: &mut u64,
    ) -> bool {
        let mut moved = 0;
        while !placement.fits_more(form, e) {
            if moved >= MOVED || placement.uses[f] == 0 {
                return false;
            }
            placement.set(form, f, placement.uses[f] - 1);
            moved += 1;
        }
        placement.set(form, e, placement.uses[e] + 1);
        let others = form.group[f].map_or(&[][..], |g| self.ranked_in_group(g));
        for &other in others {
            if moved == 0 || *left == 0 {
                break;
            }
            *left -= 1;
            if form.server[other] != form.server[f] {
                let more = placement.most_more(form, other).min(moved);
                placement.set(form, other, placement.uses[other] + more);
                moved -= more;
            }
        }
        moved == 0
    }

    /// One more copy of a job that does not fit as things are, others moved; kept only if the objective
    /// rises.
    pub fn insert_by_moving(&self, form: &Form, placement: &mut Placement, l: JobNo, left: &mut u64) -> bool {
        let job = &form.jobs[l];
        if !job.is_gang() || placement.copies[l] >= job.copies {
            return false;
        }
        let (mark, before) = (placement.mark(), placement.value());
        placement.copies[l] += 1;
        self.complete_by_moving(form, placement, l, left);
        if placement.is_whole(form, l) && placement.value() > before {
            return true;
        }
        placement.copies[l] -= 1;
        placement.undo_to(form, mark);
        false
    }

    /// Brings a running job as close to its minima as it gets.
    pub fn complete_by_moving(&self, form: &Form, placement: &mut Placement, l: JobNo, left: &mut u64) {
        if placement.is_whole(form, l) {
            return;
        }
        *left = left.saturating_sub(form.channels_of_job(l).len() as u64);
        self.add_needed(form, placement, l);
        for g in form.groups_of_job(l) {
            while placement.missing_of_group(form, g) > 0 && self.place_by_moving(form, placement, g, left) {}
        }
        for g in form.groups_of_job(l) {
            while placement.missing(form, l) > 0 && self.place_by_moving(form, placement, g, left) {}
        }
    }

    /// Completes a job that stays short: copies of jobs that are worth less go, as long as each brings it
    /// closer. Nothing changes where that does not suffice, or they are worth more than it.
    pub fn complete_by_evicting(&self, form: &Form, placement: &mut Placement, l: JobNo, left: &mut u64) {
        let mark = placement.mark();
        let mut others: Vec<(f64, JobNo)> = Vec::new();
        for other in form.jobs.numbers() {
            if other != l && form.jobs[other].is_gang() && placement.copies[other] > 0 {
                let copies = f64::from(placement.copies[other]);
                others.push((worth(form, placement, other) / copies, other));
                *left = left.saturating_sub(form.channels_of_job(other).len() as u64 / 4);
            }
        }
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // What it will be worth: what is missing, as much as what is there.
        let needed = f64::from(form.jobs[l].minimum) * f64::from(placement.copies[l]);
        let placed = worth(form, placement, l);
        let own = placed * needed / (needed - placement.missing(form, l) as f64).max(1.0);
        let without = placement.value() - placed;
        let mut lost = 0.0;
        let mut gone: Vec<JobNo> = Vec::new();
        for &(worth, other) in others.iter().take(EVICTED) {
            if lost + worth >= own || *left == 0 {
                break;
            }
            let (before, missing) = (placement.mark(), lacks(form, placement, l));
            placement.copies[other] -= 1;
            placement.keep_copies(form, form.channels_of_job(other), 0, placement.copies[other]);
            self.complete_by_moving(form, placement, l, left);
            if lacks(form, placement, l) < missing {
                lost += worth;
                gone.push(other);
            } else {
                placement.undo_to(form, before);
                placement.copies[other] += 1;
            }
            if placement.is_whole(form, l) {
                break;
            }
        }
        if !placement.is_whole(form, l) || placement.value() < without {
            placement.undo_to(form, mark);
            gone.iter().for_each(|&other| placement.copies[other] += 1);
        }
    }
}

/// What a job's tasks are worth where they are.
pub(in crate::solver::gang) fn worth(form: &Form, placement: &Placement, l: JobNo) -> f64 {
    let slope = slope(form, placement);
    let worth = |&e: &ChannelNo| (form.v[e] + slope * form.w[e]) * f64::from(placement.uses[e]);
    form.channels_of_job(l).iter().map(worth).sum()
}

/// The tasks that a job lacks, of groups with a minimum of their own and in all.
fn lacks(form: &Form, placement: &Placement, l: JobNo) -> u64 {
    placement.missing(form, l)
        + form.groups_of_job(l).map(|g| placement.missing_of_group(form, g)).sum::<u64>()
}
