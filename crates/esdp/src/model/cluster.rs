//! The bipartite graph of ports and servers, with requests, capacities and costs.

use super::fnv::Fnv;
use super::gang::Tasks;
use super::{
    Amount, Capacity, CapacityError, ChannelId, CostError, GangError, GangSpec, PortId, ServerId, SupplyCost, TaskGroup,
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Range;
use thiserror::Error;

/// A channel as the user writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSpec {
    /// The port, by position.
    pub port: u32,
    /// The server, by position.
    pub server: u32,
    /// Which group of the port's tasks may use it, for a port whose jobs are gangs; 0 else.
    #[serde(default)]
    pub task: u32,
    /// The request on each device, *a_k^(l,r)*.
    pub request: Vec<Amount>,
}

impl ChannelSpec {
    /// A channel of a port whose jobs are no gangs, or of its gangs' first task group.
    pub fn new(port: u32, server: u32, request: Vec<Amount>) -> Self {
        Self { port, server, task: 0, request }
    }
}

/// A cluster as the user writes it; [`Cluster::new`] checks it. The default is empty, to be filled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// The names of the device types.
    pub devices: Vec<String>,
    /// The names of the servers.
    pub servers: Vec<String>,
    /// The names of the ports.
    pub ports: Vec<String>,
    /// Which port may use which server, and what it then asks for.
    pub channels: Vec<ChannelSpec>,
    /// The devices there are.
    pub capacity: Capacity,
    /// The supply cost of each device; empty means free.
    #[serde(default)]
    pub costs: Vec<SupplyCost>,
    /// The ports whose jobs are gangs; the others' jobs may use each channel once.
    #[serde(default)]
    pub gangs: Vec<GangSpec>,
    /// What is known of each server's kind, from coarse to fine, such as `["v100", "rack 3"]`; empty,
    /// or one list a server, which may be empty.
    #[serde(default)]
    pub labels: Vec<Vec<String>>,
}

/// A port-server pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// The port.
    pub port: PortId,
    /// The server.
    pub server: ServerId,
}

/// A channel by names: what stays the same when a cluster changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChannelKey {
    /// The port.
    pub port: String,
    /// The group of tasks; empty where jobs are no gangs.
    pub group: String,
    /// The server.
    pub server: String,
}

/// A validated cluster. Its lists never change; what is free may differ per slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    devices: Vec<String>,
    servers: Vec<String>,
    ports: Vec<String>,
    channels: Vec<Channel>,
    requests: Vec<Amount>,
    costs: Vec<f64>,
    device_costs: Vec<SupplyCost>,
    capacity: Capacity,
    labels: Vec<Vec<String>>,
    tasks: Tasks,
    port_start: Vec<u32>,
    port_channels: Vec<ChannelId>,
}

