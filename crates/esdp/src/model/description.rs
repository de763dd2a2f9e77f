//! A cluster as people and drivers describe it: by names and rules.
//!
//! Names are what stays the same from one version of a cluster to the next; positions, which the rest of the
//! library works with, are given out by [`ClusterDescription::cluster`] and hold for one version only.
//!
//! ```
//! use esdp::model::{ChannelRule, ClusterDescription, JobShape, PortSpec, ServerSpec};
//!
//! let described = ClusterDescription {
//!     devices: vec!["gpu".into()],
//!     servers: vec![ServerSpec::new("n0", &[("gpu", 8)]), ServerSpec::new("n1", &[("gpu", 4)])],
//!     ports: vec![PortSpec::new("train", JobShape::tasks(4, 2, &[("gpu", 2)]))],
//!     ..ClusterDescription::default()
//! };
//! assert_eq!(described.cluster()?.channels().len(), 2);
//! # Ok::<(), esdp::model::DescriptionError>(())
//! ```

mod build;

use super::{Amount, ClusterError, Pace, SupplyCost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Amounts of devices by name; a device that is not listed counts 0.
pub type Amounts = BTreeMap<String, Amount>;

/// A cluster by names. The default is empty, to be filled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClusterDescription {
    /// The device types.
    pub devices: Vec<String>,
    /// The servers.
    pub servers: Vec<ServerSpec>,
    /// The job types.
    pub ports: Vec<PortSpec>,
    /// Limits of the whole cluster, beside those of its servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Amounts>,
    /// What devices cost; one that is not listed is free.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, SupplyCost>,
}

/// A server by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerSpec {
    /// Its name, unique in the cluster.
    pub name: String,
    /// What is known of its kind, from coarse to fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The devices it has; none if only the cluster as a whole limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Amounts>,
}

/// A job type by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortSpec {
    /// Its name, unique in the cluster.
    pub name: String,
    /// What its jobs are made of.
    pub jobs: JobShape,
    /// How fast its jobs run. A description from before there was this word adds speeds up.
    #[serde(default, skip_serializing_if = "Pace::is_sum")]
    pub pace: Pace,
    /// How much the utility of its jobs counts, above 0.
    #[serde(default = "one")]
    pub weight: f64,
    /// The speed, in the unit in which speeds are reported, that counts as 1; learned if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// The servers it may use.
    #[serde(default)]
    pub channels: ChannelRule,
}

/// What a job is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobShape {
    /// It may use each of its channels once, and any part of them, as in the paper.
    Parts {
        /// What it requests on each server it uses.
        request: Amounts,
    },
    /// It has tasks that run together or not at all.
    Gang {
        /// The least number of tasks it starts with, at least 1.
        minimum: u32,
        /// Its groups of identical tasks.
        groups: Vec<TaskGroupSpec>,
    },
}

/// A group of identical tasks by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskGroupSpec {
    /// Its name, unique in its port.
    pub name: String,
    /// How many of these tasks a job has, at least 1.
    pub count: u32,
    /// How many of these tasks a job needs to start.
    #[serde(default)]
    pub minimum: u32,
    /// What each of them requests.
    pub request: Amounts,
}

/// Which servers a port may use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelRule {
    /// All of them.
    #[default]
    All,
    /// Those that have all of these labels.
    Labels(Vec<String>),
    /// Those of these names. A name that the cluster does not have right now is no error: it may come back.
    Servers(Vec<String>),
    /// One by one, with requests of their own.
    Listed(Vec<ListedChannel>),
}

/// A channel that is listed by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedChannel {
    /// The server.
    pub server: String,
    /// The group of tasks; empty if jobs are not gangs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// What a task requests there.
    pub request: Amounts,
}

/// Why a [`ClusterDescription`] was rejected. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DescriptionError {
    /// A device that is not listed.
    #[error("{place} `{name}` speaks of the device `{device}`, which `devices` does not list")]
    UnknownDevice {
        /// `server`, `port`, `capacity` or `costs`.
        place: &'static str,
        /// Whose.
        name: String,
        /// The device.
        device: String,
    },
    /// A channel to a server that is not listed, with a request of its own.
    #[error("port `{port}` lists a channel to the server `{server}`, which `servers` does not list")]
    UnknownServer {
        /// The port.
        port: String,
        /// The server.
        server: String,
    },
    /// A channel of a task group that the port does not have.
    #[error("port `{port}` lists a channel for the task group `{group}`, which it does not have")]
    UnknownGroup {
        /// The port.
        port: String,
        /// The group.
        group: String,
    },
    /// A number that is not above 0.
    #[error("port `{port}`: `{key}` is {value}, expected a finite number above 0")]
    NotPositive {
        /// The port.
        port: String,
        /// `weight` or `reference`.
        key: &'static str,
        /// The value found.
        value: f64,
    },
    /// Some servers have a capacity and others have none.
    #[error("server `{server}` has no `capacity`, expected one for every server or for none")]
    MissingCapacity {
        /// The first server without.
        server: String,
    },
    /// A port whose jobs are in parts, which wait for nobody, runs at the pace of the slowest.
    #[error("port `{port}`: its jobs are in parts, whose speeds add up; `pace` is \"slowest\"")]
    Pace {
        /// The port.
        port: String,
    },
    /// The cluster as a whole was rejected.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

fn one() -> f64 {
    1.0
}

fn amounts(listed: &[(&str, Amount)]) -> Amounts {
    listed.iter().map(|&(device, amount)| (device.to_owned(), amount)).collect()
}

impl ServerSpec {
    /// A server with these devices and no labels.
    pub fn new(name: &str, capacity: &[(&str, Amount)]) -> Self {
        Self { name: name.to_owned(), labels: Vec::new(), capacity: Some(amounts(capacity)) }
    }
}

impl PortSpec {
    /// Whether its jobs have several tasks whose speeds add up, as in descriptions from before there was a
    /// pace.
    pub fn adds_up(&self) -> bool {
        let several =
            |groups: &[TaskGroupSpec]| groups.iter().map(|group| u64::from(group.count)).sum::<u64>() > 1;
        self.pace == Pace::Sum && matches!(&self.jobs, JobShape::Gang { groups, .. } if several(groups))
    }

    /// A port of weight 1 that may use all servers.
    pub fn new(name: &str, jobs: JobShape) -> Self {
        Self {
            name: name.to_owned(),
            jobs,
            pace: Pace::Sum,
            weight: 1.0,
            reference: None,
            channels: ChannelRule::All,
        }
    }
}

impl JobShape {
    /// A job of up to `count` tasks of one kind, at least `minimum`, that request the same.
    pub fn tasks(count: u32, minimum: u32, request: &[(&str, Amount)]) -> Self {
        let group = TaskGroupSpec { name: "task".to_owned(), count, minimum: 0, request: amounts(request) };
        Self::Gang { minimum, groups: vec![group] }
    }
}
