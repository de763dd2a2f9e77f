//! Linear programs with few rows and columns between bounds: a dual simplex on a dense table.
//!
//! ```text
//! max (v + lambda w).x   with   A x + s = b,   low <= x <= high,   0 <= s <= b
//! ```
//!
//! Requests are never negative, so a slack never exceeds its capacity: *every* variable has two finite
//! bounds. Any basis is therefore dual feasible once each variable outside of it sits at the bound that its
//! gain asks for. Nothing has to be repaired when `lambda`, a bound or a capacity changes; the method starts
//! where it stands, from all slacks at first.
//!
//! The table holds only the columns outside of the basis. A step picks the row that violates its bounds most
//! and walks along the break points of the dual, flipping every column that the walk passes (the long step):
//! one row with a thousand columns takes one step. A step costs `rows x columns` multiplications.
//!
//! Rounding errors gather in the table. So nobody trusts its numbers: prices are read off, and the bound
//! is evaluated anew from the requests.

mod pivot;

/// A basic variable violates its bounds by more than this, relative to a row's mean request.
const VIOLATED: f64 = 1e-9;
/// Smaller entries of the table are taken for 0.
const TINY: f64 = 1e-9;
/// Up to so many break points are sorted; more are halved first.
const SORTED: usize = 24;
/// So many break points are looked for one by one.
const SHORT: usize = 3;

/// How a call of [`Lp::solve`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every variable is within its bounds.
    Optimal,
    /// No point is.
    Infeasible,
    /// The limit of work came first, or the objective fell to the floor. The prices are valid all the same.
    Stopped,
}

/// A linear program and its table; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Lp {
    rows: usize,
    columns: usize,
    /// The rows of the table, each over the columns outside of the basis.
    table: Vec<f64>,
    /// What a unit of each column adds to the sums of means and of variances, all rows kept.
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// `mean + lambda variance`.
    gain: Vec<f64>,
    lambda: f64,
    linear: bool,
    /// The variable of each column and of each row; slacks come after the `columns` first.
    outside: Vec<u32>,
    basic: Vec<u32>,
    /// Whether a column sits at its higher bound.
    raised: Vec<bool>,
    /// Which way a column can move: 1 up, -1 down, 0 not at all.
    side: Vec<f64>,
    /// The values of the rows' variables.
    level: Vec<f64>,
    /// For every variable: its bounds, and its column, or `columns` and its row.
    low: Vec<f64>,
    high: Vec<f64>,
    place: Vec<u32>,
    /// The objective, up to rounding.
    value: f64,
    /// The row of the ray that proves that no point is within the bounds, and how far to go along it.
    ray: Option<(usize, f64)>,
    /// Multiplications so far.
    pub work: u64,
    breaks: Vec<(u64, u32)>,
    pivot: Vec<f64>,
}

impl Lp {
    /// Starts over, with no rows yet and columns from 0 to 1, all at 0.
    pub fn start(
        &mut self,
        mean: impl Iterator<Item = f64>,
        variance: impl Iterator<Item = f64>,
        linear: bool,
    ) {
        self.rows = 0;
        self.table.clear();
        self.mean.clear();
        self.mean.extend(mean);
        let columns = self.mean.len();
        self.columns = columns;
        self.variance.clear();
        if !linear {
            self.variance.extend(variance);
        }
        self.linear = linear;
        self.lambda = 0.0;
        self.gain.clear();
        self.gain.resize(columns, 0.0);
        self.outside.clear();
        self.outside.extend(0..columns as u32);
        self.place.clear();
        self.place.extend(0..columns as u32);
        self.raised.clear();
        self.raised.resize(columns, false);
        self.side.clear();
        self.side.resize(columns, 1.0);
        self.basic.clear();
        self.level.clear();
        self.low.clear();
        self.low.resize(columns, 0.0);
        self.high.clear();
        self.high.resize(columns, 1.0);
        self.value = 0.0;
    }

    /// Adds a row; its slack is basic.
    pub fn add_row(&mut self, requests: &[f64], capacity: f64) {
        let (columns, row) = (self.columns, self.rows);
        let from = row * columns;
        self.table.resize(from + columns, 0.0);
        let (above, new) = self.table.split_at_mut(from);
        let mut level = capacity;
        for (j, &variable) in self.outside.iter().enumerate() {
            if (variable as usize) < columns {
                new[j] = requests[variable as usize];
                level -= new[j]
                    * if self.raised[j] { self.high[variable as usize] } else { self.low[variable as usize] };
            }
        }
        for (i, &variable) in self.basic.iter().enumerate() {
            if (variable as usize) < columns {
                let request = requests[variable as usize];
                level -= request * self.level[i];
                for (new, old) in new.iter_mut().zip(&above[i * columns..][..columns]) {
                    *new -= request * old;
                }
            }
        }
        self.work += ((row + 1) * columns) as u64;
        self.rows += 1;
        self.basic.push((columns + row) as u32);
        self.place.push((columns + row) as u32);
        self.level.push(level);
        self.low.push(0.0);
        self.high.push(capacity);
    }

