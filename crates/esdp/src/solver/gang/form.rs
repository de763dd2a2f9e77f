//! A problem with servers or gangs, made small and even: channels in the order of their servers,
//! everything scaled to about 1.
//!
//! - A channel that never fits is dropped; so is one that gains nothing, unless it may be needed
//!   to bring a job to its minimum.
//! - A job with a minimum of 0 or 1 asks for nothing: each of its tasks runs or does not. It is
//!   held as one whose copies all run, with a minimum of 0.
//! - A cluster-wide row that all channels together cannot fill is dropped.
//! - Without per-server capacities every channel is a server of its own.

use crate::model::Amount;
use crate::solver::Problem;

/// The group of a channel that is limited by nothing but its own number of uses.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// The channels, servers, groups and jobs that matter, in buffers reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    /// The objective's unit.
    pub scale: f64,
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
    order: Vec<(u32, u32)>,
}

/// A cluster-wide capacity that can bind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub device: usize,
    pub capacity: Amount,
    /// The mean request, which makes a price per task of a price per device.
    pub unit: f64,
}

/// A group of identical tasks.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupForm {
    pub job: u32,
    pub count: u32,
}

/// A job.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobForm {
    /// At least 2, or 0.
    pub minimum: u32,
    pub copies: u32,
    /// The job's groups.
    pub first_group: u32,
    pub end_group: u32,
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

    /// A channel's request.
    pub fn request(&self, channel: usize) -> &[Amount] {
        &self.requests[channel * self.devices..][..self.devices]
    }

    /// The scaled objective at sums of scaled means and widths.
    pub fn value(mean: f64, width: f64) -> f64 {
        mean + width.max(0.0).sqrt()
    }

    /// Takes over a problem.
    pub fn fill(&mut self, problem: &Problem<'_>) {
        self.devices = problem.devices();
        self.fill_jobs(problem);
        self.choose(problem);
        self.fill_channels(problem);
        self.fill_rows(problem);
    }

    fn fill_jobs(&mut self, problem: &Problem<'_>) {
        self.groups.clear();
        self.jobs.clear();
        let Some(gangs) = problem.gangs() else {
            self.jobs.push(JobForm { minimum: 0, copies: 1, first_group: 0, end_group: 0 });
            return;
        };
        // Groups in the order of their jobs; `order` keeps where each went.
        self.order.clear();
        self.order.extend(gangs.groups.iter().enumerate().map(|(position, group)| (group.job, position as u32)));
        self.order.sort_unstable();
        self.jobs.extend(gangs.jobs.iter().map(|job| JobForm {
            minimum: if job.minimum > 1 { job.minimum } else { 0 },
            copies: job.copies,
            first_group: 0,
            end_group: 0,
        }));
        for (place, &(job, position)) in self.order.iter().enumerate() {
            let group = gangs.groups[position as usize];
            self.groups.push(GroupForm { job, count: group.count });
            let job = &mut self.jobs[job as usize];
            if job.end_group == 0 {
                job.first_group = place as u32;
            }
            job.end_group = place as u32 + 1;
        }
    }

    /// Chooses the channels that can matter, by server.
    fn choose(&mut self, problem: &Problem<'_>) {
        let (mean, width) = (problem.mean(), problem.width());
        let needed = |channel: usize| {
            problem
                .gangs()
                .is_some_and(|gangs| gangs.jobs[gangs.groups[gangs.group[channel] as usize].job as usize].minimum > 1)
        };
        // The place of each group; `order` is about to be used for channels.
        self.job_start.clear();
        self.job_start.resize(self.groups.len(), 0);
        if problem.gangs().is_some() {
            for (place, &(_, position)) in self.order.iter().enumerate() {
                self.job_start[position as usize] = place as u32;
            }
        }
        self.order.clear();
        for channel in 0..problem.len() {
            let gains = mean[channel] + width[channel].sqrt() > 0.0;
            if (gains || needed(channel)) && problem.most(channel) > 0 {
                let server = problem.servers().map_or(channel as u32, |servers| servers.of[channel]);
                self.order.push((server, channel as u32));
            }
        }
        self.order.sort_unstable();
    }

    fn fill_channels(&mut self, problem: &Problem<'_>) {
        let (mean, width) = (problem.mean(), problem.width());
        let Self { ids, v, w, most, requests, group, job, server, start, room, of_job, order, .. } = self;
        for list in [&mut *ids, most, group, job, server, start, of_job] {
            list.clear();
        }
        requests.clear();
        room.clear();
        self.scale = 0.0;
        self.linear = true;
        let mut last = None;
        for &(at, channel) in order.iter() {
            let position = channel as usize;
            if last != Some(at) {
                last = Some(at);
                start.push(ids.len() as u32);
                match problem.servers() {
                    Some(servers) => room.extend_from_slice(servers.row(at, problem.devices())),
                    None => room.extend(std::iter::repeat_n(Amount::MAX, problem.devices())),
                }
            }
            self.scale = self.scale.max(mean[position].abs()).max(width[position].sqrt());
            self.linear &= width[position] == 0.0;
            ids.push(channel);
            most.push(u32::try_from(problem.most(position)).unwrap_or(u32::MAX));
            requests.extend_from_slice(problem.request(position));
            server.push(start.len() as u32 - 1);
            let place = problem.gangs().map_or(NO_GROUP, |gangs| self.job_start[gangs.group[position] as usize]);
            group.push(place);
            job.push(self.groups.get(place as usize).map_or(0, |group| group.job));
        }
        start.push(ids.len() as u32);
        if self.scale <= 0.0 {
            self.scale = 1.0;
        }
        v.clear();
        w.clear();
        // What is left of a gain beside a vast mean must not vanish: rounded up, it is still worth placing, and the
        // bound still holds.
        let rounded = |from: f64, scaled: f64| if from > 0.0 { scaled.max(f64::MIN_POSITIVE) } else { scaled };
        v.extend(ids.iter().map(|&id| mean[id as usize]).map(|mean| rounded(mean, mean / self.scale)));
        // Twice divided: the square of the scale may overflow where the quotient does not.
        let twice = |width: f64| rounded(width, width / self.scale / self.scale);
        w.extend(ids.iter().map(|&id| twice(width[id as usize])));
        // Channels by job: count, then place.
        self.job_start.clear();
        self.job_start.resize(self.jobs.len() + 1, 0);
        job.iter().for_each(|&job| self.job_start[job as usize + 1] += 1);
        for place in 1..self.job_start.len() {
            self.job_start[place] += self.job_start[place - 1];
        }
        of_job.resize(ids.len(), 0);
        for channel in (0..ids.len()).rev() {
            let end = &mut self.job_start[job[channel] as usize + 1];
            *end -= 1;
            of_job[*end as usize] = channel as u32;
        }
        // Every end has moved to its begin: shift them back.
        self.job_start.remove(0);
        self.job_start.push(ids.len() as u32);
    }

    fn fill_rows(&mut self, problem: &Problem<'_>) {
        self.rows.clear();
        for (device, &capacity) in problem.capacity().iter().enumerate() {
            let uses = |e: usize| u128::from(self.requests[e * self.devices + device]);
            let total: u128 = (0..self.len()).map(|e| uses(e) * u128::from(self.most[e])).sum();
            if total > u128::from(capacity) {
                let unit = (0..self.len()).map(|e| uses(e) as f64).sum::<f64>() / self.len() as f64;
                self.rows.push(Row { device, capacity, unit });
            }
        }
    }
}
