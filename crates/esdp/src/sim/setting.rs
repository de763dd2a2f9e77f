//! A cluster, its speeds and its arrivals under one seed.

use super::{Bernoulli, Environment, GenerateError, NormalSpeeds, RandomCluster, Workload};
use crate::model::Cluster;
use crate::policy::{PolicySpec, SpecError};
use crate::scheduler::Scheduler;
use crate::solver::Solver;
use std::sync::Arc;
use thiserror::Error;

/// The paper's evaluation setting for one seed: everything a run needs but the policy.
///
/// Each call of [`workload`](Setting::workload) and [`environment`](Setting::environment)
/// gives the same fate again, so every policy can be measured on it.
#[derive(Debug, Clone)]
pub struct Setting {
    cluster: Arc<Cluster>,
    speeds: NormalSpeeds,
    rho: f64,
    seed: u64,
}

/// Why a setting cannot be had. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SettingError {
    /// The cluster cannot be drawn.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The arrival probability is none.
    #[error("`rho` is {0}, expected a number from 0 to 1")]
    Rho(f64),
}

impl Setting {
    /// Draws a cluster and its speeds; every port has a job with probability `rho`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(recipe: &RandomCluster, rho: f64, seed: u64) -> Result<Self, SettingError> {
        if !(0.0..=1.0).contains(&rho) {
            return Err(SettingError::Rho(rho));
        }
        let cluster = Arc::new(recipe.generate(seed)?);
        let speeds = NormalSpeeds::new(Arc::clone(&cluster), seed);
        Ok(Self { cluster, speeds, rho, seed })
    }

    /// The cluster.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// The arrivals, from the first slot on.
    pub fn workload(&self) -> impl Workload + use<> {
        Bernoulli::new(self.rho, self.seed)
    }

    /// The speeds.
    pub fn environment(&self) -> impl Environment + use<> {
        self.speeds.clone()
    }

    /// A fresh scheduler with a policy; the oracle is given the truth.
    ///
    /// # Errors
    /// When a parameter of the policy is out of range.
    pub fn scheduler(&self, policy: &PolicySpec) -> Result<Scheduler, SpecError> {
        self.scheduler_with(policy, None)
    }

    /// A fresh scheduler whose policy uses another solver than its own.
    ///
    /// # Errors
    /// When a parameter of the policy is out of range.
    pub fn scheduler_with(&self, policy: &PolicySpec, solver: Option<Box<dyn Solver>>) -> Result<Scheduler, SpecError> {
        let truth = matches!(policy, PolicySpec::Oracle {}).then(|| self.speeds.truth());
        let policy = policy.build_with(&self.cluster, self.seed, truth, solver)?;
        Ok(Scheduler::new(Arc::clone(&self.cluster), policy))
    }
}
