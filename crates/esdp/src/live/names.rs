//! From names to the positions of the cluster's version at hand.

use super::event::EventError;
use crate::model::{ChannelId, Cluster, PortId, ServerId};
use std::collections::HashMap;

/// Where the parts of a cluster are.
#[derive(Debug, Clone)]
pub(super) struct Names {
    ports: HashMap<String, PortId>,
    servers: HashMap<String, ServerId>,
    /// The ends of the channels, ascending, and the channels in the same order: a list for each pair would be
    /// an allocation for each, which is most of what a restore takes.
    ends: Vec<(PortId, ServerId)>,
    channels: Vec<ChannelId>,
}

impl Names {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let end = |id: ChannelId| (cluster.channel(id).port, cluster.channel(id).server);
        let mut channels: Vec<ChannelId> = (0..cluster.channels().len()).map(ChannelId::at).collect();
        channels.sort_by_key(|&id| end(id));
        let ends = channels.iter().map(|&id| end(id)).collect();
        let ports = cluster.ports().iter().enumerate().map(|(index, name)| (name.clone(), PortId::at(index)));
        let servers =
            cluster.servers().iter().enumerate().map(|(index, name)| (name.clone(), ServerId::at(index)));
        Self { ports: ports.collect(), servers: servers.collect(), ends, channels }
    }

    pub(super) fn port(&self, name: &str) -> Result<PortId, EventError> {
        let unknown = || EventError::Unknown { what: "port", name: name.to_owned() };
        self.ports.get(name).copied().ok_or_else(unknown)
    }

    pub(super) fn server(&self, name: &str) -> Result<ServerId, EventError> {
        let unknown = || EventError::Unknown { what: "server", name: name.to_owned() };
        self.servers.get(name).copied().ok_or_else(unknown)
    }

    /// The channels of a port to a server, one for each task group.
    pub(super) fn channels(&self, port: &str, server: &str) -> Result<&[ChannelId], EventError> {
        let end = (self.port(port)?, self.server(server)?);
        let first = self.ends.partition_point(|other| *other < end);
        let count = self.ends[first..].iter().take_while(|other| **other == end).count();
        match count {
            0 => Err(EventError::NoChannel { port: port.to_owned(), server: server.to_owned() }),
            _ => Ok(&self.channels[first..first + count]),
        }
    }
}
