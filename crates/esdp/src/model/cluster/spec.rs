//! A cluster as the user writes it, and why one was rejected.

use crate::model::{Amount, Capacity, CapacityError, CostError, GangError, GangSpec, SupplyCost};
use serde::{Deserialize, Serialize};
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
    /// A channel of a port whose jobs are not gangs, or of its gangs' first task group.
    pub fn new(port: u32, server: u32, request: Vec<Amount>) -> Self {
        Self { port, server, task: 0, request }
    }
}

/// A cluster as the user writes it; [`Cluster::new`](super::Cluster::new) checks it. The default is empty, to
/// be filled.
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
    /// The supply cost of each channel, in place of what its request costs by device; empty, or one a
    /// channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channel_costs: Vec<f64>,
    /// The ports whose jobs are gangs; the others' jobs may use each channel once.
    #[serde(default)]
    pub gangs: Vec<GangSpec>,
    /// What is known of each server's kind, from coarse to fine, such as `["v100", "rack 3"]`; empty,
    /// or one list a server, which may be empty.
    #[serde(default)]
    pub labels: Vec<Vec<String>>,
}

/// Why a [`ClusterSpec`] was rejected. Fatal: the caller's data is wrong.
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
    #[error("`labels` has length {found}, expected 0 or {expected} (one per server)")]
    Labels {
        /// Entries found.
        found: usize,
        /// The number of servers.
        expected: usize,
    },
    /// The number of supply costs is neither 0 nor the number of devices.
    #[error("`costs` has length {found}, expected 0 or {expected} (one per device)")]
    Costs {
        /// Entries found.
        found: usize,
        /// The number of device types.
        expected: usize,
    },
    /// The number of channels' costs is neither 0 nor the number of channels.
    #[error("`channel_costs` has length {found}, expected 0 or {expected} (one per channel)")]
    ChannelCosts {
        /// Entries found.
        found: usize,
        /// The number of channels.
        expected: usize,
    },
    /// A channel's cost is NaN, infinite or negative.
    #[error("`channel_costs[{channel}]` is {value}, expected a finite number of at least 0")]
    ChannelCost {
        /// The channel's position.
        channel: usize,
        /// The value found.
        value: f64,
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
