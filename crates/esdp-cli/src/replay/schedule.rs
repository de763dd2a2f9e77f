//! `schedule.json`: a run in a few numbers, with the keys of Batsim's `_schedule.csv`.

use esdp::scenario::Scenario;
use esdp_engine::RunOutcome;
use serde::Serialize;

/// One run.
#[derive(Debug, Serialize)]
struct Schedule<'a> {
    policy: &'a str,
    seed: u64,
    nb_jobs: u64,
    nb_jobs_finished: u64,
    nb_jobs_success: u64,
    nb_jobs_killed: u64,
    nb_jobs_rejected: u64,
    success_rate: f64,
    makespan: f64,
    mean_waiting_time: f64,
    max_waiting_time: f64,
    mean_turnaround_time: f64,
    max_turnaround_time: f64,
    mean_slowdown: f64,
    max_slowdown: f64,
    nb_computing_machines: u64,
}

/// The document; times in seconds.
pub(super) fn render(scenario: &Scenario, outcome: &RunOutcome, slot: f64) -> anyhow::Result<String> {
    let servers = scenario.servers();
    let mut all = Vec::new();
    for policy in &outcome.policies {
        for (&seed, run) in outcome.seeds.iter().zip(&policy.runs) {
            let jobs = &run.summary.jobs;
            let (came, finished) = (jobs.all_arrived(), jobs.finished());
            all.push(Schedule {
                policy: &policy.label,
                seed,
                nb_jobs: came,
                nb_jobs_finished: finished,
                nb_jobs_success: finished,
                nb_jobs_killed: 0,
                nb_jobs_rejected: 0,
                success_rate: finished as f64 / came.max(1) as f64,
                makespan: jobs.makespan as f64 * slot,
                mean_waiting_time: jobs.mean_wait().unwrap_or(0.0) * slot,
                max_waiting_time: jobs.longest.1 as f64 * slot,
                mean_turnaround_time: jobs.mean_completion().unwrap_or(0.0) * slot,
                max_turnaround_time: jobs.longest.0 as f64 * slot,
                mean_slowdown: jobs.slowdown.0 / finished.max(1) as f64,
                max_slowdown: jobs.slowdown.1,
                nb_computing_machines: servers,
            });
        }
    }
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
