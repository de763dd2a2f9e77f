//! From a relaxed point to a set: what is taken wholly, then what fits, by reduced value.

use super::ground::Ground;
use crate::model::Amount;
use crate::solver::lp::Lp;
use crate::solver::reduce::Reduced;

/// Shares closer to 1 than this are whole.
const WHOLE: f64 = 1e-6;

/// Rounds points over the columns of a core.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounding {
    /// The best set of columns, and its value with the fixed channels.
    pub best: Vec<u32>,
    value: f64,
    /// Visits of the last call.
    pub work: u64,
    /// What the columns that a node fixes in leave.
    room: Vec<Amount>,
    is_in: Vec<bool>,
    /// What the set in the making leaves.
    spare: Vec<Amount>,
    taken: Vec<bool>,
    offered: Vec<u32>,
}

impl Rounding {
    /// Starts over, with no column fixed.
    pub fn start(&mut self, ground: &Ground) {
        self.room.clone_from(&ground.left);
        self.is_in.clear();
        self.is_in.resize(ground.len(), false);
        self.value = f64::NEG_INFINITY;
        self.best.clear();
    }

    /// Whether a column fits beside those that are fixed in.
    pub fn fits(&self, ground: &Ground, column: u32) -> bool {
        ground.fits_in(column as usize, &self.room)
    }

    /// Fixes a column in at a node. Between two nodes the room may be less than nothing, so it wraps.
    pub fn fix_in(&mut self, ground: &Ground, column: u32) {
        self.is_in[column as usize] = true;
        let request = ground.request(column as usize);
        self.room.iter_mut().zip(request).for_each(|(room, a)| *room = room.wrapping_sub(*a));
    }

    /// Lifts what a node fixed.
    pub fn free(&mut self, ground: &Ground, column: u32) {
        if std::mem::take(&mut self.is_in[column as usize]) {
            let request = ground.request(column as usize);
            self.room.iter_mut().zip(request).for_each(|(room, a)| *room = room.wrapping_add(*a));
        }
    }

    /// Rounds the program's point; the value of the set found.
    pub fn round(&mut self, ground: &Ground, lp: &Lp, state: &[Option<bool>], reduced: &[f64]) -> f64 {
        self.work = ground.len() as u64 * 4;
        self.spare.clone_from(&self.room);
        self.taken.clone_from(&self.is_in);
        let mut sums = ground.fixed;
        for (column, state) in state.iter().enumerate() {
            let whole = match state {
                Some(taken) => *taken,
                None => lp.share(column as u32) > 1.0 - WHOLE && self.take(ground, column),
            };
            if whole {
                sums = (sums.0 + ground.mean[column], sums.1 + ground.variance[column]);
                self.taken[column] = true;
                self.work += ground.rows as u64 / 2;
            }
        }
        let mut value = Reduced::value(sums.0, sums.1);
        self.offered.clear();
        for (column, state) in state.iter().enumerate() {
            if state.is_none() && !self.taken[column] && ground.fits_in(column, &self.spare) {
                self.offered.push(column as u32);
            }
        }
        self.offered
            .sort_unstable_by(|&a, &b| reduced[b as usize].total_cmp(&reduced[a as usize]).then(a.cmp(&b)));
        for at in 0..self.offered.len() {
            let column = self.offered[at] as usize;
            let with = (sums.0 + ground.mean[column], sums.1 + ground.variance[column]);
            let raised = Reduced::value(with.0, with.1);
            if raised > value && self.take(ground, column) {
                (sums, value) = (with, raised);
                self.taken[column] = true;
            }
        }
        if value > self.value {
            self.value = value;
            self.best.clear();
            self.best.extend((0..ground.len() as u32).filter(|&column| self.taken[column as usize]));
        }
        value
    }

    /// Takes a column's devices from what is spare, if they fit.
    fn take(&mut self, ground: &Ground, column: usize) -> bool {
        let fits = ground.fits_in(column, &self.spare);
        if fits {
            ground.take(column, &mut self.spare);
        }
        fits
    }
}
