//! Solves the instances of a case, each by every solver.

use super::FamilyCase;
use esdp::sim::families::Draw;
use esdp::solver::{Exact, Guarantee, Instance, Solution, Solver};
use esdp_milp::{Highs, TangentMilp};
use std::time::{Duration, Instant};

/// Beyond so many channels `microlp` takes minutes for its first relaxation, whatever its limit.
const MOST_CHANNELS_OF_MILP: usize = 10_000;

/// What one solver made of one instance.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Solved {
    pub(super) micros: f64,
    pub(super) value: f64,
    pub(super) bound: f64,
    pub(super) proved: bool,
}

impl Solved {
    fn new(solution: &Solution, micros: f64) -> Self {
        let proved = solution.guarantee == Guarantee::Optimal;
        Self { micros, value: solution.value, bound: solution.bound, proved }
    }

    /// The certified relative distance to the optimum; without any bound that is everything.
    pub(super) fn gap(&self) -> f64 {
        match self.proved {
            true => 0.0,
            false if self.bound.is_finite() => {
                (self.bound - self.value) / self.bound.abs().max(f64::MIN_POSITIVE)
            }
            false => 1.0,
        }
    }
}

/// An instance with everybody's answer: the exact solver's, and each rival's or why there is none.
#[derive(Debug)]
pub(in crate::bench) struct Compared {
    pub(super) exact: Solved,
    pub(super) rivals: Vec<Result<Solved, String>>,
}

/// The rivals that were asked for.
pub(in crate::bench) struct Rivals {
    pub(super) list: Vec<Rival>,
    time: Duration,
}

pub(super) enum Rival {
    /// HiGHS, or why it does not run.
    Highs(Box<Result<Highs, String>>),
    Milp,
}

impl Rivals {
    pub(in crate::bench) fn new(highs: bool, milp: bool, time: Duration) -> Self {
        let mut list = Vec::new();
        if highs {
            let started = Highs::start().map(|highs| highs.with_time_limit(time).with_tolerance(1e-6));
            list.push(Rival::Highs(Box::new(started.map_err(|error| error.to_string()))));
        }
        if milp {
            list.push(Rival::Milp);
        }
        Self { list, time }
    }
}

impl Rival {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Highs(_) => "highs",
            Self::Milp => "milp",
        }
    }

    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::Highs(highs) => highs.as_ref().as_ref().ok().map(|highs| highs.version().to_owned()),
            Self::Milp => None,
        }
    }

    fn solve(&mut self, instance: &Instance, time: Duration) -> Result<Solved, String> {
        let problem = instance.problem().map_err(|error| error.to_string())?;
        match self {
            Self::Highs(highs) => {
                let highs = highs.as_mut().as_mut().map_err(|error| error.clone())?;
                let solution = highs.answer(&problem).map_err(|error| error.to_string())?;
                Ok(Solved::new(&solution, highs.last_run().as_nanos() as f64 / 1e3))
            }
            Self::Milp if problem.len() > MOST_CHANNELS_OF_MILP => Err(format!(
                "not asked: beyond {MOST_CHANNELS_OF_MILP} channels it takes minutes whatever its time limit"
            )),
            Self::Milp => timed(&mut TangentMilp::default().with_time_limit(time), instance),
        }
    }
}

fn timed(solver: &mut dyn Solver, instance: &Instance) -> Result<Solved, String> {
    let problem = instance.problem().map_err(|error| error.to_string())?;
    let started = Instant::now();
    let solution = solver.solve(&problem).map_err(|error| error.to_string())?;
    Ok(Solved::new(&solution, started.elapsed().as_nanos() as f64 / 1e3))
}

/// Solves every instance of a case; `each` hears of every instance first.
pub(in crate::bench) fn measure(
    case: &FamilyCase,
    rivals: &mut Rivals,
    mut each: impl FnMut(&Draw, &Instance) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Compared>> {
    let mut exact = Exact::default();
    let mut compared = Vec::new();
    for draw in case.draws() {
        let instance = draw.instance();
        each(&draw, &instance)?;
        let failed = |cause: String| anyhow::anyhow!("{draw}: {cause}");
        if compared.is_empty() {
            // Once unmeasured: in a service its buffers are as large as they need to be.
            timed(&mut exact, &instance).map_err(failed)?;
        }
        let exact = timed(&mut exact, &instance).map_err(failed)?;
        let rivals = rivals.list.iter_mut().map(|rival| rival.solve(&instance, rivals.time)).collect();
        compared.push(Compared { exact, rivals });
    }
    Ok(compared)
}
