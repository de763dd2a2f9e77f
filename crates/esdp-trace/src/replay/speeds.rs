//! Mean speeds by job type and server, and how they fluctuate.
//!
//! Speeds without a time are a table: the mean of job type and server or kind, alone on one device. A job
//! type has the row of its label, of its shape, or the row `*`; where no row names it, rows are dealt out in
//! order, and that is said. Speeds with a time are fluctuation: one series for each benchmark and machine.

use super::{JobType, PlayedServer};
use crate::event::Speed;
use std::collections::BTreeMap;

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

/// Which row of a speed table a job type has, and what was assumed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mapping {
    /// A line for each job type.
    pub lines: Vec<String>,
    /// Whether rows were dealt out in order, since none names a job type.
    pub dealt: bool,
    /// The kinds of servers, or their names, that the table does not have: they run at the mean of the row.
    pub unmeasured: Vec<String>,
    /// How many entries of the table are not above 0: they are taken for not measured.
    pub dropped: usize,
}

impl Speeds {
    pub(super) fn has_table(&self) -> bool {
        !self.table.is_empty()
    }

    /// The speed of every job type on every server; none without a table.
    pub(super) fn means(
        &self,
        types: &[JobType],
        servers: &[PlayedServer],
    ) -> Option<(Vec<Vec<f64>>, Mapping)> {
        let mut rows: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
        let mut mapping = Mapping::default();
        for ((job, server), (sum, count)) in &self.table {
            if *sum > 0.0 {
                rows.entry(job).or_default().insert(server, sum / *count as f64);
            } else {
                mapping.dropped += 1;
            }
        }
        let most = rows.values().map(BTreeMap::len).max()?;
        let whole: Vec<&str> =
            rows.iter().filter(|(_, row)| row.len() == most).map(|(job, _)| *job).collect();
        let mut means = Vec::new();
        for (at, kind) in types.iter().enumerate() {
            let by = |name: &str| {
                rows.keys().find(|job| !name.is_empty() && job.eq_ignore_ascii_case(name)).copied()
            };
            let named = by(&kind.label).or_else(|| by(&kind.words)).or_else(|| by("*"));
            mapping.dealt |= named.is_none();
            let job = named.unwrap_or_else(|| whole[at * whole.len() / types.len()]);
            mapping.lines.push(format!("{}: {job}", kind.words));
            let row = &rows[job];
            let mean = row.values().sum::<f64>() / row.len() as f64;
            let speed = |(at, server): (u32, &PlayedServer)| {
                measured(row, server).unwrap_or_else(|| {
                    let sort = if server.kind.is_empty() { &server.name } else { &server.kind };
                    if kind.servers.contains(&at) && !mapping.unmeasured.contains(sort) {
                        mapping.unmeasured.push(sort.clone());
                    }
                    mean
                })
            };
            means.push((0..).zip(servers).map(speed).collect());
        }
        Some((means, mapping))
    }
}

/// The speed on a server: by its name, or by the longest name of a kind that its own starts with (`V100M32`
/// is a `v100`).
fn measured(row: &BTreeMap<&str, f64>, server: &PlayedServer) -> Option<f64> {
    if let Some(speed) = row.get(server.name.as_str()) {
        return Some(*speed);
    }
    let kind = server.sort().to_lowercase();
    let found = row.iter().filter(|(name, _)| kind.starts_with(&name.to_lowercase()));
    found.max_by_key(|(name, _)| name.len()).map(|(_, speed)| *speed)
}

impl Speeds {
    /// Measured series, each divided by its mean.
    pub(super) fn fluctuation(&self) -> Vec<Vec<f64>> {
        let long: Vec<&Vec<(f64, f64)>> =
            self.series.values().filter(|series| series.len() >= SHORTEST).collect();
        let count = long.len().min(MOST_SERIES);
        let in_time = |at: usize| {
            let mut samples = long[at * long.len() / count].clone();
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mean = samples.iter().map(|sample| sample.1).sum::<f64>() / samples.len() as f64;
            samples.truncate(MOST_SAMPLES);
            // Four digits: a measurement has no more.
            samples.into_iter().map(|(_, value)| (value / mean * 1e4).round() / 1e4).collect()
        };
        (0..count).map(in_time).filter(|series: &Vec<f64>| series.iter().sum::<f64>() > 0.0).collect()
    }
}
