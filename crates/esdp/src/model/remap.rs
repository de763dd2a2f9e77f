//! From one version of a cluster to the next: who is where now, by name.

use super::{ChannelId, Cluster, DeviceId, PortId, ServerId};
use std::collections::HashMap;

/// A cluster that becomes another.
#[derive(Debug, Clone)]
pub struct ClusterChange<'a> {
    /// The version that was.
    pub old: &'a Cluster,
    /// The version that comes.
    pub new: &'a Cluster,
    /// The way from one to the other.
    pub remap: Remap,
}

impl<'a> ClusterChange<'a> {
    /// From one version to the next.
    pub fn new(old: &'a Cluster, new: &'a Cluster) -> Self {
        Self { old, new, remap: Remap::between(old, new) }
    }
}

/// Where the parts of a cluster are in its next version. A part that keeps its name is the same part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remap {
    devices: Vec<Option<DeviceId>>,
    servers: Vec<Option<ServerId>>,
    ports: Vec<Option<PortId>>,
    channels: Vec<Option<ChannelId>>,
    /// The old place of each new channel and server.
    old_channels: Vec<Option<ChannelId>>,
    old_servers: Vec<Option<ServerId>>,
}

impl Remap {
    /// The way from one version to the next.
    pub fn between(old: &Cluster, new: &Cluster) -> Self {
        let servers: Vec<Option<ServerId>> = by_name(old.servers(), new.servers(), ServerId::at);
        let ports: Vec<Option<PortId>> = by_name(old.ports(), new.ports(), PortId::at);
        let mut places: HashMap<(PortId, ServerId, &str), ChannelId> =
            HashMap::with_capacity(new.channels().len());
        for (index, channel) in new.channels().iter().enumerate() {
            let id = ChannelId::at(index);
            places.insert((channel.port, channel.server, new.group_name(new.task_group(id))), id);
        }
        let mut old_channels = vec![None; new.channels().len()];
        let mut channels = Vec::with_capacity(old.channels().len());
        for (index, channel) in old.channels().iter().enumerate() {
            let id = ChannelId::at(index);
            let ends = ports[channel.port.index()].zip(servers[channel.server.index()]);
            let place = ends.and_then(|(port, server)| {
                places.get(&(port, server, old.group_name(old.task_group(id)))).copied()
            });
            if let Some(place) = place {
                old_channels[place.index()] = Some(id);
            }
            channels.push(place);
        }
        let mut old_servers = vec![None; new.servers().len()];
        for (index, place) in servers.iter().enumerate() {
            if let Some(place) = place {
                old_servers[place.index()] = Some(ServerId::at(index));
            }
        }
        let devices = by_name(old.devices(), new.devices(), DeviceId::at);
        Self { devices, servers, ports, channels, old_channels, old_servers }
    }

    /// Where a device is now.
    pub fn device(&self, old: DeviceId) -> Option<DeviceId> {
        self.devices[old.index()]
    }

    /// Where a server is now.
    pub fn server(&self, old: ServerId) -> Option<ServerId> {
        self.servers[old.index()]
    }

    /// Where a port is now.
    pub fn port(&self, old: PortId) -> Option<PortId> {
        self.ports[old.index()]
    }

    /// Where a channel is now.
    pub fn channel(&self, old: ChannelId) -> Option<ChannelId> {
        self.channels[old.index()]
    }

    /// The old place of every channel of the next version, in its order; none for newcomers.
    pub fn old_channels(&self) -> &[Option<ChannelId>] {
        &self.old_channels
    }

    /// The old place of every server of the next version, in its order; none for newcomers.
    pub fn old_servers(&self) -> &[Option<ServerId>] {
        &self.old_servers
    }

    /// The channels that are no more.
    pub fn left(&self) -> impl Iterator<Item = ChannelId> + '_ {
        self.channels
            .iter()
            .enumerate()
            .filter(|(_, place)| place.is_none())
            .map(|(index, _)| ChannelId::at(index))
    }
}

fn by_name<T>(old: &[String], new: &[String], at: impl Fn(usize) -> T) -> Vec<Option<T>> {
    let places: HashMap<&str, usize> =
        new.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    old.iter().map(|name| places.get(name.as_str()).map(|&index| at(index))).collect()
}
