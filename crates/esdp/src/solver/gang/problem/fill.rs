//! Makes the [`Form`] of a problem.

use crate::model::Amount;
use crate::solver::Problem;
use crate::solver::gang::problem::form::{Form, GroupForm, JobForm, Row};
use crate::solver::gang::problem::number::{ByJob, ChannelNo, GroupNo, JobNo, Number, ServerNo};
use crate::solver::gang::tuning::fill::{LEAST_EVEN, ROUNDED_UP};

impl Form {
    /// Takes over a problem without the jobs that are left out.
    pub fn fill(&mut self, problem: &Problem<'_>, left_out: &ByJob<bool>) {
        self.devices = problem.devices();
        self.fill_jobs(problem);
        self.choose(problem, left_out);
        self.drop_outweighed(problem);
        self.fill_channels(problem);
        self.fill_rows(problem);
        self.limit_copies();
    }

    fn fill_jobs(&mut self, problem: &Problem<'_>) {
        self.groups.clear();
        self.jobs.clear();
        self.place_of_group.clear();
        let Some(gangs) = problem.gangs() else {
            self.jobs.push(JobForm { minimum: 0, copies: 1, first_group: GroupNo::default(), groups: 0 });
            return;
        };
        self.jobs.extend(gangs.jobs.iter().map(|job| JobForm {
            minimum: if job.minimum > 1 { job.minimum } else { 0 },
            copies: job.copies,
            first_group: GroupNo::default(),
            groups: 0,
        }));
        // Groups in the order of their jobs.
        self.order.clear();
        self.order.extend((0..).zip(gangs.groups).map(|(position, group)| (group.job, position)));
        self.order.sort_unstable();
        self.place_of_group.resize(gangs.groups.len(), GroupNo::default());
        for (place, &(job, position)) in self.order.iter().enumerate() {
            let group = gangs.groups[position as usize];
            let (own, job) = (GroupNo::at(place), JobNo::at(job as usize));
            self.place_of_group[position as usize] = own;
            self.groups.push(GroupForm { job, count: group.count, minimum: group.minimum });
            let job = &mut self.jobs[job];
            if job.groups == 0 {
                job.first_group = own;
            }
            job.groups += 1;
        }
        for l in self.jobs.numbers() {
            // So many tasks that the sum saturates are more than there are.
            let groups = &self.groups[self.groups_of_job(l)];
            let needed = groups.iter().fold(0u32, |sum, group| sum.saturating_add(group.minimum));
            self.jobs[l].minimum = self.jobs[l].minimum.max(needed);
        }
    }

    /// Chooses the channels that can matter, by server.
    fn choose(&mut self, problem: &Problem<'_>, left_out: &ByJob<bool>) {
        let (mean, variance) = (problem.mean(), problem.width());
        self.order.clear();
        for channel in 0..problem.len() {
            let gains = mean[channel] + variance[channel].sqrt() > 0.0;
            let job = self.group_in(problem, channel).map(|group| self.groups[group].job);
            let (needed, stays) = job.map_or((false, true), |job| (self.jobs[job].is_gang(), !left_out[job]));
            if (gains || needed) && stays && problem.most(channel) > 0 {
                let server = problem.servers().map_or(channel as u32, |servers| servers.of[channel]);
                self.order.push((server, channel as u32));
            }
        }
        self.order.sort_unstable();
    }

    /// The group of a channel of the problem.
    fn group_in(&self, problem: &Problem<'_>, channel: usize) -> Option<GroupNo> {
        problem.gangs().map(|gangs| self.place_of_group[gangs.group[channel] as usize])
    }

    /// Drops channels that cost more than all channels together can gain: without them a decision is
    /// better, if only because doing nothing is.
    fn drop_outweighed(&mut self, problem: &Problem<'_>) {
        let (mean, variance) = (problem.mean(), problem.width());
        loop {
            let (mut gains, mut variances, mut lowest) = (0.0, 0.0, 0.0f64);
            for &(_, channel) in &self.order {
                let channel = channel as usize;
                let most = problem.most(channel) as f64;
                gains += most * mean[channel].max(0.0);
                variances += most * variance[channel];
                lowest = lowest.min(mean[channel]);
            }
            let gains = (gains + f64::sqrt(variances)) * ROUNDED_UP;
            if lowest + gains > 0.0 || self.order.is_empty() {
                return;
            }
            // What is dropped may have had a variance: without it, others may be outweighed too.
            self.order.retain(|&(_, channel)| mean[channel as usize] + gains > 0.0);
        }
    }

