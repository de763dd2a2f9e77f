//! The bipartite graph of ports and servers, with requests, capacities and costs.

mod build;
mod spec;

pub use spec::{ChannelSpec, ClusterError, ClusterSpec};

use super::fnv::Fnv;
use super::gang::Tasks;
use super::{Amount, Capacity, ChannelId, Pace, PortId, ServerId, SupplyCost, TaskGroup};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// The group of tasks; empty where jobs are not gangs.
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

impl Cluster {
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

    /// All task groups. A port whose jobs are not gangs has one for each of its channels.
    pub fn task_groups(&self) -> &[TaskGroup] {
        self.tasks.groups()
    }

    /// The name of a task group, by its position; empty where jobs are not gangs.
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

    /// A number that tells clusters apart: of names, channels, requests, task groups and labels. Capacities
    /// and costs are not in it, since they may change under what was learned.
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
            [group.port.0, group.count, group.minimum]
                .into_iter()
                .for_each(|part| hash.number(u64::from(part)));
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

    /// The least number of tasks that a job of a port starts with, *m_l*; 1 where jobs are not gangs.
    pub fn minimum(&self, port: PortId) -> u32 {
        self.tasks.minimum(port)
    }

    /// Whether a port's jobs are gangs.
    pub fn is_gang(&self, port: PortId) -> bool {
        self.tasks.is_gang(port)
    }

    /// How fast a port's jobs run. The speeds of tasks add up where jobs are no gangs or have one task.
    pub fn pace(&self, port: PortId) -> Pace {
        self.tasks.pace(port)
    }

    /// Whether any port's jobs run at the speed of their slowest task.
    pub fn has_slowest(&self) -> bool {
        self.tasks.any_slowest()
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
