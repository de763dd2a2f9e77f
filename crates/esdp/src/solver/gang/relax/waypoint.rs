//! A point half-way to a solution, at which the relaxation with more rows starts.
//!
//! The solution itself would be no start: its slacks are nearly 0, and those of rows that it breaks have to
//! grow. Half-way all slacks have some room. Prices are kept with it, as far as rows are the same; where they
//! are new, or slacks had to change much, a price makes its product with the slack that of the others.

use super::cuts::Cuts;
use super::interior::Interior;
use super::open::{Open, PerCopy, Server, Source};
use crate::solver::gang::cholesky::dot;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob, ByServer};
use crate::solver::gang::tuning::interior::{FAR_OFF, FULL, MARGIN};

/// A point, by the numbers of the form; buffers are reused. It is of a problem without lower limits.
#[derive(Debug, Clone, Default)]
pub(super) struct Waypoint {
    /// The mean product of slacks and prices; 0 where there is no point.
    mu: f64,
    uses: ByChannel<f64>,
    tasks: ByGroup<f64>,
    copies: ByJob<f64>,
    /// The price of a task.
    task_price: ByGroup<f64>,
    /// The prices of the channels' bounds: 0, their most uses, and those of one copy.
    low: ByChannel<f64>,
    high: ByChannel<f64>,
    per_copy: ByChannel<f64>,
    /// The prices of each server's rows, devices first.
    rows: ByServer<Vec<f64>>,
    /// The prices of the jobs' rows, if these are the same ones.
    job: Vec<f64>,
}

impl Waypoint {
    /// There is no point any more.
    pub fn forget(&mut self) {
        self.mu = 0.0;
    }

    pub fn is_known(&self) -> bool {
        self.mu > 0.0
    }

    /// Takes down where a method is.
    pub fn record(&mut self, form: &Form, cuts: &Cuts, open: &Open, at: &Interior) {
        self.mu = at.mu();
        for list in [&mut self.uses, &mut self.low, &mut self.high, &mut self.per_copy] {
            list.reset(form.len(), 0.0);
        }
        for (place, &e) in open.id.iter().enumerate() {
            self.uses[e] = at.x[place];
            self.low[e] = at.low.price[place];
            self.high[e] = at.high.price[place];
        }
        for (row, &price) in open.per_copy.iter().zip(&at.per_copy.price) {
            self.per_copy[open.id[row.channel]] = price;
        }
        self.tasks.reset(form.groups.len(), 0.0);
        self.task_price.reset(form.groups.len(), 0.0);
        for (place, &g) in open.groups.iter().enumerate() {
            self.tasks[g] = at.tasks(open, place);
            self.task_price[g] = at.task_price[place];
        }
        self.copies.reset(form.jobs.len(), 0.0);
        for job in &open.jobs {
            self.copies[job.id] = at.copies(job);
        }
        self.rows.reset(form.servers(), Vec::new());
        for server in &open.servers {
            let rows = &mut self.rows[server.id];
            for (source, &price) in open.sources(server).iter().zip(&at.server.price[server.row..]) {
                let place = place_of_row(form, cuts, server, source);
                rows.resize(rows.len().max(place + 1), 0.0);
                rows[place] = price;
            }
        }
        self.job.clone_from(&at.job.price);
    }

    /// Takes a method there, or as near as rows allow.
    pub fn start(&self, form: &Form, cuts: &Cuts, open: &Open, at: &mut Interior) {
        at.is_fresh = false;
        self.start_jobs(open, at);
        at.x.clear();
        for (&e, &high) in open.id.iter().zip(&open.high) {
            at.x.push(self.uses[e].max(self.mu.min(0.5 * high)).min((1.0 - MARGIN) * high));
        }
        fit_copies(open, at);
        for server in &open.servers {
            let own = &mut at.x[server.channels()];
            let load = open.rows(server).map(|row| dot(row, own)).fold(0.0, f64::max);
            if load > FULL {
                own.iter_mut().for_each(|x| *x *= FULL / load);
            }
        }
        at.fit_wide(open, FULL);
        self.fit_tasks(open, at);
        fit_copies(open, at);
        at.start_pairs(open, self.mu);
        self.start_prices(form, cuts, open, at);
    }

