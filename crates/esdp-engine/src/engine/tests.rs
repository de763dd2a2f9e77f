use super::*;
use std::sync::atomic::AtomicU64;

fn scenario(slots: u64) -> Scenario {
    let scenario = Scenario::preset("default").unwrap().set("slots", &slots.to_string()).unwrap();
    scenario.set("policies", "oracle, esdp, random").unwrap()
}

fn outcome(jobs: usize, seeds: &[u64]) -> RunOutcome {
    let scenario = scenario(150);
    simulate(&scenario, &Contender::of(&scenario), 150, seeds, &Options { jobs, ..Options::default() })
        .unwrap()
}

/// Everything but the times.
fn numbers(outcome: &RunOutcome) -> String {
    let mut outcome = outcome.clone();
    for policy in &mut outcome.policies {
        policy.runs.iter_mut().for_each(|run| run.summary.times = Default::default());
    }
    format!("{outcome:?}")
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let seeds = [4, 0, 9];
    let one = outcome(1, &seeds);
    assert_eq!(one.seeds, seeds);
    assert_eq!(numbers(&one), numbers(&outcome(3, &seeds)));
    // A seed does not depend on its company.
    assert_eq!(one.policies[1].runs[2].series, outcome(2, &[9]).policies[1].runs[0].series);
}

#[test]
fn the_oracle_is_the_yardstick() {
    let outcome = outcome(2, &[0, 1]);
    let ratio = |policy: usize| outcome.policies[policy].oracle_ratio().unwrap().mean;
    assert_eq!(ratio(0), 1.0);
    assert!(ratio(1) < 1.0 && ratio(1) > ratio(2), "{} {}", ratio(1), ratio(2));
    let curve = outcome.policies[0].curve(|point| point.average());
    assert_eq!(curve.len(), 150);
    assert!(outcome.policies[1].decision_us(0.5) > 0.0);
}

#[test]
fn every_slot_is_told_and_every_unit_is_heard_of() {
    let scenario = scenario(100);
    let policies = &Contender::of(&scenario);
    let units = [0, 1].map(|seed| Unit { scenario: &scenario, policies, slots: 100, seed });
    let (told, heard) = (AtomicU64::new(0), AtomicU64::new(0));
    let progress = |slots| {
        told.fetch_add(slots, Ordering::Relaxed);
    };
    let options = Options {
        progress: &progress,
        thinning: Thinning { points: 0, spacing: Spacing::Linear },
        ..Options::default()
    };
    let runs = run(&units, &options, &|unit, runs| {
        assert_eq!(runs.len(), 3);
        heard.fetch_add(unit as u64 + 1, Ordering::Relaxed);
        Ok(())
    });
    assert!(runs.unwrap().iter().flatten().flatten().all(|run| run.series.is_empty()));
    assert_eq!((told.into_inner(), heard.into_inner()), (work(&units), 3));
}

#[test]
fn what_is_complete_survives_a_cancel() {
    let scenario = scenario(100);
    let policies = &Contender::of(&scenario);
    let seeds: Vec<u64> = (0..5).collect();
    let units: Vec<Unit<'_>> =
        seeds.iter().map(|&seed| Unit { scenario: &scenario, policies, slots: 100, seed }).collect();
    let cancel = Cancel::never();
    let options = Options { jobs: 1, cancel: &cancel, ..Options::default() };
    let after_two = |unit: usize, _: &[PolicyRun]| {
        if unit == 1 {
            cancel.set();
        }
        Ok(())
    };
    let runs = run(&units, &options, &after_two).unwrap();
    let outcome = RunOutcome::collect(policies, 100, &seeds, runs);
    assert_eq!(outcome.seeds, [0, 1]);
    assert!(!outcome.is_complete() && outcome.policies.iter().all(|policy| policy.runs.len() == 2));
}

#[test]
fn a_failure_ends_the_rest() {
    let scenario = scenario(100);
    let policies = &Contender::of(&scenario);
    let units: Vec<Unit<'_>> =
        (0..50).map(|seed| Unit { scenario: &scenario, policies, slots: 100, seed }).collect();
    let heard = AtomicU64::new(0);
    let refuse = |_: usize, _: &[PolicyRun]| {
        heard.fetch_add(1, Ordering::Relaxed);
        Err("the disk is full".into())
    };
    let error = run(&units, &Options { jobs: 2, ..Options::default() }, &refuse).unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert!(heard.into_inner() < 10);
}
