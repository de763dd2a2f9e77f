//! Thresholds for scripts: `--expect 'esdp.oracle_ratio_mean>=0.98'`.
//!
//! Left of the comparison stands a policy's label and one of the numbers of its row in the JSON
//! document; in a sweep a point may stand before it, as in `arrivals.rho=0.5:esdp.aou_mean>=900`.

use std::fmt;
use std::str::FromStr;

/// A number that a policy must reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Only at this point of a sweep, as it is written: `key=value`, several joined by commas.
    pub point: Option<String>,
    /// The policy's label.
    pub policy: String,
    /// The number's key in the policy's row.
    pub key: String,
    comparison: Comparison,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

const FORM: &str = "expected POLICY.NUMBER>=LIMIT (or <=, >, <), such as esdp.oracle_ratio_mean>=0.98";

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // From the right: the point of a sweep may hold signs, a limit does not.
        let at = text.rfind(['<', '>']).ok_or(FORM)?;
        let (left, right) = (&text[..at], &text[at + 1..]);
        let (equal, limit) = right.strip_prefix('=').map_or((false, right), |limit| (true, limit));
        let comparison = match (text.as_bytes()[at], equal) {
            (b'>', true) => Comparison::AtLeast,
            (b'>', false) => Comparison::Above,
            (_, true) => Comparison::AtMost,
            (_, false) => Comparison::Below,
        };
        let limit: f64 = limit.trim().parse().ok().filter(|limit: &f64| limit.is_finite()).ok_or(FORM)?;
        let (point, number) = match left.rsplit_once(':') {
            Some((point, number)) => (Some(point.trim().to_owned()), number),
            None => (None, left),
        };
        let (policy, key) = number.trim().rsplit_once('.').ok_or(FORM)?;
        Ok(Self { point, policy: policy.trim().to_owned(), key: key.trim().to_owned(), comparison, limit })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(point) = &self.point {
            write!(f, "{point}:")?;
        }
        write!(f, "{}.{}{}{}", self.policy, self.key, self.comparison.sign(), self.limit)
    }
}

impl Expectation {
    /// Whether a value is good enough; one that is not a number never is.
    pub fn holds(&self, value: f64) -> bool {
        match self.comparison {
            Comparison::AtLeast => value >= self.limit,
            Comparison::AtMost => value <= self.limit,
            Comparison::Above => value > self.limit,
            Comparison::Below => value < self.limit,
        }
    }

    /// What is wrong with a value, if anything. `place` names the point of a sweep.
    pub fn complaint(&self, place: Option<&str>, value: f64) -> Option<String> {
        let place = place.map(|place| format!("{place}:")).unwrap_or_default();
        let Self { policy, key, comparison, limit, .. } = self;
        (!self.holds(value))
            .then(|| format!("{place}{policy}.{key} is {value}, expected {} {limit}", comparison.sign()))
    }

    /// Checks, before anything is computed, that there will be such a policy and number.
    ///
    /// # Errors
    /// With what is accepted.
    pub fn check<'a>(&self, labels: impl IntoIterator<Item = &'a str>, keys: &[&str]) -> anyhow::Result<()> {
        let labels: Vec<&str> = labels.into_iter().collect();
        for (what, found, accepted) in
            [("policy", &self.policy, labels.as_slice()), ("number", &self.key, keys)]
        {
            if !accepted.contains(&found.as_str()) {
                anyhow::bail!(
                    "--expect {self}: unknown {what} `{found}`, expected one of {}",
                    accepted.join(", ")
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_and_written() {
        for text in [
            "esdp.oracle_ratio_mean>=0.98",
            "arrivals.rho=0.5:cts.aou_mean>3",
            "a.b(kappa=0.5).regret_mean<=-1",
        ] {
            assert_eq!(text.parse::<Expectation>().unwrap().to_string(), text);
        }
        let spaced: Expectation = "esdp.aou_mean < 5".parse().unwrap();
        assert_eq!((spaced.policy.as_str(), spaced.key.as_str()), ("esdp", "aou_mean"));
        for text in ["", "esdp", "esdp>=1", "esdp.aou_mean>=", "esdp.aou_mean>=NaN", "esdp.aou_mean=5"] {
            assert!(text.parse::<Expectation>().unwrap_err().starts_with("expected POLICY"), "{text}");
        }
    }

    #[test]
    fn limits_hold_or_are_named() {
        let parse = |text: &str| text.parse::<Expectation>().unwrap();
        assert!(parse("a.b>=1").holds(1.0) && !parse("a.b>1").holds(1.0));
        assert!(parse("a.b<=1").holds(1.0) && !parse("a.b<1").holds(1.0));
        assert!(!parse("a.b>=1").holds(f64::NAN) && !parse("a.b<=1").holds(f64::NAN));
        assert_eq!(parse("a.b>=1").complaint(None, 0.5).unwrap(), "a.b is 0.5, expected >= 1");
        assert_eq!(parse("a.b>=1").complaint(Some("rho=2"), 0.5).unwrap(), "rho=2:a.b is 0.5, expected >= 1");
        assert_eq!(parse("a.b>=1").complaint(None, 1.5), None);
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let expect: Expectation = "esdp.ratio>=1".parse().unwrap();
        let error = expect.check(["esdp", "cts"], &["aou_mean"]).unwrap_err().to_string();
        assert_eq!(error, "--expect esdp.ratio>=1: unknown number `ratio`, expected one of aou_mean");
        assert!(expect.check(["cts"], &["ratio"]).unwrap_err().to_string().contains("unknown policy `esdp`"));
    }
}
