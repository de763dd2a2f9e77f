//! The linear relaxation of a problem with servers and gangs, by an interior-point method.
//!
//! ```text
//! max  v.x + sqrt(w.x)
//!      sum_e a_ek x_e <= room_k                                        each server, and the cluster
//!      sum of a group's x_e <= count y,  sum of a job's x_e >= minimum y,  fewest <= y <= most
//! ```
//!
//! over real `x` and `y`. It knows nothing of how a server's room is filled by whole tasks, so it is weak
//! where a server holds two or three tasks, and sharp where it holds dozens: then its bound is a fraction of
//! a percent above the optimum, its prices are right, and nearly all of its uses are whole. It does not
//! matter how large the capacities are.
//!
//! `open.rs` lays out what is still open, `job.rs` is a job's own part, `interior.rs` the method, `pairs.rs`
//! its inequalities, `step/` and `system.rs` its linear system, `waypoint.rs` its start where rows were added
//! (`cuts.rs`, `hull.rs`), `bound.rs` a bound that holds at any prices, however they were found. A step costs
//! about `sum over servers of channels^2 devices` or the same by job, whichever is less, and the cube of the
//! other side's rows. Where both are too dear, `saddle/` has another method, and `approach.rs` its rounds.

mod approach;
mod bound;
mod choose;
mod cuts;
mod hull;
mod interior;
mod job;
mod open;
mod pairs;
mod saddle;
mod step;
mod system;
mod waypoint;

use self::cuts::Cuts;
use self::interior::Interior;
use self::job::own_cost;
use self::open::Open;
use self::saddle::Saddle;
use self::waypoint::Waypoint;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByJob, ChannelNo};
use crate::solver::gang::tuning::choose::{COARSE, LARGE, LARGE_PART, MISSING, MISSING_MUCH, SETTLED};
use crate::solver::gang::tuning::interior::{HALF_WAY, NEAR};
use crate::solver::gang::tuning::relax::{
    CUT_ROUNDS, DEAREST, LEAST_GAIN, LEAST_GAIN_OF_LARGE, MUCH, ROOT_TOLERANCE, ROUNDED_TOLERANCE, TOLERANCE,
};
pub(super) use bound::Multipliers;
use std::ops::ControlFlow;

/// A relaxation and its solution; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Relaxation {
    open: Open,
    interior: Interior,
    /// Uses of each channel and copies of each job, the lower limits included.
    pub uses: ByChannel<f64>,
    pub copies: ByJob<f64>,
    pub multipliers: Multipliers,
    trial: Multipliers,
    cuts: Cuts,
    /// Where the next round starts, and the one after that.
    waypoint: Waypoint,
    next_waypoint: Waypoint,
    saddle: Saddle,
    /// Whether the solution is one by small steps (`saddle/`).
    pub by_steps: bool,
    /// Channels that stay out.
    apart: ByChannel<bool>,
    /// Whether rounds that gain much are paid for by others, and what such rounds took.
    pub is_generous: bool,
    pub extra: u64,
    /// Units of work so far.
    pub work: u64,
    /// What the last solution with a bound cost.
    pub last_cost: u64,
}

/// Steps that a solution takes, about.
const STEPS: u64 = 25;

/// What multiplications cost, in units of work.
fn units(multiplications: u64) -> u64 {
    multiplications / 5 * 2
}

impl Relaxation {
    /// About what a solution from the start costs, in units of work.
    pub fn cost(&mut self, form: &Form, limits: &Limits) -> u64 {
        // Jobs of very many groups are not even laid out: that takes the square of the groups.
        let own: u64 = form.jobs.iter().map(|job| own_cost(job.groups, job.groups)).sum();
        if own > DEAREST {
            return STEPS * units(own);
        }
        self.cuts.reset(form);
        self.choose_first(form);
        let Self { open, cuts, apart, .. } = self;
        open.fill(form, limits, cuts, false, |e| !apart[e]);
        let border = self.open.wide.len() + usize::from(!form.linear);
        let (servers, jobs) = self.open.costs(border);
        STEPS * units(servers.min(jobs) + 60 * self.open.len() as u64)
    }

    /// Solves a whole problem, adds rounded rows as long as they help, and leaves the multipliers with the
    /// best bound; that bound. Channels stay out that the prices of the first solution leave far from use
    /// (`choose.rs`); the bound counts them.
    pub fn solve(&mut self, form: &Form, limits: &Limits, work: u64) -> f64 {
        self.by_steps = false;
        self.cuts.reset(form);
        self.waypoint.forget();
        let is_large = self.choose_first(form);
        let least_gain = if is_large { LEAST_GAIN_OF_LARGE } else { LEAST_GAIN };
        let mut end = self.work.saturating_add(work);
        self.extra = 0;
        let (mut bound, mut value) = (f64::INFINITY, 0.0);
        for round in 0..=CUT_ROUNDS {
            let before = bound;
            let last = self.work;
            bound = bound.min(self.solve_once(form, limits, (bound, f64::NEG_INFINITY), end));
            // A round of a large problem has other channels than the one before.
            if !is_large {
                std::mem::swap(&mut self.waypoint, &mut self.next_waypoint);
            }
            let spent = if round == 0 { 0 } else { self.work - last };
            // Channels that are missing make the bound worse than any row can make it better.
            let known = std::mem::replace(&mut value, self.value(form));
            let missing = (bound - value) / bound;
            let is_settled = round > 1 && (value - known).abs() <= SETTLED * bound;
            let misses = missing > MISSING && !(is_large && is_settled);
            let is_far = is_large && misses && missing > MISSING_MUCH;
            if self.is_generous && round > 0 && (is_far || before - bound > MUCH * bound) {
                let most = if is_large { work / LARGE_PART } else { u64::MAX };
                let more = spent.min(most.saturating_sub(self.extra));
                self.extra += more;
                end = end.saturating_add(more);
            }
            let reserve = if is_far { 0 } else { spent / 2 };
            let affordable = self.work.saturating_add(spent + reserve) < end;
            let gains = misses || before.is_infinite() || before - bound > least_gain * bound;
            let is_last = round == CUT_ROUNDS || !gains || !affordable;
            if round == 0 || (misses && !is_last) {
                self.choose_by_prices(form, limits, round == 0);
            }
            if is_last {
                break;
            }
            if !self.cuts.separate(form, &self.uses, &mut self.work) && !misses {
                break;
            }
        }
        self.waypoint.forget();
        bound
    }

