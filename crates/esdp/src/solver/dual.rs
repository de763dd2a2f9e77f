//! The Lagrangian dual of a slot: multipliers, reduced values and a certified bound.
//!
//! From `sqrt(W) = min over lambda > 0 of lambda W + 1/(4 lambda)` follows, for any
//! `lambda > 0`, `u >= 0` and with `r_e = v_e + lambda w_e - u.a_e`,
//!
//! ```text
//! F(x) <= D(lambda, u) = 1/(4 lambda) + u.c + sum_e max(r_e, 0)
//! D - F(x) = sum over e flipped from [r_e > 0] of |r_e|  +  u.(c - A x)  +  lambda (sqrt(W) - 1/(2 lambda))^2
//! ```
//!
//! so `D` is a bound for every choice of multipliers, and a set that beats a lower bound
//! `LB` flips less than `D - LB` in all. `D` is convex; we minimise it by Newton's method
//! on a smoothed form, `max(r, 0) ~ (r + sqrt(r^2 + 4 tau^2)) / 2` (a square root
//! vectorises, the usual softplus does not), with a log barrier for `u > 0`, lowering
//! `tau` in stages. Large problems take the first stages on a sample of their channels.
//! Each step costs `O(n K^2)`; none allocates in the steady state.
//!
//! No warm start: started from the last slot's multipliers the method saved one step in
//! eight, and made answers depend on history; see `docs/decisions/0002-no-warm-start.md`.
//!
//! However badly the minimisation goes, the bound is evaluated exactly at the end and holds.

use super::reduce::Reduced;

/// At most this many rows get a multiplier; the others keep 0, which is always allowed.
const MAX_ROWS: usize = 7;
/// Channels are visited this many at a time, so that the compiler uses vector registers.
const LANES: usize = 4;
/// The first smoothing temperature; the scaled objective's terms are at most about 1.
const FIRST: f64 = 0.1;
/// Temperatures fall by this factor from stage to stage.
const FACTOR: f64 = 0.2;
/// The last temperature, times the number of channels: the integrality gap shrinks like 1/n.
const LAST: f64 = 0.03;
/// A stage ends when Newton's method promises less than this share of the temperature.
const ENOUGH: f64 = 0.5;
/// Problems of more than four times this size start on a sample of about this size.
const SAMPLE: usize = 512;
/// Where the sample's stages end and the full problem's begin.
const SAMPLE_LAST: f64 = 2e-3;

/// Multipliers and what follows from them; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Dual {
    /// The bound `D`, in the scaled objective.
    pub bound: f64,
    /// The multiplier of the width, `lambda`; 0 for a linear problem.
    pub lambda: f64,
    /// The reduced value `r_e` of each kept channel.
    pub reduced: Vec<f64>,
    /// The temperature at which the multipliers were found: `share` reads it.
    tau: f64,
    /// The multiplier of each kept row.
    pub price: Vec<f64>,
    /// Evaluations of the full problem so far, for the work budget.
    pub steps: u64,
    /// Kept rows that get a multiplier, with capacity over total request.
    active: Vec<(f64, usize)>,
    /// The active rows' capacities and mean requests.
    room: [f64; MAX_ROWS],
    unit: [f64; MAX_ROWS],
    full: Columns,
    sample: Columns,
}

/// Channels laid out for streaming: the means, then a column for each variable (the
/// active rows' requests in units of the row's mean request, then the widths).
#[derive(Debug, Clone, Default)]
struct Columns {
    /// Channels, and channels with padding up to a multiple of `LANES`.
    count: usize,
    padded: usize,
    /// The share of all channels that is laid out here.
    share: f64,
    data: Vec<f64>,
}

/// The smoothed dual at a point: value, gradient and Hessian (lower triangle).
#[derive(Clone, Copy)]
struct Point<const M: usize> {
    value: f64,
    gradient: [f64; M],
    hessian: [[f64; M]; M],
}

