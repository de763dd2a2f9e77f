//! The problems that a learning policy really meets.
//!
//! A learner drives all indices towards each other, so learned problems are far harder than
//! random ones: solvers are benchmarked and tested on these.

use super::{Setting, Simulation};
use crate::model::Slot;
use crate::policy::{PolicySpec, SpecError};
use crate::scheduler::ScheduleError;
use crate::solver::{Instance, Problem, ProblemError, Solution, SolveError, Solver};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Why a trajectory ended early.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrajectoryError {
    /// The policy cannot be built. Fatal: the caller's data is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A slot gave no decision.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A recorded problem is malformed. Fatal: a bug.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// Runs a policy for some slots and hands over every problem that it solves.
///
/// Slots in which there was nothing to solve are left out. `solver` decides for the
/// policy; another than its own changes ties, and so the path, but not its kind.
///
/// # Errors
/// When the policy cannot be built or a slot gives no decision.
///
/// ```
/// use esdp::sim::{RandomCluster, Setting, trajectory};
/// use esdp::solver::Exact;
///
/// let setting = Setting::new(&RandomCluster::default(), 0.9, 1)?;
/// let mut problems = 0;
/// trajectory(&setting, &"esdp".parse()?, Box::new(Exact::default()), 100, |_slot, problem| {
///     problems += usize::from(!problem.is_empty());
/// })?;
/// assert!(problems > 80);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trajectory(
    setting: &Setting,
    policy: &PolicySpec,
    solver: Box<dyn Solver>,
    slots: u64,
    mut each: impl FnMut(Slot, &Problem<'_>),
) -> Result<(), TrajectoryError> {
    let last = Arc::new(Mutex::new(None));
    let tap = Tap { inner: solver, last: Arc::clone(&last) };
    let scheduler = setting.scheduler_with(policy, Some(Box::new(tap)))?;
    let mut simulation = Simulation::turning(setting, scheduler);
    for _ in 0..slots {
        let _ = simulation.run(1, &mut ())?;
        if let Some(instance) = last.lock().unwrap_or_else(PoisonError::into_inner).take() {
            each(simulation.scheduler().slot(), &instance.problem()?);
        }
    }
    Ok(())
}

/// Solves as its inner solver does and keeps a copy of the last problem. The copy is
/// shared rather than handed to a callback, because a policy owns its solver.
struct Tap {
    inner: Box<dyn Solver>,
    last: Arc<Mutex<Option<Instance>>>,
}

impl Solver for Tap {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.inner.limit_work(visits);
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instance::from(problem));
        self.inner.solve_into(problem, solution)
    }
}
