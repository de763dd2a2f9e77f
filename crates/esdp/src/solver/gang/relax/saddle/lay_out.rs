//! Lays a round out: its channels, and how long steps are.

use super::{Channel, Round, Saddle};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByGroup, ByJob, ChannelNo, GroupNo, Number};
use crate::solver::gang::tuning::saddle::LEAST_USED;

impl Saddle {
    /// Takes the channels that are in use, or nearly; all others are out of use from here on. The length of a
    /// step is the inverse of the sum of a row's or an unknown's coefficients.
    pub(super) fn lay_out(&mut self, form: &Form, limits: &Limits, round: Round) {
        self.channels.clear();
        self.ids.clear();
        self.start.clear();
        self.shares.clear();
        let none = GroupNo::at(form.groups.len());
        let mut rows = vec![0.0; self.servers.len()];
        let mut wide = vec![0.0; self.wide.len()];
        let mut of_group = ByGroup::<f64>::from(vec![0.0; self.groups.len()]);
        let mut of_job = ByJob::<f64>::from(vec![0.0; self.jobs.len()]);
        for server in form.all_servers() {
            self.start.push(self.channels.len());
            let own = form.devices_of(server);
            for e in form.channels(server) {
                let (low, high) = (f64::from(limits.low[e]), f64::from(limits.high[e]));
                let uses = self.uses[e].clamp(low, high);
                let from = self.shares.len();
                self.push_shares(form, e);
                let shares = self.shares[from..].iter().map(|&share| f64::from(share));
                let prices = self.servers[own.clone()].iter().chain(&self.wide);
                let cost: f64 = shares.clone().zip(prices).map(|(share, row)| share * row.at).sum();
                let g = form.group[e].unwrap_or(none);
                let worth = form.v[e] + self.lambda * form.w[e];
                let gain = worth - cost - f64::from(self.tasks[g].price);
                let is_near = uses > LEAST_USED || gain >= -round.near * (worth.abs() + cost);
                if high == 0.0 || !(low > 0.0 || is_near) {
                    self.shares.truncate(from);
                    self.uses[e] = 0.0;
                    continue;
                }
                let (group, job) = (&self.groups[g], &self.jobs[form.job[e]]);
                let of_minimum = inverse_if(job.minimum > 0.0, job.minimum);
                let of_least = inverse_if(group.has_least(), group.needed);
                let column = shares.clone().sum::<f64>() + 1.0 / group.all + of_least + of_minimum;
                let sums = rows[own.clone()].iter_mut().chain(&mut wide);
                sums.zip(shares).for_each(|(sum, share)| *sum += share);
                of_group[g] += 1.0;
                of_job[form.job[e]] += of_minimum;
                self.uses[e] = uses;
                self.ids.push(e);
                self.channels.push(Channel {
                    group: g,
                    v: (form.v[e] + round.noise * scattered(e) * form.v[e].abs()) as f32,
                    w: form.w[e] as f32,
                    low: low as f32,
                    high: high as f32,
                    step: (self.weight / column.max(f64::MIN_POSITIVE)) as f32,
                    uses: uses as f32,
                    sum: 0.0,
                });
            }
        }
        self.start.push(self.channels.len());
        self.servers.iter_mut().zip(rows).for_each(|(row, sum)| row.begin(sum));
        self.wide.iter_mut().zip(wide).for_each(|(row, sum)| row.begin(sum));
        for (group, &channels) in self.groups.iter_mut().zip(&of_group) {
            group.most.begin(channels / group.all + 1.0);
            group.least.begin(if group.has_least() { channels / group.needed + 1.0 } else { 0.0 });
        }
        for (l, from) in form.jobs.numbered() {
            let job = &mut self.jobs[l];
            let copies = f64::from(from.copies.max(1));
            job.range = (f64::from(limits.fewest[l]) / copies, f64::from(limits.most[l]) / copies);
            job.copies.at = job.copies.at.clamp(job.range.0, job.range.1);
            let has_row = usize::from(job.minimum > 0.0);
            let groups = self.groups[form.groups_of_job(l)].iter();
            let rows: usize = groups.map(|group| 1 + usize::from(group.has_least())).sum();
            job.copies.begin((rows + has_row) as f64);
            job.least.begin(has_row as f64 * (of_job[l] + 1.0));
        }
        self.price_tasks(form);
    }

    /// Appends what a use of a channel takes of its server's devices and of the cluster-wide rows.
    fn push_shares(&mut self, form: &Form, e: ChannelNo) {
        let request = form.request(e);
        let share = |a: u64, room: u64| if a > 0 { (a as f64 / room as f64) as f32 } else { 0.0 };
        let room = &form.room[form.devices_of(form.server[e])];
        self.shares.extend(request.iter().zip(room).map(|(&a, &room)| share(a, room)));
        self.shares.extend(form.rows.iter().map(|row| share(request[row.device], row.capacity)));
    }
}

fn inverse_if(is_there: bool, of: f64) -> f64 {
    if is_there { 1.0 / of } else { 0.0 }
}

/// From 0 to 1, without any order.
fn scattered(e: ChannelNo) -> f64 {
    let mixed = (e.place() as u32).wrapping_mul(0x9E37_79B1).rotate_left(15).wrapping_mul(0x85EB_CA77);
    f64::from(mixed) / f64::from(u32::MAX)
}
