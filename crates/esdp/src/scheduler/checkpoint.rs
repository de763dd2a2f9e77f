//! A scheduler's whole state as a value, keyed by names, and as a text with a checksum.
//!
//! Version 2 knows the names behind its numbers: it is put back on the cluster it was taken from and on no
//! other, and what it has learned can be given to another cluster by name ([`Checkpoint::experience`],
//! [`Scheduler::merge`](super::Scheduler::merge)). Version 1 knew positions only; such a file is still read,
//! and whoever restores it vouches for the cluster.

use super::text::{self, TextError};
use crate::model::{ChannelId, ChannelKey, Cluster, Slot};
use crate::policy::PolicyState;
use crate::stats::{ChannelRecord, StateError};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use thiserror::Error;

/// The version of [`Checkpoint`] that this library writes. It reads this one and all before.
pub const CHECKPOINT_VERSION: u32 = 2;

/// What the first line of a checkpoint says it is.
const FORMAT: &str = "esdp-checkpoint";

/// Everything a [`Scheduler`](super::Scheduler) needs to go on as if it had never stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The layout's version, [`CHECKPOINT_VERSION`].
    pub version: u32,
    /// The last slot that was decided; 0 before the first.
    pub slot: Slot,
    /// The shape of the cluster it belongs to.
    pub shape: Shape,
    /// The names behind the positions; none in version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<ChannelNames>,
    /// The policy's own state.
    pub policy: PolicyState,
    /// What was seen of channels that are not part of the cluster now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departed: Vec<(ChannelKey, ChannelRecord)>,
}

/// The shape of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The names of a cluster's channels, each name written once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelNames {
    /// [`Cluster::fingerprint`], in hexadecimal digits.
    pub fingerprint: String,
    /// The ports.
    pub ports: Vec<String>,
    /// The names of task groups; the first is empty, for ports whose jobs are not gangs.
    pub groups: Vec<String>,
    /// The servers.
    pub servers: Vec<String>,
    /// Of each channel the port, the task group and the server.
    pub channels: Vec<(u32, u32, u32)>,
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

impl ChannelNames {
    /// The names of a cluster's channels.
    pub fn of(cluster: &Cluster) -> Self {
        let mut groups = vec![String::new()];
        let mut places: HashMap<&str, u32> = HashMap::from([("", 0)]);
        let mut channels = Vec::with_capacity(cluster.channels().len());
        for (index, channel) in cluster.channels().iter().enumerate() {
            let group = cluster.group_name(cluster.task_group(ChannelId::at(index)));
            let group = *places.entry(group).or_insert_with(|| {
                groups.push(group.to_owned());
                groups.len() as u32 - 1
            });
            channels.push((channel.port.0, group, channel.server.0));
        }
        let fingerprint = format!("{:016x}", cluster.fingerprint());
        Self {
            fingerprint,
            ports: cluster.ports().to_vec(),
            groups,
            servers: cluster.servers().to_vec(),
            channels,
        }
    }

    /// The channels by name, in order; none if a name is missing.
    pub fn keys(&self) -> Option<Vec<ChannelKey>> {
        let name = |list: &[String], at: u32| list.get(at as usize).cloned();
        let key = |&(port, group, server): &(u32, u32, u32)| {
            Some(ChannelKey {
                port: name(&self.ports, port)?,
                group: name(&self.groups, group)?,
                server: name(&self.servers, server)?,
            })
        };
        self.channels.iter().map(key).collect()
    }
}

