//! What a start costs: the journal of a real service with gangs, replayed as a start replays it.
//!
//! A service keeps what it is told and what it decides, as ever but for the syncs; clients submit jobs of the
//! preset `gang`, report each placement and end the jobs. Then the journal is read twice without its
//! snapshot: once only to parse its frames, once to book them. Seconds are those of the processor, so that
//! others on the machine do not count.

use anyhow::{Context, anyhow, ensure};
use esdp::model::ClusterDescription;
use esdp::policy::PolicySpec;
use esdp::scenario::Scenario;
use esdp::sim::SimulatedCluster;
use esdp_report::table;
use esdp_serve::engine::{Body, Client, Command, recover, replay};
use esdp_serve::settings::SettingsFile;
use esdp_serve::storage::{Sqlite, Storage};
use esdp_serve::wire::{JobWire, ObservationWire, OneOrMany, PlacementWire, SlotWire};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// How many slots a job runs.
const DURATION: usize = 4;
/// How many jobs may wait: no more are submitted then.
const QUEUE: u64 = 40;
/// The policy that decides.
const POLICY: &str = "esdp";
/// Each is measured so often, and the best counts.
const REPEATS: usize = 3;

/// The figures of a replay.
#[derive(Debug, Serialize)]
pub(super) struct JournalFigures {
    events: u64,
    frames: u64,
    slots: u64,
    journal_bytes: u64,
    /// To read and parse the frames.
    read_cpu_seconds: f64,
    /// The same, and to book them.
    replay_cpu_seconds: f64,
    events_per_cpu_second: f64,
    /// All that a start does: the database, the answers and the snapshot are checked, too.
    start_cpu_seconds: f64,
}

/// Writes a journal of at least so many events, and replays it.
pub(super) fn measure(events: u64, seed: u64) -> anyhow::Result<JournalFigures> {
    let data = tempfile::tempdir().context("a directory for the journal")?;
    let slots = write(data.path(), events, seed)?;
    let policy = esdp_serve::policy_maker(&POLICY.parse::<PolicySpec>()?, seed)?;
    let mut storage = Sqlite::open(data.path())?;
    // The service has left one snapshot, of its end: a start goes all the way there, too, and compares.
    let (mut found, mut frames) = (0, 0);
    let read_cpu_seconds = best(|| {
        (found, frames) = (0, 0);
        Ok(storage.frames(1, &mut |frame| {
            found += frame.events.len() as u64;
            frames += 1;
            Ok(())
        })?)
    })?;
    let mut replayed = 0;
    let replay_cpu_seconds = best(|| {
        replayed = replay(&mut storage, &policy, None)?.sequence();
        Ok(())
    })?;
    let start_cpu_seconds = best(|| {
        recover(&mut storage, &policy, false)?;
        Ok(())
    })?;
    ensure!(replayed == found, "{replayed} of {found} events were replayed");
    Ok(JournalFigures {
        events: found,
        frames,
        slots,
        journal_bytes: storage.size()?,
        read_cpu_seconds,
        replay_cpu_seconds,
        start_cpu_seconds,
        events_per_cpu_second: found as f64 / replay_cpu_seconds,
    })
}

/// Lets a service write a journal; the slots in it.
fn write(data: &Path, events: u64, seed: u64) -> anyhow::Result<u64> {
    let settings = SettingsFile {
        data: Some(data.to_owned()),
        listen: Some(([127, 0, 0, 1], 0).into()),
        no_token: Some(true),
        seed: Some(seed),
        synchronous: Some("OFF".to_owned()),
        snapshot_events: Some(u64::MAX / 2),
        ..SettingsFile::default()
    };
    let settings = settings.settle().map_err(|error| anyhow!(error))?;
    let setting = Scenario::preset("gang").context("the preset `gang`")?.setting(seed)?;
    let described = SimulatedCluster::new(&setting).describe();
    let (sender, slots) = std::sync::mpsc::channel();
    esdp_serve::run_with(
        &settings,
        |_| {},
        move |client| {
            let slots = Player::default().play(client, &described, events);
            let slots = slots.map_err(|error| error.to_string())?;
            sender.send(slots).map_err(|error| error.to_string())
        },
    )?;
    Ok(slots.recv()?)
}

