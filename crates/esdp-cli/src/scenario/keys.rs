//! The keys of scenarios, read out of their JSON Schema: one entry per key and, where a law or a name decides
//! which keys there are, per choice of it.

use super::words::{brief, kind, range, toml_text};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A key of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Key {
    /// Its path; `[]` is any entry of a list, `NAME` any name.
    pub key: String,
    /// Which choice it belongs to, such as `law = "diurnal"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// What may stand there.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is counted in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Its default, as in TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// The accepted numbers, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// What it means.
    pub description: String,
    /// Its values, if they can be counted, each with what it means.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
}

/// All keys, section by section in the order of the schema.
pub fn keys(schema: &Value) -> Vec<Key> {
    let mut found = Vec::new();
    let place = Place { path: "", of: None, default: None };
    table(schema, &place, &mut found);
    found
}

/// Where in a scenario a schema applies.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    of: Option<&'a str>,
    /// The default of the table that the key is in.
    default: Option<&'a Value>,
}

/// The keys of a table.
fn table(schema: &Value, place: &Place<'_>, found: &mut Vec<Key>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        if property.get("const").is_some() {
            continue;
        }
        let path = if place.path.is_empty() { name.clone() } else { format!("{}.{name}", place.path) };
        let required = schema["required"].as_array().is_some_and(|all| all.contains(&Value::from(&**name)));
        let default = property.get("default").or_else(|| place.default?.get(name));
        // A table is its keys; one by name is a value as well.
        if property["type"] == "object" && by_name(property).is_none() {
            table(property, &Place { path: &path, of: place.of, default }, found);
            continue;
        }
        if tag(property).is_none() {
            found.push(entry(property, &path, place.of, required, default));
        }
        below(property, &Place { path: &path, of: place.of, default }, found);
    }
}

/// The keys of what a key may hold: tables in one of several forms, or in a list.
fn below(schema: &Value, place: &Place<'_>, found: &mut Vec<Key>) {
    if let Some(items) = schema.get("items") {
        let path = format!("{}[]", place.path);
        let inner = Place { path: &path, of: place.of, default: None };
        if items["type"] == "object" {
            return table(items, &inner, found);
        }
        return below(items, &inner, found);
    }
    if let Some(each) = by_name(schema) {
        let path = format!("{}.NAME", place.path);
        let inner = Place { path: &path, of: place.of, default: None };
        return if each["type"] == "object" {
            table(each, &inner, found)
        } else {
            below(each, &inner, found)
        };
    }
    if schema["type"] == "object" {
        return table(schema, place, found);
    }
    if let Some((name, variants)) = tag(schema) {
        found.push(choice(schema, name, variants, place));
        let (shared, own) = apart(variants);
        table(&shared, &Place { default: None, ..*place }, found);
        for (variant, own) in variants.iter().zip(own) {
            let of = format!("{name} = {}", toml_text(&variant["properties"][name]["const"]));
            table(&own, &Place { of: Some(&of), default: None, ..*place }, found);
        }
        return;
    }
    for form in forms(schema) {
        below(form, &Place { default: None, ..*place }, found);
    }
}

/// What a table has under every name, where the names are the user's own.
fn by_name(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|each| each.is_object())
}

fn forms(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten()
}

/// The key that decides which of several tables it is, and these tables.
fn tag(schema: &Value) -> Option<(&str, &[Value])> {
    let variants = schema["oneOf"].as_array()?;
    let constant = |variant: &Value| -> Option<Vec<String>> {
        let properties: &Map<String, Value> = variant["properties"].as_object()?;
        let fixed = properties.iter().filter(|(_, property)| property.get("const").is_some());
        Some(fixed.map(|(name, _)| name.clone()).collect())
    };
    let shared = constant(variants.first()?)?;
    let name = shared.iter().find(|name| {
        variants.iter().all(|variant| constant(variant).is_some_and(|fixed| fixed.contains(name)))
    })?;
    let properties = variants[0]["properties"].as_object()?;
    let (name, _) = properties.get_key_value(name)?;
    Some((name, variants))
}

/// What several tables share, and each without it.
fn apart(variants: &[Value]) -> (Value, Vec<Value>) {
    let mut shared = Map::new();
    for (name, property) in variants[0]["properties"].as_object().into_iter().flatten() {
        let same = |variant: &Value| variant["properties"].get(name) == Some(property);
        if variants.len() > 1 && variants.iter().all(same) {
            shared.insert(name.clone(), property.clone());
        }
    }
    let mut own = variants.to_vec();
    for properties in own.iter_mut().filter_map(|variant| variant["properties"].as_object_mut()) {
        properties.retain(|name, _| !shared.contains_key(name));
    }
    (json!({ "properties": shared }), own)
}

fn entry(schema: &Value, path: &str, of: Option<&str>, required: bool, default: Option<&Value>) -> Key {
    let values =
        schema["oneOf"].as_array().into_iter().flatten().filter(|value| value.get("const").is_some());
    Key {
        key: path.to_owned(),
        of: of.map(str::to_owned),
        kind: kind(schema),
        unit: schema["x-unit"].as_str().map(str::to_owned),
        default: default.map(toml_text),
        required,
        range: range(schema),
        description: brief(schema),
        values: values.map(|value| (toml_text(&value["const"]), brief(value))).collect(),
    }
}

/// The key that chooses one of several tables.
fn choice(schema: &Value, name: &str, variants: &[Value], place: &Place<'_>) -> Key {
    let default = place.default.and_then(|default| default.get(name));
    let values = variants.iter().map(|variant| (&variant["properties"][name]["const"], brief(variant)));
    Key {
        key: format!("{}.{name}", place.path),
        of: place.of.map(str::to_owned),
        kind: "text".to_owned(),
        unit: None,
        default: default.map(toml_text),
        required: default.is_none(),
        range: None,
        description: brief(schema),
        values: values.map(|(value, words)| (toml_text(value), words)).collect(),
    }
}
