//! The law of one speed: Normal as in the paper, or one of another shape.
//!
//! A speed *Z* has mean `mu` and standard deviation `d mu`. Every law is driven by one standard normal
//! number `n`, which is what may be correlated over time; a larger `n` is a larger speed:
//!
//! ```text
//! normal       Z = mu (1 + d n)
//! log-normal   Z = mu exp(s n - s^2 / 2),   s^2 = ln(1 + d^2)
//! uniform      Z = mu (1 + sqrt(3) d (2 Phi(n) - 1))
//! pareto       Z = x Phi(-n)^(-1/a),   a = 1 + sqrt(1 + 1/d^2),   x = mu (a - 1) / a
//! gamma, beta  the quantile at Phi(n)
//! bernoulli    Z = 1 if Phi(-n) < mu, else 0
//! ```
//!
//! The net utility is `Z - cost`, clipped to [0, 1], and its mean is known in closed form. For
//! the Normal law with `m = mu - cost`, `sd = d mu`, `a = -m / sd` and `b = (1 - m) / sd`:
//!
//! ```text
//! m (Phi(b) - Phi(a)) - sd (phi(b) - phi(a)) + 1 - Phi(b)
//! ```
//!
//! For the others it is `E[(Z - cost)+] - E[(Z - cost - 1)+]`. The log-normal law has
//! `E[(Z - k)+] = mu Phi(q + s) - k Phi(q)` with `q = (ln(mu / k) - s^2 / 2) / s`; gamma and beta have the
//! same with incomplete gamma and beta functions in the place of `Phi`.

use super::special::{beta_tails, gamma_tails, log_beta, quantile};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The shape of a speed's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SpeedLaw {
    /// Normal: the paper's. A wide one goes below zero and is clipped there.
    #[default]
    Normal,
    /// Log-normal: never negative, with a heavy upper tail.
    LogNormal,
    /// Uniform around the mean. Beyond a deviation of 0.577 it goes below zero and is clipped there.
    Uniform,
    /// Gamma: never negative, with a lighter tail than the log-normal. Below a deviation of 0.01 it is
    /// `normal`.
    Gamma,
    /// Beta: from 0 to 1. A mean above 1 counts as 1, and a deviation that no speed from 0 to 1 can have
    /// makes it `bernoulli`. Below a deviation of 0.01 it is `normal`.
    Beta,
    /// 1 with the mean as its probability, else 0, as bandits are often tested. A mean above 1 counts as 1;
    /// `deviation` follows from the mean, and what is given for it does not count.
    Bernoulli,
    /// Pareto: never below a share of the mean, with the heaviest upper tail; its shape is above 2.
    Pareto,
}

/// A gamma or beta distribution as narrow as this is a Normal one.
const NARROW: f64 = 0.01;
/// A beta distribution of shapes with a larger sum than this, so far below 1, is a gamma distribution.
const LARGEST_SUM: f64 = 1e6;

/// A law with its parameters.
enum Shape {
    Constant(f64),
    Normal { mean: f64, deviation: f64 },
    LogNormal { mean: f64, s: f64 },
    Uniform { from: f64, to: f64 },
    Gamma { shape: f64, scale: f64 },
    Beta { a: f64, b: f64 },
    Bernoulli { mean: f64 },
    Pareto { least: f64, a: f64 },
}

impl SpeedLaw {
    /// The law of a mean and a deviation relative to it.
    fn shape(self, mean: f64, deviation: f64) -> Shape {
        let square = deviation * deviation;
        let normal = Shape::Normal { mean, deviation: deviation * mean };
        match self {
            // A mean of 0 and a deviation of 0 are told apart by nobody.
            SpeedLaw::Normal => normal,
            SpeedLaw::Bernoulli => Shape::Bernoulli { mean: mean.clamp(0.0, 1.0) },
            _ if mean <= 0.0 => Shape::Constant(mean),
            SpeedLaw::Beta if mean >= 1.0 => Shape::Constant(1.0),
            _ if square <= 0.0 => Shape::Constant(mean),
            SpeedLaw::LogNormal => Shape::LogNormal { mean, s: square.ln_1p().sqrt() },
            SpeedLaw::Uniform => {
                let half = 3f64.sqrt() * deviation * mean;
                Shape::Uniform { from: mean - half, to: mean + half }
            }
            SpeedLaw::Pareto => {
                let a = 1.0 + (1.0 + 1.0 / square).sqrt();
                Shape::Pareto { least: mean * (a - 1.0) / a, a }
            }
            SpeedLaw::Gamma | SpeedLaw::Beta if deviation < NARROW => normal,
            SpeedLaw::Gamma => Shape::Gamma { shape: 1.0 / square, scale: mean * square },
            SpeedLaw::Beta => {
                let sum = (1.0 - mean) / (mean * square) - 1.0;
                match sum {
                    _ if sum <= 1e-9 => Shape::Bernoulli { mean },
                    _ if sum > LARGEST_SUM => Shape::Gamma { shape: 1.0 / square, scale: mean * square },
                    _ => Shape::Beta { a: mean * sum, b: (1.0 - mean) * sum },
                }
            }
        }
    }

