//! The same problem through a general MILP solver: an independent answer to compare with.
//!
//! `max v.x + sqrt(w.x)` over binary `x` with `A x <= c` is not linear, but the square
//! root is concave: it is the minimum of its tangents,
//! `sqrt(W) = min over lambda > 0 of lambda W + 1/(4 lambda)`. [`TangentMilp`] therefore
//! maximises `v.x + y` over `x` and a real `y` below finitely many of them:
//!
//! 1. The continuous relaxation is solved and cut at its own `W` until `y` is close to
//!    `sqrt(W)`. These cuts are cheap and fall where the optimum is.
//! 2. The MILP with these cuts is solved. Tangents lie above the square root, so its
//!    optimum is an upper bound; its `x` has a true value, a lower bound.
//! 3. Unless the two agree within `1e-9`, the tangent at this `W` is added and step 2
//!    repeated. A tangent is exact where it touches, so no `x` comes twice: the loop ends,
//!    and with the optimum.
//!
//! It shares nothing with the solvers of [`esdp`] but the problem, which makes it a test
//! oracle; and it is what a competent user would write without them, which makes it the
//! rival of `esdp bench`. The MILP solver is `microlp`, in pure Rust; [`Highs`] asks the much
//! stronger HiGHS the same, where it is installed.
//!
//! Complexity: that of branch and bound, exponential in the worst case. Channels that are
//! worth the same, as in the first slots of a learner, can keep it busy for minutes from a
//! thousand channels on: set a [time limit](TangentMilp::with_time_limit), which `microlp`
//! overruns at 100,000 channels, where its first relaxation alone takes longer. Limits: sums of
//! requests above `2^53` are refused, floating-point rows could not hold them; means and
//! widths should span fewer than nine orders of magnitude, the solver's tolerance.
//!
//! ```
//! use esdp::solver::{Guarantee, Instance, Solver, Uses};
//! use esdp_milp::TangentMilp;
//!
//! // The best point need not be the best of any weighted sum of mean and width.
//! let mut instance = Instance::new(vec![1]);
//! instance.push(&[1], 0.0, 4.0);
//! instance.push(&[1], 2.0, 0.0);
//! instance.push(&[1], 0.9, 1.9);
//! let solution = TangentMilp::default().solve(&instance.problem()?)?;
//! assert_eq!((solution.chosen, solution.guarantee), (Uses::from([2]), Guarantee::Optimal));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod highs;
mod model;

pub use highs::{Highs, HighsError, PYTHON_VARIABLE};

use esdp::solver::{Guarantee, Problem, Solution, SolveError, Solver, Stopped};
use microlp::{SolutionStatus, SolveOptions};
use model::{Columns, Cut, Model, Scaled};
use std::time::{Duration, Instant};

/// The relative distance between the bounds at which they count as equal.
const TOLERANCE: f64 = 1e-9;
/// The same for the relaxation, which only has to place the cuts.
const RELAXED_TOLERANCE: f64 = 1e-4;
const RELAXED_ROUNDS: usize = 20;
/// Feasibility tolerance and presolve, in the order they are tried. The solver's defaults
/// (`1e-7`, and `1e-6` from a whole number) miss optima; with tight ones it gives up on about
/// one problem in 100,000, and then a change of either helps.
const ATTEMPTS: [(f64, bool); 3] = [(TOLERANCE, true), (TOLERANCE, false), (10.0 * TOLERANCE, true)];

/// Solves the slot's problem by tangent cuts on a MILP solver; see the
/// [crate's documentation](crate).
#[derive(Debug, Clone)]
pub struct TangentMilp {
    rounds: usize,
    time_limit: Option<Duration>,
}

impl Default for TangentMilp {
    /// Up to 100 rounds (two or three are usual), no time limit.
    fn default() -> Self {
        Self { rounds: 100, time_limit: None }
    }
}

impl TangentMilp {
    /// Stops after this long, with the best set found and the bound proved so far.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// Stops after this many MILPs, with the best set found and the bound proved so far.
    #[must_use]
    pub fn with_rounds(self, rounds: usize) -> Self {
        Self { rounds: rounds.max(1), ..self }
    }

