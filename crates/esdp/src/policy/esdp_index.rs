//! `esdp-index`: the exact optimistic index over sets on plain averages. What `esdp` was in the first
//! versions.
//!
//! [`Optimistic`] with `g(t) = kappa ln(t+1)`, kappa 0.25, on plain averages. Against the
//! paper's Algorithm 1 it differs in four points:
//!
//! 1. It solves over the channels that have a job instead of solving over all and zeroing
//!    the absent ones, so no capacity is wasted.
//! 2. It explores with `kappa ln(t+1)` instead of the printed *g*, which keeps exploring
//!    almost forever.
//! 3. It solves the index exactly, so it needs no slack, no scale and no rounding.
//! 4. It needs no bound on the number of chosen channels.

use super::estimator::Estimator;
use super::optimistic::{Optimism, Optimistic};
use super::spec::{SpecError, check_number};
use crate::model::Cluster;
use crate::stats::Exploration;
use serde::{Deserialize, Serialize};

/// The parameters of `esdp-index`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EsdpIndexSpec {
    /// How much it explores: `g(t) = kappa ln(t+1)`. At least 0 (default: 0.25).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
    pub kappa: f64,
    /// What the index stands on: `"means"` (default), `"pooled"` or `"pooled-by-port"`.
    pub estimator: Estimator,
    /// The share of channels that may be far from others of their kind, for the pooled estimators: 0 to 0.5
    /// (default: 0).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = *super::estimator::SLAB_RANGE.end(), "x-unit" = "share", "x-range" = "0 for `means`")))]
    pub slab: f64,
}

impl Default for EsdpIndexSpec {
    fn default() -> Self {
        Self { kappa: 0.25, estimator: Estimator::Means, slab: 0.0 }
    }
}

impl EsdpIndexSpec {
    pub(super) const NAME: &'static str = "esdp-index";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        self.estimator.check_slab(Self::NAME, self.slab)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<Optimistic, SpecError> {
        self.check()?;
        let statistics = self.estimator.statistics(cluster, self.slab);
        Ok(Optimism::policy(Self::NAME, statistics, Exploration::Log { kappa: self.kappa }, 0.0))
    }
}
