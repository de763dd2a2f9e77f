//! From TOML values to typed ones, with the path of what does not fit.
//!
//! `serde` forgets where it is inside of an enum with a tag. The culprit is then found by
//! elimination: the key without which the complaint changes.

use super::error::{Fault, ScenarioError, clipped, one_line};
use super::nearest::hint_in;
use serde::de::DeserializeOwned;
use toml::Value;

/// Reads a typed value; `at` is the path of `value` in the scenario, empty for all of it.
pub(super) fn read<T: DeserializeOwned>(value: &Value, at: &str) -> Result<T, ScenarioError> {
    let (inner, message) = match attempt::<T>(value) {
        Ok(read) => return Ok(read),
        Err(complaint) => complaint,
    };
    let mut path = inner.clone();
    while let Some(key) = culprit::<T>(value, &path, &(inner.clone(), message.clone())) {
        path = join(&path, &key);
    }
    Err(explain(&join(at, &path), find(value, &path), &message))
}

type Complaint = (String, String);

fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, Complaint> {
    serde_path_to_error::deserialize(value.clone()).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().message().to_owned();
        // "." is the root; a `?` stands for a step that is not known.
        let known: Vec<&str> = path.split('.').take_while(|step| !step.is_empty() && *step != "?").collect();
        (known.join("."), message)
    })
}

/// The key of the table at `path` without which there is another complaint, or none.
fn culprit<T: DeserializeOwned>(value: &Value, path: &str, complaint: &Complaint) -> Option<String> {
    let Some(Value::Table(table)) = find(value, path) else { return None };
    if complaint.1.starts_with("missing field") {
        return None;
    }
    let without = |key: &String| {
        let mut rest = value.clone();
        if let Some(Value::Table(table)) = find_mut(&mut rest, path) {
            table.remove(key);
        }
        attempt::<T>(&rest).err()
    };
    let misses = |key: &String, other: &Complaint| other.1 == format!("missing field `{key}`");
    let freely = |key: &&String| without(key).is_none_or(|other| other != *complaint && !misses(key, &other));
    // A key that must be there is missed when it is taken away. So is every tag, which is to
    // blame for an unknown variant only.
    let blame_tags = complaint.1.starts_with("unknown variant");
    let required = |key: &&String| {
        (blame_tags || !TAGS.contains(&key.as_str())) && without(key).is_some_and(|other| misses(key, &other))
    };
    table.keys().find(freely).or_else(|| table.keys().find(required)).cloned()
}

/// The keys that choose a variant.
const TAGS: [&str; 3] = ["kind", "law", "name"];

/// Why a text is no TOML, in a sentence without the reader's own words for numbers.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', ", ");
    let too_large = ["overflowed", "too large", "as i128", "as u128"];
    if !too_large.iter().any(|words| message.contains(words)) {
        return one_line(&message, LONGEST_MESSAGE);
    }
    let number = error.span().and_then(|span| text.get(span)).map_or_else(|| "a number".to_owned(), clipped);
    format!("{number} is too large, expected a whole number up to {} or a number up to 1.8e308", i64::MAX)
}

/// Room for a message that quotes what it was given.
const LONGEST_MESSAGE: usize = 300;

/// Turns `serde`'s words into the user's.
fn explain(path: &str, value: Option<&Value>, message: &str) -> ScenarioError {
    let shown = value.map_or_else(|| "missing".to_owned(), show);
    let fault = if let Some(rest) = message.strip_prefix("unknown field ") {
        let accepted = rest.split_once(", expected ").map_or("no key here", |(_, accepted)| accepted);
        let word = path.rsplit('.').next().unwrap_or(path);
        Fault::Unknown { accepted: format!("{accepted}{}", hint_in(word, accepted)) }
    } else if let Some(rest) = message.strip_prefix("missing field ") {
        Fault::Other(format!("the key {rest} is missing"))
    } else if let Some((_, expected)) = message.split_once(", expected ") {
        let word = value.and_then(Value::as_str).filter(|_| message.starts_with("unknown variant"));
        let hint = word.map(|word| hint_in(word, expected)).unwrap_or_default();
        let accepted = match (plain(expected), value) {
            // Where there is no number yet, its limits are a later matter, and other ones.
            (plain, Some(Value::Integer(_))) => plain,
            (plain, _) if plain == NOT_NEGATIVE => "a whole number".to_owned(),
            (plain, _) => plain,
        };
        Fault::Value { value: shown, accepted: format!("{accepted}{hint}") }
    } else {
        Fault::Other(one_line(message, LONGEST_MESSAGE))
    };
    ScenarioError { key: clipped(path), line: None, fault }
}

const NOT_NEGATIVE: &str = "a whole number of at least 0";

/// What `serde` expects, in words.
fn plain(expected: &str) -> String {
    match expected.trim() {
        "u64" | "u32" | "usize" => NOT_NEGATIVE.to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "variant identifier" | "string only" | "a string" => "a text".to_owned(),
        "string or map" => "a text or a table".to_owned(),
        // Ranges are the only lists of a fixed length.
        "fewer elements in array" => "a list of 2 numbers".to_owned(),
        tuple if tuple.starts_with("a tuple of size") || tuple.starts_with("tuple of") => {
            format!("a list of {} numbers", tuple.rsplit(' ').next().unwrap_or("two"))
        }
        table if table.starts_with("struct ") || table.contains("tagged enum") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// A value as it is written, shortened.
pub(super) fn show(value: &Value) -> String {
    clipped(&value.to_string())
}

fn join(path: &str, key: &str) -> String {
    match (path.is_empty(), key.is_empty()) {
        (true, _) => key.to_owned(),
        (_, true) => path.to_owned(),
        _ if key.starts_with('[') => format!("{path}{key}"),
        _ => format!("{path}.{key}"),
    }
}

/// The steps of a path: `a.b[2]` is `a`, `b`, `2`.
pub(super) fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty())
}

pub(super) fn find<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path).try_fold(value, |value, step| match value {
        Value::Table(table) => table.get(step),
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

pub(super) fn find_mut<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    steps(path).try_fold(value, |value, step| match value {
        Value::Table(table) => table.get_mut(step),
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}
