//! Why simulations end early, and why there is no sweep.

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
    /// Two policies cannot be told apart.
    #[error("two policies have the label `{label}`, expected different ones")]
    Twice {
        /// The label.
        label: String,
    },
    /// The caller's own function failed.
    #[error(transparent)]
    Caller(#[from] Failure),
}

/// Why there is no sweep. Fatal: the caller's data is wrong.
#[derive(Debug, Error)]
pub enum SweepError {
    /// There is nothing to vary.
    #[error("nothing to vary: give --vary KEY=VALUE,... or a scenario with a [sweep] table")]
    Nothing,
    /// There are too many combinations of values.
    #[error("more than {most} points")]
    TooManyPoints {
        /// The most that are accepted.
        most: usize,
    },
    /// There are too many points and seeds.
    #[error("the sweep has {found} pairs of a point and a seed, at most {most} are accepted")]
    TooManyUnits {
        /// How many there are.
        found: usize,
        /// The most that are accepted.
        most: usize,
    },
    /// A key is varied twice.
    #[error("{key}: the key is varied twice (again in place {place})")]
    KeyTwice {
        /// The key.
        key: String,
        /// Its second place, from 1.
        place: usize,
    },
    /// A value is not accepted.
    #[error("{set}: {cause}")]
    Value {
        /// The key and the value, as `key=value`.
        set: String,
        /// What is wrong with it.
        cause: ScenarioError,
    },
    /// A run failed.
    #[error(transparent)]
    Run(Box<RunError>),
}

impl From<RunError> for SweepError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}
