//! Branch and bound, for limits of servers and of the cluster together.
//!
//! The bound keeps the server rows: with cluster rows priced by `u` and the variance by
//! `lambda`, the problem falls apart into one small knapsack a server,
//!
//! ```text
//! F(x) <= 1/(4 lambda) + u.c + sum over servers of max { sum r_e x_e : x fits the server }
//! ```
//!
//! Depth-first over channels, server after server, the promising branch first. Exact where
//! the search ends within the work budget; else the bound at the root holds. Large gangs
//! and thousands of constrained servers deserve a decomposition of their own.

use super::Found;
use crate::model::Room;
use crate::solver::Problem;
use crate::solver::dual::Dual;
use crate::solver::reduce::Reduced;

/// Visits spent on one server's own knapsack before its relaxed bound is taken.
const SERVER_WORK: u64 = 2_000;

/// A branch-and-bound search and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    /// Channels by server, then by descending reduced value.
    order: Vec<u32>,
    r: Vec<f64>,
    /// What the channels from a position of `order` on can add at most.
    rest: Vec<f64>,
    walk: Walk,
}

/// One depth-first walk: the decisions on the path and the sums they lead to.
#[derive(Debug, Clone, Default)]
struct Walk {
    path: Vec<Step>,
    room: Room,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    taken: bool,
    other_tried: bool,
    before: Sums,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    mean: f64,
    variance: f64,
    reduced: f64,
}

/// Where a walk turns after a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    Deeper,
    Back,
    Stop,
}

/// What a walk reads.
#[derive(Clone, Copy)]
struct Ground<'a> {
    problem: &'a Problem<'a>,
    reduced: &'a Reduced,
    r: &'a [f64],
}

impl Branch {
    /// Searches for a set better than `found`.
    pub fn search(
        &mut self,
        problem: &Problem<'_>,
        reduced: &Reduced,
        dual: &Dual,
        budget: u64,
        found: &mut Found,
    ) {
        problem.fill(&mut self.walk.room);
        let mut base = self.price(problem, reduced, dual, dual.lambda);
        if !reduced.linear {
            // The dual knew nothing of servers, so its lambda may be far off; the variance of the
            // lower bound's set gives another. Both bounds hold; the smaller one is used.
            let dual_root = base + self.rest[0];
            let variance: f64 = found.chosen.iter().map(|&e| reduced.w[e as usize]).sum();
            base = self.price(problem, reduced, dual, 0.5 / variance.max(1e-12).sqrt());
            if base + self.rest[0] > dual_root {
                base = self.price(problem, reduced, dual, dual.lambda);
            }
        }
        found.bound = found.bound.min(base + self.rest[0]).max(found.value);
        let Self { order, r, rest, walk } = self;
        let ground = Ground { problem, reduced, r };
        let Found { chosen, value: best, work, .. } = &mut *found;
        let finished = walk.run(ground, order, |path, sums| {
            *work += 8; // a step of the walk costs as much as several label visits
            let value = Reduced::value(sums.mean, sums.variance);
            if value > *best {
                *best = value;
                *work += path.len() as u64 / 8; // the copy below
                chosen.clear();
                chosen.extend(order.iter().zip(path).filter(|(_, step)| step.taken).map(|(&e, _)| e));
            }
            match base + sums.reduced + rest[path.len()] > *best {
                _ if *work > budget => Go::Stop,
                true => Go::Deeper,
                false => Go::Back,
            }
        });
        found.bound = if finished { found.value } else { found.bound.max(found.value) };
    }

