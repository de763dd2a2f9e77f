//! The servers of a scenario: names, kinds, labels, devices, and when they are out.

use super::check::{LARGEST_CAPACITY, MOST_SERVERS, check_length, whole};
use super::error::ScenarioError;
use super::labels::{DEEPEST, from_labels};
use super::names::{CountOrNames, check_names, one_of};
use super::spec::Spec;
use crate::model::Amount;
use crate::sim::{KindSpeeds, Outage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The servers, and what the scheduler is told of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServerTable {
    /// Where labels come from.
    pub labels: LabelSource,
    /// The share of the servers that get their label; the others have none.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
    pub labelled: f64,
    /// The labels of each server from coarse to fine, instead of `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Vec<String>>>,
    /// The servers as a table, one entry for those that are alike, instead of `labels` and `list`.
    /// `graph.servers` may then be left out: it is the sum of their counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ServerKind>>,
    /// When servers take no new jobs: outages and maintenance. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
}

impl Default for ServerTable {
    fn default() -> Self {
        Self { labels: LabelSource::None, labelled: 1.0, list: None, kinds: None, outages: Vec::new() }
    }
}

/// Servers that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServerKind {
    /// The label of each; short for `labels` with one entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many there are, at least 1. Default: 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = super::check::MOST_SERVERS)))]
    pub count: u64,
    /// What each of them has, one amount per device. Default: servers have no limits of their own; then no
    /// entry may have a capacity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = super::check::LARGEST_CAPACITY, "x-unit" = "devices"))
    )]
    pub capacity: Vec<Amount>,
    /// The name. If several servers share it they are called `name-0`, `name-1` and so on. Default: `kind`,
    /// else `server-0`, `server-1`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of hardware: which of `speeds.kinds` it is. Several entries may be of one kind, in different
    /// racks. Default: that of its labels which `speeds.kinds` knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the scheduler is told of each, from coarse to fine, at most 16 labels. Default: `label`, else
    /// `kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 16)))]
    pub labels: Option<Vec<String>>,
}

impl Default for ServerKind {
    fn default() -> Self {
        Self { label: None, count: 1, capacity: Vec::new(), name: None, kind: None, labels: None }
    }
}

impl ServerKind {
    /// What the scheduler is told.
    pub(super) fn told(&self) -> Vec<String> {
        self.labels.clone().unwrap_or_else(|| self.label.iter().chain(&self.kind).take(1).cloned().collect())
    }

    fn base(&self) -> Option<&str> {
        self.name.as_deref().or(self.kind.as_deref())
    }
}

impl ServerTable {
    /// For each server the position of its entry in `kinds`.
    pub(super) fn entry_of_server(&self) -> Option<Vec<usize>> {
        let each = |(entry, of): (usize, &ServerKind)| std::iter::repeat_n(entry, of.count as usize);
        self.kinds.as_ref().map(|kinds| kinds.iter().enumerate().flat_map(each).collect())
    }

    /// Whether servers have limits of their own by their kind.
    pub(super) fn has_capacities(&self) -> bool {
        self.kinds.iter().flatten().any(|kind| !kind.capacity.is_empty())
    }

    /// What each server has, by its kind.
    pub(super) fn capacities(&self) -> Option<Vec<Vec<Amount>>> {
        let kinds = self.kinds.as_ref().filter(|_| self.has_capacities())?;
        Some(self.entry_of_server()?.into_iter().map(|entry| kinds[entry].capacity.clone()).collect())
    }
}

/// Where the labels of servers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// There are none.
    None,
    /// Each server is labelled with its kind, `speeds.kinds`.
    Kinds,
    /// As many different labels as there are kinds, but they mean nothing.
    Random,
}

/// The names of all servers; none where no entry has a name or a kind.
pub(super) fn names(kinds: &[ServerKind]) -> Option<Vec<String>> {
    if kinds.iter().all(|kind| kind.base().is_none()) {
        return None;
    }
    let base = |kind: &ServerKind| kind.base().unwrap_or("server").to_owned();
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    kinds.iter().for_each(|kind| *all.entry(base(kind)).or_default() += kind.count);
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    let mut names = Vec::new();
    for kind in kinds {
        let base = base(kind);
        let next = next.entry(base.clone()).or_default();
        for _ in 0..kind.count {
            names.push(if all[&base] == 1 { base.clone() } else { format!("{base}-{next}") });
            *next += 1;
        }
    }
    Some(names)
}

