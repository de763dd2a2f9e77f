//! A problem with servers or gangs, made small and even: channels in the order of their servers,
//! everything scaled to about 1.
//!
//! - A channel that never fits is dropped; so is one that gains nothing, unless it may be needed
//!   to bring a job to its minimum; so is one that costs more than all channels together can gain.
//! - A job with a minimum of 0 or 1, and none of its groups, asks for nothing: each of its tasks runs or
//!   does not. It is held as one whose copies all run, with a minimum of 0.
//! - A cluster-wide row that all channels together cannot fill is dropped.
//! - Without per-server capacities every channel is a server of its own.

use crate::model::Amount;
use crate::solver::gang::problem::number::{
    ByChannel, ByGroup, ByJob, ChannelNo, GroupNo, JobNo, Number, Numbers, ServerNo,
};
use crate::solver::gang::tuning::form::FEW_AMOUNTS;
use crate::solver::gang::tuning::relaxed::FEW_TASKS;
use std::ops::Range;

/// The channels, servers, groups and jobs that matter, in buffers reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Form {
    /// The objective's unit.
    pub scale: f64,
    /// Whether no number is so small beside the largest that sums of them say nothing of it.
    pub even: bool,
    /// Whether every kept variance is zero.
    pub linear: bool,
    /// The number of devices.
    pub devices: usize,
    /// The positions of the kept channels in the problem, server after server.
    pub ids: ByChannel<u32>,
    /// Scaled means and variances.
    pub v: ByChannel<f64>,
    pub w: ByChannel<f64>,
    /// The most uses of each channel.
    pub most: ByChannel<u32>,
    /// Channel after channel, the request on each device.
    pub requests: Vec<Amount>,
    /// The job and server of each channel, and its group; none where nothing but its own number of uses
    /// limits it.
    pub job: ByChannel<JobNo>,
    pub server: ByChannel<ServerNo>,
    pub(in crate::solver::gang) group: ByChannel<Option<GroupNo>>,
    /// Where each server's channels begin; one more entry than servers.
    pub start: Vec<usize>,
    /// Server after server, its capacity.
    pub room: Vec<Amount>,
    /// The devices whose cluster-wide capacity can bind, what it is, and the mean request.
    pub rows: Vec<Row>,
    pub groups: ByGroup<GroupForm>,
    pub jobs: ByJob<JobForm>,
    /// The channels of each job, job after job, and where each job's begin.
    pub of_job: Vec<ChannelNo>,
    pub(super) job_start: Vec<usize>,
    /// Buffers of [`fill`](Form::fill): channels of the problem by server, and where its groups went.
    pub(super) order: Vec<(u32, u32)>,
    pub(super) place_of_group: Vec<GroupNo>,
}

/// A cluster-wide capacity that can bind.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Row {
    pub device: usize,
    pub capacity: Amount,
    /// The mean request, which makes a price per task of a price per device.
    pub unit: f64,
}

/// A group of identical tasks.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct GroupForm {
    pub job: JobNo,
    pub count: u32,
    /// What each running copy of the job needs of these tasks.
    pub minimum: u32,
}

/// A job.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct JobForm {
    /// At least what its groups need together; 0 where tasks do not depend on each other.
    pub minimum: u32,
    pub copies: u32,
    /// Its groups are consecutive: the first, and how many.
    pub first_group: GroupNo,
    pub groups: usize,
}

impl GroupForm {
    /// Whether running copies of its job must have some of these tasks.
    pub fn is_needed(&self) -> bool {
        self.minimum > 0
    }
}

impl JobForm {
    fn groups(&self) -> Numbers<GroupNo> {
        let first = self.first_group.place();
        Numbers::from(first..first + self.groups)
    }

    /// Whether tasks of this job depend on each other.
    pub fn is_gang(&self) -> bool {
        self.minimum > 0
    }
}

/// How much longer than usual it takes to look at so many amounts: a few take hardly longer than one.
pub(in crate::solver::gang) fn effort(amounts: usize) -> u64 {
    amounts.div_ceil(FEW_AMOUNTS).max(1) as u64
}

impl Form {
    /// The number of kept channels.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of servers with a kept channel.
    pub fn servers(&self) -> usize {
        self.start.len() - 1
    }

    pub fn all_channels(&self) -> Numbers<ChannelNo> {
        self.ids.numbers()
    }

    pub fn all_servers(&self) -> Numbers<ServerNo> {
        Numbers::from(0..self.servers())
    }

    /// A server's channels.
    pub fn channels(&self, server: ServerNo) -> Numbers<ChannelNo> {
        Numbers::from(self.start[server.place()]..self.start[server.place() + 1])
    }

    /// How much longer than usual it takes to look at a request.
    pub fn effort(&self) -> u64 {
        effort(self.devices)
    }

    /// A job's channels.
    pub fn channels_of_job(&self, job: JobNo) -> &[ChannelNo] {
        &self.of_job[self.places_of_job(job)]
    }

    /// Where a job's channels are in a list of all, job after job.
    pub fn places_of_job(&self, job: JobNo) -> Range<usize> {
        self.job_start[job.place()]..self.job_start[job.place() + 1]
    }

    /// A job's groups.
    pub fn groups_of_job(&self, job: JobNo) -> Numbers<GroupNo> {
        self.jobs[job].groups()
    }

    /// Where a server's devices are in a list of all, server after server.
    pub fn devices_of(&self, server: ServerNo) -> Range<usize> {
        let first = server.place() * self.devices;
        first..first + self.devices
    }

    /// How many uses of a channel fit into what is left of the servers and of the cluster's rows, at most so
    /// many.
    pub fn fits(&self, channel: ChannelNo, servers: &[Amount], rows: &[Amount], at_most: u64) -> u64 {
        let request = self.request(channel);
        let server = &servers[self.devices_of(self.server[channel])];
        let fits =
            |most: u64, (a, room): (Amount, Amount)| room.checked_div(a).map_or(most, |uses| most.min(uses));
        let on_server = request.iter().copied().zip(server.iter().copied()).fold(at_most, fits);
        self.rows.iter().map(|row| request[row.device]).zip(rows.iter().copied()).fold(on_server, fits)
    }

    /// Whether a server holds so few tasks that the relaxation says little of it.
    pub fn has_small_servers(&self) -> bool {
        let held = |e: ChannelNo| self.fits(e, &self.room, &[], u64::from(u32::MAX)) as f64;
        self.all_channels().map(held).sum::<f64>() <= FEW_TASKS * self.len() as f64
    }

    /// A channel's request.
    pub fn request(&self, channel: ChannelNo) -> &[Amount] {
        &self.requests[channel.place() * self.devices..][..self.devices]
    }

    /// The scaled objective at sums of scaled means and variances.
    pub fn value(mean: f64, variance: f64) -> f64 {
        mean + variance.max(0.0).sqrt()
    }
}