    fn fill_channels(&mut self, problem: &Problem<'_>) {
        let (mean, variance) = (problem.mean(), problem.width());
        self.clear_channels();
        self.scale = 0.0;
        self.linear = true;
        let mut last = None;
        for place in 0..self.order.len() {
            let (at, channel) = self.order[place];
            let position = channel as usize;
            if last != Some(at) {
                last = Some(at);
                self.start.push(self.ids.len());
                match problem.servers() {
                    Some(servers) => self.room.extend_from_slice(servers.row(at, problem.devices())),
                    None => self.room.extend(std::iter::repeat_n(Amount::MAX, problem.devices())),
                }
            }
            self.scale = self.scale.max(mean[position].abs()).max(variance[position].sqrt());
            self.linear &= variance[position] == 0.0;
            self.ids.push(channel);
            self.most.push(u32::try_from(problem.most(position)).unwrap_or(u32::MAX));
            self.requests.extend_from_slice(problem.request(position));
            self.server.push(ServerNo::at(self.start.len() - 1));
            let group = self.group_in(problem, position);
            self.group.push(group);
            self.job.push(group.map_or(JobNo::default(), |group| self.groups[group].job));
        }
        self.start.push(self.ids.len());
        if self.scale <= 0.0 {
            self.scale = 1.0;
        }
        // A gain that would vanish beside a vast mean is rounded up: it is still placed if the vast one is
        // not, and the bound still holds.
        let rounded =
            |from: f64, scaled: f64| if from > 0.0 { scaled.max(f64::MIN_POSITIVE) } else { scaled };
        let matters = |part: f64| part == 0.0 || part >= LEAST_EVEN * self.scale;
        self.even = true;
        for &id in &self.ids {
            let (mean, variance) = (mean[id as usize], variance[id as usize]);
            self.v.push(rounded(mean, mean / self.scale));
            // Twice divided: the square of the scale may overflow where the quotient does not.
            self.w.push(rounded(variance, variance / self.scale / self.scale));
            self.even &= matters(mean.abs()) && matters(variance.sqrt());
        }
        self.list_by_job();
    }

    /// Forgets all channels.
    pub(in crate::solver::gang) fn clear_channels(&mut self) {
        for list in [&mut self.ids, &mut self.most] {
            list.clear();
        }
        for list in [&mut self.v, &mut self.w] {
            list.clear();
        }
        for list in [&mut self.requests, &mut self.room] {
            list.clear();
        }
        self.group.clear();
        self.job.clear();
        self.server.clear();
        self.start.clear();
    }

    /// Lists the channels of each job: counts, then places.
    pub(in crate::solver::gang) fn list_by_job(&mut self) {
        let Self { job, job_start, of_job, .. } = self;
        job_start.clear();
        job_start.resize(self.jobs.len() + 1, 0);
        job.iter().for_each(|job| job_start[job.place() + 1] += 1);
        for place in 1..job_start.len() {
            job_start[place] += job_start[place - 1];
        }
        of_job.clear();
        of_job.resize(job.len(), ChannelNo::default());
        for channel in job.numbers().rev() {
            let end = &mut job_start[job[channel].place() + 1];
            *end -= 1;
            of_job[*end] = channel;
        }
        // Every end has moved to its begin: shift them back.
        job_start.remove(0);
        job_start.push(job.len());
    }

    fn fill_rows(&mut self, problem: &Problem<'_>) {
        self.rows.clear();
        for (device, &capacity) in problem.capacity().iter().enumerate() {
            let uses = |e: ChannelNo| u128::from(self.request(e)[device]);
            let total: u128 = self.all_channels().map(|e| uses(e) * u128::from(self.most[e])).sum();
            if total > u128::from(capacity) {
                let unit = self.all_channels().map(|e| uses(e) as f64).sum::<f64>() / self.len() as f64;
                self.rows.push(Row { device, capacity, unit });
            }
        }
    }

    /// Whole copies that fit the cluster-wide rows: a quota of seven tasks holds one job of four, not one and
    /// three quarters.
    fn limit_copies(&mut self) {
        for l in self.jobs.numbers() {
            for row in &self.rows {
                let requests = self.channels_of_job(l).iter().map(|&e| self.request(e)[row.device]);
                let least = u128::from(requests.min().unwrap_or(0)) * u128::from(self.jobs[l].minimum);
                if let Some(copies) = u128::from(row.capacity).checked_div(least) {
                    let job = &mut self.jobs[l];
                    job.copies = job.copies.min(u32::try_from(copies).unwrap_or(u32::MAX));
                }
            }
        }
    }
}
