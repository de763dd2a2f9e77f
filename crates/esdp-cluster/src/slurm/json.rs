//! Tolerant reading of Slurm's JSON, whose shapes differ from version to version.
//!
//! A state is `"RUNNING"` or `["RUNNING"]`; a number is `7`, `null` or `{"set": true, "infinite": false,
//! "number": 7}`; a list of words is an array or `"a,b"`.

use serde_json::Value;

/// An answer, if it is one: a client whose controller is away says so inside it and ends as if all were well.
pub(super) fn answer(text: &str) -> Result<Value, String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match answer.get("errors").and_then(Value::as_array).and_then(|errors| errors.first()) {
        Some(error) => {
            let said: Vec<&str> =
                ["description", "error"].into_iter().map(|key| self::text(&error[key])).collect();
            Err(format!("it tells of an error: {}", said.join(" ").trim()))
        }
        None => Ok(answer),
    }
}

/// A number in any of its forms; none if it is not set or infinite.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        Value::Object(fields) => {
            let flag = |key: &str| fields.get(key).and_then(Value::as_bool);
            match flag("set") != Some(false) && flag("infinite") != Some(true) {
                true => fields.get("number").and_then(Value::as_f64),
                false => None,
            }
        }
        _ => None,
    }
}

/// A whole number; 0 if it is not set.
pub(super) fn count(value: &Value) -> u64 {
    number(value).filter(|number| *number > 0.0).map_or(0, |number| number as u64)
}

/// A text; empty if there is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Words, in upper case, from a text or an array.
pub(super) fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            text.split([',', '+', ' ']).filter(|word| !word.is_empty()).map(str::to_uppercase).collect()
        }
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_uppercase).collect(),
        _ => Vec::new(),
    }
}

/// Names, from a text with commas or an array.
pub(super) fn names(value: &Value) -> Vec<String> {
    let name = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    match value {
        Value::String(text) => text.split(',').filter_map(name).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).filter_map(name).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_with_errors_is_none() {
        let away =
            r#"{"errors": [{"error": "Unable to contact slurm controller (connect failure)"}], "jobs": []}"#;
        assert!(answer(away).unwrap_err().contains("Unable to contact"));
        assert!(answer(r#"{"errors": [{"errno": 1}], "jobs": []}"#).is_err());
        assert!(answer(r#"{"errors": [], "jobs": []}"#).is_ok());
        assert!(answer("").is_err());
    }

    #[test]
    fn every_form_is_read() {
        for value in
            [json!(7), json!("7"), json!({"set": true, "infinite": false, "number": 7}), json!({"number": 7})]
        {
            assert_eq!(count(&value), 7, "{value}");
        }
        for value in [json!(null), json!({"set": false, "number": 7}), json!({"infinite": true, "number": 7})]
        {
            assert_eq!(number(&value), None, "{value}");
        }
        assert_eq!(words(&json!("RUNNING")), words(&json!(["running"])));
        assert_eq!(names(&json!("a,b")), names(&json!(["a", "b"])));
    }
}
