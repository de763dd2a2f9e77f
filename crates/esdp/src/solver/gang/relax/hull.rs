//! The sharpest row of a small server: of all that whole uses of its room keep, the one that the relaxation's
//! uses break most.
//!
//! Channels with one request are one *kind*; a *pattern* is how many tasks of each kind run together. Of all
//! rows `sum pi_kind n_kind <= 1` that every pattern keeps, a linear program finds the one that uses break
//! most. It starts with no pattern, and is given the one that breaks its answer most, which a table over the
//! server's room finds, until none does.
//!
//! A server with 3 of each of two devices, and tasks of (2, 1), (1, 2) and (2, 2): one of each of the first
//! two fits, or one of the last. In parts, .6 tasks of each would fit; the row `n_1 / 2 + n_2 / 2 + n_3 <= 1`
//! forbids it.

use super::cuts::Cut;
use crate::model::Amount;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ServerNo};
use crate::solver::gang::tuning::hull::{CELLS, KINDS, PATTERNS, UNUSED};
use crate::solver::lp::{End, Lp};

/// A kind of channels on a server.
#[derive(Debug, Clone)]
struct Kind {
    request: Vec<Amount>,
    /// How far its request is from one cell of the table to another.
    step: usize,
    uses: f64,
    /// Its entry in the row.
    entry: f64,
}

/// The search for a row; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Hull {
    lp: Lp,
    kinds: Vec<Kind>,
    /// The kind of each channel of the server; none if it never fits, or always.
    kind_of: Vec<Option<usize>>,
    /// For each cell of the table over the room: its largest sum, and the kind that was added last.
    largest: Vec<f64>,
    last: Vec<Option<usize>>,
    pattern: Vec<f64>,
}

impl Hull {
    /// The row of a small server that uses break most, and by how much. Counts work.
    pub fn separate(
        &mut self,
        form: &Form,
        uses: &ByChannel<f64>,
        server: ServerNo,
        work: &mut u64,
    ) -> Option<(f64, Cut)> {
        let room = &form.room[form.devices_of(server)];
        let cells = room.iter().fold(1u64, |cells, &room| cells.saturating_mul(room.saturating_add(1)));
        if cells > CELLS || !self.list_kinds(form, uses, server, work) {
            return None;
        }
        let capacity = self.find_row(room, work)?;
        let load: f64 = self.kinds.iter().map(|kind| kind.entry * kind.uses).sum();
        let entries =
            self.kind_of.iter().map(|kind| kind.map_or(0.0, |kind| self.kinds[kind].entry)).collect();
        // All patterns keep the row: its capacity is the largest sum, found by the same arithmetic.
        Some((load / capacity - 1.0, Cut { server, entries, capacity }))
    }

    /// Finds the row that the kinds' uses break most; its capacity.
    fn find_row(&mut self, room: &[Amount], work: &mut u64) -> Option<f64> {
        let before = self.lp.work;
        self.lp.start(self.kinds.iter().map(|kind| kind.uses + UNUSED), std::iter::empty(), true);
        self.lp.price(0.0);
        let mut capacity = f64::INFINITY;
        for _ in 0..PATTERNS {
            if self.lp.solve(u64::MAX, f64::NEG_INFINITY) != End::Optimal {
                return None;
            }
            for (variable, kind) in (0..).zip(&mut self.kinds) {
                kind.entry = self.lp.share(variable).max(0.0);
            }
            capacity = self.find_pattern(room);
            *work += (self.largest.len() * self.kinds.len()) as u64;
            if capacity <= 1.0 + 1e-6 {
                break;
            }
            self.lp.add_row(&self.pattern, 1.0);
        }
        *work += self.lp.work - before;
        Some(capacity)
    }

