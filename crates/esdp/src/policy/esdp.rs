//! `esdp`: learns across channels, and finds out by itself how fast to forget. The default; it has no
//! parameters.
//!
//! The rule of `esdp-pooled`, a bonus and a draw on every channel and one linear problem per slot, on
//! [`Adaptive`] statistics: pooled over ports, labels and servers, with several memories that are weighed,
//! server by server, by how well they predict. Where nothing drifts it is `esdp-pooled`; where everything
//! does, it forgets, and then explores less, since forgetting keeps the search open by itself.
//! `docs/decisions/0012-one-policy.md` has what it was compared with.
//!
//! In the first versions the name meant the exact index over sets on plain averages, which is `esdp-index`
//! now.

use super::esdp_pooled::{EsdpPooled, EsdpPooledSpec, PooledBonus};
use super::kit::Learning;
use crate::model::Cluster;
use crate::stats::Adaptive;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// `esdp` has no parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EsdpSpec {}

// By hand, to say where the parameters of its namesake have gone.
impl<'de> Deserialize<'de> for EsdpSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match BTreeMap::<String, IgnoredAny>::deserialize(deserializer)?.into_keys().next() {
            None => Ok(Self {}),
            Some(key) if ["kappa", "estimator", "slab"].contains(&key.as_str()) => {
                Err(Error::custom(format!(
                    "`esdp` has no parameters any more; `{key}` belongs to what it was, which is \
                     `esdp-index` now"
                )))
            }
            Some(key) => Err(Error::custom(format!("`esdp` has no parameters, but `{key}` is given"))),
        }
    }
}

impl EsdpSpec {
    pub(super) const NAME: &'static str = "esdp";

    /// Builds the policy.
    pub fn policy(&self, cluster: &Cluster, seed: u64) -> EsdpPooled {
        let EsdpPooledSpec { kappa, scatter, .. } = EsdpPooledSpec::default();
        Learning::new(
            Self::NAME,
            Box::new(Adaptive::new(cluster)),
            PooledBonus::new(kappa, scatter, cluster, seed),
        )
    }
}
