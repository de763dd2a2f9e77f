//! Figures for Prometheus, in its text format.

mod text;

use crate::engine::{ChannelRow, Overview, ServerRow};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use text::Page;

/// The upper ends of the buckets of all times, in seconds.
const BUCKETS: [f64; 14] =
    [1e-5, 2.5e-5, 1e-4, 2.5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.25, 1.0, 5.0];

/// Times, counted by bucket.
#[derive(Debug, Default)]
pub struct TimeBuckets {
    buckets: [AtomicU64; BUCKETS.len() + 1],
    nanos: AtomicU64,
}

impl TimeBuckets {
    /// Counts a time.
    pub fn observe(&self, seconds: f64) {
        let bucket = BUCKETS.partition_point(|&end| end < seconds);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanos.fetch_add((seconds * 1e9) as u64, Relaxed);
    }
}

/// What a batch has done; counted once it is on the disk.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchTally {
    /// How long decisions took.
    pub decision_seconds: Vec<f64>,
    /// Placements that were told.
    pub placements: u64,
    /// How many jobs were held, by reason.
    pub held: BTreeMap<&'static str, u64>,
    /// Reports, jobs and slots that were known.
    pub duplicates: u64,
    /// Outcomes that were learned.
    pub learned: u64,
    /// Observations that were refused.
    pub refused: u64,
    /// Starts that were revoked.
    pub revoked: u64,
    /// How far the estimates of starts were below the best of their ports.
    pub regret: f64,
}

/// Counters and times.
#[derive(Debug, Default)]
pub struct Metrics {
    decisions: TimeBuckets,
    placements: AtomicU64,
    held: Mutex<BTreeMap<&'static str, u64>>,
    duplicates: AtomicU64,
    learned: AtomicU64,
    refused: AtomicU64,
    revoked: AtomicU64,
    regret: Mutex<f64>,
    /// From the arrival of the oldest command of a batch to its answer.
    pub lag: TimeBuckets,
    /// Commits.
    pub commit: TimeBuckets,
    /// Commands that wait.
    pub queue: AtomicU64,
    /// 1 while nothing can be written.
    pub degraded: AtomicU64,
    /// Frames that gave another state at the start than when they were written.
    pub divergences: AtomicU64,
    /// Connections that are open.
    pub connections: AtomicU64,
    /// Requests by the first digit of their status.
    pub requests: [AtomicU64; 6],
}

