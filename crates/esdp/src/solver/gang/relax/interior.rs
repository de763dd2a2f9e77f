//! A primal-dual interior-point method (Mehrotra's predictor and corrector) for the relaxation of `mod.rs`.
//!
//! Every inequality has a slack `s` and a price `z`; steps lead towards `s z = mu` for all of them, and `mu`
//! falls. The uses' and jobs' own inequalities and the capacities hold from the start; only "the tasks of a
//! group are the uses of its channels" is reached on the way. One factor of the system (`step.rs`) serves
//! both halves of a step.

use super::job::Job;
use super::open::{Open, PerCopy};
use super::pairs::Pairs;
use super::step::Step;
use crate::solver::gang::cholesky::dot;
use crate::solver::gang::tuning::interior::{
    CENTRING, CORRECTORS, DIVERGED, FAR, FIRST, MANY, MANY_TASKS, NEAR, SHORT_OF, SHORTEST, STEPS,
};
use std::ops::ControlFlow;

/// A point on the way, and where it ends; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Interior {
    pub x: Vec<f64>,
    /// `x >= 0`, `x <= high`, the server rows, the cluster-wide rows, the jobs' rows.
    pub low: Pairs,
    pub high: Pairs,
    pub server: Pairs,
    pub wide: Pairs,
    pub job: Pairs,
    /// What a copy of a job can use of a channel.
    pub per_copy: Pairs,
    /// The tasks and copies of the jobs, and their step.
    pub unknowns: Vec<f64>,
    pub unknowns_step: Vec<f64>,
    /// The price of a task of each group.
    pub task_price: Vec<f64>,
    spare_unknowns: Vec<f64>,
    spare_tasks: Vec<f64>,
    step: Step,
    /// Whether the start was a fresh one.
    pub is_fresh: bool,
    /// Multiplications so far, about.
    pub work: u64,
}

/// How the last step went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    /// The gap, relative to the value, that the products promised before it.
    pub gap: f64,
    /// Whether uses and copies hardly moved: there may be none within the limits.
    pub is_stuck: bool,
}

impl Interior {
    /// Goes on from a start until the products promise a gap below `tolerance` of the value, the work is
    /// spent, or `each` says so, which sees every point and how the last step went. Where steps from a known
    /// point lead nowhere, a fresh start is made.
    pub fn run(
        &mut self,
        open: &Open,
        linear: bool,
        (tolerance, work): (f64, u64),
        mut each: impl FnMut(&Open, &Self, Last) -> ControlFlow<()>,
    ) {
        let end = self.work.saturating_add(work);
        let (count, first) = (self.count(), self.mu());
        for turn in 0..STEPS {
            if self.work >= end {
                break;
            }
            let mu = self.mu();
            let value = dot(&open.v, &self.x) + self.root(open);
            let mut step = std::mem::take(&mut self.step);
            let off = step.off(open, self);
            self.step = step;
            // Prices that grow without limit show that nothing is within the limits.
            if !(mu <= DIVERGED * first && off.is_finite()) {
                return;
            }
            if mu * count <= tolerance * value.abs().max(1e-6) && off <= tolerance * value.abs().max(1.0) {
                return;
            }
            let is_centred = turn < CENTRING && self.is_fresh;
            if !self.find_step(open, linear, is_centred) {
                return;
            }
            let (primal, dual) = self.longest(1.0 / SHORT_OF);
            let (mut primal, mut dual) = ((primal * SHORT_OF).min(1.0), (dual * SHORT_OF).min(1.0));
            if !linear {
                primal = primal.min(dual);
                dual = primal;
            }
            if !(primal.is_finite() && dual.is_finite()) {
                return;
            }
            // Where steps lead nowhere any more, the numbers have no more to say.
            let is_near = mu * count <= NEAR * value.abs() && off <= NEAR * value.abs().max(1.0);
            if primal.min(dual) < SHORTEST && !self.is_fresh {
                self.start(open);
                continue;
            }
            if primal.min(dual) < SHORTEST && is_near {
                break;
            }
            self.advance(primal, dual);
            let last = Last { gap: mu * count / value.abs(), is_stuck: primal < SHORTEST };
            if each(open, self, last).is_break() {
                break;
            }
        }
    }

