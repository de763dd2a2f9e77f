//! The Lagrangian dual of a problem with servers and gangs: a certified bound at any prices.
//!
//! Priced are each group's tasks (`mu_g`, the row `sum n_e <= count_g y`), each job's minimum
//! (`nu_l`, the row `sum n_e >= minimum_l y`), the cluster-wide rows (`u_k`), and the square root
//! by `sqrt(W) = min over lambda > 0 of lambda W + 1/(4 lambda)`. With
//! `r_e = v_e + lambda w_e - u.a_e - mu_g + nu_l` and `q_l = sum_g mu_g count_g - nu_l minimum_l`
//!
//! ```text
//! F(n) <= D = 1/(4 lambda) + u.c + sum over servers of max { r.n : n fits the server }
//!                                + sum over jobs of max { q_l y : fewest_l <= y <= most_l }
//! ```
//!
//! A group with a minimum of its own has two rows, of which one is priced: below 0, `mu_g` pays for the tasks
//! that a copy needs, and `minimum_g` stands for `count_g` in `q_l`.
//!
//! Server capacities stay in the subproblems (`knapsack.rs`), which makes `D` far sharper than
//! the linear relaxation. `D` is convex in the prices and in `ln lambda`, which is the last one.
//!
//! The difference `D - F(n)` is a sum of penalties that are never negative: what each server's uses
//! fall short of its best ones by, what each job's copies do, idle rows at their prices, and
//! `lambda (sqrt(W) - 1/(2 lambda))^2`. So uses that alone cost more than `D - LB` are in no
//! better decision: `fixing.rs`.

use crate::solver::gang::dual::knapsack::{Item, Knapsack};
use crate::solver::gang::problem::form::{Form, GroupForm, effort};
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob, GroupNo, JobNo, Number, ServerNo};
use crate::solver::gang::tuning::prices::WIDEST;

/// The dual at some prices: its value, the uses and copies that attain it, and a subgradient.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Point {
    /// One price for each group, job and cluster-wide row, then `ln lambda`.
    pub prices: Vec<f64>,
    pub value: f64,
    pub uses: ByChannel<u32>,
    pub copies: ByJob<u32>,
    pub gradient: Vec<f64>,
}

/// Evaluates duals; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Pricing {
    pub knapsack: Knapsack,
    /// What each group's and job's price adds to its channels.
    offset: ByGroup<f64>,
    /// The value of a use of each channel at the last prices.
    pub r: ByChannel<f64>,
    /// Visits so far.
    pub work: u64,
    /// The most visits of one server's knapsack.
    pub server_limit: u64,
    /// Prices of every server's room, or nothing.
    pub server_prices: Vec<f64>,
}

/// Where the prices are: those of groups come first.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Layout {
    /// Where the prices of each other kind begin.
    pub jobs: usize,
    pub rows: usize,
    pub lambda: usize,
    pub len: usize,
}

impl Layout {
    pub fn of(form: &Form) -> Self {
        let jobs = form.groups.len();
        let rows = jobs + form.jobs.len();
        let lambda = rows + form.rows.len();
        Self { jobs, rows, lambda, len: lambda + usize::from(!form.linear) }
    }

    pub fn group(&self, group: GroupNo) -> usize {
        group.place()
    }

    pub fn job(&self, job: JobNo) -> usize {
        self.jobs + job.place()
    }
}

/// Keeps a price where it may be: `ln lambda` within reason, all others at least 0 but those of groups that
/// are needed.
pub(in crate::solver::gang) fn project(form: &Form, place: usize, price: f64) -> f64 {
    if place >= Layout::of(form).lambda {
        return price.clamp(-WIDEST, WIDEST);
    }
    let is_free = form.groups.get(place).is_some_and(GroupForm::is_needed);
    if is_free { price } else { price.max(0.0) }
}

impl Pricing {
    /// The reduced values at some prices, into `r`.
    pub fn reduce(&mut self, form: &Form, prices: &[f64]) {
        let layout = Layout::of(form);
        let lambda = lambda(form, prices);
        self.offset.clear();
        self.offset
            .extend(form.groups.iter().zip(prices).map(|(group, mu)| prices[layout.job(group.job)] - mu));
        self.r.clear();
        for e in form.all_channels() {
            let mut r = form.v[e] + lambda * form.w[e];
            if let Some(g) = form.group[e] {
                r += self.offset[g];
            }
            for (row, price) in form.rows.iter().zip(&prices[layout.rows..]) {
                r -= price / row.unit * form.request(e)[row.device] as f64;
            }
            self.r.push(r);
        }
        self.work += form.len() as u64 * effort(form.rows.len());
    }

