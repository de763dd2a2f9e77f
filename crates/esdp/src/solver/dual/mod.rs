//! The Lagrangian dual of a slot: multipliers, reduced values and a certified bound.
//!
//! From `sqrt(W) = min over lambda > 0 of lambda W + 1/(4 lambda)` follows, for any `lambda > 0`, `u >= 0`
//! and with `r_e = v_e + lambda w_e - u.a_e`,
//!
//! ```text
//! F(x) <= D(lambda, u) = 1/(4 lambda) + u.c + sum_e max(r_e, 0)
//! D - F(x) = sum over e flipped from [r_e > 0] of |r_e|  +  u.(c - A x)
//!            +  lambda (sqrt(W) - 1/(2 lambda))^2
//! ```
//!
//! so `D` is a bound for every choice of multipliers, and a set that beats a lower bound `LB` flips less than
//! `D - LB` in all. For a fixed `lambda` the best `u` are the prices of a linear program (`lp/`); `lambda` is
//! found by tangents (`Search`). Two more ideas keep it fast:
//!
//! - **Columns that are settled are summed once.** Large problems start on a sample of their channels, whose
//!   prices tell which channels are in doubt. Only those form the next program; the others stay at the bound
//!   that the sign of their `r` asks for. One pass over all channels then tells how far this is from the
//!   optimum of the relaxation.
//! - **Rows that do not bind are left out.** If there are many, the violated ones are added as they turn up.
//!
//! However badly the minimisation goes, the bound is evaluated from the requests at the end and holds.
//! No warm start from the last slot; see `docs/decisions/0002-no-warm-start.md`.

mod lambda;

use self::lambda::{Search, first_lambda};
use super::lp::{End, Lp};
use super::reduce::Reduced;

/// Problems of more than twice this size start on a sample of a sixteenth, at least this many channels and at
/// most so many. As many or more stay in doubt after the sample.
const SAMPLE: usize = 32;
const LARGEST_SAMPLE: usize = 512;
/// So many times as large is the next sample, as long as it is no larger than the program that follows.
const LARGER_SAMPLE: usize = 8;
/// Up to so many rows are all priced from the start.
const FEW_ROWS: usize = 32;
/// At most so many rows are priced; the others keep a price of 0, which is always allowed.
const MOST_ROWS: usize = 512;
/// Violated rows are added so many at a time.
const ROWS_AT_ONCE: usize = 8;
/// The relaxation is solved when primal and dual differ by less than this share of a typical channel's
/// part in the objective.
const CLOSE: f64 = 0.05;
/// Passes over all channels, at most.
const PASSES: usize = 6;
/// Multiplications in a row that take as long as one visit.
pub(super) const MULTIPLICATIONS: u64 = 4;
/// Channels are priced so many at a time, so that they stay in the fastest memory.
const BLOCK: usize = 1024;

/// Multipliers and what follows from them; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Dual {
    /// The bound `D`, in the scaled objective.
    pub bound: f64,
    /// The multiplier of the variance, `lambda`; 0 for a linear problem.
    pub lambda: f64,
    /// The reduced value `r_e` of each kept channel.
    pub reduced: Vec<f64>,
    /// The multiplier of each kept row.
    pub price: Vec<f64>,
    /// Whether the relaxation takes a channel wholly. Together they fit, if `solved`.
    pub whole: Vec<bool>,
    /// Whether the relaxation was solved to its end.
    pub solved: bool,
    /// Visits so far.
    pub work: u64,
    /// Row after row, every channel's request in units of the row's mean request.
    pub requests: Vec<f64>,
    /// Every row's mean request, and its capacity in these units.
    pub unit: Vec<f64>,
    pub room: Vec<f64>,
    /// The priced rows.
    pub active: Vec<u32>,
    /// The channels of the linear program, ascending, and those in the last basis.
    near: Vec<u32>,
    basis: Vec<u32>,
    lp: Lp,
    /// What the settled channels leave of each row's capacity.
    left: Vec<f64>,
    /// The lowest bound so far, with its `lambda` and prices.
    best: (f64, f64),
    best_price: Vec<f64>,
    buffer: Vec<f64>,
}

