//! Makes the [`Form`] of a problem.

use crate::model::Amount;
use crate::solver::Problem;
use crate::solver::gang::problem::form::{Form, GroupForm, JobForm, NO_GROUP, Row};
use crate::solver::gang::tuning::fill::{LEAST_EVEN, ROUNDED_UP};

impl Form {
    /// Takes over a problem without the jobs that are left out.
    pub fn fill(&mut self, problem: &Problem<'_>, left_out: &[bool]) {
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
        let Some(gangs) = problem.gangs() else {
            self.jobs.push(JobForm { minimum: 0, copies: 1, first_group: 0, end_group: 0 });
            return;
        };
        // Groups in the order of their jobs; `order` keeps where each went.
        self.order.clear();
        self.order
            .extend(gangs.groups.iter().enumerate().map(|(position, group)| (group.job, position as u32)));
        self.order.sort_unstable();
        self.jobs.extend(gangs.jobs.iter().map(|job| JobForm {
            minimum: if job.minimum > 1 { job.minimum } else { 0 },
            copies: job.copies,
            first_group: 0,
            end_group: 0,
        }));
        for (place, &(job, position)) in self.order.iter().enumerate() {
            let group = gangs.groups[position as usize];
            self.groups.push(GroupForm { job, count: group.count, minimum: group.minimum });
            let job = &mut self.jobs[job as usize];
            if job.end_group == 0 {
                job.first_group = place as u32;
            }
            job.end_group = place as u32 + 1;
        }
        for job in &mut self.jobs {
            let groups = &self.groups[job.first_group as usize..job.end_group as usize];
            // So many tasks that the sum saturates are more than there are.
            let needed = groups.iter().fold(0u32, |sum, group| sum.saturating_add(group.minimum));
            job.minimum = job.minimum.max(needed);
        }
    }

    /// Chooses the channels that can matter, by server.
    fn choose(&mut self, problem: &Problem<'_>, left_out: &[bool]) {
        let (mean, width) = (problem.mean(), problem.width());
        let job = |channel: usize| {
            problem.gangs().map(|gangs| gangs.groups[gangs.group[channel] as usize].job as usize)
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
            let (needed, stays) =
                job(channel).map_or((false, true), |job| (self.jobs[job].is_gang(), !left_out[job]));
            if (gains || needed) && stays && problem.most(channel) > 0 {
                let server = problem.servers().map_or(channel as u32, |servers| servers.of[channel]);
                self.order.push((server, channel as u32));
            }
        }
        self.order.sort_unstable();
    }

    /// Drops channels that cost more than all channels together can gain: without them a decision is
    /// better, if only because doing nothing is.
    fn drop_outweighed(&mut self, problem: &Problem<'_>) {
        let (mean, width) = (problem.mean(), problem.width());
        loop {
            let (mut gains, mut widths, mut lowest) = (0.0, 0.0, 0.0f64);
            for &(_, channel) in &self.order {
                let channel = channel as usize;
                let most = problem.most(channel) as f64;
                gains += most * mean[channel].max(0.0);
                widths += most * width[channel];
                lowest = lowest.min(mean[channel]);
            }
            let gains = (gains + f64::sqrt(widths)) * ROUNDED_UP;
            if lowest + gains > 0.0 || self.order.is_empty() {
                return;
            }
            // What is dropped may have had a width: without it, others may be outweighed too.
            self.order.retain(|&(_, channel)| mean[channel as usize] + gains > 0.0);
        }
    }

    fn fill_channels(&mut self, problem: &Problem<'_>) {
        let (mean, width) = (problem.mean(), problem.width());
        let Self { ids, v, w, most, requests, group, job, server, start, room, order, .. } = self;
        for list in [&mut *ids, most, group, job, server, start] {
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
            let place =
                problem.gangs().map_or(NO_GROUP, |gangs| self.job_start[gangs.group[position] as usize]);
            group.push(place);
            job.push(self.groups.get(place as usize).map_or(0, |group| group.job));
        }
        start.push(ids.len() as u32);
        if self.scale <= 0.0 {
            self.scale = 1.0;
        }
        v.clear();
        w.clear();
        // A gain that would vanish beside a vast mean is rounded up: it is still placed if the vast one is
        // not, and the bound still holds.
        let rounded =
            |from: f64, scaled: f64| if from > 0.0 { scaled.max(f64::MIN_POSITIVE) } else { scaled };
        v.extend(ids.iter().map(|&id| mean[id as usize]).map(|mean| rounded(mean, mean / self.scale)));
        // Twice divided: the square of the scale may overflow where the quotient does not.
        let twice = |width: f64| rounded(width, width / self.scale / self.scale);
        w.extend(ids.iter().map(|&id| twice(width[id as usize])));
        let matters = |part: f64| part == 0.0 || part >= LEAST_EVEN * self.scale;
        self.even =
            ids.iter().all(|&id| matters(mean[id as usize].abs()) && matters(width[id as usize].sqrt()));
        self.list_by_job();
    }

    /// Lists the channels of each job: counts, then places.
    pub(in crate::solver::gang) fn list_by_job(&mut self) {
        let Self { job, job_start, of_job, .. } = self;
        job_start.clear();
        job_start.resize(self.jobs.len() + 1, 0);
        job.iter().for_each(|&job| job_start[job as usize + 1] += 1);
        for place in 1..job_start.len() {
            job_start[place] += job_start[place - 1];
        }
        of_job.clear();
        of_job.resize(job.len(), 0);
        for channel in (0..job.len()).rev() {
            let end = &mut job_start[job[channel] as usize + 1];
            *end -= 1;
            of_job[*end as usize] = channel as u32;
        }
        // Every end has moved to its begin: shift them back.
        job_start.remove(0);
        job_start.push(job.len() as u32);
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

    /// Whole copies that fit the cluster-wide rows: a quota of seven tasks holds one job of four, not one and
    /// three quarters.
    fn limit_copies(&mut self) {
        for l in 0..self.jobs.len() {
            let own = &self.of_job[self.job_start[l] as usize..self.job_start[l + 1] as usize];
            for row in &self.rows {
                let request = |&e: &u32| self.requests[e as usize * self.devices + row.device];
                let least =
                    u128::from(own.iter().map(request).min().unwrap_or(0)) * u128::from(self.jobs[l].minimum);
                if let Some(copies) = u128::from(row.capacity).checked_div(least) {
                    let job = &mut self.jobs[l];
                    job.copies = job.copies.min(u32::try_from(copies).unwrap_or(u32::MAX));
                }
            }
        }
    }
}