    /// Finds the next step: towards `s z = 0`, from there towards the middle, and a few corrections while
    /// they make it longer. Whether there is one.
    fn find_step(&mut self, open: &Open, linear: bool, is_centred: bool) -> bool {
        let (mu, count) = (self.mu(), self.count());
        let mut step = std::mem::take(&mut self.step);
        self.pairs_mut().into_iter().for_each(Pairs::invert);
        step.factorise(open, self, linear);
        self.pairs_mut().into_iter().for_each(|pairs| pairs.aim_at(0.0));
        step.solve(open, self, linear);
        let (primal, dual) = self.longest(1.0);
        let after = self.pairs().iter().map(|pairs| pairs.product_after(primal, dual)).sum::<f64>() / count;
        let share = (after / mu).clamp(0.0, 1.0);
        let centre = if is_centred { 1.0 } else { (share * share * share).clamp(1e-4, 0.9) };
        if !centre.is_finite() {
            self.step = step;
            return false;
        }
        self.pairs_mut().into_iter().for_each(|pairs| pairs.aim(centre * mu));
        step.solve(open, self, linear);
        for _ in 0..CORRECTORS {
            let reached = self.longest(1.0);
            if reached.0.min(reached.1) >= 0.9 {
                break;
            }
            let further = |step: f64| (1.1 * step + 0.1).min(1.0);
            let (primal, dual) = (further(reached.0), further(reached.1));
            self.pairs_mut().into_iter().for_each(|pairs| pairs.recentre(centre * mu, primal, dual));
            self.swap_steps(&mut step);
            step.solve(open, self, linear);
            let now = self.longest(1.0);
            if now.0 + now.1 < 1.02 * (reached.0 + reached.1) {
                self.swap_steps(&mut step);
                break;
            }
        }
        // Slacks, prices and their targets, of each inequality, some four times.
        self.work += step.take_work() + 40 * count as u64;
        self.step = step;
        true
    }

    fn swap_steps(&mut self, step: &mut Step) {
        self.pairs_mut().into_iter().for_each(Pairs::swap_steps);
        self.spare_unknowns.resize(self.unknowns.len(), 0.0);
        std::mem::swap(&mut self.spare_unknowns, &mut self.unknowns_step);
        self.spare_tasks.resize(self.task_price.len(), 0.0);
        std::mem::swap(&mut self.spare_tasks, &mut step.task_price);
    }

    /// The square root's part of the value.
    fn root(&self, open: &Open) -> f64 {
        self.variance(open).sqrt()
    }

    /// The sum of the variances.
    pub fn variance(&self, open: &Open) -> f64 {
        let variance = dot(&open.w, &self.x);
        (variance + open.variance).max(1e-18)
    }

    /// The mean product of slacks and prices.
    pub fn mu(&self) -> f64 {
        self.pairs().iter().map(|pairs| pairs.product()).sum::<f64>() / self.count()
    }

    /// The inequalities in all.
    fn count(&self) -> f64 {
        self.pairs().iter().map(|pairs| pairs.slack.len()).sum::<usize>() as f64
    }

    fn pairs(&self) -> [&Pairs; 6] {
        [&self.low, &self.high, &self.server, &self.wide, &self.job, &self.per_copy]
    }

    fn pairs_mut(&mut self) -> [&mut Pairs; 6] {
        [&mut self.low, &mut self.high, &mut self.server, &mut self.wide, &mut self.job, &mut self.per_copy]
    }

    fn longest(&self, most: f64) -> (f64, f64) {
        self.pairs().iter().fold((most, most), |longest, pairs| pairs.longest(longest))
    }

