//! Made-up evidence, to see every claim judged both ways.

use super::super::evidence::Measured;
use esdp::policy::PolicySpec;
use esdp::sim::{CurvePoint, Histogram, JobCounts, Summary};
use esdp_engine::{PolicyOutcome, PolicyRun, RunOutcome};

/// A horizon of 200 slots, one point of the curve a slot.
pub(super) const SLOTS: u64 = 200;
const SEEDS: u64 = 5;

/// A policy whose expected utility in slot *t* is given; the oracle gets 10 a slot.
pub(super) struct MadeUpPolicy<'a> {
    pub(super) label: &'a str,
    pub(super) spec: PolicySpec,
    pub(super) utility: Box<dyn Fn(u64) -> f64>,
    pub(super) explored: u64,
    pub(super) micros: u64,
}

pub(super) fn steady(label: &str, utility: f64) -> MadeUpPolicy<'_> {
    moving(label, move |_| utility)
}

pub(super) fn moving(label: &str, utility: impl Fn(u64) -> f64 + 'static) -> MadeUpPolicy<'_> {
    let spec = label.parse().unwrap_or(PolicySpec::Oracle {});
    MadeUpPolicy { label, spec, utility: Box::new(utility), explored: 0, micros: 100 }
}

/// One point of a source, with some noise between seeds that all policies share.
pub(super) fn measured(x: f64, policies: &[MadeUpPolicy<'_>]) -> Measured {
    let policies = policies.iter().map(|made| PolicyOutcome {
        label: made.label.to_owned(),
        spec: Some(made.spec.clone()),
        runs: (0..SEEDS).map(|seed| run(made, seed)).collect(),
    });
    let seeds: Vec<u64> = (0..SEEDS).collect();
    Measured {
        x,
        outcome: RunOutcome { slots: SLOTS, asked: seeds.clone(), seeds, policies: policies.collect() },
    }
}

fn run(made: &MadeUpPolicy<'_>, seed: u64) -> PolicyRun {
    let luck = 1.0 + 0.01 * seed as f64;
    let mut times = Histogram::default();
    times.add(made.micros * 1000);
    let mut series: Vec<CurvePoint> = Vec::new();
    let (mut aou, mut oracle) = (0.0, 0.0);
    for slot in 1..=SLOTS {
        aou += luck * (made.utility)(slot);
        oracle += luck * 10.0;
        series.push(CurvePoint { slot, aou, realised: aou, oracle: Some(oracle), waited: 0 });
    }
    let summary = Summary {
        slots: SLOTS,
        aou,
        realised: aou,
        oracle: Some(oracle),
        jobs: JobCounts::default(),
        uses: 100,
        unsure: made.explored + seed % 2,
        learns: true,
        solved: SLOTS,
        proved: SLOTS,
        used: vec![],
        available: vec![],
        times,
    };
    PolicyRun { summary, series, insights: Vec::new(), estimates: Vec::new() }
}

/// Leaves the first seed only.
pub(super) fn single_seed(measured: &mut Measured) {
    measured.outcome.seeds.truncate(1);
    measured.outcome.policies.iter_mut().for_each(|policy| policy.runs.truncate(1));
}
