//! Linear systems of a few hundred unknowns: Cholesky.

/// Factorises in place, in the lower triangle; a pivot that rounding made too small is raised.
pub(in crate::solver::gang) fn factorise(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        let (above, row) = matrix.split_at_mut(i * size);
        let row = &mut row[..size];
        for j in 0..i {
            let other = &above[j * size..][..j + 1];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let full = row[i];
        let pivot = full - dot(&row[..i], &row[..i]);
        row[i] = pivot.max(1e-9 * full.max(1e-12)).sqrt();
    }
}

/// Solves with a factor, in place.
pub(in crate::solver::gang) fn solve(factor: &[f64], size: usize, x: &mut [f64]) {
    if let [pivot] = factor[..size * size] {
        // Most jobs have a system of one unknown.
        x[0] /= pivot * pivot;
        return;
    }
    for i in 0..size {
        let row = &factor[i * size..][..size];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..size).rev() {
        let row = &factor[i * size..][..size];
        x[i] /= row[i];
        let own = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * own);
    }
}

/// Eight sums at a time, for vector registers.
pub(in crate::solver::gang) fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 8 {
        return a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
    let mut sums = [0.0; 8];
    let (first, second) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = first.remainder().iter().zip(second.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in first.zip(second) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        // M = B B^T + 1 with some B; the solution is known.
        let size = 19;
        let b = |i: usize, j: usize| ((i * 7 + j * 13) % 11) as f64 / 11.0;
        let entry = |i: usize, j: usize| {
            (0..size).map(|k| b(i, k) * b(j, k)).sum::<f64>() + f64::from(u8::from(i == j))
        };
        let mut matrix: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
        let known: Vec<f64> = (0..size).map(|i| i as f64 - 5.0).collect();
        let mut x: Vec<f64> = (0..size).map(|i| (0..size).map(|j| entry(i, j) * known[j]).sum()).collect();
        factorise(&mut matrix, size);
        solve(&matrix, size, &mut x);
        assert!(x.iter().zip(&known).all(|(x, known)| (x - known).abs() < 1e-9), "{x:?}");
    }
}
