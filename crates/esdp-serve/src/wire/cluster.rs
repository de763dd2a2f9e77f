//! Clusters over the wire: `PUT /v1/cluster` and back.

use super::{ApiError, check_length, check_name, object, whole};
use esdp::model::{
    Amounts, ChannelRule, ClusterDescription, JobShape, ListedChannel, Pace, PaceWord, PortSpec, ServerSpec,
    SupplyCost, TaskGroupSpec,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The group's name of jobs whose tasks are all alike.
const ONLY_GROUP: &str = "worker";
const MOST_DEVICES: usize = 64;
const MOST_SERVERS: usize = 20_000;
const MOST_PORTS: usize = 1_000;
const MOST_CHANNELS: usize = 1_000_000;
const MOST_TASKS: u32 = 65_536;
const MOST_LABELS: usize = 16;
const MOST_GROUPS: usize = 64;
/// Sums of amounts over all servers stay far from overflow.
const LARGEST_AMOUNT: u64 = 1 << 40;

/// A cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterWire {
    /// The device types.
    pub devices: Vec<String>,
    /// The servers.
    #[serde(deserialize_with = "object::list")]
    pub servers: Vec<ServerWire>,
    /// The job types.
    #[serde(deserialize_with = "object::list")]
    pub ports: Vec<PortWire>,
    /// Limits of the cluster as a whole, beside those of its servers.
    #[serde(default, deserialize_with = "whole::some_amounts", skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Amounts>,
    /// What devices cost.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, SupplyCost>,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerWire {
    /// Its name.
    pub name: String,
    /// Its devices; none if only the cluster as a whole limits.
    #[serde(default, deserialize_with = "whole::some_amounts", skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Amounts>,
    /// What is known of its kind, from coarse to fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// A job type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortWire {
    /// Its name.
    pub name: String,
    /// What each task requests, where all are alike.
    #[serde(default, deserialize_with = "whole::some_amounts", skip_serializing_if = "Option::is_none")]
    pub request: Option<Amounts>,
    /// How many tasks a job has; 1 if left out.
    #[serde(default, deserialize_with = "whole::some_small", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// With how many it can start; all if left out.
    #[serde(default, deserialize_with = "whole::some_small", skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Groups of tasks, instead of `request` and `tasks`.
    #[serde(default, deserialize_with = "object::some_list", skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<GroupWire>>,
    /// Whether a job may use any number of its servers, each once, as in the paper.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parts: bool,
    /// Whether its tasks' speeds add up (`sum`), or each runs as fast as the slowest of its job (`slowest`,
    /// if left out, for jobs of several tasks).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<PaceWord>,
    /// What a job keeps of its speed if it spans servers, with the pace `slowest`; 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing: Option<f64>,
    /// The servers it may use; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
    /// Labels that a server must have, instead of `servers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Servers with requests of their own, instead of `servers`.
    #[serde(default, deserialize_with = "object::some_list", skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ListedWire>>,
    /// How much its jobs count; 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The speed that counts as 1; learned if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_speed: Option<f64>,
}

/// A group of identical tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupWire {
    /// Its name.
    pub name: String,
    /// What each task requests.
    #[serde(deserialize_with = "whole::amounts")]
    pub request: Amounts,
    /// How many tasks; 1 if left out.
    #[serde(default = "one", deserialize_with = "whole::small")]
    pub count: u32,
    /// With how many the job can start; all if left out.
    #[serde(default, deserialize_with = "whole::some_small", skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
}

/// A server with a request of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedWire {
    /// The server.
    pub server: String,
    /// The group of tasks; empty where all are alike.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// What a task requests there.
    #[serde(deserialize_with = "whole::amounts")]
    pub request: Amounts,
}

fn one() -> u32 {
    1
}

fn check_amounts(field: &str, amounts: &Amounts, devices: &[String]) -> Result<(), ApiError> {
    for (device, &amount) in amounts {
        if !devices.contains(device) {
            let known = devices.join(", ");
            return Err(ApiError::clash(
                format!("{field}.{device}"),
                format!("unknown device `{device}`"),
                known,
            ));
        }
        if amount > LARGEST_AMOUNT {
            let accepted = format!("at most {LARGEST_AMOUNT}");
            return Err(ApiError::value(
                format!("{field}.{device}"),
                format!("{amount} is too large"),
                accepted,
            ));
        }
    }
    Ok(())
}

fn unique<'a>(list: &str, names: impl Iterator<Item = &'a String>) -> Result<(), ApiError> {
    let mut seen = std::collections::HashSet::new();
    for (index, name) in names.enumerate() {
        check_name(|| format!("{list}[{index}]"), name)?;
        if !seen.insert(name) {
            let message = format!("the name `{name}` is used twice");
            return Err(ApiError::clash(format!("{list}[{index}]"), message, "unique names"));
        }
    }
    Ok(())
}

