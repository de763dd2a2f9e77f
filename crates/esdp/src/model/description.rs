//! A cluster as people and drivers describe it: by names and rules.
//!
//! Names are what stays the same from one version of a cluster to the next; positions, which the rest of the library
//! works with, are given out by [`ClusterDescription::cluster`] and hold for one version only.
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

use super::{
    Amount, Capacity, ChannelId, ChannelSpec, Cluster, ClusterError, ClusterSpec, GangSpec, PortId, ServerId,
    SupplyCost, TaskSpec,
};
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
    /// The group of tasks; empty if jobs are no gangs.
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
    /// A port of weight 1 that may use all servers.
    pub fn new(name: &str, jobs: JobShape) -> Self {
        Self { name: name.to_owned(), jobs, weight: 1.0, reference: None, channels: ChannelRule::All }
    }
}

impl JobShape {
    /// A job of up to `count` tasks of one kind, at least `minimum`, that request the same.
    pub fn tasks(count: u32, minimum: u32, request: &[(&str, Amount)]) -> Self {
        let group = TaskGroupSpec { name: "task".to_owned(), count, minimum: 0, request: amounts(request) };
        Self::Gang { minimum, groups: vec![group] }
    }
}

impl ClusterDescription {
    /// Checks the description and gives out positions.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn cluster(&self) -> Result<Cluster, DescriptionError> {
        let mut channels = Vec::new();
        let mut gangs = Vec::new();
        for (index, port) in self.ports.iter().enumerate() {
            for (key, value) in [("weight", Some(port.weight)), ("reference", port.reference)] {
                if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                    return Err(DescriptionError::NotPositive { port: port.name.clone(), key, value });
                }
            }
            if let JobShape::Gang { minimum, groups } = &port.jobs {
                let task = |group: &TaskGroupSpec| TaskSpec {
                    name: group.name.clone(),
                    count: group.count,
                    minimum: group.minimum,
                };
                let tasks = groups.iter().map(task).collect();
                gangs.push(GangSpec { port: index as u32, minimum: *minimum, tasks });
            }
            self.channels(index as u32, port, &mut channels)?;
        }
        let costs = match self.costs.is_empty() {
            true => Vec::new(),
            false => {
                self.check_devices("costs", "costs", self.costs.keys())?;
                self.devices.iter().map(|name| self.costs.get(name).cloned().unwrap_or(SupplyCost::FREE)).collect()
            }
        };
        Ok(Cluster::new(ClusterSpec {
            devices: self.devices.clone(),
            servers: self.servers.iter().map(|server| server.name.clone()).collect(),
            ports: self.ports.iter().map(|port| port.name.clone()).collect(),
            channels,
            capacity: self.limits()?,
            costs,
            gangs,
            labels: self.servers.iter().map(|server| server.labels.clone()).collect(),
        })?)
    }

    fn limits(&self) -> Result<Capacity, DescriptionError> {
        let mut servers = Vec::new();
        for server in &self.servers {
            if let Some(capacity) = &server.capacity {
                servers.push(self.amounts("server", &server.name, capacity)?);
            }
        }
        if !servers.is_empty() && servers.len() < self.servers.len() {
            let server = self.servers.iter().find(|server| server.capacity.is_none());
            return Err(DescriptionError::MissingCapacity { server: server.map_or("", |s| &s.name).to_owned() });
        }
        let cluster = match &self.capacity {
            Some(capacity) => Some(self.amounts("capacity", "of the cluster", capacity)?),
            None => None,
        };
        Ok(match (cluster, servers.is_empty()) {
            (Some(cluster), true) => Capacity::cluster_wide(cluster),
            (None, true) => Capacity::default(),
            (None, false) => Capacity::per_server(servers),
            (Some(cluster), false) => {
                Capacity::cluster_wide(cluster).with_servers(servers).map_err(ClusterError::Capacity)?
            }
        })
    }

    fn channels(&self, index: u32, port: &PortSpec, all: &mut Vec<ChannelSpec>) -> Result<(), DescriptionError> {
        let groups: Vec<(&str, &Amounts)> = match &port.jobs {
            JobShape::Parts { request } => vec![("", request)],
            JobShape::Gang { groups, .. } => groups.iter().map(|group| (&*group.name, &group.request)).collect(),
        };
        if let ChannelRule::Listed(listed) = &port.channels {
            for ListedChannel { server, group, request } in listed {
                let at = self.servers.iter().position(|known| known.name == *server);
                let at = at.ok_or_else(|| DescriptionError::UnknownServer {
                    port: port.name.clone(),
                    server: server.clone(),
                })?;
                let task = groups.iter().position(|known| known.0 == group);
                let task = task
                    .ok_or_else(|| DescriptionError::UnknownGroup { port: port.name.clone(), group: group.clone() })?;
                let request = self.amounts("port", &port.name, request)?;
                all.push(ChannelSpec { port: index, server: at as u32, task: task as u32, request });
            }
            return Ok(());
        }
        for (task, (_, request)) in groups.into_iter().enumerate() {
            let request = self.amounts("port", &port.name, request)?;
            for (server, spec) in self.servers.iter().enumerate() {
                let allowed = match &port.channels {
                    ChannelRule::Labels(labels) => labels.iter().all(|label| spec.labels.contains(label)),
                    ChannelRule::Servers(names) => names.contains(&spec.name),
                    ChannelRule::All | ChannelRule::Listed(_) => true,
                };
                if allowed {
                    let request = request.clone();
                    all.push(ChannelSpec { port: index, server: server as u32, task: task as u32, request });
                }
            }
        }
        Ok(())
    }

    fn amounts(&self, place: &'static str, name: &str, listed: &Amounts) -> Result<Vec<Amount>, DescriptionError> {
        self.check_devices(place, name, listed.keys())?;
        Ok(self.devices.iter().map(|device| listed.get(device).copied().unwrap_or(0)).collect())
    }

    fn check_devices<'a>(
        &self,
        place: &'static str,
        name: &str,
        mut listed: impl Iterator<Item = &'a String>,
    ) -> Result<(), DescriptionError> {
        match listed.find(|device| !self.devices.contains(device)) {
            Some(device) => {
                Err(DescriptionError::UnknownDevice { place, name: name.to_owned(), device: device.clone() })
            }
            None => Ok(()),
        }
    }

    /// The description of a cluster that was built from positions, every channel listed by itself.
    pub fn of(cluster: &Cluster) -> Self {
        let devices = cluster.devices();
        let named = |amounts: &[Amount]| devices.iter().cloned().zip(amounts.iter().copied()).collect::<Amounts>();
        let servers = cluster.servers().iter().enumerate().map(|(index, name)| ServerSpec {
            name: name.clone(),
            labels: cluster.labels(ServerId::at(index)).to_vec(),
            capacity: cluster.capacity().server(ServerId::at(index)).map(named),
        });
        let ports = cluster.ports().iter().enumerate().map(|(index, name)| {
            let port = PortId::at(index);
            let listed = |&id: &ChannelId| ListedChannel {
                server: cluster.servers()[cluster.channel(id).server.index()].clone(),
                group: cluster.group_name(cluster.task_group(id)).to_owned(),
                request: named(cluster.request(id)),
            };
            let groups = cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == port);
            let jobs = match cluster.is_gang(port) {
                false => JobShape::Parts { request: Amounts::new() },
                true => JobShape::Gang {
                    minimum: cluster.minimum(port),
                    groups: groups
                        .map(|(position, group)| TaskGroupSpec {
                            name: cluster.group_name(position).to_owned(),
                            count: group.count,
                            minimum: group.minimum,
                            request: Amounts::new(),
                        })
                        .collect(),
                },
            };
            let channels = ChannelRule::Listed(cluster.channels_of(port).iter().map(listed).collect());
            PortSpec { name: name.clone(), jobs, weight: 1.0, reference: None, channels }
        });
        let costs = cluster.device_costs().iter().zip(devices).map(|(cost, device)| (device.clone(), cost.clone()));
        Self {
            devices: devices.to_vec(),
            servers: servers.collect(),
            ports: ports.collect(),
            capacity: cluster.capacity().cluster().map(named),
            costs: costs.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> ClusterDescription {
        let mut big = ServerSpec::new("n0", &[("cpu", 64), ("gpu", 8)]);
        big.labels = vec!["a100".into()];
        ClusterDescription {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: vec![big, ServerSpec::new("n1", &[("cpu", 64)])],
            ports: vec![
                PortSpec::new("train", JobShape::tasks(4, 2, &[("gpu", 2)])),
                PortSpec {
                    channels: ChannelRule::Labels(vec!["a100".into()]),
                    ..PortSpec::new("serve", JobShape::Parts { request: amounts(&[("cpu", 1)]) })
                },
            ],
            ..ClusterDescription::default()
        }
    }

    #[test]
    fn rules_become_channels() {
        let cluster = described().cluster().unwrap();
        let keys: Vec<_> = (0..3).map(|id| cluster.channel_key(ChannelId(id))).collect();
        let key = |port: &str, group: &str, server: &str| super::super::ChannelKey {
            port: port.into(),
            group: group.into(),
            server: server.into(),
        };
        assert_eq!(keys, [key("train", "task", "n0"), key("train", "task", "n1"), key("serve", "", "n0")]);
        assert_eq!(cluster.request(ChannelId(0)), [0, 2]);
        assert_eq!(cluster.capacity().server(ServerId(1)), Some(&[64, 0][..]));
        let again = ClusterDescription::of(&cluster).cluster().unwrap();
        assert_eq!(again, cluster);
        assert_eq!(again.fingerprint(), cluster.fingerprint());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: fn(&mut ClusterDescription)| {
            let mut described = described();
            change(&mut described);
            described.cluster().unwrap_err().to_string()
        };
        assert_eq!(
            refused(|d| d.devices.truncate(1)),
            "port `train` speaks of the device `gpu`, which `devices` does not list"
        );
        assert_eq!(
            refused(|d| d.ports[1].name = "train".into()),
            "`ports`: the name `train` is used twice, expected unique names"
        );
        assert!(refused(|d| d.servers[1].capacity = None).starts_with("server `n1` has no `capacity`"));
        assert!(refused(|d| d.ports[0].weight = 0.0).starts_with("port `train`: `weight` is 0"));
        assert!(refused(|d| d.ports[0].reference = Some(f64::NAN)).contains("`reference` is NaN"));
        let listed = ListedChannel { server: "n9".into(), group: "task".into(), request: Amounts::new() };
        let mut unknown = described();
        unknown.ports[0].channels = ChannelRule::Listed(vec![listed]);
        assert!(unknown.cluster().unwrap_err().to_string().contains("the server `n9`"));
    }
}