impl Dual {
    /// Minimises `D` for a reduced problem with at most about `max_steps` evaluations.
    pub fn minimise(&mut self, problem: &Reduced, max_steps: u64) {
        self.steps = 0;
        self.price.clear();
        self.price.resize(problem.rows(), 0.0);
        self.lambda = 0.0;
        self.tau = LAST;
        self.choose_rows(problem);
        match self.active.len() + usize::from(!problem.linear) {
            0 => {}
            1 => self.newton::<1>(problem, max_steps),
            2 => self.newton::<2>(problem, max_steps),
            3 => self.newton::<3>(problem, max_steps),
            4 => self.newton::<4>(problem, max_steps),
            5 => self.newton::<5>(problem, max_steps),
            6 => self.newton::<6>(problem, max_steps),
            7 => self.newton::<7>(problem, max_steps),
            _ => self.newton::<8>(problem, max_steps),
        }
        self.certify(problem);
    }

    /// Chooses the rows that get a multiplier: the tightest, if there are too many.
    fn choose_rows(&mut self, problem: &Reduced) {
        let (n, rows) = (problem.len(), problem.rows());
        self.active.clear();
        for row in 0..rows {
            let total: f64 = (0..n).map(|e| problem.requests[e * rows + row] as f64).sum();
            self.active.push((problem.capacity[row] as f64 / total, row));
        }
        if rows > MAX_ROWS {
            self.active.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            self.active.truncate(MAX_ROWS);
        }
        for (place, &(ratio, row)) in self.active.iter().enumerate() {
            let capacity = problem.capacity[row] as f64;
            // The mean request, from the ratio; a kept row's capacity is never 0.
            self.unit[place] = capacity / ratio / n as f64;
            self.room[place] = capacity / self.unit[place];
        }
    }

    /// Newton's method with `M` variables: the active rows' multipliers, then `lambda`.
    fn newton<const M: usize>(&mut self, problem: &Reduced, max_steps: u64) {
        let mut x = [0.0; M];
        for (x, (ratio, _)) in x.iter_mut().zip(&self.active) {
            *x = 0.3 * (1.0 - ratio).max(0.1);
        }
        if !problem.linear {
            let share = self.active.iter().map(|&(ratio, _)| ratio).fold(1.0, f64::min);
            let width: f64 = problem.w.iter().sum::<f64>() * share;
            x[M - 1] = 0.5 / width.max(1e-12).sqrt();
        }
        let n = problem.len();
        let mut first = FIRST;
        if n > 4 * SAMPLE {
            let mut sample = std::mem::take(&mut self.sample);
            sample.fill(problem, &self.active, &self.unit, n / SAMPLE);
            self.descend(problem.linear, &sample, &mut x, first, SAMPLE_LAST, u64::MAX);
            self.sample = sample;
            self.steps = 0;
            first = SAMPLE_LAST;
        }
        let mut full = std::mem::take(&mut self.full);
        full.fill(problem, &self.active, &self.unit, 1);
        self.descend(problem.linear, &full, &mut x, first, LAST / n as f64, max_steps);
        self.full = full;
        for (place, &(_, row)) in self.active.iter().enumerate() {
            self.price[row] = x[place] / self.unit[place];
        }
        if !problem.linear {
            self.lambda = x[M - 1];
        }
    }

    /// Damped Newton steps at falling temperatures.
    fn descend<const M: usize>(
        &mut self,
        linear: bool,
        columns: &Columns,
        x: &mut [f64; M],
        first: f64,
        last: f64,
        max_steps: u64,
    ) {
        let mut tau = first;
        loop {
            self.tau = tau;
            let mut here = self.evaluate(linear, columns, x, tau);
            for _ in 0..12 {
                let Some(step) = here.newton_step() else { break };
                let decrement = -dot(&step, &here.gradient);
                if decrement <= ENOUGH * tau {
                    break;
                }
                // Variables stay positive: at most 0.95 of the way to the boundary.
                let mut length: f64 = 1.0;
                for (x, step) in x.iter().zip(&step) {
                    if *step < 0.0 {
                        length = length.min(-0.95 * x / step);
                    }
                }
                let moved = loop {
                    if length < 1e-6 || self.steps >= max_steps {
                        break None;
                    }
                    let mut trial = *x;
                    trial.iter_mut().zip(&step).for_each(|(x, step)| *x += length * step);
                    let there = self.evaluate(linear, columns, &trial, tau);
                    if there.value <= here.value - 0.01 * length * decrement {
                        break Some((trial, there));
                    }
                    length *= 0.4;
                };
                let Some((trial, there)) = moved else { break };
                (*x, here) = (trial, there);
            }
            if tau <= last || self.steps >= max_steps {
                return;
            }
            tau = (tau * FACTOR).max(last);
        }
    }

