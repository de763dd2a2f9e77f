//! What limits leave open of a problem, laid out for the interior-point method.
//!
//! Rows that all open uses together cannot fill are left out, the others are scaled to a capacity of 1. A
//! group whose tasks cannot run out asks for no row either: its channels are then free of it.

use super::cuts::{Cut, Cuts};
use super::job::{Job, Tasks};
use crate::solver::gang::problem::form::{Form, NO_GROUP};
use crate::solver::gang::problem::limits::Limits;

/// A channel without a group that counts.
pub(super) const FREE: u32 = u32::MAX;

/// The open channels, server after server, and the rows that tie them; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// The channel's position in the form.
    pub id: Vec<u32>,
    pub v: Vec<f64>,
    pub w: Vec<f64>,
    /// The most uses beyond the lower limit.
    pub high: Vec<f64>,
    /// The open group, or [`FREE`].
    pub group: Vec<u32>,
    pub servers: Vec<Server>,
    /// Channel after channel, its share of each of its server's rows; `Server::coefficient` is where they
    /// begin.
    pub coefficients: Vec<f64>,
    /// The server rows in all, and where each comes from.
    pub rows: usize,
    row_source: Vec<Source>,
    /// Cluster-wide rows, as positions in `Form::rows`.
    pub wide: Vec<u32>,
    /// Channel after channel, its share of each cluster-wide row that it needs, and where each channel's
    /// begin.
    pub wide_entries: Vec<(u32, f64)>,
    pub wide_start: Vec<u32>,
    /// The form's group behind each open one.
    pub groups: Vec<u32>,
    /// What each of them has a copy.
    pub tasks: Vec<Tasks>,
    pub jobs: Vec<Job>,
    /// The job of each open group.
    pub job_of: Vec<u32>,
    /// The jobs' unknowns in all, and their rows: entries and constants.
    pub unknowns: usize,
    pub entries: Vec<f64>,
    pub constants: Vec<f64>,
    /// The channels of each job, by server; where each job's begin.
    pub of_job: Vec<u32>,
    pub of_job_start: Vec<u32>,
    /// The server of each channel.
    pub server_of: Vec<u32>,
    /// Channels of which a copy of a job can use no more than fits there: the channel, its job and that
    /// number.
    pub per_copy: Vec<PerCopy>,
    /// For each channel, its place there, or [`FREE`].
    pub per_copy_at: Vec<u32>,
    /// For each job, its place among those with such channels, or [`FREE`]; and how many these are.
    pub shared: Vec<u32>,
    pub shared_count: usize,
    /// The widths of what the lower limits take.
    pub width: f64,
    group_place: Vec<u32>,
    needs: Vec<f64>,
}

/// Where a server row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// The room of a device, and how much of it there is.
    Device(u32, f64),
    /// A rounded row, and what is left of its capacity.
    Cut(u32, f64),
}

/// `uses <= most * copies`, for a channel of a job whose copies are open.
#[derive(Debug, Clone, Copy)]
pub(super) struct PerCopy {
    pub channel: u32,
    pub job: u32,
    pub most: f64,
}

/// A server with open channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Server {
    /// Its position in the form.
    pub id: u32,
    pub first: u32,
    pub end: u32,
    /// Its first row and how many it has.
    pub row: u32,
    pub rows: u32,
    /// Where its channels' coefficients begin.
    pub coefficient: u32,
}