impl ClusterWire {
    /// The cluster as the core has it.
    ///
    /// # Errors
    /// With the field that is wrong.
    pub fn describe(&self) -> Result<ClusterDescription, ApiError> {
        check_length("devices", self.devices.len(), MOST_DEVICES)?;
        check_length("servers", self.servers.len(), MOST_SERVERS)?;
        check_length("ports", self.ports.len(), MOST_PORTS)?;
        unique("devices", self.devices.iter())?;
        unique("servers", self.servers.iter().map(|server| &server.name))?;
        unique("ports", self.ports.iter().map(|port| &port.name))?;
        for (index, server) in self.servers.iter().enumerate() {
            check_length(&format!("servers[{index}].labels"), server.labels.len(), MOST_LABELS)?;
            for label in &server.labels {
                check_name(|| format!("servers[{index}].labels"), label)?;
            }
            if let Some(own) = &server.capacity {
                check_amounts(&format!("servers[{index}].capacity"), own, &self.devices)?;
            }
        }
        if let Some(capacity) = &self.capacity {
            check_amounts("capacity", capacity, &self.devices)?;
        }
        let server = |server: &ServerWire| ServerSpec {
            name: server.name.clone(),
            labels: server.labels.clone(),
            capacity: server.capacity.clone(),
        };
        let ports = self.ports.iter().enumerate().map(|(index, port)| port.describe(index, &self.devices));
        let described = ClusterDescription {
            devices: self.devices.clone(),
            servers: self.servers.iter().map(server).collect(),
            ports: ports.collect::<Result<_, _>>()?,
            capacity: self.capacity.clone(),
            costs: self.costs.clone(),
        };
        let channels: usize =
            described.ports.iter().map(|port| groups(&port.jobs)).sum::<usize>() * self.servers.len();
        check_length("ports x servers", channels, MOST_CHANNELS)?;
        let cluster = described.cluster();
        cluster.map_err(|error| {
            ApiError::clash("", format!("the cluster was rejected: {error}"), "a cluster that fits together")
        })?;
        Ok(described)
    }

    /// A cluster as callers see it.
    pub fn of(described: &ClusterDescription) -> Self {
        let server = |server: &ServerSpec| ServerWire {
            name: server.name.clone(),
            capacity: server.capacity.clone(),
            labels: server.labels.clone(),
        };
        Self {
            devices: described.devices.clone(),
            servers: described.servers.iter().map(server).collect(),
            ports: described.ports.iter().map(PortWire::of).collect(),
            capacity: described.capacity.clone(),
            costs: described.costs.clone(),
        }
    }
}

fn groups(jobs: &JobShape) -> usize {
    match jobs {
        JobShape::Parts { .. } => 1,
        JobShape::Gang { groups, .. } => groups.len(),
    }
}

