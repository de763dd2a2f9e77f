//! A bound from prices of capacities: every job by itself.
//!
//! With `u` the prices of server rows, `b` those of cluster-wide rows and
//! `r_e = v_e + lambda w_e - (u + b).a_e`,
//!
//! ```text
//! F(n) <= 1/(4 lambda) + u.room + b.c + sum over jobs of copies * max(0, best { r.n : n makes a whole job })
//! ```
//!
//! A job's best uses are greedy: the best channels of each group, then the least bad ones up to its minima.
//! That no more tasks of one copy run on a server than fit there counts here, and does not in the relaxation.

use super::cuts::Cuts;
use super::interior::Interior;
use super::open::{Open, Source};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ChannelNo, GroupNo, JobNo, Number};

/// Prices of everything that is limited.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Multipliers {
    /// Server after server, the price of each device there.
    pub server: Vec<f64>,
    /// The price of each rounded row.
    cuts: Vec<f64>,
    /// The price of each cluster-wide row.
    pub wide: Vec<f64>,
    pub lambda: f64,
    /// The price of a task of each group, as the channels pay it.
    pub task: ByGroup<f64>,
    /// The reduced value of each channel at the prices of capacities.
    pub r: ByChannel<f64>,
    order: Vec<(f64, ChannelNo)>,
    counts: Vec<u64>,
}

impl Multipliers {
    pub(super) fn read(
        &mut self,
        form: &Form,
        limits: &Limits,
        open: &Open,
        interior: &Interior,
        cuts: usize,
    ) {
        self.server.clear();
        self.server.resize(form.servers() * form.devices, 0.0);
        self.cuts.clear();
        self.cuts.resize(cuts, 0.0);
        for server in &open.servers {
            let prices = &interior.server.price[server.row..];
            for (source, price) in open.sources(server).iter().zip(prices) {
                match *source {
                    Source::Device(device, room) => {
                        self.server[form.devices_of(server.id)][device] = price / room;
                    }
                    Source::Cut(cut, left) => self.cuts[cut] = price / left,
                }
            }
        }
        self.wide.clear();
        self.wide.resize(form.rows.len(), 0.0);
        for (row, &place) in open.wide.iter().enumerate() {
            self.wide[place] = interior.wide.price[row] / limits.cluster[place] as f64;
        }
        self.lambda = if form.linear { 0.0 } else { 0.5 / interior.variance(open).sqrt() };
        self.task.reset(form.groups.len(), 0.0);
        for (&g, &price) in open.groups.iter().zip(&interior.task_price) {
            self.task[g] = price;
        }
    }

    /// Fills `r`.
    pub(super) fn reduce(&mut self, form: &Form, cuts: &Cuts) {
        self.r.clear();
        for e in form.all_channels() {
            let request = form.request(e);
            let prices = &self.server[form.devices_of(form.server[e])];
            let mut r = form.v[e] + self.lambda * form.w[e];
            r -= request.iter().zip(prices).map(|(&a, price)| a as f64 * price).sum::<f64>();
            for (row, price) in form.rows.iter().zip(&self.wide) {
                r -= price * request[row.device] as f64;
            }
            self.r.push(r);
        }
        for (price, cut) in self.cuts.iter().zip(&cuts.list).filter(|(price, _)| **price > 0.0) {
            let channels = form.channels(cut.server);
            self.r[channels].iter_mut().zip(&cut.entries).for_each(|(r, entry)| *r -= price * entry);
        }
    }

    /// How far a channel is from use, at most 0.
    pub fn score(&self, form: &Form, e: ChannelNo) -> f64 {
        self.gain(form, e).min(0.0)
    }

    /// The reduced value of a channel less the price of a task. Above 0, the solution that the prices are
    /// from did not know the channel, or could not use more of it.
    pub fn gain(&self, form: &Form, e: ChannelNo) -> f64 {
        self.r[e] - form.group[e].map_or(0.0, |g| self.task[g])
    }

