//! Speeds by job and server in the order of time: for those who want to play them again.
//!
//! Files are grouped as their authors liked; a [`SeriesSink`] keeps every sample (16 bytes each, at most
//! [`MOST_SAMPLES`]) and sorts each series by time. Samples without a time keep their order.

use crate::error::TraceError;
use crate::event::{Sink, Speed};
use crate::ledger::Ledger;
use crate::source::Source;
use std::collections::BTreeMap;

/// The most samples that are kept.
pub const MOST_SAMPLES: u64 = 8_000_000;
/// The most series.
pub const MOST_SERIES: usize = 200_000;

/// Which series: the job type, the devices it had, the server, and the job beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// The job type, or benchmark.
    pub job: String,
    /// The server.
    pub server: String,
    /// On how many devices.
    pub devices: u64,
    /// The job it shared them with; empty where it was alone.
    pub beside: String,
}

/// The samples of one series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// The sort of the server.
    pub kind: String,
    /// Time in seconds (0 where it is not told) and speed, in the order of time.
    pub samples: Vec<(f64, f64)>,
}

impl Series {
    /// The mean speed.
    pub fn mean(&self) -> f64 {
        self.samples.iter().map(|(_, value)| value).sum::<f64>() / self.samples.len().max(1) as f64
    }
}

/// Keeps speeds as series.
#[derive(Debug, Default)]
pub struct SeriesSink {
    series: BTreeMap<SeriesKey, Series>,
    samples: u64,
    overflow: bool,
}

impl SeriesSink {
    /// All speeds of a source, sorted by time within each series.
    ///
    /// # Errors
    /// As [`Source::stream`]; and when there are more samples than are kept.
    pub fn collect(source: &mut dyn Source, ledger: &mut Ledger) -> Result<BTreeMap<SeriesKey, Series>, TraceError> {
        let mut sink = Self::default();
        source.stream(ledger, &mut sink)?;
        sink.finish()
    }

    /// The series, sorted.
    ///
    /// # Errors
    /// When there were more samples or series than are kept.
    pub fn finish(mut self) -> Result<BTreeMap<SeriesKey, Series>, TraceError> {
        if self.overflow {
            return Err(TraceError::TooMany { what: "speed samples", most: MOST_SAMPLES });
        }
        for series in self.series.values_mut() {
            series.samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Ok(self.series)
    }
}

impl Sink for SeriesSink {
    fn speed(&mut self, speed: &Speed<'_>) {
        if self.samples >= MOST_SAMPLES || self.series.len() >= MOST_SERIES {
            self.overflow = true;
            return;
        }
        self.samples += 1;
        let key = SeriesKey {
            job: speed.job.to_owned(),
            server: speed.server.to_owned(),
            devices: speed.devices,
            beside: speed.beside.to_owned(),
        };
        let series = self.series.entry(key).or_default();
        if series.kind.is_empty() {
            series.kind = speed.kind.to_owned();
        }
        series.samples.push((speed.at.unwrap_or(0.0), speed.value));
    }
}
