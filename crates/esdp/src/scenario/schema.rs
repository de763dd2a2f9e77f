//! The keys of a scenario as a JSON Schema, made from the types that read it.
//!
//! Descriptions are the types' comments; ranges, units and defaults that depend on other keys are attributes
//! of the fields. Two keywords are our own: `x-unit`, and `x-range` for what a number cannot say.

use super::{FILE_KEYS, LabelledPolicy, ListedTasks, Spec, gangs};
use crate::policy::{
    CtsSpec, CucbSpec, EpsilonGreedySpec, EscbSpec, EsdpDriftSpec, EsdpIndexSpec, EsdpPaperSpec,
    EsdpPooledSpec, HaufSpec, LcfSpec, LwtfSpec, MaxweightUcbSpec, PolicySpec,
};
use crate::sim::{Delay, Rates};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a scenario may say: a JSON Schema (draft 2020-12) of its TOML.
///
/// ```
/// let schema = esdp::scenario::schema();
/// assert_eq!(schema["properties"]["slots"]["default"], 2000);
/// assert_eq!(schema["properties"]["slots"]["minimum"], 1);
/// ```
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Spec>().to_value();
    finish(&mut schema);
    for (key, _) in FILE_KEYS {
        let steps: Vec<&str> = key.split('.').collect();
        or_file(&mut schema, &steps);
    }
    schema["title"] = json!("A scenario of esdp");
    // That of the type is for who writes Rust.
    schema["description"] = json!(
        "A cluster, its arrivals and speeds, policies, slots and seeds. Every key has a default; \
         docs/scenario.md explains them with examples."
    );
    // The law may be left out; an enum with a tag cannot say so.
    if let Some(bernoulli) = schema.pointer_mut("/properties/arrivals/oneOf/0") {
        bernoulli.as_object_mut().map(|law| law.remove("required"));
    }
    schema
}

/// Lets a key that holds rows be the path of a CSV file as well.
fn or_file(schema: &mut Value, steps: &[&str]) {
    let Some((first, rest)) = steps.split_first() else {
        let Value::Object(rows) = schema.take() else { return };
        let (mut about, mut rows): (Map<String, Value>, Map<String, Value>) = rows
            .into_iter()
            .partition(|(key, _)| ["description", "default", "x-unit"].contains(&key.as_str()));
        rows.remove("x-range").map(|range| about.insert("x-range".to_owned(), range));
        let file = json!({ "type": "string", "x-file": true, "description": "The path of a CSV file." });
        about.insert("anyOf".to_owned(), json!([rows, file]));
        *schema = Value::Object(about);
        return;
    };
    match schema.get_mut("properties").and_then(|properties| properties.get_mut(first)) {
        Some(property) => or_file(property, rest),
        // One of several tables; the key of the same name that is no list is another one.
        None => {
            let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
            for variant in variants.into_iter().flatten() {
                let property = variant["properties"].get_mut(first);
                property.filter(|property| property["type"] == "array").into_iter().for_each(|property| {
                    or_file(property, rest);
                });
            }
        }
    }
}

/// The values of a sweep.
pub(super) fn sweep_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [{ "type": "array", "minItems": 1, "maxItems": 10_000 }, { "type": "string" }],
    })
}

/// The names of the default policies.
pub(super) fn default_policies() -> Vec<String> {
    Spec::default().policies.into_iter().map(|policy| policy.label).collect()
}

/// What is the same for all keys: TOML has no null, limits belong to the numbers and not to the list that
/// they are in, and the width of a number is nobody's business.
fn finish(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    without_null(object);
    object.remove("format");
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = prose(text);
    }
    push_limits(object);
    for key in ["properties", "$defs"] {
        if let Some(Value::Object(members)) = object.get_mut(key) {
            members.values_mut().for_each(finish);
        }
    }
    for key in ["items", "additionalProperties"] {
        object.get_mut(key).into_iter().for_each(finish);
    }
    for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(finish);
    }
}

