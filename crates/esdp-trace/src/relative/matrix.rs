//! Symmetric positive definite matrices: what a fit needs of them.

/// The lower triangle of `A = L L'`, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a full matrix; none where it is not positive definite.
    pub(super) fn new(mut a: Vec<f64>, size: usize) -> Option<Self> {
        for j in 0..size {
            for i in j..size {
                let (row, other) = (&a[i * size..i * size + j], &a[j * size..j * size + j]);
                let sum = a[i * size + j] - row.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
                if i == j {
                    if sum <= 0.0 || !sum.is_finite() {
                        return None;
                    }
                    a[j * size + j] = sum.sqrt();
                } else {
                    a[i * size + j] = sum / a[j * size + j];
                }
            }
        }
        Some(Self { size, lower: a })
    }

    pub(super) fn log_determinant(&self) -> f64 {
        (0..self.size).map(|at| 2.0 * libm::log(self.lower[at * self.size + at])).sum()
    }

    /// `L x = b`.
    fn forward(&self, b: &mut [f64]) {
        for i in 0..self.size {
            let row = &self.lower[i * self.size..i * self.size + i];
            let sum = row.iter().zip(&*b).map(|(x, y)| x * y).sum::<f64>();
            b[i] = (b[i] - sum) / self.lower[i * self.size + i];
        }
    }

    /// `L' x = b`.
    pub(super) fn backward(&self, b: &mut [f64]) {
        for i in (0..self.size).rev() {
            b[i] /= self.lower[i * self.size + i];
            let value = b[i];
            let row = &self.lower[i * self.size..i * self.size + i];
            b[..i].iter_mut().zip(row).for_each(|(b, x)| *b -= x * value);
        }
    }

    /// `A x = b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        self.backward(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system() {
        let a = vec![4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 3.0];
        let factor = Cholesky::new(a.clone(), 3).unwrap();
        let mut x = [8.0, 15.0, 11.0];
        factor.solve(&mut x);
        for (row, b) in [8.0, 15.0, 11.0].iter().enumerate() {
            let sum: f64 = (0..3).map(|at| a[row * 3 + at] * x[at]).sum();
            assert!((sum - b).abs() < 1e-12);
        }
        assert!((factor.log_determinant() - libm::log(44.0)).abs() < 1e-12);
        assert!(Cholesky::new(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
