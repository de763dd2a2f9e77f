//! `esdp-drift`: the exact optimistic index on statistics that forget, for speeds that drift.
//!
//! [`Optimistic`] with `g(t) = kappa ln(t+1)` on [`Discounted`] averages (gamma 0.99) or on
//! a [`Windowed`] average. Forgetting keeps every width large, which explores by itself, so
//! kappa is 0.02 here, not the 0.25 of `esdp`. What it pays where nothing drifts: three to four
//! points of oracle ratio.

use super::optimistic::Optimistic;
use super::spec::{SpecError, check_number};
use crate::model::Cluster;
use crate::stats::{Discounted, Exploration, Statistics, Windowed};
use serde::{Deserialize, Serialize};

/// The parameters of `esdp-drift`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EsdpDriftSpec {
    /// How much it explores: `g(t) = kappa ln(t+1)`. At least 0; 0.02 unless told.
    pub kappa: f64,
    /// How it forgets: `{ discounted = { gamma = 0.99 } }` unless told.
    pub memory: Memory,
}

/// How statistics forget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Memory {
    /// Every observation fades by `gamma` a slot.
    Discounted {
        /// What is left of a weight after a slot: above 0, at most 1.
        gamma: f64,
    },
    /// Observations older than a number of slots are dropped.
    Windowed {
        /// The window in slots, at least 1.
        slots: u64,
    },
}

impl Default for EsdpDriftSpec {
    fn default() -> Self {
        Self { kappa: 0.02, memory: Memory::Discounted { gamma: 0.99 } }
    }
}

impl EsdpDriftSpec {
    pub(super) const NAME: &'static str = "esdp-drift";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        match self.memory {
            Memory::Discounted { gamma } => check_number(Self::NAME, "memory.discounted.gamma", gamma, 1e-3..=1.0),
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
        Ok(Optimistic::new(Self::NAME, statistics, Exploration::Log { kappa: self.kappa }, 0.0))
    }
}