    /// The speed that a standard normal number stands for.
    pub(in crate::sim) fn speed(self, mean: f64, deviation: f64, noise: f64) -> f64 {
        // The first two as they always were, digit by digit.
        match self {
            SpeedLaw::Normal => return mean * (1.0 + deviation * noise),
            SpeedLaw::LogNormal => {
                let variance = (deviation * deviation).ln_1p();
                return mean * (variance.sqrt() * noise - 0.5 * variance).exp();
            }
            _ => {}
        }
        let (below, above) = (normal_cdf(noise), normal_cdf(-noise));
        match self.shape(mean, deviation) {
            Shape::Constant(speed) => speed,
            Shape::Normal { mean, deviation } => mean + deviation * noise,
            Shape::LogNormal { mean, s } => mean * (s * noise - 0.5 * s * s).exp(),
            Shape::Uniform { from, to } => from * above + to * below,
            Shape::Gamma { shape, scale } => scale * gamma_quantile(shape, noise, (below, above)),
            Shape::Beta { a, b } => {
                let density = |x: f64| ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - log_beta(a, b)).exp();
                quantile((below, above), (1.0, 1e-15), mean, |x| beta_tails(a, b, x), density)
            }
            Shape::Bernoulli { mean } => f64::from(u8::from(above < mean)),
            Shape::Pareto { least, a } => least * above.powf(-1.0 / a),
        }
    }

    /// The mean of the net utility: of `speed - cost` clipped to [0, 1].
    pub(super) fn net_mean(self, mean: f64, deviation: f64, cost: f64) -> f64 {
        match self.shape(mean, deviation) {
            Shape::Constant(speed) => (speed - cost).clamp(0.0, 1.0),
            Shape::Normal { mean, deviation } => clipped_normal_mean(mean - cost, deviation),
            shape => (shape.excess(cost) - shape.excess(cost + 1.0)).clamp(0.0, 1.0),
        }
    }
}

impl Shape {
    /// `E[(Z - k)+]`.
    fn excess(&self, k: f64) -> f64 {
        match *self {
            Shape::Constant(speed) => (speed - k).max(0.0),
            Shape::Normal { .. } => unreachable!("it has a closed form of its own"),
            Shape::LogNormal { mean, s } => excess(mean, s, k),
            Shape::Uniform { from, to } => {
                let (low, high) = ((from - k).max(0.0), (to - k).max(0.0));
                0.5 * (high - low) * (high + low) / (to - from)
            }
            Shape::Gamma { shape, scale } => {
                let x = k / scale;
                shape * scale * gamma_tails(shape + 1.0, x).1 - k * gamma_tails(shape, x).1
            }
            Shape::Beta { a, b } => a / (a + b) * beta_tails(a + 1.0, b, k).1 - k * beta_tails(a, b, k).1,
            Shape::Bernoulli { mean } => mean * (1.0 - k).max(0.0) + (1.0 - mean) * (-k).max(0.0),
            Shape::Pareto { least, a } if k <= least => least * a / (a - 1.0) - k,
            Shape::Pareto { least, a } => least * (k / least).powf(1.0 - a) / (a - 1.0),
        }
    }
}

