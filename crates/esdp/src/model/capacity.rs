//! How many devices there are, or are still free.

use super::ServerId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A number of devices of one type. Whole units: cores, GiB, GPUs.
pub type Amount = u64;

/// Device limits: over the whole cluster (the paper's *c_k*), per server
/// (*c_kr*), or both. A level that is absent does not limit; where both are there, one of them
/// may be [`UNLIMITED`](Self::UNLIMITED) for a device.
///
/// The same type says what exists ([`Cluster::capacity`](super::Cluster::capacity))
/// and what is free in a slot ([`SlotView::free`](super::SlotView::free)), because a
/// live cluster's free devices change from slot to slot.
///
/// ```
/// use esdp::model::{Capacity, ServerId};
///
/// let both = Capacity::cluster_wide(vec![6, 5]).with_servers(vec![vec![4, 2], vec![4, 4]])?;
/// assert_eq!(both.cluster(), Some(&[6, 5][..]));
/// assert_eq!(both.server(ServerId(1)), Some(&[4, 4][..]));
/// # Ok::<(), esdp::model::CapacityError>(())
/// ```
#[derive(Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster: Option<Vec<Amount>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    servers: Option<Vec<Vec<Amount>>>,
}

impl Clone for Capacity {
    fn clone(&self) -> Self {
        Self { cluster: self.cluster.clone(), servers: self.servers.clone() }
    }

    /// Without an allocation if the lengths are the same, as they are from slot to slot.
    fn clone_from(&mut self, source: &Self) {
        self.cluster.clone_from(&source.cluster);
        self.servers.clone_from(&source.servers);
    }
}

/// Why a [`Capacity`] does not fit. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CapacityError {
    /// Neither a cluster-wide nor a per-server limit is given.
    #[error("no capacity is given: give `cluster`, `servers` or both")]
    Missing,
    /// The cluster-wide list has the wrong length.
    #[error("the cluster-wide capacity lists {found} devices, expected {expected}")]
    Devices {
        /// Entries found.
        found: usize,
        /// The number of device types.
        expected: usize,
    },
    /// The per-server list has the wrong number of servers.
    #[error("the per-server capacity lists {found} servers, expected {expected}")]
    Servers {
        /// Entries found.
        found: usize,
        /// The number of servers.
        expected: usize,
    },
    /// One server's list has the wrong length.
    #[error("the capacity of {server} lists {found} devices, expected {expected}")]
    ServerDevices {
        /// The server.
        server: ServerId,
        /// Entries found.
        found: usize,
        /// The number of device types.
        expected: usize,
    },
}

impl Capacity {
    /// The amount of a device that a level does not limit: of a server, if the device belongs to the cluster
    /// as a whole (a floating licence), or of the cluster, if it belongs to the servers.
    pub const UNLIMITED: Amount = Amount::MAX;

    /// A limit over the whole cluster, one entry per device.
    pub fn cluster_wide(amounts: Vec<Amount>) -> Self {
        Self { cluster: Some(amounts), servers: None }
    }

    /// A limit per server: `amounts[r][k]`.
    pub fn per_server(amounts: Vec<Vec<Amount>>) -> Self {
        Self { cluster: None, servers: Some(amounts) }
    }

    /// Adds per-server limits.
    ///
    /// # Errors
    /// When a server lists another number of devices than the cluster-wide limit.
    pub fn with_servers(mut self, amounts: Vec<Vec<Amount>>) -> Result<Self, CapacityError> {
        let devices = self.cluster.as_ref().or(amounts.first()).map_or(0, Vec::len);
        self.servers = Some(amounts);
        let servers = self.servers.as_ref().map_or(0, Vec::len);
        self.check(devices, servers)?;
        Ok(self)
    }

    /// The cluster-wide limit, if there is one.
    pub fn cluster(&self) -> Option<&[Amount]> {
        self.cluster.as_deref()
    }

    /// The cluster-wide limit, to be updated in place between slots.
    pub fn cluster_mut(&mut self) -> Option<&mut [Amount]> {
        self.cluster.as_deref_mut()
    }

    /// Whether servers have limits of their own.
    pub fn has_servers(&self) -> bool {
        self.servers.is_some()
    }

    /// One server's own limit, if servers have one.
    pub fn server(&self, server: ServerId) -> Option<&[Amount]> {
        self.servers.as_ref().map(|all| all[server.index()].as_slice())
    }

    /// One server's own limit, to be updated in place between slots.
    pub fn server_mut(&mut self, server: ServerId) -> Option<&mut [Amount]> {
        self.servers.as_mut().map(|all| all[server.index()].as_mut_slice())
    }

    /// The same, and none where there is no such server.
    pub fn try_server_mut(&mut self, server: ServerId) -> Option<&mut [Amount]> {
        self.servers.as_mut()?.get_mut(server.index()).map(Vec::as_mut_slice)
    }

    /// Checks the lengths against a cluster's.
    ///
    /// # Errors
    /// When a list is missing or has another length.
    pub fn check(&self, devices: usize, servers: usize) -> Result<(), CapacityError> {
        if self.cluster.is_none() && self.servers.is_none() {
            return Err(CapacityError::Missing);
        }
        if let Some(cluster) = &self.cluster
            && cluster.len() != devices
        {
            return Err(CapacityError::Devices { found: cluster.len(), expected: devices });
        }
        if let Some(all) = &self.servers {
            if all.len() != servers {
                return Err(CapacityError::Servers { found: all.len(), expected: servers });
            }
            for (index, amounts) in all.iter().enumerate() {
                if amounts.len() != devices {
                    return Err(CapacityError::ServerDevices {
                        server: ServerId::at(index),
                        found: amounts.len(),
                        expected: devices,
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_checked() {
        assert_eq!(Capacity::default().check(1, 1), Err(CapacityError::Missing));
        let short = Capacity::cluster_wide(vec![1]);
        assert_eq!(short.check(2, 1), Err(CapacityError::Devices { found: 1, expected: 2 }));
        let ragged = Capacity::per_server(vec![vec![1, 1], vec![1]]);
        let expected = CapacityError::ServerDevices { server: ServerId(1), found: 1, expected: 2 };
        assert_eq!(ragged.check(2, 2), Err(expected));
        assert_eq!(ragged.check(2, 3), Err(CapacityError::Servers { found: 2, expected: 3 }));
        assert!(Capacity::cluster_wide(vec![1]).with_servers(vec![vec![1, 2]]).is_err());
    }
}
