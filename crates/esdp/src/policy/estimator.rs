//! What a policy's index stands on: each channel by itself, or channels that learn from each other.

use crate::model::Cluster;
use crate::stats::{Means, Pooled, Statistics};
use serde::{Deserialize, Serialize};

/// How a policy estimates its channels. See `docs/policies/pooled.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// The average of each channel by itself, as in the paper; what was never tried is tried first.
    Means,
    /// Channels are judged by others of their port, on servers of their labels: [`Pooled`].
    Pooled,
    /// The same without looking at labels.
    PooledByPort,
}

impl Estimator {
    /// The statistics of a cluster's channels, before the first slot.
    pub(super) fn statistics(self, cluster: &Cluster) -> Box<dyn Statistics> {
        match self {
            Self::Means => Box::new(Means::new(cluster.channels().len())),
            Self::Pooled => Box::new(Pooled::new(cluster, true, 1.0)),
            Self::PooledByPort => Box::new(Pooled::new(cluster, false, 1.0)),
        }
    }
}
