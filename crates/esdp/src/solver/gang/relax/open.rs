//! What limits leave open of a problem, laid out for the interior-point method.
//!
//! Rows that all open uses together cannot fill are left out, the others are scaled to a capacity of 1. A
//! group whose tasks cannot run out asks for no row either: its channels are then free of it.
//!
//! Open channels, groups, jobs and rows are plain places in the lists below; those of the form are numbers
//! (`number.rs`), so that the two are not mistaken for each other.

use super::cuts::{Cut, Cuts};
use super::job::{Job, Tasks};
use super::system::elimination;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByGroup, ChannelNo, GroupNo, Number, ServerNo};

/// A channel without a group that counts.
const FREE: u32 = u32::MAX;

/// The open channels, server after server, and the rows that tie them; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// The channel's position in the form.
    pub id: Vec<ChannelNo>,
    pub v: Vec<f64>,
    pub w: Vec<f64>,
    /// The most uses beyond the lower limit.
    pub high: Vec<f64>,
    /// The open group, or [`FREE`].
    group: Vec<u32>,
    pub servers: Vec<Server>,
    /// Server after server and row after row, the share of each channel; `Server::coefficient` is where they
    /// begin.
    coefficients: Vec<f64>,
    /// The server rows in all, and where each comes from.
    pub rows: usize,
    row_source: Vec<Source>,
    /// Cluster-wide rows, as positions in `Form::rows`.
    pub wide: Vec<usize>,
    /// Channel after channel, its share of each cluster-wide row that it needs, and where each channel's
    /// begin.
    pub wide_entries: Vec<(usize, f64)>,
    pub wide_start: Vec<usize>,
    /// The form's group behind each open one.
    pub groups: Vec<GroupNo>,
    /// What each of them has a copy.
    pub tasks: Vec<Tasks>,
    pub jobs: Vec<Job>,
    /// The job of each open group.
    pub job_of: Vec<usize>,
    /// The jobs' unknowns in all, and their rows: entries and constants.
    pub unknowns: usize,
    pub entries: Vec<f64>,
    pub constants: Vec<f64>,
    /// The channels of each job, by server; where each job's begin.
    pub of_job: Vec<usize>,
    pub of_job_start: Vec<usize>,
    /// The server of each channel.
    pub server_of: Vec<usize>,
    /// Channels of which a copy of a job can use no more than fits there: the channel, its job and that
    /// number.
    pub per_copy: Vec<PerCopy>,
    /// For each channel, its place there, or [`FREE`].
    per_copy_at: Vec<u32>,
    /// For each job, its place among those with such channels, if it has any; and how many these are.
    pub shared: Vec<Option<usize>>,
    pub shared_count: usize,
    /// The variances of what the lower limits take.
    pub variance: f64,
    group_place: ByGroup<u32>,
    needs: ByGroup<f64>,
}

/// Where a server row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// The room of a device, and how much of it there is.
    Device(usize, f64),
    /// A rounded row, and what is left of its capacity.
    Cut(usize, f64),
}

/// `uses <= most * copies`, for a channel of a job whose copies are open.
#[derive(Debug, Clone, Copy)]
pub(super) struct PerCopy {
    pub channel: usize,
    pub job: usize,
    /// The job's place among those with such rows.
    pub shared: usize,
    /// Its copies' place among the unknowns.
    pub copies: usize,
    pub most: f64,
}

/// A server with open channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Server {
    /// Its position in the form.
    pub id: ServerNo,
    pub first: usize,
    pub end: usize,
    /// Its first row and how many it has.
    pub row: usize,
    pub rows: usize,
    /// Where its channels' coefficients begin.
    pub coefficient: usize,
}

impl Server {
    pub fn channels(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }
}

