//! The dual of `prices.rs` at a temperature: smooth, so that Newton's method minimises it in a few steps.
//!
//! Every server counts by `gibbs.rs`, every job's copies by a softplus, every price is kept above zero by a
//! logarithm. At the minimum the mean uses and copies satisfy all priced rows: a fractional decision. Where
//! many channels are worth the same, as a learner's are at first, subgradients jump between all and none of
//! them and hardly converge; here they share.

use crate::solver::gang::dual::prices::{Layout, lambda, worth};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByGroup, ByJob};
use crate::solver::gang::smooth::gibbs::Gibbs;
use crate::solver::gang::smooth::grid::Grid;

/// The smoothed dual at some prices; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Smooth {
    pub gibbs: Gibbs,
    pub(in crate::solver::gang) grid: Grid,
    /// Whether a price has anything to price.
    pub active: Vec<bool>,
    pub value: f64,
    pub gradient: Vec<f64>,
    /// Row after row.
    pub hessian: Vec<f64>,
    /// The mean uses of each channel and copies of each job.
    pub uses: ByChannel<f64>,
    pub copies: ByJob<f64>,
    /// How the gradient changes with the temperature.
    pub drift: Vec<f64>,
    pub(in crate::solver::gang) offset: ByGroup<f64>,
    /// What a use of each offer adds to each cluster-wide row and to the variance, offer after offer.
    pub(in crate::solver::gang) extra: Vec<f64>,
}

impl Smooth {
    /// Takes over a problem within limits.
    pub fn reset(&mut self, form: &Form, limits: &Limits) {
        self.grid.reset(form, limits);
        let layout = Layout::of(form);
        self.active.clear();
        self.active.resize(layout.len, false);
        for e in form.all_channels().filter(|&e| limits.high[e] > 0) {
            if let Some(g) = form.group[e] {
                let l = form.job[e];
                self.active[layout.group(g)] = true;
                self.active[layout.job(l)] = form.jobs[l].is_gang();
            }
        }
        self.active[layout.rows..].iter_mut().for_each(|active| *active = true);
    }

    /// Evaluates at some prices, all above zero where active.
    pub fn evaluate(&mut self, form: &Form, limits: &Limits, prices: &[f64], temperature: f64) {
        let layout = Layout::of(form);
        let size = layout.len;
        for (list, len) in
            [(&mut self.gradient, size), (&mut self.drift, size), (&mut self.hessian, size * size)]
        {
            list.clear();
            list.resize(len, 0.0);
        }
        self.offset.clear();
        self.offset
            .extend(form.groups.iter().zip(prices).map(|(group, mu)| prices[layout.job(group.job)] - mu));
        self.uses.clear();
        self.uses.extend(limits.low.iter().map(|&low| f64::from(low)));
        self.value = 0.0;
        for server in form.all_servers() {
            self.server(form, limits, prices, (server, temperature));
        }
        self.rows(form, prices);
        self.turn_groups(form);
        self.jobs(form, limits, prices, temperature);
        for (place, &price) in prices.iter().enumerate().take(layout.lambda) {
            if self.active[place] {
                // Not the logarithm alone: a job that needs all its tasks has two prices that could grow
                // together.
                self.value += temperature * (price - libm::log(price));
                self.gradient[place] += temperature * (1.0 - 1.0 / price);
                self.drift[place] += 1.0 - 1.0 / price;
                self.hessian[place * size + place] += temperature / (price * price);
            }
        }
    }

    /// What the uses leave of each row, and the square root.
    fn rows(&mut self, form: &Form, prices: &[f64]) {
        let layout = Layout::of(form);
        let mut variance = 0.0;
        for (e, &uses) in self.uses.numbered() {
            variance += form.w[e] * uses;
            if let Some(g) = form.group[e] {
                self.gradient[layout.group(g)] -= uses;
            }
            for (place, row) in form.rows.iter().enumerate() {
                self.gradient[layout.rows + place] -= form.request(e)[row.device] as f64 / row.unit * uses;
            }
        }
        for (place, row) in form.rows.iter().enumerate() {
            let capacity = row.capacity as f64 / row.unit;
            self.value += prices[layout.rows + place] * capacity;
            self.gradient[layout.rows + place] += capacity;
        }
        if !form.linear {
            let (place, lambda) = (layout.lambda, lambda(form, prices));
            self.value += 0.25 / lambda;
            self.gradient[place] += lambda * variance - 0.25 / lambda;
            self.hessian[place * layout.len + place] += 0.25 / lambda + lambda * variance;
        }
    }

    /// To a server, a job's price is the opposite of those of all its groups.
    fn turn_groups(&mut self, form: &Form) {
        let layout = Layout::of(form);
        let size = layout.len;
        let places = || form.groups.numbered().map(|(g, group)| (layout.group(g), layout.job(group.job)));
        for (g, job) in places() {
            for column in (0..layout.jobs).chain(layout.rows..size) {
                self.hessian[job * size + column] -= self.hessian[g * size + column];
            }
            self.gradient[job] -= self.gradient[g];
            self.drift[job] -= self.drift[g];
        }
        for (g, job) in places() {
            for row in 0..size {
                self.hessian[row * size + job] -= self.hessian[row * size + g];
            }
        }
    }

    /// Copies: between the fewest and the most by the sign of their worth, smoothly.
    fn jobs(&mut self, form: &Form, limits: &Limits, prices: &[f64], temperature: f64) {
        let layout = Layout::of(form);
        let size = layout.len;
        self.copies.clear();
        for (l, job) in form.jobs.numbered() {
            let q = worth(form, prices, l);
            // A job's worth is a sum over its tasks.
            let own = temperature * f64::from(job.minimum.max(1));
            let (fewest, span) = (f64::from(limits.fewest[l]), f64::from(limits.most[l] - limits.fewest[l]));
            let share = share(q, own);
            self.value += q * fewest + span * softplus(q, own);
            let copies = fewest + span * share;
            self.copies.push(copies);
            let curve = span * share * (1.0 - share) / own;
            let warmer = -curve * q / temperature;
            let coefficient = |place: usize| match form.groups.get(place) {
                Some(group) => f64::from(group.count),
                None => -f64::from(job.minimum),
            };
            let own_prices = || form.groups_of_job(l).map(|g| layout.group(g)).chain([layout.job(l)]);
            for place in own_prices() {
                self.gradient[place] += coefficient(place) * copies;
                self.drift[place] += coefficient(place) * warmer;
                for other in own_prices() {
                    self.hessian[place * size + other] += curve * coefficient(place) * coefficient(other);
                }
            }
        }
    }
}

/// `T ln(1 + exp(x / T))`.
pub(in crate::solver::gang) fn softplus(x: f64, temperature: f64) -> f64 {
    x.max(0.0) + temperature * libm::log1p(libm::exp(-x.abs() / temperature))
}

/// Its derivative.
pub(in crate::solver::gang) fn share(x: f64, temperature: f64) -> f64 {
    1.0 / (1.0 + libm::exp((-x / temperature).min(700.0)))
}
