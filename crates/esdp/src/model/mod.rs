//! What a slot is about: devices, servers, ports, channels, requests,
//! capacities, supply costs, arrivals and observations.
//!
//! Everything here is plain, validated data. A [`Cluster`] is checked once, when
//! it is built; the rest of the library relies on it.

mod capacity;
mod cluster;
mod cost;
mod description;
mod fnv;
mod gang;
mod ids;
mod pace;
mod remap;
mod room;
mod slot;

pub use capacity::{Amount, Capacity, CapacityError};
pub use cluster::{Channel, ChannelKey, ChannelSpec, Cluster, ClusterError, ClusterSpec};
pub use cost::{CostError, SupplyCost};
pub use description::{
    Amounts, ChannelRule, ClusterDescription, DescriptionError, JobShape, ListedChannel, PortSpec,
    ServerSpec, TaskGroupSpec,
};
pub use fnv::Fnv;
pub use gang::{FewestJobs, GangError, GangSpec, PlacedJob, TaskGroup, TaskSpec};
pub use ids::{ChannelId, DeviceId, JobId, PortId, ServerId, Slot, Ticket};
pub use pace::{Pace, PaceWord};
pub use remap::{ClusterChange, Remap};
pub use room::Room;
pub use slot::{Arrivals, Observation, Outcome, SlotView};

/// The version, and a hash of the library's sources: results of the same build come from the same algorithms.
/// Versions of dependencies are not in it.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ESDP_SOURCES"));