    /// The smoothed dual, its gradient and Hessian at `x`.
    #[expect(clippy::needless_range_loop, reason = "matrix indices read better as j, k")]
    fn evaluate<const M: usize>(&mut self, linear: bool, columns: &Columns, x: &[f64; M], tau: f64) -> Point<M> {
        self.steps += 1;
        let rows = self.active.len();
        let mut signed = *x; // rows count against a channel, widths for it
        signed[..rows].iter_mut().for_each(|x| *x = -*x);
        let Point { mut value, mut gradient, mut hessian } = columns.sum(&signed, tau);
        for j in 0..M {
            for k in 0..=j {
                if (j < rows) != (k < rows) {
                    hessian[j][k] = -hessian[j][k];
                }
            }
        }
        for place in 0..rows {
            let (x, room) = (x[place], columns.share * self.room[place]);
            value += x * room - tau * x.ln();
            gradient[place] = room - gradient[place] - tau / x;
            hessian[place][place] += tau / (x * x);
        }
        if !linear {
            let (lambda, share) = (x[M - 1], columns.share);
            value += share * 0.25 / lambda;
            gradient[M - 1] -= share * 0.25 / (lambda * lambda);
            hessian[M - 1][M - 1] += share * 0.5 / (lambda * lambda * lambda);
        }
        Point { value, gradient, hessian }
    }

    /// How much of a channel the smoothed dual takes, between 0 and 1. Where many channels
    /// tie, these are the shares that fill every row.
    pub fn share(&self, channel: usize) -> f64 {
        let r = self.reduced[channel];
        0.5 + 0.5 * r / (r * r + 4.0 * self.tau * self.tau).sqrt()
    }

    /// Evaluates `r` and `D` exactly, without smoothing.
    fn certify(&mut self, problem: &Reduced) {
        let rows = problem.rows();
        self.reduced.clear();
        self.bound = if problem.linear { 0.0 } else { 0.25 / self.lambda };
        for (price, &capacity) in self.price.iter().zip(&problem.capacity) {
            self.bound += price * capacity as f64;
        }
        let mut positive = 0.0;
        for e in 0..problem.len() {
            let mut r = problem.v[e] + self.lambda * problem.w[e];
            for (price, &request) in self.price.iter().zip(&problem.requests[e * rows..][..rows]) {
                r -= price * request as f64;
            }
            positive += f64::max(r, 0.0);
            self.reduced.push(r);
        }
        self.bound += positive;
        // The sums above are rounded; a bound must hold all the same.
        self.bound *= 1.0 + f64::EPSILON * (problem.len() + rows + 4) as f64;
        self.steps += 1;
    }
}

impl Columns {
    /// Lays out every `stride`-th channel of a problem.
    fn fill(&mut self, problem: &Reduced, active: &[(f64, usize)], unit: &[f64], stride: usize) {
        let (n, rows) = (problem.len(), problem.rows());
        self.count = n / stride;
        self.share = self.count as f64 / n as f64;
        let chosen = (0..self.count).map(|i| i * stride);
        let padding = self.count.next_multiple_of(LANES) - self.count;
        self.padded = self.count + padding;
        self.data.clear();
        self.data.extend(chosen.clone().map(|e| problem.v[e]));
        // Padding is far below zero and weighs nothing: it adds about tau^2 / 10 to the value.
        self.data.extend(std::iter::repeat_n(-10.0, padding));
        for (&(_, row), unit) in active.iter().zip(unit) {
            self.data.extend(chosen.clone().map(|e| problem.requests[e * rows + row] as f64 / unit));
            self.data.extend(std::iter::repeat_n(0.0, padding));
        }
        self.data.extend(chosen.map(|e| problem.w[e]));
        self.data.extend(std::iter::repeat_n(0.0, padding));
    }

