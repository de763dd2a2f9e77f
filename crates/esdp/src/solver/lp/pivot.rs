//! Exchanges of a basic variable for another one.

use super::Lp;

impl Lp {
    /// Exchanges a row's variable, which goes to a bound, with a column's.
    pub(super) fn exchange(&mut self, row: usize, entering: usize, to_high: bool) {
        let columns = self.columns;
        let leaving = self.basic[row];
        let line = &mut self.table[row * columns..][..columns];
        let entry = line[entering];
        let inverse = 1.0 / entry;
        self.pivot.clear();
        self.pivot.extend(line.iter().map(|x| x * inverse));
        self.pivot[entering] = inverse;
        line.copy_from_slice(&self.pivot);
        let target = if to_high { self.high[leaving as usize] } else { self.low[leaving as usize] };
        let step = (self.level[row] - target) * inverse;
        let entered = self.at(entering) + step;
        self.value += self.gain[entering] * step;
        for (i, line) in self.table.chunks_exact_mut(columns).enumerate() {
            if i != row {
                self.level[i] -= line[entering] * step;
                eliminate(line, &self.pivot, entering);
            }
        }
        eliminate(&mut self.mean, &self.pivot, entering);
        if self.linear {
            self.gain.copy_from_slice(&self.mean);
        } else {
            eliminate(&mut self.variance, &self.pivot, entering);
            eliminate(&mut self.gain, &self.pivot, entering);
        }
        self.work += ((self.rows + 3) * columns) as u64;
        self.level[row] = entered;
        let variable = std::mem::replace(&mut self.outside[entering], leaving);
        self.basic[row] = variable;
        self.place[leaving as usize] = entering as u32;
        self.place[variable as usize] = (columns + row) as u32;
        self.raised[entering] = to_high;
        self.turn(entering);
    }

    /// Notes which way a column can move.
    pub(super) fn turn(&mut self, j: usize) {
        let variable = self.outside[j] as usize;
        let up = if self.raised[j] { -1.0 } else { 1.0 };
        self.side[j] = if self.low[variable] < self.high[variable] { up } else { 0.0 };
    }

    /// Brings a variable into the basis at the row where it weighs most; whether there was one.
    pub fn enter(&mut self, variable: u32) -> bool {
        let at = self.place[variable as usize] as usize;
        if at >= self.columns {
            return true;
        }
        let slacks = self.columns as u32;
        let entry = |row: usize| self.table[row * self.columns + at].abs();
        let rows = (0..self.rows).filter(|&row| self.basic[row] >= slacks);
        let Some(row) = rows.max_by(|&a, &b| entry(a).total_cmp(&entry(b)).then(b.cmp(&a))) else {
            return false;
        };
        if entry(row) < 1e-7 {
            return false;
        }
        self.exchange(row, at, false);
        true
    }
}

/// One row of the table after an exchange.
#[inline]
fn eliminate(line: &mut [f64], pivot: &[f64], entering: usize) {
    let factor = line[entering];
    if factor == 0.0 {
        return;
    }
    line[entering] = 0.0;
    for (x, p) in line.iter_mut().zip(pivot) {
        *x -= factor * p;
    }
}
