//! What has a name: devices, ports, servers. Where nothing is named, names are numbers with a word before
//! them: `port-0`, `server-3`, `device-1`.

use super::error::ScenarioError;
use super::nearest::hint;
use super::spec::Spec;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// How many there are, or their names: `8`, or `["bert", "resnet"]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "another kind of value, expected a whole number or a list of names")]
pub enum CountOrNames {
    /// This many, without names of their own.
    Count(u64),
    /// One for each name.
    Names(Vec<String>),
}

impl CountOrNames {
    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Count(count) => *count,
            Self::Names(names) => names.len() as u64,
        }
    }

    /// Their names: those given, or a word and a number.
    fn named(&self, word: &str) -> Vec<String> {
        match self {
            Self::Count(count) => numbered(word, *count),
            Self::Names(names) => names.clone(),
        }
    }

    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Count(_) => Ok(()),
            Self::Names(names) => check_names(key, names),
        }
    }
}

impl From<u64> for CountOrNames {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl<const N: usize> From<[&str; N]> for CountOrNames {
    fn from(names: [&str; N]) -> Self {
        Self::Names(names.map(str::to_owned).to_vec())
    }
}

impl fmt::Display for CountOrNames {
    /// As it is written in TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Names(names) => write!(f, "{}", toml::Value::from(names.clone())),
        }
    }
}

/// A port or a server: its position, from 0, or its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "another kind of value, expected a whole number from 0 or a name")]
pub enum NameOrPosition {
    /// By position, from 0.
    Position(u32),
    /// By name.
    Name(String),
}

impl From<u32> for NameOrPosition {
    fn from(position: u32) -> Self {
        Self::Position(position)
    }
}

impl From<&str> for NameOrPosition {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl fmt::Display for NameOrPosition {
    /// As it is written in TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => write!(f, "{position}"),
            Self::Name(name) => write!(f, "{}", toml::Value::from(name.as_str())),
        }
    }
}

/// Names of one sort, to be looked up.
pub(super) struct Index {
    names: Vec<String>,
    positions: HashMap<String, u32>,
}

impl Index {
    fn new(names: Vec<String>) -> Self {
        let positions = names.iter().cloned().zip(0..).collect();
        Self { names, positions }
    }

    pub(super) fn ports(spec: &Spec) -> Self {
        Self::new(ports(spec))
    }

    pub(super) fn servers(spec: &Spec) -> Self {
        Self::new(servers(spec))
    }

    /// A port in a sentence.
    pub(super) fn words(&self, position: usize) -> String {
        match self.names[position].strip_prefix("port-").is_some_and(|rest| rest == position.to_string()) {
            true => format!("port {position}"),
            false => format!("port `{}`", self.names[position]),
        }
    }

    /// The position of what a key names.
    pub(super) fn find(&self, key: &str, named: &NameOrPosition) -> Result<u32, ScenarioError> {
        let count = self.names.len() as u32;
        match named {
            NameOrPosition::Position(position) if *position < count => Ok(*position),
            NameOrPosition::Position(position) => {
                let accepted = format!("a whole number from 0 to {}", count - 1);
                Err(ScenarioError::value(key, position, accepted))
            }
            NameOrPosition::Name(name) => {
                self.positions.get(name).copied().ok_or_else(|| {
                    ScenarioError::value(key, format!("{name:?}"), one_near(name, &self.names))
                })
            }
        }
    }
}

/// What is accepted where a name is that nobody has, and which of them it is like.
pub(super) fn one_near(name: &str, names: &[String]) -> String {
    format!("{}{}", one_of(names), hint(name, names.iter().map(String::as_str)))
}

/// What is accepted where a name is: all of them, or some where there are many.
pub(super) fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    match (shown.as_slice(), names.len()) {
        ([only], 1) => only.clone(),
        (all, count) if count <= SHOWN => format!("one of {}", all.join(", ")),
        (some, count) => format!("one of {} and {} more", some.join(", "), count - SHOWN),
    }
}

fn numbered(word: &str, count: u64) -> Vec<String> {
    (0..count).map(|index| format!("{word}-{index}")).collect()
}

/// The names of the ports.
pub(super) fn ports(spec: &Spec) -> Vec<String> {
    spec.graph.ports.named("port")
}

/// The names of the servers.
pub(super) fn servers(spec: &Spec) -> Vec<String> {
    let told = spec.servers.kinds.as_deref().and_then(super::servers::names);
    told.unwrap_or_else(|| spec.graph.servers.named("server"))
}

/// The names of the devices.
pub(super) fn devices(spec: &Spec) -> Vec<String> {
    spec.devices.names.clone().unwrap_or_else(|| numbered("device", spec.devices.count))
}

/// Checks the names of ports and servers in `graph` and those of devices.
pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    spec.graph.ports.check("graph.ports")?;
    spec.graph.servers.check("graph.servers")?;
    if let Some(names) = &spec.devices.names {
        check_names("devices.names", names)?;
        if names.len() as u64 != spec.devices.count {
            let accepted = format!("{}, as many as there are `devices.names`", names.len());
            return Err(ScenarioError::value("devices.count", spec.devices.count, accepted));
        }
    }
    Ok(())
}

/// Names can be told apart, and are not empty.
pub(super) fn check_names(key: &str, names: &[String]) -> Result<(), ScenarioError> {
    let mut seen = HashSet::new();
    for (position, name) in names.iter().enumerate() {
        let at = || format!("{key}[{position}]");
        if name.trim().is_empty() {
            return Err(ScenarioError::value(at(), format!("{name:?}"), "a name that is not empty"));
        }
        if !seen.insert(name.as_str()) {
            return Err(ScenarioError::other(at(), format!("the name `{name}` is used twice")));
        }
    }
    Ok(())
}
