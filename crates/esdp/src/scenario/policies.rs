//! The policies of a scenario: a name is enough, a table adds parameters and a label.

use super::error::{ScenarioError, clipped};
use super::nearest::hint;
use super::read::{read, show};
use crate::policy::{PolicySpec, SpecError};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use toml::{Table, Value};

/// A policy of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledPolicy {
    /// What tells it from the others in tables and figures; its name by default.
    pub label: String,
    /// The policy and its parameters.
    pub spec: PolicySpec,
}

impl LabelledPolicy {
    /// A policy with its default parameters, and its name as the label.
    ///
    /// # Errors
    /// When no policy has this name.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        Ok(Self::from(name.parse::<PolicySpec>()?))
    }
}

impl From<PolicySpec> for LabelledPolicy {
    fn from(spec: PolicySpec) -> Self {
        Self { label: spec.name().to_owned(), spec }
    }
}

/// Takes any list: its entries are read by [`policies`], whose errors tell more than `serde`'s.
pub(super) fn later<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LabelledPolicy>, D::Error> {
    Vec::<IgnoredAny>::deserialize(deserializer)?;
    Ok(Vec::new())
}

/// Reads the list `policies`.
pub(super) fn policies(list: &[Value]) -> Result<Vec<LabelledPolicy>, ScenarioError> {
    list.iter().enumerate().map(|(position, value)| one(value, &format!("policies[{position}]"))).collect()
}

/// Checks the parameters of policies, that they can be told apart, and that rules for queues have one.
pub(super) fn check(policies: &[LabelledPolicy], held: bool) -> Result<(), ScenarioError> {
    if policies.is_empty() {
        return Err(ScenarioError::value("policies", "empty", "at least one policy"));
    }
    for (position, LabelledPolicy { label, spec }) in policies.iter().enumerate() {
        let at = || format!("policies[{position}]");
        if label.trim().is_empty() {
            let found = format!("{label:?}");
            return Err(ScenarioError::value(format!("{}.label", at()), found, "a text that is not empty"));
        }
        spec.check().map_err(|error| ScenarioError::other(at(), error))?;
        if spec.is_rule() && !held {
            return Err(ScenarioError::other(at(), SpecError::NoQueue { rule: spec.name() }));
        }
        if policies[..position].iter().any(|other| other.label == *label) {
            let label = clipped(label);
            let message = format!("`{label}` is in the list already, give one of them another `label`");
            return Err(ScenarioError::other(at(), message));
        }
    }
    Ok(())
}

/// A policy by its name; an error says which name was meant, if one is near.
pub(super) fn named(at: &str, name: &str) -> Result<PolicySpec, ScenarioError> {
    name.parse().map_err(|error: SpecError| {
        let all: Vec<PolicySpec> = PolicySpec::all().into_iter().chain(PolicySpec::rules()).collect();
        let hint = hint(name, all.iter().map(PolicySpec::name));
        ScenarioError::other(at, format!("{error}{hint}"))
    })
}

fn one(value: &Value, at: &str) -> Result<LabelledPolicy, ScenarioError> {
    let (label, spec) = match value {
        Value::String(name) => (None, named(at, name)?),
        Value::Table(table) => {
            let mut table = table.clone();
            let label = match table.remove("label") {
                None => None,
                Some(Value::String(label)) if !label.trim().is_empty() => Some(label),
                Some(other) => {
                    return Err(ScenarioError::value(
                        format!("{at}.label"),
                        show(&other),
                        "a text that is not empty",
                    ));
                }
            };
            match table.get("name") {
                Some(Value::String(name)) => named(&format!("{at}.name"), name)?,
                Some(other) => {
                    return Err(ScenarioError::value(format!("{at}.name"), show(other), "a policy's name"));
                }
                None => return Err(ScenarioError::other(at, "the key `name` is missing")),
            };
            (label, read::<PolicySpec>(&Value::Table(table), at)?)
        }
        other => return Err(ScenarioError::value(at, show(other), "a policy's name or a table with `name`")),
    };
    let label = label.unwrap_or_else(|| spec.name().to_owned());
    Ok(LabelledPolicy { label, spec })
}

impl Serialize for LabelledPolicy {
    /// A table with all of its parameters.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Table::try_from(&self.spec).map_err(serde::ser::Error::custom)?;
        if self.label != self.spec.name() {
            table.insert("label".to_owned(), Value::from(self.label.clone()));
        }
        Value::Table(table).serialize(serializer)
    }
}
