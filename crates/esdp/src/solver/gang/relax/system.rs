//! The linear system of a Newton step: two sides of small blocks, tied by the channels.
//!
//! Server rows make a block a server, groups a block a job; a channel ties one server to one group.
//! Eliminating the blocks of one side leaves a dense system in the other side and the few rows that tie
//! everything (cluster-wide rows and the square root). Which side goes is a matter of cost.
//!
//! A few unknowns, the copies of jobs, have negative pivots. They come last, in blocks and in what is kept:
//! then the factor exists in this order (the matrix is quasi-definite), and only the sign of their products
//! changes.

use crate::solver::gang::cholesky::dot;

/// Blocks eliminated from a dense system; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    size: usize,
    positive: usize,
    matrix: Vec<f64>,
    blocks: Vec<Block>,
    factors: Vec<f64>,
    columns: Vec<u32>,
    values: Vec<f64>,
    dense: Vec<f64>,
    /// Multiplications so far, about.
    pub work: u64,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    /// Its first unknown, of those that are eliminated, and how many it has.
    first: usize,
    size: usize,
    /// How many of them have positive pivots.
    positive: usize,
    factor: usize,
    columns: (usize, usize),
    values: usize,
}

impl System {
    /// Begins a system that keeps `size` unknowns, of which the first have positive pivots.
    pub fn begin(&mut self, size: usize, positive: usize) {
        self.size = size;
        self.positive = positive;
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.blocks.clear();
        self.factors.clear();
        self.columns.clear();
        self.values.clear();
    }

    /// Adds to an entry of the kept part, in either order.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.matrix[i * self.size + j] += value;
    }

    /// Begins a block to be eliminated, with its own matrix (both triangles).
    pub fn block(&mut self, first: usize, (size, positive): (usize, usize), matrix: &[f64]) {
        let factor = self.factors.len();
        self.factors.extend_from_slice(matrix);
        factorise(&mut self.factors[factor..], size, positive);
        self.blocks.push(Block {
            first,
            size,
            positive,
            factor,
            columns: (self.columns.len(), self.columns.len()),
            values: self.values.len(),
        });
    }

    /// Ties the last block to a kept unknown; each at most once.
    pub fn tie(&mut self, kept: usize, values: &[f64]) {
        let Some(block) = self.blocks.last_mut() else { return };
        self.columns.push(kept as u32);
        block.columns.1 = self.columns.len();
        let from = self.values.len();
        self.values.extend_from_slice(values);
        let factor = &self.factors[block.factor..];
        forward(factor, block.size, block.positive, &mut self.values[from..]);
    }

    /// Takes what the last block's elimination leaves out of the kept part.
    pub fn eliminate(&mut self) {
        let Some(block) = self.blocks.last() else { return };
        let Block { size: k, positive, columns: (from, end), values, .. } = *block;
        let columns = &self.columns[from..end];
        let values = &self.values[values..];
        let size = self.size;
        self.work += (columns.len() * columns.len() * k / 2) as u64;
        if columns.len() * 4 < size || k == 0 {
            for (a, &i) in columns.iter().enumerate() {
                let own = &values[a * k..][..k];
                for (b, &j) in columns[..=a].iter().enumerate() {
                    let other = &values[b * k..][..k];
                    let product = signed(own, other, positive);
                    let (i, j) = if i >= j { (i, j) } else { (j, i) };
                    self.matrix[i as usize * size + j as usize] -= product;
                }
            }
            return;
        }
        // Nearly all unknowns: rows of the block's values, one long multiply-add each.
        self.dense.clear();
        self.dense.resize(k * size, 0.0);
        for (a, &i) in columns.iter().enumerate() {
            for (row, value) in values[a * k..][..k].iter().enumerate() {
                self.dense[row * size + i as usize] = *value;
            }
        }
        for (a, &i) in columns.iter().enumerate() {
            let i = i as usize;
            let target = &mut self.matrix[i * size..][..i + 1];
            let own = &values[a * k..][..k];
            let row = |at: usize| &self.dense[at * size..][..i + 1];
            match own {
                _ if positive < k => {
                    for (at, x) in own.iter().enumerate() {
                        let x = if at < positive { *x } else { -x };
                        target.iter_mut().zip(row(at)).for_each(|(t, a)| *t -= x * a);
                    }
                }
                [x] => target.iter_mut().zip(row(0)).for_each(|(t, a)| *t -= x * a),
                [x, y] => {
                    for ((t, a), b) in target.iter_mut().zip(row(0)).zip(row(1)) {
                        *t -= x * a + y * b;
                    }
                }
                [x, y, z] => {
                    for (((t, a), b), c) in target.iter_mut().zip(row(0)).zip(row(1)).zip(row(2)) {
                        *t -= x * a + y * b + z * c;
                    }
                }
                _ => {
                    for (at, x) in own.iter().enumerate() {
                        target.iter_mut().zip(row(at)).for_each(|(t, a)| *t -= x * a);
                    }
                }
            }
        }
    }

    /// Factorises what is left.
    pub fn finish(&mut self) {
        let size = self.size as u64;
        self.work += size * size * size / 6;
        factorise(&mut self.matrix, self.size, self.positive);
    }

    /// Solves, in place: the eliminated unknowns and the kept ones.
    pub fn solve(&mut self, eliminated: &mut [f64], kept: &mut [f64]) {
        for block in &self.blocks {
            let k = block.size;
            let own = &mut eliminated[block.first..][..k];
            forward(&self.factors[block.factor..], k, block.positive, own);
            let (from, end) = block.columns;
            for (a, &column) in self.columns[from..end].iter().enumerate() {
                let values = &self.values[block.values + a * k..][..k];
                kept[column as usize] -= signed(values, own, block.positive);
            }
        }
        forward(&self.matrix, self.size, self.positive, kept);
        backward(&self.matrix, self.size, self.positive, kept);
        for block in &self.blocks {
            let k = block.size;
            let own = &mut eliminated[block.first..][..k];
            let (from, end) = block.columns;
            for (a, &column) in self.columns[from..end].iter().enumerate() {
                let values = &self.values[block.values + a * k..][..k];
                let other = kept[column as usize];
                own.iter_mut().zip(values).for_each(|(own, value)| *own -= value * other);
            }
            backward(&self.factors[block.factor..], k, block.positive, own);
        }
        self.work += self.values.len() as u64 * 2 + (self.size * self.size) as u64;
    }
}

