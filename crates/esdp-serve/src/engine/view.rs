//! What readers see of the state: an overview, and rows that are made when somebody asks for them.
//!
//! All of it is made from the follower's copy, in the follower's thread; the engine makes none of it. The
//! keys of rows are in the order of the alphabet, in which they go over the wire.

use super::follower::Followed;
use super::why::reason_name;
use crate::wire::ClusterWire;
use esdp::live::{AdviceWorth, ChannelBelief, EventCounts, HeldJob, Live, Mode, ServerBelief, Verdict};
use esdp::model::{Amount, Amounts, Capacity, ChannelId, Cluster, ServerId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most waiting jobs that are listed.
const MOST_JOBS: usize = 1000;

/// The service at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// How many events there were.
    pub sequence: u64,
    /// The last slot.
    pub slot: u64,
    /// Who decides; none before the first cluster.
    pub mode: Option<Mode>,
    /// Devices of the whole cluster.
    pub devices: Vec<DeviceUse>,
    /// Jobs that wait, by reason.
    pub waiting: BTreeMap<String, u64>,
    /// The first of them.
    pub waiting_jobs: Vec<JobRow>,
    /// How many jobs run.
    pub running: u64,
    /// Of the tasks started lately: those that were exploration, and all.
    pub exploration: (u64, u64),
    /// The limit on their share.
    pub max_exploration: Option<f64>,
    /// What advice would have been worth.
    pub advice: AdviceWorth,
    /// What became of all events.
    pub events: EventCounts,
    /// Outcomes that were set aside and wait for an operator.
    pub set_aside: u64,
    /// All that were set aside so far.
    pub set_aside_total: u64,
    /// The size of the database in bytes.
    pub database_bytes: u64,
    /// The event of the last snapshot.
    pub snapshot: u64,
    /// Why nothing can be written, if so.
    pub degraded: Option<String>,
}

/// All rows of a state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// The cluster; none before the first.
    pub cluster: Option<ClusterWire>,
    /// What is believed of every channel.
    pub channels: Vec<ChannelRow>,
    /// What is believed of every server.
    pub servers: Vec<ServerRow>,
}

/// What is believed of a channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChannelRow {
    /// How many outcomes stand behind it.
    pub count: f64,
    /// The estimated net utility, from 0 to 1.
    pub estimate: f64,
    /// The group of tasks.
    pub group: String,
    /// The ends of its confidence interval; none for a channel never tried.
    pub interval: Option<(f64, f64)>,
    /// The estimated speed in the port's unit.
    pub mean: f64,
    /// How many outcomes are open.
    pub pending: u32,
    /// The port.
    pub port: String,
    /// The server.
    pub server: String,
    /// `work/s` once speeds were reported for the port, `utility` before.
    pub unit: &'static str,
}

/// What is believed of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerRow {
    /// Its devices, if it has limits of its own.
    pub capacity: Option<Amounts>,
    /// How many outcomes stand behind it.
    pub count: f64,
    /// Whether it takes nothing new.
    pub drained: bool,
    /// Its speed as a multiple of what is usual.
    pub factor: Option<f64>,
    /// Those of its devices that no job of ours holds.
    pub free: Option<Amounts>,
    /// The ends of the factor's 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its name.
    pub name: String,
    /// What the factor means.
    pub verdict: Verdict,
}

/// How much of a device is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceUse {
    /// The device.
    pub device: String,
    /// All of it.
    pub capacity: u64,
    /// What jobs of ours hold.
    pub used: u64,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobRow {
    /// The job.
    pub job: String,
    /// Its port.
    pub port: String,
    /// Why it waits, for programs.
    pub reason: &'static str,
    /// Why it waits, for people.
    pub detail: String,
}

impl Overview {
    /// Of a state; no rows are made for it.
    pub fn of(followed: &Followed) -> Self {
        let note = followed.note();
        let mut overview = Self {
            sequence: followed.sequence(),
            slot: followed.slot(),
            mode: None,
            devices: Vec::new(),
            waiting: BTreeMap::new(),
            waiting_jobs: Vec::new(),
            running: 0,
            exploration: (0, 0),
            max_exploration: None,
            advice: AdviceWorth::default(),
            events: EventCounts::default(),
            set_aside: 0,
            set_aside_total: 0,
            database_bytes: note.database_bytes,
            snapshot: note.snapshot,
            degraded: note.degraded.clone(),
        };
        if let Ok(live) = followed.live() {
            overview.fill(live);
        }
        overview
    }

    fn fill(&mut self, live: &Live) {
        self.mode = Some(live.mode());
        self.devices = devices(live, live.scheduler().cluster());
        let reasons = live.held_by_reason().into_iter();
        self.waiting = reasons.map(|(reason, count)| (reason_name(reason).to_owned(), count)).collect();
        let row = |held: HeldJob| {
            let reason = reason_name(held.reason);
            JobRow { job: held.job, port: held.port, reason, detail: held.detail }
        };
        self.waiting_jobs = live.held().take(MOST_JOBS).map(row).collect();
        self.running = live.book().starts().filter(|(_, started)| !started.over).count() as u64;
        self.exploration = live.exploration();
        self.max_exploration = live.most_exploration();
        self.advice = live.advice_worth();
        self.events = live.counts();
        self.set_aside = live.set_aside().count() as u64;
        self.set_aside_total = live.set_aside_count();
    }
}

