//! Every slot in a file: `slots.csv` or `slots.jsonl`.
//!
//! Each (seed, policy) pair streams into a file of its own, so that threads do not wait for each
//! other and memory stays flat. At the end the files of complete seeds are joined in a fixed order.

use crate::engine::SlotSink;
use crate::files;
use anyhow::Context;
use clap::ValueEnum;
use esdp::model::PortId;
use esdp::sim::{Recorder, SlotRecord};
use esdp::solver::Guarantee;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The form of a per-slot record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PerSlot {
    /// `slots.csv`
    Csv,
    /// `slots.jsonl`, one JSON document a line, with the arrivals of every port
    Jsonl,
}

const COLUMNS: [&str; 11] = [
    "seed",
    "policy",
    "slot",
    "jobs",
    "channels",
    "expected",
    "realised",
    "oracle",
    "exploring",
    "proved",
    "decision_us",
];

impl PerSlot {
    /// The name of the file.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Csv => "slots.csv",
            Self::Jsonl => "slots.jsonl",
        }
    }
}

/// The growing files of a run. Removed when it is dropped, whatever happened.
pub(super) struct Slots {
    form: PerSlot,
    target: PathBuf,
    parts: PathBuf,
}

impl Slots {
    /// Files for the slots of a run, in the directory of its results.
    pub(super) fn new(form: PerSlot, out: &Path) -> anyhow::Result<Self> {
        let target = out.join(form.file());
        let parts = files::beside(&target);
        files::directory(&parts)?;
        Ok(Self { form, target, parts })
    }

    fn part(&self, seed: u64, policy: usize) -> PathBuf {
        self.parts.join(format!("{seed}-{policy}"))
    }

    /// The record of one run; `policy` is its position.
    pub(super) fn sink(&self, seed: u64, policy: usize, label: &str) -> anyhow::Result<Box<dyn SlotSink>> {
        let path = self.part(seed, policy);
        let file = File::create(&path).with_context(|| files::cannot(&path))?;
        let target = self.target.clone();
        let label = label.to_owned();
        Ok(Box::new(Sink { form: self.form, out: BufWriter::new(file), seed, label, target, failure: None }))
    }

    /// Joins the records of complete seeds, seed by seed, policy by policy.
    pub(super) fn join(&self, seeds: &[u64], policies: usize) -> anyhow::Result<PathBuf> {
        let growing = self.parts.join("all");
        let join = || -> io::Result<()> {
            let mut all = BufWriter::new(File::create(&growing)?);
            if self.form == PerSlot::Csv {
                all.write_all(files::csv_line(COLUMNS).as_bytes())?;
            }
            for &seed in seeds {
                for policy in 0..policies {
                    let part = self.part(seed, policy);
                    io::copy(&mut BufReader::new(File::open(&part)?), &mut all)?;
                    // Not needed any more, and a long run needs the room.
                    std::fs::remove_file(&part)?;
                }
            }
            all.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(&growing, &self.target)
        };
        join().with_context(|| files::cannot(&self.target))?;
        Ok(self.target.clone())
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Nothing of value is in there, and there is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.parts);
    }
}

struct Sink {
    form: PerSlot,
    out: BufWriter<File>,
    seed: u64,
    label: String,
    target: PathBuf,
    failure: Option<io::Error>,
}

/// A line of `slots.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    seed: u64,
    policy: &'a str,
    slot: u64,
    /// The jobs of each port.
    arrivals: Vec<u32>,
    channels: Vec<u32>,
    expected: f64,
    realised: f64,
    oracle: Option<f64>,
    exploring: u32,
    /// Whether the policy's problem was proved optimal; null where it solves none.
    proved: Option<bool>,
    decision_us: Option<f64>,
}

impl Sink {
    fn write(&mut self, record: &SlotRecord<'_>) -> io::Result<()> {
        let ports = 0..record.present.ports();
        let line = Line {
            seed: self.seed,
            policy: &self.label,
            slot: record.slot.0,
            arrivals: ports.map(|port| record.present.jobs(PortId::at(port))).collect(),
            channels: record.decision.channels().iter().map(|channel| channel.0).collect(),
            expected: record.expected,
            realised: record.realised,
            oracle: record.oracle,
            exploring: record.unsure,
            proved: record.decision.certificate().map(|proof| proof.guarantee == Guarantee::Optimal),
            decision_us: record.nanos.map(|nanos| nanos as f64 / 1e3),
        };
        match self.form {
            PerSlot::Jsonl => {
                serde_json::to_writer(&mut self.out, &line)?;
                self.out.write_all(b"\n")
            }
            PerSlot::Csv => self.out.write_all(line.csv().as_bytes()),
        }
    }
}

impl Line<'_> {
    fn csv(&self) -> String {
        let jobs: u64 = self.arrivals.iter().map(|&jobs| u64::from(jobs)).sum();
        let channels = self.channels.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let optional = |value: Option<String>| value.unwrap_or_default();
        files::csv_line([
            self.seed.to_string(),
            self.policy.to_owned(),
            self.slot.to_string(),
            jobs.to_string(),
            channels,
            self.expected.to_string(),
            self.realised.to_string(),
            optional(self.oracle.map(|oracle| oracle.to_string())),
            self.exploring.to_string(),
            optional(self.proved.map(|proved| proved.to_string())),
            optional(self.decision_us.map(|micros| micros.to_string())),
        ])
    }
}

impl Recorder for Sink {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        match self.write(record) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

impl SlotSink for Sink {
    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        let outcome = self.failure.take().map_or_else(|| self.out.flush(), Err);
        outcome.with_context(|| files::cannot(&self.target))
    }
}
