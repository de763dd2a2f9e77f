//! The same relaxation by steps of first order, for problems too large for the linear systems of
//! `interior.rs`.
//!
//! Uses and copies on one side and prices on the other meet at a saddle point, and each side goes a little
//! way along its slope in turn: the primal-dual hybrid gradient method (Chambolle and Pock). A step passes
//! once over the channels, however many servers and jobs they are of. Steps are as long as each row and each
//! unknown allows by itself (Pock and Chambolle). A round of steps ends at the average of its points, where
//! the next one starts; how far each side went sets how long its steps are beside the other's (as in PDLP).
//!
//! A round passes over the channels that are in use at its start, or nearly (`lay_out.rs`).

mod lay_out;

use super::bound::Multipliers;
use super::units;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob, ChannelNo, GroupNo, JobNo, Number};
use crate::solver::gang::tuning::saddle::FIRST_WEIGHT;

/// A point on the way; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Saddle {
    /// Uses of each channel.
    pub uses: ByChannel<f64>,
    /// The channels of a round, server after server, where each server's begin, and their shares of its
    /// devices and of the cluster-wide rows.
    channels: Vec<Channel>,
    ids: Vec<ChannelNo>,
    start: Vec<usize>,
    shares: Vec<f32>,
    /// Server after server, its devices.
    servers: Vec<Place>,
    wide: Vec<Place>,
    groups: ByGroup<Group>,
    tasks: ByGroup<Tasks>,
    jobs: ByJob<Job>,
    lambda: f64,
    /// How long steps of uses are beside those of prices.
    weight: f64,
    /// A server's prices, and what its uses take; what all take of the cluster-wide rows.
    prices: Vec<f32>,
    load: Vec<f32>,
    wide_load: Vec<f64>,
    pub work: u64,
}

/// How a round goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    pub steps: usize,
    /// Channels come in that cost at most this share more than they are worth.
    pub near: f64,
    /// Channels are worth more by up to this share, so that few are equally good and uses are nearly whole.
    pub noise: f64,
}

/// An unknown or the price of a row: where it is, the sum of where it was, where the round began, and how far
/// it goes for each unit of its slope.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    at: f64,
    sum: f64,
    from: f64,
    step: f64,
}

/// The prices of a row that is at most 0, and of one that is 0.
const AT_MOST: (f64, f64) = (0.0, f64::INFINITY);
const EQUAL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Place {
    /// Begins a round, with the sum of all coefficients that it has.
    fn begin(&mut self, coefficients: f64) {
        (self.sum, self.from) = (0.0, self.at);
        self.step = if coefficients > 0.0 { 1.0 / coefficients } else { 0.0 };
    }

    #[inline]
    fn go(&mut self, by: f64, (low, high): (f64, f64)) {
        self.at = (self.at + self.step * by).max(low).min(high);
        self.sum += self.at;
    }

    /// Ends at the average; how far that is from the beginning, squared, for the length of its steps.
    fn end(&mut self, steps: usize) -> f64 {
        if self.step == 0.0 {
            return 0.0;
        }
        self.at = self.sum / steps as f64;
        let far = self.at - self.from;
        far * far / self.step
    }
}

/// A channel of a round. Steps take as long as it takes to read and write these, and need not be exact.
#[derive(Debug, Clone, Copy)]
struct Channel {
    group: GroupNo,
    v: f32,
    w: f32,
    low: f32,
    high: f32,
    step: f32,
    uses: f32,
    sum: f32,
}

/// What a channel's step reads and writes of its group: what a task costs, and how many there are.
#[derive(Debug, Clone, Copy, Default)]
struct Tasks {
    price: f32,
    sum: f32,
}

/// A group's rows: its tasks are at most those of the running copies, and at least what these need. Copies
/// are a share of all copies here, so that rows are of the size 1.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// The tasks of all copies, and how many of them are needed.
    all: f64,
    needed: f64,
    most: Place,
    least: Place,
}

impl Group {
    /// Whether all tasks are needed: the two rows are one.
    fn is_tied(&self) -> bool {
        self.needed == self.all
    }

    fn has_least(&self) -> bool {
        self.needed > 0.0 && !self.is_tied()
    }
}

