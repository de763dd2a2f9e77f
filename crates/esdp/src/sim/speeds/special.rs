//! The incomplete gamma and beta functions, and their inverses: what the laws `gamma` and `beta` are made of.
//!
//! Series and continued fractions as in Abramowitz and Stegun, chapters 6.5 and 26.5. A quantile is found by
//! Newton's method, kept inside of a bracket that is halved where a step would leave it.

use libm::lgamma;

/// Relative accuracy of series and fractions.
const EPSILON: f64 = 1e-15;
/// Keeps denominators of fractions away from zero.
const TINY: f64 = 1e-300;
/// More terms than any shape that `law.rs` asks for needs.
const MOST_TERMS: u32 = 100_000;

/// The lower and the upper incomplete gamma function, each over the whole: `P(a, x)` and `Q(a, x)`.
pub(super) fn gamma_tails(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    let front = (a * x.ln() - x - lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..MOST_TERMS {
            term *= x / (a + f64::from(n));
            sum += term;
            if term < sum * EPSILON {
                break;
            }
        }
        let lower = (front * sum).min(1.0);
        return (lower, 1.0 - lower);
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut fraction = d;
    for n in 1..MOST_TERMS {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / away(numerator * d + b);
        c = away(b + numerator / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < EPSILON {
            break;
        }
    }
    let upper = (front * fraction).clamp(0.0, 1.0);
    (1.0 - upper, upper)
}

/// The incomplete beta function over the whole, `I_x(a, b)`, and what is left of 1.
pub(super) fn beta_tails(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - log_beta(a, b)).exp();
    // The fraction is quick below the mean; above it, its mirror image is.
    if x < (a + 1.0) / (a + b + 2.0) {
        let lower = (front * beta_fraction(a, b, x) / a).clamp(0.0, 1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (front * beta_fraction(b, a, 1.0 - x) / b).clamp(0.0, 1.0);
        (1.0 - upper, upper)
    }
}

pub(super) fn log_beta(a: f64, b: f64) -> f64 {
    lgamma(a) + lgamma(b) - lgamma(a + b)
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for n in 1..MOST_TERMS {
        let n = f64::from(n);
        let even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
        let odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = d * c;
            fraction *= change;
        }
        if (change - 1.0).abs() < EPSILON {
            break;
        }
    }
    fraction
}

fn away(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// Where a distribution has these tails: `tails` gives both at a point, `density` its derivative. The smaller
/// of the two tails is met, which keeps its digits. The answer is between 0 and `high`, and need not be
/// closer than `tolerance`.
pub(super) fn quantile(
    (below, above): (f64, f64),
    (mut high, tolerance): (f64, f64),
    start: f64,
    tails: impl Fn(f64) -> (f64, f64),
    density: impl Fn(f64) -> f64,
) -> f64 {
    let mut low = 0.0;
    let mut x = if start > low && start < high { start } else { 0.5 * (low + high) };
    for _ in 0..200 {
        let (p, q) = tails(x);
        let excess = if below <= above { p - below } else { above - q };
        if excess == 0.0 {
            return x;
        }
        if excess > 0.0 {
            high = x
        } else {
            low = x
        }
        let slope = density(x);
        let step = x - excess / slope;
        let next = if slope > 0.0 && step > low && step < high { step } else { 0.5 * (low + high) };
        let moved = (next - x).abs();
        x = next;
        if moved <= 1e-14 * x || high - low <= tolerance {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn the_functions_are_those_of_the_books() {
        // Whole shapes have closed forms: 1 - exp(-x) sum x^k / k!, and binomial sums.
        close(gamma_tails(1.0, 0.7).0, 1.0 - (-0.7f64).exp());
        close(gamma_tails(3.0, 2.5).1, (-2.5f64).exp() * (1.0 + 2.5 + 3.125));
        close(gamma_tails(3.0, 9.0).1, (-9.0f64).exp() * (1.0 + 9.0 + 40.5));
        close(gamma_tails(0.5, 0.8).0, libm::erf(0.8f64.sqrt()));
        close(beta_tails(1.0, 4.0, 0.3).1, 0.7f64.powi(4));
        close(beta_tails(2.0, 3.0, 0.4).0, 6.0 * 0.16 * 0.36 + 4.0 * 0.064 * 0.6 + 0.0256);
        close(beta_tails(0.5, 0.5, 0.25).0, 2.0 / std::f64::consts::PI * 0.5f64.asin());
        assert_eq!(beta_tails(2.0, 3.0, 1.0), (1.0, 0.0));
    }

    #[test]
    fn large_shapes_converge() {
        // The median of a gamma distribution is its shape less 1/3, but for 1e-6.
        let (lower, upper) = gamma_tails(1e5, 1e5 - 1.0 / 3.0);
        assert!((lower - 0.5).abs() < 1e-7 && (upper - 0.5).abs() < 1e-7, "{lower} {upper}");
        // Logarithms of this size have lost seven digits.
        assert!((beta_tails(2e5, 2e5, 0.5).0 - 0.5).abs() < 1e-8);
    }
}