/// Why a [`ClusterSpec`] is no cluster. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ClusterError {
    /// A list that must not be empty is.
    #[error("`{list}` is empty, expected at least one entry")]
    Empty {
        /// The list's name.
        list: &'static str,
    },
    /// A list is longer than 32-bit ids can tell apart.
    #[error("`{list}` has {found} entries, at most {limit} are accepted", limit = u32::MAX)]
    TooLong {
        /// The list's name.
        list: &'static str,
        /// Its length.
        found: usize,
    },
    /// Two entries of a list have the same name.
    #[error("`{list}`: the name `{name}` is used twice, expected unique names")]
    SameName {
        /// The list's name.
        list: &'static str,
        /// The name found twice.
        name: String,
    },
    /// A channel names a port or a server that does not exist.
    #[error("channel {channel}: `{field}` is {value}, expected less than {limit}")]
    UnknownEnd {
        /// The channel's position.
        channel: usize,
        /// `port` or `server`.
        field: &'static str,
        /// The value found.
        value: u32,
        /// The number of ports or servers.
        limit: usize,
    },
    /// A channel's request has the wrong length.
    #[error("channel {channel}: `request` lists {found} devices, expected {expected}")]
    Request {
        /// The channel's position.
        channel: usize,
        /// Entries found.
        found: usize,
        /// The number of device types.
        expected: usize,
    },
    /// The same port-server pair twice, for the same tasks.
    #[error("channel {channel}: port {port} and server {server} are joined by an earlier channel already")]
    Duplicate {
        /// The later channel's position.
        channel: usize,
        /// Its port.
        port: u32,
        /// Its server.
        server: u32,
    },
    /// The capacity does not fit the devices and servers.
    #[error("capacity: {0}")]
    Capacity(#[from] CapacityError),
    /// A gang does not fit.
    #[error("gangs: {0}")]
    Gang(#[from] GangError),
    /// The number of label lists is neither 0 nor the number of servers.
    #[error("`labels` has {found} entries, expected none or {expected}, one a server")]
    Labels {
        /// Entries found.
        found: usize,
        /// The number of servers.
        expected: usize,
    },
    /// The number of supply costs is neither 0 nor the number of devices.
    #[error("`costs` has {found} entries, expected none or {expected}, one a device")]
    Costs {
        /// Entries found.
        found: usize,
        /// The number of device types.
        expected: usize,
    },
    /// A supply cost is malformed.
    #[error("cost of device {device}: {source}")]
    Cost {
        /// The device's position.
        device: usize,
        /// What is wrong.
        source: CostError,
    },
    /// A channel's total supply cost is not finite.
    #[error("channel {channel}: the supply cost of its request is not a finite number")]
    CostOverflow {
        /// The channel's position.
        channel: usize,
    },
}

impl Cluster {
    /// Checks a specification and builds the cluster.
    ///
    /// # Errors
    /// With the first thing that is wrong, see [`ClusterError`].
    pub fn new(spec: ClusterSpec) -> Result<Self, ClusterError> {
        let ClusterSpec { devices, servers, ports, channels, capacity, costs, gangs, mut labels } = spec;
        let lists = [
            ("devices", devices.len()),
            ("servers", servers.len()),
            ("ports", ports.len()),
            ("channels", channels.len()),
        ];
        for (list, found) in lists {
            if found == 0 {
                return Err(ClusterError::Empty { list });
            }
            if u32::try_from(found).is_err() {
                return Err(ClusterError::TooLong { list, found });
            }
        }
        for (list, names) in [("devices", &devices), ("servers", &servers), ("ports", &ports)] {
            let mut seen = HashSet::with_capacity(names.len());
            if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
                return Err(ClusterError::SameName { list, name: name.clone() });
            }
        }
        capacity.check(devices.len(), servers.len())?;
        if !costs.is_empty() && costs.len() != devices.len() {
            return Err(ClusterError::Costs { found: costs.len(), expected: devices.len() });
        }
        if !labels.is_empty() && labels.len() != servers.len() {
            return Err(ClusterError::Labels { found: labels.len(), expected: servers.len() });
        }
        labels.resize(servers.len(), Vec::new());
        for (device, cost) in costs.iter().enumerate() {
            cost.check().map_err(|source| ClusterError::Cost { device, source })?;
        }

        let mut seen = HashSet::with_capacity(channels.len());
        let mut pairs = Vec::with_capacity(channels.len());
        let mut requests = Vec::with_capacity(channels.len() * devices.len());
        let mut supply = Vec::with_capacity(channels.len());
        for (position, channel) in channels.iter().enumerate() {
            let ends = [("port", channel.port, ports.len()), ("server", channel.server, servers.len())];
            for (field, value, limit) in ends {
                if value as usize >= limit {
                    return Err(ClusterError::UnknownEnd { channel: position, field, value, limit });
                }
            }
            if channel.request.len() != devices.len() {
                let found = channel.request.len();
                return Err(ClusterError::Request { channel: position, found, expected: devices.len() });
            }
            if !seen.insert((channel.port, channel.task, channel.server)) {
                let (port, server) = (channel.port, channel.server);
                return Err(ClusterError::Duplicate { channel: position, port, server });
            }
            let cost: f64 = costs.iter().zip(&channel.request).map(|(f, &a)| f.at(a)).sum();
            if !cost.is_finite() {
                return Err(ClusterError::CostOverflow { channel: position });
            }
            pairs.push(Channel { port: PortId(channel.port), server: ServerId(channel.server) });
            requests.extend_from_slice(&channel.request);
            supply.push(cost);
        }
        let tasks = Tasks::new(&gangs, &channels, ports.len())?;
        let (port_start, port_channels) = by_port(&pairs, ports.len());
        Ok(Self {
            devices,
            servers,
            ports,
            channels: pairs,
            requests,
            costs: supply,
            device_costs: costs,
            capacity,
            labels,
            tasks,
            port_start,
            port_channels,
        })
    }

    /// The names of the device types.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// The names of the servers.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// The names of the ports.
    pub fn ports(&self) -> &[String] {
        &self.ports
    }

    /// All channels, in the order of their ids.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// One channel's port and server.
    pub fn channel(&self, id: ChannelId) -> Channel {
        self.channels[id.index()]
    }

    /// The channels of one port, in the order of their ids.
    pub fn channels_of(&self, port: PortId) -> &[ChannelId] {
        let (from, to) = (self.port_start[port.index()], self.port_start[port.index() + 1]);
        &self.port_channels[from as usize..to as usize]
    }

    /// A channel's request on every device, *a^(l,r)*.
    pub fn request(&self, id: ChannelId) -> &[Amount] {
        let devices = self.devices.len();
        &self.requests[id.index() * devices..][..devices]
    }

    /// A channel's supply cost, the sum over devices of *f_k(a_k)*.
    pub fn cost(&self, id: ChannelId) -> f64 {
        self.costs[id.index()]
    }

    /// The supply cost of each device; empty if all are free.
    pub fn device_costs(&self) -> &[SupplyCost] {
        &self.device_costs
    }

    /// The net utility of a channel that ran with computation utility `speed`:
    /// *Z - sum f_k(a_k)*, clipped to [0, 1] as the paper normalises it.
    pub fn net_utility(&self, id: ChannelId, speed: f64) -> f64 {
        (speed - self.cost(id)).clamp(0.0, 1.0)
    }

    /// What is known of a server's kind, from coarse to fine.
    pub fn labels(&self, server: ServerId) -> &[String] {
        &self.labels[server.index()]
    }

    /// All task groups. A port that is no gang has one for each of its channels.
    pub fn task_groups(&self) -> &[TaskGroup] {
        self.tasks.groups()
    }

    /// The name of a task group, by its position; empty where jobs are no gangs.
    pub fn group_name(&self, group: usize) -> &str {
        self.tasks.name(group)
    }

    /// The ports with a task group that has a minimum of its own, each with the positions of its groups.
    pub fn group_minima(&self) -> &[(PortId, Range<usize>)] {
        self.tasks.with_minima()
    }

    /// A channel by names.
    pub fn channel_key(&self, id: ChannelId) -> ChannelKey {
        let Channel { port, server } = self.channel(id);
        ChannelKey {
            port: self.ports[port.index()].clone(),
            group: self.group_name(self.task_group(id)).to_owned(),
            server: self.servers[server.index()].clone(),
        }
    }

    /// A number that tells clusters apart: of names, channels, requests, task groups and labels. Capacities and
    /// costs are not in it, since they may change under what was learned.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        for names in [&self.devices, &self.servers, &self.ports] {
            hash.number(names.len() as u64);
            names.iter().for_each(|name| hash.text(name));
        }
        for (index, channel) in self.channels.iter().enumerate() {
            let id = ChannelId::at(index);
            hash.number(u64::from(channel.port.0));
            hash.number(u64::from(channel.server.0));
            hash.text(self.group_name(self.task_group(id)));
            self.request(id).iter().for_each(|&amount| hash.number(amount));
        }
        for group in self.tasks.groups() {
            [group.port.0, group.count, group.minimum].into_iter().for_each(|part| hash.number(u64::from(part)));
        }
        for labels in &self.labels {
            hash.number(labels.len() as u64);
            labels.iter().for_each(|label| hash.text(label));
        }
        hash.finish()
    }

    /// The position of a channel's task group.
    pub fn task_group(&self, id: ChannelId) -> usize {
        self.tasks.of(id)
    }

    /// The least number of tasks that a job of a port starts with, *m_l*; 1 where jobs are no gangs.
    pub fn minimum(&self, port: PortId) -> u32 {
        self.tasks.minimum(port)
    }

    /// Whether a port's jobs are gangs.
    pub fn is_gang(&self, port: PortId) -> bool {
        self.tasks.is_gang(port)
    }

    /// Whether any port's jobs are gangs.
    pub fn has_gangs(&self) -> bool {
        self.tasks.any_gang()
    }

    /// The devices there are.
    pub fn capacity(&self) -> &Capacity {
        &self.capacity
    }
}

