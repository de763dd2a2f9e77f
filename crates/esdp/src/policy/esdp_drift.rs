//! `esdp-drift`: the exact optimistic index on statistics that forget, for speeds that drift.
//!
//! [`Optimistic`] with `g(t) = kappa ln(t+1)` on [`Discounted`] averages (gamma 0.99) or on
//! a [`Windowed`] average. Forgetting keeps every width large, which explores by itself, so
//! kappa is 0.005 here, not the 0.25 of `esdp-index`.
//!
//! Oracle ratios at T = 8000 on the presets, 16 seeds from 300 on; the standard errors are 0.002 to
//! 0.003 for the drifting ones (0.005 without exploration) and 0.001 to 0.003 for `default`:
//!
//! | kappa | `drift-switch` | `drift-sine` | `default` |
//! |---|---|---|---|
//! | 0 | .929 | .933 | .983 |
//! | 0.001 | .944 | .959 | .980 |
//! | 0.0025 | .948 | .959 | .978 |
//! | **0.005** | **.949** | **.959** | **.975** |
//! | 0.01 | .947 | .960 | .970 |
//! | 0.02 | .944 | .957 | .962 |
//!
//! So 0.0025 to 0.01 is a plateau where speeds drift, and less exploration costs less where they do
//! not. Other gammas at kappa 0.01 (10 seeds from 200 on; 0.99 gave .947, .967, .978): 0.985
//! .947, .965, .969; 0.995 .936, .954, .987. `esdp-index`, which never forgets, has .87 to .89 on the
//! drifting presets and .995 on `default`.

use super::optimistic::{Optimism, Optimistic};
use super::spec::{SpecError, check_number};
use crate::model::Cluster;
use crate::stats::{Discounted, Exploration, Statistics, Windowed};
use serde::{Deserialize, Serialize};

/// The parameters of `esdp-drift`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EsdpDriftSpec {
    /// How much it explores: `g(t) = kappa ln(t+1)`. At least 0 (default: 0.005).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
    pub kappa: f64,
    /// How it forgets: `{ discounted = { gamma = 0.99 } }` (default).
    pub memory: Memory,
}

/// How statistics forget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Memory {
    /// Every observation fades by `gamma` a slot.
    Discounted {
        /// What is left of a weight after a slot: above 0, at most 1.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-3, "maximum" = 1)))]
        gamma: f64,
    },
    /// Observations older than a number of slots are dropped.
    Windowed {
        /// The window in slots, at least 1.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "slots")))]
        slots: u64,
    },
}

impl Default for EsdpDriftSpec {
    fn default() -> Self {
        Self { kappa: 0.005, memory: Memory::Discounted { gamma: 0.99 } }
    }
}

impl EsdpDriftSpec {
    pub(super) const NAME: &'static str = "esdp-drift";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        match self.memory {
            Memory::Discounted { gamma } => {
                check_number(Self::NAME, "memory.discounted.gamma", gamma, 1e-3..=1.0)
            }
            Memory::Windowed { slots: 0 } => Err(SpecError::Parameter {
                policy: Self::NAME,
                key: "memory.windowed.slots",
                value: "0".to_owned(),
                accepted: "a whole number of at least 1".to_owned(),
            }),
            Memory::Windowed { .. } => Ok(()),
        }
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<Optimistic, SpecError> {
        self.check()?;
        let channels = cluster.channels().len();
        let statistics: Box<dyn Statistics> = match self.memory {
            Memory::Discounted { gamma } => Box::new(Discounted::new(channels, gamma)),
            Memory::Windowed { slots } => Box::new(Windowed::new(channels, slots)),
        };
        Ok(Optimism::policy(Self::NAME, statistics, Exploration::Log { kappa: self.kappa }, 0.0))
    }
}
