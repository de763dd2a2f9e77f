//! Exchanges: a pool of good sets, crossed with each other, and every child made better by swaps.
//!
//! Over the core, which is where good sets differ. The pool starts with the best set and with others that are
//! made of it without some columns at random. A child has what two sets of the pool share, but for a column
//! or two. It is filled up by reduced value with a little noise and some favour for what one of the two has;
//! then one column is swapped for a better one while that fits. A child that is new takes the place of the
//! worst set. Numbers come from a generator with a fixed start, so the same problem gives the same children.

use super::Found;
use super::ground::Ground;
use crate::model::Amount;
use crate::solver::dual::Dual;
use crate::solver::reduce::Reduced;

/// The sets of the pool.
const POOL: usize = 50;
/// The share of the columns that the first sets are made without.
const WITHOUT: f64 = 0.3;
/// Children in a row that leave the pool as it is, after which the search ends.
const ENOUGH: u32 = 1_500;
/// How much chance and a parent count beside a reduced value, in means of its size.
const NOISE: f64 = 1.5;
const FAVOUR: f64 = 1.0;
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
    /// The set in the making, and the pool, of which the first `members` are in use.
    current: Set,
    pool: Vec<Set>,
    members: usize,
    offers: Vec<(f64, u32)>,
    /// What each column gets beside its reduced value; nothing is offered at minus infinity.
    favour: Vec<f64>,
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
        let mean = core.iter().map(|&e| dual.reduced[e as usize].abs()).sum::<f64>() / core.len() as f64;
        let (before, end) = (found.value, limit.saturating_sub(found.work) / STEP);
        self.work = 0;
        self.begin(dual, found);
        let mut idle = 0;
        while idle < ENOUGH && self.work < end && self.best().value < dual.bound {
            if self.members < POOL {
                self.thin()
            } else {
                self.cross(FAVOUR * mean)
            }
            self.fill(dual, NOISE * mean);
            self.swap();
            idle = if self.enter() { 0 } else { idle + 1 };
        }
        found.work += STEP * self.work;
        let (ground, best) = (&self.ground, self.best());
        let taken = (0..ground.len()).filter(|&column| best.taken[column]);
        // Summed anew: rounding has piled up from parents to children.
        let add = |sums: (f64, f64), column: usize| {
            (sums.0 + ground.mean[column], sums.1 + ground.variance[column])
        };
        let (mean, variance) = taken.clone().fold(ground.fixed, add);
        let value = Reduced::value(mean, variance);
        if value > before {
            found.value = value;
            ground.write(&dual.reduced, taken, &mut found.chosen);
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
        self.favour.clear();
        self.favour.resize(self.ground.len(), 0.0);
        self.fill(dual, 0.0);
        self.swap();
        self.members = 0;
        self.enter();
    }

    /// The best set of the pool.
    fn best(&self) -> &Set {
        &self.pool[0]
    }

    /// A number from 0 to 1 (xorshift64*).
    fn random(&mut self) -> f64 {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The best set without some columns at random.
    fn thin(&mut self) {
        self.current.clone_from(&self.pool[0]);
        self.favour.fill(0.0);
        for column in 0..self.ground.len() {
            if self.random() < WITHOUT {
                self.leave_out(column);
            }
        }
        self.work += self.ground.len() as u64;
    }

    /// What two sets share, but for one or two columns; what one of them has is favoured.
    fn cross(&mut self, favour: f64) {
        let first = (self.random() * POOL as f64) as usize;
        let second = (first + 1 + (self.random() * (POOL - 1) as f64) as usize) % POOL;
        self.current.clone_from(&self.pool[first]);
        for column in 0..self.ground.len() {
            let (own, other) = (self.current.taken[column], self.pool[second].taken[column]);
            self.favour[column] = if own == other { 0.0 } else { favour };
            if own && !other {
                self.current.drop(&self.ground, column);
            }
        }
        for _ in 0..1 + usize::from(self.random() * self.random() > 0.5) {
            let from = (self.random() * self.order.len() as f64) as usize;
            let mut rest = self.order[from..].iter().chain(&self.order[..from]);
            if let Some(&column) = rest.find(|&&column| self.current.taken[column as usize]) {
                self.leave_out(column as usize);
            }
        }
        self.work += 20 + self.ground.len() as u64;
    }

    /// Keeps a column out of the set in the making.
    fn leave_out(&mut self, column: usize) {
        if self.current.taken[column] {
            self.current.drop(&self.ground, column);
        }
        self.favour[column] = f64::NEG_INFINITY;
    }

    /// Takes the set into the pool, in the place of the worst if that is full; not if it is there already or
    /// no better. The best one comes first.
    fn enter(&mut self) -> bool {
        self.work += (self.members + self.ground.len() / 4) as u64;
        let members = &self.pool[..self.members];
        let value = |&place: &usize| members[place].value;
        let worst = (0..self.members).min_by(|a, b| value(a).total_cmp(&value(b)));
        let place = match worst.filter(|_| self.members == POOL) {
            Some(worst) if self.current.value <= value(&worst) => return false,
            _ if members.iter().any(|set| set.taken == self.current.taken) => return false,
            Some(worst) => worst,
            None => self.members,
        };
        self.members = self.members.max(place + 1);
        if self.pool.len() < self.members {
            self.pool.push(Set::default());
        }
        self.pool[place].clone_from(&self.current);
        if self.pool[place].value > self.pool[0].value {
            self.pool.swap(0, place);
        }
        true
    }

    /// Takes whatever fits and raises the objective, by reduced value with some noise.
    fn fill(&mut self, dual: &Dual, noise: f64) {
        self.offers.clear();
        for column in 0..self.ground.len() {
            let favour = self.favour[column];
            if !self.current.taken[column]
                && favour > f64::NEG_INFINITY
                && self.ground.fits_in(column, &self.current.room)
            {
                let r = dual.reduced[self.ground.channels[column] as usize];
                let key = r + favour + noise * (self.random() - 0.5);
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
