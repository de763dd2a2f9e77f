//! What a scenario varies: one key or several, each with its values.

use super::error::ScenarioError;
use super::read::{read, show};
use super::set::parse;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;

/// The most values of a key.
pub(super) const MOST_VALUES: usize = 10_000;

/// What a scenario varies: a key and the values it takes one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The dotted key.
    pub key: String,
    /// The values, as they are written in TOML: a list, or a range such as `"0.1..1.0:0.1"` (steps of 0.1) or
    /// `"1..1000:*10"` (each ten times the last), or a list with ranges in it; 1 to 10,000 values.
    #[serde(serialize_with = "typed", deserialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::sweep_values"))]
    pub values: Vec<String>,
}

/// One key that is varied, or a list of them: then every combination of their values is a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SweepTable {
    /// `[sweep]`: one key.
    One(Sweep),
    /// `[[sweep]]`: several; the last changes fastest.
    Several(Vec<Sweep>),
}

impl SweepTable {
    /// The keys with their values.
    pub fn keys(&self) -> &[Sweep] {
        match self {
            Self::One(sweep) => std::slice::from_ref(sweep),
            Self::Several(sweeps) => sweeps,
        }
    }

    /// The same without a key; none where nothing is left.
    pub(super) fn without(self, key: &str) -> Option<Self> {
        match self {
            Self::One(sweep) => (sweep.key != key).then_some(Self::One(sweep)),
            Self::Several(mut sweeps) => {
                sweeps.retain(|sweep| sweep.key != key);
                (!sweeps.is_empty()).then_some(Self::Several(sweeps))
            }
        }
    }

    /// The path of an entry in the scenario.
    pub(super) fn path(&self, position: usize) -> String {
        match self {
            Self::One(_) => "sweep".to_owned(),
            Self::Several(_) => format!("sweep[{position}]"),
        }
    }
}

/// Reads `sweep` by itself: an enum without a tag would not say what is wrong with it.
pub(super) fn check_form(root: &Value) -> Result<(), ScenarioError> {
    match root.get("sweep") {
        None => Ok(()),
        Some(table @ Value::Table(_)) => read::<Sweep>(table, "sweep").map(drop),
        Some(Value::Array(list)) => list
            .iter()
            .enumerate()
            .try_for_each(|(at, one)| read::<Sweep>(one, &format!("sweep[{at}]")).map(drop)),
        Some(other) => {
            let accepted = "a table with `key` and `values`, or a list of such tables";
            Err(ScenarioError::value("sweep", show(other), accepted))
        }
    }
}

/// In a file the values stand as what they are.
fn typed<S: Serializer>(values: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| parse("", value)))
}

fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let list = match Value::deserialize(deserializer)? {
        Value::Array(list) => list,
        range @ Value::String(_) => vec![range],
        other => {
            let message = format!("invalid type: {}, expected a list of values or a range", show(&other));
            return Err(D::Error::custom(message));
        }
    };
    let mut values = Vec::with_capacity(list.len());
    for value in &list {
        match value.as_str().map_or(Ok(None), expand_range).map_err(D::Error::custom)? {
            Some(range) => values.extend(range),
            None => values.push(value.to_string()),
        }
    }
    Ok(values)
}

/// The numbers of a range: `0.1..1.0:0.1` goes in steps, `1..1000:*10` by a factor. The end is a number of it
/// if the steps meet it. None where the text is not a range.
///
/// ```
/// use esdp::scenario::expand_range;
///
/// assert_eq!(expand_range("0.1..0.4:0.1").unwrap().unwrap(), ["0.1", "0.2", "0.3", "0.4"]);
/// assert_eq!(expand_range("1..1000:*10").unwrap().unwrap(), ["1", "10", "100", "1000"]);
/// assert_eq!(expand_range("bursty"), Ok(None));
/// ```
///
/// # Errors
/// In a sentence, when it is a range that has no step, no numbers or too many.
pub fn expand_range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((from, rest)) = text.split_once("..") else { return Ok(None) };
    let from = from.trim();
    if from.parse::<f64>().is_err() {
        return Ok(None);
    }
    let wrong = |why: &str| {
        format!("the range {text} {why}, expected FROM..TO:STEP or FROM..TO:*FACTOR, such as 0.1..1.0:0.1")
    };
    let Some((to, step)) = rest.split_once(':') else { return Err(wrong("has no step")) };
    let (to, step) = (to.trim(), step.trim());
    let by_factor = step.strip_prefix('*').map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let (Some(first), Some(last), Some(each)) = (number(from), number(to), number(by_factor.unwrap_or(step)))
    else {
        return Err(wrong("is not of numbers"));
    };
    let goes_on = match by_factor {
        Some(_) => first > 0.0 && last > 0.0 && each > 0.0 && (last > first) == (each > 1.0) && each != 1.0,
        None => each != 0.0 && (last > first) == (each > 0.0),
    };
    if !goes_on && first != last {
        return Err(wrong("never gets to its end"));
    }
    let steps = match by_factor {
        _ if first == last => 0.0,
        Some(_) => (last / first).ln() / each.ln(),
        None => (last - first) / each,
    };
    // A hair more: 0.1 + 9 x 0.1 is 1.0 to whoever wrote it.
    let steps = (steps + 1e-9).floor();
    if steps >= MOST_VALUES as f64 {
        return Err(wrong(&format!("has more than {MOST_VALUES} values")));
    }
    let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
    let whole = is_whole(from) && is_whole(by_factor.unwrap_or(step));
    let value = |at: i32| {
        let exact = match by_factor {
            Some(_) => first * each.powi(at),
            None => first + f64::from(at) * each,
        };
        // Twelve digits: what is behind them is rounding.
        let rounded: f64 = format!("{exact:.11e}").parse().unwrap_or(exact);
        if whole { format!("{}", rounded.round()) } else { format!("{rounded:?}") }
    };
    Ok(Some((0..=steps as i32).map(value).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        expand_range(text).unwrap().unwrap()
    }

    #[test]
    fn ranges_are_what_they_look_like() {
        let tenths = values("0.1..1.0:0.1");
        assert_eq!((tenths.len(), tenths[2].as_str(), tenths[9].as_str()), (10, "0.3", "1.0"));
        assert_eq!(values("2..11:3"), ["2", "5", "8", "11"]);
        assert_eq!(values("2..10:3"), ["2", "5", "8"], "the end is not met");
        assert_eq!(values("10..0:-5"), ["10", "5", "0"]);
        assert_eq!(values("0.001..1:*10"), ["0.001", "0.01", "0.1", "1.0"]);
        assert_eq!(values("100..1:*0.1"), ["100.0", "10.0", "1.0"]);
        assert_eq!(values("7..7:1"), ["7"]);
        for plain in ["bursty", "../speeds.csv", "[1, 2]", "a..b:1", "0.5"] {
            assert_eq!(expand_range(plain), Ok(None), "{plain}");
        }
        for (bad, why) in [
            ("1..5", "has no step"),
            ("1..five:1", "is not of numbers"),
            ("1..5:-1", "never gets to its end"),
            ("0..5:*2", "never gets to its end"),
            ("1..5:0", "never gets to its end"),
            ("1..1e9:1", "has more than 10000 values"),
        ] {
            let found = expand_range(bad).unwrap_err();
            assert!(found.starts_with(&format!("the range {bad} {why}, expected FROM..TO:STEP")), "{found}");
        }
    }
}
