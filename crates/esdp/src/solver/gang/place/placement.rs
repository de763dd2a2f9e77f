//! A decision while it grows and shrinks: uses, what is left, and the sums.

use crate::model::Amount;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob, ChannelNo, GroupNo, JobNo, ServerNo};

/// Uses of every channel that keep every capacity and every group's number of tasks.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Placement {
    pub uses: ByChannel<u32>,
    /// Running copies and tasks of each job.
    pub copies: ByJob<u32>,
    pub tasks: ByJob<u64>,
    /// Tasks of each group.
    pub group: ByGroup<u64>,
    pub mean: f64,
    pub variance: f64,
    room: Vec<Amount>,
    cluster: Vec<Amount>,
    /// What was done since the last [`commit`](Placement::commit): a channel and its uses before.
    log: Vec<(ChannelNo, u32)>,
    sums: (f64, f64),
}

impl Placement {
    /// Nothing runs.
    pub fn reset(&mut self, form: &Form) {
        self.uses.reset(form.len(), 0);
        self.copies.clear();
        self.copies.extend(form.jobs.iter().map(|job| if job.is_gang() { 0 } else { job.copies }));
        self.tasks.reset(form.jobs.len(), 0);
        self.group.reset(form.groups.len(), 0);
        self.room.clone_from(&form.room);
        self.cluster.clear();
        self.cluster.extend(form.rows.iter().map(|row| row.capacity));
        (self.mean, self.variance) = (0.0, 0.0);
        self.commit();
    }

    /// Becomes a copy of a decision that is committed.
    pub fn copy_from(&mut self, other: &Self) {
        self.uses.clone_from(&other.uses);
        self.copies.clone_from(&other.copies);
        self.tasks.clone_from(&other.tasks);
        self.group.clone_from(&other.group);
        self.room.clone_from(&other.room);
        self.cluster.clone_from(&other.cluster);
        (self.mean, self.variance) = (other.mean, other.variance);
        self.commit();
    }

    /// The scaled objective.
    pub fn value(&self) -> f64 {
        Form::value(self.mean, self.variance)
    }

    /// What one more use of a channel adds to the objective.
    pub fn gain(&self, form: &Form, e: ChannelNo) -> f64 {
        let variance = self.variance.max(0.0);
        form.v[e] + (variance + form.w[e]).sqrt() - variance.sqrt()
    }

    /// What the last of so many more uses of a channel adds.
    pub fn last_gain(&self, form: &Form, e: ChannelNo, uses: u32) -> f64 {
        let variance = self.variance.max(0.0) + form.w[e] * f64::from(uses - 1);
        form.v[e] + (variance + form.w[e]).sqrt() - variance.sqrt()
    }

    /// What is left of a server.
    pub fn room(&self, form: &Form, server: ServerNo) -> &[Amount] {
        &self.room[form.devices_of(server)]
    }

    /// What is left of each cluster-wide row.
    pub fn cluster(&self) -> &[Amount] {
        &self.cluster
    }

    /// Whether the capacities allow one more use of a channel.
    pub fn fits_more(&self, form: &Form, e: ChannelNo) -> bool {
        let request = form.request(e);
        let room = &self.room[form.devices_of(form.server[e])];
        self.uses[e] < form.most[e]
            && request.iter().zip(room).all(|(a, room)| a <= room)
            && form.rows.iter().zip(&self.cluster).all(|(row, room)| request[row.device] <= *room)
    }

    /// How many more uses of a channel the capacities allow.
    pub fn fits(&self, form: &Form, e: ChannelNo) -> u32 {
        form.fits(e, &self.room, &self.cluster, u64::from(form.most[e] - self.uses[e])) as u32
    }

    /// How many more uses of a channel the capacities and its group allow.
    pub fn most_more(&self, form: &Form, e: ChannelNo) -> u32 {
        let mut most = u64::from(self.fits(form, e));
        if let Some(g) = form.group[e] {
            let all = u64::from(form.groups[g].count) * u64::from(self.copies[form.job[e]]);
            most = most.min(all.saturating_sub(self.group[g]));
        }
        most as u32
    }

    /// How many tasks of a group the running copies of its job lack.
    pub fn missing_of_group(&self, form: &Form, g: GroupNo) -> u64 {
        let group = &form.groups[g];
        (u64::from(group.minimum) * u64::from(self.copies[group.job])).saturating_sub(self.group[g])
    }

    /// How many tasks the running copies of a job lack, of whichever group.
    pub fn missing(&self, form: &Form, l: JobNo) -> u64 {
        (u64::from(form.jobs[l].minimum) * u64::from(self.copies[l])).saturating_sub(self.tasks[l])
    }

    /// How many tasks of a group its job can do without.
    pub fn spare(&self, form: &Form, g: GroupNo) -> u64 {
        let (group, l) = (&form.groups[g], form.groups[g].job);
        let copies = u64::from(self.copies[l]);
        let of_job = self.tasks[l].saturating_sub(u64::from(form.jobs[l].minimum) * copies);
        of_job.min(self.group[g].saturating_sub(u64::from(group.minimum) * copies))
    }