    /// The bound at the prices, for a problem without lower limits; safe against rounding.
    pub(super) fn bound(&mut self, form: &Form, limits: &Limits, cuts: &Cuts) -> f64 {
        self.reduce(form, cuts);
        let mut bound = if form.linear { 0.0 } else { 0.25 / self.lambda };
        let mut size = bound;
        for (price, &room) in self.server.iter().zip(&form.room) {
            if *price > 0.0 {
                bound += price * room as f64;
            }
        }
        for (price, row) in self.wide.iter().zip(&form.rows) {
            bound += price * row.capacity as f64;
        }
        bound += self.cuts.iter().zip(&cuts.list).map(|(price, cut)| price * cut.capacity).sum::<f64>();
        size += bound;
        for l in form.jobs.numbers() {
            let (own, own_size) = self.job(form, limits, l);
            bound += own;
            size += own_size;
        }
        bound + f64::EPSILON * size * (form.len() + form.jobs.len() + form.room.len() + 32) as f64
    }

    /// What a copy of a gang is worth at the prices for which `r` is filled.
    pub fn worth(&mut self, form: &Form, limits: &Limits, l: JobNo) -> f64 {
        if limits.most[l] == 0 { 0.0 } else { self.copy(form, limits, l).0 }
    }

    /// One job's part, and the size of what was added up for it.
    fn job(&mut self, form: &Form, limits: &Limits, l: JobNo) -> (f64, f64) {
        let most = f64::from(limits.most[l]);
        if most == 0.0 {
            return (0.0, 0.0);
        }
        let (value, size) = self.copy(form, limits, l);
        if !form.jobs[l].is_gang() {
            return (value, size);
        }
        let copies = if value > 0.0 { most } else { f64::from(limits.fewest[l]) };
        (value * copies, size * most)
    }

    /// The best uses of a copy, of all copies of a job whose tasks do not depend on each other; and the size
    /// of what was added up.
    fn copy(&mut self, form: &Form, limits: &Limits, l: JobNo) -> (f64, f64) {
        let job = &form.jobs[l];
        let most = u64::from(limits.most[l]);
        self.order.clear();
        self.order.extend(form.channels_of_job(l).iter().map(|&e| (self.r[e], e)));
        let mut size: f64 =
            self.order.iter().map(|&(r, e)| (r.abs() + form.v[e].abs()) * f64::from(limits.high[e])).sum();
        let whole = job.is_gang();
        if !whole {
            // Only groups tie: the best of each.
            self.order.retain(|&(r, _)| r > 0.0);
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.counts.clear();
        self.counts.resize(form.groups_of_job(l).len(), 0);
        let first = form.groups_of_job(l).first();
        let copies = if whole { 1 } else { most };
        let minimum = if whole { u64::from(job.minimum) } else { 0 };
        let (mut value, mut tasks) = (0.0, 0u64);
        // Lower limits are of all copies together: of several alike, any may be the one.
        let is_limited = !whole || most == 1;
        let low = |e: ChannelNo| if is_limited { u64::from(limits.low[e]) } else { 0 };
        for &e in form.channels_of_job(l).iter().filter(|&&e| low(e) > 0) {
            value += self.r[e] * low(e) as f64;
            tasks += low(e);
            if let Some(g) = form.group[e] {
                self.counts[g.place() - first] += low(e);
            }
        }
        // What groups with a minimum of their own still need.
        let lacks =
            |g: GroupNo| u64::from(form.groups[g].minimum).saturating_sub(self.counts[g.place() - first]);
        let mut needed: u64 = form.groups_of_job(l).map(lacks).sum();
        for &(r, e) in &self.order {
            let missing = minimum.saturating_sub(tasks + needed);
            if r <= 0.0 && missing == 0 && needed == 0 {
                break;
            }
            let mut uses = u64::from(limits.high[e]) - low(e);
            if let Some(g) = form.group[e] {
                let (group, taken) = (&form.groups[g], &mut self.counts[g.place() - first]);
                let own = u64::from(group.minimum).saturating_sub(*taken);
                uses = uses.min((u64::from(group.count) * copies).saturating_sub(*taken));
                if r <= 0.0 {
                    uses = uses.min(own + missing);
                }
                *taken += uses;
                needed -= own.min(uses);
            }
            tasks += uses;
            value += r * uses as f64;
        }
        size += value.abs();
        let falls_short = whole && (tasks < minimum || needed > 0);
        (if falls_short { 0.0 } else { value }, size)
    }

    /// No price is that of a rounded row.
    pub(super) fn forget_cuts(&mut self) {
        self.cuts.clear();
    }
}