    fn advance(&mut self, primal: f64, dual: f64) {
        self.x.iter_mut().zip(&self.low.slack_step).for_each(|(x, step)| *x += primal * step);
        self.unknowns.iter_mut().zip(&self.unknowns_step).for_each(|(value, step)| *value += primal * step);
        for (price, step) in self.task_price.iter_mut().zip(&self.step.task_price) {
            *price += dual * step;
        }
        for pairs in self.pairs_mut() {
            pairs.slack.iter_mut().zip(&pairs.slack_step).for_each(|(s, step)| *s += primal * step);
            pairs.advance_prices(dual);
        }
        // The slack of `x >= 0` is `x` itself.
        self.low.slack.clone_from(&self.x);
    }

    /// A point with room on all sides.
    pub fn start(&mut self, open: &Open) {
        self.is_fresh = true;
        self.x.clear();
        let mut group_sum = vec![0.0; open.groups.len()];
        for server in &open.servers {
            // Near the point where all inequalities have the most room together: each channel has the same
            // share of the server, which is nearly full.
            let count = server.channels().len() as f64;
            let share = 1.0 / (count + server.rows as f64);
            self.x.resize(server.end, 0.0);
            let own = &mut self.x[server.channels()];
            for row in open.rows(server) {
                own.iter_mut().zip(row).for_each(|(largest, a)| *largest = largest.max(*a));
            }
            for (e, x) in server.channels().zip(own) {
                *x = (share / *x).min(0.5 * open.high[e]);
                if let Some(g) = open.group(e) {
                    group_sum[g] += *x;
                }
            }
        }
        self.start_jobs(open, |_| 1.0);
        for e in 0..open.len() {
            if let Some(g) = open.group(e) {
                let wanted = self.tasks(open, g).max(0.01);
                self.x[e] *= (wanted / group_sum[g]).min(1.0);
            }
        }
        self.fit_wide(open, 0.5);
        for &PerCopy { channel, job, most, .. } in &open.per_copy {
            let most = 0.5 * most * self.copies(&open.jobs[job]);
            self.x[channel] = self.x[channel].min(most);
        }
        self.start_anew(open);
        // Where uses go into the thousands, so do products and the prices of whole rows.
        let mean = self.x.iter().sum::<f64>() / open.len().max(1) as f64;
        let product = FIRST.max(0.5 * (mean - MANY));
        self.start_pairs(open, product);
        // Prices of tasks that leave the channels of a group in balance, on average.
        group_sum.fill(0.0);
        let mut counts = vec![0.0; open.groups.len()];
        for place in &open.servers {
            let prices = &self.server.price[place.row..][..place.rows];
            for (e, g) in place.channels().filter_map(|e| Some((e, open.group(e)?))) {
                let own = e - place.first;
                let rows: f64 = open.rows(place).zip(prices).map(|(row, price)| row[own] * price).sum();
                group_sum[g] += open.v[e] + self.low.price[e] - self.high.price[e] - rows;
                counts[g] += 1.0;
            }
        }
        for (price, (sum, count)) in self.task_price.iter_mut().zip(group_sum.iter().zip(&counts)) {
            *price = sum / count;
        }
    }

    /// Leaves channels of fuller cluster-wide rows no more than this share of them.
    pub fn fit_wide(&mut self, open: &Open, full: f64) {
        let loads = open.wide_loads(&self.x);
        for (e, x) in self.x.iter_mut().enumerate() {
            let fullest = open.wide_of(e).iter().map(|&(row, _)| loads[row]).fold(0.0, f64::max);
            *x *= (full / fullest).min(1.0);
        }
    }

    /// The slacks of the point, and prices that make all products the same.
    pub fn start_pairs(&mut self, open: &Open, product: f64) {
        self.start_job_rows(open, product);
        let mut per_copy = std::mem::take(&mut self.per_copy);
        per_copy.start(
            product,
            open.per_copy.iter().map(|row| {
                let copies = self.copies(&open.jobs[row.job]);
                (row.most * copies - self.x[row.channel]).max(1e-9)
            }),
        );
        self.per_copy = per_copy;
        let Self { x, low, high, server, wide, .. } = self;
        low.start(product, x.iter().copied());
        high.start(product, x.iter().zip(&open.high).map(|(x, high)| high - x));
        server.start(
            product,
            open.servers.iter().flat_map(|server| {
                let own = &x[server.channels()];
                open.rows(server).map(move |row| 1.0 - dot(row, own))
            }),
        );
        wide.start(product, open.wide_loads(x).iter().map(|load| 1.0 - load));
    }

