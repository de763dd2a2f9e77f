//! TREE: branch and bound on the linear relaxation, for what labels cannot take: many rows, or weights
//! too wide for one word.
//!
//! Channels outside of the core (see `core.rs`) are fixed. At a node some more are; its relaxation is solved
//! by a few steps of the dual simplex method (`lp/`) from wherever the last node ended. The node's bound is
//! evaluated from the requests with the prices found, for the `lambda` of the root: valid whatever the
//! table's rounding errors.
//!
//! How many channels of the core are left out is one more whole number, with a row of its own; where it is
//! not whole, a node is split by it first. Where all channels are worth about the same, that closes most of
//! the gap.
//!
//! A node with a bound above the best set is split by the channel that is shared most evenly. The search goes
//! down the side that the relaxation prefers, and when that ends it takes the open node with the largest
//! bound: what is proved when the budget ends is the largest bound that is still open. Every node's relaxed
//! point is rounded to a set: few channels are shared, so little is lost, and what then fits is filled in by
//! reduced value (`rounding.rs`).

use super::ground::Ground;
use super::rounding::Rounding;
use super::{Found, Limits};
use crate::solver::dual::{Dual, MULTIPLICATIONS};
use crate::solver::lp::{End, Lp};
use crate::solver::reduce::Reduced;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Shares closer to 0 or 1 than this are whole.
const WHOLE: f64 = 1e-6;
/// A number of columns is whole if it is closer to a whole number than this.
const UNEVEN: f64 = 1e-4;
/// The table is computed anew after so many nodes.
const FRESH: u32 = 200;
/// More nodes than this are not kept; the search ends.
const MOST_NODES: usize = 1 << 20;
/// Rows that a table may have.
const MOST_ROWS: usize = 256;
/// What a node costs beside its program.
const NODE: u64 = 150;
/// No parent: the root.
const NONE: u32 = u32::MAX;

/// A branch-and-bound search and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    ground: Ground,
    /// The rows that the core can fill.
    rows: Vec<u32>,
    lp: Lp,
    /// Row after row, the columns' requests; the room that the fixed channels leave.
    requests: Vec<f64>,
    left: Vec<f64>,
    /// The columns' part in the objective at the root's `lambda`, and reduced at the node's prices.
    gain: Vec<f64>,
    reduced: Vec<f64>,
    nodes: Vec<Node>,
    open: BinaryHeap<Open>,
    /// What the current node fixes: for every column nothing, or in or out; and the columns of its path.
    state: Vec<Option<bool>>,
    path: Vec<u32>,
    before: Vec<u32>,
    /// How many columns the current node leaves out, at least and at most.
    idle: (u32, u32),
    basis: Vec<u32>,
    line: Vec<f64>,
    rounding: Rounding,
}

/// A decision on the way from the root.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// The column that is decided; beyond the last one, the number of those left out.
    column: u32,
    /// Whether the column is taken, or at least `least` are left out.
    taken: bool,
    least: u32,
}