/// What a linear program is part of: the sums of what is settled, and the weight of the tangent.
#[derive(Debug, Clone, Copy)]
struct Frame {
    mean: f64,
    variance: f64,
    tangent: f64,
}

impl Dual {
    /// Minimises `D` for a reduced problem with about `limit` visits; one pass is always made.
    pub fn minimise(&mut self, problem: &Reduced, limit: u64) {
        let n = problem.len();
        self.work = 0;
        self.solved = false;
        self.basis.clear();
        self.best.0 = f64::INFINITY;
        self.lay_out(problem);
        self.price.clear();
        self.price.resize(problem.rows(), 0.0);
        self.whole.clear();
        self.whole.resize(n, false);
        self.active.clear();
        if problem.rows() <= FEW_ROWS {
            self.active.extend(0..problem.rows() as u32);
        }
        // A share of the channels that fits the tightest row.
        let tightest = self.room.iter().map(|room| room / n as f64).fold(1.0, f64::min);
        self.lambda = first_lambda(problem, tightest);
        let mut count = n;
        if n > 2 * SAMPLE {
            let mut sample = (n / 16).clamp(SAMPLE, LARGEST_SAMPLE);
            loop {
                self.near.clear();
                self.near.extend((0..n as u32).step_by(n / sample));
                let share = self.near.len() as f64 / n as f64;
                self.left.clear();
                self.left.extend(self.room.iter().map(|room| room * share));
                self.relax(problem, Frame { mean: 0.0, variance: 0.0, tangent: share }, limit);
                // A sample that is too small misjudges so many channels that the next program is far off.
                sample *= LARGER_SAMPLE;
                if n < 8 * sample {
                    break;
                }
            }
            self.price_all(problem);
            self.keep_best();
            count = LARGEST_SAMPLE.max(n / 8).min(n);
        } else {
            self.near.clear();
            self.near.extend(0..n as u32);
        }
        for _ in 0..PASSES {
            let frame = self.settle(problem, count);
            let Some((end, value)) = frame.map(|frame| self.relax(problem, frame, limit)) else {
                // What is settled does not fit: more must stay in doubt.
                count = n.min(4 * count);
                continue;
            };
            self.price_all(problem);
            self.keep_best();
            if end == End::Infeasible && count < n {
                count = n.min(4 * count);
                continue;
            }
            self.solved = end == End::Optimal;
            let far = self.bound - value > CLOSE * (1.0 / n as f64);
            if !far || count == n || self.work >= limit {
                break;
            }
            // What was settled wrongly has drawn the prices away: those before tell better what is in doubt.
            self.take_best(problem);
            count = n.min(2 * count);
        }
        self.take_best(problem);
    }

    /// Remembers the multipliers if no others had a lower bound.
    fn keep_best(&mut self) {
        if self.bound < self.best.0 {
            self.best = (self.bound, self.lambda);
            self.best_price.clone_from(&self.price);
        }
    }

    /// Goes back to the multipliers with the lowest bound.
    fn take_best(&mut self, problem: &Reduced) {
        if self.best.0 < self.bound {
            self.lambda = self.best.1;
            self.price.copy_from_slice(&self.best_price);
            self.price_all(problem);
        }
    }

