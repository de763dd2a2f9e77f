//! How numbers are written; when a difference is clear is the engine's affair.

use esdp_engine::Spread;

pub(in super::super) use esdp_engine::{Difference, Sign};

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
    fn numbers_and_lists() {
        let spread = Spread { mean: 0.1234, stderr: 0.004, n: 3 };
        assert_eq!((percent(spread).as_str(), share(spread).as_str()), ("+12.3 ± 0.4 %", "0.123 ± 0.004"));
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list::<&str>(&[]), "none");
    }
}
