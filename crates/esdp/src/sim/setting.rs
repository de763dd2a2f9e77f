//! A cluster, its speeds, its arrivals and its feedback under one seed.

use super::feedback::Delay;
use super::held::{HeldSpec, check_luck};
use super::outage::{Outage, Windows};
use super::parameter::ParameterError;
use super::workload::{ArrivalSpec, Rates, Workload};
use super::{GenerateError, RandomCluster, SpeedSpec, Speeds};
use crate::model::{Cluster, PortId};
use crate::policy::{PolicySpec, SpecError, Truth};
use crate::scheduler::{Objective, Scheduler};
use crate::solver::Solver;
use std::sync::Arc;
use thiserror::Error;

/// Everything a run needs but the policy, for one seed.
///
/// Each call of [`workload`](Setting::workload) and [`environment`](Setting::environment)
/// gives the same fate again, so every policy can be measured on it.
#[derive(Debug, Clone)]
pub struct Setting {
    cluster: Arc<Cluster>,
    arrivals: ArrivalSpec,
    speeds: Speeds,
    delay: Delay,
    held: Option<HeldSpec>,
    windows: Arc<Windows>,
    /// How much each port counts in decisions; empty where all count the same.
    weights: Vec<f64>,
    luck: f64,
    objective: Objective,
    seed: u64,
}

/// Why a setting was rejected. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SettingError {
    /// The cluster cannot be drawn.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The arrivals are out of range.
    #[error("arrivals: {0}")]
    Arrivals(ParameterError),
    /// The speeds are out of range or do not fit the cluster.
    #[error("speeds: {0}")]
    Speeds(ParameterError),
    /// The delay is out of range.
    #[error("feedback: {0}")]
    Feedback(ParameterError),
    /// The work of jobs is out of range.
    #[error("jobs: {0}")]
    Jobs(ParameterError),
    /// An outage is of no server, or of no time.
    #[error("servers: {0}")]
    Servers(ParameterError),
    /// The weights are not one positive number per port.
    #[error("graph: {0}")]
    Weights(ParameterError),
}

impl Setting {
    /// The paper's evaluation setting: draws a cluster and Normal speeds; every port has a
    /// job with probability `rho`, and outcomes are known at once.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(recipe: &RandomCluster, rho: f64, seed: u64) -> Result<Self, SettingError> {
        let arrivals = ArrivalSpec::Bernoulli { rho: rho.into() };
        Self::build(recipe.generate(seed)?, arrivals, &SpeedSpec::default(), Delay::default(), seed)
    }

    /// A setting on a given cluster.
    ///
    /// # Errors
    /// When a parameter is out of range or does not fit the cluster.
    pub fn build(
        cluster: Cluster,
        arrivals: ArrivalSpec,
        speeds: &SpeedSpec,
        delay: Delay,
        seed: u64,
    ) -> Result<Self, SettingError> {
        arrivals.check(cluster.ports().len()).map_err(SettingError::Arrivals)?;
        let arrivals = arrivals.by_port(cluster.ports()).map_err(SettingError::Arrivals)?;
        delay.check().map_err(SettingError::Feedback)?;
        let cluster = Arc::new(cluster);
        let speeds = speeds.build(&cluster, seed).map_err(SettingError::Speeds)?;
        let (windows, weights, objective) = (Arc::default(), Vec::new(), Objective::Sum);
        let (held, luck) = (None, 0.0);
        Ok(Self { cluster, arrivals, speeds, delay, held, luck, windows, weights, objective, seed })
    }

    /// The same with windows in which servers take no new jobs.
    ///
    /// # Errors
    /// When a window is empty or its server does not exist.
    pub fn with_outages(self, outages: &[Outage]) -> Result<Self, SettingError> {
        let windows = Windows::new(outages, &self.cluster).map_err(SettingError::Servers)?;
        Ok(Self { windows: Arc::new(windows), ..self })
    }

    /// The same with ports that count more or less in decisions, the oracle's included. Utilities, regret and
    /// all other measures stay unweighted.
    ///
    /// # Errors
    /// When a weight is not a positive number, or there is none for a port.
    pub fn with_weights(self, weights: &Rates) -> Result<Self, SettingError> {
        let ports = self.cluster.ports();
        let weights = weights.weights("weights", ports).map_err(SettingError::Weights)?;
        let weights = (0..self.cluster.ports().len()).map(|port| weights.of(PortId::at(port))).collect();
        Ok(Self { weights, ..self })
    }

    /// The same with jobs that wait and hold their devices until they are done, decided by the rule for
    /// queues.
    ///
    /// # Errors
    /// When the work is out of range, or no rates give the load that the arrivals ask for.
    pub fn with_held_jobs(self, spec: HeldSpec) -> Result<Self, SettingError> {
        spec.check().map_err(SettingError::Jobs)?;
        if let HeldSpec::Listed(ports) = &spec
            && ports.len() != self.cluster.ports().len()
        {
            let (found, accepted) = (format!("a list of {}", ports.len()), self.cluster.ports().len());
            return Err(SettingError::Jobs(ParameterError::new(
                "list",
                found,
                format!("{accepted}, one per port"),
            )));
        }
        Self { held: Some(spec), objective: Objective::Relative, ..self }.scaled_to_load()
    }

    /// The same with another objective; jobs that last one slot have no queue, and are always decided by the
    /// sum.
    #[must_use]
    pub fn with_objective(self, objective: Objective) -> Self {
        let objective = if self.held.is_some() { objective } else { Objective::Sum };
        Self { objective, ..self }
    }

    /// What a slot maximises.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The same with held jobs that report how fast they ran times a factor of their own, of this coefficient
    /// of variation.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn with_luck(self, deviation: f64) -> Result<Self, SettingError> {
        check_luck(deviation).map_err(SettingError::Jobs)?;
        Ok(Self { luck: deviation, ..self })
    }

    /// The cluster.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// When outcomes become known.
    pub fn delay(&self) -> Delay {
        self.delay
    }

    /// How much work jobs have, where they hold their devices until they are done.
    pub fn held(&self) -> Option<&HeldSpec> {
        self.held.as_ref()
    }

    pub(super) fn windows(&self) -> &Arc<Windows> {
        &self.windows
    }

    /// How much each port counts in decisions; empty where all count the same.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// How far what a held job reports is from how fast it ran, as a coefficient of variation.
    pub fn luck(&self) -> f64 {
        self.luck
    }

    pub(super) fn arrivals(&self) -> &ArrivalSpec {
        &self.arrivals
    }

    pub(super) fn set_arrivals(&mut self, arrivals: ArrivalSpec) {
        self.arrivals = arrivals;
    }

    /// The arrivals, from the first slot on.
    pub fn workload(&self) -> impl Workload + use<> {
        self.arrivals.build(self.cluster.ports().len(), self.seed).expect("the arrivals were checked")
    }

    /// The speeds.
    pub fn environment(&self) -> Speeds {
        self.speeds.clone()
    }

    /// The true means, for an oracle.
    pub fn truth(&self) -> Box<dyn Truth> {
        Box::new(self.environment())
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
    pub fn scheduler_with(
        &self,
        policy: &PolicySpec,
        solver: Option<Box<dyn Solver>>,
    ) -> Result<Scheduler, SpecError> {
        let truth = matches!(policy, PolicySpec::Oracle {}).then(|| self.truth());
        let policy = policy.build_with(&self.cluster, self.seed, truth, solver)?;
        Ok(Scheduler::new(Arc::clone(&self.cluster), policy))
    }
}
