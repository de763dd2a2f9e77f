//! `escb`: the exact optimistic index with the printed exploration rate.
//!
//! [`Optimistic`] with `g(t) = ln(t+1) + 4 m ln(ln(t+1) + 1)`, the policy from which the
//! paper's is derived (Combes et al., "Combinatorial bandits revisited"), solved exactly
//! and over the channels that have a job. *m* is `alpha |E|` as in the paper, which is no
//! bound on the number of chosen channels; `most` gives a real one instead.

use super::optimistic::{Optimism, Optimistic, share_of_channels};
use super::spec::{SpecError, check_exploration, check_number};
use crate::model::Cluster;
use crate::stats::{Exploration, Means};
use serde::{Deserialize, Serialize};

/// The parameters of `escb`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EscbSpec {
    /// *m* as a share of all channels, 0 to 1 (default: 0.5).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
    pub alpha: f64,
    /// *m* itself, where it is known; then `alpha` is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e9, "x-unit" = "channels")))]
    pub most: Option<f64>,
    /// *g(t)*: `"printed"` (default), `"log-log"` or `{ log = { kappa = 1.0 } }`.
    pub exploration: Exploration,
}

impl Default for EscbSpec {
    fn default() -> Self {
        Self { alpha: 0.5, most: None, exploration: Exploration::Printed }
    }
}

impl EscbSpec {
    pub(super) const NAME: &'static str = "escb";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "alpha", self.alpha, 0.0..=1.0)?;
        check_number(Self::NAME, "most", self.most.unwrap_or_default(), 0.0..=1e9)?;
        check_exploration(Self::NAME, &self.exploration)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<Optimistic, SpecError> {
        self.check()?;
        let most = self.most.unwrap_or_else(|| share_of_channels(self.alpha, cluster));
        let statistics = Box::new(Means::new(cluster.channels().len()));
        Ok(Optimism::policy(Self::NAME, statistics, self.exploration, most))
    }
}
