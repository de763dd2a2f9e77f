//! Gangs in a scenario: drawn for every port, or written down one by one.

use super::check::{LARGEST_REQUEST, MOST_CHANNELS, check_length, expected_channels, whole};
use super::error::ScenarioError;
use super::names::{Index, NameOrPosition};
use super::spec::Spec;
use crate::model::{Amount, ChannelSpec, ClusterSpec, GangSpec, Pace, PaceWord, ServerId, TaskSpec};
use crate::sim::RandomGangs;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::HashSet;

/// Ports whose jobs are gangs: all of them, drawn, or those of a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GangTable {
    /// The number of task groups of a job: drawn from this range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minimum" = 1,
            "maximum" = 10_000,
            "default" = crate::sim::RandomGangs::default().groups
        ))
    )]
    pub groups: Option<(u32, u32)>,
    /// The number of tasks of a group: drawn from this range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minimum" = 1,
            "maximum" = 10_000,
            "default" = crate::sim::RandomGangs::default().tasks
        ))
    )]
    pub tasks: Option<(u32, u32)>,
    /// The share of its tasks that a job starts with at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minimum" = 0,
            "maximum" = 1,
            "x-unit" = "share",
            "default" = crate::sim::RandomGangs::default().minimum
        ))
    )]
    pub minimum: Option<f64>,
    /// How fast a job runs: `"sum"` adds the speeds of its tasks up; with `"slowest"` they wait for each
    /// other, and each runs as fast as the slowest (default: `"sum"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<PaceWord>,
    /// What a job keeps of its speed if it spans servers, with `pace = "slowest"` (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share", "x-range" = "above 0, at most 1"))
    )]
    pub crossing: Option<f64>,
    /// Instead: the gangs themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<ListedGang>>,
}

/// A gang of a list; with its requests where channels are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListedGang {
    /// Its port, by name or by position from 0.
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "a name, or below the number of ports")))]
    pub port: NameOrPosition,
    /// The fewest tasks that a job starts with.
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "from 1 to the number of its tasks")))]
    pub minimum: u32,
    /// Its task groups: the number of their tasks, or a table with a minimum of their own.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = u32::MAX)))]
    pub tasks: Vec<ListedTasks>,
    /// How fast its jobs run; as `gangs.pace` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<PaceWord>,
    /// What a job keeps of its speed if it spans servers; as `gangs.crossing` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share", "x-range" = "above 0, at most 1"))
    )]
    pub crossing: Option<f64>,
    /// What a task of each group asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = super::check::LARGEST_REQUEST, "x-unit" = "devices"))
    )]
    pub requests: Option<Vec<Vec<Amount>>>,
}

/// The tasks of a group: their number, or `{ count = 4, min = 2 }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedTasks {
    /// How many.
    pub count: u32,
    /// The fewest that a job starts with.
    pub min: u32,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TasksTable {
    /// How many.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = u32::MAX)))]
    count: u32,
    /// The fewest that a job starts with.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "up to `count`")))]
    min: u32,
}

#[cfg(feature = "schema")]
pub(super) fn tasks_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    <TasksTable as schemars::JsonSchema>::json_schema(generator)
}

impl Serialize for ListedTasks {
    /// A number where there is no minimum: files from before there was one stay as they are.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Self { count, min } = self;
        if min == 0 { count.serialize(serializer) } else { TasksTable { count, min }.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for ListedTasks {
    // Not an untagged enum: its errors would not say which key is wrong.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = ListedTasks;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a number of tasks, or a table with `count` and `min`")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<ListedTasks, E> {
                let count = u32::try_from(value);
                let count =
                    count.map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(value), &self))?;
                Ok(ListedTasks { count, min: 0 })
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<ListedTasks, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ListedTasks, A::Error> {
                let TasksTable { count, min } = TasksTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ListedTasks { count, min })
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl ListedGang {
    /// The gang of the port at a position.
    pub(super) fn spec(&self, port: u32, table: &GangTable) -> GangSpec {
        let task = |(index, tasks): (usize, &ListedTasks)| TaskSpec {
            name: index.to_string(),
            count: tasks.count,
            minimum: tasks.min,
        };
        let tasks = self.tasks.iter().enumerate().map(task).collect();
        GangSpec { port, minimum: self.minimum, tasks, pace: self.pace(table).unwrap_or_default() }
    }
}

impl ListedGang {
    /// How fast its jobs run: its own words, or those of the table.
    fn pace(&self, table: &GangTable) -> Result<Pace, (&'static str, f64, &'static str)> {
        let word = self.pace.or(table.pace).unwrap_or_default();
        let inherited = table.crossing.filter(|_| word == PaceWord::Slowest);
        Pace::from_words(word, self.crossing.or(inherited))
    }
}

impl GangTable {
    /// How fast the jobs of ports run that say nothing else.
    pub(super) fn pace(&self) -> Result<Pace, (&'static str, f64, &'static str)> {
        Pace::from_words(self.pace.unwrap_or_default(), self.crossing)
    }

