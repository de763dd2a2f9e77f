//! What a sweep varies: `--vary key=v1,v2,...` or `--vary key=0.1..1.0:0.1`, and the points that gives.

use crate::{Contender, SweepError};
use esdp::scenario::{Scenario, expand_range};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// A key and the values it takes, as they are written in TOML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vary {
    /// The dotted key.
    pub key: String,
    /// The values.
    pub values: Vec<String>,
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected KEY=VALUE,VALUE,..., such as arrivals.rho=0.5,0.9";
        let (key, values) = text.split_once('=').ok_or(FORM)?;
        let (key, written) = (key.trim().to_owned(), split(values));
        if key.is_empty() || written.iter().any(String::is_empty) {
            return Err(FORM.to_owned());
        }
        let mut values = Vec::with_capacity(written.len());
        for value in written {
            match expand_range(&value)? {
                Some(range) => values.extend(range),
                None => values.push(value),
            }
        }
        if let Some((at, value)) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value))
        {
            return Err(format!("the value {value} comes twice (again in place {})", at + 1));
        }
        Ok(Self { key, values })
    }
}

/// Splits at the commas that are in no bracket and no quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth, mut quote) = (Vec::new(), String::new(), 0usize, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(part.trim().to_owned());
                part.clear();
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part.trim().to_owned());
    parts
}

/// A scenario with every varied key set.
#[derive(Debug, Clone)]
pub struct SweepPoint {
    /// A value for each key, in the order of the keys.
    pub at: Vec<(String, String)>,
    /// The scenario there.
    pub scenario: Scenario,
    /// Who takes part.
    pub policies: Vec<Contender>,
}

impl SweepPoint {
    /// The point as it is written in thresholds: `key=value`, with commas between several.
    pub fn name(&self) -> String {
        self.at.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
    }

    /// Whether the point has these coordinates. A key may be short of its first parts (`rho` for
    /// `arrivals.rho`), and numbers are equal however they are written.
    pub fn matches(&self, wanted: &str) -> bool {
        split(wanted).iter().all(|condition| {
            let Some((key, value)) = condition.split_once('=') else { return false };
            let (key, value) = (key.trim(), value.trim());
            self.at.iter().any(|(known, at)| {
                let same_key =
                    known == key || known.strip_suffix(key).is_some_and(|rest| rest.ends_with('.'));
                same_key && same(at, value)
            })
        })
    }
}

fn same(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let plain = |text: &str| text.trim_matches(['"', '\'']).replace(' ', "");
    plain(one) == plain(other) || number(one).is_some_and(|one| Some(one) == number(other))
}

/// Every combination of the values; the last key changes fastest.
pub(super) fn points(base: &Scenario, vary: &[Vary]) -> Result<Vec<SweepPoint>, SweepError> {
    let count = vary.iter().try_fold(1usize, |count, vary| count.checked_mul(vary.values.len()));
    if count.is_none_or(|count| count > MOST_POINTS) {
        return Err(SweepError::TooManyPoints { most: MOST_POINTS });
    }
    if let Some((at, twice)) =
        vary.iter().enumerate().find(|(at, one)| vary[..*at].iter().any(|two| two.key == one.key))
    {
        return Err(SweepError::KeyTwice { key: twice.key.clone(), place: at + 1 });
    }
    let mut points: Vec<(Vec<(String, String)>, Scenario)> = vec![(Vec::new(), base.clone())];
    for Vary { key, values } in vary {
        let mut next = Vec::with_capacity(points.len() * values.len());
        for (at, scenario) in &points {
            for value in values {
                let refused = |cause| SweepError::Value { set: format!("{key}={value}"), cause };
                let scenario = scenario.set(key, value).map_err(refused)?;
                let at = at.iter().cloned().chain([(key.clone(), value.clone())]).collect();
                next.push((at, scenario));
            }
        }
        points = next;
    }
    let point = |(at, scenario)| SweepPoint { at, policies: Contender::of(&scenario), scenario };
    Ok(points.into_iter().map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_hold_commas() {
        let vary: Vary = "devices.capacity=[1, 2],[4,8]".parse().unwrap();
        assert_eq!(
            (vary.key.as_str(), vary.values.as_slice()),
            ("devices.capacity", ["[1, 2]", "[4,8]"].map(String::from).as_slice())
        );
        let tables: Vary = "graph={ ports = 4, servers = 20 },{ports=8}".parse().unwrap();
        assert_eq!(tables.values, ["{ ports = 4, servers = 20 }", "{ports=8}"]);
        assert_eq!(split(r#""a,b",c"#), [r#""a,b""#, "c"]);
        let mixed: Vary = "arrivals.rho=0.05,0.1..0.3:0.1,0.9".parse().unwrap();
        assert_eq!(mixed.values, ["0.05", "0.1", "0.2", "0.3", "0.9"]);
        let factor: Vary = "slots=1..1000:*10".parse().unwrap();
        assert_eq!(factor.values, ["1", "10", "100", "1000"]);
        assert!("slots=1..5".parse::<Vary>().unwrap_err().starts_with("the range 1..5 has no step"));
        for bad in ["", "slots", "slots=", "=1", "slots=1,,2"] {
            assert!(bad.parse::<Vary>().unwrap_err().starts_with("expected KEY="), "{bad}");
        }
        assert!("slots=1,2,1".parse::<Vary>().unwrap_err().contains("twice"));
    }

    #[test]
    fn points_are_all_combinations() {
        let base = Scenario::preset("default").unwrap();
        let vary = ["arrivals.rho=0.5,0.9", "slots=10,20"].map(|text| text.parse().unwrap());
        let points = points(&base, &vary).unwrap();
        let names: Vec<String> = points.iter().map(SweepPoint::name).collect();
        assert_eq!(names[1], "arrivals.rho=0.5,slots=20");
        assert_eq!((names.len(), points[3].scenario.slots()), (4, 20));
        assert!(points[1].matches("rho=0.50") && points[1].matches("slots=20,arrivals.rho=0.5"));
        assert!(!points[1].matches("ho=0.5") && !points[1].matches("rho=0.9") && !points[1].matches("rho"));
        let error = super::points(&base, &["arrivals.rho=1.5".parse().unwrap()]).unwrap_err();
        assert!(error.to_string().starts_with("arrivals.rho=1.5: `arrivals.rho` is 1.5, expected"));
        let twice = ["slots=1", "slots=2"].map(|text| text.parse().unwrap());
        assert!(super::points(&base, &twice).unwrap_err().to_string().contains("varied twice"));
    }
}