    /// Whether the running copies of a job have all that they need.
    pub fn is_whole(&self, form: &Form, l: JobNo) -> bool {
        self.missing(form, l) == 0 && form.groups_of_job(l).all(|g| self.missing_of_group(form, g) == 0)
    }

    /// The most copies of a job, of those that run, for which its tasks suffice if each group keeps no more
    /// than these copies have of it.
    pub fn whole_copies(&self, form: &Form, l: JobNo) -> u32 {
        let suffice = |copies: u32| {
            let (mut tasks, mut is_short) = (0, false);
            for g in form.groups_of_job(l) {
                let group = &form.groups[g];
                let own = self.group[g].min(u64::from(group.count) * u64::from(copies));
                tasks += own;
                is_short |= own < u64::from(group.minimum) * u64::from(copies);
            }
            !is_short && tasks >= u64::from(form.jobs[l].minimum) * u64::from(copies)
        };
        if suffice(self.copies[l]) {
            return self.copies[l];
        }
        // What runs is concave in the copies and 0 at none, so the numbers that suffice are the small ones.
        let (mut yes, mut no) = (0, self.copies[l]);
        while no - yes > 1 {
            let middle = yes + (no - yes) / 2;
            if suffice(middle) { yes = middle } else { no = middle }
        }
        yes
    }

    /// Leaves the copies of a job for which its tasks suffice.
    pub fn cut_copies(&mut self, form: &Form, l: JobNo) {
        let copies = self.whole_copies(form, l);
        if copies < self.copies[l] {
            self.copies[l] = copies;
            self.keep_copies(form, form.channels_of_job(l), 0, copies);
        }
    }

    /// Sets the uses of a channel; more than [`most_more`](Placement::most_more) would not fit.
    pub fn set(&mut self, form: &Form, e: ChannelNo, uses: u32) {
        let before = self.uses[e];
        if before == uses {
            return;
        }
        self.log.push((e, before));
        self.apply(form, e, uses);
    }

    /// Uses a channel so many times more, or as often as fits.
    pub fn add(&mut self, form: &Form, e: ChannelNo, more: u64) {
        if more > 0 {
            let more = more.min(u64::from(self.most_more(form, e))) as u32;
            self.set(form, e, self.uses[e] + more);
        }
    }

    fn apply(&mut self, form: &Form, e: ChannelNo, uses: u32) {
        let before = self.uses[e];
        self.uses[e] = uses;
        let change = f64::from(uses) - f64::from(before);
        self.mean += form.v[e] * change;
        self.variance += form.w[e] * change;
        let shift = |amount: &mut u64, a: u64| {
            *amount = amount
                .wrapping_add(a.wrapping_mul(u64::from(before)))
                .wrapping_sub(a.wrapping_mul(u64::from(uses)));
        };
        let request = form.request(e);
        let room = &mut self.room[form.devices_of(form.server[e])];
        room.iter_mut().zip(request).for_each(|(room, &a)| shift(room, a));
        self.cluster.iter_mut().zip(&form.rows).for_each(|(room, row)| shift(room, request[row.device]));
        let count = |sum: &mut u64| *sum = *sum + u64::from(uses) - u64::from(before);
        count(&mut self.tasks[form.job[e]]);
        if let Some(g) = form.group[e] {
            count(&mut self.group[g]);
        }
    }

    /// Keeps what was done.
    pub fn commit(&mut self) {
        self.log.clear();
        self.sums = (self.mean, self.variance);
    }

    /// A place to come back to.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes what was done since a mark, but keeps the sums' rounding; the copies are the caller's.
    pub fn undo_to(&mut self, form: &Form, mark: usize) {
        let sums = (self.log.len() == mark).then_some((self.mean, self.variance));
        self.undo(form, mark);
        if let Some(sums) = sums {
            (self.mean, self.variance) = sums;
        }
    }

    /// Undoes what was done since a mark; the copies are the caller's.
    pub fn undo(&mut self, form: &Form, mark: usize) {
        while self.log.len() > mark {
            if let Some((e, before)) = self.log.pop() {
                self.apply(form, e, before);
            }
        }
        if mark == 0 {
            // The very same sums, whatever was rounded on the way.
            (self.mean, self.variance) = self.sums;
        }
    }

    /// The channels whose uses were set since a mark.
    pub fn changed(&self, mark: usize) -> impl Iterator<Item = ChannelNo> {
        self.log[mark..].iter().map(|&(e, _)| e)
    }

    /// Leaves `copies` copies of a job, taking uses from a place of its channels on. Groups keep at
    /// least their share of the tasks, so the minima of the copies that are left hold if they held.
    pub fn keep_copies(&mut self, form: &Form, channels: &[ChannelNo], from: usize, copies: u32) {
        for &e in channels[from..].iter().chain(&channels[..from]) {
            let Some(g) = form.group[e] else { continue };
            self.copies[form.job[e]] = copies;
            let over = self.group[g].saturating_sub(u64::from(form.groups[g].count) * u64::from(copies));
            let uses = self.uses[e];
            if over > 0 && uses > 0 {
                self.set(form, e, uses - u64::from(uses).min(over) as u32);
            }
        }
    }
}