    /// Sets `lambda`, and with it the objective.
    pub fn price(&mut self, lambda: f64) {
        self.lambda = lambda;
        if self.linear {
            self.gain.copy_from_slice(&self.mean);
        } else {
            for ((gain, mean), variance) in self.gain.iter_mut().zip(&self.mean).zip(&self.variance) {
                *gain = mean + lambda * variance;
            }
        }
        self.work += self.columns as u64;
        for j in 0..self.columns {
            let wanted = self.gain[j] > 0.0;
            if wanted != self.raised[j] && self.gain[j] != 0.0 {
                self.flip(j);
            }
        }
    }

    /// Changes the bounds of a column's variable.
    pub fn bound(&mut self, variable: u32, low: f64, high: f64) {
        let at = self.place[variable as usize] as usize;
        if at < self.columns {
            let before = self.at(at);
            self.low[variable as usize] = low;
            self.high[variable as usize] = high;
            self.raised[at] = self.gain[at] > 0.0 || self.gain[at] == 0.0 && self.raised[at];
            self.turn(at);
            let step = self.at(at) - before;
            self.shift(at, step);
        } else {
            self.low[variable as usize] = low;
            self.high[variable as usize] = high;
        }
    }

    /// The value of a column outside of the basis.
    fn at(&self, j: usize) -> f64 {
        let variable = self.outside[j] as usize;
        if self.raised[j] { self.high[variable] } else { self.low[variable] }
    }

    fn flip(&mut self, j: usize) {
        let before = self.at(j);
        self.raised[j] = !self.raised[j];
        self.side[j] = -self.side[j];
        let step = self.at(j) - before;
        self.shift(j, step);
    }

    /// Moves a column outside of the basis.
    fn shift(&mut self, j: usize, step: f64) {
        if step != 0.0 {
            for (level, row) in self.level.iter_mut().zip(self.table.chunks_exact(self.columns)) {
                *level -= row[j] * step;
            }
            self.value += self.gain[j] * step;
            self.work += 2 * self.rows as u64;
        }
    }

    /// The value of a variable.
    pub fn share(&self, variable: u32) -> f64 {
        let at = self.place[variable as usize] as usize;
        if at < self.columns { self.at(at) } else { self.level[at - self.columns] }
    }

    /// The price of a row; below 0 only by rounding, or if its slack is bounded otherwise. If no point is
    /// within the bounds, the prices are so far along the ray that proves it that the bound is below the
    /// floor.
    pub fn row_price(&self, row: usize) -> f64 {
        let at = self.place[self.columns + row] as usize;
        let along = |entry: f64| self.ray.map_or(0.0, |(_, step)| step * entry);
        if at < self.columns {
            let entry = self.ray.map_or(0.0, |(line, _)| self.table[line * self.columns + at]);
            -self.gain[at] - along(entry)
        } else if self.ray.is_some_and(|(line, _)| line == at - self.columns) {
            -along(1.0)
        } else {
            0.0
        }
    }

    /// The column variables in the basis with their values: the only ones that are not whole.
    pub fn basics(&self) -> impl Iterator<Item = (u32, f64)> {
        let columns = self.columns as u32;
        self.basic
            .iter()
            .zip(&self.level)
            .map(|(&variable, &level)| (variable, level))
            .filter(move |b| b.0 < columns)
    }

    /// Corrects the objective, which sums up steps and their rounding errors.
    pub fn set_value(&mut self, value: f64) {
        self.value = value;
    }

    /// Dual simplex steps until the bounds hold, `work` reaches the limit, or the objective the floor.
    pub fn solve(&mut self, limit: u64, floor: f64) -> End {
        // Far more steps than ever needed: degenerate programs may go in circles.
        self.ray = None;
        let mut steps = 20 * (self.rows + 5);
        loop {
            let Some((row, excess)) = self.leaving() else { return End::Optimal };
            if self.work >= limit || steps == 0 || self.value <= floor {
                return End::Stopped;
            }
            steps -= 1;
            let Some(entering) = self.walk(row, excess, floor) else { return End::Infeasible };
            self.exchange(row, entering, excess > 0.0);
        }
    }