/// The share of a job's copies that runs, and its row: its tasks are at least so many, for all copies; 0
/// where its groups say as much.
#[derive(Debug, Clone, Copy, Default)]
struct Job {
    copies: Place,
    range: (f64, f64),
    minimum: f64,
    least: Place,
}

impl Saddle {
    /// What a round on all channels costs, in units of work.
    pub fn cost(form: &Form, steps: usize) -> u64 {
        units(steps as u64 * form.len() as u64 * per_channel(form)) + 20 * form.len() as u64
    }

    /// Starts anew, from nothing.
    pub fn reset(&mut self, form: &Form) {
        self.weight = FIRST_WEIGHT;
        self.uses.reset(form.len(), 0.0);
        self.servers.clear();
        self.servers.resize(form.room.len(), Place::default());
        self.wide.clear();
        self.wide.resize(form.rows.len(), Place::default());
        // One more group, of the channels that have none.
        self.groups.reset(form.groups.len() + 1, Group { all: f64::INFINITY, ..Group::default() });
        self.tasks.reset(form.groups.len() + 1, Tasks::default());
        self.jobs.reset(form.jobs.len(), Job::default());
        for (l, job) in form.jobs.numbered() {
            let copies = f64::from(job.copies.max(1));
            let groups = &form.groups[form.groups_of_job(l)];
            let all: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
            for (g, group) in form.groups_of_job(l).zip(groups) {
                let others = all - u64::from(group.count);
                let needed = u64::from(job.minimum).saturating_sub(others).max(u64::from(group.minimum));
                let own = &mut self.groups[g];
                (own.all, own.needed) = (f64::from(group.count.max(1)) * copies, needed as f64 * copies);
            }
            let own = &self.groups[form.groups_of_job(l)];
            let is_said = own.len() < 2 || own.iter().all(Group::is_tied);
            self.jobs[l].minimum = if is_said { 0.0 } else { f64::from(job.minimum) * copies };
        }
        let mean = form.w.iter().sum::<f64>() / form.len().max(1) as f64;
        self.lambda = slope(form, mean * form.jobs.len() as f64);
    }

    /// A round within limits, from where the last one ended.
    pub fn round(&mut self, form: &Form, limits: &Limits, round: Round) {
        self.lay_out(form, limits, round);
        for _ in 0..round.steps {
            self.step(form);
        }
        let parts = self.channels.len() as u64 * per_channel(form);
        let others = 16 * (self.groups.len() + self.servers.len()) as u64;
        self.work += units(round.steps as u64 * (parts + others)) + 20 * form.len() as u64;
        let (mut uses, mut prices, mut variance) = (0.0, 0.0, 0.0);
        for (channel, &e) in self.channels.iter().zip(&self.ids) {
            let average = f64::from(channel.sum) / round.steps as f64;
            let far = average - self.uses[e];
            uses += far * far * self.weight / f64::from(channel.step);
            self.uses[e] = average;
            variance += form.w[e] * average;
        }
        self.servers.iter_mut().chain(&mut self.wide).for_each(|row| prices += row.end(round.steps));
        for group in self.groups.iter_mut() {
            prices += group.most.end(round.steps) + group.least.end(round.steps);
        }
        for job in self.jobs.iter_mut() {
            uses += job.copies.end(round.steps);
            prices += job.least.end(round.steps);
        }
        self.price_tasks(form);
        self.lambda = slope(form, variance);
        // With noise, the way is that of another problem.
        if uses > 0.0 && prices > 0.0 && round.noise == 0.0 {
            self.weight = (self.weight * (uses / prices).sqrt()).sqrt();
        }
    }

