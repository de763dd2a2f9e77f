//! What was measured: every source with its points, policies and seeds.

use super::reading::Reading;
use super::source::Source;
use esdp::policy::{PolicySpec, RoundedSolver};
use esdp::sim::{CurvePoint, Summary};
use esdp_engine::{PolicyOutcome, PolicyRun, RunOutcome};
use std::collections::BTreeMap;

/// The results of all sources that are complete.
#[derive(Debug, Default)]
pub(super) struct Evidence(BTreeMap<Source, Vec<Measured>>);

/// The horizons that are compared, as shares of the longest: 500 to 8000 slots at full size.
const HORIZONS: [f64; 6] = [1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 3.0 / 4.0, 1.0];

/// One point of a source: the value of what it varies, and what came out.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// Its place on the axis of the figure; 0 where nothing is varied.
    pub(super) x: f64,
    pub(super) outcome: RunOutcome,
}

impl Evidence {
    pub(super) fn add(&mut self, source: Source, points: Vec<Measured>) {
        self.0.insert(source, points);
    }

    /// What a reading takes for the paper's experiments, under the names of the first one.
    pub(super) fn under(&self, reading: Reading) -> Evidence {
        let taken = self.0.iter().filter_map(|(&source, points)| {
            let points = points.iter().map(|point| point.under(reading)).collect();
            Some((reading.stands_for(source)?, points))
        });
        Evidence(taken.collect())
    }

    /// The points of a source; none where it was not asked for or is not complete.
    pub(super) fn points(&self, source: Source) -> Option<&[Measured]> {
        self.0.get(&source).map(Vec::as_slice).filter(|points| !points.is_empty())
    }

    /// The run over time, cut at several horizons.
    ///
    /// No policy knows *T*, and chance is keyed by slot, so a run of 8000 slots starts as one of 500
    /// would: to run each horizon by itself would give the same numbers.
    pub(super) fn horizons(&self) -> Option<Vec<Measured>> {
        let run = self.single(Source::Time)?;
        let mut ends: Vec<u64> = HORIZONS.iter().filter_map(|&share| run.slot_at(share)).collect();
        ends.dedup();
        (!ends.is_empty()).then(|| ends.into_iter().map(|slot| run.cut(slot)).collect())
    }

    /// The only point of a source that varies nothing.
    pub(super) fn single(&self, source: Source) -> Option<&Measured> {
        self.points(source)?.first()
    }
}

impl Measured {
    /// Joins neighbours at the same place, whose seeds were simulated one by one.
    pub(super) fn joined(points: Vec<Measured>) -> Vec<Measured> {
        let mut all: Vec<Measured> = Vec::new();
        for point in points {
            match all.last_mut().filter(|last| last.x == point.x) {
                Some(Measured { outcome, .. }) => {
                    outcome.asked.extend(point.outcome.asked);
                    outcome.seeds.extend(point.outcome.seeds);
                    let more = point.outcome.policies.into_iter().map(|policy| policy.runs);
                    outcome.policies.iter_mut().zip(more).for_each(|(policy, more)| policy.runs.extend(more));
                }
                None => all.push(point),
            }
        }
        all
    }

    /// The same with the baselines that a reading takes.
    fn under(&self, reading: Reading) -> Measured {
        let mut outcome = self.outcome.clone();
        outcome.policies.retain_mut(|policy| match reading.names(&policy.label).map(str::to_owned) {
            Some(name) => {
                policy.label = name;
                true
            }
            None => false,
        });
        Measured { x: self.x, outcome }
    }

    pub(super) fn policy(&self, label: &str) -> Option<&PolicyOutcome> {
        self.outcome.policies.iter().find(|policy| policy.label == label)
    }

    /// The variants of the paper's policy, in the order of the scenario.
    pub(super) fn paper_variants(&self) -> impl Iterator<Item = &PolicyOutcome> {
        self.outcome.policies.iter().filter(|policy| matches!(policy.spec, Some(PolicySpec::EsdpPaper(_))))
    }

    /// The paper's policy with its own dynamic program.
    pub(super) fn dynamic_program(&self) -> Option<&PolicyOutcome> {
        self.paper_variants().find(|policy| match &policy.spec {
            Some(PolicySpec::EsdpPaper(paper)) => paper.solver == RoundedSolver::Paper,
            _ => false,
        })
    }

    /// A number of every seed; empty where the policy did not run.
    pub(super) fn each(&self, label: &str, value: impl Fn(&Summary) -> f64) -> Vec<f64> {
        self.policy(label).map(|policy| summaries(policy, value)).unwrap_or_default()
    }

    pub(super) fn aou(&self, label: &str) -> Vec<f64> {
        self.each(label, |summary| summary.aou)
    }

    pub(super) fn oracle_ratio(&self, label: &str) -> Vec<f64> {
        self.each(label, |summary| summary.oracle_ratio().unwrap_or(1.0))
    }

    /// A number of the curve of every seed, at the last point within this share of the horizon.
    pub(super) fn at(&self, label: &str, share: f64, value: impl Fn(&CurvePoint) -> f64) -> Vec<f64> {
        let end = share * self.outcome.slots as f64 + 0.5;
        let read = |run: &PolicyRun| {
            let within = run.series.iter().take_while(|point| point.slot as f64 <= end);
            within.last().or(run.series.first()).map(&value)
        };
        self.policy(label).map(|policy| policy.runs.iter().filter_map(read).collect()).unwrap_or_default()
    }

    /// The slot of the last point of the curves within this share of the horizon.
    fn slot_at(&self, share: f64) -> Option<u64> {
        let curve = &self.outcome.policies.first()?.runs.first()?.series;
        let end = share * self.outcome.slots as f64 + 0.5;
        curve.iter().map(|point| point.slot).take_while(|&slot| slot as f64 <= end).last()
    }

    /// The run as it stood after a slot. Only utilities are cut; times and counts remain those of all slots.
    fn cut(&self, slot: u64) -> Measured {
        let mut cut = Measured { x: slot as f64, outcome: self.outcome.clone() };
        cut.outcome.slots = slot;
        for run in cut.outcome.policies.iter_mut().flat_map(|policy| &mut policy.runs) {
            run.series.retain(|point| point.slot <= slot);
            if let Some(&CurvePoint { aou, realised, oracle, .. }) = run.series.last() {
                run.summary = Summary { slots: slot, aou, realised, oracle, ..run.summary.clone() };
            }
        }
        cut
    }

    /// The curves of every seed.
    pub(super) fn curves(&self, label: &str) -> Vec<&[CurvePoint]> {
        self.policy(label)
            .map(|policy| policy.runs.iter().map(|run| run.series.as_slice()).collect())
            .unwrap_or_default()
    }
}

/// A number of every seed.
pub(super) fn summaries(policy: &PolicyOutcome, value: impl Fn(&Summary) -> f64) -> Vec<f64> {
    policy.runs.iter().map(|run| value(&run.summary)).collect()
}

/// Median microseconds a decision, for every seed.
pub(super) fn decision_us(policy: &PolicyOutcome) -> Vec<f64> {
    policy.runs.iter().filter_map(|run| run.summary.decision_us(0.5)).collect()
}