    /// Sums `phi(r)`, `phi'(r) column_j` and `phi''(r) column_j column_k` over the channels,
    /// where `r = v + x.columns` and `phi` is the smoothed positive part.
    fn sum<const M: usize>(&self, x: &[f64; M], tau: f64) -> Point<M> {
        let four = 4.0 * tau * tau;
        let mut value = [0.0; LANES];
        let mut gradient = [[0.0; LANES]; M];
        let mut hessian = [[[0.0; LANES]; M]; M];
        let (means, rest) = self.data.split_at(self.padded);
        let columns: [&[f64]; M] = std::array::from_fn(|j| &rest[j * self.padded..][..self.padded]);
        for at in (0..self.padded).step_by(LANES) {
            let mut r: [f64; LANES] = means[at..at + LANES].try_into().expect("padded");
            let column: [[f64; LANES]; M] =
                std::array::from_fn(|j| columns[j][at..at + LANES].try_into().expect("padded"));
            for j in 0..M {
                for lane in 0..LANES {
                    r[lane] += x[j] * column[j][lane];
                }
            }
            let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let square = r[lane] * r[lane] + four;
                let inverse = 1.0 / square.sqrt();
                value[lane] += 0.5 * (r[lane] + square * inverse);
                first[lane] = 0.5 + 0.5 * r[lane] * inverse;
                second[lane] = 0.5 * four * inverse * inverse * inverse;
            }
            for j in 0..M {
                let mut scaled = [0.0; LANES];
                for lane in 0..LANES {
                    gradient[j][lane] += first[lane] * column[j][lane];
                    scaled[lane] = second[lane] * column[j][lane];
                }
                for k in 0..=j {
                    for lane in 0..LANES {
                        hessian[j][k][lane] += scaled[lane] * column[k][lane];
                    }
                }
            }
        }
        let total = |lanes: &[f64; LANES]| lanes.iter().sum::<f64>();
        Point {
            value: total(&value),
            gradient: std::array::from_fn(|j| total(&gradient[j])),
            hessian: std::array::from_fn(|j| std::array::from_fn(|k| total(&hessian[j][k]))),
        }
    }
}

impl<const M: usize> Point<M> {
    /// Solves `H step = -g` by Cholesky, with a ridge where `H` is nearly singular.
    #[expect(clippy::needless_range_loop, reason = "matrix indices read better as i, j, k")]
    fn newton_step(&self) -> Option<[f64; M]> {
        let mut l = self.hessian;
        for j in 0..M {
            let ridge = 1e-12 * (1.0 + self.hessian[j][j].abs());
            for k in 0..=j {
                let mut sum = l[j][k];
                for i in 0..k {
                    sum -= l[j][i] * l[k][i];
                }
                if j == k {
                    l[j][j] = sum.max(ridge).sqrt();
                } else {
                    l[j][k] = sum / l[k][k];
                }
            }
        }
        let mut step = [0.0; M];
        for j in 0..M {
            let mut sum = -self.gradient[j];
            for i in 0..j {
                sum -= l[j][i] * step[i];
            }
            step[j] = sum / l[j][j];
        }
        for j in (0..M).rev() {
            let mut sum = step[j];
            for i in j + 1..M {
                sum -= l[i][j] * step[i];
            }
            step[j] = sum / l[j][j];
        }
        step.iter().all(|s| s.is_finite()).then_some(step)
    }
}

fn dot<const M: usize>(a: &[f64; M], b: &[f64; M]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
