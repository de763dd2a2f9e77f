//! From names to the positions of the cluster's version at hand.

use super::event::EventError;
use crate::model::{ChannelId, Cluster, PortId, ServerId};
use std::collections::HashMap;

/// Where the parts of a cluster are.
#[derive(Debug, Clone)]
pub(super) struct Names {
    ports: HashMap<String, PortId>,
    servers: HashMap<String, ServerId>,
    channels: HashMap<(PortId, ServerId), Vec<ChannelId>>,
}

impl Names {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let mut channels: HashMap<_, Vec<ChannelId>> = HashMap::with_capacity(cluster.channels().len());
        for (index, channel) in cluster.channels().iter().enumerate() {
            channels.entry((channel.port, channel.server)).or_default().push(ChannelId::at(index));
        }
        let ports = cluster.ports().iter().enumerate().map(|(index, name)| (name.clone(), PortId::at(index)));
        let servers = cluster.servers().iter().enumerate().map(|(index, name)| (name.clone(), ServerId::at(index)));
        Self { ports: ports.collect(), servers: servers.collect(), channels }
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
        let found = self.channels.get(&(self.port(port)?, self.server(server)?));
        found
            .map(Vec::as_slice)
            .ok_or_else(|| EventError::NoChannel { port: port.to_owned(), server: server.to_owned() })
    }
}
