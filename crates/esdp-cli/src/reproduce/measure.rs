//! Simulates a source, or takes it from the parts that are there.

use super::evidence::Measured;
use super::source::{Place, Source};
use crate::progress::Progress;
use crate::{interrupt, store};
use esdp_engine::{self as engine, Options, PolicyRun, RunOutcome, Thinning, Unit, part};
use std::path::Path;

/// A source with the points that it shall have.
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) places: Vec<Place>,
}

/// The results of a place and seed, where they are known.
pub(super) type Known = Option<Vec<PolicyRun>>;

impl Task {
    /// The units of every place and seed, place after place, with the names of their parts.
    fn units(&self) -> Vec<(Unit<'_>, String)> {
        let mut units = Vec::new();
        for Place { scenario, policies, .. } in &self.places {
            let key = part::key(scenario);
            // Curves are part of the results, so two lengths of them must not be mistaken for each other.
            let name = |seed: u64| format!("{key:032x}-{}-{seed}", self.source.curve_points());
            let unit = |&seed| Unit { scenario, policies, slots: scenario.slots(), seed };
            units.extend(scenario.seeds().iter().map(|seed| (unit(seed), name(*seed))));
        }
        units
    }

    /// What is there already, unit by unit.
    pub(super) fn stored(&self, out: &Path) -> Vec<Known> {
        self.units().iter().map(|(unit, key)| store::load(&[out], key, unit)).collect()
    }

    /// The slots that are still to be simulated.
    pub(super) fn work(&self, stored: &[Known]) -> u64 {
        let missing = self.units().into_iter().zip(stored).filter(|(_, stored)| stored.is_none());
        engine::work(&missing.map(|((unit, _), _)| unit).collect::<Vec<_>>())
    }

    /// Simulates what is missing. None where Ctrl-C came first; what was done is stored.
    pub(super) fn run(
        &self,
        mut known: Vec<Known>,
        out: &Path,
        jobs: usize,
        progress: &Progress,
    ) -> anyhow::Result<Option<Vec<Measured>>> {
        progress.message(self.source.name());
        let units = self.units();
        let missing: Vec<usize> = (0..units.len()).filter(|&at| known[at].is_none()).collect();
        let todo: Vec<Unit<'_>> = missing.iter().map(|&at| units[at].0).collect();
        let advance = |slots| progress.advance(slots);
        let options = Options {
            // Decisions that are timed run alone.
            jobs: if self.source.is_timed() { 1 } else { jobs },
            thinning: Thinning { points: self.source.curve_points(), ..Thinning::default() },
            cancel: interrupt::on_ctrl_c(),
            progress: &advance,
            ..Options::default()
        };
        let runs = engine::run(&todo, &options, &|at, runs| {
            let (unit, key) = &units[missing[at]];
            Ok(store::store(out, key, unit, runs.to_vec())?)
        })?;
        missing.iter().zip(runs).for_each(|(&at, runs)| known[at] = runs);
        if known.iter().any(Option::is_none) {
            return Ok(None);
        }
        let mut known = known.into_iter();
        let measured = |Place { x, scenario, policies }: &Place| {
            let runs = known.by_ref().take(scenario.seeds().len());
            let outcome = RunOutcome::collect(policies, scenario.slots(), scenario.seeds(), runs);
            Measured { x: *x, outcome }
        };
        Ok(Some(Measured::joined(self.places.iter().map(measured).collect())))
    }
}