    /// Lists the kinds of a server's channels; whether there are any, and few.
    fn list_kinds(&mut self, form: &Form, uses: &ByChannel<f64>, server: ServerNo, work: &mut u64) -> bool {
        let room = &form.room[form.devices_of(server)];
        self.kinds.clear();
        self.kind_of.clear();
        for e in form.channels(server) {
            let request = form.request(e);
            *work += self.kinds.len() as u64;
            let fits = request.iter().zip(room).all(|(a, room)| a <= room) && request.iter().any(|&a| a > 0);
            if !fits {
                self.kind_of.push(None);
                continue;
            }
            let known = self.kinds.iter().position(|kind| kind.request == request);
            let kind = known.unwrap_or_else(|| {
                let step =
                    request.iter().zip(room).fold(0, |at, (&a, &room)| at * (room as usize + 1) + a as usize);
                self.kinds.push(Kind { request: request.to_vec(), step, uses: 0.0, entry: 0.0 });
                self.kinds.len() - 1
            });
            self.kinds[kind].uses += uses[e];
            self.kind_of.push(Some(kind));
            if self.kinds.len() > KINDS {
                return false;
            }
        }
        !self.kinds.is_empty()
    }

    /// Finds the pattern with the largest sum of entries; that sum.
    fn find_pattern(&mut self, room: &[Amount]) -> f64 {
        let Self { kinds, largest, last, pattern, .. } = self;
        largest.clear();
        last.clear();
        // What there is of each device in the next cell.
        let mut here = vec![0; room.len()];
        loop {
            let cell = largest.len();
            largest.push(0.0);
            last.push(None);
            for (place, kind) in kinds.iter().enumerate() {
                if kind.request.iter().zip(&here).all(|(a, here)| a <= here) {
                    let sum = largest[cell - kind.step] + kind.entry;
                    if sum > largest[cell] {
                        largest[cell] = sum;
                        last[cell] = Some(place);
                    }
                }
            }
            let Some(device) = (0..room.len()).rev().find(|&device| here[device] < room[device]) else {
                break;
            };
            here[device] += 1;
            here[device + 1..].fill(0);
        }
        pattern.clear();
        pattern.resize(kinds.len(), 0.0);
        let mut cell = last.len() - 1;
        while let Some(kind) = last[cell] {
            pattern[kind] += 1.0;
            cell -= kinds[kind].step;
        }
        largest[largest.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(request: [Amount; 2], room: [Amount; 2], uses: f64) -> Kind {
        let step = (request[0] * (room[1] + 1) + request[1]) as usize;
        Kind { request: request.to_vec(), step, uses, entry: 0.0 }
    }

    /// The example of the front page.
    #[test]
    fn a_row_of_two_devices() {
        let room = [3, 3];
        let kinds = [[2, 1], [1, 2], [2, 2]].map(|request| kind(request, room, 0.6)).to_vec();
        let mut hull = Hull { kinds, ..Hull::default() };
        let mut work = 0;
        assert!((hull.find_row(&room, &mut work).unwrap() - 1.0).abs() < 1e-9);
        let row: Vec<f64> = hull.kinds.iter().map(|kind| kind.entry).collect();
        assert!((row[0] + row[1] - 1.0).abs() < 1e-9 && (row[2] - 1.0).abs() < 1e-9, "{row:?}");
        assert!(work > 0);
    }

    #[test]
    fn the_largest_pattern_is_that_of_all_patterns() {
        let mut seen = 0;
        for case in 0..200u64 {
            let number = |place: u64, limit: u64| (case * 31 + place * 17 + place * place * case) % limit;
            let room = [2 + number(1, 5), 2 + number(2, 5)];
            let mut hull = Hull::default();
            for place in 0..4 {
                let request = [number(3 + place, 3), 1 + number(9 + place, 3)];
                if request[0] <= room[0] && request[1] <= room[1] {
                    let entry = number(20 + place, 10) as f64 / 9.0;
                    hull.kinds.push(Kind { entry, ..kind(request, room, 0.0) });
                }
            }
            let found = hull.find_pattern(&room);
            let mut best = 0.0f64;
            for code in 0..7usize.pow(hull.kinds.len() as u32) {
                let count = |place: usize| (code / 7usize.pow(place as u32) % 7) as u64;
                let fits = (0..2).all(|device| {
                    let used: u64 =
                        hull.kinds.iter().enumerate().map(|(k, kind)| count(k) * kind.request[device]).sum();
                    used <= room[device]
                });
                if fits {
                    let sum = hull.kinds.iter().enumerate().map(|(k, kind)| count(k) as f64 * kind.entry);
                    best = best.max(sum.sum());
                    seen += 1;
                }
            }
            assert!((found - best).abs() < 1e-12, "case {case}: {found} instead of {best}");
        }
        assert!(seen > 1_000, "{seen}");
    }
}
