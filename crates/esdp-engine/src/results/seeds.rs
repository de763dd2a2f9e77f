//! `seeds.csv`: every number of every policy under every seed, for statistics of one's own.

use crate::{PolicyOutcome, PolicyRun, RunOutcome};
use esdp_report::csv;

/// The columns before the utilisation, which has one for each device; the times come last.
const KEYS: [&str; 25] = [
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
    "jct_max",
    "wait_p50",
    "wait_p99",
    "wait_max",
    "oldest_waiting",
    "never_started",
    "throughput",
    "lost_to_reservations",
    "lost_to_holds",
    "backlog_slope",
];
const TIMES: [&str; 2] = ["decision_us_p50", "decision_us_p99"];

/// The whole file of a run.
pub(super) fn csv(outcome: &RunOutcome) -> String {
    let all: Vec<(&str, Vec<SeedNumbers>)> = outcome
        .policies
        .iter()
        .map(|policy| (policy.label.as_str(), SeedNumbers::of(policy, outcome)))
        .collect();
    let numbers = || all.iter().flat_map(|(label, numbers)| numbers.iter().map(move |own| (*label, own)));
    let devices = numbers().map(|(_, own)| own.used.len()).max().unwrap_or(0);
    let mut text = csv::line(columns(devices));
    for (label, own) in numbers() {
        text += &csv::line(own.cells(label, devices));
    }
    text
}

/// The names of the columns, for so many devices.
pub(crate) fn columns(devices: usize) -> impl Iterator<Item = String> {
    let devices = (0..devices).map(|device| format!("utilisation_{device}"));
    let before = ["policy", "seed", "slots"].into_iter().chain(KEYS).map(str::to_owned);
    before.chain(devices).chain(TIMES.map(str::to_owned))
}

/// The numbers of a policy under one seed.
#[derive(Debug, Clone)]
pub(crate) struct SeedNumbers {
    seed: u64,
    slots: u64,
    keys: [Option<f64>; KEYS.len()],
    pub(crate) used: Vec<f64>,
    times: [Option<f64>; 2],
}

impl SeedNumbers {
    /// Those of every seed.
    pub(crate) fn of(policy: &PolicyOutcome, outcome: &RunOutcome) -> Vec<Self> {
        let runs = policy.runs.iter().zip(&outcome.seeds);
        runs.map(|(run, &seed)| numbers(run, seed, outcome.slots)).collect()
    }

    /// The cells in the order of the columns; a device that is not there is empty.
    pub(crate) fn cells(&self, label: &str, devices: usize) -> impl Iterator<Item = String> {
        let head = [label.to_owned(), self.seed.to_string(), self.slots.to_string()];
        let used = (0..devices).map(|device| self.used.get(device).copied());
        let numbers: Vec<String> = self.keys.into_iter().chain(used).chain(self.times).map(cell).collect();
        head.into_iter().chain(numbers)
    }
}

fn numbers(run: &PolicyRun, seed: u64, slots: u64) -> SeedNumbers {
    let summary = &run.summary;
    let jobs = &summary.jobs;
    let waits = jobs.mean_wait().is_some();
    let whole = |number: u64| waits.then_some(number as f64);
    let slope = jobs.backlog.growth().map(|growth| growth.slope);
    let per_slot = jobs.all_arrived() as f64 / slots as f64;
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
        whole(jobs.makespan),
        whole(jobs.longest.0),
        jobs.wait.percentile(0.5),
        jobs.wait.percentile(0.99),
        whole(jobs.longest.1),
        whole(jobs.oldest_waiting()),
        whole(jobs.never_started()),
        waits.then(|| jobs.throughput()),
        waits.then_some(jobs.lost.reservations),
        waits.then_some(jobs.lost.holds),
        slope.filter(|_| waits && per_slot > 0.0).map(|slope| slope / per_slot),
    ];
    let times = [0.5, 0.99].map(|share| summary.decision_us(share));
    SeedNumbers { seed, slots: summary.slots, keys, used: summary.utilisation(), times }
}

/// The shortest text that reads back as the same number; empty for none.
pub(super) fn cell(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
