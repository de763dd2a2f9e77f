//! Changing one key of a scenario.
//!
//! Keys are dotted paths: `arrivals.rho`, `graph.count`, `policies.esdp-index.kappa` (a policy is found by
//! its label), `devices.capacity[0]`. A table is merged into the one that is there, so `graph` can
//! be set to `{ ports = 4, servers = 20 }`. Where keys exclude each other, the one that is set wins.

use super::error::ScenarioError;
use super::read::steps;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

/// What a scenario varies: a key and the values it takes one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The dotted key.
    pub key: String,
    /// The values, as they are written in TOML.
    #[serde(serialize_with = "typed", deserialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>", length(min = 1, max = 10_000)))]
    pub values: Vec<String>,
}

/// In a file the values stand as what they are.
fn typed<S: Serializer>(values: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| parse("", value)))
}

fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<Value>::deserialize(deserializer)?.iter().map(Value::to_string).collect())
}

/// Keys of which at most one may be given.
const RIVALS: &[(&str, &[&str])] = &[
    ("seeds", &["list", "count"]),
    ("seeds", &["list", "first"]),
    ("graph", &["probability", "count", "channels"]),
];

/// Reads a value as it is written on a command line: TOML, or else a text.
pub(super) fn parse(key: &str, text: &str) -> Value {
    let read = |text: &str| toml::from_str::<Table>(&format!("value = {text}")).ok()?.remove("value");
    match read(text.trim()) {
        Some(value) => value,
        None if key == "policies" => {
            Value::Array(text.split(',').map(|name| Value::from(name.trim().to_owned())).collect())
        }
        None => Value::from(text.to_owned()),
    }
}

/// Puts a value at a dotted key.
pub(super) fn put(root: &mut Value, key: &str, value: Value) -> Result<(), ScenarioError> {
    let path: Vec<&str> = steps(key).collect();
    let Some((last, way)) = path.split_last() else {
        return Err(ScenarioError::other("", "the key to set is empty"));
    };
    forget_rivals(root, way, last, &value);
    let mut at = root;
    for step in way {
        at = enter(at, step, key)?;
    }
    let slot = enter(at, last, key)?;
    match (slot, value) {
        (Value::Table(there), Value::Table(new)) => there.extend(new),
        (slot, value) => *slot = value,
    }
    Ok(())
}

/// The value below another, made where a table does not have it yet.
fn enter<'v>(at: &'v mut Value, step: &str, key: &str) -> Result<&'v mut Value, ScenarioError> {
    match at {
        Value::Table(table) => Ok(table.entry(step.to_owned()).or_insert_with(|| Value::Table(Table::new()))),
        Value::Array(list) => {
            let named = |entry: &Value| {
                let text = |field: &str| entry.get(field).and_then(Value::as_str);
                text("label").or(text("name")) == Some(step)
            };
            let position = step.parse().ok().filter(|at: &usize| *at < list.len());
            match position.or_else(|| list.iter().position(named)) {
                Some(position) => Ok(&mut list[position]),
                None => Err(ScenarioError::other(key, format!("the list has no entry `{step}`"))),
            }
        }
        _ => Err(ScenarioError::other(key, format!("there is nothing below which `{step}` could be"))),
    }
}

/// Removes what the new value excludes.
fn forget_rivals(root: &mut Value, way: &[&str], last: &str, value: &Value) {
    let (section, set): (&str, Vec<&str>) = match (way, value) {
        ([section], _) => (section, vec![last]),
        ([], Value::Table(table)) => (last, table.keys().map(String::as_str).collect()),
        _ => return,
    };
    for (_, keys) in RIVALS.iter().filter(|(name, _)| *name == section) {
        if set.iter().any(|key| keys.contains(key))
            && let Some(Value::Table(table)) = root.get_mut(section)
        {
            keys.iter().filter(|key| !set.contains(key)).for_each(|key| drop(table.remove(*key)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(key: &str, text: &str) -> Result<String, String> {
        let start = "[graph]\nprobability = 0.1\n[seeds]\nlist = [1]\n[[policies]]\nname = \"esdp-index\"\n";
        let mut root = toml::from_str::<Value>(start).unwrap();
        put(&mut root, key, parse(key, text)).map_err(|error| error.to_string())?;
        Ok(root.get(steps(key).next().unwrap()).unwrap().to_string())
    }

    #[test]
    fn keys_are_set_merged_and_found_by_label() {
        assert_eq!(after("graph.ports", "4").unwrap(), "{ ports = 4, probability = 0.1 }");
        assert_eq!(after("graph.count", "32").unwrap(), "{ count = 32 }");
        assert_eq!(after("graph", "{ ports = 2, count = 9 }").unwrap(), "{ count = 9, ports = 2 }");
        assert_eq!(after("seeds.count", "3").unwrap(), "{ count = 3 }");
        assert_eq!(
            after("policies.esdp-index.kappa", "0.5").unwrap(),
            r#"[{ kappa = 0.5, name = "esdp-index" }]"#
        );
        assert_eq!(after("policies", "cts, esdp").unwrap(), r#"["cts", "esdp"]"#);
        assert_eq!(after("name", "my run").unwrap(), r#""my run""#);
        assert!(after("policies.cts.sigma", "1").unwrap_err().contains("no entry `cts`"));
        assert!(after("graph.probability.x", "1").unwrap_err().contains("nothing below"));
    }
}