    /// Writes the defaults out, unless there is a list.
    pub(super) fn resolve(&mut self) {
        if self.list.is_none() {
            let RandomGangs { groups, tasks, minimum } = self.recipe();
            (self.groups, self.tasks, self.minimum) = (Some(groups), Some(tasks), Some(minimum));
        }
    }

    pub(super) fn is_drawn(&self) -> bool {
        self.groups.is_some() || self.tasks.is_some() || self.minimum.is_some()
    }

    pub(super) fn recipe(&self) -> RandomGangs {
        let told = RandomGangs::default();
        RandomGangs {
            groups: self.groups.unwrap_or(told.groups),
            tasks: self.tasks.unwrap_or(told.tasks),
            minimum: self.minimum.unwrap_or(told.minimum),
        }
    }
}

pub(super) fn check_gangs(spec: &Spec) -> Result<(), ScenarioError> {
    let Some(gangs) = &spec.gangs else { return Ok(()) };
    let list = gangs.list.as_deref().unwrap_or_default();
    check_tasks(spec, list)?;
    let wrong = |key: String, (word, found, accepted): (&str, f64, &str)| {
        ScenarioError::value(format!("{key}.{word}"), found, accepted)
    };
    if list.iter().all(|gang| gang.pace.is_none()) {
        gangs.pace().map_err(|error| wrong("gangs".to_owned(), error))?;
    } else if let Some(crossing) = gangs.crossing {
        let found = Pace::from_words(PaceWord::Slowest, Some(crossing));
        found.map_err(|error| wrong("gangs".to_owned(), error))?;
    }
    for (position, gang) in list.iter().enumerate() {
        gang.pace(gangs).map_err(|error| wrong(format!("gangs.list[{position}]"), error))?;
    }
    match (&gangs.list, spec.graph.channels.is_some()) {
        (Some(_), _) if gangs.is_drawn() => {
            Err(ScenarioError::other("gangs", "give `list`, or `groups`, `tasks` and `minimum`, not both"))
        }
        (Some(list), false) => check_requests(spec, list),
        (Some(list), true) => match list.iter().position(|gang| gang.requests.is_some()) {
            None => Ok(()),
            Some(gang) => {
                let key = format!("gangs.list[{gang}].requests");
                Err(ScenarioError::other(
                    key,
                    "`graph.channels` have requests of their own, give one of the two",
                ))
            }
        },
        (None, true) => Err(ScenarioError::other(
            "gangs",
            "with `graph.channels` give `list`; drawn gangs need drawn channels",
        )),
        (None, false) => {
            let recipe = gangs.recipe();
            recipe.check().map_err(|error| {
                ScenarioError::value(format!("gangs.{}", error.key), error.value, error.accepted)
            })?;
            let expected = expected_channels(&spec.graph) * f64::from(recipe.groups.1);
            if expected > MOST_CHANNELS as f64 {
                let message = format!("up to {expected:.0} channels, at most {MOST_CHANNELS} are accepted");
                return Err(ScenarioError::other("gangs", message));
            }
            Ok(())
        }
    }
}

/// The tasks of listed gangs and their minima; an error names the key and the port.
fn check_tasks(spec: &Spec, list: &[ListedGang]) -> Result<(), ScenarioError> {
    let (ports, found, mut seen) = (Index::ports(spec), positions(spec, list)?, HashSet::new());
    for (position, (gang, port)) in list.iter().zip(found).enumerate() {
        let (key, name) = (format!("gangs.list[{position}]"), ports.words(port as usize));
        let within =
            |key: String, value: u64, from: u64, to: u64, what: &str| match from <= value && value <= to {
                true => Ok(()),
                false => {
                    let accepted = format!("a whole number from {from} to {to}{what}, for {name}");
                    Err(ScenarioError::value(key, value, accepted))
                }
            };
        if !seen.insert(port) {
            return Err(ScenarioError::other(
                format!("{key}.port"),
                format!("{name} is listed by an earlier gang already"),
            ));
        }
        if gang.tasks.is_empty() {
            let accepted = format!("at least one task group, for {name}");
            return Err(ScenarioError::value(format!("{key}.tasks"), "empty", accepted));
        }
        let mut tasks = 0;
        for (group, &ListedTasks { count, min }) in gang.tasks.iter().enumerate() {
            let key = format!("{key}.tasks[{group}]");
            within(key.clone(), u64::from(count), 1, u64::from(u32::MAX), "")?;
            within(format!("{key}.min"), u64::from(min), 0, u64::from(count), ", the tasks of the group")?;
            tasks += u64::from(count);
        }
        within(format!("{key}.minimum"), u64::from(gang.minimum), 1, tasks, ", the number of its tasks")?;
    }
    Ok(())
}

/// Listed gangs on drawn channels: one for every port, each with the requests of its groups.
fn check_requests(spec: &Spec, list: &[ListedGang]) -> Result<(), ScenarioError> {
    if list.is_empty() {
        return Err(ScenarioError::other(
            "gangs.list",
            "needs `graph.channels`, which say by `task` who may use them",
        ));
    }
    for (position, gang) in list.iter().enumerate() {
        let key = format!("gangs.list[{position}]");
        let Some(requests) = &gang.requests else {
            let message = "needs `requests`, or `graph.channels` which say by `task` who may use them";
            return Err(ScenarioError::other(key, message));
        };
        check_length(&format!("{key}.requests"), requests.len(), gang.tasks.len() as u64, "task group")?;
        for (group, request) in requests.iter().enumerate() {
            let key = format!("{key}.requests[{group}]");
            check_length(&key, request.len(), spec.devices.count, "device")?;
            for (device, &amount) in request.iter().enumerate() {
                whole(&format!("{key}[{device}]"), amount, 0, LARGEST_REQUEST)?;
            }
        }
    }
    let (ports, listed) = (Index::ports(spec), positions(spec, list)?);
    let mut is_listed = vec![false; spec.graph.ports.count() as usize];
    listed.into_iter().for_each(|port| is_listed[port as usize] = true);
    if let Some(missing) = is_listed.iter().position(|listed| !listed) {
        let name = ports.words(missing);
        let message = format!("{name} has no gang; with `requests`, each port must be listed");
        return Err(ScenarioError::other("gangs.list", message));
    }
    let groups = list.iter().map(|gang| gang.tasks.len()).max().unwrap_or(1);
    let expected = expected_channels(&spec.graph) * groups as f64;
    if expected > MOST_CHANNELS as f64 {
        let message = format!("up to {expected:.0} channels, at most {MOST_CHANNELS} are accepted");
        return Err(ScenarioError::other("gangs", message));
    }
    Ok(())
}

/// The positions of the ports of listed gangs.
pub(super) fn positions(spec: &Spec, list: &[ListedGang]) -> Result<Vec<u32>, ScenarioError> {
    let ports = Index::ports(spec);
    let find = |(gang, of): (usize, &ListedGang)| ports.find(&format!("gangs.list[{gang}].port"), &of.port);
    list.iter().enumerate().map(find).collect()
}

/// The channels of listed gangs: every task group on every server that its port reaches and that it fits.
pub(super) fn reach(spec: &mut ClusterSpec, list: &[ListedGang], ports: &[u32]) {
    let pairs = std::mem::take(&mut spec.channels);
    for (gang, &port) in list.iter().zip(ports) {
        for (task, request) in (0u32..).zip(gang.requests.iter().flatten()) {
            let fits = |server: u32| {
                let own = spec.capacity.server(ServerId(server));
                own.is_none_or(|own| request.iter().zip(own).all(|(asked, own)| asked <= own))
            };
            let reached = pairs.iter().filter(|pair| pair.port == port && fits(pair.server));
            let channels: Vec<ChannelSpec> = reached
                .map(|pair| ChannelSpec { port, server: pair.server, task, request: request.clone() })
                .collect();
            spec.channels.extend(channels);
        }
    }
}
