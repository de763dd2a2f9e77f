//! `esdp` alone: several policies on the paper's default scenario, in seconds.

use crate::bench::{percentile, sorted};
use crate::output;
use crate::progress;
use crate::table::{self, Table};
use esdp::model::Arrivals;
use esdp::policy::{PolicySpec, Truth};
use esdp::sim::{Environment, RandomCluster, Setting, Workload};
use std::time::Instant;

const POLICIES: [&str; 6] = ["oracle", "esdp", "cts", "esdp-paper", "hauf", "random"];
const SLOTS: u64 = 2_000;
const SEEDS: u64 = 5;
/// The share of slots in which a port has a job.
const RHO: f64 = 0.9;

/// What a policy did under one seed.
struct Outcome {
    aou: f64,
    /// Microseconds of each decision.
    times: Vec<f64>,
}

/// Runs the demonstration.
///
/// # Errors
/// When a policy gives no decision or standard output cannot be written.
pub fn run() -> anyhow::Result<()> {
    let bar = progress::bar(POLICIES.len() as u64 * SEEDS, false);
    let settings = (0..SEEDS).map(|seed| Setting::new(&RandomCluster::default(), RHO, seed));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let mut oracle = Vec::new();
    let mut rows = Table::new(&["policy", "oracle ratio", "AOU", "regret", "decision p50"]);
    for name in POLICIES {
        bar.set_message(name);
        let policy: PolicySpec = name.parse()?;
        let mut outcomes = Vec::new();
        for setting in &settings {
            outcomes.push(simulate(setting, &policy)?);
            bar.inc(1);
        }
        let aou: Vec<f64> = outcomes.iter().map(|outcome| outcome.aou).collect();
        if oracle.is_empty() {
            oracle.clone_from(&aou);
        }
        let against =
            |f: fn(f64, f64) -> f64| oracle.iter().zip(&aou).map(|(&best, &aou)| f(best, aou)).collect::<Vec<_>>();
        let times = sorted(outcomes.iter().flat_map(|outcome| outcome.times.iter().copied()));
        rows.row([
            name.to_owned(),
            spread(&against(|best, aou| aou / best), 3),
            spread(&aou, 0),
            spread(&against(|best, aou| best - aou), 0),
            table::duration(percentile(&times, 0.5)),
        ]);
    }
    bar.finish_and_clear();
    output::print(&format!(
        "The paper's default scenario, {SLOTS} slots, {SEEDS} seeds\n\
         (mean and standard error; AOU is the expected utility of all choices)\n\n{}\n\
         `esdp --help` lists the commands.\n",
        rows.render()
    ))
}

fn simulate(setting: &Setting, policy: &PolicySpec) -> anyhow::Result<Outcome> {
    let mut scheduler = setting.scheduler(policy)?;
    let (mut workload, mut environment) = (setting.workload(), setting.environment());
    let mut arrivals = Arrivals::everywhere(setting.cluster().ports().len());
    let mut outcome = Outcome { aou: 0.0, times: Vec::new() };
    let mut seen = Vec::new();
    for _ in 0..SLOTS {
        let slot = scheduler.slot().next();
        workload.arrivals(slot, &mut arrivals);
        let started = Instant::now();
        let decision = scheduler.decide(&arrivals, None)?;
        outcome.times.push(started.elapsed().as_nanos() as f64 / 1e3);
        let means = environment.means(slot);
        outcome.aou += decision.channels().iter().map(|channel| means[channel.index()]).sum::<f64>();
        seen.clear();
        environment.run(decision, &mut seen);
        for seen in &seen {
            scheduler.observe(seen)?;
        }
    }
    Ok(outcome)
}

/// Mean and standard error.
fn spread(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    format!("{mean:.digits$} ± {:.digits$}", (variance / n).sqrt())
}