/// The product of two lists, the entries after the first `positive` ones counted negative.
#[inline]
fn signed(a: &[f64], b: &[f64], positive: usize) -> f64 {
    if a.len() <= positive {
        return dot(a, b);
    }
    dot(&a[..positive], &b[..positive]) - dot(&a[positive..], &b[positive..a.len()])
}

/// Factorises in place, in the lower triangle: `L S L'` with `S` the signs, positive first. A pivot that
/// rounding made vanish is made vast, which leaves its unknown where it is.
fn factorise(matrix: &mut [f64], size: usize, positive: usize) {
    for i in 0..size {
        let (above, row) = matrix.split_at_mut(i * size);
        let row = &mut row[..size];
        for j in 0..i {
            let other = &above[j * size..][..j + 1];
            let rest = row[j] - signed(&row[..j], &other[..j], positive);
            row[j] = if j < positive { rest / other[j] } else { -rest / other[j] };
        }
        let full = row[i];
        let pivot = full - signed(&row[..i], &row[..i], positive);
        let pivot = if i < positive { pivot } else { -pivot };
        row[i] = if pivot > 1e-14 * full.abs() { pivot.sqrt() } else { 1e64 };
    }
}

/// `S^-1 L^-1 x` in place, with the signs already applied: `signed` products of such columns are what
/// elimination takes.
fn forward(factor: &[f64], size: usize, positive: usize, x: &mut [f64]) {
    for i in 0..size {
        let row = &factor[i * size..][..i + 1];
        let rest = x[i] - signed(&row[..i], &x[..i], positive);
        x[i] = if i < positive { rest / row[i] } else { -rest / row[i] };
    }
}

/// `L'^-1 x` in place.
fn backward(factor: &[f64], size: usize, _positive: usize, x: &mut [f64]) {
    for i in (0..size).rev() {
        let row = &factor[i * size..][..i + 1];
        x[i] /= row[i];
        let own = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * own);
    }
}