    /// The objective at the solution.
    fn value(&self, form: &Form) -> f64 {
        let sum = |of: &ByChannel<f64>| of.iter().zip(&self.uses).map(|(a, x)| a * x).sum::<f64>();
        Form::value(sum(&form.v), sum(&form.w))
    }

    /// Solves with the rows there are; a bound. The multipliers are replaced by ones with a better bound than
    /// the known one. Once the bound is at the target or below, no more is asked.
    fn solve_once(&mut self, form: &Form, limits: &Limits, (known, target): (f64, f64), end: u64) -> f64 {
        let Self { open, interior, multipliers, trial, cuts, apart, waypoint, next_waypoint, .. } = self;
        open.fill(form, limits, cuts, false, |e| !apart[e]);
        let mut bound = known;
        let mut seen = 0;
        let left = end.saturating_sub(self.work);
        // The first prices of a large problem only choose its channels.
        let is_coarse = known.is_infinite() && form.len() > LARGE;
        let tolerance = match known.is_infinite() {
            true if is_coarse => COARSE,
            true => ROOT_TOLERANCE,
            false => ROUNDED_TOLERANCE,
        };
        match waypoint.is_known() {
            true => waypoint.start(form, cuts, open, interior),
            false => interior.start(open),
        }
        next_waypoint.forget();
        interior.run(open, form.linear, (tolerance, left.saturating_mul(5) / 2), |open, interior, last| {
            if last.gap <= HALF_WAY && !next_waypoint.is_known() {
                next_waypoint.record(form, cuts, open, interior);
            }
            if last.gap > NEAR && !last.is_stuck {
                return ControlFlow::Continue(());
            }
            trial.read(form, limits, open, interior, cuts.list.len());
            let own = trial.bound(form, limits, cuts);
            seen += 1;
            if own < bound {
                bound = own;
                std::mem::swap(trial, multipliers);
            }
            if bound <= target { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if seen == 0 && known.is_infinite() {
            multipliers.read(form, limits, open, interior, cuts.list.len());
            bound = multipliers.bound(form, limits, cuts);
        }
        self.last_cost = units(std::mem::take(&mut self.interior.work))
            + (10 + 30 * seen) * form.len() as u64 * form.effort();
        self.work += self.last_cost;
        self.read(form, limits);
        bound
    }

    /// Solves a part of a problem with the rows there are; its bound, with which no more than the target is
    /// asked for. Limits change prices: channels that these bring near use come back, once.
    pub fn solve_part(&mut self, form: &Form, limits: &Limits, target: f64, work: u64) -> f64 {
        let end = self.work.saturating_add(work);
        let bound = self.solve_once(form, limits, (f64::INFINITY, target), end);
        let misses = bound > target && bound - self.value(form) > MISSING * bound;
        if form.len() > LARGE || !misses || !self.take_back(form, limits) {
            return bound;
        }
        self.solve_once(form, limits, (bound, target), end)
    }

    /// Solves what limits leave open of a problem with the channels that are wanted, without a bound.
    pub fn resume(&mut self, form: &Form, limits: &Limits, wanted: impl Fn(ChannelNo) -> bool, work: u64) {
        if self.by_steps {
            return self.resume_by_steps(form, limits);
        }
        let Self { open, cuts, apart, .. } = self;
        // Of a large problem, hardly any channel that was left out is of use later.
        let is_large = form.len() > LARGE;
        open.fill(form, limits, cuts, true, |e| wanted(e) && !(is_large && apart[e]));
        self.interior.start(&self.open);
        self.interior.run(&self.open, form.linear, (TOLERANCE, work.saturating_mul(5) / 2), |_, _, _| {
            ControlFlow::Continue(())
        });
        self.work += units(std::mem::take(&mut self.interior.work)) + 10 * form.len() as u64 * form.effort();
        self.read(form, limits);
    }

    fn read(&mut self, form: &Form, limits: &Limits) {
        let Self { open, interior, uses, copies, .. } = self;
        uses.clear();
        uses.extend(limits.low.iter().map(|&low| f64::from(low)));
        for (&e, x) in open.id.iter().zip(&interior.x) {
            uses[e] += x;
        }
        copies.clear();
        copies.extend(limits.most.iter().map(|&most| f64::from(most)));
        for (l, job) in form.jobs.numbered() {
            // A job whose channels are all settled still has open copies at times.
            if job.is_gang() && limits.fewest[l] < limits.most[l] {
                copies[l] = f64::from(limits.fewest[l]);
            }
        }
        for job in &open.jobs {
            if let Some(at) = job.copies_at() {
                copies[job.id] = interior.unknowns[job.unknown + at];
            }
        }
    }
}
