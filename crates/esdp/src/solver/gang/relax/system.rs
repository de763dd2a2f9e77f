//! The linear system of a Newton step: two sides of small blocks, tied by the channels.
//!
//! Server rows make a block a server, groups a block a job; a channel ties one server to one group.
//! Eliminating the blocks of one side leaves a dense system in the other side and the few rows that tie
//! everything (cluster-wide rows and the square root). Which side goes is a matter of cost.
//!
//! A few unknowns, the copies of jobs, have negative pivots. They come last, in blocks and in what is kept:
//! then the factor exists in this order (the matrix is quasi-definite), and only the sign of their products
//! changes.
//!
//! All is laid out so that the innermost loops run along lists: what ties a block is kept row after row of
//! the block, and of the kept part the upper triangle, row after row.

use crate::solver::gang::cholesky::dot;

/// Blocks eliminated from a dense system; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    size: usize,
    positive: usize,
    /// The upper triangle of the kept part, then `U` of its factor `U' S U`, with inverses on its diagonal.
    matrix: Vec<f64>,
    diagonal: Vec<f64>,
    blocks: Vec<Block>,
    factors: Vec<f64>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Numbers of the columns of one block.
    local: Vec<f64>,
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
    /// The kept unknowns that it is tied to; none where it has an entry for each of them.
    columns: (usize, usize),
    /// Row after row, an entry for each of its columns.
    values: usize,
    width: usize,
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
        let (i, j) = if i <= j { (i, j) } else { (j, i) };
        self.matrix[i * self.size + j] += value;
    }

    /// Eliminates a block of its own matrix (the lower triangle), tied to kept unknowns in rising order by
    /// `values`, row after row of the block.
    pub fn eliminate(
        &mut self,
        first: usize,
        (k, positive): (usize, usize),
        matrix: &[f64],
        columns: &[usize],
        values: &[f64],
    ) {
        let size = self.size;
        let factor = self.factors.len();
        self.factors.extend_from_slice(matrix);
        factorise_block(&mut self.factors[factor..], k, positive);
        self.work += elimination(k, columns.len());
        let (from, start) = (self.columns.len(), self.values.len());
        // Where it is tied to half of the unknowns, an entry for each of them is less trouble.
        let is_dense = columns.len() * 2 >= size;
        let width = if is_dense { size } else { columns.len() };
        if is_dense {
            self.values.resize(start + k * size, 0.0);
            let rows = self.values[start..].chunks_exact_mut(size.max(1));
            for (row, own) in rows.zip(values.chunks_exact(columns.len().max(1))) {
                columns.iter().zip(own).for_each(|(&column, value)| row[column] = *value);
            }
        } else {
            self.values.extend_from_slice(values);
            self.columns.extend(columns.iter().map(|&column| column as u32));
        }
        let rows = &mut self.values[start..];
        forward_rows(&self.factors[factor..], k, positive, rows, width);
        self.blocks.push(Block {
            first,
            size: k,
            positive,
            factor,
            columns: (from, self.columns.len()),
            values: start,
            width,
        });
        let rows = &self.values[start..];
        for (at, &i) in columns.iter().enumerate() {
            let own = if is_dense { i } else { at };
            let by = |row: usize| {
                let x = rows[row * width + own];
                if row < positive { x } else { -x }
            };
            if is_dense {
                subtract(&mut self.matrix[i * size..][i..size], rows, (own, width), k, by);
                continue;
            }
            self.local.clear();
            self.local.resize(width - own, 0.0);
            subtract(&mut self.local, rows, (own, width), k, by);
            let target = &mut self.matrix[i * size..][..size];
            columns[at..].iter().zip(&self.local).for_each(|(&j, less)| target[j] += less);
        }
    }

    /// Factorises what is left. A pivot that rounding made vanish is made vast, which leaves its unknown
    /// where it is.
    pub fn finish(&mut self) {
        let Self { size, positive, ref mut matrix, ref mut diagonal, .. } = *self;
        self.work += (size as u64).pow(3) / 6;
        diagonal.clear();
        diagonal.extend((0..size).map(|i| matrix[i * size + i]));
        // A few pivots at a time: what they take from the rows below is taken at once.
        for panel in (0..size).step_by(PANEL) {
            let end = size.min(panel + PANEL);
            let (above, below) = matrix.split_at_mut(end * size);
            for i in panel..end {
                let (done, row) = above.split_at_mut(i * size);
                let done = &done[panel * size..];
                let by = |at: usize| signed_by(done[at * size + i], panel + at < positive);
                subtract(&mut row[i..size], done, (i, size), i - panel, by);
                let pivot = signed_by(row[i], i < positive);
                let inverse = if pivot > 1e-14 * diagonal[i].abs() { 1.0 / pivot.sqrt() } else { 1e-64 };
                row[i] = inverse;
                let scale = signed_by(inverse, i < positive);
                row[i + 1..size].iter_mut().for_each(|entry| *entry *= scale);
            }
            let done = &above[panel * size..];
            for (at, row) in below.chunks_exact_mut(size).enumerate() {
                let i = end + at;
                let by = |at: usize| signed_by(done[at * size + i], panel + at < positive);
                subtract(&mut row[i..], done, (i, size), end - panel, by);
            }
        }
    }

    /// Solves, in place: the eliminated unknowns and the kept ones.
    pub fn solve(&mut self, eliminated: &mut [f64], kept: &mut [f64]) {
        let Self { size, positive, .. } = *self;
        let local = &mut self.local;
        for block in &self.blocks {
            let (k, width) = (block.size, block.width);
            let own = &mut eliminated[block.first..][..k];
            forward(&self.factors[block.factor..], k, block.positive, own);
            let rows = &self.values[block.values..];
            let by = |row: usize| signed_by(own[row], row < block.positive);
            let columns = &self.columns[block.columns.0..block.columns.1];
            if columns.is_empty() {
                subtract(&mut kept[..width], rows, (0, width), k, by);
                continue;
            }
            local.clear();
            local.resize(width, 0.0);
            subtract(local, rows, (0, width), k, by);
            columns.iter().zip(&*local).for_each(|(&column, less)| kept[column as usize] += less);
        }
        for i in 0..size {
            let row = &self.matrix[i * size..][i..size];
            let own = signed_by(kept[i] * row[0], i < positive);
            kept[i] = own;
            let own = signed_by(own, i < positive);
            kept[i + 1..size].iter_mut().zip(&row[1..]).for_each(|(x, u)| *x -= u * own);
        }
        for i in (0..size).rev() {
            let row = &self.matrix[i * size..][i..size];
            kept[i] = (kept[i] - dot(&row[1..], &kept[i + 1..size])) * row[0];
        }
        for block in &self.blocks {
            let (k, width) = (block.size, block.width);
            let own = &mut eliminated[block.first..][..k];
            let columns = &self.columns[block.columns.0..block.columns.1];
            local.clear();
            local.extend(columns.iter().map(|&column| kept[column as usize]));
            let other = if columns.is_empty() { &kept[..width] } else { &**local };
            for (row, own) in own.iter_mut().enumerate() {
                *own -= dot(&self.values[block.values + row * width..][..width], other);
            }
            backward(&self.factors[block.factor..], k, own);
        }
        self.work += self.values.len() as u64 * 2 + (size * size) as u64;
    }
}

