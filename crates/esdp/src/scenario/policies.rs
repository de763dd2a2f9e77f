//! The policies of a scenario: a name is enough, a table adds parameters and a label.

use super::error::{ScenarioError, clipped};
use super::read::{read, show};
use crate::policy::PolicySpec;
use serde::Serialize;
use toml::{Table, Value};

/// A policy of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledPolicy {
    /// What tells it from the others in tables and figures: its name unless told.
    pub label: String,
    /// The policy and its parameters.
    pub spec: PolicySpec,
}

/// Reads the list `policies`.
pub(super) fn policies(list: &[Value]) -> Result<Vec<LabelledPolicy>, ScenarioError> {
    let mut found: Vec<LabelledPolicy> = Vec::with_capacity(list.len());
    for (position, value) in list.iter().enumerate() {
        let at = format!("policies[{position}]");
        let policy = one(value, &at)?;
        if found.iter().any(|other| other.label == policy.label) {
            let label = clipped(&policy.label);
            let message = format!("`{label}` is in the list already, give one of them another `label`");
            return Err(ScenarioError::other(at, message));
        }
        found.push(policy);
    }
    Ok(found)
}

fn one(value: &Value, at: &str) -> Result<LabelledPolicy, ScenarioError> {
    let (label, spec) = match value {
        Value::String(name) => (None, name.parse().map_err(|error| ScenarioError::other(at, error))?),
        Value::Table(table) => {
            let mut table = table.clone();
            let label = match table.remove("label") {
                None => None,
                Some(Value::String(label)) if !label.trim().is_empty() => Some(label),
                Some(other) => {
                    return Err(ScenarioError::value(format!("{at}.label"), show(&other), "a text that is not empty"));
                }
            };
            match table.get("name") {
                Some(Value::String(name)) => {
                    name.parse::<PolicySpec>().map_err(|error| ScenarioError::other(format!("{at}.name"), error))?
                }
                Some(other) => return Err(ScenarioError::value(format!("{at}.name"), show(other), "a policy's name")),
                None => return Err(ScenarioError::other(at, "the key `name` is missing")),
            };
            (label, read::<PolicySpec>(&Value::Table(table), at)?)
        }
        other => return Err(ScenarioError::value(at, show(other), "a policy's name or a table with `name`")),
    };
    spec.check().map_err(|error| ScenarioError::other(at, error))?;
    let label = label.unwrap_or_else(|| spec.name().to_owned());
    Ok(LabelledPolicy { label, spec })
}

/// Every policy as a table with all of its parameters.
pub(super) fn written_out(policies: &[LabelledPolicy]) -> Vec<Value> {
    let table = |policy: &LabelledPolicy| {
        let mut table = Table::try_from(&policy.spec).unwrap_or_default();
        if policy.label != policy.spec.name() {
            table.insert("label".to_owned(), Value::from(policy.label.clone()));
        }
        Value::Table(table)
    };
    policies.iter().map(table).collect()
}

impl Serialize for LabelledPolicy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written_out(std::slice::from_ref(self))[0].serialize(serializer)
    }
}
