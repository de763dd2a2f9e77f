//! The paper's DP and general MILP solvers on a sample of the same problems.

use super::measure::{Measured, Sampled};
use super::summary::{percentile, sorted};
use esdp::solver::{Guarantee, Paper, Solution, Solver};
use esdp_milp::{Highs, TangentMilp};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The rivals, in the order of their figures.
pub(super) const NAMES: [&str; 3] = ["paper", "milp", "highs"];

/// The rivals that were asked for.
pub(super) struct Field {
    pub(super) paper: bool,
    pub(super) milp: bool,
    /// HiGHS, or why it does not run.
    pub(super) highs: Option<Result<Highs, String>>,
}

/// What a rival did, as it is reported.
#[derive(Debug, Default, Serialize)]
pub(super) struct RivalFigures {
    pub(super) name: &'static str,
    pub(super) decisions: usize,
    /// Those of them in which the time limit came first.
    pub(super) unfinished: usize,
    pub(super) p50_us: Option<f64>,
    pub(super) p95_us: Option<f64>,
    pub(super) max_us: Option<f64>,
    /// The exact solver's median on the same problems.
    pub(super) exact_p50_us: Option<f64>,
    pub(super) ratio_p50: Option<f64>,
    /// The median and the largest certified gap of its answers, 0 where it finished.
    pub(super) median_gap: Option<f64>,
    pub(super) largest_gap: Option<f64>,
    /// The largest relative distance between the values of the two.
    pub(super) largest_difference: Option<f64>,
    /// How many problems it would not take.
    pub(super) refused: usize,
    /// Why, for the first of them.
    pub(super) refusal: Option<String>,
}

/// The largest table that the paper's dynamic program may fill here.
const PAPER_BYTES: u128 = 2 << 30;

/// Lets each rival solve as much of the sample as its time allows.
pub(super) fn compare(run: &Measured, field: &mut Field, time: Duration) -> Vec<RivalFigures> {
    let mut figures = Vec::new();
    if field.paper {
        figures.push(race(&mut Paper::default().with_memory_limit(PAPER_BYTES), run, time));
    }
    if field.milp {
        // The time limit is for the first slots of a learner, where everything is worth the same
        // and branch and bound does not end.
        figures.push(race(&mut TangentMilp::default().with_time_limit(time), run, time));
    }
    match &mut field.highs {
        None => {}
        Some(Ok(highs)) => figures.push(race(highs, run, time)),
        Some(Err(cause)) => figures.push(RivalFigures {
            name: "highs",
            refused: run.sample.len(),
            refusal: Some(cause.clone()),
            ..RivalFigures::default()
        }),
    }
    figures
}

/// A rival, and whether an answer of it is its last word.
trait Rival: Solver {
    fn finished(&self, _solution: &Solution) -> bool {
        true
    }

    /// How long it took for its last answer, if that is not the time of the call.
    fn own_time(&self) -> Option<Duration> {
        None
    }
}

impl Rival for Paper {}

impl Rival for Highs {
    fn finished(&self, solution: &Solution) -> bool {
        solution.guarantee == Guarantee::Optimal
    }

    fn own_time(&self) -> Option<Duration> {
        Some(self.last_run())
    }
}

impl Rival for TangentMilp {
    fn finished(&self, solution: &Solution) -> bool {
        solution.guarantee == Guarantee::Optimal
    }
}

fn race(rival: &mut dyn Rival, run: &Measured, time: Duration) -> RivalFigures {
    let mut figures = RivalFigures { name: rival.name(), ..RivalFigures::default() };
    let started = Instant::now();
    let mut seen: Vec<(&Sampled, f64)> = Vec::new();
    let mut gaps = Vec::new();
    for sampled in spread(&run.sample).take_while(|_| started.elapsed() < time) {
        match solve(rival, sampled) {
            Err(cause) => {
                figures.refused += 1;
                figures.refusal.get_or_insert(cause);
            }
            Ok((solution, micros)) => {
                seen.push((sampled, micros));
                gaps.push(if solution.bound.is_finite() { solution.gap() } else { 1.0 });
                if rival.finished(&solution) {
                    let relative =
                        (solution.value - sampled.value).abs() / sampled.value.abs().max(f64::MIN_POSITIVE);
                    figures.largest_difference =
                        Some(figures.largest_difference.unwrap_or(0.0).max(relative));
                } else {
                    figures.unfinished += 1;
                }
            }
        }
    }
    if seen.is_empty() {
        return figures;
    }
    let times = sorted(seen.iter().map(|&(_, micros)| micros));
    let exact = percentile(&sorted(seen.iter().map(|(sampled, _)| sampled.micros)), 0.5);
    let gaps = sorted(gaps.into_iter());
    let p50 = percentile(&times, 0.5);
    RivalFigures {
        decisions: seen.len(),
        p50_us: Some(p50),
        p95_us: Some(percentile(&times, 0.95)),
        max_us: Some(percentile(&times, 1.0)),
        exact_p50_us: Some(exact),
        ratio_p50: Some(p50 / exact),
        median_gap: Some(percentile(&gaps, 0.5)),
        largest_gap: Some(percentile(&gaps, 1.0)),
        ..figures
    }
}

fn solve(solver: &mut dyn Rival, sampled: &Sampled) -> Result<(Solution, f64), String> {
    let problem = sampled.instance.problem().map_err(|error| error.to_string())?;
    let started = Instant::now();
    let solution = solver.solve(&problem).map_err(|error| error.to_string())?;
    let elapsed = solver.own_time().unwrap_or_else(|| started.elapsed());
    Ok((solution, elapsed.as_nanos() as f64 / 1e3))
}

/// The sample from both ends inwards and from the middle, so that a rival that runs out of
/// time has still seen early and late slots: steps of the golden ratio.
fn spread<T>(sample: &[T]) -> impl Iterator<Item = &T> {
    let len = sample.len();
    let mut order: Vec<usize> = (0..len).collect();
    let key = |&place: &usize| ((place as f64 + 1.0) * 0.618_033_988_749_895).fract();
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    order.into_iter().map(|place| &sample[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_seen_once_and_early_places_are_spread() {
        let sample: Vec<usize> = (0..50).collect();
        let order: Vec<usize> = spread(&sample).copied().collect();
        assert_eq!(sorted(order.iter().map(|&place| place as f64)).len(), 50);
        let first = &order[..6];
        assert!(first.iter().any(|&place| place < 17) && first.iter().any(|&place| place > 33), "{first:?}");
    }
}
