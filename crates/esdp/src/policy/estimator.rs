//! What a policy's index stands on: each channel by itself, or channels that learn from each other.

use super::spec::{SpecError, check_number};
use crate::model::Cluster;
use crate::stats::{Means, Pooled, Statistics};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What the key `slab` accepts where channels are pooled.
pub(super) const SLAB_RANGE: RangeInclusive<f64> = 0.0..=0.5;

/// How a policy estimates its channels. See `docs/policies/pooled.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Checks the key `slab` beside this.
    pub(super) fn check_slab(self, policy: &'static str, slab: f64) -> Result<(), SpecError> {
        if self == Self::Means && slab != 0.0 {
            return Err(SpecError::Parameter {
                policy,
                key: "slab",
                value: slab.to_string(),
                accepted: "0 for the estimator `means`, which has no prior to widen".to_owned(),
            });
        }
        check_number(policy, "slab", slab, SLAB_RANGE)
    }

    /// The statistics of a cluster's channels, before the first slot, where a share `slab` of them may be
    /// outliers.
    pub(super) fn statistics(self, cluster: &Cluster, slab: f64) -> Box<dyn Statistics> {
        match self {
            Self::Means => Box::new(Means::new(cluster.channels().len())),
            Self::Pooled => Box::new(Pooled::new(cluster, true, 1.0).with_slab(slab)),
            Self::PooledByPort => Box::new(Pooled::new(cluster, false, 1.0).with_slab(slab)),
        }
    }
}