/// A client of the service.
#[derive(Debug, Default)]
struct Player {
    /// Jobs that were submitted, and those of them that were started.
    made: u64,
    started: u64,
    events: u64,
    /// What was started in each of the last slots, by job.
    running: VecDeque<BTreeMap<String, Vec<PlacementWire>>>,
}

#[derive(Deserialize)]
struct Answer {
    placements: Vec<PlacementWire>,
}

impl Player {
    fn play(&mut self, client: &Client, described: &ClusterDescription, events: u64) -> anyhow::Result<u64> {
        ask(client, Command::Cluster(described.clone()))?;
        let mut slot = 0;
        while self.events < events {
            slot += 1;
            let over = match self.running.len() {
                DURATION => self.running.pop_front().unwrap_or_default(),
                _ => BTreeMap::new(),
            };
            self.report(client, &over)?;
            let answer = self.slot(client, slot, described, over.into_keys().collect())?;
            let mut started: BTreeMap<String, Vec<PlacementWire>> = BTreeMap::new();
            for placement in answer.placements {
                started.entry(placement.job.clone()).or_default().push(placement);
            }
            self.started += started.len() as u64;
            self.events += started.len() as u64;
            self.running.push_back(started);
        }
        Ok(slot)
    }

    /// Reports how every placement of some jobs went.
    fn report(&mut self, client: &Client, over: &BTreeMap<String, Vec<PlacementWire>>) -> anyhow::Result<()> {
        let report = |(index, placement): (usize, &PlacementWire)| ObservationWire {
            ticket: Some(placement.ticket.clone()),
            rate: Some(50.0 + (self.made * 7919 + index as u64 * 31) as f64 % 1000.0 / 30.0),
            ..ObservationWire::default()
        };
        let list: Vec<_> = over.values().flatten().enumerate().map(report).collect();
        self.events += list.len() as u64;
        if !list.is_empty() {
            ask(client, Command::Observe(OneOrMany { list, single: false }))?;
        }
        Ok(())
    }

    fn slot(
        &mut self,
        client: &Client,
        slot: u64,
        described: &ClusterDescription,
        ended: Vec<String>,
    ) -> anyhow::Result<Answer> {
        let mut jobs = Vec::new();
        for port in &described.ports {
            if self.made - self.started < QUEUE {
                self.made += 1;
                let id = format!("{}-{}", port.name, self.made);
                jobs.push(JobWire { id, port: port.name.clone(), ..JobWire::default() });
            }
        }
        self.events += 2 + jobs.len() as u64 + ended.len() as u64;
        let request = SlotWire {
            key: format!("slot-{slot}"),
            jobs,
            ended,
            free: BTreeMap::new(),
            closed: Vec::new(),
            // What is measured is not the decision.
            work: Some(1),
        };
        let body = ask(client, Command::Slots(OneOrMany { list: vec![request], single: true }))?;
        Ok(serde_json::from_str(&body.text)?)
    }
}

fn ask(client: &Client, command: Command) -> anyhow::Result<Body> {
    client.ask(command).map_err(|error| anyhow!("the service refuses: {}", error.message))
}

/// The fewest seconds of the processor that something takes.
fn best(mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut fewest = f64::INFINITY;
    for _ in 0..REPEATS {
        let before = cpu_seconds();
        run()?;
        fewest = fewest.min(cpu_seconds() - before);
    }
    Ok(fewest)
}

/// The seconds that this thread has had a processor.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl JournalFigures {
    /// For people.
    pub(super) fn line(&self) -> String {
        let Self { events, frames, slots, .. } = self;
        format!(
            "The journal of a service with gangs (preset `gang`, {events} events in {frames} frames, {slots} \
             slots, {:.0} MB) replayed in {} of processor time, {} of it to read and parse: {:.0} events per \
             second; a start with all of its checks: {}\n",
            self.journal_bytes as f64 / 1e6,
            table::duration(1e6 * self.replay_cpu_seconds),
            table::duration(1e6 * self.read_cpu_seconds),
            self.events_per_cpu_second,
            table::duration(1e6 * self.start_cpu_seconds),
        )
    }
}