    /// Sets `r`, `order` and `rest` for a `lambda`; returns the constant part of the bound.
    fn price(&mut self, problem: &Problem<'_>, reduced: &Reduced, dual: &Dual, lambda: f64) -> f64 {
        let n = reduced.len();
        self.r.clear();
        self.r.extend((0..n).map(|e| dual.reduced[e] + (lambda - dual.lambda) * reduced.w[e]));
        let server =
            |e: u32| problem.servers().map_or(0, |servers| servers.of[reduced.ids[e as usize] as usize]);
        self.order.clear();
        self.order.extend(0..n as u32);
        let r = &self.r;
        self.order.sort_unstable_by(|&a, &b| {
            server(a).cmp(&server(b)).then(r[b as usize].total_cmp(&r[a as usize])).then(a.cmp(&b))
        });
        self.rest.clear();
        self.rest.resize(n + 1, 0.0);
        let mut end = n;
        while end > 0 {
            let this = server(self.order[end - 1]);
            let start = self.order[..end].partition_point(|&e| server(e) < this);
            let after = self.rest[end];
            for position in (start..end).rev() {
                let gain = self.r[self.order[position] as usize].max(0.0);
                self.rest[position] = self.rest[position + 1] + gain;
            }
            if problem.servers().is_some() {
                let ground = Ground { problem, reduced, r: &self.r };
                let rest = &self.rest[start..=end];
                if let Some(best) = self.walk.knapsack(ground, &self.order[start..end], rest) {
                    self.rest[start] = self.rest[start].min(after + best);
                }
            }
            end = start;
        }
        let prices: f64 = dual.price.iter().zip(&reduced.capacity).map(|(price, &c)| price * c as f64).sum();
        if reduced.linear { prices } else { prices + 0.25 / lambda }
    }
}

impl Walk {
    /// The largest sum of reduced values that one server can hold, if that is quickly found.
    fn knapsack(&mut self, ground: Ground<'_>, channels: &[u32], rest: &[f64]) -> Option<f64> {
        let (mut best, mut work, after) = (0.0, 0, rest[channels.len()]);
        let finished = self.run(ground, channels, |path, sums| {
            best = f64::max(best, sums.reduced);
            work += 1;
            match sums.reduced + (rest[path.len()] - after) > best {
                _ if work > SERVER_WORK => Go::Stop,
                true => Go::Deeper,
                false => Go::Back,
            }
        });
        finished.then_some(best)
    }

    /// Visits sets of channels depth-first, the promising branch first. Returns whether it
    /// came to the end; leaves the room as it was.
    fn run(
        &mut self,
        ground: Ground<'_>,
        channels: &[u32],
        mut visit: impl FnMut(&[Step], &Sums) -> Go,
    ) -> bool {
        let position = |depth: usize| ground.reduced.ids[channels[depth] as usize] as usize;
        let mut sums = Sums::default();
        self.path.clear();
        loop {
            let go = visit(&self.path, &sums);
            if go == Go::Stop {
                break;
            }
            if go == Go::Deeper && self.path.len() < channels.len() {
                let depth = self.path.len();
                let promising = ground.r[channels[depth] as usize] > 0.0;
                let fits = promising && ground.problem.take(&mut self.room, position(depth), 1);
                self.path.push(Step { taken: fits, other_tried: promising && !fits, before: sums });
                if fits {
                    sums = sums.with(ground, channels[depth]);
                }
                continue;
            }
            loop {
                let Some(step) = self.path.pop() else { return true };
                let depth = self.path.len();
                sums = step.before;
                if step.taken {
                    ground.problem.give(&mut self.room, position(depth));
                }
                if step.other_tried {
                    continue;
                }
                if step.taken {
                    self.path.push(Step { taken: false, other_tried: true, ..step });
                    break;
                }
                if ground.problem.take(&mut self.room, position(depth), 1) {
                    self.path.push(Step { taken: true, other_tried: true, ..step });
                    sums = sums.with(ground, channels[depth]);
                    break;
                }
            }
        }
        while let Some(step) = self.path.pop() {
            if step.taken {
                ground.problem.give(&mut self.room, position(self.path.len()));
            }
        }
        false
    }
}

impl Sums {
    fn with(self, ground: Ground<'_>, e: u32) -> Self {
        let e = e as usize;
        Self {
            mean: self.mean + ground.reduced.v[e],
            variance: self.variance + ground.reduced.w[e],
            reduced: self.reduced + ground.r[e],
        }
    }
}
