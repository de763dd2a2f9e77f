//! What a service takes while it is played against: memory and disk, as it says itself.

use super::client::Client;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a run is sampled.
const SAMPLES: u32 = 200;
/// The time between samples at least.
const PAUSE: Duration = Duration::from_secs(1);
/// The share of the run that warms up: caches fill, and the first snapshots are written.
const WARM_UP: f64 = 0.25;
const MEGABYTE: f64 = 1e6;

/// Samples of a service's memory and database.
#[derive(Debug)]
pub(super) struct Footprint {
    client: Client,
    duration: Duration,
    pause: Duration,
    due: Duration,
    samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    seconds: f64,
    /// In megabytes; none where the service does not know.
    memory: Option<f64>,
    database: f64,
}

/// The smallest and the largest.
type Range = Option<(f64, f64)>;

fn range(values: impl Iterator<Item = f64>) -> Range {
    values.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

impl Footprint {
    pub(super) fn new(client: Client, duration: Duration) -> Self {
        let pause = (duration / SAMPLES).max(PAUSE);
        Self { client, duration, pause, due: Duration::ZERO, samples: Vec::new() }
    }

    /// Takes a sample if one is due.
    pub(super) fn sample(&mut self, elapsed: Duration) {
        if elapsed < self.due {
            return;
        }
        self.due = elapsed + self.pause;
        // One that is missing is no reason to stop.
        let Ok(status) = self.client.ask("GET", "/v1/status", None) else { return };
        let megabytes = |key: &str| status[key].as_f64().map(|bytes| bytes / MEGABYTE);
        let database = megabytes("database_bytes").unwrap_or_default();
        self.samples.push(Sample {
            seconds: elapsed.as_secs_f64(),
            memory: megabytes("memory_bytes"),
            database,
        });
    }

    /// The ranges of memory and database after the first quarter of the run.
    fn ranges(&self) -> (Range, Range) {
        let from = self.duration.as_secs_f64() * WARM_UP;
        let warm = || self.samples.iter().filter(|sample| sample.seconds >= from);
        (range(warm().filter_map(|sample| sample.memory)), range(warm().map(|sample| sample.database)))
    }

    /// For people.
    pub(super) fn render(&self) -> String {
        let (memory, database) = self.ranges();
        let shown = |name: &str, range: Range| {
            range.map_or_else(String::new, |(low, high)| format!("{name} {low:.1} to {high:.1} MB"))
        };
        match (memory, database) {
            (None, None) => String::new(),
            _ => format!(
                "the service after a quarter of the run: {}{}\n\n",
                shown("memory", memory),
                shown(", database", database)
            ),
        }
    }

    /// For programs; megabytes.
    pub(super) fn json(&self) -> Value {
        let (memory, database) = self.ranges();
        let shown = |range: Range| range.map(|(low, high)| json!({"least": low, "most": high}));
        let sample = |sample: &Sample| json!([sample.seconds, sample.memory, sample.database]);
        json!({"memory_mb": shown(memory), "database_mb": shown(database),
               "samples": self.samples.iter().map(sample).collect::<Vec<_>>()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_samples() {
        assert_eq!(range([3.0, 1.0, 2.0].into_iter()), Some((1.0, 3.0)));
        assert_eq!(range(std::iter::empty()), None);
    }
}
