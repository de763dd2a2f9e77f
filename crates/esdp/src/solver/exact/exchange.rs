//! Exchanges: a good set made better by dropping a few channels, filling up and swapping.
//!
//! Iterated local search over the core, which is where good sets differ. A round drops one to four channels,
//! mostly those with low reduced values, fills up by reduced value with a little noise, and swaps one channel
//! for a better one while that fits. A result that is not worse is where the next round starts; after many
//! rounds without a better one the search goes back to the best. Numbers come from a generator with a fixed
//! start, so the same problem gives the same rounds.

use super::Found;
use super::ground::Ground;
use crate::model::Amount;
use crate::solver::dual::Dual;
use crate::solver::reduce::Reduced;

/// Rounds without a better set after which the search goes back to the best one, and after
/// which it ends.
const BACK: u32 = 60;
const ENOUGH: u32 = 1_500;
/// Visits that one look at a column takes, with what goes with it.
const STEP: u64 = 2;

/// The search and its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    ground: Ground,
    /// The columns by ascending reduced value, and what each adds at the root's `lambda`.
    order: Vec<u32>,
    gain: Vec<f64>,
    /// The columns by descending gain, all and those that are not taken.
    by_gain: Vec<u32>,
    ins: Vec<u32>,
    current: Set,
    start: Set,
    best: Set,
    offers: Vec<(f64, u32)>,
    barred: Vec<u32>,
    seed: u64,
    work: u64,
}

/// A set of columns, its sums with the fixed channels, and the room it leaves.
#[derive(Debug, Default)]
struct Set {
    taken: Vec<bool>,
    sums: (f64, f64),
    value: f64,
    room: Vec<Amount>,
}

impl Clone for Set {
    fn clone(&self) -> Self {
        Self { taken: self.taken.clone(), room: self.room.clone(), ..*self }
    }

    // The derived one would allocate.
    fn clone_from(&mut self, other: &Self) {
        self.taken.clone_from(&other.taken);
        self.room.clone_from(&other.room);
        (self.sums, self.value) = (other.sums, other.value);
    }
}

impl Set {
    fn put(&mut self, ground: &Ground, column: usize) {
        self.taken[column] = true;
        ground.take(column, &mut self.room);
        self.sums = (self.sums.0 + ground.mean[column], self.sums.1 + ground.variance[column]);
        self.value = Reduced::value(self.sums.0, self.sums.1);
    }

    fn drop(&mut self, ground: &Ground, column: usize) {
        self.taken[column] = false;
        ground.give(column, &mut self.room);
        self.sums = (self.sums.0 - ground.mean[column], self.sums.1 - ground.variance[column]);
        self.value = Reduced::value(self.sums.0, self.sums.1);
    }
}

impl Exchange {
    /// Searches among `core` for a set better than `found`, until `limit` visits are spent in all.
    pub fn search(&mut self, problem: &Reduced, dual: &Dual, core: &[u32], limit: u64, found: &mut Found) {
        found.work += self.ground.prepare(problem, &dual.reduced, core);
        if !self.ground.fits || core.len() < 2 {
            return;
        }
        self.seed = 0x9E37_79B9_7F4A_7C15;
        let r = |column: u32| dual.reduced[self.ground.channels[column as usize] as usize];
        self.order.clear();
        self.order.extend(0..core.len() as u32);
        self.order.sort_unstable_by(|&a, &b| r(a).total_cmp(&r(b)).then(a.cmp(&b)));
        let Ground { mean, variance, .. } = &self.ground;
        self.gain.clear();
        self.gain.extend(mean.iter().zip(variance).map(|(v, w)| v + dual.lambda * w));
        let gain = &self.gain;
        self.by_gain.clone_from(&self.order);
        self.by_gain.sort_unstable_by(|&a, &b| gain[b as usize].total_cmp(&gain[a as usize]).then(a.cmp(&b)));
        let noise = core.iter().map(|&e| dual.reduced[e as usize].abs()).sum::<f64>() / core.len() as f64;
        self.begin(dual, found);
        let before = found.value;
        let mut idle = 0;
        self.work = 0;
        let spent = found.work;
        while idle < ENOUGH && spent + STEP * self.work < limit && found.value < dual.bound {
            idle += 1;
            self.shake();
            self.fill(dual, noise);
            self.swap();
            if self.current.value > self.best.value {
                self.best.clone_from(&self.current);
                idle = 0;
            }
            if self.current.value >= self.start.value {
                self.start.clone_from(&self.current);
            } else if idle % BACK == BACK - 1 {
                self.start.clone_from(&self.best);
                self.current.clone_from(&self.best);
            } else {
                self.current.clone_from(&self.start);
            }
            self.work += (self.ground.len() / 4) as u64;
        }
        found.work += STEP * self.work;
        if self.best.value > before {
            found.value = self.best.value;
            let taken = (0..self.ground.len()).filter(|&column| self.best.taken[column]);
            self.ground.write(&dual.reduced, taken, &mut found.chosen);
        }
    }

