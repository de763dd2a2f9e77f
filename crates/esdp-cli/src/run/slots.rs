//! Every slot in a file: `slots.csv` or `slots.jsonl`.

use crate::files;
use crate::parts::Parts;
use anyhow::Context;
use clap::ValueEnum;
use esdp::model::PortId;
use esdp::sim::{Recorder, SlotRecord};
use esdp::solver::Guarantee;
use esdp_engine::{Failure, SlotSink};
use esdp_report::csv;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The form of a per-slot record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PerSlot {
    /// `slots.csv`
    Csv,
    /// `slots.jsonl`, one JSON document per line, with the arrivals of every port
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

/// The per-slot records of a run.
pub(super) struct Slots {
    form: PerSlot,
    parts: Parts,
}

impl Slots {
    /// Files for the slots of a run, in the directory of its results.
    pub(super) fn new(form: PerSlot, out: &Path) -> anyhow::Result<Self> {
        Ok(Self { form, parts: Parts::new(out.join(form.file()))? })
    }

    /// The record of one run; `policy` is its position.
    pub(super) fn sink(&self, seed: u64, policy: usize, label: &str) -> Result<Box<dyn SlotSink>, Failure> {
        let out = self.parts.create(seed, policy)?;
        let (target, label) = (self.parts.target().to_owned(), label.to_owned());
        Ok(Box::new(Sink { form: self.form, out, seed, label, target, failure: None }))
    }

    /// Joins the records of complete seeds.
    pub(super) fn join(&self, seeds: &[u64], policies: usize) -> anyhow::Result<()> {
        let header = if self.form == PerSlot::Csv { csv::line(COLUMNS) } else { String::new() };
        self.parts.join(&header, seeds, policies)
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
        csv::line([
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
    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        let outcome = self.failure.take().map_or_else(|| self.out.flush(), Err);
        Ok(outcome.with_context(|| files::cannot(&self.target))?)
    }
}
