//! Why simulations end early.

use esdp::policy::SpecError;
use esdp::scenario::ScenarioError;
use esdp::scheduler::ScheduleError;
use std::error::Error;
use thiserror::Error;

/// What a caller's own function failed with: a record of slots, or what is done with a result.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Why simulations end early. All are fatal: the same call fails again.
#[derive(Debug, Error)]
pub enum RunError {
    /// The scenario gives no cluster under this seed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A policy cannot be built for the cluster.
    #[error(transparent)]
    Policy(#[from] SpecError),
    /// The oracle, against which all are measured, gave no decision.
    #[error(transparent)]
    Oracle(ScheduleError),
    /// A policy gave no decision, or one that does not fit.
    #[error("seed {seed}: {cause}")]
    Slot {
        /// The seed.
        seed: u64,
        /// What the scheduler said.
        cause: ScheduleError,
    },
    /// The system gives no threads.
    #[error("threads cannot be started: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The caller's own function failed.
    #[error(transparent)]
    Caller(#[from] Failure),
}