    /// Starts from the part of the best set that lies in the core.
    fn begin(&mut self, dual: &Dual, found: &Found) {
        let set = &mut self.current;
        set.taken.clear();
        set.taken.resize(self.ground.len(), false);
        set.room.clone_from(&self.ground.left);
        set.sums = self.ground.fixed;
        for &e in &found.chosen {
            if let Ok(column) = self.ground.channels.binary_search(&e)
                && self.ground.fits_in(column, &set.room)
            {
                set.put(&self.ground, column);
            }
        }
        set.value = Reduced::value(set.sums.0, set.sums.1);
        self.fill(dual, 0.0);
        self.swap();
        self.start.clone_from(&self.current);
        self.best.clone_from(&self.current);
    }

    /// A number from 0 to 1 (xorshift64*).
    fn random(&mut self) -> f64 {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Drops one to four columns; they are not offered in this round.
    fn shake(&mut self) {
        let count = 1 + (4.0 * self.random() * self.random()) as usize;
        self.barred.clear();
        for _ in 0..count {
            let at = self.random();
            let from = (at * at * self.order.len() as f64) as usize;
            let mut rest = self.order[from..].iter().chain(&self.order[..from]);
            if let Some(&column) = rest.find(|&&column| self.current.taken[column as usize]) {
                self.current.drop(&self.ground, column as usize);
                self.barred.push(column);
            }
        }
        self.work += 20;
    }

    /// Takes whatever fits and raises the objective, by reduced value with some noise.
    fn fill(&mut self, dual: &Dual, noise: f64) {
        self.offers.clear();
        for column in 0..self.ground.len() {
            if !self.current.taken[column]
                && self.ground.fits_in(column, &self.current.room)
                && !self.barred.contains(&(column as u32))
            {
                let r = dual.reduced[self.ground.channels[column] as usize];
                let key = r + noise * (self.random() - 0.5);
                self.offers.push((key, column as u32));
            }
        }
        self.work += 2 * self.ground.len() as u64;
        self.offers.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for at in 0..self.offers.len() {
            let column = self.offers[at].1 as usize;
            if self.ground.fits_in(column, &self.current.room) && self.raises(None, column) {
                self.current.put(&self.ground, column);
            }
        }
    }

    /// Whether taking a column, in the place of another, raises the objective.
    fn raises(&self, out: Option<usize>, column: usize) -> bool {
        let (mut mean, mut variance) = self.current.sums;
        if let Some(out) = out {
            mean -= self.ground.mean[out];
            variance -= self.ground.variance[out];
        }
        let value = Reduced::value(mean + self.ground.mean[column], variance + self.ground.variance[column]);
        value > self.current.value * (1.0 + 1e-14)
    }

    /// Swaps a column for a better one while that fits.
    fn swap(&mut self) {
        let count = self.order.len();
        self.ins.clear();
        self.ins.extend(self.by_gain.iter().copied().filter(|&column| !self.current.taken[column as usize]));
        self.work += count as u64 / 2;
        let mut unchanged = 0;
        let mut at = 0;
        while unchanged < count {
            let out = self.order[at] as usize;
            at = (at + 1) % count;
            unchanged += 1;
            if !self.current.taken[out] {
                continue;
            }
            self.ground.give(out, &mut self.current.room);
            let mut better = None;
            for (place, &column) in self.ins.iter().enumerate() {
                let column = column as usize;
                if self.gain[column] <= self.gain[out] {
                    break;
                }
                self.work += 1;
                if self.ground.fits_in(column, &self.current.room) && self.raises(Some(out), column) {
                    better = Some((place, column));
                    break;
                }
            }
            self.work += 4 + self.ground.rows as u64 / 4;
            self.ground.take(out, &mut self.current.room);
            if let Some((place, column)) = better {
                self.current.drop(&self.ground, out);
                self.current.put(&self.ground, column);
                self.ins.remove(place);
                let after = self.ins.partition_point(|&other| self.gain[other as usize] > self.gain[out]);
                self.ins.insert(after, out as u32);
                unchanged = 0;
            }
        }
    }
}