    /// Lays the requests out row by row, in units of a row's mean request.
    fn lay_out(&mut self, problem: &Reduced) {
        let (n, rows) = (problem.len(), problem.rows());
        self.requests.clear();
        self.unit.clear();
        self.room.clear();
        for row in 0..rows {
            let column = problem.requests.iter().skip(row).step_by(rows);
            let from = self.requests.len();
            self.requests.extend(column.map(|&request| request as f64));
            let column = &mut self.requests[from..];
            let unit = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|request| *request /= unit);
            self.unit.push(unit);
            self.room.push(problem.capacity[row] as f64 / unit);
        }
        self.work += (2 * n * (rows + 1)) as u64;
    }

    /// Chooses the `count` channels that are most in doubt, takes the others as the sign of `r` says, and
    /// sums them. Nothing, if those do not fit.
    fn settle(&mut self, problem: &Reduced, count: usize) -> Option<Frame> {
        let n = problem.len();
        self.left.clear();
        self.left.extend_from_slice(&self.room);
        let mut frame = Frame { mean: 0.0, variance: 0.0, tangent: 1.0 };
        if count >= n {
            self.near.clear();
            self.near.extend(0..n as u32);
            return Some(frame);
        }
        self.buffer.clear();
        self.buffer.extend(self.reduced.iter().map(|r| r.abs()));
        let (_, &mut threshold, _) = self.buffer.select_nth_unstable_by(count, f64::total_cmp);
        self.work += 4 * n as u64;
        self.near.clear();
        self.near.extend((0..n as u32).filter(|&e| self.reduced[e as usize].abs() <= threshold));
        for (e, &r) in self.reduced.iter().enumerate() {
            let settled = r > threshold;
            self.whole[e] = settled;
            if settled {
                frame.mean += problem.v[e];
                frame.variance += problem.w[e];
            }
        }
        for (row, left) in self.left.iter_mut().enumerate() {
            let requests = &self.requests[row * n..][..n];
            *left -= requests
                .iter()
                .zip(&self.reduced)
                .map(|(a, &r)| if r > threshold { *a } else { 0.0 })
                .sum::<f64>();
        }
        self.work += (n * problem.rows()) as u64 / 2 + 2 * n as u64;
        self.left.iter().all(|&left| left > 0.0).then_some(frame)
    }

    /// Solves the linear programs over the channels in doubt. Sets the multipliers; returns how it ended, and
    /// the objective of the relaxed point.
    fn relax(&mut self, problem: &Reduced, frame: Frame, limit: u64) -> (End, f64) {
        let n = problem.len();
        let Self { near, lp, .. } = self;
        let channels = near.iter().map(|&e| e as usize);
        lp.work = 0;
        lp.start(channels.clone().map(|e| problem.v[e]), channels.map(|e| problem.w[e]), problem.linear);
        for place in 0..self.active.len() {
            self.add_row(n, self.active[place] as usize);
        }
        // The last program's basis is nearly right for this one.
        for &e in &self.basis {
            if let Ok(place) = self.near.binary_search(&e) {
                self.lp.enter(place as u32);
            }
        }
        let limit = MULTIPLICATIONS.saturating_mul(limit.saturating_sub(self.work));
        let mut ended;
        loop {
            ended = self.search(problem, frame, limit);
            if ended.0 != End::Optimal || self.active.len() == problem.rows() || !self.add_violated(problem) {
                break;
            }
        }
        self.work += self.lp.work / MULTIPLICATIONS;
        self.basis.clear();
        self.basis.extend(self.lp.basics().map(|(place, _)| self.near[place as usize]));
        self.price.fill(0.0);
        for (place, &row) in self.active.iter().enumerate() {
            self.price[row as usize] = self.lp.row_price(place).max(0.0) / self.unit[row as usize];
        }
        for (place, &e) in self.near.iter().enumerate() {
            self.whole[e as usize] = self.lp.share(place as u32) > 1.0 - 1e-9;
        }
        ended
    }

    fn add_row(&mut self, n: usize, row: usize) {
        self.buffer.clear();
        let requests = &self.requests[row * n..][..n];
        self.buffer.extend(self.near.iter().map(|&e| requests[e as usize]));
        self.lp.add_row(&self.buffer, self.left[row]);
    }

    /// Adds the rows that the relaxed point violates most; whether there were any.
    fn add_violated(&mut self, problem: &Reduced) -> bool {
        let n = problem.len();
        self.buffer.clear();
        self.buffer.extend((0..self.near.len() as u32).map(|place| self.lp.share(place)));
        let mut worst: [(f64, u32); ROWS_AT_ONCE] = [(1e-7, u32::MAX); ROWS_AT_ONCE];
        for row in 0..problem.rows() {
            let requests = &self.requests[row * n..][..n];
            let used: f64 =
                self.near.iter().zip(&self.buffer).map(|(&e, share)| share * requests[e as usize]).sum();
            let over = (used - self.left[row]) / self.left[row].max(1.0);
            let least = worst.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)).expect("some");
            if over > least.0 && !self.active.contains(&(row as u32)) {
                *least = (over, row as u32);
            }
        }
        self.work += (problem.rows() * self.near.len()) as u64 / 2;
        let mut added = false;
        for (_, row) in worst {
            if row != u32::MAX && self.active.len() < MOST_ROWS {
                self.active.push(row);
                self.add_row(n, row as usize);
                added = true;
            }
        }
        added
    }

    /// Solves the linear program, for the best `lambda` if there are variances.
    fn search(&mut self, problem: &Reduced, frame: Frame, limit: u64) -> (End, f64) {
        if problem.linear {
            self.lp.price(0.0);
            let end = self.lp.solve(limit, f64::NEG_INFINITY);
            return (end, frame.mean + self.sums(problem).0);
        }
        let mut search = Search::default();
        let mut lambda = self.lambda;
        let close = 0.5 * CLOSE / self.near.len().max(1) as f64;
        let mut best = (f64::INFINITY, lambda);
        let mut last = (End::Stopped, 0.0);
        for _ in 0..30 {
            self.lp.price(lambda);
            let end = self.lp.solve(limit, f64::NEG_INFINITY);
            let (mean, variance) = self.sums(problem);
            let (mean, variance) = (mean + frame.mean, variance + frame.variance);
            let value = mean + lambda * variance + 0.25 * frame.tangent / lambda;
            last = (end, mean + (frame.tangent * variance.max(0.0)).sqrt());
            if value < best.0 {
                best = (value, lambda);
            }
            if end != End::Optimal {
                break;
            }
            let (next, model) = search.next(lambda, (mean, variance), frame.tangent);
            if best.0 - model <= close || next == lambda {
                break;
            }
            lambda = next;
        }
        if lambda != best.1 && last.0 == End::Optimal {
            lambda = best.1;
            self.lp.price(lambda);
            last.0 = self.lp.solve(limit, f64::NEG_INFINITY);
        }
        self.lambda = lambda;
        last.1 = best.0;
        last
    }

    /// The sums of means and variances at the linear program's point.
    fn sums(&mut self, problem: &Reduced) -> (f64, f64) {
        self.lp.work += self.near.len() as u64;
        let (mut mean, mut variance) = (0.0, 0.0);
        for (place, &e) in self.near.iter().enumerate() {
            let share = self.lp.share(place as u32);
            mean += share * problem.v[e as usize];
            variance += share * problem.w[e as usize];
        }
        (mean, variance)
    }

    /// Evaluates `r` and `D` for the multipliers, from the requests.
    fn price_all(&mut self, problem: &Reduced) {
        let n = problem.len();
        let mut bound = if problem.linear { 0.0 } else { 0.25 / self.lambda };
        for (price, &capacity) in self.price.iter().zip(&problem.capacity) {
            bound += price * capacity as f64;
        }
        self.reduced.clear();
        let mut priced = 0;
        for start in (0..n).step_by(BLOCK) {
            let block = start..n.min(start + BLOCK);
            if problem.linear {
                self.reduced.extend_from_slice(&problem.v[block.clone()]);
            } else {
                let channels = problem.v[block.clone()].iter().zip(&problem.w[block.clone()]);
                self.reduced.extend(channels.map(|(v, w)| v + self.lambda * w));
            }
            priced = 0;
            for &row in &self.active {
                let price = self.price[row as usize] * self.unit[row as usize];
                if price > 0.0 {
                    priced += 1;
                    let requests = &self.requests[row as usize * n..][..n][block.clone()];
                    for (r, a) in self.reduced[block.clone()].iter_mut().zip(requests) {
                        *r -= price * a;
                    }
                }
            }
            bound += self.reduced[block].iter().map(|r| r.max(0.0)).sum::<f64>();
        }
        // The sums above are rounded; a bound must hold all the same.
        self.bound = bound * (1.0 + f64::EPSILON * (n + 4 * problem.rows() + 8) as f64);
        self.work += 2 * n as u64 + (n * priced) as u64 / 2;
    }
}