/// The channels of each port, as offsets into one list.
fn by_port(channels: &[Channel], ports: usize) -> (Vec<u32>, Vec<ChannelId>) {
    let mut start = vec![0u32; ports + 1];
    for channel in channels {
        start[channel.port.index() + 1] += 1;
    }
    for port in 0..ports {
        start[port + 1] += start[port];
    }
    let mut next = start.clone();
    let mut list = vec![ChannelId(0); channels.len()];
    for (index, channel) in channels.iter().enumerate() {
        let place = &mut next[channel.port.index()];
        list[*place as usize] = ChannelId::at(index);
        *place += 1;
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ClusterSpec {
        let channel = |port, server, request: [u64; 2]| ChannelSpec::new(port, server, request.to_vec());
        ClusterSpec {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: vec!["a".into(), "b".into()],
            ports: vec!["train".into(), "serve".into()],
            channels: vec![channel(1, 0, [1, 2]), channel(0, 1, [2, 1]), channel(1, 1, [1, 1])],
            capacity: Capacity::cluster_wide(vec![6, 5]),
            costs: vec![SupplyCost::Linear { fixed: 0.0, rate: 0.1 }, SupplyCost::FREE],
            ..ClusterSpec::default()
        }
    }

    #[test]
    fn a_valid_cluster_is_indexed() {
        let cluster = Cluster::new(spec()).unwrap();
        assert_eq!(cluster.channels_of(PortId(0)), [ChannelId(1)]);
        assert_eq!(cluster.channels_of(PortId(1)), [ChannelId(0), ChannelId(2)]);
        assert_eq!(cluster.request(ChannelId(1)), [2, 1]);
        assert_eq!(cluster.cost(ChannelId(1)), 0.2);
        assert_eq!(cluster.net_utility(ChannelId(1), 0.5), 0.3);
        assert_eq!(cluster.net_utility(ChannelId(1), 0.1), 0.0);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: fn(&mut ClusterSpec)| {
            let mut spec = spec();
            change(&mut spec);
            Cluster::new(spec).unwrap_err().to_string()
        };
        assert_eq!(
            refused(|s| s.servers[1] = "a".into()),
            "`servers`: the name `a` is used twice, expected unique names"
        );
        assert_eq!(refused(|s| s.channels.clear()), "`channels` is empty, expected at least one entry");
        assert_eq!(refused(|s| s.channels[2].server = 2), "channel 2: `server` is 2, expected less than 2");
        assert_eq!(refused(|s| s.channels[0].request.truncate(1)), "channel 0: `request` lists 1 devices, expected 2");
        assert_eq!(refused(|s| drop(s.costs.pop())), "`costs` has 1 entries, expected none or 2, one a device");
        assert!(refused(|s| s.channels[2].server = 0).contains("joined by an earlier channel already"));
        assert!(refused(|s| s.capacity = Capacity::default()).starts_with("capacity: no capacity"));
        assert!(refused(|s| s.costs[1] = SupplyCost::Step { per: 0, cost: 0.0 }).starts_with("cost of device 1"));
        assert!(
            refused(|s| s.costs[0] = SupplyCost::Power { rate: f64::MAX, exponent: 9.0 })
                .contains("not a finite number")
        );
    }
}