    /// The copies and tasks of all jobs.
    fn start_jobs(&self, open: &Open, at: &mut Interior) {
        at.start_jobs(open, |_| 1.0);
        for job in &open.jobs {
            if let (Some((fewest, most)), Some(place)) = (job.copies, job.copies_at()) {
                let margin = MARGIN * (most - fewest);
                at.unknowns[job.unknown + place] =
                    self.copies[job.id].max(fewest + margin).min(most - margin);
            }
            if job.tied {
                continue;
            }
            for (place, group) in job.groups().enumerate() {
                at.unknowns[job.unknown + place] = self.tasks[open.groups[group]];
            }
            let has_room = at.job_slacks(open, job).all(|slack| slack > MARGIN * MARGIN);
            if !has_room {
                at.start_tasks(open, job, at.copies(job));
            }
        }
    }

    /// Leaves jobs the tasks that their channels are left with, and channels no more than those.
    fn fit_tasks(&self, open: &Open, at: &mut Interior) {
        let mut share = vec![0.0; open.groups.len()];
        for (e, &x) in at.x.iter().enumerate() {
            if let Some(g) = open.group(e) {
                share[g] += x;
            }
        }
        for job in &open.jobs {
            let tasks = |at: &Interior, g: usize| at.tasks(open, g).max(self.mu);
            let least = job.groups().map(|g| share[g] / tasks(at, g)).fold(1.0, f64::min);
            if let (Some((fewest, most)), Some(place)) = (job.copies, job.copies_at()) {
                let own = &mut at.unknowns[job.unknown..=job.unknown + place];
                let fewer = least.max((fewest + MARGIN * (most - fewest)) / own[place]);
                own.iter_mut().for_each(|unknown| *unknown *= fewer);
            }
            for g in job.groups() {
                share[g] = (tasks(at, g) / share[g]).min(1.0);
            }
        }
        for (e, x) in at.x.iter_mut().enumerate() {
            *x *= open.group(e).map_or(1.0, |g| share[g]);
        }
    }

    fn start_prices(&self, form: &Form, cuts: &Cuts, open: &Open, at: &mut Interior) {
        let mu = self.mu;
        let set = |price: &mut f64, known: f64, slack: f64| {
            if known > 0.0 {
                *price = known.max(mu / (FAR_OFF * slack)).min(FAR_OFF * mu / slack);
            }
        };
        for (place, &e) in open.id.iter().enumerate() {
            set(&mut at.low.price[place], self.low[e], at.low.slack[place]);
            set(&mut at.high.price[place], self.high[e], at.high.slack[place]);
        }
        for (place, row) in open.per_copy.iter().enumerate() {
            let known = self.per_copy[open.id[row.channel]];
            set(&mut at.per_copy.price[place], known, at.per_copy.slack[place]);
        }
        for server in &open.servers {
            for (row, source) in (server.row..).zip(open.sources(server)) {
                let known = self.rows[server.id].get(place_of_row(form, cuts, server, source));
                set(&mut at.server.price[row], known.copied().unwrap_or(0.0), at.server.slack[row]);
            }
        }
        if self.job.len() == at.job.price.len() {
            for (place, &known) in self.job.iter().enumerate() {
                set(&mut at.job.price[place], known, at.job.slack[place]);
            }
        }
        for (price, &g) in at.task_price.iter_mut().zip(&open.groups) {
            *price = self.task_price[g];
        }
    }
}

/// Leaves channels no more than the copies of their jobs can use.
fn fit_copies(open: &Open, at: &mut Interior) {
    for &PerCopy { channel, job, most, .. } in &open.per_copy {
        let most = (1.0 - MARGIN) * most * at.copies(&open.jobs[job]);
        at.x[channel] = at.x[channel].min(most);
    }
}

/// A row's place among all of its server: rounds add rows after those that are there.
fn place_of_row(form: &Form, cuts: &Cuts, server: &Server, source: &Source) -> usize {
    match *source {
        Source::Device(device, _) => device,
        Source::Cut(cut, _) => form.devices + cut - cuts.of(server.id).start,
    }
}
