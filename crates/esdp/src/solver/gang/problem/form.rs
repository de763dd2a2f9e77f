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

/// The group of a channel that is limited by nothing but its own number of uses.
pub(in crate::solver::gang) const NO_GROUP: u32 = u32::MAX;

/// The channels, servers, groups and jobs that matter, in buffers reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Form {
    /// The objective's unit.
    pub scale: f64,
    /// Whether no number is so small beside the largest that sums of them say nothing of it.
    pub even: bool,
    /// Whether every kept width is zero.
    pub linear: bool,
    /// The number of devices.
    pub devices: usize,
    /// The positions of the kept channels in the problem, server after server.
    pub ids: Vec<u32>,
    /// Scaled means and widths.
    pub v: Vec<f64>,
    pub w: Vec<f64>,
    /// The most uses of each channel.
    pub most: Vec<u32>,
    /// Channel after channel, the request on each device.
    pub requests: Vec<Amount>,
    /// The group, job and server of each channel.
    pub group: Vec<u32>,
    pub job: Vec<u32>,
    pub server: Vec<u32>,
    /// Where each server's channels begin; one more entry than servers.
    pub start: Vec<u32>,
    /// Server after server, its capacity.
    pub room: Vec<Amount>,
    /// The devices whose cluster-wide capacity can bind, what it is, and the mean request.
    pub rows: Vec<Row>,
    pub groups: Vec<GroupForm>,
    pub jobs: Vec<JobForm>,
    /// The channels of each job, job after job, and where each job's begin.
    pub of_job: Vec<u32>,
    pub job_start: Vec<u32>,
    /// A buffer of [`fill`](Form::fill).
    pub(in crate::solver::gang) order: Vec<(u32, u32)>,
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
    pub job: u32,
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
    /// The job's groups.
    pub first_group: u32,
    pub end_group: u32,
}

impl GroupForm {
    /// Whether running copies of its job must have some of these tasks.
    pub fn is_needed(&self) -> bool {
        self.minimum > 0
    }
}

impl JobForm {
    /// Whether tasks of this job depend on each other.
    pub fn is_gang(&self) -> bool {
        self.minimum > 0
    }
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

    /// A server's channels.
    pub fn channels(&self, server: usize) -> std::ops::Range<usize> {
        self.start[server] as usize..self.start[server + 1] as usize
    }

    /// A job's channels.
    pub fn channels_of_job(&self, job: usize) -> &[u32] {
        &self.of_job[self.job_start[job] as usize..self.job_start[job + 1] as usize]
    }

    /// A job's groups.
    pub fn groups_of_job(&self, job: usize) -> std::ops::Range<usize> {
        self.jobs[job].first_group as usize..self.jobs[job].end_group as usize
    }

    /// How many uses of a channel fit into what is left of the servers and of the cluster's rows, at most so
    /// many.
    pub fn fits(&self, channel: usize, servers: &[Amount], rows: &[Amount], at_most: u64) -> u64 {
        let request = self.request(channel);
        let server = &servers[self.server[channel] as usize * self.devices..];
        let fits =
            |most: u64, (a, room): (Amount, Amount)| room.checked_div(a).map_or(most, |uses| most.min(uses));
        let on_server = request.iter().copied().zip(server.iter().copied()).fold(at_most, fits);
        self.rows.iter().map(|row| request[row.device]).zip(rows.iter().copied()).fold(on_server, fits)
    }

    /// A channel's request.
    pub fn request(&self, channel: usize) -> &[Amount] {
        &self.requests[channel * self.devices..][..self.devices]
    }

    /// The scaled objective at sums of scaled means and widths.
    pub fn value(mean: f64, width: f64) -> f64 {
        mean + width.max(0.0).sqrt()
    }
}
