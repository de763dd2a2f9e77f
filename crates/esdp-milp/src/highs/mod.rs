//! HiGHS, the strongest open MILP solver: never needed to build, used where it is installed.
//!
//! HiGHS is a C++ library. Its Python package `highspy` is a prebuilt one that any machine can get,
//! so [`Highs`] starts a Python process once and sends it one problem after the other; the model is in
//! `worker.py`. Only the time that HiGHS itself runs is reported ([`Highs::last_run`]): neither
//! Python's start, nor the building of the model, nor the way there and back.
//!
//! The answer is checked here: its value is computed from the chosen uses, and uses that break a limit
//! are refused. The bound is HiGHS's own, proved within its tolerances of about `1e-9`.

mod worker;

use esdp::solver::{Guarantee, Problem, Solution, SolveError, Solver, Stopped, Uses};
use std::time::Duration;
use thiserror::Error;
use worker::{Answer, Question, Worker};

/// The environment variable that names another Python than `python3`.
pub const PYTHON_VARIABLE: &str = "ESDP_PYTHON";

/// Why HiGHS does not run.
#[derive(Debug, Error)]
pub enum HighsError {
    /// Not installed. Fatal, until it is.
    #[error(
        "HiGHS is not installed ({cause}): run `{python} -m pip install highspy`, or name a Python that has \
         it \
         in {PYTHON_VARIABLE}"
    )]
    Missing {
        /// The Python that was tried.
        python: String,
        /// Its words.
        cause: String,
    },
    /// It gave no answer to a problem. The next problem gets a new process.
    #[error("HiGHS gave no answer: {cause}")]
    NoAnswer {
        /// What happened.
        cause: String,
    },
}

/// Solves the slot's problem with HiGHS.
///
/// A [`Solver`], so that it can stand where others do; whoever wants to know why it failed calls
/// [`answer`](Highs::answer).
#[derive(Debug)]
pub struct Highs {
    worker: Option<Worker>,
    time_limit: Duration,
    tolerance: f64,
    last_run: Duration,
}

impl Highs {
    /// Starts the process, which takes some tenths of a second. No time limit; bounds count as met at
    /// a distance of `1e-9`.
    ///
    /// # Errors
    /// When there is no Python or it has no `highspy`, with what to install.
    pub fn start() -> Result<Self, HighsError> {
        let worker = Some(Worker::start()?);
        Ok(Self {
            worker,
            time_limit: Duration::from_secs(1_000_000),
            tolerance: 1e-9,
            last_run: Duration::ZERO,
        })
    }

    /// Stops after this long, with the best found and the bound proved so far.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { time_limit: limit, ..self }
    }

    /// The relative distance at which value and bound count as equal.
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The version of HiGHS.
    pub fn version(&self) -> &str {
        self.worker.as_ref().map_or("", Worker::version)
    }

    /// How long HiGHS itself ran for the last answer.
    pub fn last_run(&self) -> Duration {
        self.last_run
    }

    /// Solves a problem.
    ///
    /// # Errors
    /// When HiGHS gives no answer, or one that breaks a limit.
    pub fn answer(&mut self, problem: &Problem<'_>) -> Result<Solution, HighsError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start()?,
        };
        let question = Question::new(problem, self.time_limit, self.tolerance);
        // A process that failed is not used again.
        let answer = worker.ask(&question, self.time_limit)?;
        self.worker = Some(worker);
        let no_answer = |cause: String| HighsError::NoAnswer { cause };
        let Answer { uses, bound, seconds, proved, late, error } = answer;
        if let Some(cause) = error {
            return Err(no_answer(cause));
        }
        self.last_run = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let mut chosen = Uses::default();
        uses.iter().for_each(|&(channel, count)| chosen.push(channel, count));
        chosen.sort();
        if chosen.channels().any(|channel| channel as usize >= problem.len()) || !problem.is_feasible(&chosen)
        {
            return Err(no_answer("its answer, rounded to whole numbers, breaks a limit".to_owned()));
        }
        let value = problem.value(&chosen);
        let (bound, guarantee) = match proved {
            true => (value, Guarantee::Optimal),
            false => (bound.unwrap_or(f64::INFINITY).max(value), Guarantee::Bounded),
        };
        let stopped = Stopped::new(guarantee, late);
        Ok(Solution { chosen, value, bound, guarantee, stopped, method: "highs", work: 0 })
    }
}

impl Solver for Highs {
    fn name(&self) -> &'static str {
        "highs"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let unsupported =
            |_| SolveError::Unsupported { solver: "highs", what: "these numbers: HiGHS gave no answer" };
        *solution = self.answer(problem).map_err(unsupported)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