    /// One step of both sides: prices see where uses and copies would be one step ahead.
    fn step(&mut self, form: &Form) {
        let width = form.devices + form.rows.len();
        let (weight, lambda) = (self.weight, self.lambda as f32);
        self.tasks.iter_mut().for_each(|tasks| tasks.sum = 0.0);
        self.wide_load.clear();
        self.wide_load.resize(form.rows.len(), 0.0);
        let mut variance = 0.0;
        for server in form.all_servers() {
            let rows = &mut self.servers[form.devices_of(server)];
            let own = self.start[server.place()]..self.start[server.place() + 1];
            self.prices.clear();
            self.prices.extend(rows.iter().chain(&self.wide).map(|row| row.at as f32));
            self.load.clear();
            self.load.resize(width, 0.0);
            let shares = self.shares[own.start * width..own.end * width].chunks_exact(width.max(1));
            for (channel, shares) in self.channels[own].iter_mut().zip(shares) {
                let tasks = &mut self.tasks[channel.group];
                let cost: f32 = shares.iter().zip(&self.prices).map(|(share, price)| share * price).sum();
                let slope = channel.v + lambda * channel.w - cost - tasks.price;
                let before = channel.uses;
                channel.uses = (before + channel.step * slope).max(channel.low).min(channel.high);
                channel.sum += channel.uses;
                let ahead = 2.0 * channel.uses - before;
                tasks.sum += ahead;
                variance += f64::from(channel.w * channel.uses);
                self.load.iter_mut().zip(shares).for_each(|(load, share)| *load += share * ahead);
            }
            let (load, wide) = self.load.split_at(form.devices);
            for (row, &load) in rows.iter_mut().zip(load) {
                row.go((f64::from(load) - 1.0) / weight, AT_MOST);
            }
            self.wide_load.iter_mut().zip(wide).for_each(|(sum, &load)| *sum += f64::from(load));
        }
        for (row, load) in self.wide.iter_mut().zip(&self.wide_load) {
            row.go((load - 1.0) / weight, AT_MOST);
        }
        self.lambda = slope(form, variance);
        for l in form.jobs.numbers() {
            let job = &mut self.jobs[l];
            let groups = &mut self.groups[form.groups_of_job(l)];
            let slope = groups.iter().map(|group| group.most.at - group.least.at).sum::<f64>() - job.least.at;
            let before = job.copies.at;
            job.copies.go(weight * slope, job.range);
            let ahead = 2.0 * job.copies.at - before;
            let tasks = self.tasks[form.groups_of_job(l)].iter().map(|tasks| f64::from(tasks.sum));
            if job.minimum > 0.0 {
                job.least.go((ahead - tasks.clone().sum::<f64>() / job.minimum) / weight, AT_MOST);
            }
            for (group, tasks) in groups.iter_mut().zip(tasks) {
                let range = if group.is_tied() { EQUAL } else { AT_MOST };
                group.most.go((tasks / group.all - ahead) / weight, range);
                if group.has_least() {
                    group.least.go((ahead - tasks / group.needed) / weight, AT_MOST);
                }
            }
        }
        self.price_tasks(form);
    }

    /// What a task of each group costs.
    fn price_tasks(&mut self, form: &Form) {
        for l in form.jobs.numbers() {
            let job = &self.jobs[l];
            let of_job = if job.minimum > 0.0 { job.least.at / job.minimum } else { 0.0 };
            let tasks = &mut self.tasks[form.groups_of_job(l)];
            for (tasks, group) in tasks.iter_mut().zip(&self.groups[form.groups_of_job(l)]) {
                let of_group = if group.has_least() { group.least.at / group.needed } else { 0.0 };
                tasks.price = (group.most.at / group.all - of_group - of_job) as f32;
            }
        }
    }

    /// The prices where the last round ended.
    pub fn write(&self, form: &Form, to: &mut Multipliers) {
        let price = |row: &Place, room: u64| if row.at > 0.0 { row.at / room as f64 } else { 0.0 };
        to.forget_cuts();
        to.server.clear();
        to.server.extend(self.servers.iter().zip(&form.room).map(|(row, &room)| price(row, room)));
        to.wide.clear();
        to.wide.extend(self.wide.iter().zip(&form.rows).map(|(row, of)| price(row, of.capacity)));
        to.lambda = self.lambda;
        to.task.clear();
        to.task.extend(self.tasks.iter().take(form.groups.len()).map(|tasks| f64::from(tasks.price)));
    }

    /// The copies of a job where the last round ended.
    pub fn copies(&self, form: &Form, l: JobNo) -> f64 {
        self.jobs[l].copies.at * f64::from(form.jobs[l].copies)
    }
}

/// What a unit of variance adds beside so much of it.
fn slope(form: &Form, variance: f64) -> f64 {
    if form.linear { 0.0 } else { 0.5 / variance.max(1e-18).sqrt() }
}

/// The multiplications of a channel's step.
fn per_channel(form: &Form) -> u64 {
    2 * (form.devices + form.rows.len()) as u64 + 12
}
