//! Mean speeds by job type and kind of server, and how they fluctuate.
//!
//! Speeds without a time are a table: the mean of job type and kind, alone on one device. Speeds with a time are
//! fluctuation: one series for each benchmark and machine. Where a trace has neither, both come from preset
//! `fleet-real`, which holds a small table and a fitted law.

use crate::event::Speed;
use crate::plan::Server;
use esdp::rng::{Purpose, stream};
use esdp::scenario::Scenario;
use esdp::sim::{KindSpeeds, MeasuredSpec, SpeedSpec};
use rand::RngExt;
use std::collections::BTreeMap;

/// The mean net utility of a port on its fastest kind, before costs: a speed may rise by two thirds before it is
/// clipped at 1.
const FASTEST: f64 = 0.6;
/// Shorter series tell nothing of fluctuation.
const SHORTEST: usize = 32;
/// The most series and samples of each that enter a scenario.
const MOST_SERIES: usize = 64;
const MOST_SAMPLES: usize = 256;
/// The most that is kept while reading.
const MOST_KEPT: usize = 4_000_000;

/// The speeds of a trace, as they come.
#[derive(Debug, Default)]
pub(super) struct Speeds {
    /// Sum and number by job type and kind.
    table: BTreeMap<(String, String), (f64, u64)>,
    series: BTreeMap<(String, String), Vec<(f64, f64)>>,
    kept: usize,
}

impl Speeds {
    pub(super) fn add(&mut self, speed: &Speed<'_>) {
        if !speed.beside.is_empty() || speed.devices != 1 || self.kept >= MOST_KEPT {
            return;
        }
        self.kept += 1;
        match speed.at {
            // Gavel measures jobs spread over machines apart; a task runs on one.
            None if speed.kind.ends_with("_unconsolidated") => {}
            None => {
                let entry = self.table.entry((speed.job.to_owned(), speed.kind.to_owned())).or_default();
                *entry = (entry.0 + speed.value, entry.1 + 1);
            }
            Some(at) => {
                let series = self.series.entry((speed.job.to_owned(), speed.server.to_owned())).or_default();
                series.push((at, speed.value));
            }
        }
    }
}

/// Mean speeds of job types on kinds, each type relative to its fastest kind.
#[derive(Debug)]
pub(super) struct SpeedTable {
    kinds: Vec<String>,
    /// One row per job type.
    rows: Vec<Vec<f64>>,
    measured: bool,
}

impl SpeedTable {
    pub(super) fn of(speeds: &Speeds) -> Self {
        let mut kinds: Vec<String> = speeds.table.keys().map(|(_, kind)| kind.clone()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut jobs: Vec<&String> = speeds.table.keys().map(|(job, _)| job).collect();
        jobs.dedup();
        let row = |job: &&String| {
            let mean =
                |kind: &String| speeds.table.get(&((*job).clone(), kind.clone())).map(|(sum, n)| sum / *n as f64);
            let row: Option<Vec<f64>> = kinds.iter().map(mean).collect();
            // A type that was not measured everywhere, or cannot run somewhere, is left out.
            let row = row.filter(|row| row.iter().all(|speed| *speed > 0.0))?;
            let fastest = row.iter().copied().fold(0.0, f64::max);
            Some(row.into_iter().map(|speed| FASTEST * speed / fastest).collect::<Vec<f64>>())
        };
        let rows: Vec<Vec<f64>> = jobs.iter().filter_map(row).collect();
        if rows.is_empty() { Self::built_in() } else { Self { kinds, rows, measured: true } }
    }

    /// The table of preset `fleet-real`.
    fn built_in() -> Self {
        let rows = match fleet().kinds {
            Some(KindSpeeds::Table(rows)) => rows,
            _ => vec![vec![1.0]],
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|speed| FASTEST * speed).collect()).collect();
        let kinds = (0..rows[0].len()).map(|kind| format!("kind-{kind}")).collect();
        Self { kinds, rows, measured: false }
    }

    pub(super) fn kind_name(&self, kind: usize) -> String {
        self.kinds[kind].clone()
    }

    /// The kind of every server: the one whose name its own starts with (`V100M32` is a `v100`); for models that were
    /// never measured one kind each, in the order of their names; drawn where nothing is told.
    pub(super) fn kinds(&self, servers: &[Server], seed: u64) -> Vec<usize> {
        let measured = |model: &str| {
            let model = model.to_lowercase();
            self.kinds.iter().position(|kind| model.starts_with(&kind.to_lowercase()))
        };
        let mut unknown: Vec<&str> =
            servers.iter().map(|server| server.kind.as_str()).filter(|model| measured(model).is_none()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut rng = stream(seed, Purpose::Laws, 0, 0);
        let of = |server: &Server| {
            let drawn = rng.random_range(0..self.kinds.len());
            match server.kind.as_str() {
                "" => drawn,
                model => measured(model).unwrap_or_else(|| {
                    unknown.iter().position(|known| *known == model).unwrap_or(0) % self.kinds.len()
                }),
            }
        };
        servers.iter().map(of).collect()
    }

    /// The mean speed of a port on a kind. Job types are spread evenly over the ports.
    pub(super) fn mean(&self, port: usize, ports: usize, kind: usize) -> f64 {
        self.rows[port * self.rows.len() / ports % self.rows.len()][kind]
    }

    pub(super) fn origin(&self) -> String {
        match self.measured {
            true => format!("mean speeds of {} measured job types on {}", self.rows.len(), self.kinds.join(", ")),
            false => "mean speeds of preset fleet-real".to_owned(),
        }
    }
}

/// How speeds fluctuate.
#[derive(Debug)]
pub(super) struct Fluctuation {
    series: Vec<Vec<f64>>,
}

impl Fluctuation {
    pub(super) fn of(speeds: &Speeds) -> Self {
        let long: Vec<&Vec<(f64, f64)>> = speeds.series.values().filter(|series| series.len() >= SHORTEST).collect();
        let count = long.len().min(MOST_SERIES);
        let in_time = |at: usize| {
            let mut samples = long[at * long.len() / count].clone();
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mean = samples.iter().map(|sample| sample.1).sum::<f64>() / samples.len() as f64;
            samples.truncate(MOST_SAMPLES);
            // Four digits: a measurement has no more.
            samples.into_iter().map(|(_, value)| (value / mean * 1e4).round() / 1e4).collect()
        };
        Self { series: (0..count).map(in_time).filter(|series: &Vec<f64>| series.iter().sum::<f64>() > 0.0).collect() }
    }

    /// The scenario's speeds.
    pub(super) fn speeds(&self, means: Vec<f64>, block: u64) -> SpeedSpec {
        let table = Some(vec![means]);
        if self.series.is_empty() {
            let SpeedSpec { law, deviation, correlation, .. } = fleet();
            return SpeedSpec { table, law, deviation, correlation, ..SpeedSpec::default() };
        }
        SpeedSpec { table, measured: Some(MeasuredSpec { series: self.series.clone(), block }), ..SpeedSpec::default() }
    }

    pub(super) fn origin(&self) -> String {
        match self.series.len() {
            0 => "fluctuation fitted to cloud machines, as in preset fleet-real".to_owned(),
            n => format!("fluctuation of {n} measured series"),
        }
    }
}

/// The speeds of preset `fleet-real`.
fn fleet() -> SpeedSpec {
    Scenario::preset("fleet-real").map(|scenario| scenario.spec().speeds.clone()).unwrap_or_default()
}