/// A type's comment without its code and the links of the library's documentation.
fn prose(text: &str) -> String {
    let mut text = text.split("```").step_by(2).collect::<String>().trim_end().to_owned();
    while let Some(from) = text.find(" See [`") {
        let Some(length) = text[from..].find("`].") else { break };
        text.replace_range(from..from + length + 3, "");
    }
    text.replace("[`", "`").replace("`]", "`")
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if types.len() == 1 {
            let only = types.remove(0);
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if choices.len() == 1
            && let Value::Object(only) = choices.remove(0)
        {
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
}

/// Moves the limits of a list, of a table by name, or of one of several forms, to the numbers in it.
fn push_limits(object: &mut Map<String, Value>) {
    if object.get("type").is_some_and(|name| name == "integer" || name == "number") {
        return;
    }
    for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        let Some(limit) = object.remove(key) else { continue };
        let mut below: Vec<&mut Value> = Vec::new();
        for (name, member) in object.iter_mut() {
            match (name.as_str(), member) {
                ("items", items) => below.push(items),
                ("additionalProperties", each) if each.is_object() => below.push(each),
                ("prefixItems" | "anyOf" | "oneOf", Value::Array(members)) => below.extend(members),
                _ => {}
            }
        }
        for member in below {
            let kind = member["type"].as_str().unwrap_or("list");
            let by_name = member["additionalProperties"].is_object();
            if ["integer", "number", "array", "list"].contains(&kind) || by_name {
                member[key] = limit.clone();
            }
        }
    }
}

impl JsonSchema for LabelledPolicy {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let all: Vec<PolicySpec> = PolicySpec::all().into_iter().chain(PolicySpec::rules()).collect();
        let names: Vec<&str> = all.iter().map(PolicySpec::name).collect();
        let tables: Vec<Value> = all.iter().map(|policy| table_of(policy, generator)).collect();
        json_schema!({
            "description": "A policy: its name, or a table with its name, parameters and a label.",
            "anyOf": [{ "type": "string", "enum": names }, { "oneOf": tables }],
        })
    }
}

/// A policy as a table: its name, its parameters, a label.
fn table_of(policy: &PolicySpec, generator: &mut SchemaGenerator) -> Value {
    let mut properties = json!({
        "name": { "const": policy.name(), "type": "string" },
        "label": {
            "type": "string",
            "minLength": 1,
            "description": "Its name in tables and figures, if there are several like it.",
        },
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut properties, parameters(policy, generator)) {
        all.extend(own);
    }
    json!({
        "type": "object",
        "description": format!("{}.", policy.summary()),
        "properties": properties,
        "required": ["name"],
        "additionalProperties": false,
    })
}

fn parameters(policy: &PolicySpec, generator: &mut SchemaGenerator) -> Value {
    let schema = match policy {
        PolicySpec::EsdpIndex(_) => EsdpIndexSpec::json_schema(generator),
        PolicySpec::EsdpPaper(_) => EsdpPaperSpec::json_schema(generator),
        PolicySpec::EsdpDrift(_) => EsdpDriftSpec::json_schema(generator),
        PolicySpec::EsdpPooled(_) => EsdpPooledSpec::json_schema(generator),
        PolicySpec::Escb(_) => EscbSpec::json_schema(generator),
        PolicySpec::Cucb(_) => CucbSpec::json_schema(generator),
        PolicySpec::Cts(_) => CtsSpec::json_schema(generator),
        PolicySpec::EpsilonGreedy(_) => EpsilonGreedySpec::json_schema(generator),
        PolicySpec::Hauf(_) => HaufSpec::json_schema(generator),
        PolicySpec::Lcf(_) => LcfSpec::json_schema(generator),
        PolicySpec::Lwtf(_) => LwtfSpec::json_schema(generator),
        PolicySpec::MaxweightUcb(_) => MaxweightUcbSpec::json_schema(generator),
        PolicySpec::Esdp(_) | PolicySpec::Random {} | PolicySpec::FirstFit {} => return json!({}),
        PolicySpec::Oracle {} | PolicySpec::Easy {} | PolicySpec::Conservative {} => return json!({}),
    };
    schema.get("properties").cloned().unwrap_or_else(|| json!({}))
}

impl JsonSchema for ListedTasks {
    fn schema_name() -> Cow<'static, str> {
        "Tasks".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (number, table) = (u32::json_schema(generator), gangs::tasks_schema(generator));
        json_schema!({ "anyOf": [number, table] })
    }
}

impl JsonSchema for Rates {
    fn schema_name() -> Cow<'static, str> {
        "Rates".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, each) = (f64::json_schema(generator), Vec::<f64>::json_schema(generator));
        let named = BTreeMap::<String, f64>::json_schema(generator);
        json_schema!({ "anyOf": [one, each, named] })
    }
}

impl JsonSchema for Delay {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, range) = (u64::json_schema(generator), <(u64, u64)>::json_schema(generator));
        json_schema!({ "anyOf": [one, range] })
    }
}
