//! The reference of scenarios: it is current, its examples are scenarios and use every key, no scenario has a
//! key beside it, and its ranges are those that are enforced.

use esdp::scenario::{Scenario, presets, schema};
use esdp_cli::scenario::{keys, reference, schema_text};
use serde_json::Value as Json;
use std::path::Path;
use toml::Value;

#[test]
fn the_documents_are_current() {
    let page = include_str!("../../../../docs/scenario.md");
    assert!(page == reference(), "write it anew: cargo run -- scenario reference > docs/scenario.md");
    let file = include_str!("../../../../docs/scenario.schema.json");
    assert!(file == schema_text(), "write it anew: cargo run -- scenario schema > docs/scenario.schema.json");
}

#[test]
fn every_key_is_in_an_example() {
    let schema = schema();
    let mut used = Vec::new();
    for (name, text) in examples() {
        let value: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        used.extend(uses(&schema, &value).unwrap_or_else(|key| panic!("{name}: {key} is not in the schema")));
    }
    for key in keys(&schema) {
        let shown = |use_: &Use<'_>| use_.key == key.key && (key.of.is_none() || use_.of == key.of);
        assert!(used.iter().any(shown), "no example has `{}` {:?}", key.key, key.of);
    }
}

#[test]
fn examples_are_scenarios_and_have_no_key_beside_the_reference() {
    let schema = schema();
    for (name, text) in examples() {
        let scenario = read(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let resolved: Value = toml::from_str(&scenario.to_toml()).unwrap();
        if let Err(key) = uses(&schema, &resolved) {
            panic!("{name}: `{key}` is not in the reference");
        }
    }
    let stray: Value = toml::from_str("[graph]\nports = 2\nprots = 3\n").unwrap();
    assert_eq!(uses(&schema, &stray).unwrap_err(), "graph.prots");
}

#[test]
fn ranges_are_those_that_are_enforced() {
    let schema = schema();
    let (mut outside, mut open) = (0, 0);
    for (name, text) in examples() {
        let value: Value = toml::from_str(&text).unwrap();
        let used = uses(&schema, &value).unwrap();
        // Of long lists, the first entries.
        let early = |leaf: &&Use<'_>| leaf.steps.iter().all(|step| !matches!(step, Step::At(3..)));
        for leaf in used.iter().filter(|leaf| leaf.is_number()).filter(early) {
            let with = |number: Value| {
                let mut changed = value.clone();
                *leaf.find(&mut changed) = number;
                read(&toml::to_string(&changed).unwrap())
            };
            for (beyond, limit) in leaf.limits() {
                let Some(limit) = limit else {
                    // Where no limit is stated there is none.
                    open += 1;
                    if let Err(error) = with(leaf.extreme(beyond)) {
                        let same = error.key == leaf.path() && !leaf.relative;
                        assert!(!same, "{name}: {} has a limit that is not stated: {error}", leaf.path());
                    }
                    continue;
                };
                // Beyond the largest limits there is no number in TOML.
                let Some(number) = leaf.outside(limit, beyond) else { continue };
                outside += 1;
                let shown = format!("{name}: {} just outside of {limit}", leaf.path());
                let error = match with(number) {
                    Ok(_) => panic!("{shown} is accepted"),
                    Err(error) => error,
                };
                assert!(!error.key.is_empty() && leaf.path().starts_with(&error.key), "{shown}: {error}");
                if let Err(error) = with(leaf.at(limit))
                    && !leaf.relative
                {
                    let own = error.key == leaf.path()
                        || error.to_string().contains(&format!("`{}` is", leaf.last()));
                    assert!(!own, "{name}: {} at its limit {limit}: {error}", leaf.path());
                }
            }
        }
    }
    // Where the schema has no numbers any more, this test would pass.
    assert!(outside > 200 && open > 10, "{outside} limits, {open} ends without one");
}

/// The presets, the files in `examples/scenarios`, and the blocks of the documents.
fn examples() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all: Vec<(String, String)> =
        presets().iter().map(|(name, text)| (format!("preset {name}"), (*text).to_owned())).collect();
    for entry in std::fs::read_dir(root.join("examples/scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            all.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
        }
    }
    let page = reference();
    let mut blocks = page.split("\n```toml\n").skip(1).map(|block| block.split("\n```").next().unwrap());
    all.extend(
        blocks.by_ref().enumerate().map(|(at, text)| (format!("example {at}"), text.to_owned() + "\n")),
    );
    assert!(all.len() > 60, "the examples are not where this test looks for them: {}", all.len());
    all
}