impl PortWire {
    fn describe(&self, index: usize, devices: &[String]) -> Result<PortSpec, ApiError> {
        let at = |key: &str| format!("ports[{index}].{key}");
        let rules = [self.servers.is_some(), self.labels.is_some(), self.channels.is_some()];
        if rules.into_iter().filter(|&given| given).count() > 1 {
            let message = "more than one of `servers`, `labels` and `channels`";
            return Err(ApiError::clash(at("servers"), message, "at most one of them"));
        }
        for (key, value) in [("weight", self.weight), ("reference_speed", self.reference_speed)] {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(ApiError::value(
                    at(key),
                    format!("{value} was rejected"),
                    "a finite number above 0",
                ));
            }
        }
        let channels = match (&self.servers, &self.labels, &self.channels) {
            (Some(servers), ..) => ChannelRule::Servers(servers.clone()),
            (_, Some(labels), _) => ChannelRule::Labels(labels.clone()),
            (.., Some(listed)) => {
                let group = |given: &str| match given.is_empty() && !self.parts && self.groups.is_none() {
                    true => ONLY_GROUP.to_owned(),
                    false => given.to_owned(),
                };
                let channel = |listed: &ListedWire| ListedChannel {
                    server: listed.server.clone(),
                    group: group(&listed.group),
                    request: listed.request.clone(),
                };
                for channel in listed {
                    check_amounts(&at("channels.request"), &channel.request, devices)?;
                }
                ChannelRule::Listed(listed.iter().map(channel).collect())
            }
            _ => ChannelRule::All,
        };
        let jobs = self.jobs(&at, devices)?;
        Ok(PortSpec {
            name: self.name.clone(),
            pace: self.pace(&at, &jobs)?,
            jobs,
            weight: self.weight.unwrap_or(1.0),
            reference: self.reference_speed,
            channels,
        })
    }

    /// How fast its jobs run. Tasks of a job wait for each other unless somebody says that they do not.
    fn pace(&self, at: &dyn Fn(&str) -> String, jobs: &JobShape) -> Result<Pace, ApiError> {
        let gang = match jobs {
            JobShape::Parts { .. } => false,
            JobShape::Gang { groups, .. } => {
                groups.iter().map(|group| u64::from(group.count)).sum::<u64>() > 1
            }
        };
        if !gang && (self.crossing.is_some() || self.pace == Some(PaceWord::Slowest)) && self.parts {
            let message = "the speeds of a job in parts add up";
            return Err(ApiError::clash(at("pace"), message, "`sum`, and no `crossing`"));
        }
        let usual = if gang { PaceWord::Slowest } else { PaceWord::Sum };
        let pace = match (self.pace, self.crossing) {
            (None, Some(_)) => PaceWord::Slowest,
            (pace, _) => pace.unwrap_or(usual),
        };
        Pace::from_words(pace, self.crossing).map_err(|(word, found, accepted)| {
            ApiError::clash(at(word), format!("{found} was rejected"), accepted)
        })
    }

    fn jobs(&self, at: &dyn Fn(&str) -> String, devices: &[String]) -> Result<JobShape, ApiError> {
        let request = self.request.clone().unwrap_or_default();
        check_amounts(&at("request"), &request, devices)?;
        let counted = |key: &str, value: u32, most: u32| match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(ApiError::clash(
                at(key),
                format!("{value} was rejected"),
                format!("a whole number from 1 to {most}"),
            )),
        };
        if let Some(groups) = &self.groups {
            if self.request.is_some() || self.tasks.is_some() || self.parts {
                let message = "`groups` stands in the place of `request`, `tasks` and `parts`";
                return Err(ApiError::clash(at("groups"), message, "one of the two forms"));
            }
            check_length(&at("groups"), groups.len(), MOST_GROUPS)?;
            unique(&at("groups"), groups.iter().map(|group| &group.name))?;
            let mut specs = Vec::new();
            let (mut all, mut least) = (0, 0);
            for group in groups {
                check_amounts(&at("groups.request"), &group.request, devices)?;
                counted("groups.count", group.count, MOST_TASKS)?;
                let minimum = group.min.unwrap_or(group.count);
                if minimum > group.count {
                    return Err(ApiError::clash(
                        at("groups.min"),
                        format!("{minimum} was rejected"),
                        format!("at most {}", group.count),
                    ));
                }
                (all, least) = (all + group.count, least + minimum);
                let (name, count, request) = (group.name.clone(), group.count, group.request.clone());
                specs.push(TaskGroupSpec { name, count, minimum, request });
            }
            counted("groups", all, MOST_TASKS)?;
            let minimum = self.min.unwrap_or(least).max(1);
            counted("min", minimum, all)?;
            return Ok(JobShape::Gang { minimum, groups: specs });
        }
        if self.parts {
            return Ok(JobShape::Parts { request });
        }
        if self.request.is_none() && self.channels.is_none() {
            let message = "neither `request` nor `groups` nor `channels` is given";
            return Err(ApiError::clash(at("request"), message, "what each task requests"));
        }
        let tasks = self.tasks.unwrap_or(1);
        counted("tasks", tasks, MOST_TASKS)?;
        let minimum = self.min.unwrap_or(tasks);
        counted("min", minimum, tasks)?;
        let group = TaskGroupSpec { name: ONLY_GROUP.to_owned(), count: tasks, minimum: 0, request };
        Ok(JobShape::Gang { minimum, groups: vec![group] })
    }

    fn of(port: &PortSpec) -> Self {
        let mut wire = Self { name: port.name.clone(), reference_speed: port.reference, ..Self::default() };
        wire.weight = Some(port.weight);
        let is_gang = matches!(port.jobs, JobShape::Gang { .. });
        wire.pace = is_gang.then(|| port.pace.word());
        wire.crossing = port.pace.crossing().filter(|&crossing| crossing < 1.0);
        match &port.jobs {
            JobShape::Parts { request } => (wire.parts, wire.request) = (true, Some(request.clone())),
            JobShape::Gang { minimum, groups } => match &groups[..] {
                [only] if only.name == ONLY_GROUP && only.minimum == 0 => {
                    wire.request = Some(only.request.clone());
                    (wire.tasks, wire.min) = (Some(only.count), Some(*minimum));
                }
                groups => {
                    let group = |group: &TaskGroupSpec| GroupWire {
                        name: group.name.clone(),
                        request: group.request.clone(),
                        count: group.count,
                        min: Some(group.minimum),
                    };
                    (wire.groups, wire.min) = (Some(groups.iter().map(group).collect()), Some(*minimum));
                }
            },
        }
        match &port.channels {
            ChannelRule::All => {}
            ChannelRule::Servers(servers) => wire.servers = Some(servers.clone()),
            ChannelRule::Labels(labels) => wire.labels = Some(labels.clone()),
            ChannelRule::Listed(listed) => {
                let channel = |listed: &ListedChannel| ListedWire {
                    server: listed.server.clone(),
                    group: listed.group.clone(),
                    request: listed.request.clone(),
                };
                wire.channels = Some(listed.iter().map(channel).collect());
            }
        }
        wire
    }
}

#[cfg(test)]
mod tests;
