//! The search for the multiplier of the variances.

use super::Dual;
use crate::solver::reduce::Reduced;

/// The search for `lambda`: the best of `max over known points (S, W) of S + lambda W, plus t / (4 lambda)`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Search {
    /// The known points with the largest and the smallest `lambda` below and above the best one.
    below: Option<(f64, f64)>,
    above: Option<(f64, f64)>,
}

impl Search {
    /// Takes a point that is best at `lambda`; returns the next `lambda` and the model's value there.
    pub(super) fn next(&mut self, lambda: f64, (mean, variance): (f64, f64), tangent: f64) -> (f64, f64) {
        let ideal = |variance: f64| 0.5 * (tangent / variance.max(1e-18)).sqrt();
        if ideal(variance) < lambda {
            self.above = Some((mean, variance));
        } else {
            self.below = Some((mean, variance));
        }
        let model = |lambda: f64, point: (f64, f64)| point.0 + lambda * point.1 + 0.25 * tangent / lambda;
        let (Some(below), Some(above)) = (self.below, self.above) else {
            let next = ideal(variance);
            return (next, model(next, (mean, variance)));
        };
        let cross = (below.0 - above.0) / (above.1 - below.1).max(1e-18);
        let (low, high) = (ideal(below.1), ideal(above.1));
        let next = if low < cross {
            low
        } else if high > cross {
            high
        } else {
            cross
        };
        let next = if next.is_finite() && next > 0.0 { next } else { lambda };
        (next, model(next, below).max(model(next, above)))
    }
}

/// The `lambda` at which this share of all channels would be best.
pub(super) fn first_lambda(problem: &Reduced, share: f64) -> f64 {
    let variance: f64 = problem.w.iter().sum::<f64>() * share;
    if problem.linear { 0.0 } else { 0.5 / variance.max(1e-12).sqrt() }
}

impl Dual {
    /// Prices nothing: a start for searches that need no bound.
    pub fn skip(&mut self, problem: &Reduced) {
        self.lambda = first_lambda(problem, 0.25);
        self.bound = f64::INFINITY;
        self.reduced.clear();
        self.reduced.extend(problem.v.iter().zip(&problem.w).map(|(v, w)| v + self.lambda * w));
        self.work = problem.len() as u64;
    }
}
