//! Solving one slot: a [`Problem`] in, a [`Solution`] with a certified bound out.
//!
//! The problem is `max v.x + sqrt(w.x)` over binary `x` with `A x <= c`. A solver knows nothing of bandits:
//! where `v` and `w` come from is the policy's business. With [`Gangs`] `x` counts tasks; an answer holds
//! these counts ([`Uses`]) and no list of tasks, so that no solver allocates by a number in the input.
//!
//! | solver | answer | cost |
//! |---|---|---|
//! | [`Exhaustive`] | optimal; the truth that tests compare with | every feasible set |
//! | [`Paper`] | optimal for the rounded objective (Algorithm 2) | `n * budgets * prod(c_k + 1)` |
//! | [`Exact`] | optimal, or a certified gap when its work budget ends | near linear in practice |
//! | [`Greedy`] | feasible, with a certified bound | near linear |

mod dual;
mod exact;
mod exhaustive;
mod flow;
mod gang;
mod gangs;
mod greedy;
mod lp;
mod paper;
mod problem;
mod reduce;
mod uses;

pub use exact::Exact;
pub use exhaustive::Exhaustive;
pub(crate) use flow::{Flow, Route};
pub use gangs::{Gang, Gangs, Group};
pub use greedy::Greedy;
pub use paper::Paper;
pub use problem::{Instance, Problem, ProblemError, Servers};
pub use uses::{Use, Uses};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What is known of a [`Solution`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Guarantee {
    /// No set of channels is better, but for the rounding of which [`Solution::bound`] tells.
    Optimal,
    /// No set of channels is better than [`Solution::bound`].
    #[default]
    Bounded,
}

/// Why a solver stopped where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// The optimum is proved ([`Guarantee::Optimal`]): there is nothing more to find.
    Proved,
    /// Its work budget or time limit did not suffice: with a larger one the value may rise and the bound may
    /// fall.
    Budget,
    /// It ended by itself and left a gap: its method finds and proves no more, whatever the budget.
    #[default]
    Gap,
}

impl Stopped {
    /// Of an answer that proves this; `spent` if a budget or time limit cut the search short, or left a step
    /// of it out.
    pub fn new(guarantee: Guarantee, spent: bool) -> Self {
        match guarantee {
            Guarantee::Optimal => Self::Proved,
            Guarantee::Bounded if spent => Self::Budget,
            Guarantee::Bounded => Self::Gap,
        }
    }
}

/// A decision and what is proved about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Solution {
    /// The chosen channels, ascending; with [`Gangs`], how many tasks use each.
    pub chosen: Uses,
    /// The objective at the chosen channels; never below 0, which is what choosing nothing is worth.
    pub value: f64,
    /// Never below the optimum, up to rounding: by at most 1e-11 of the largest mean, root of a width, or
    /// value. Equal to `value` when that is optimal.
    pub bound: f64,
    /// What is proved.
    pub guarantee: Guarantee,
    /// Why it is not more.
    pub stopped: Stopped,
    /// The method that gave the answer.
    pub method: &'static str,
    /// The units of work it took: visits of labels, table cells and channels, counted and never timed. A unit
    /// takes some nanoseconds; 0 if the solver does not count.
    pub work: u64,
}

impl Solution {
    /// The relative distance to the bound, 0 when optimal.
    pub fn gap(&self) -> f64 {
        match self.guarantee {
            Guarantee::Optimal => 0.0,
            Guarantee::Bounded => (self.bound - self.value) / self.bound.abs().max(f64::MIN_POSITIVE),
        }
    }

    /// Completes a solution whose channels are set: sorts them, evaluates the objective, and keeps `bound`
    /// from falling below the value by rounding. What is worth less than nothing, as a task may be that was
    /// placed beside vast numbers, is not chosen. Whoever stopped at a budget says so afterwards.
    pub(crate) fn complete(
        &mut self,
        problem: &Problem<'_>,
        bound: f64,
        guarantee: Guarantee,
        method: &'static str,
    ) {
        self.chosen.sort();
        self.value = problem.value(&self.chosen);
        if self.value < 0.0 {
            self.chosen.clear();
            self.value = 0.0;
        }
        self.method = method;
        self.guarantee = guarantee;
        self.stopped = Stopped::new(guarantee, false);
        self.bound = match guarantee {
            Guarantee::Optimal => self.value,
            Guarantee::Bounded => bound.max(self.value),
        };
    }
}

/// Why a solver gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SolveError {
    /// The problem is larger than the solver's limit; nothing was allocated.
    /// Retryable with another solver or a larger limit.
    #[error("solver `{solver}` would need {needed} {unit}, its limit is {limit}")]
    TooLarge {
        /// The solver.
        solver: &'static str,
        /// What it would need; saturated when that overflows.
        needed: u128,
        /// Its limit.
        limit: u128,
        /// What both count.
        unit: &'static str,
    },
    /// The solver does not know this kind of problem. Retryable with another solver.
    #[error("solver `{solver}` does not support {what}")]
    Unsupported {
        /// The solver.
        solver: &'static str,
        /// The part of the problem it does not know.
        what: &'static str,
    },
}

/// What limits a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitedBy {
    /// The cluster as a whole.
    pub cluster: bool,
    /// Servers, each by itself.
    pub servers: bool,
}

/// Solves one slot's problem.
///
/// A solver carries nothing but buffers from call to call: the same problem gets the same
/// answer. `solve_into` is the one required method, so that a caller in a hot loop
/// reuses its [`Solution`]; [`solve`](Solver::solve) is the convenient form.
pub trait Solver: Send {
    /// The solver's name, as users choose it.
    fn name(&self) -> &'static str;

    /// Limits every call from now on to about this many visits, a visit being some nanoseconds; none lifts
    /// the limit. A solver whose work is near linear in the channels does not need it.
    fn limit_work(&mut self, _visits: Option<u64>) {}

    /// Whether a problem with these limits, in which several jobs may use the same channel, is better told as
    /// jobs ([`Gangs`]) whose uses are counted than as a set in which a channel comes once a job. Both have
    /// the same optimum. By default where servers alone limit: they then decouple, and numbers of uses are
    /// easier to find. A limit of the whole cluster joins them again, and a set is easier to search.
    fn counts_uses(&self, limits: LimitedBy) -> bool {
        limits.servers && !limits.cluster
    }

    /// Solves into an existing solution, overwriting it.
    ///
    /// # Errors
    /// When the solver cannot take this problem; the solution is then unspecified.
    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError>;

    /// Solves into a new solution.
    ///
    /// # Errors
    /// When the solver cannot take this problem.
    fn solve(&mut self, problem: &Problem<'_>) -> Result<Solution, SolveError> {
        let mut solution = Solution::default();
        self.solve_into(problem, &mut solution)?;
        Ok(solution)
    }
}