impl View {
    pub(super) fn of(followed: &Followed) -> Self {
        let Ok(live) = followed.live() else { return Self::default() };
        Self {
            cluster: Some(ClusterWire::of(live.described())),
            channels: channel_rows(live, &WhichChannels::default()),
            servers: server_rows(live),
        }
    }
}

/// Which channels are wanted; all by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WhichChannels {
    /// Those of a port.
    pub port: Option<String>,
    /// Those on a server.
    pub server: Option<String>,
    /// Those with outcomes.
    pub tried: bool,
}

/// What is believed of channels, in the order of the cluster; nothing for policies that learn nothing.
pub fn channel_rows(live: &Live, which: &WhichChannels) -> Vec<ChannelRow> {
    let (cluster, learned) = (live.scheduler().cluster(), live.scheduler().policy().learned());
    let place = |names: &[String], name: &Option<String>| match name {
        Some(name) => names.iter().position(|known| known == name).map(Some).ok_or(()),
        None => Ok(None),
    };
    // What the cluster does not have has no channels.
    let Ok(port) = place(cluster.ports(), &which.port) else { return Vec::new() };
    let Ok(server) = place(cluster.servers(), &which.server) else { return Vec::new() };
    let wanted = |&id: &ChannelId| {
        let channel = cluster.channel(id);
        port.is_none_or(|port| channel.port.index() == port)
            && server.is_none_or(|server| channel.server.index() == server)
            && (!which.tried || learned.is_some_and(|learned| learned.record(id).count > 0.0))
    };
    let all = (0..cluster.channels().len()).map(ChannelId::at);
    all.filter(wanted).filter_map(|id| live.belief(id)).map(|belief| channel(live, belief)).collect()
}

/// What is believed of every server, in the order of the cluster.
pub fn server_rows(live: &Live) -> Vec<ServerRow> {
    let drained: BTreeSet<&str> = live.drained().collect();
    let row = |(index, belief): (usize, ServerBelief)| server(live, &drained, ServerId::at(index), belief);
    live.server_beliefs().into_iter().enumerate().map(row).collect()
}

fn channel(live: &Live, belief: ChannelBelief) -> ChannelRow {
    let scale = live.scale(&belief.channel.port);
    let in_unit = |utility: f64| {
        let speed = (utility + belief.cost).max(0.0);
        scale.map_or(speed, |scale| scale.in_unit(speed))
    };
    ChannelRow {
        mean: belief.speed,
        interval: belief
            .radius
            .map(|radius| (in_unit(belief.estimate - radius), in_unit(belief.estimate + radius))),
        count: belief.count,
        pending: belief.pending,
        unit: if scale.is_some() { "work/s" } else { "utility" },
        estimate: belief.estimate,
        port: belief.channel.port,
        group: belief.channel.group,
        server: belief.channel.server,
    }
}

/// Amounts by name, without the devices that the level does not limit.
fn named(cluster: &Cluster, amounts: &[Amount]) -> Amounts {
    let all = cluster.devices().iter().cloned().zip(amounts.iter().copied());
    all.filter(|&(_, amount)| amount != Capacity::UNLIMITED).collect()
}

fn server(live: &Live, drained: &BTreeSet<&str>, id: ServerId, belief: ServerBelief) -> ServerRow {
    let cluster = live.scheduler().cluster();
    ServerRow {
        factor: belief.factor,
        interval: belief.interval,
        verdict: belief.verdict,
        count: belief.count,
        drained: drained.contains(belief.server.as_str()),
        labels: cluster.labels(id).to_vec(),
        capacity: cluster.capacity().server(id).map(|amounts| named(cluster, amounts)),
        free: live.book().free().server(id).map(|amounts| named(cluster, amounts)),
        name: belief.server,
    }
}

/// The use of every device: of the cluster's own limit if it has one, else of its servers together.
fn devices(live: &Live, cluster: &Cluster) -> Vec<DeviceUse> {
    let sums = |capacity: &Capacity| -> Vec<Amount> {
        let servers =
            || (0..cluster.servers().len()).filter_map(|index| capacity.server(ServerId::at(index)));
        let of = |device: usize| match capacity.cluster().map(|own| own[device]) {
            Some(own) if own != Capacity::UNLIMITED => own,
            _ => servers().map(|amounts| amounts[device]).sum(),
        };
        (0..cluster.devices().len()).map(of).collect()
    };
    let (all, free) = (sums(cluster.capacity()), sums(live.book().free()));
    let device = |(device, (capacity, free)): (&String, (Amount, Amount))| DeviceUse {
        device: device.clone(),
        capacity,
        used: capacity.saturating_sub(free),
    };
    cluster.devices().iter().zip(all.into_iter().zip(free)).map(device).collect()
}
