//! What a schema says, in words.

use esdp_report::table::wrapped;
use serde_json::Value;

/// What may stand there.
pub(super) fn kind(schema: &Value) -> String {
    if schema.get("const").is_some() || schema.get("enum").is_some() {
        return "text".to_owned();
    }
    if schema["x-file"] == true {
        return "path of a CSV file".to_owned();
    }
    match schema["type"].as_str() {
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text".to_owned(),
        Some("object") => match &schema["additionalProperties"] {
            each @ Value::Object(_) => format!("table of {}", plural(&kind(each))),
            _ => "table".to_owned(),
        },
        Some("array") => match (schema["prefixItems"].as_array(), &schema["items"]) {
            (Some(entries), _) => pair(entries),
            (None, Value::Null | Value::Bool(_)) => "list".to_owned(),
            (None, items) => format!("list of {}", plural(&kind(items))),
        },
        _ => {
            let mut kinds: Vec<String> = Vec::new();
            for form in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
                let kind = kind(form);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            if kinds.is_empty() { "any value".to_owned() } else { kinds.join(" or ") }
        }
    }
}

fn pair(entries: &[Value]) -> String {
    let kinds: Vec<String> = entries.iter().map(kind).collect();
    match kinds.as_slice() {
        [one, two] if one == two => format!("2 {}", plural(one)),
        kinds => format!("[{}]", kinds.join(", ")),
    }
}

fn plural(kind: &str) -> String {
    // A choice of forms: the plural of the last would be read as that of all.
    if kind.contains(" or ") && kind != "true or false" {
        return format!("({kind})");
    }
    match kind.split_once(" of ") {
        Some((outer, inner)) => format!("{outer}s of {inner}"),
        None => format!("{kind}s"),
    }
}

/// The accepted numbers, in words: limits of the number or of those in a list, and of the list's length.
pub(super) fn range(schema: &Value) -> Option<String> {
    let limits = number(schema).map(limits);
    let said = schema["x-range"].as_str().map(str::to_owned);
    let list = schema["anyOf"].get(0).filter(|form| form["type"] == "array").unwrap_or(schema);
    let length = match (list.get("prefixItems"), &list["minItems"], &list["maxItems"]) {
        (None, from, to) if from.is_u64() && to.is_u64() => Some(format!("{from} to {to} entries")),
        (None, Value::Null, to) if to.is_u64() => Some(format!("at most {to} entries")),
        _ => None,
    };
    let words: Vec<String> = limits.into_iter().flatten().chain(said).chain(length).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The number that a schema is, or that is in it.
fn number(schema: &Value) -> Option<&Value> {
    if schema["type"] == "integer" || schema["type"] == "number" {
        return Some(schema);
    }
    let inner = schema["prefixItems"].as_array().into_iter().flatten();
    let inner = inner.chain(schema.get("items")).chain(schema.get("additionalProperties"));
    let mut inner = inner.chain(schema["anyOf"].as_array().into_iter().flatten());
    inner.find_map(number)
}

fn limits(number: &Value) -> Option<String> {
    let shown = |key: &str| number.get(key).map(toml_text);
    match (shown("minimum"), shown("maximum"), shown("exclusiveMaximum")) {
        (Some(from), Some(to), _) => Some(format!("{from} to {to}")),
        (Some(from), None, Some(below)) => Some(format!("{from} to below {below}")),
        (Some(from), None, None) => Some(format!("at least {from}")),
        _ => None,
    }
}

/// The first paragraph of a description, in one line, without what is said elsewhere: the default.
pub(super) fn brief(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let mut text = first.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(from) = text.find(" (default: ") {
        let Some(length) = closing(&text[from + 2..]) else { break };
        text.replace_range(from..from + 2 + length + 1, "");
    }
    // Links of the library's own documentation, and the sentences that are nothing else.
    while let Some(from) = text.find(" See [`") {
        let Some(length) = text[from..].find("`].") else { break };
        text.replace_range(from..from + length + 3, "");
    }
    text.replace(" (default)", "").replace("[`", "`").replace("`]", "`")
}

/// Where the bracket closes that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A JSON value as TOML writes it.
pub(super) fn toml_text(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(toml_text).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", toml_text(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        // 1.0 and 1e6 as 1 and 1000000: the type is said beside it.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => format!("{float}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The widest line of a list.
const WIDEST: usize = 80;

/// A heading, and below it, further in, what it means and its values, all within 80 columns.
pub(super) fn block(head: &str, about: &str, values: &[(String, String)]) -> String {
    let values = values.iter().map(|(value, words)| match words.is_empty() {
        true => (4, value.clone()),
        false => (4, format!("{value}: {words}")),
    });
    let about = (!about.is_empty()).then(|| (4, about.to_owned()));
    let parts = [(0, head.to_owned())].into_iter().chain(about).chain(values);
    parts.map(|(indent, text)| hanging(&text, indent)).collect()
}

/// A text with its first line so far in, and the others four further than the heading.
fn hanging(text: &str, indent: usize) -> String {
    let later = indent.max(4) + if indent == 0 { 4 } else { 0 };
    let lines = wrapped(text, WIDEST - later);
    let line = |(at, line): (usize, &str)| {
        let indent = if at == 0 { indent } else { later };
        format!("{:indent$}{line}\n", "")
    };
    lines.lines().enumerate().map(line).collect()
}

/// Rows as columns of text, each as wide as it must be; the last has no end.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_and_ranges_in_words() {
        let list = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } });
        assert_eq!(
            (kind(&list), range(&list)),
            ("list of whole numbers".to_owned(), Some("at least 0".to_owned()))
        );
        let two = json!({ "type": "number" });
        let two = json!({ "type": "array", "prefixItems": [two, two], "minItems": 2, "maxItems": 2 });
        assert_eq!((kind(&two), range(&two)), ("2 numbers".to_owned(), None));
        let share = json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1, "x-range": "odd" });
        assert_eq!(range(&share).unwrap(), "0 to below 1; odd");
        let either = json!({ "anyOf": [{ "type": "number" }, list] });
        assert_eq!(kind(&either), "number or list of whole numbers");
        let rows = json!({ "type": "array", "items": list });
        assert_eq!(kind(&rows), "list of lists of whole numbers");
    }

    #[test]
    fn a_description_does_not_repeat_the_default() {
        let said = |text: &str| brief(&json!({ "description": text }));
        assert_eq!(said("How far (default: f(1), or so). More.\n\nLater."), "How far. More.");
        assert_eq!(said("A law. See [`Poisson`]."), "A law.");
        assert_eq!(said("As of [`Pooled`],\nthere."), "As of `Pooled`, there.");
    }
}