    /// Evaluates the dual within limits at `point.prices`.
    pub fn evaluate(&mut self, form: &Form, limits: &Limits, point: &mut Point) {
        let layout = Layout::of(form);
        self.reduce(form, &point.prices);
        point.gradient.clear();
        point.gradient.resize(layout.len, 0.0);
        point.uses.clone_from(&limits.low);
        let mut value = 0.0;
        for server in form.all_servers() {
            value += self.server(form, limits, server, &mut point.uses);
        }
        let mut variance = 0.0;
        for e in form.all_channels() {
            let uses = point.uses[e];
            if uses == 0 {
                continue;
            }
            let uses = f64::from(uses);
            variance += form.w[e] * uses;
            if let Some(g) = form.group[e] {
                point.gradient[layout.group(g)] -= uses;
                point.gradient[layout.job(form.job[e])] += uses;
            }
            for (place, row) in form.rows.iter().enumerate() {
                let request = form.request(e)[row.device] as f64;
                point.gradient[layout.rows + place] -= request / row.unit * uses;
            }
        }
        point.copies.clear();
        for (l, job) in form.jobs.numbered() {
            let q = worth(form, &point.prices, l);
            let copies = if q > 0.0 { limits.most[l] } else { limits.fewest[l] };
            value += q * f64::from(copies);
            for g in form.groups_of_job(l) {
                let tasks = tasks_of_copy(&form.groups[g], point.prices[layout.group(g)]);
                point.gradient[layout.group(g)] += tasks * f64::from(copies);
            }
            if job.is_gang() {
                point.gradient[layout.job(l)] -= f64::from(job.minimum) * f64::from(copies);
            } else {
                point.gradient[layout.job(l)] = 0.0;
            }
            point.copies.push(copies);
        }
        for (place, row) in form.rows.iter().enumerate() {
            let capacity = row.capacity as f64 / row.unit;
            value += point.prices[layout.rows + place] * capacity;
            point.gradient[layout.rows + place] += capacity;
        }
        if !form.linear {
            let lambda = lambda(form, &point.prices);
            value += 0.25 / lambda;
            point.gradient[layout.lambda] = lambda * variance - 0.25 / lambda;
        }
        point.value = value;
    }

    /// One server's part of the dual, at the reduced values; adds its best uses above the lower
    /// limits to `uses`.
    pub fn server(
        &mut self,
        form: &Form,
        limits: &Limits,
        server: ServerNo,
        uses: &mut ByChannel<u32>,
    ) -> f64 {
        let mut value = 0.0;
        self.knapsack.items.clear();
        for e in form.channels(server) {
            let (low, high, r) = (limits.low[e], limits.high[e], self.r[e]);
            if low > 0 {
                value += r * f64::from(low);
            }
            if r > 0.0 && high > low {
                self.knapsack.items.push(Item::new(r, high - low, e));
            }
        }
        if self.knapsack.items.is_empty() {
            return value;
        }
        let room = &limits.room[form.devices_of(server)];
        let prices = self.server_prices.get(form.devices_of(server)).unwrap_or(&[]);
        let before = self.knapsack.visits;
        value += self.knapsack.solve(&form.requests, room, prices, self.server_limit, uses);
        self.work += 2 * (self.knapsack.visits - before);
        value
    }

    /// The dual at some prices without limits of a search, safe against rounding.
    pub fn certify(&mut self, form: &Form, limits: &Limits, point: &mut Point) -> f64 {
        self.evaluate(form, limits, point);
        let layout = Layout::of(form);
        let lambda = lambda(form, &point.prices);
        let price = |place: usize| point.prices[place];
        // Everything that was ever added up, by its size: what rounding errors are relative to.
        let mut size = if form.linear { 0.0 } else { 0.25 / lambda };
        for e in form.all_channels() {
            let mut one = form.v[e].abs() + lambda * form.w[e];
            if let Some(g) = form.group[e] {
                one += price(layout.group(g)).abs() + price(layout.job(form.job[e]));
            }
            for (place, row) in form.rows.iter().enumerate() {
                let request = form.request(e)[row.device] as f64;
                one += price(layout.rows + place) * request / row.unit;
            }
            size += one * f64::from(limits.high[e]);
        }
        for (l, job) in form.jobs.numbered() {
            let tasks: f64 = form
                .groups_of_job(l)
                .map(|g| price(layout.group(g)).abs() * f64::from(form.groups[g].count))
                .sum();
            size += (tasks + price(layout.job(l)) * f64::from(job.minimum)) * f64::from(job.copies);
        }
        for (place, row) in form.rows.iter().enumerate() {
            size += price(layout.rows + place) * row.capacity as f64 / row.unit;
        }
        // Sums of sums: errors grow with the length of the longest, and a factor to spare.
        point.value + f64::EPSILON * size * (form.len() + form.jobs.len() + 32) as f64
    }
}

/// How many tasks of a group a running copy of its job has at a price: all of them if they cost something,
/// those that it needs if they are paid for.
pub(in crate::solver::gang) fn tasks_of_copy(group: &GroupForm, price: f64) -> f64 {
    f64::from(if price < 0.0 { group.minimum } else { group.count })
}

/// What a copy of a job is worth at some prices, `q_l`.
pub(in crate::solver::gang) fn worth(form: &Form, prices: &[f64], job: JobNo) -> f64 {
    let layout = Layout::of(form);
    let of_group = |g: GroupNo| {
        let price = prices[layout.group(g)];
        price * tasks_of_copy(&form.groups[g], price)
    };
    let tasks: f64 = form.groups_of_job(job).map(of_group).sum();
    tasks - prices[layout.job(job)] * f64::from(form.jobs[job].minimum)
}

/// The multiplier of the variances; 0 in a linear problem.
pub(in crate::solver::gang) fn lambda(form: &Form, prices: &[f64]) -> f64 {
    if form.linear { 0.0 } else { libm::exp(prices[Layout::of(form).lambda]) }
}