    /// The best columns found and an upper bound, both in scaled units.
    fn run(&self, scaled: &Scaled) -> Result<(Columns, f64), microlp::Error> {
        // A limit beyond what the clock can count to is none.
        let deadline = self.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut outcome = Err(microlp::Error::Infeasible);
        for (feasibility, presolve) in ATTEMPTS {
            outcome = self.attempt(scaled, deadline, feasibility, presolve);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn attempt(
        &self,
        scaled: &Scaled,
        deadline: Option<Instant>,
        feasibility: f64,
        presolve: bool,
    ) -> Result<(Columns, f64), microlp::Error> {
        let options = |warm: Option<Vec<(microlp::Variable, f64)>>| {
            let mut options = SolveOptions::default();
            options.tolerances.feasibility = feasibility;
            options.presolve = presolve;
            options.int_tol = TOLERANCE;
            options.time_limit = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            options.warm_start = warm;
            options
        };
        let (mut best, mut bound) = (Columns::default(), scaled.box_bound());
        let mut cuts = relaxation_cuts(scaled, options(None), deadline, &mut bound)?;
        let mut model = Model::new(scaled, true, &cuts);
        for round in 0..self.rounds {
            let warm = (round > 0).then(|| model.assignment(&best));
            let outcome = model.lp.solve_with(options(warm))?;
            if let Some(proved) = outcome.stats().best_bound {
                bound = bound.min(proved);
            }
            let Ok(answer) = outcome.into_solution() else { break };
            let found = model.columns(&answer);
            let optimistic = scaled.capped_value(&found, &cuts);
            if found.value > best.value {
                best = found.clone();
            }
            if answer.status() != SolutionStatus::Optimal {
                break;
            }
            // What the solver reports is exact within its tolerances only; what its `x` is worth
            // under the cuts is exact.
            bound = bound.min(optimistic);
            let cut = scaled.cut_at(found.width);
            if bound - best.value <= slack(bound) || cuts.contains(&cut) {
                return Ok((best.clone(), best.value));
            }
            model.add(&cut);
            cuts.push(cut);
        }
        Ok((best, bound))
    }
}

/// The distance at which bounds around `value` count as equal, in scaled units.
fn slack(value: f64) -> f64 {
    // The floor is for optima near 0 between terms near 1, where rounding is all that is left.
    TOLERANCE * value.abs() + 1e-12
}

/// Tangents where the continuous relaxation wants them; none when the problem is linear.
fn relaxation_cuts(
    scaled: &Scaled,
    options: SolveOptions,
    deadline: Option<Instant>,
    bound: &mut f64,
) -> Result<Vec<Cut>, microlp::Error> {
    if scaled.is_linear() {
        return Ok(Vec::new());
    }
    let mut cuts = vec![scaled.cut_at(scaled.total_width() / 4.0)];
    let model = Model::new(scaled, false, &cuts);
    let mut outcome = model.lp.solve_with(options)?;
    for _ in 0..RELAXED_ROUNDS {
        let Ok(answer) = outcome.into_solution() else { break };
        *bound = bound.min(answer.objective());
        let (width, excess) = model.relaxed_width(&answer);
        if excess <= RELAXED_TOLERANCE * answer.objective().abs() {
            break;
        }
        let cut = scaled.cut_at(width);
        // The solver would give every added cut the whole time limit again.
        if cuts.contains(&cut) || deadline.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        outcome = answer.add_constraint(model.row(&cut), microlp::ComparisonOp::Le, cut.offset)?;
        cuts.push(cut);
    }
    Ok(cuts)
}

impl Solver for TangentMilp {
    fn name(&self) -> &'static str {
        "milp"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let failed = |what| SolveError::Unsupported { solver: "milp", what };
        let Some(scaled) = Scaled::of(problem) else {
            return Err(failed("sums of requests above 2^53"));
        };
        let (best, bound) = if scaled.is_empty() {
            (Columns::default(), 0.0)
        } else {
            self.run(&scaled).map_err(|_| failed("these numbers: `microlp` gave up on them"))?
        };
        solution.chosen.clear();
        best.on.iter().for_each(|&(column, uses)| solution.chosen.push(scaled.channel(column), uses));
        solution.work = 0;
        if !problem.is_feasible(&solution.chosen) {
            return Err(failed("these requests: the answer of `microlp` broke a capacity or a job"));
        }
        solution.value = problem.value(&solution.chosen);
        solution.method = self.name();
        if bound <= best.value {
            solution.guarantee = Guarantee::Optimal;
            solution.bound = solution.value;
        } else {
            solution.guarantee = Guarantee::Bounded;
            // The MILP solver proves within its tolerances only.
            solution.bound = ((bound + slack(bound)) * scaled.unit()).max(solution.value);
        }
        // The loop ends with the optimum, unless its rounds or its time end first.
        solution.stopped = Stopped::new(solution.guarantee, true);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