/// The quantile of a gamma distribution of scale 1.
fn gamma_quantile(shape: f64, noise: f64, tails: (f64, f64)) -> f64 {
    // Wilson and Hilferty's cube, or where it fails the first term of the series.
    let cube = 1.0 - 1.0 / (9.0 * shape) + noise / (3.0 * shape.sqrt());
    let start = match cube > 0.0 && shape > 0.5 {
        true => shape * cube.powi(3),
        false => ((tails.0.ln() + libm::lgamma(shape + 1.0)) / shape).exp(),
    };
    // Beyond this less than 1e-20 is left.
    let high = shape + 12.0 * shape.sqrt() + 60.0;
    let density = |x: f64| ((shape - 1.0) * x.ln() - x - libm::lgamma(shape)).exp();
    quantile(tails, (high, 1e-15 * shape), start, |x| gamma_tails(shape, x), density)
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
        for law in
            [SpeedLaw::Normal, SpeedLaw::LogNormal, SpeedLaw::Uniform, SpeedLaw::Gamma, SpeedLaw::Pareto]
        {
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
                // Midpoints miss the corners of the others by a little.
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{law:?} {mean} {deviation}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn speeds_have_the_mean_and_deviation_they_name() {
        let all = [SpeedLaw::Normal, SpeedLaw::LogNormal, SpeedLaw::Uniform, SpeedLaw::Gamma, SpeedLaw::Beta];
        for law in all {
            let mean = integral(|noise| law.speed(0.6, 0.5, noise));
            let square = integral(|noise| law.speed(0.6, 0.5, noise).powi(2));
            assert!((mean - 0.6).abs() < 1e-7, "{law:?}: {mean}");
            assert!(((square - mean * mean).sqrt() - 0.3).abs() < 1e-5, "{law:?}: {square}");
        }
    }

    /// The mean of a million draws against the closed form, over a grid of means, deviations and costs.
    #[test]
    fn draws_have_the_mean_that_is_claimed() {
        use crate::rng::{Purpose, stream};
        use SpeedLaw::{Bernoulli, Beta, Gamma, LogNormal, Normal, Pareto, Uniform};
        use rand_distr::{Distribution, StandardNormal};

        let draws = 1_000_000;
        let mut rng = stream(1, Purpose::Speeds, 0, 0);
        let noise: Vec<f64> = (0..draws).map(|_| StandardNormal.sample(&mut rng)).collect();
        for law in [Normal, LogNormal, Uniform, Gamma, Beta, Bernoulli, Pareto] {
            for (mean, deviation) in [(0.5, 0.5), (0.15, 0.3), (0.9, 0.3), (1.3, 0.8), (0.4, 1.4)] {
                // The quantiles of gamma and beta take a while.
                let count = if matches!(law, Gamma | Beta) { draws / 10 } else { draws };
                let speeds: Vec<f64> =
                    noise[..count].iter().map(|noise| law.speed(mean, deviation, *noise)).collect();
                for cost in [0.0, 0.12, 0.6] {
                    let (mut sum, mut square) = (0.0, 0.0);
                    for speed in &speeds {
                        let net = (speed - cost).clamp(0.0, 1.0);
                        sum += net;
                        square += net * net;
                    }
                    let (found, n) = (sum / count as f64, count as f64);
                    let error = ((square / n - found * found).max(0.0) / n).sqrt();
                    let claimed = law.net_mean(mean, deviation, cost);
                    assert!(
                        (found - claimed).abs() <= 4.0 * error + 1e-6,
                        "{law:?} {mean} {deviation} {cost}: {found} drawn, {claimed} claimed, error {error}"
                    );
                }
            }
        }
    }

    #[test]
    fn laws_keep_to_their_ends() {
        for noise in [-8.0, -3.0, -0.5, 0.0, 0.7, 2.0, 8.0] {
            let at = |law: SpeedLaw, mean, deviation| law.speed(mean, deviation, noise);
            for (mean, deviation) in
                [(0.2, 0.5), (0.5, 0.9), (0.5, 30.0), (1e-9, 0.5), (0.999, 0.01), (3.0, 0.5)]
            {
                let beta = at(SpeedLaw::Beta, mean, deviation);
                assert!((0.0..=1.0).contains(&beta), "{mean} {deviation} {noise}: {beta}");
                for law in [SpeedLaw::Gamma, SpeedLaw::Pareto] {
                    let speed = at(law, mean, deviation);
                    assert!(speed >= 0.0 && speed.is_finite(), "{law:?} {mean} {deviation} {noise}: {speed}");
                }
            }
            assert_eq!(at(SpeedLaw::Gamma, 0.5, 0.0), 0.5);
            assert_eq!(at(SpeedLaw::Beta, 0.0, 0.5), 0.0);
            // A larger number is a larger speed, so correlated numbers are correlated speeds.
            for law in [SpeedLaw::Gamma, SpeedLaw::Beta, SpeedLaw::Pareto, SpeedLaw::Uniform] {
                assert!(law.speed(0.4, 0.5, noise + 0.1) > at(law, 0.4, 0.5), "{law:?} {noise}");
            }
        }
    }
}