/// Why a [`Checkpoint`] cannot be restored. Fatal for this checkpoint; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// Written by a later version of the library.
    #[error("the checkpoint has version {found}, this library reads versions 1 to {expected}")]
    Version {
        /// The version found.
        found: u32,
        /// The latest version that is read.
        expected: u32,
    },
    /// It belongs to a cluster of another shape.
    #[error("the checkpoint's cluster has {found} {list}, expected {expected}")]
    Shape {
        /// What is counted.
        list: &'static str,
        /// The number in the checkpoint.
        found: usize,
        /// The number in the cluster.
        expected: usize,
    },
    /// It belongs to a cluster of the same shape with other names, requests or labels.
    #[error(
        "the checkpoint belongs to another cluster (fingerprint {found}, expected {expected}); merge it by \
         name instead"
    )]
    OtherCluster {
        /// The fingerprint found.
        found: String,
        /// That of the cluster.
        expected: String,
    },
    /// It has no names, so nothing in it can be found by name.
    #[error("the checkpoint knows no names (version 1): restore it on its own cluster and save it again")]
    NoNames,
    /// A record of a channel is damaged.
    #[error("what was seen of port `{port}` on server `{server}` is damaged")]
    Record {
        /// The channel's port.
        port: String,
        /// Its server.
        server: String,
    },
    /// The policy cannot take its part.
    #[error("checkpoint: {0}")]
    Policy(#[from] StateError),
    /// The text is not a checkpoint.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl Checkpoint {
    /// Checks the version, the cluster and the records.
    pub(super) fn check(&self, cluster: &Cluster) -> Result<(), RestoreError> {
        self.check_version()?;
        let (found, expected) = (self.shape, Shape::of(cluster));
        let lists = [
            ("devices", found.devices, expected.devices),
            ("servers", found.servers, expected.servers),
            ("ports", found.ports, expected.ports),
            ("channels", found.channels, expected.channels),
        ];
        if let Some((list, found, expected)) =
            lists.into_iter().find(|(_, found, expected)| found != expected)
        {
            return Err(RestoreError::Shape { list, found, expected });
        }
        if let Some(names) = &self.names {
            let expected = format!("{:016x}", cluster.fingerprint());
            if names.fingerprint != expected {
                return Err(RestoreError::OtherCluster { found: names.fingerprint.clone(), expected });
            }
        }
        check_records(&self.departed)
    }

    fn check_version(&self) -> Result<(), RestoreError> {
        match self.version {
            1..=CHECKPOINT_VERSION => Ok(()),
            found => Err(RestoreError::Version { found, expected: CHECKPOINT_VERSION }),
        }
    }

    /// What was seen of every channel that was ever used, by name; nothing for policies that learn nothing.
    ///
    /// # Errors
    /// When the checkpoint is of another version, has no names, or is damaged.
    pub fn experience(&self) -> Result<Vec<(ChannelKey, ChannelRecord)>, RestoreError> {
        self.check_version()?;
        let keys = self.names.as_ref().and_then(ChannelNames::keys).ok_or(RestoreError::NoNames)?;
        let records = self.policy.statistics.as_ref().map_or_else(Vec::new, |saved| saved.learned.records());
        let used = keys.into_iter().zip(records).filter(|(_, record)| record.count > 0.0);
        let all: Vec<_> = used.chain(self.departed.iter().cloned()).collect();
        check_records(&all)?;
        Ok(all)
    }

    /// The checkpoint as a text of two lines: what it is, with a checksum; and the values.
    ///
    /// # Errors
    /// When a policy's own value cannot be written.
    pub fn to_text(&self) -> Result<String, TextError> {
        text::write(FORMAT, self.version, self, 0)
    }

    /// Reads a text, or the bare values that version 1 was written as.
    ///
    /// # Errors
    /// When it is not a checkpoint, or is damaged.
    pub fn from_text(text: &str) -> Result<Self, RestoreError> {
        let checkpoint: Self = match text::is_bare(text) {
            true => text::values(FORMAT, text)?,
            false => text::read(FORMAT, CHECKPOINT_VERSION, text)?,
        };
        checkpoint.check_version()?;
        if checkpoint.version > 1 && text::is_bare(text) {
            return Err(TextError::NoHeader { format: FORMAT }.into());
        }
        Ok(checkpoint)
    }
}

fn check_records(records: &[(ChannelKey, ChannelRecord)]) -> Result<(), RestoreError> {
    match records.iter().find(|(_, record)| !record.is_sound()) {
        Some((key, _)) => Err(RestoreError::Record { port: key.port.clone(), server: key.server.clone() }),
        None => Ok(()),
    }
}
