//! What a slot is about: devices, servers, ports, channels, requests,
//! capacities, supply costs, arrivals and observations.
//!
//! Everything here is plain, validated data. A [`Cluster`] is checked once, when
//! it is built; the rest of the library relies on it.

mod capacity;
mod cluster;
mod cost;
mod gang;
mod ids;
mod slot;

pub use capacity::{Amount, Capacity, CapacityError};
pub use cluster::{Channel, ChannelSpec, Cluster, ClusterError, ClusterSpec};
pub use cost::{CostError, SupplyCost};
pub use gang::{GangError, GangSpec, Muster, TaskGroup};
pub use ids::{ChannelId, DeviceId, PortId, ServerId, Slot};
pub use slot::{Arrivals, Observation, Outcome, SlotView};