impl Server {
    pub fn channels(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

impl Open {
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// The shares of a channel in its server's rows.
    #[inline]
    pub fn shares(&self, server: &Server, channel: usize) -> &[f64] {
        let rows = server.rows as usize;
        &self.coefficients[server.coefficient as usize + (channel - server.first as usize) * rows..][..rows]
    }

    /// The cluster-wide rows of a channel and its share of each.
    #[inline]
    pub fn wide_of(&self, channel: usize) -> &[(u32, f64)] {
        &self.wide_entries[self.wide_start[channel] as usize..self.wide_start[channel + 1] as usize]
    }

    /// Where a server's rows come from.
    pub fn sources(&self, server: &Server) -> &[Source] {
        &self.row_source[server.row as usize..][..server.rows as usize]
    }

    /// The number of a job's own rows.
    pub fn rows_of(&self, job: &Job) -> usize {
        self.constants_end(job) - job.row as usize
    }

    fn constants_end(&self, job: &Job) -> usize {
        let next = self.job_of[job.first as usize] as usize + 1;
        self.jobs.get(next).map_or(self.constants.len(), |next| next.row as usize)
    }

    /// About what eliminating the servers costs, and what eliminating the jobs does, in multiplications.
    pub fn costs(&self, border: usize) -> (u64, u64) {
        let cube = |size: usize| (size as u64).pow(3) / 6;
        let mut by_servers = cube(self.groups.len() + border + self.shared_count);
        for server in &self.servers {
            let channels = server.channels().len();
            let columns = (channels.min(self.groups.len()) + channels.min(self.shared_count) + border) as u64;
            by_servers += columns * columns * u64::from(server.rows) / 2;
        }
        let mut by_jobs = cube(self.rows + border);
        for (place, job) in self.jobs.iter().enumerate() {
            let channels = self.channels_of(place);
            let devices = if self.servers.is_empty() { 0 } else { self.rows.div_ceil(self.servers.len()) };
            let columns = (channels.len() * devices + border) as u64;
            by_jobs += columns * columns * job.groups().len() as u64 / 2;
        }
        (by_servers, by_jobs)
    }

    /// The channels of a job, by server.
    pub fn channels_of(&self, job: usize) -> &[u32] {
        &self.of_job[self.of_job_start[job] as usize..self.of_job_start[job + 1] as usize]
    }

    /// Takes over what limits leave open of a problem, of the channels that are wanted.
    pub fn fill(
        &mut self,
        form: &Form,
        limits: &Limits,
        cuts: &Cuts,
        elastic: bool,
        wanted: impl Fn(usize) -> bool,
    ) {
        self.fill_groups(form, limits, elastic, &wanted);
        self.fill_channels(form, limits, cuts, &wanted);
        self.fill_wide(form, limits);
        self.fill_jobs();
        self.fill_per_copy(form, limits);
        self.width = form.w.iter().zip(&limits.low).map(|(w, &low)| w * f64::from(low)).sum();
    }

    /// Chooses the groups and jobs that tie open channels.
    fn fill_groups(&mut self, form: &Form, limits: &Limits, elastic: bool, wanted: &impl Fn(usize) -> bool) {
        self.needs.clear();
        self.needs.resize(form.groups.len(), 0.0);
        for e in 0..form.len() {
            let more = limits.high[e] - limits.low[e];
            if more > 0 && form.group[e] != NO_GROUP && wanted(e) {
                self.needs[form.group[e] as usize] += f64::from(more);
            }
        }
        self.group_place.clear();
        self.group_place.resize(form.groups.len(), FREE);
        self.groups.clear();
        self.jobs.clear();
        self.tasks.clear();
        self.entries.clear();
        self.constants.clear();
        self.unknowns = 0;
        for l in 0..form.jobs.len() {
            Job::open(form, limits, (l, elastic), &self.needs, |job, groups| {
                let first = self.groups.len() as u32;
                for &g in groups {
                    self.group_place[g as usize] = self.groups.len() as u32;
                    self.groups.push(g);
                    self.tasks.push(Tasks::of(&form.groups[g as usize], limits.group_low[g as usize]));
                }
                let (unknown, row) = (self.unknowns as u32, self.constants.len() as u32);
                let end = self.groups.len() as u32;
                let job = Job { first, end, unknown, row, entry: self.entries.len() as u32, ..job };
                job.rows(&self.tasks[job.groups()], &mut self.entries, &mut self.constants);
                self.unknowns += job.unknowns();
                self.jobs.push(job);
            });
        }
    }

    fn fill_channels(&mut self, form: &Form, limits: &Limits, cuts: &Cuts, wanted: &impl Fn(usize) -> bool) {
        for list in [&mut self.id, &mut self.group, &mut self.server_of] {
            list.clear();
        }
        for list in [&mut self.v, &mut self.w, &mut self.high, &mut self.coefficients] {
            list.clear();
        }
        self.servers.clear();
        self.row_source.clear();
        self.rows = 0;
        for server in 0..form.servers() {
            let first = self.id.len();
            for e in form.channels(server).filter(|&e| limits.high[e] > limits.low[e] && wanted(e)) {
                self.id.push(e as u32);
                self.v.push(form.v[e]);
                self.w.push(form.w[e]);
                self.high.push(f64::from(limits.high[e] - limits.low[e]));
                let g = form.group[e];
                self.group.push(if g == NO_GROUP { FREE } else { self.group_place[g as usize] });
                self.server_of.push(self.servers.len() as u32);
            }
            let end = self.id.len();
            if first == end {
                continue;
            }
            let room = &limits.room[server * form.devices..][..form.devices];
            let binds = |device: usize| {
                let need =
                    |place: usize| form.request(self.id[place] as usize)[device] as f64 * self.high[place];
                (first..end).map(need).sum::<f64>() > room[device] as f64
            };
            let row = self.row_source.len();
            for device in (0..form.devices).filter(|&device| binds(device)) {
                self.row_source.push(Source::Device(device as u32, room[device] as f64));
            }
            let all = form.channels(server).start;
            for cut in cuts.of(server) {
                let Cut { entries, capacity, .. } = &cuts.list[cut];
                let taken: f64 =
                    form.channels(server).map(|e| entries[e - all] * f64::from(limits.low[e])).sum();
                let need = |place: usize| entries[self.id[place] as usize - all] * self.high[place];
                let left = capacity - taken;
                // What was decided may leave less than a fraction: then the row is no help any more.
                if left > 0.5 && (first..end).map(need).sum::<f64>() > left {
                    self.row_source.push(Source::Cut(cut as u32, left));
                }
            }
            let coefficient = self.coefficients.len() as u32;
            for place in first..end {
                let e = self.id[place] as usize;
                let request = form.request(e);
                self.coefficients.extend(self.row_source[row..].iter().map(|source| match *source {
                    Source::Device(device, room) => request[device as usize] as f64 / room,
                    Source::Cut(cut, left) => cuts.list[cut as usize].entries[e - all] / left,
                }));
            }
            let rows = (self.row_source.len() - row) as u32;
            let row = row as u32;
            self.rows = self.row_source.len();
            self.servers.push(Server {
                id: server as u32,
                first: first as u32,
                end: end as u32,
                row,
                rows,
                coefficient,
            });
        }
    }

    fn fill_wide(&mut self, form: &Form, limits: &Limits) {
        self.wide.clear();
        for (place, row) in form.rows.iter().enumerate() {
            let need: f64 = self
                .id
                .iter()
                .zip(&self.high)
                .map(|(&e, high)| form.request(e as usize)[row.device] as f64 * high)
                .sum();
            if need > limits.cluster[place] as f64 {
                self.wide.push(place as u32);
            }
        }
        self.wide_entries.clear();
        self.wide_start.clear();
        self.wide_start.push(0);
        for &e in &self.id {
            let request = form.request(e as usize);
            for (row, &place) in self.wide.iter().enumerate() {
                let a = request[form.rows[place as usize].device];
                if a > 0 {
                    self.wide_entries.push((row as u32, a as f64 / limits.cluster[place as usize] as f64));
                }
            }
            self.wide_start.push(self.wide_entries.len() as u32);
        }
    }

    /// Lists the channels of each job, by server.
    fn fill_jobs(&mut self) {
        self.job_of.clear();
        self.job_of.resize(self.groups.len(), 0);
        for (place, job) in self.jobs.iter().enumerate() {
            self.job_of[job.groups()].fill(place as u32);
        }
        self.of_job_start.clear();
        self.of_job_start.resize(self.jobs.len() + 1, 0);
        let grouped = || self.group.iter().enumerate().filter(|(_, g)| **g != FREE);
        for (_, &g) in grouped() {
            self.of_job_start[self.job_of[g as usize] as usize + 1] += 1;
        }
        for place in 1..self.of_job_start.len() {
            self.of_job_start[place] += self.of_job_start[place - 1];
        }
        let mut next = self.of_job_start.clone();
        self.of_job.clear();
        self.of_job.resize(grouped().count(), 0);
        for (place, &g) in grouped() {
            let at = &mut next[self.job_of[g as usize] as usize];
            self.of_job[*at as usize] = place as u32;
            *at += 1;
        }
    }

    fn fill_per_copy(&mut self, form: &Form, limits: &Limits) {
        self.per_copy.clear();
        self.per_copy_at.clear();
        self.per_copy_at.resize(self.len(), FREE);
        self.shared.clear();
        self.shared.resize(self.jobs.len(), FREE);
        self.shared_count = 0;
        for e in 0..self.len() {
            if self.group[e] == FREE {
                continue;
            }
            let id = self.id[e] as usize;
            let job = self.job_of[self.group[e] as usize];
            let count = form.groups[form.group[id] as usize].count;
            // Where all tasks of a copy fit, its group's row says as much.
            if self.jobs[job as usize].copies.is_none() || limits.low[id] > 0 || limits.high[id] >= count {
                continue;
            }
            if self.shared[job as usize] == FREE {
                self.shared[job as usize] = self.shared_count as u32;
                self.shared_count += 1;
            }
            self.per_copy_at[e] = self.per_copy.len() as u32;
            self.per_copy.push(PerCopy { channel: e as u32, job, most: f64::from(limits.high[id]) });
        }
    }
}
