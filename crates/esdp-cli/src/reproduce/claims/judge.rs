//! When a difference is clear, and how numbers are written.

use esdp_engine::Spread;

/// What a set of paired differences says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Sign {
    /// Clearly above 0.
    Above,
    /// Clearly below 0.
    Below,
    /// Its confidence interval holds 0, or there is only one seed.
    Unclear,
}

/// Differences seed by seed: their mean, standard error and sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Difference {
    pub(in super::super) spread: Spread,
    pub(in super::super) sign: Sign,
}

impl Difference {
    pub(in super::super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let spread = Spread::of(values);
        // What only rounding tells apart is not apart.
        let reach = (student(spread.n) * spread.stderr).max(1e-9);
        let sign = match spread.mean {
            _ if spread.n < 2 => Sign::Unclear,
            mean if mean > reach => Sign::Above,
            mean if mean < -reach => Sign::Below,
            _ => Sign::Unclear,
        };
        Self { spread, sign }
    }

    /// Seed by seed `a - b`.
    pub(in super::super) fn between(a: &[f64], b: &[f64]) -> Self {
        Self::of(a.iter().zip(b).map(|(a, b)| a - b))
    }

    /// Seed by seed `a / b - 1`.
    pub(in super::super) fn gain(a: &[f64], b: &[f64]) -> Self {
        Self::of(a.iter().zip(b).map(|(a, b)| if *b == 0.0 { 0.0 } else { a / b - 1.0 }))
    }

    pub(in super::super) fn is_above(&self) -> bool {
        self.sign == Sign::Above
    }

    pub(in super::super) fn is_below(&self) -> bool {
        self.sign == Sign::Below
    }
}

/// The 97.5 % quantile of Student's t with `n - 1` degrees of freedom.
fn student(n: usize) -> f64 {
    const TABLE: [f64; 29] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045,
    ];
    match n {
        0 | 1 => f64::INFINITY,
        n => TABLE.get(n - 2).copied().unwrap_or(2.042),
    }
}

/// `+12.3 ± 0.4 %`, of a share.
pub(super) fn percent(spread: Spread) -> String {
    format!("{:+.1} ± {:.1} %", 100.0 * spread.mean, 100.0 * spread.stderr)
}

/// `-1.2 ± 0.4 points`, of a difference between shares.
pub(super) fn points(spread: Spread) -> String {
    format!("{:+.1} ± {:.1} points", 100.0 * spread.mean, 100.0 * spread.stderr)
}

/// `0.913 ± 0.004`.
pub(super) fn share(spread: Spread) -> String {
    format!("{:.3} ± {:.3}", spread.mean, spread.stderr)
}

/// `+123 ± 4`, in as many digits as it needs.
pub(in super::super) fn amount(spread: Spread) -> String {
    let digits = if spread.mean.abs() < 10.0 { 2 } else { 0 };
    format!("{:+.digits$} ± {:.digits$}", spread.mean, spread.stderr)
}

/// `a, b and c`; `none` of nothing.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.as_ref().to_owned(),
        [all @ .., last] => {
            let all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", all.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_means_the_interval_excludes_nothing() {
        assert_eq!(Difference::of([1.0, 1.1, 0.9]).sign, Sign::Above);
        assert_eq!(Difference::of([-1.0, -1.1, -0.9]).sign, Sign::Below);
        assert_eq!(Difference::of([1.0, -1.1, 0.9]).sign, Sign::Unclear);
        assert_eq!(Difference::of([5.0]).sign, Sign::Unclear, "one seed decides nothing");
        assert_eq!(Difference::of([]).sign, Sign::Unclear);
        // Two seeds need 12.7 standard errors.
        assert_eq!(Difference::of([1.0, 1.2]).sign, Sign::Unclear);
        assert_eq!(Difference::of([1.0, 1.1]).sign, Sign::Above);
    }

    #[test]
    fn numbers_and_lists() {
        let spread = Spread { mean: 0.1234, stderr: 0.004, n: 3 };
        assert_eq!((percent(spread).as_str(), share(spread).as_str()), ("+12.3 ± 0.4 %", "0.123 ± 0.004"));
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list::<&str>(&[]), "none");
        assert!((student(10) - 2.262).abs() < 1e-9 && student(1000) < 2.05);
    }
}
