//! `jobs.csv`: one line per job and policy of the first seed, with the columns of Batsim's `_jobs.csv`, so
//! that tools for it open ours.
//!
//! Policy, seed and the assumed spread of speeds come last, as columns of our own. What Batsim knows and we
//! do not (requested time, energy) is -1. Times are in seconds.

use super::play::Runs;
use super::speeds::SPREADS;
use esdp_report::csv;
use esdp_trace::replay::Played;

const COLUMNS: [&str; 20] = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
    "policy",
    "seed",
    "spread",
];

/// The file.
pub(super) fn render(played: &Played, runs: &Runs) -> String {
    let mut text = csv::line(COLUMNS);
    for (answer, seeds) in runs.runs.iter().enumerate() {
        let spread = if runs.runs.len() > 1 { SPREADS[answer].to_string() } else { String::new() };
        for (seed, policies) in runs.seeds.iter().zip(seeds).take(1) {
            for (label, run) in runs.labels.iter().zip(policies) {
                for (job, done) in played.jobs.iter().zip(&run.done) {
                    let Some(done) = done else { continue };
                    let names =
                        done.servers.iter().map(|server| played.servers[*server as usize].name.as_str());
                    let arrived = done.start - done.waited;
                    text += &csv::line([
                        job.id.clone(),
                        "trace".to_owned(),
                        played.types[job.kind].words.clone(),
                        arrived.to_string(),
                        done.servers.len().to_string(),
                        "-1".to_owned(),
                        "1".to_owned(),
                        "COMPLETED_SUCCESSFULLY".to_owned(),
                        done.start.to_string(),
                        done.ran.to_string(),
                        (done.start + done.ran).to_string(),
                        done.waited.to_string(),
                        done.completion().to_string(),
                        (done.completion() / done.ran).to_string(),
                        names.collect::<Vec<_>>().join(" "),
                        "-1".to_owned(),
                        String::new(),
                        label.clone(),
                        seed.to_string(),
                        spread.clone(),
                    ]);
                }
            }
        }
    }
    text
}
