//! The law of one speed: Normal as in the paper, or log-normal with its heavy tail.
//!
//! A speed *Z* has mean `mu` and standard deviation `d mu`. Both laws are driven by one
//! standard normal number `n`, which is what may be correlated over time:
//!
//! ```text
//! normal       Z = mu (1 + d n)
//! log-normal   Z = mu exp(s n - s^2 / 2),   s^2 = ln(1 + d^2)
//! ```
//!
//! The net utility is `Z - cost`, clipped to [0, 1], and its mean is known in closed form. For
//! the Normal law with `m = mu - cost`, `sd = d mu`, `a = -m / sd` and `b = (1 - m) / sd`:
//!
//! ```text
//! m (Phi(b) - Phi(a)) - sd (phi(b) - phi(a)) + 1 - Phi(b)
//! ```
//!
//! For the log-normal law it is `E[(Z - cost)+] - E[(Z - cost - 1)+]`, each of which is
//! `mu Phi(q + s) - k Phi(q)` with `q = (ln(mu / k) - s^2 / 2) / s`.

use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The shape of a speed's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedLaw {
    /// Normal: the paper's. A wide one goes below zero and is clipped there.
    #[default]
    Normal,
    /// Log-normal: never negative, with a heavy upper tail.
    LogNormal,
}

impl SpeedLaw {
    /// The speed that a standard normal number stands for.
    pub(in crate::sim) fn speed(self, mean: f64, deviation: f64, noise: f64) -> f64 {
        match self {
            SpeedLaw::Normal => mean * (1.0 + deviation * noise),
            SpeedLaw::LogNormal => {
                let variance = (deviation * deviation).ln_1p();
                mean * (variance.sqrt() * noise - 0.5 * variance).exp()
            }
        }
    }

    /// The mean of the net utility: of `speed - cost` clipped to [0, 1].
    pub(super) fn net_mean(self, mean: f64, deviation: f64, cost: f64) -> f64 {
        match self {
            SpeedLaw::Normal => clipped_normal_mean(mean - cost, deviation * mean),
            SpeedLaw::LogNormal => {
                let s = (deviation * deviation).ln_1p().sqrt();
                if s <= 0.0 || mean <= 0.0 {
                    return (mean - cost).clamp(0.0, 1.0);
                }
                (excess(mean, s, cost) - excess(mean, s, cost + 1.0)).clamp(0.0, 1.0)
            }
        }
    }
}

/// `E[(Z - k)+]` of a log-normal *Z* with this mean.
fn excess(mean: f64, s: f64, k: f64) -> f64 {
    if k <= 0.0 {
        return mean - k;
    }
    let q = ((mean / k).ln() - 0.5 * s * s) / s;
    mean * normal_cdf(q + s) - k * normal_cdf(q)
}

/// The mean of `N(mean, deviation)` clipped to [0, 1].
///
/// ```
/// use esdp::sim::clipped_normal_mean;
///
/// assert_eq!(clipped_normal_mean(0.5, 0.2), 0.5); // symmetric
/// assert_eq!(clipped_normal_mean(1.7, 0.0), 1.0);
/// ```
pub fn clipped_normal_mean(mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return mean.clamp(0.0, 1.0);
    }
    let (a, b) = (-mean / deviation, (1.0 - mean) / deviation);
    let inside = normal_cdf(b) - normal_cdf(a);
    let above = normal_cdf(-b);
    (mean * inside - deviation * (normal_density(b) - normal_density(a)) + above).clamp(0.0, 1.0)
}

/// Accurate in both tails: `erfc` does not cancel.
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral over the driving noise, by midpoints of 200,000 strips over +-9 deviations.
    fn integral(value: impl Fn(f64) -> f64) -> f64 {
        let (strips, width) = (200_000, 18.0 / 200_000.0);
        let strip = |i: i32| {
            let noise = -9.0 + (f64::from(i) + 0.5) * width;
            value(noise) * normal_density(noise) * width
        };
        (0..strips).map(strip).sum()
    }

    #[test]
    fn the_closed_forms_are_the_integrals() {
        for law in [SpeedLaw::Normal, SpeedLaw::LogNormal] {
            for (mean, deviation, cost) in [
                (0.4, 0.5, 0.1),
                (0.1, 0.5, 0.3),
                (0.9, 0.2, 0.0),
                (1.6, 0.7, 0.1),
                (0.5, 3.0, 0.2),
                (0.3, 0.0, 0.1),
            ] {
                let expected = integral(|noise| (law.speed(mean, deviation, noise) - cost).clamp(0.0, 1.0));
                let found = law.net_mean(mean, deviation, cost);
                assert!(
                    (found - expected).abs() < 1e-7,
                    "{law:?} {mean} {deviation}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn speeds_have_the_mean_and_deviation_they_name() {
        for law in [SpeedLaw::Normal, SpeedLaw::LogNormal] {
            let mean = integral(|noise| law.speed(0.6, 0.5, noise));
            let square = integral(|noise| law.speed(0.6, 0.5, noise).powi(2));
            assert!((mean - 0.6).abs() < 1e-7, "{law:?}: {mean}");
            assert!(((square - mean * mean).sqrt() - 0.3).abs() < 1e-5, "{law:?}: {square}");
        }
    }
}
