//! What was sent, how long the answers took, and what went wrong.

use esdp_report::table::{TextTable, duration};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A slot or a batch of them, from when it was due to its decision, all of its requests included.
    Round,
    /// `POST /v1/slots`.
    Slot,
    /// `POST /v1/observations`.
    Outcomes,
    /// `DELETE /v1/jobs/{id}`.
    End,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Round => "round, from when it was due",
            Self::Slot => "decision",
            Self::Outcomes => "outcomes",
            Self::End => "end of a job",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Slot => "decision",
            Self::Outcomes => "outcomes",
            Self::End => "end",
        }
    }
}

/// Times by kind, in microseconds, and errors by what they say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tally {
    times: BTreeMap<Kind, Vec<f64>>,
    errors: BTreeMap<String, u64>,
    /// Outcomes that were reported.
    pub(crate) outcomes: u64,
}

/// The smallest time that is not below this share of all: the nearest rank. The times are ascending.
fn percentile(times: &[f64], share: f64) -> f64 {
    let rank = (share * times.len() as f64).ceil().max(1.0) as usize;
    times.get(rank.min(times.len()).wrapping_sub(1)).copied().unwrap_or(0.0)
}

impl Tally {
    pub(crate) fn count(&mut self, kind: Kind, result: Result<Duration, String>) {
        match result {
            Ok(time) => self.times.entry(kind).or_default().push(time.as_secs_f64() * 1e6),
            Err(error) => *self.errors.entry(error).or_default() += 1,
        }
    }

    /// Adds what another has counted.
    pub(crate) fn merge(&mut self, other: Self) {
        for (kind, times) in other.times {
            self.times.entry(kind).or_default().extend(times);
        }
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        self.outcomes += other.outcomes;
    }

    pub(crate) fn errors(&self) -> u64 {
        self.errors.values().sum()
    }

    fn percentiles(&self) -> impl Iterator<Item = (Kind, usize, [f64; 4])> {
        self.times.iter().map(|(&kind, times)| {
            let mut times = times.clone();
            times.sort_unstable_by(f64::total_cmp);
            (kind, times.len(), [0.5, 0.95, 0.99, 1.0].map(|share| percentile(&times, share)))
        })
    }

    /// For people.
    pub(crate) fn render(&self) -> String {
        let mut table = TextTable::new(&["request", "count", "p50", "p95", "p99", "max"]);
        for (kind, count, figures) in self.percentiles() {
            table.row([kind.name().to_owned(), count.to_string()].into_iter().chain(figures.map(duration)));
        }
        let mut text = table.render();
        for (error, count) in &self.errors {
            text += &format!("error, {count} times: {error}\n");
        }
        text
    }

    /// For programs; milliseconds.
    pub(crate) fn json(&self) -> Value {
        let mut latency = serde_json::Map::new();
        for (kind, count, [p50, p95, p99, max]) in self.percentiles() {
            let figures = json!({"count": count, "p50_ms": p50 / 1e3, "p95_ms": p95 / 1e3,
                "p99_ms": p99 / 1e3,
                                 "max_ms": max / 1e3});
            latency.insert(kind.key().to_owned(), figures);
        }
        json!({"latency": latency, "errors": self.errors})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(
            [0.5, 0.95, 0.99, 1.0].map(|share| percentile(&times, share)),
            [100.0, 190.0, 198.0, 200.0]
        );
        assert_eq!(percentile(&[7.0], 0.5), 7.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn errors_are_counted_and_not_timed() {
        let mut tally = Tally::default();
        tally.count(Kind::Slot, Ok(Duration::from_millis(3)));
        tally.count(Kind::Slot, Err("status 503: full".to_owned()));
        tally.count(Kind::End, Err("status 503: full".to_owned()));
        assert_eq!(tally.errors(), 2);
        let figures = tally.json();
        assert_eq!(figures["latency"]["decision"]["p99_ms"], 3.0);
        assert_eq!(figures["latency"]["decision"]["count"], 1);
        assert!(figures["latency"]["end"].is_null());
        assert!(tally.render().contains("error, 2 times: status 503: full"));
    }
}
