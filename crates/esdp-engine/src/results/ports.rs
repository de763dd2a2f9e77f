//! `ports.csv`: what became of the jobs of every port.

use super::seeds::cell;
use crate::RunOutcome;
use esdp_report::csv;

const COLUMNS: [&str; 10] = [
    "policy",
    "seed",
    "port",
    "arrived",
    "started",
    "done",
    "jct",
    "wait",
    "never_started",
    "oldest_waiting",
];

/// One row per policy, seed and port. Times are empty where jobs last one slot.
pub(super) fn csv(outcome: &RunOutcome, ports: &[String]) -> String {
    let mut text = csv::line(COLUMNS.map(str::to_owned));
    for policy in &outcome.policies {
        for (run, seed) in policy.runs.iter().zip(&outcome.seeds) {
            let jobs = &run.summary.jobs;
            let waits = jobs.mean_wait().is_some();
            let whole = |number: u64| cell(waits.then_some(number as f64));
            for (at, port) in ports.iter().enumerate() {
                let names = [policy.label.clone(), seed.to_string(), port.clone()];
                let counts = [jobs.arrived[at].to_string(), jobs.started[at].to_string()];
                let times = [cell(jobs.mean_completion_at(at)), cell(jobs.mean_wait_at(at))];
                let left = [whole(jobs.arrived[at] - jobs.started[at]), whole(jobs.oldest[at])];
                let done = whole(jobs.done[at]);
                text += &csv::line(names.into_iter().chain(counts).chain([done]).chain(times).chain(left));
            }
        }
    }
    text
}