    /// The row that violates its bounds most, and by how much: positive above the higher one.
    fn leaving(&self) -> Option<(usize, f64)> {
        let mut worst = None;
        let mut most = VIOLATED;
        for (row, (&level, &variable)) in self.level.iter().zip(&self.basic).enumerate() {
            let (low, high) = (self.low[variable as usize], self.high[variable as usize]);
            let excess = if level > high { level - high } else { level - low };
            if excess.abs() > most && (level > high || level < low) {
                most = excess.abs();
                worst = Some((row, excess));
            }
        }
        worst
    }

    /// Walks along the dual while it falls; flips what is passed and returns the column where the walk
    /// ends, or nothing if it never does.
    fn walk(&mut self, row: usize, excess: f64, floor: f64) -> Option<usize> {
        let columns = self.columns;
        let sign = excess.signum();
        self.work += columns as u64;
        self.breaks.clear();
        let line = &self.table[row * columns..][..columns];
        // The first break point is found on the way: from a good start the walk ends there.
        let mut first = (u64::MAX, usize::MAX);
        for (j, ((&entry, &gain), &side)) in line.iter().zip(&self.gain).zip(&self.side).enumerate() {
            let entry = sign * entry * side;
            if entry > TINY {
                // Floats that are not negative are ordered like their bits.
                let step = (gain / entry).abs().to_bits();
                if step < first.0 {
                    first = (step, self.breaks.len());
                }
                self.breaks.push((step, j as u32));
            }
        }
        let mut breaks = std::mem::take(&mut self.breaks);
        let mut slope = excess.abs();
        let fall = |lp: &Self, j: u32| {
            let variable = lp.outside[j as usize] as usize;
            lp.table[row * columns + j as usize].abs() * (lp.high[variable] - lp.low[variable])
        };
        let mut nearest = Some(first.1).filter(|_| !breaks.is_empty());
        for _ in 0..SHORT {
            let Some((_, j)) = nearest.map(|at| breaks.swap_remove(at)) else { break };
            slope -= fall(self, j);
            if slope <= 0.0 {
                self.breaks = breaks;
                return Some(j as usize);
            }
            self.flip(j as usize);
            self.work += breaks.len() as u64 / 2;
            nearest = (0..breaks.len()).min_by_key(|&at| breaks[at].0);
        }
        // ... then by halves: which one has the end?
        let mut rest = &mut breaks[..];
        let mut ends_here = false;
        while rest.len() > SORTED {
            let middle = rest.len() / 2;
            rest.select_nth_unstable(middle);
            let (near, far) = rest.split_at_mut(middle);
            self.work += 8 * near.len() as u64;
            let falls: f64 = near.iter().map(|&(_, j)| fall(self, j)).sum();
            if falls >= slope {
                rest = near;
                ends_here = true;
            } else {
                slope -= falls;
                near.iter().for_each(|&(_, j)| self.flip(j as usize));
                rest = far;
            }
        }
        rest.sort_unstable();
        let mut entering = None;
        for (at, &(_, j)) in rest.iter().enumerate() {
            slope -= fall(self, j);
            // Sums in another order differ by rounding: the last of a half that has the end is the end.
            if slope <= 0.0 || ends_here && at + 1 == rest.len() {
                entering = Some(j as usize);
                break;
            }
            self.flip(j as usize);
        }
        if entering.is_none() {
            let last = rest.last().map_or(0.0, |&(step, _)| f64::from_bits(step));
            let step = last + 2.0 * (self.value - floor).clamp(1.0, 1e9) / slope.max(1e-6);
            self.ray = Some((row, sign * step));
        }
        self.breaks = breaks;
        entering
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row: the break channel is shared, everything better is in.
    #[test]
    fn one_row_is_filled_by_density() {
        let mut lp = Lp::default();
        lp.start([6.0, 10.0, 12.0, 1.0].into_iter(), std::iter::empty(), true);
        lp.add_row(&[1.0, 2.0, 3.0, 4.0], 5.0);
        lp.price(0.0);
        assert_eq!(lp.solve(u64::MAX, f64::NEG_INFINITY), End::Optimal);
        let is = |lp: &Lp, shares: [f64; 4]| (0..4).all(|j| (lp.share(j) - shares[j as usize]).abs() < 1e-12);
        assert!(is(&lp, [1.0, 1.0, 2.0 / 3.0, 0.0]));
        assert!((lp.row_price(0) - 4.0).abs() < 1e-12 && (lp.value - 24.0).abs() < 1e-12);
        lp.bound(2, 0.0, 0.0);
        assert_eq!(lp.solve(u64::MAX, f64::NEG_INFINITY), End::Optimal);
        assert!(is(&lp, [1.0, 1.0, 0.0, 0.5]));
        lp.bound(2, 1.0, 1.0);
        lp.bound(3, 1.0, 1.0);
        assert_eq!(lp.solve(u64::MAX, f64::NEG_INFINITY), End::Infeasible);
    }
}
