//! `jobs.csv`: one line a finished job, with the columns of Batsim's `_jobs.csv`, so that tools for it open ours.
//!
//! Policy and seed come last, as columns of our own. What Batsim knows and we do not (requested time, energy) is -1.

use crate::files;
use crate::parts::Parts;
use anyhow::Context;
use esdp::model::Cluster;
use esdp::sim::{FinishedJob, Recorder, SlotRecord};
use esdp_engine::{Failure, SlotSink};
use esdp_report::csv;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const COLUMNS: [&str; 19] = [
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
];

/// The growing file.
pub(super) struct JobFile {
    parts: Parts,
    slot: f64,
}

impl JobFile {
    /// A file for the jobs of a replay with slots of so many seconds.
    pub(super) fn new(out: &Path, slot: f64) -> anyhow::Result<Self> {
        Ok(Self { parts: Parts::new(out.join("jobs.csv"))?, slot })
    }

    /// The record of one run; `policy` is its position.
    pub(super) fn sink(&self, seed: u64, policy: usize, label: &str) -> Result<Box<dyn SlotSink>, Failure> {
        let out = self.parts.create(seed, policy)?;
        let (label, target, slot) = (label.to_owned(), self.parts.target().to_owned(), self.slot);
        Ok(Box::new(Jobs { out, seed, label, slot, target, failure: None }))
    }

    /// Joins the records of complete seeds.
    pub(super) fn join(&self, seeds: &[u64], policies: usize) -> anyhow::Result<()> {
        self.parts.join(&csv::line(COLUMNS), seeds, policies)
    }
}

struct Jobs {
    out: BufWriter<File>,
    seed: u64,
    label: String,
    slot: f64,
    target: PathBuf,
    failure: Option<io::Error>,
}

impl Jobs {
    fn line(&self, cluster: &Cluster, job: &FinishedJob) -> String {
        let seconds = |slots: u64| (slots as f64 * self.slot).to_string();
        let ran = job.completion() - job.waited();
        let mut servers: Vec<u32> = job.channels.iter().map(|&channel| cluster.channel(channel).server.0).collect();
        servers.sort_unstable();
        servers.dedup();
        csv::line([
            format!("{}-{}", job.port.0, job.number),
            "trace".to_owned(),
            cluster.ports()[job.port.index()].clone(),
            seconds(job.arrived.0 - 1),
            job.channels.len().to_string(),
            "-1".to_owned(),
            "1".to_owned(),
            "COMPLETED_SUCCESSFULLY".to_owned(),
            seconds(job.started.0 - 1),
            seconds(ran),
            seconds(job.finished.0),
            seconds(job.waited()),
            seconds(job.completion()),
            (job.completion() as f64 / ran as f64).to_string(),
            servers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
            "-1".to_owned(),
            String::new(),
            self.label.clone(),
            self.seed.to_string(),
        ])
    }
}

impl Recorder for Jobs {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        for job in record.finished {
            if let Err(failure) = self.out.write_all(self.line(record.cluster, job).as_bytes()) {
                self.failure = Some(failure);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl SlotSink for Jobs {
    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        let outcome = self.failure.take().map_or_else(|| self.out.flush(), Err);
        Ok(outcome.with_context(|| files::cannot(&self.target))?)
    }
}
