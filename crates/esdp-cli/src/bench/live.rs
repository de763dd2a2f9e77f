//! What the live core costs: an outcome, a snapshot, a restore, and the replay of a journal.
//!
//! Each policy schedules a cluster of jobs of one task on servers with eight devices, one port and one server
//! for each channel, and has seen something of every channel, so that its state has its full size. The
//! journal is that of the preset `default` under `esdp`, driven by its simulated cluster.

use super::journal::{self, JournalFigures};
use super::plan::{self, Size};
use super::summary::{percentile, sorted};
use anyhow::{Context, ensure};
use esdp::live::{Effect, Event, Live, SpeedReport, Start, WhichTasks, turn};
use esdp::model::{Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::policy::{Policy, PolicySpec};
use esdp::scenario::Scenario;
use esdp::sim::SimulatedCluster;
use esdp_report::table::{self, TextTable};
use serde::Serialize;
use std::time::Instant;

/// The policies that are measured: the cheapest state, the default, and the largest.
const POLICIES: [&str; 3] = ["hauf", "esdp", "esdp-pooled"];
/// Each is timed so often, and the best counts, which others on the machine disturb least.
const REPEATS: usize = 5;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct LivePlan {
    pub(super) ports: usize,
    pub(super) servers: usize,
    /// The outcomes that are timed.
    pub(super) outcomes: usize,
    /// The events of the journal.
    pub(super) events: usize,
    /// The events of the service's journal.
    pub(super) kept_events: u64,
    pub(super) seed: u64,
}

/// The figures of the live core.
#[derive(Debug, Serialize)]
pub(super) struct LiveReport {
    channels: usize,
    policies: Vec<PolicyFigures>,
    replay: Replay,
    journal: JournalFigures,
}

#[derive(Debug, Serialize)]
struct PolicyFigures {
    policy: &'static str,
    outcomes: usize,
    outcome_p50_us: f64,
    outcome_p99_us: f64,
    snapshot_ms: f64,
    snapshot_bytes: usize,
    restore_ms: f64,
}

#[derive(Debug, Serialize)]
struct Replay {
    events: usize,
    slots: u64,
    seconds: f64,
}

impl LivePlan {
    pub(super) fn new(size: (usize, usize), quick: bool, seed: u64) -> Self {
        let (outcomes, events, kept_events) =
            if quick { (2_000, 100_000, 20_000) } else { (20_000, 1_000_000, 1_000_000) };
        Self { ports: size.0, servers: size.1, outcomes, events, kept_events, seed }
    }

    fn described(&self) -> ClusterDescription {
        let server = |index: usize| ServerSpec {
            labels: vec![format!("kind-{}", index % 8)],
            ..ServerSpec::new(&server_name(index), &[("gpu", 8)])
        };
        let port = |index: usize| PortSpec::new(&port_name(index), JobShape::tasks(1, 1, &[("gpu", 1)]));
        ClusterDescription {
            devices: vec!["gpu".into()],
            servers: (0..self.servers).map(server).collect(),
            ports: (0..self.ports).map(port).collect(),
            ..ClusterDescription::default()
        }
    }

    /// Measures everything; `done` is called after each part.
    pub(super) fn measure(&self, mut done: impl FnMut()) -> anyhow::Result<LiveReport> {
        let mut policies = Vec::new();
        for policy in POLICIES {
            policies.push(self.policy(policy)?);
            done();
        }
        let replay = self.replay()?;
        done();
        let journal = journal::measure(self.kept_events, self.seed)?;
        done();
        Ok(LiveReport { channels: self.ports * self.servers, policies, replay, journal })
    }

    fn policy(&self, policy: &'static str) -> anyhow::Result<PolicyFigures> {
        let build = builder(policy, self.seed)?;
        let mut live = Live::new(self.described(), &build)?;
        live.step(&due(1));
        for channel in 0..self.ports * self.servers {
            let (port, server) = (port_name(channel % self.ports), server_name(channel / self.ports));
            let report = SpeedReport::Rate(50.0 + (channel * 7919 % 1000) as f64 / 30.0);
            live.apply(&Event::Observed {
                id: channel.to_string(),
                port,
                group: "task".into(),
                server,
                report,
                source: String::new(),
            });
        }
        let (mut micros, mut slot) = (Vec::new(), 1);
        while micros.len() < self.outcomes {
            slot += 1;
            let starts = self.starts(&mut live, slot);
            ensure!(!starts.is_empty(), "`{policy}` started nothing in slot {slot}");
            for start in starts {
                let report = SpeedReport::Rate(50.0 + (start.ticket.0 % 100) as f64 / 3.0);
                let event = Event::Reported {
                    ticket: start.ticket,
                    tasks: WhichTasks::All,
                    report,
                    source: String::new(),
                };
                let before = Instant::now();
                live.apply(&event);
                micros.push(before.elapsed().as_nanos() as f64 / 1e3);
                live.apply(&Event::Ended { job: start.job });
            }
        }
        let micros = sorted(micros.into_iter());
        let (text, snapshot_ms) = best(|| live.snapshot())?;
        let (again, restore_ms) = best(|| Live::restore(&text, &build))?;
        ensure!(again.snapshot()? == text, "a restored snapshot is another one");
        Ok(PolicyFigures {
            policy,
            outcomes: micros.len(),
            outcome_p50_us: percentile(&micros, 0.5),
            outcome_p99_us: percentile(&micros, 0.99),
            snapshot_ms,
            snapshot_bytes: text.len(),
            restore_ms,
        })
    }

    /// Submits, starts and accepts a job of every port.
    fn starts(&self, live: &mut Live, slot: u64) -> Vec<Start> {
        for port in 0..self.ports {
            let (job, port) = (format!("j{slot}-{port}"), port_name(port));
            live.apply(&Event::Submitted { job, port, weight: 1.0 });
        }
        let started = live.step(&due(slot)).into_iter().filter_map(|effect| match effect {
            Effect::Started(start) => Some(start),
            _ => None,
        });
        let started: Vec<Start> = started.collect();
        started.iter().for_each(|start| drop(live.apply(&Event::Accepted { ticket: start.ticket })));
        started
    }

    fn replay(&self) -> anyhow::Result<Replay> {
        let setting = Scenario::preset("default").context("the preset `default`")?.setting(self.seed)?;
        let build = builder("esdp", self.seed)?;
        let mut driver = SimulatedCluster::new(&setting);
        let (described, mut journal, mut slot) = (driver.describe(), Vec::new(), 0);
        let mut live = Live::new(described.clone(), &build)?;
        while journal.len() < self.events {
            slot += 1;
            turn(&mut live, &mut driver, &mut journal, Slot(slot))?;
        }
        let before = Instant::now();
        let mut twin = Live::new(described, &build)?;
        journal.iter().for_each(|event| drop(twin.apply(event)));
        let seconds = before.elapsed().as_secs_f64();
        ensure!(twin.snapshot()? == live.snapshot()?, "a replayed journal gives another state");
        Ok(Replay { events: journal.len(), slots: slot, seconds })
    }
}

fn server_name(index: usize) -> String {
    format!("server-{index:04}")
}

fn port_name(index: usize) -> String {
    format!("port-{index:02}")
}

/// A slot whose decision may take next to no work: it is not what is measured.
fn due(slot: u64) -> Event {
    Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work: Some(1) }
}