impl Metrics {
    /// Counts what a batch has done.
    pub fn add(&self, tally: &BatchTally) {
        tally.decision_seconds.iter().for_each(|&seconds| self.decisions.observe(seconds));
        let counters = [
            (&self.placements, tally.placements),
            (&self.duplicates, tally.duplicates),
            (&self.learned, tally.learned),
            (&self.refused, tally.refused),
            (&self.revoked, tally.revoked),
        ];
        for (counter, more) in counters {
            counter.fetch_add(more, Relaxed);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for (reason, count) in &tally.held {
            *held.entry(reason).or_default() += count;
        }
        *self.regret.lock().unwrap_or_else(PoisonError::into_inner) += tally.regret;
    }

    /// Decisions so far.
    pub fn decisions(&self) -> u64 {
        self.decisions.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    /// The estimated regret so far.
    pub fn regret(&self) -> f64 {
        *self.regret.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page that Prometheus reads, but for the [`state`].
    pub fn page(&self, certificate_days: Option<f64>) -> String {
        let mut page = Page::default();
        let count = |counter: &AtomicU64| counter.load(Relaxed) as f64;
        page.histogram("esdp_decision_seconds", "Time to decide a slot.", &self.decisions);
        page.one("esdp_decisions_total", "counter", "Slots decided.", self.decisions() as f64);
        page.one("esdp_placements_total", "counter", "Placements told.", count(&self.placements));
        page.one("esdp_starts_revoked_total", "counter", "Starts that were revoked.", count(&self.revoked));
        page.family("esdp_held_total", "counter", "Jobs held in a slot, by reason.");
        for (reason, count) in self.held.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            page.sample("esdp_held_total", &[("reason", reason)], *count as f64);
        }
        page.one("esdp_observations_learned_total", "counter", "Outcomes learned.", count(&self.learned));
        page.one(
            "esdp_duplicates_total",
            "counter",
            "Reports, jobs and slots that were known.",
            count(&self.duplicates),
        );
        page.one("esdp_observations_refused_total", "counter", "Observations refused.", count(&self.refused));
        page.one(
            "esdp_estimated_regret_total",
            "counter",
            "Estimated utility lost to exploring or a lack of room.",
            self.regret(),
        );
        page.histogram(
            "esdp_journal_lag_seconds",
            "From the arrival of a request to its durable answer.",
            &self.lag,
        );
        page.histogram("esdp_journal_commit_seconds", "Time to commit a batch.", &self.commit);
        page.one(
            "esdp_journal_queue_requests",
            "gauge",
            "Requests that wait for the journal.",
            count(&self.queue),
        );
        page.one(
            "esdp_journal_degraded",
            "gauge",
            "1 while the journal cannot be written.",
            count(&self.degraded),
        );
        page.one(
            "esdp_journal_divergences_total",
            "counter",
            "Frames that gave another state at the start than when they were written, and were accepted.",
            count(&self.divergences),
        );
        if let Some(bytes) = memory() {
            page.one(
                "process_resident_memory_bytes",
                "gauge",
                "Resident memory of the process.",
                bytes as f64,
            );
        }
        page.family("esdp_certificate_days", "gauge", "Days until the certificate of the service ends.");
        if let Some(days) = certificate_days {
            page.sample("esdp_certificate_days", &[], days);
        }
        page.one("esdp_http_connections", "gauge", "Open connections.", count(&self.connections));
        page.family("esdp_http_requests_total", "counter", "Requests by class of status.");
        for (class, counter) in self.requests.iter().enumerate().skip(1) {
            page.sample("esdp_http_requests_total", &[("status", &format!("{class}xx"))], count(counter));
        }
        page.finish()
    }
}

/// The resident memory of this process in bytes; none where the system has no `/proc`.
pub fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Figures of the state: the rest of the page. Of channels, those that were tried.
pub fn state(overview: &Overview, channels: &[ChannelRow], servers: &[ServerRow]) -> String {
    let mut page = Page::default();
    let (explored, all) = overview.exploration;
    let ratio = if all > 0 { explored as f64 / all as f64 } else { 0.0 };
    page.one(
        "esdp_exploration_ratio",
        "gauge",
        "Share of exploration among the tasks started lately.",
        ratio,
    );
    page.one("esdp_slot", "gauge", "The last slot.", overview.slot as f64);
    page.one("esdp_jobs_running", "gauge", "Jobs that run.", overview.running as f64);
    page.family("esdp_jobs_waiting", "gauge", "Jobs that wait, by reason.");
    for (reason, count) in &overview.waiting {
        page.sample("esdp_jobs_waiting", &[("reason", reason)], *count as f64);
    }
    page.family("esdp_device_capacity", "gauge", "Devices of the cluster.");
    for device in &overview.devices {
        page.sample("esdp_device_capacity", &[("device", &device.device)], device.capacity as f64);
    }
    page.family("esdp_device_used", "gauge", "Devices that jobs hold.");
    for device in &overview.devices {
        page.sample("esdp_device_used", &[("device", &device.device)], device.used as f64);
    }
    page.one("esdp_journal_events_total", "counter", "Events in the journal.", overview.sequence as f64);
    let since = overview.sequence.saturating_sub(overview.snapshot) as f64;
    page.one("esdp_journal_events_since_snapshot", "gauge", "Events that a restart replays.", since);
    page.one("esdp_database_bytes", "gauge", "Size of the database.", overview.database_bytes as f64);
    page.one(
        "esdp_advice_compared_total",
        "counter",
        "Tasks compared with advice.",
        overview.advice.compared as f64,
    );
    page.one(
        "esdp_advice_gain",
        "gauge",
        "What advice would have been worth, in net utility.",
        overview.advice.gain,
    );
    page.family("esdp_advice_gain_bound", "gauge", "The ends of its 95 % interval.");
    page.sample("esdp_advice_gain_bound", &[("bound", "low")], overview.advice.interval.0);
    page.sample("esdp_advice_gain_bound", &[("bound", "high")], overview.advice.interval.1);
    page.one(
        "esdp_outcomes_aside",
        "gauge",
        "Outcomes that are doubted and wait for an operator.",
        overview.set_aside as f64,
    );
    page.one(
        "esdp_outcomes_aside_total",
        "counter",
        "Outcomes that were set aside.",
        overview.set_aside_total as f64,
    );
    page.family("esdp_channel_speed", "gauge", "Estimated speed by port and server, in the port's unit.");
    for row in channels {
        page.sample(
            "esdp_channel_speed",
            &[("port", &row.port), ("group", &row.group), ("server", &row.server)],
            row.mean,
        );
    }
    page.family("esdp_channel_speed_bound", "gauge", "The ends of its confidence interval.");
    for (row, (low, high)) in channels.iter().filter_map(|row| Some((row, row.interval?))) {
        for (bound, value) in [("low", low), ("high", high)] {
            let labels =
                [("port", &*row.port), ("group", &row.group), ("server", &row.server), ("bound", bound)];
            page.sample("esdp_channel_speed_bound", &labels, value);
        }
    }
    page.family("esdp_server_factor", "gauge", "Learned speed of a server as a multiple of what is usual.");
    for row in servers {
        if let Some(factor) = row.factor {
            page.sample("esdp_server_factor", &[("server", &row.name)], factor);
        }
    }
    page.family("esdp_server_slow", "gauge", "1 for servers that are slow beyond doubt.");
    for row in servers.iter().filter(|row| row.factor.is_some()) {
        let slow = f64::from(u8::from(row.verdict == esdp::live::Verdict::Slow));
        page.sample("esdp_server_slow", &[("server", &row.name)], slow);
    }
    page.finish()
}
