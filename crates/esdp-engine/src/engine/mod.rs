//! Many policies and seeds at once, with the same bytes on any number of threads.
//!
//! A [`Unit`] is a scenario under one seed. Its policies meet the same arrivals and speeds
//! (common random numbers) and share one oracle track, the yardstick of regret. Each
//! (unit, policy) pair is a task of its own. Tasks are handed out in order, so units
//! complete in about that order and an interrupted run has whole seeds to show; results come
//! back in the order of the units, whoever computed them.

mod cancel;
mod task;

pub use cancel::Cancel;
pub(crate) use task::keeps_estimates;
pub use task::{MOST_ESTIMATES, PolicyRun, SlotSink};

use crate::{Contender, Failure, RunError, RunOutcome};
use esdp::scenario::Scenario;
use esdp::sim::Spacing;
use rayon::iter::{ParallelBridge, ParallelIterator};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use task::UnitState;

/// A scenario under one seed, for some policies.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The policies; the oracle is measured whether it is among them or not.
    pub policies: &'a [Contender],
    /// The horizon, *T*.
    pub slots: u64,
    /// The seed.
    pub seed: u64,
}

/// How many points of a run's curve are kept.
#[derive(Debug, Clone, Copy)]
pub struct Thinning {
    /// At most so many; 0 for no curve.
    pub points: usize,
    /// How they are spread.
    pub spacing: Spacing,
}

impl Default for Thinning {
    fn default() -> Self {
        Self { points: 200, spacing: Spacing::Linear }
    }
}

/// Is told of each unit that is complete, and may keep or store what its policies did.
pub type Finished<'a> = dyn Fn(usize, &[PolicyRun]) -> Result<(), Failure> + Sync + 'a;

/// Makes the per-slot record of a (unit, policy) pair.
pub type MakeSink<'a> = dyn Fn(usize, usize) -> Result<Box<dyn SlotSink>, Failure> + Sync + 'a;

/// How to run; nothing in here changes a result.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Threads; 0 for one per core.
    pub jobs: usize,
    /// How much of the curves is kept.
    pub thinning: Thinning,
    /// Asked between slots.
    pub cancel: &'a Cancel,
    /// Told how many more slots are done, from any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Makes a per-slot record where one is wanted.
    pub record: Option<&'a MakeSink<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        static NEVER: LazyLock<Cancel> = LazyLock::new(Cancel::never);
        Self { jobs: 0, thinning: Thinning::default(), cancel: &NEVER, progress: &|_| (), record: None }
    }
}

/// The slots that units ask for, over all policies: the length of a progress bar.
pub fn work(units: &[Unit<'_>]) -> u64 {
    units
        .iter()
        .map(|unit| unit.slots.saturating_mul(unit.policies.len() as u64))
        .fold(0, u64::saturating_add)
}

/// Runs every policy of every unit. `finished` gets each unit that is complete, from the thread
/// that completed it, and nothing is kept: a sweep may have more units than fit the memory. A
/// unit that the cancel flag cut short is not heard of.
///
/// # Errors
/// The first failure, in the order of the units, of those that happened; the rest is stopped.
pub fn each(
    units: &[Unit<'_>],
    options: &Options<'_>,
    finished: &(dyn Fn(usize, Vec<PolicyRun>) -> Result<(), Failure> + Sync),
) -> Result<(), RunError> {
    let states: Vec<UnitState> = units.iter().map(|unit| UnitState::new(unit.policies.len())).collect();
    let failed = AtomicBool::new(false);
    let failure: Mutex<Option<(usize, RunError)>> = Mutex::new(None);
    let stopped = || options.cancel.is_set() || failed.load(Ordering::Relaxed);
    let attempt = |(unit, policy): (usize, usize)| {
        if stopped() {
            return;
        }
        let result = states[unit].run(&units[unit], (unit, policy), options, &stopped, finished);
        if let Err(error) = result {
            failed.store(true, Ordering::Relaxed);
            let mut first = task::lock(&failure);
            if first.as_ref().is_none_or(|(earlier, _)| unit < *earlier) {
                *first = Some((unit, error));
            }
        }
    };
    let tasks = units
        .iter()
        .enumerate()
        .flat_map(|(unit, of)| (0..of.policies.len()).map(move |policy| (unit, policy)));
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().map_err(RunError::Threads)?;
    // Bridged, not split in halves: tasks start in order, see above.
    pool.install(|| tasks.par_bridge().for_each(attempt));
    if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    Ok(())
}

/// Runs every policy of every unit and keeps what they did, in the order of the units; a unit that was
/// cut short by the cancel flag is `None`. `finished` hears of each that is complete.
///
/// # Errors
/// As [`each`].
pub fn run(
    units: &[Unit<'_>],
    options: &Options<'_>,
    finished: &Finished<'_>,
) -> Result<Vec<Option<Vec<PolicyRun>>>, RunError> {
    let kept: Mutex<Vec<Option<Vec<PolicyRun>>>> = Mutex::new(vec![None; units.len()]);
    each(units, options, &|unit, runs| {
        finished(unit, &runs)?;
        task::lock(&kept)[unit] = Some(runs);
        Ok(())
    })?;
    Ok(kept.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one scenario under several seeds.
///
/// # Errors
/// When a policy cannot be built or gives no decision.
pub fn simulate(
    scenario: &Scenario,
    policies: &[Contender],
    slots: u64,
    seeds: &[u64],
    options: &Options<'_>,
) -> Result<RunOutcome, RunError> {
    let units: Vec<Unit<'_>> = seeds.iter().map(|&seed| Unit { scenario, policies, slots, seed }).collect();
    let runs = run(&units, options, &|_, _| Ok(()))?;
    Ok(RunOutcome::collect(policies, slots, seeds, runs))
}

#[cfg(test)]
mod tests;
