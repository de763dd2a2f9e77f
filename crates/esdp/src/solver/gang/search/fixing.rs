//! Fixes what would cost more than the gap.
//!
//! By the identity of `prices.rs` a decision that beats the lower bound `LB` pays less than
//! `D - LB` in penalties, so less in each one. A job that alone would pay more with one copy fewer
//! keeps its copies; a channel that would pay more with one use more gets no more: its server's
//! knapsack, solved again under that condition, says how much.

use crate::solver::gang::Decomposition;
use crate::solver::gang::dual::prices::worth;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ChannelNo, ServerNo};

impl Decomposition {
    /// Tightens the limits by the penalties at the best prices; whether anything moved.
    pub(in crate::solver::gang) fn fix(&mut self) -> bool {
        let gap = self.descent.best.value - self.best_value - self.tolerance();
        let fixed_jobs = self.fix_jobs(gap);
        self.pricing.reduce(&self.form, &self.descent.best.prices);
        self.scratch.reset(self.form.len(), 0);
        let mut moved = fixed_jobs;
        for server in self.form.all_servers() {
            moved |= self.fix_server(server, gap);
        }
        moved
    }

    /// Scores every channel at the best prices: what one use of it falls short of its server's best
    /// uses by, 0 or less. Where a knapsack for every channel would take more than a server's share of the
    /// work, its room is priced by the channel that fills it.
    pub(in crate::solver::gang) fn score(&mut self, work: u64) {
        let Self { form, limits, pricing, scratch, other, descent, builder, .. } = self;
        pricing.reduce(form, &descent.best.prices);
        scratch.reset(form.len(), 0);
        other.reset(form.len(), 0);
        builder.score.clear();
        let share = work / form.servers().max(1) as u64;
        for server in form.all_servers() {
            let before = pricing.work;
            let base = pricing.server(form, limits, server, scratch);
            if (pricing.work - before).saturating_mul(form.channels(server).len() as u64) > share {
                let gain = |e: ChannelNo| pricing.r[e] - pricing.knapsack.fee(form.request(e));
                builder.score.extend(form.channels(server).map(|e| gain(e).min(0.0)));
                continue;
            }
            for e in form.channels(server) {
                // A score is never above the value; and uses that are among the best fall short of nothing.
                if pricing.r[e] < -crate::solver::gang::tuning::build::DEAREST || scratch[e] > 0 {
                    builder.score.push(pricing.r[e].min(0.0));
                    continue;
                }
                let fits = limits.high[e] > limits.low[e] && take(form, limits, e, 1);
                let rest = if fits { pricing.server(form, limits, server, other) } else { f64::NEG_INFINITY };
                if fits {
                    give(form, limits, e, 1);
                }
                builder.score.push(pricing.r[e] + rest - base);
            }
        }
    }

    fn fix_jobs(&mut self, gap: f64) -> bool {
        let mut moved = false;
        for l in self.form.jobs.numbers() {
            let (fewest, most) = (self.limits.fewest[l], self.limits.most[l]);
            if fewest == most {
                continue;
            }
            let q = worth(&self.form, &self.descent.best.prices, l);
            // A cast from a float saturates: a worth of 0 allows everything.
            let steps = (gap / q.abs()) as u32;
            if q > 0.0 {
                self.limits.fewest[l] = fewest.max(most.saturating_sub(steps));
            } else {
                self.limits.most[l] = most.min(fewest.saturating_add(steps));
            }
            moved |= (fewest, most) != (self.limits.fewest[l], self.limits.most[l]);
        }
        moved
    }

    fn fix_server(&mut self, server: ServerNo, gap: f64) -> bool {
        let Self { form, limits, pricing, scratch, .. } = self;
        let channels = form.channels(server);
        if channels.clone().all(|e| limits.low[e] == limits.high[e]) {
            return false;
        }
        let mut solve = |limits: &Limits, scratch: &mut ByChannel<u32>| {
            scratch[channels.clone()].copy_from_slice(&limits.low[channels.clone()]);
            pricing.server(form, limits, server, scratch)
        };
        let base = solve(limits, scratch);
        let mut moved = false;
        for e in channels.clone() {
            let (low, high) = (limits.low[e], limits.high[e]);
            if low == high {
                continue;
            }
            solve(limits, scratch);
            let best = scratch[e];
            if best < high {
                // An earlier channel's lower limit may have taken the room.
                let costs = take(form, limits, e, best + 1 - low).then(|| {
                    limits.low[e] = best + 1;
                    let value = solve(limits, scratch);
                    limits.low[e] = low;
                    give(form, limits, e, best + 1 - low);
                    base - value
                });
                if costs.is_none_or(|costs| costs >= gap) {
                    limits.high[e] = best;
                    moved = true;
                }
            }
            if best > low {
                let high = std::mem::replace(&mut limits.high[e], best - 1);
                let value = solve(limits, scratch);
                limits.high[e] = high;
                if base - value >= gap && take(form, limits, e, best - low) {
                    limits.low[e] = best;
                    moved = true;
                }
            }
        }
        moved
    }
}

/// Takes uses of a channel out of its server's room, if they fit.
pub(in crate::solver::gang) fn take(form: &Form, limits: &mut Limits, e: ChannelNo, uses: u32) -> bool {
    let room = &mut limits.room[form.devices_of(form.server[e])];
    let fits = |(&a, &room): (&u64, &u64)| a.checked_mul(u64::from(uses)).is_some_and(|need| need <= room);
    if !form.request(e).iter().zip(&*room).all(fits) {
        return false;
    }
    room.iter_mut().zip(form.request(e)).for_each(|(room, &a)| *room -= a * u64::from(uses));
    true
}

/// Gives back what [`take`] took.
fn give(form: &Form, limits: &mut Limits, e: ChannelNo, uses: u32) {
    let room = &mut limits.room[form.devices_of(form.server[e])];
    room.iter_mut().zip(form.request(e)).for_each(|(room, &a)| *room += a * u64::from(uses));
}