/// Reads a scenario; the files that examples name are the blocks of CSV on the page.
fn read(text: &str) -> Result<Scenario, esdp::scenario::ScenarioError> {
    let page = reference();
    let mut file = |path: &str| match path {
        "speeds.csv" => Ok(block(&page, "csv").to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    Scenario::from_toml_with(text, &mut file)
}

/// The first block of a language.
fn block<'t>(page: &'t str, language: &str) -> &'t str {
    let after = page.split(&format!("\n```{language}\n")).nth(1).unwrap();
    &after[..after.find("```").unwrap()]
}

/// A key of a scenario as it is used, or a number in its value.
#[derive(Debug, Clone)]
struct Use<'s> {
    /// As the reference names it.
    key: String,
    of: Option<String>,
    steps: Vec<Step>,
    schema: &'s Json,
    /// Whether its range depends on other keys.
    relative: bool,
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    At(usize),
}

/// Every key that a scenario uses, or the first that the schema does not know.
fn uses<'s>(schema: &'s Json, value: &Value) -> Result<Vec<Use<'s>>, String> {
    let mut found = Vec::new();
    let root = Use { key: String::new(), of: None, steps: Vec::new(), schema, relative: false };
    visit(root, value, &mut found)?;
    Ok(found)
}

fn visit<'s>(at: Use<'s>, value: &Value, found: &mut Vec<Use<'s>>) -> Result<(), String> {
    let schema = at.schema;
    let forms: Vec<&Json> =
        ["oneOf", "anyOf"].iter().filter_map(|key| schema[key].as_array()).flatten().collect();
    if !forms.is_empty() {
        let form = forms.into_iter().find(|form| fits(form, value)).ok_or_else(|| at.path())?;
        let mut fixed = form["properties"].as_object().into_iter().flatten();
        let tag = fixed.find(|(_, property)| property.get("const").is_some());
        let of = tag.map(|(name, property)| format!("{name} = {}", property["const"])).or(at.of.clone());
        let inner = Use { schema: form, of, ..at };
        if inner.is_number() {
            found.push(inner.clone());
        }
        return visit(inner, value, found);
    }
    match value {
        Value::Table(table) if schema["type"] == "object" => {
            for (name, value) in table {
                let step = |mut steps: Vec<Step>| {
                    steps.push(Step::Key(name.clone()));
                    steps
                };
                let key = if at.key.is_empty() { name.clone() } else { format!("{}.{name}", at.key) };
                let inner = Use { key, steps: step(at.steps.clone()), ..at.clone() };
                let named = Some(&schema["additionalProperties"]).filter(|each| each.is_object());
                let known = schema["properties"].get(name);
                let schema = known.or(named).ok_or_else(|| inner.path())?;
                let key = if known.is_none() { format!("{}.NAME", at.key) } else { inner.key.clone() };
                let inner = Use { key, ..inner };
                let relative = schema.get("x-range").is_some() || known.is_none() && at.relative;
                let inner = Use { schema, relative, ..inner };
                found.push(inner.clone());
                visit(inner, value, found)?;
            }
        }
        Value::Array(list) => {
            for (position, value) in list.iter().enumerate() {
                let schema = schema["prefixItems"].get(position).unwrap_or(&schema["items"]);
                let mut inner = Use { schema, ..at.clone() };
                inner.steps.push(Step::At(position));
                let number = Use { key: format!("{} (a number in it)", at.key), ..inner.clone() };
                if !is_table(schema) {
                    found.push(number);
                } else {
                    inner.key.push_str("[]");
                }
                visit(inner, value, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn is_table(schema: &Json) -> bool {
    let mut forms = ["oneOf", "anyOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
    schema["type"] == "object" || forms.any(is_table)
}

/// Whether a value has this form, as far as it decides between several.
fn fits(form: &Json, value: &Value) -> bool {
    let named = |value: &Value| value.as_str().map(Json::from);
    if let Some(fixed) = form.get("const") {
        return named(value).as_ref() == Some(fixed);
    }
    let forms: Vec<&Json> =
        ["oneOf", "anyOf"].iter().filter_map(|key| form[key].as_array()).flatten().collect();
    match (form["type"].as_str(), value) {
        (None, _) => forms.into_iter().any(|form| fits(form, value)),
        (Some("integer"), Value::Integer(_)) => true,
        (Some("number"), Value::Integer(_) | Value::Float(_)) => true,
        (Some("string"), Value::String(_)) => {
            form["enum"].as_array().is_none_or(|all| all.contains(&named(value).unwrap_or_default()))
        }
        (Some("boolean"), Value::Boolean(_)) => true,
        (Some("array"), Value::Array(list)) => {
            let items = &form["items"];
            items.is_null() || list.iter().all(|value| fits(items, value))
        }
        (Some("object"), Value::Table(table)) => {
            let mut required = form["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
            let fixed = form["properties"].as_object().into_iter().flatten();
            let mut fixed = fixed.filter_map(|(name, property)| Some((name, property.get("const")?)));
            required.all(|name| table.contains_key(name))
                && fixed.all(|(name, fixed)| {
                    table.get(name).is_none_or(|value| named(value).as_ref() == Some(fixed))
                })
                && (form["additionalProperties"].is_object()
                    || form["required"].as_array().is_none()
                    || table.keys().any(|key| form["properties"].get(key).is_some()))
        }
        _ => false,
    }
}

impl Use<'_> {
    fn is_number(&self) -> bool {
        self.schema["type"] == "integer" || self.schema["type"] == "number"
    }

    /// Its path as errors have it.
    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Key(name) if path.is_empty() => path.push_str(name),
                Step::Key(name) => path.push_str(&format!(".{name}")),
                Step::At(position) => path.push_str(&format!("[{position}]")),
            }
        }
        path
    }

    fn last(&self) -> String {
        self.path().rsplit('.').next().unwrap_or_default().to_owned()
    }

    fn find<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        self.steps.iter().fold(value, |value, step| match step {
            Step::Key(name) => value.get_mut(name.as_str()).unwrap(),
            Step::At(position) => value.get_mut(*position).unwrap(),
        })
    }

    /// The lower and the upper limit, each with the direction in which it is crossed.
    fn limits(&self) -> [(i8, Option<&Json>); 2] {
        let limit = |keys: [&str; 2]| keys.iter().find_map(|key| self.schema.get(key));
        [(-1, limit(["minimum", "exclusiveMinimum"])), (1, limit(["maximum", "exclusiveMaximum"]))]
    }

    /// The limit itself, or what is just inside of it.
    fn at(&self, limit: &Json) -> Value {
        if self.schema["type"] == "integer" {
            return Value::Integer(limit.as_i64().unwrap_or(i64::MAX));
        }
        let excluded = ["exclusiveMaximum", "exclusiveMinimum"].iter().any(|key| &self.schema[key] == limit);
        let limit = limit.as_f64().unwrap();
        Value::Float(if excluded { limit * (1.0 - 1e-9) } else { limit })
    }

    /// A number just beyond a limit.
    fn outside(&self, limit: &Json, beyond: i8) -> Option<Value> {
        if self.schema["type"] == "integer" {
            return limit.as_i64()?.checked_add(i64::from(beyond)).map(Value::Integer);
        }
        let excluded = ["exclusiveMaximum", "exclusiveMinimum"].iter().any(|key| &self.schema[key] == limit);
        let limit = limit.as_f64().unwrap();
        let far = if excluded { 0.0 } else { (limit.abs() * 1e-6).max(1e-12) };
        Some(Value::Float(limit + f64::from(beyond) * far))
    }

    /// A number as far out as can be written.
    fn extreme(&self, beyond: i8) -> Value {
        if self.schema["type"] == "integer" {
            return Value::Integer(if beyond < 0 { i64::MIN } else { i64::MAX });
        }
        Value::Float(f64::from(beyond) * 1e300)
    }
}
