//! Changing one key of a scenario.
//!
//! Keys are dotted paths: `arrivals.rho`, `graph.count`, `policies.esdp-index.kappa` (a policy is found by
//! its label), `devices.capacity[0]`. A table is merged into the one that is there, so `graph` can
//! be set to `{ ports = 4, servers = 20 }`. Where keys exclude each other, the one that is set wins.

use super::error::ScenarioError;
use super::read::steps;
use toml::{Table, Value};

/// Keys of which at most one may be given.
const RIVALS: &[(&str, &[&str])] = &[
    ("seeds", &["list", "count"]),
    ("seeds", &["list", "first"]),
    ("graph", &["probability", "count", "channels"]),
    ("devices", &["server_capacity", "servers"]),
    ("servers", &["kinds", "list"]),
    ("gangs", &["list", "groups"]),
    ("gangs", &["list", "tasks"]),
    ("gangs", &["list", "minimum"]),
    ("speeds", &["kinds", "table"]),
];

/// Keys that follow from others: setting the first forgets the second.
const COUNTED: &[([&str; 2], [&str; 2])] =
    &[(["servers", "kinds"], ["graph", "servers"]), (["devices", "names"], ["devices", "count"])];

/// Tables with a tag that says which keys they have, and the tag of one without; and tables that are one
/// value. Another tag, and any new value, replaces them whole.
const TAGGED: &[(&str, &str, &str)] =
    &[("arrivals", "law", "bernoulli"), ("speeds.drift", "kind", "none"), ("speeds.kinds", "", "")];

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
    for ([section, listed], counted) in COUNTED {
        let is_in = |table: &Value| table.get(listed).is_some();
        if path.starts_with(&[section, listed]) || (path == [*section] && is_in(&value)) {
            forget(root, counted);
        }
    }
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
                text("label").or(text("name")).or(text("kind")) == Some(step)
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

/// Merges a scenario into the one that it extends, table by table; what it says wins.
pub(super) fn merge(base: &mut Value, new: Value) {
    let Value::Table(new) = new else { return };
    for (section, value) in &new {
        forget_rivals(base, &[], section, value);
    }
    for ([section, listed], counted @ [table, key]) in COUNTED {
        let has = |section: &str, key: &str| new.get(section).and_then(|table| table.get(key)).is_some();
        if has(section, listed) && !has(table, key) {
            forget(base, counted);
        }
    }
    if let Value::Table(base) = base {
        merge_tables(base, new, "");
    }
}

fn merge_tables(base: &mut Table, new: Table, at: &str) {
    for (key, value) in new {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        match (base.get_mut(&key), value) {
            (Some(Value::Table(there)), Value::Table(new)) if !is_another(&path, there, &new) => {
                merge_tables(there, new, &path);
            }
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

/// Whether a table is another value and no change of the one that is there.
fn is_another(path: &str, there: &Table, new: &Table) -> bool {
    let tag_of = |table: &Table, tag: &str| table.get(tag).and_then(Value::as_str).map(str::to_owned);
    TAGGED.iter().filter(|(tagged, ..)| *tagged == path).any(|(_, tag, default)| {
        let before = tag_of(there, tag).unwrap_or_else(|| (*default).to_owned());
        tag.is_empty() || tag_of(new, tag).is_some_and(|tag| tag != before)
    })
}

fn forget(root: &mut Value, [section, key]: &[&str; 2]) {
    if let Some(Value::Table(table)) = root.get_mut(section) {
        table.remove(*key);
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