/// A node to be solved, with the bound of its parent.
#[derive(Debug, Clone, Copy)]
struct Open {
    bound: f64,
    node: u32,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl Tree {
    /// Searches for a set better than `found` among the first `count` channels of `order`, the core by
    /// ascending `|r|`.
    pub fn search(
        &mut self,
        problem: &Reduced,
        dual: &Dual,
        order: &[u32],
        count: usize,
        limits: Limits,
        found: &mut Found,
    ) {
        // A set that flips another channel pays at least the first one's `|r|`.
        let beyond =
            order.get(count).map_or(f64::NEG_INFINITY, |&e| dual.bound - dual.reduced[e as usize].abs());
        found.work += self.prepare(problem, dual, &order[..count.min(order.len())]);
        if !self.ground.fits {
            found.bound = found.bound.min(beyond).max(found.value);
            return;
        }
        if self.rows.len() > MOST_ROWS {
            return;
        }
        self.rebuild();
        found.work += self.lp.work / MULTIPLICATIONS;
        let before = found.value;
        let mut next = Some(Open { bound: found.bound, node: NONE });
        let mut since = 0;
        let mut proved = beyond;
        while let Some(open) = next {
            if open.bound <= found.value {
                // The largest bound that is open: all the others are no better.
                if self.open.is_empty() {
                    break;
                }
                next = self.open.pop();
                continue;
            }
            if found.work >= limits.work || self.nodes.len() + 2 > MOST_NODES {
                proved = proved.max(open.bound);
                break;
            }
            since += 1;
            if since > FRESH {
                since = 0;
                self.rebuild();
            }
            next = self.visit(problem, dual, open, limits, found).or_else(|| self.open.pop());
        }
        let open = self.open.iter().map(|open| open.bound).fold(proved, f64::max);
        found.bound = found.bound.min(open).max(found.value);
        if found.value > before {
            let taken = self.rounding.best.iter().map(|&column| column as usize);
            self.ground.write(&dual.reduced, taken, &mut found.chosen);
        }
    }

    /// Solves a node and splits it; returns the child to go on with.
    fn visit(
        &mut self,
        problem: &Reduced,
        dual: &Dual,
        open: Open,
        limits: Limits,
        found: &mut Found,
    ) -> Option<Open> {
        self.go_to(open.node);
        self.lp.work = 0;
        let constant = self.constant(problem, dual.lambda);
        let limit = MULTIPLICATIONS.saturating_mul(limits.work.saturating_sub(found.work)).max(1);
        let end = self.lp.solve(limit, found.value - constant);
        let bound = (constant + self.price()).min(open.bound);
        found.work += self.lp.work / 3 + (self.ground.len() * (self.rows.len() + 2)) as u64 / 2 + NODE;
        if bound <= found.value {
            return None;
        }
        let value = self.rounding.round(&self.ground, &self.lp, &self.state, &self.reduced);
        found.work += self.rounding.work;
        if value > found.value {
            found.value = value;
            if bound <= value {
                return None;
            }
        }
        if end == End::Stopped && found.work >= limits.work {
            // Not solved, but bounded: it stays open.
            self.open.push(Open { bound, node: open.node });
            return None;
        }
        let (column, taken, least) = self.split()?;
        let mut child = |taken| {
            self.nodes.push(Node { parent: open.node, column, taken, least });
            Open { bound, node: self.nodes.len() as u32 - 1 }
        };
        let (first, second) = (child(taken), child(!taken));
        let is_count = column as usize == self.ground.len();
        let fits = |open: &Open, tree: &Self| {
            is_count || !tree.nodes[open.node as usize].taken || tree.rounding.fits(&tree.ground, column)
        };
        let (first, second) = (Some(first).filter(|o| fits(o, self)), Some(second).filter(|o| fits(o, self)));
        match (first, second) {
            (Some(first), Some(second)) => {
                self.open.push(second);
                Some(first)
            }
            (one, other) => one.or(other),
        }
    }

    /// What to split by, and the side to look at first: the number of columns left out, if it is not whole;
    /// the column that is shared most evenly; or if none is shared, the one whose choice matters least.
    fn split(&self) -> Option<(u32, bool, u32)> {
        let columns = self.ground.len();
        let idle = self.lp.share(columns as u32);
        let part = idle - idle.floor();
        if part > UNEVEN && part < 1.0 - UNEVEN && self.idle.0 < self.idle.1 {
            return Some((columns as u32, part > 0.5, idle.ceil() as u32));
        }
        let mut best = (WHOLE, None);
        for (column, share) in self.lp.basics() {
            let even = share.min(1.0 - share);
            if even > best.0 && self.state.get(column as usize).is_some_and(Option::is_none) {
                best = (even, Some((column, share > 0.5, 0)));
            }
        }
        best.1.or_else(|| {
            let free = (0..columns).filter(|&column| self.state[column].is_none());
            let least = free.min_by(|&a, &b| self.reduced[a].abs().total_cmp(&self.reduced[b].abs()))?;
            Some((least as u32, self.reduced[least] > 0.0, 0))
        })
    }

    /// What the bound has beside the core's part.
    fn constant(&self, problem: &Reduced, lambda: f64) -> f64 {
        let tangent = if problem.linear { 0.0 } else { lambda * self.ground.fixed.1 + 0.25 / lambda };
        self.ground.fixed.0 + tangent
    }

    /// Reduces the columns at the program's prices; the core's part of the bound.
    fn price(&mut self) -> f64 {
        let columns = self.ground.len();
        self.reduced.clear();
        self.reduced.extend_from_slice(&self.gain);
        let mut bound = 0.0;
        for row in 0..self.rows.len() {
            let price = self.lp.row_price(row);
            if price > 0.0 {
                bound += price * self.left[row];
                let requests = &self.requests[row * columns..][..columns];
                for (r, a) in self.reduced.iter_mut().zip(requests) {
                    *r -= price * a;
                }
            }
        }
        // Leaving out costs nothing in itself; at this price, as few or as many as the node allows.
        let idle = self.lp.row_price(self.rows.len());
        self.reduced.iter_mut().for_each(|r| *r -= idle);
        bound += idle * columns as f64 - (idle * f64::from(self.idle.0)).min(idle * f64::from(self.idle.1));
        let size =
            self.reduced.iter().map(|r| r.abs()).sum::<f64>() + bound.abs() + idle.abs() * columns as f64;
        for (&r, state) in self.reduced.iter().zip(&self.state) {
            bound += match state {
                None => r.max(0.0),
                Some(true) => r,
                Some(false) => 0.0,
            };
        }
        bound + f64::EPSILON * (columns + 4 * self.rows.len() + 8) as f64 * size
    }

    /// Fixes what is outside of the core, and lays out the rest.
    fn prepare(&mut self, problem: &Reduced, dual: &Dual, order: &[u32]) -> u64 {
        let n = problem.len();
        let work = self.ground.prepare(problem, &dual.reduced, order);
        self.rounding.start(&self.ground);
        let Ground { channels, mean, variance, left, .. } = &self.ground;
        self.gain.clear();
        self.gain.extend(mean.iter().zip(variance).map(|(v, w)| v + dual.lambda * w));
        self.rows.clear();
        self.requests.clear();
        self.left.clear();
        for (row, &left) in left.iter().enumerate() {
            let all: u128 = channels.iter().map(|&e| u128::from(problem.request(e as usize)[row])).sum();
            if all > u128::from(left) {
                self.rows.push(row as u32);
                let requests = &dual.requests[row * n..][..n];
                self.requests.extend(channels.iter().map(|&e| requests[e as usize]));
                self.left.push(left as f64 / dual.unit[row]);
            }
        }
        self.nodes.clear();
        self.open.clear();
        self.path.clear();
        self.state.clear();
        self.state.resize(self.ground.len(), None);
        self.idle = (0, self.ground.len() as u32);
        self.lp.start(std::iter::empty(), std::iter::empty(), true);
        work + (self.ground.len() * problem.rows()) as u64
    }

    /// Computes the table anew for the same basis and bounds.
    fn rebuild(&mut self) {
        let columns = self.ground.len();
        self.basis.clear();
        self.basis.extend(self.lp.basics().map(|(column, _)| column));
        self.lp.start(self.gain.iter().copied().chain([0.0]), std::iter::empty(), true);
        for (row, &left) in self.left.iter().enumerate() {
            self.line.clear();
            self.line.extend_from_slice(&self.requests[row * columns..][..columns]);
            self.line.push(0.0);
            self.lp.add_row(&self.line, left);
        }
        self.line.clear();
        self.line.resize(columns + 1, 1.0);
        self.lp.add_row(&self.line, columns as f64);
        let slack = columns + 1 + self.rows.len();
        self.lp.bound(slack as u32, 0.0, 0.0);
        self.lp.bound(columns as u32, f64::from(self.idle.0), f64::from(self.idle.1));
        for &column in &self.basis {
            self.lp.enter(column);
        }
        self.lp.price(0.0);
        for &column in &self.path {
            let at = f64::from(u8::from(self.state[column as usize] == Some(true)));
            self.lp.bound(column, at, at);
        }
        let value =
            (0..columns as u32).map(|column| self.gain[column as usize] * self.lp.share(column)).sum();
        self.lp.set_value(value);
    }

    /// Sets the bounds of a node: those of the last one that it does not share are lifted.
    fn go_to(&mut self, node: u32) {
        let mut at = node;
        self.before.clone_from(&self.path);
        self.path.clear();
        let columns = self.ground.len() as u32;
        let mut idle = (0, columns);
        while at != NONE {
            let Node { parent, column, taken, least } = self.nodes[at as usize];
            match (column < columns, taken) {
                (true, _) => self.path.push(column),
                (false, true) => idle.0 = idle.0.max(least),
                (false, false) => idle.1 = idle.1.min(least - 1),
            }
            at = parent;
        }
        if self.idle != idle {
            self.idle = idle;
            self.lp.bound(columns, f64::from(idle.0), f64::from(idle.1));
        }
        self.path.sort_unstable();
        for at in 0..self.before.len() {
            let column = self.before[at];
            if self.path.binary_search(&column).is_err() {
                self.state[column as usize] = None;
                self.lp.bound(column, 0.0, 1.0);
                self.rounding.free(&self.ground, column);
            }
        }
        let mut at = node;
        while at != NONE {
            let Node { parent, column, taken, .. } = self.nodes[at as usize];
            if column < columns && self.state[column as usize] != Some(taken) {
                if self.state[column as usize].is_some() {
                    self.rounding.free(&self.ground, column);
                }
                self.state[column as usize] = Some(taken);
                let bound = f64::from(u8::from(taken));
                self.lp.bound(column, bound, bound);
                if taken {
                    self.rounding.fix_in(&self.ground, column);
                }
            }
            at = parent;
        }
    }
}