    /// Of thousands of copies, those that are far beyond what servers and cluster hold would take more steps
    /// to come back than there are: they start with what the channels start with.
    fn start_anew(&mut self, open: &Open) {
        let mut sums = vec![(0.0, 0.0); open.jobs.len()];
        for (group, &job) in open.job_of.iter().enumerate() {
            sums[job].0 += self.tasks(open, group);
        }
        for (e, x) in self.x.iter().enumerate() {
            if let Some(g) = open.group(e) {
                sums[open.job_of[g]].1 += x;
            }
        }
        let is_far = |&(tasks, uses): &(f64, f64)| tasks > FAR * uses && tasks > MANY_TASKS;
        if sums.iter().any(is_far) {
            self.start_jobs(open, |job| if is_far(&sums[job]) { sums[job].1 / sums[job].0 } else { 1.0 });
        }
    }

    /// The tasks and copies of the jobs, fewer copies by a factor.
    pub fn start_jobs(&mut self, open: &Open, factor: impl Fn(usize) -> f64) {
        self.unknowns.clear();
        self.unknowns.resize(open.unknowns, 0.0);
        self.unknowns_step.clear();
        self.unknowns_step.resize(open.unknowns, 0.0);
        self.task_price.clear();
        self.task_price.resize(open.groups.len(), 0.0);
        for (number, job) in open.jobs.iter().enumerate() {
            let mut copies = job.settled;
            if let (Some((fewest, most)), Some(at)) = (job.copies, job.copies_at()) {
                let shares = [0.5, 0.25, 0.75, 0.1, 0.9, 0.01];
                let place = |share: f64| fewest + factor(number) * share * (most - fewest);
                let roomy = |&share: &f64| job.tied || job.margin(&open.tasks, place(share)) > 0.0;
                copies = place(shares.into_iter().find(roomy).unwrap_or(0.5));
                self.unknowns[job.unknown + at] = copies;
            }
            if !job.tied {
                self.start_tasks(open, job, copies);
            }
        }
    }

    /// The tasks of a job with so many copies.
    pub fn start_tasks(&mut self, open: &Open, job: &Job, copies: f64) {
        let groups = job.groups();
        let each = job.margin(&open.tasks, copies).max(1e-3) / (2 * groups.len()) as f64;
        for (place, group) in open.tasks[groups].iter().enumerate() {
            let (most, fewer) = group.range(copies);
            self.unknowns[job.unknown + place] = most - each.min(0.5 * fewer.max(1e-3));
        }
    }

    fn start_job_rows(&mut self, open: &Open, product: f64) {
        let mut rows = std::mem::take(&mut self.job);
        let slacks = open.jobs.iter().flat_map(|job| self.job_slacks(open, job));
        rows.start(product, slacks.map(|slack| slack.max(1e-6)));
        self.job = rows;
    }

    /// The slacks of a job's rows at the point.
    pub fn job_slacks(&self, open: &Open, job: &Job) -> impl Iterator<Item = f64> {
        let (own, count) = (&self.unknowns[job.unknown..], job.unknowns());
        let rows = if count == 0 { 0 } else { job.row_count };
        (0..rows).map(move |row| {
            let entries = &open.entries[job.entry + row * count..][..count];
            let sum: f64 = entries.iter().zip(own).map(|(a, x)| a * x).sum();
            open.constants[job.row + row] + sum
        })
    }

    /// The tasks of a group that its job has at the point.
    pub fn tasks(&self, open: &Open, group: usize) -> f64 {
        let job = &open.jobs[open.job_of[group]];
        let own = job.unknown;
        if !job.tied {
            return self.unknowns[own + group - job.first];
        }
        open.tasks[group].range(self.copies(job)).0
    }

    /// The copies of a job at the point.
    pub fn copies(&self, job: &Job) -> f64 {
        job.copies_at().map_or(job.settled, |at| self.unknowns[job.unknown + at])
    }
}