impl Open {
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// The rows of a server: the shares of its channels in each.
    #[inline]
    pub fn rows(&self, server: &Server) -> std::slice::ChunksExact<'_, f64> {
        let channels = server.channels().len();
        self.coefficients[server.coefficient..][..server.rows * channels].chunks_exact(channels)
    }

    /// What a list by group has for a channel; 0 for one without a group.
    #[inline]
    pub fn of_group(&self, list: &[f64], channel: usize) -> f64 {
        list.get(self.group[channel] as usize).copied().unwrap_or(0.0)
    }

    /// The open group of a channel.
    #[inline]
    pub fn group(&self, channel: usize) -> Option<usize> {
        let group = self.group[channel];
        (group != FREE).then_some(group as usize)
    }

    /// The place of a channel in [`per_copy`](Open::per_copy).
    #[inline]
    pub fn per_copy_at(&self, channel: usize) -> Option<usize> {
        let place = self.per_copy_at[channel];
        (place != FREE).then_some(place as usize)
    }

    /// The cluster-wide rows of a channel and its share of each.
    #[inline]
    pub fn wide_of(&self, channel: usize) -> &[(usize, f64)] {
        &self.wide_entries[self.wide_start[channel]..self.wide_start[channel + 1]]
    }

    /// Where a server's rows come from.
    pub fn sources(&self, server: &Server) -> &[Source] {
        &self.row_source[server.row..][..server.rows]
    }

    /// The loads of the cluster-wide rows at some uses.
    pub fn wide_loads(&self, x: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.wide.len()];
        for (e, x) in x.iter().enumerate() {
            self.wide_of(e).iter().for_each(|&(row, share)| loads[row] += share * x);
        }
        loads
    }

    /// About what eliminating the servers costs, and what eliminating the jobs does, in multiplications.
    pub fn costs(&self, border: usize) -> (u64, u64) {
        let cube = |size: usize| (size as u64).pow(3) / 6;
        let mut by_servers = cube(self.groups.len() + border + self.shared_count);
        for server in &self.servers {
            let channels = server.channels().len();
            let columns = channels.min(self.groups.len()) + channels.min(self.shared_count) + border;
            by_servers += elimination(server.rows, columns);
        }
        let mut by_jobs = cube(self.rows + border);
        for (place, job) in self.jobs.iter().enumerate() {
            let channels = self.channels_of(place);
            let devices = if self.servers.is_empty() { 0 } else { self.rows.div_ceil(self.servers.len()) };
            // Several channels of a job may be on one server.
            let columns = (channels.len() * devices).min(self.rows) + border;
            by_jobs += elimination(job.groups().len(), columns);
        }
        let own: u64 = self.jobs.iter().map(|job| job.cost()).sum();
        (by_servers + own, by_jobs + own)
    }

    /// The channels of a job, by server.
    pub fn channels_of(&self, job: usize) -> &[usize] {
        &self.of_job[self.of_job_start[job]..self.of_job_start[job + 1]]
    }

    /// Takes over what limits leave open of a problem, of the channels that are wanted.
    pub fn fill(
        &mut self,
        form: &Form,
        limits: &Limits,
        cuts: &Cuts,
        elastic: bool,
        wanted: impl Fn(ChannelNo) -> bool,
    ) {
        self.fill_groups(form, limits, elastic, &wanted);
        self.fill_channels(form, limits, cuts, &wanted);
        self.fill_wide(form, limits);
        self.fill_jobs();
        self.fill_per_copy(form, limits);
        self.variance = form.w.iter().zip(&limits.low).map(|(w, &low)| w * f64::from(low)).sum();
    }

    /// Chooses the groups and jobs that tie open channels.
    fn fill_groups(
        &mut self,
        form: &Form,
        limits: &Limits,
        elastic: bool,
        wanted: &impl Fn(ChannelNo) -> bool,
    ) {
        self.needs.reset(form.groups.len(), 0.0);
        for e in form.all_channels() {
            let more = limits.high[e] - limits.low[e];
            if let Some(g) = form.group[e].filter(|_| more > 0 && wanted(e)) {
                self.needs[g] += f64::from(more);
            }
        }
        self.group_place.reset(form.groups.len(), FREE);
        self.groups.clear();
        self.jobs.clear();
        self.tasks.clear();
        self.entries.clear();
        self.constants.clear();
        self.unknowns = 0;
        for l in form.jobs.numbers() {
            Job::open(form, limits, (l, elastic), &self.needs, |job, groups| {
                let first = self.groups.len();
                for &g in groups {
                    self.group_place[g] = self.groups.len() as u32;
                    self.groups.push(g);
                    self.tasks.push(Tasks::of(&form.groups[g], limits.group_low[g]));
                }
                let (unknown, row, entry) = (self.unknowns, self.constants.len(), self.entries.len());
                let mut job = Job { first, end: self.groups.len(), unknown, row, entry, ..job };
                job.rows(&self.tasks[job.groups()], &mut self.entries, &mut self.constants);
                job.row_count = self.constants.len() - row;
                self.unknowns += job.unknowns();
                self.jobs.push(job);
            });
        }
    }

    fn fill_channels(
        &mut self,
        form: &Form,
        limits: &Limits,
        cuts: &Cuts,
        wanted: &impl Fn(ChannelNo) -> bool,
    ) {
        self.id.clear();
        self.group.clear();
        self.server_of.clear();
        for list in [&mut self.v, &mut self.w, &mut self.high, &mut self.coefficients] {
            list.clear();
        }
        self.servers.clear();
        self.row_source.clear();
        self.rows = 0;
        for server in form.all_servers() {
            let first = self.id.len();
            for e in form.channels(server).filter(|&e| limits.high[e] > limits.low[e] && wanted(e)) {
                self.id.push(e);
                self.v.push(form.v[e]);
                self.w.push(form.w[e]);
                self.high.push(f64::from(limits.high[e] - limits.low[e]));
                self.group.push(form.group[e].map_or(FREE, |g| self.group_place[g]));
                self.server_of.push(self.servers.len());
            }
            let end = self.id.len();
            if first == end {
                continue;
            }
            let room = &limits.room[form.devices_of(server)];
            let binds = |device: usize| {
                let need = |place: usize| form.request(self.id[place])[device] as f64 * self.high[place];
                (first..end).map(need).sum::<f64>() > room[device] as f64
            };
            let row = self.row_source.len();
            for device in (0..form.devices).filter(|&device| binds(device)) {
                self.row_source.push(Source::Device(device, room[device] as f64));
            }
            let at = |e: ChannelNo| e.place() - form.channels(server).first();
            for cut in cuts.of(server) {
                let Cut { entries, capacity, .. } = &cuts.list[cut];
                let low = form.channels(server).map(|e| f64::from(limits.low[e]));
                let taken: f64 = entries.iter().zip(low).map(|(entry, low)| entry * low).sum();
                let need = |place: usize| entries[at(self.id[place])] * self.high[place];
                let left = capacity - taken;
                // What was decided may leave less than a fraction: then the row is no help any more.
                if left > 0.5 && (first..end).map(need).sum::<f64>() > left {
                    self.row_source.push(Source::Cut(cut, left));
                }
            }
            let coefficient = self.coefficients.len();
            for source in &self.row_source[row..] {
                let channels = self.id[first..end].iter();
                match *source {
                    Source::Device(device, room) => {
                        self.coefficients.extend(channels.map(|&e| form.request(e)[device] as f64 / room))
                    }
                    Source::Cut(cut, left) => {
                        self.coefficients.extend(channels.map(|&e| cuts.list[cut].entries[at(e)] / left))
                    }
                }
            }
            self.rows = self.row_source.len();
            self.servers.push(Server { id: server, first, end, row, rows: self.rows - row, coefficient });
        }
    }

    fn fill_wide(&mut self, form: &Form, limits: &Limits) {
        self.wide.clear();
        for (place, row) in form.rows.iter().enumerate() {
            let need: f64 = self
                .id
                .iter()
                .zip(&self.high)
                .map(|(&e, high)| form.request(e)[row.device] as f64 * high)
                .sum();
            if need > limits.cluster[place] as f64 {
                self.wide.push(place);
            }
        }
        self.wide_entries.clear();
        self.wide_start.clear();
        self.wide_start.push(0);
        for &e in &self.id {
            let request = form.request(e);
            for (row, &place) in self.wide.iter().enumerate() {
                let a = request[form.rows[place].device];
                if a > 0 {
                    self.wide_entries.push((row, a as f64 / limits.cluster[place] as f64));
                }
            }
            self.wide_start.push(self.wide_entries.len());
        }
    }

    /// Lists the channels of each job, by server.
    fn fill_jobs(&mut self) {
        self.job_of.clear();
        self.job_of.resize(self.groups.len(), 0);
        for (place, job) in self.jobs.iter().enumerate() {
            self.job_of[job.groups()].fill(place);
        }
        let Self { group, job_of, of_job, of_job_start, .. } = self;
        let tied =
            || group.iter().enumerate().filter(|(_, g)| **g != FREE).map(|(e, &g)| (e, job_of[g as usize]));
        of_job_start.clear();
        of_job_start.resize(self.jobs.len() + 1, 0);
        tied().for_each(|(_, job)| of_job_start[job + 1] += 1);
        for place in 1..of_job_start.len() {
            of_job_start[place] += of_job_start[place - 1];
        }
        let mut next = of_job_start.clone();
        of_job.clear();
        of_job.resize(tied().count(), 0);
        for (e, job) in tied() {
            of_job[next[job]] = e;
            next[job] += 1;
        }
    }

    fn fill_per_copy(&mut self, form: &Form, limits: &Limits) {
        self.per_copy.clear();
        self.per_copy_at.clear();
        self.per_copy_at.resize(self.len(), FREE);
        self.shared.clear();
        self.shared.resize(self.jobs.len(), None);
        self.shared_count = 0;
        for e in 0..self.len() {
            let Some(g) = self.group(e) else { continue };
            let (id, job, count) = (self.id[e], self.job_of[g], form.groups[self.groups[g]].count);
            // Where all tasks of a copy fit, its group's row says as much.
            if self.jobs[job].copies.is_none() || limits.low[id] > 0 || limits.high[id] >= count {
                continue;
            }
            let shared = *self.shared[job].get_or_insert(self.shared_count);
            self.shared_count = self.shared_count.max(shared + 1);
            self.per_copy_at[e] = self.per_copy.len() as u32;
            let copies = self.jobs[job].unknown + self.jobs[job].unknowns() - 1;
            self.per_copy.push(PerCopy { channel: e, job, shared, copies, most: f64::from(limits.high[id]) });
        }
    }
}