/// For each server the position of its kind in `speeds.kinds`; none where that is drawn.
///
/// # Errors
/// Where labels and kinds do not go together.
pub(super) fn kind_of_server(spec: &Spec) -> Result<Option<Vec<usize>>, ScenarioError> {
    let Some(speeds) = &spec.speeds.kinds else { return Ok(None) };
    if let KindSpeeds::Named(known) = speeds {
        let known: Vec<&str> = known.keys().map(String::as_str).collect();
        let of = named_kinds(spec, &known)?;
        match (0..known.len()).find(|kind| !of.contains(kind)) {
            Some(kind) => {
                let message = "no server is of this kind; give it to one by `servers.kinds` or drop it";
                return Err(ScenarioError::other(format!("speeds.kinds.{}", known[kind]), message));
            }
            None => return Ok(Some(of)),
        }
    }
    if spec.servers.list.is_some() {
        let message = "the kinds would be drawn anew for every seed, whatever `servers.list` says; key \
        them by \
                       label, such as kinds = { a100 = [0.9, 0.8], v100 = [0.5, 0.4] }";
        return Err(ScenarioError::other("speeds.kinds", message));
    }
    let Some((kinds, entries)) = spec.servers.kinds.as_ref().zip(spec.servers.entry_of_server()) else {
        return Ok(None);
    };
    // Columns are the kinds in the order in which they come; an entry without one is a kind of its own.
    let mut columns: Vec<(Option<&str>, usize)> = Vec::new();
    let mut column = Vec::new();
    for (entry, kind) in kinds.iter().map(|kind| kind.kind.as_deref()).enumerate() {
        let known = columns.iter().position(|(other, _)| kind.is_some() && *other == kind);
        column.push(known.unwrap_or(columns.len()));
        if known.is_none() {
            columns.push((kind, entry));
        }
    }
    if speeds.count() != columns.len() {
        let accepted = format!("{}, as many as `servers.kinds`", columns.len());
        return Err(ScenarioError::value("speeds.kinds", format!("{} kinds", speeds.count()), accepted));
    }
    Ok(Some(entries.into_iter().map(|entry| column[entry]).collect()))
}

/// The kind of each server where `speeds.kinds` is keyed.
fn named_kinds(spec: &Spec, known: &[&str]) -> Result<Vec<usize>, ScenarioError> {
    if let (Some(kinds), Some(entries)) = (&spec.servers.kinds, spec.servers.entry_of_server()) {
        let of = |(entry, kind): (usize, &ServerKind)| {
            let at = format!("servers.kinds[{entry}]");
            match &kind.kind {
                Some(name) => known.iter().position(|known| known == name).ok_or_else(|| {
                    ScenarioError::value(format!("{at}.kind"), format!("{name:?}"), one_of(known))
                }),
                None => from_labels(&at, &kind.told(), known),
            }
        };
        let kinds: Vec<usize> = kinds.iter().enumerate().map(of).collect::<Result<_, _>>()?;
        return Ok(entries.into_iter().map(|entry| kinds[entry]).collect());
    }
    let Some(list) = &spec.servers.list else {
        let message = "keyed by label, but servers have none; give `servers.kinds` or `servers.list`";
        return Err(ScenarioError::other("speeds.kinds", message));
    };
    let of = |(server, labels): (usize, &Vec<String>)| {
        from_labels(&format!("servers.list[{server}]"), labels, known)
    };
    list.iter().enumerate().map(of).collect()
}

/// Checks how many servers each entry of the table has; their sum is checked as `graph.servers`.
pub(super) fn check_counts(spec: &Spec) -> Result<(), ScenarioError> {
    let counts = spec.servers.kinds.iter().flatten().map(|kind| kind.count).enumerate();
    let each = |(entry, count)| whole(&format!("servers.kinds[{entry}].count"), count, 1, MOST_SERVERS);
    counts.into_iter().try_for_each(each)
}

/// Checks the table: servers must be as many as there are, and nothing else may tell of their devices.
pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    let Some(kinds) = &spec.servers.kinds else { return Ok(()) };
    if spec.servers.has_capacities()
        && (spec.devices.server_capacity.is_some() || spec.devices.servers.is_some())
    {
        let message = "give `servers.kinds`, or `server_capacity` or `servers`, not both";
        return Err(ScenarioError::other("devices", message));
    }
    for (entry, of) in kinds.iter().enumerate() {
        let at = |key: &str| format!("servers.kinds[{entry}].{key}");
        if spec.servers.has_capacities() {
            check_length(&at("capacity"), of.capacity.len(), spec.devices.count, "device")?;
        }
        for (device, &amount) in of.capacity.iter().enumerate() {
            whole(&at(&format!("capacity[{device}]")), amount, 0, LARGEST_CAPACITY)?;
        }
        if of.label.is_some() && of.labels.is_some() {
            return Err(ScenarioError::other(at("labels"), "give `label` or `labels`, not both"));
        }
        if of.told().len() > DEEPEST {
            let found = format!("{} labels", of.told().len());
            return Err(ScenarioError::value(at("labels"), found, format!("at most {DEEPEST}")));
        }
    }
    let all: u64 = kinds.iter().map(|kind| kind.count).sum();
    if all != spec.graph.servers.count() {
        let accepted = format!("{} in all, the number of servers", spec.graph.servers.count());
        return Err(ScenarioError::value("servers.kinds", format!("a list of {all} servers"), accepted));
    }
    let Some(names) = names(kinds) else { return Ok(()) };
    if matches!(spec.graph.servers, CountOrNames::Names(_)) {
        let message = "servers have names by `servers.kinds` already, give their number or leave it out";
        return Err(ScenarioError::other("graph.servers", message));
    }
    // The position is that of a server; the key is that of the table.
    check_names("servers.kinds", &names)
        .map_err(|error| ScenarioError { key: "servers.kinds".to_owned(), ..error })
}