/// About what eliminating a block of so many unknowns tied to so many kept ones costs, in multiplications.
pub(super) fn elimination(unknowns: usize, columns: usize) -> u64 {
    let longer = columns.max(unknowns) as u64;
    longer * longer * unknowns as u64 / 2
}

/// Pivots that are taken at once.
const PANEL: usize = 4;

#[inline]
fn signed_by(value: f64, is_positive: bool) -> f64 {
    if is_positive { value } else { -value }
}

/// Takes multiples of the first `count` rows from a target, from column `from` of theirs on.
#[inline]
fn subtract(
    target: &mut [f64],
    rows: &[f64],
    (from, width): (usize, usize),
    count: usize,
    by: impl Fn(usize) -> f64,
) {
    let len = target.len();
    let row = |at: usize| &rows[at * width + from..][..len];
    let mut at = 0;
    while at + 4 <= count {
        let (w, x, y, z) = (by(at), by(at + 1), by(at + 2), by(at + 3));
        let (a, b, c, d) = (row(at), row(at + 1), row(at + 2), row(at + 3));
        for ((((t, a), b), c), d) in target.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *t -= (w * a + x * b) + (y * c + z * d);
        }
        at += 4;
    }
    if at + 2 <= count {
        let (x, y) = (by(at), by(at + 1));
        for ((t, a), b) in target.iter_mut().zip(row(at)).zip(row(at + 1)) {
            *t -= x * a + y * b;
        }
        at += 2;
    }
    if at < count {
        let x = by(at);
        target.iter_mut().zip(row(at)).for_each(|(t, a)| *t -= x * a);
    }
}

/// The product of two lists, the entries after the first `positive` ones counted negative.
#[inline]
fn signed(a: &[f64], b: &[f64], positive: usize) -> f64 {
    let products = a.iter().zip(b).enumerate();
    products.map(|(at, (a, b))| signed_by(a * b, at < positive)).sum()
}

/// Factorises in place, in the lower triangle: `L S L'` with `S` the signs, positive first, and inverses on
/// the diagonal. A pivot that rounding made vanish is made vast.
fn factorise_block(matrix: &mut [f64], size: usize, positive: usize) {
    for i in 0..size {
        let (above, row) = matrix.split_at_mut(i * size);
        let row = &mut row[..size];
        for j in 0..i {
            let other = &above[j * size..][..j + 1];
            let rest = row[j] - signed(&row[..j], &other[..j], positive);
            row[j] = signed_by(rest * other[j], j < positive);
        }
        let full = row[i];
        let pivot = signed_by(full - signed(&row[..i], &row[..i], positive), i < positive);
        row[i] = if pivot > 1e-14 * full.abs() { 1.0 / pivot.sqrt() } else { 1e-64 };
    }
}

/// `S^-1 L^-1 x` in place, with the signs already applied: `signed` products of such columns are what
/// elimination takes.
fn forward(factor: &[f64], size: usize, positive: usize, x: &mut [f64]) {
    for i in 0..size {
        let row = &factor[i * size..][..i + 1];
        let rest = x[i] - signed(&row[..i], &x[..i], positive);
        x[i] = signed_by(rest * row[i], i < positive);
    }
}

/// The same for several columns at once, which are given row after row.
fn forward_rows(factor: &[f64], size: usize, positive: usize, rows: &mut [f64], width: usize) {
    for i in 0..size {
        let factors = &factor[i * size..][..i + 1];
        let (above, own) = rows.split_at_mut(i * width);
        let own = &mut own[..width];
        subtract(own, above, (0, width), i, |j| signed_by(factors[j], j < positive));
        let scale = signed_by(factors[i], i < positive);
        own.iter_mut().for_each(|entry| *entry *= scale);
    }
}

/// `L'^-1 x` in place.
fn backward(factor: &[f64], size: usize, x: &mut [f64]) {
    for i in (0..size).rev() {
        let row = &factor[i * size..][..i + 1];
        let own = x[i] * row[i];
        x[i] = own;
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * own);
    }
}
