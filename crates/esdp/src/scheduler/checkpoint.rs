//! A scheduler's whole state as a value.

use crate::model::{Cluster, Slot};
use crate::policy::PolicyState;
use crate::stats::StateError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of [`Checkpoint`] that this library writes and reads.
pub const CHECKPOINT_VERSION: u32 = 1;

/// Everything a [`Scheduler`](super::Scheduler) needs to go on as if it had never stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The layout's version, [`CHECKPOINT_VERSION`].
    pub version: u32,
    /// The last slot that was decided; 0 before the first.
    pub slot: Slot,
    /// The shape of the cluster it belongs to.
    pub shape: Shape,
    /// The policy's own state.
    pub policy: PolicyState,
}

/// The shape of a cluster: a checkpoint fits no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The number of device types.
    pub devices: usize,
    /// The number of servers.
    pub servers: usize,
    /// The number of ports.
    pub ports: usize,
    /// The number of channels.
    pub channels: usize,
}

impl Shape {
    /// A cluster's shape.
    pub fn of(cluster: &Cluster) -> Self {
        Self {
            devices: cluster.devices().len(),
            servers: cluster.servers().len(),
            ports: cluster.ports().len(),
            channels: cluster.channels().len(),
        }
    }
}

/// Why a [`Checkpoint`] cannot be restored. Fatal for this checkpoint; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// Written by another version of the library.
    #[error("the checkpoint has version {found}, this library reads version {expected}")]
    Version {
        /// The version found.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// It belongs to another cluster.
    #[error("the checkpoint's cluster has {found} {list}, expected {expected}")]
    Shape {
        /// What is counted.
        list: &'static str,
        /// The number in the checkpoint.
        found: usize,
        /// The number in the cluster.
        expected: usize,
    },
    /// The policy cannot take its part.
    #[error("checkpoint: {0}")]
    Policy(#[from] StateError),
}

impl Checkpoint {
    /// Checks the version and the shape.
    pub(super) fn check(&self, cluster: &Cluster) -> Result<(), RestoreError> {
        if self.version != CHECKPOINT_VERSION {
            return Err(RestoreError::Version { found: self.version, expected: CHECKPOINT_VERSION });
        }
        let (found, expected) = (self.shape, Shape::of(cluster));
        let lists = [
            ("devices", found.devices, expected.devices),
            ("servers", found.servers, expected.servers),
            ("ports", found.ports, expected.ports),
            ("channels", found.channels, expected.channels),
        ];
        match lists.into_iter().find(|(_, found, expected)| found != expected) {
            Some((list, found, expected)) => Err(RestoreError::Shape { list, found, expected }),
            None => Ok(()),
        }
    }
}