fn builder(name: &str, seed: u64) -> anyhow::Result<impl Fn(&Cluster) -> Box<dyn Policy> + use<>> {
    let spec: PolicySpec = name.parse()?;
    Ok(move |cluster: &Cluster| spec.build(cluster, seed, None).expect("a policy with its defaults"))
}

/// The result, and the best time in milliseconds.
fn best<T, E>(run: impl Fn() -> Result<T, E>) -> Result<(T, f64), E> {
    let mut fastest = f64::INFINITY;
    let mut last = None;
    for _ in 0..REPEATS {
        drop(last.take());
        let before = Instant::now();
        last = Some(run()?);
        fastest = fastest.min(before.elapsed().as_secs_f64() * 1e3);
    }
    Ok((last.expect("at least one"), fastest))
}

/// A size PORTSxSERVERS of `--live`.
pub(super) fn size(text: &str) -> Result<(usize, usize), String> {
    match plan::size(text) {
        Ok(Size::Gangs { ports, servers }) => Ok((ports, servers)),
        _ => {
            Err(format!("expected PORTSxSERVERS, such as 100x1000, with a product of 1 to {}", plan::LARGEST))
        }
    }
}

impl LiveReport {
    pub(super) fn table(&self) -> String {
        let mut text =
            format!("The live core at {} channels, one thread, best of {REPEATS}\n\n", self.channels);
        let heads = ["policy", "outcome p50", "outcome p99", "snapshot", "size", "restore"];
        let mut rows = TextTable::new(&heads);
        for figures in &self.policies {
            rows.row([
                figures.policy.to_owned(),
                table::duration(figures.outcome_p50_us),
                table::duration(figures.outcome_p99_us),
                table::duration(1e3 * figures.snapshot_ms),
                format!("{:.2} MB", figures.snapshot_bytes as f64 / 1e6),
                table::duration(1e3 * figures.restore_ms),
            ]);
        }
        text.push_str(&rows.render());
        let Replay { events, slots, seconds } = self.replay;
        text.push_str(&format!(
            "\nA journal of {events} events ({slots} slots of the preset `default` under `esdp`) replayed \
             in {}\n",
            table::duration(1e6 * seconds)
        ));
        text.push_str(&self.journal.line());
        text
    }
}
