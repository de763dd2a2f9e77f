//! `seeds.csv`: every number of every policy under every seed, for statistics of one's own.

use crate::{PolicyRun, RunOutcome};
use esdp_report::csv;

/// The columns before the utilisation, which has one for each device; the times come last.
const KEYS: [&str; 15] = [
    "aou",
    "oracle_aou",
    "oracle_ratio",
    "regret",
    "realised_aou",
    "exploration_share",
    "proved_share",
    "started_share",
    "deferred",
    "jain",
    "jct",
    "jct_p50",
    "jct_p99",
    "wait",
    "makespan",
];
const TIMES: [&str; 2] = ["decision_us_p50", "decision_us_p99"];

/// One row per policy and seed; empty where a number does not apply.
pub(super) fn csv(outcome: &RunOutcome) -> String {
    let runs = || outcome.policies.iter().flat_map(|policy| &policy.runs);
    let devices = runs().map(|run| run.summary.used.len()).max().unwrap_or(0);
    let device_names: Vec<String> = (0..devices).map(|device| format!("utilisation_{device}")).collect();
    let devices_and_times = device_names.iter().map(String::as_str).chain(TIMES);
    let mut text = csv::line(["policy", "seed", "slots"].into_iter().chain(KEYS).chain(devices_and_times));
    for policy in &outcome.policies {
        for (run, seed) in policy.runs.iter().zip(&outcome.seeds) {
            let head = [policy.label.clone(), seed.to_string(), run.summary.slots.to_string()];
            text += &csv::line(head.into_iter().chain(numbers(run, devices).map(cell)));
        }
    }
    text
}

fn numbers(run: &PolicyRun, devices: usize) -> impl Iterator<Item = Option<f64>> {
    let summary = &run.summary;
    let jobs = &summary.jobs;
    let finished = jobs.finished() > 0;
    let keys: [Option<f64>; KEYS.len()] = [
        Some(summary.aou),
        summary.oracle,
        summary.oracle_ratio(),
        summary.regret(),
        Some(summary.realised),
        summary.learns.then(|| summary.exploration_share()),
        (summary.solved > 0).then(|| summary.proved_share()),
        Some(jobs.all_started() as f64 / jobs.all_arrived().max(1) as f64),
        Some(jobs.deferred as f64),
        Some(jobs.jain()),
        jobs.mean_completion(),
        jobs.completion.percentile(0.5),
        jobs.completion.percentile(0.99),
        jobs.mean_wait(),
        finished.then_some(jobs.makespan as f64),
    ];
    let used = summary.utilisation();
    let used: Vec<Option<f64>> = (0..devices).map(|device| used.get(device).copied()).collect();
    let times = [0.5, 0.99].map(|share| summary.decision_us(share));
    keys.into_iter().chain(used).chain(times)
}

/// The shortest text that reads back as the same number; empty for none.
pub(super) fn cell(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
