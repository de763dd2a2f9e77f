//! Gangs under every policy, for thousands of slots: no decision overcommits a server, splits a
//! task, or starts a job below its minimum, whatever arrives, departs or breaks.
//!
//! Everything is counted here anew, from the cluster's description, and not by the code that seals.

use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, GangSpec, Observation, Outcome,
    PlacedJob, PortId, ServerId, Slot,
};
use esdp::policy::PolicySpec;
use esdp::rng::{Purpose, Stream, stream};
use esdp::scheduler::Scheduler;
use esdp::sim::FixedTruth;
use rand::RngExt;
use std::collections::HashMap;
use std::sync::Arc;

const PORTS: u32 = 4;
const SERVERS: u32 = 5;

/// Three ports of gangs and one of plain jobs, five servers, two devices; ports 0 and 1 have two task
/// groups. `both`: the cluster as a whole limits too.
fn cluster(both: bool) -> ClusterSpec {
    let gangs = vec![GangSpec::new(0, 4, &[3, 2]), GangSpec::new(1, 2, &[1, 4]), GangSpec::new(2, 3, &[3])];
    let mut channels = Vec::new();
    for port in 0..PORTS {
        let groups = gangs.iter().find(|gang| gang.port == port).map_or(1, |gang| gang.tasks.len() as u32);
        for task in 0..groups {
            let request = vec![u64::from(1 + (port + task) % 2), u64::from((port + 2 * task) % 3)];
            let servers = (0..SERVERS).filter(|server| (port + server) % 4 > 0);
            channels.extend(servers.map(|server| ChannelSpec {
                port,
                server,
                task,
                request: request.clone(),
            }));
        }
    }
    let servers = (0..u64::from(SERVERS)).map(|server| vec![3 + server % 3, 4 - server % 2]).collect();
    let capacity = Capacity::per_server(servers);
    let whole = || {
        Capacity::cluster_wide(vec![14, 9]).with_servers(
            (0..SERVERS).map(|server| capacity.server(ServerId(server)).unwrap().to_vec()).collect(),
        )
    };
    let names = |word: &str, count: u32| (0..count).map(|index| format!("{word}-{index}")).collect();
    ClusterSpec {
        devices: names("device", 2),
        servers: names("server", SERVERS),
        ports: names("port", PORTS),
        channels,
        capacity: if both { whole().unwrap() } else { capacity },
        gangs,
        ..ClusterSpec::default()
    }
}

fn draw(slot: u64, subject: u64) -> Stream {
    stream(5, Purpose::Arrivals, slot, subject)
}

/// What jobs hold, and until when.
#[derive(Default)]
struct Held(Vec<(u64, Vec<ChannelId>)>);

impl Held {
    /// What is free: all, less what is held, less what an outage takes.
    fn free(&self, spec: &ClusterSpec, slot: u64) -> Capacity {
        let mut free = spec.capacity.clone();
        for &channel in self.0.iter().flat_map(|(_, channels)| channels) {
            let channel = &spec.channels[channel.index()];
            let subtract = |row: &mut [u64]| {
                row.iter_mut()
                    .zip(&channel.request)
                    .for_each(|(free, used)| *free = free.checked_sub(*used).unwrap());
            };
            subtract(free.server_mut(ServerId(channel.server)).unwrap());
            if let Some(row) = free.cluster_mut() {
                subtract(row);
            }
        }
        let mut rng = draw(slot, 1);
        if rng.random_bool(0.3) {
            let broken = ServerId(rng.random_range(0..SERVERS));
            free.server_mut(broken).unwrap().fill(0);
        }
        free
    }
}

/// Counts what a decision uses and who it starts, and finds nothing wrong.
fn check(spec: &ClusterSpec, arrivals: &[u32], free: &Capacity, jobs: &[PlacedJob], chosen: &[ChannelId]) {
    let mut dealt: Vec<ChannelId> = jobs.iter().flat_map(|job| job.channels.iter().copied()).collect();
    dealt.sort_unstable();
    assert_eq!(dealt, chosen, "every use belongs to one job");
    let mut used: HashMap<(Option<u32>, usize), u64> = HashMap::new();
    for channel in chosen.iter().map(|channel| &spec.channels[channel.index()]) {
        for (device, amount) in channel.request.iter().enumerate() {
            *used.entry((Some(channel.server), device)).or_default() += amount;
            *used.entry((None, device)).or_default() += amount;
        }
    }
    for (&(server, device), &amount) in &used {
        let limit = match server {
            Some(server) => free.server(ServerId(server)).unwrap()[device],
            None => free.cluster().map_or(u64::MAX, |all| all[device]),
        };
        assert!(amount <= limit, "{amount} of {limit} used on {server:?}, device {device}");
    }
    for port in 0..PORTS {
        let of_port: Vec<&PlacedJob> = jobs.iter().filter(|job| job.port == PortId(port)).collect();
        assert!(of_port.len() <= arrivals[port as usize] as usize, "more jobs than there are");
        for job in of_port {
            let tasks: Vec<u32> =
                job.channels.iter().map(|channel| spec.channels[channel.index()].task).collect();
            match spec.gangs.iter().find(|gang| gang.port == port) {
                Some(gang) => {
                    assert!(tasks.len() >= gang.minimum as usize, "{job:?} is below its minimum");
                    for (group, count) in gang.tasks.iter().enumerate() {
                        let placed = tasks.iter().filter(|&&task| task as usize == group).count();
                        assert!(placed <= count.count as usize, "{job:?} has {count:?} of group {group}");
                    }
                }
                None => {
                    let mut once = job.channels.clone();
                    once.dedup();
                    assert_eq!(once, job.channels, "a plain job uses a channel once");
                }
            }
        }
    }
}

/// Runs a policy through arrivals, departures and outages; how many jobs it started.
fn live(spec: &ClusterSpec, policy: &PolicySpec, slots: u64) -> usize {
    let cluster = Arc::new(Cluster::new(spec.clone()).unwrap());
    let means: Vec<f64> =
        (0..spec.channels.len()).map(|channel| 0.1 + 0.8 * (channel * 7 % 11) as f64 / 10.0).collect();
    let truth: Option<Box<dyn esdp::policy::Truth>> =
        (policy.name() == "oracle").then(|| Box::new(FixedTruth(means.clone())) as Box<_>);
    let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy.build(&cluster, 3, truth).unwrap());
    let (mut held, mut started) = (Held::default(), 0);
    for slot in 1..=slots {
        let mut rng = draw(slot, 0);
        let arrivals: Vec<u32> = (0..PORTS).map(|_| [0, 0, 1, 1, 2, 5][rng.random_range(0..6)]).collect();
        let (ending, running) =
            std::mem::take(&mut held.0).into_iter().partition::<Vec<_>, _>(|job| job.0 <= slot);
        held.0 = running;
        for channel in ending.into_iter().flat_map(|(_, channels)| channels) {
            let utility = (means[channel.index()] + 0.4 * (rng.random::<f64>() - 0.5)).clamp(0.0, 1.0);
            scheduler
                .observe(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(utility) })
                .unwrap();
        }
        let free = held.free(spec, slot);
        let decision = scheduler.decide(&Arrivals::new(arrivals.clone()), Some(&free)).unwrap();
        let (jobs, chosen) = (decision.jobs(&cluster), decision.channels().to_vec());
        check(spec, &arrivals, &free, &jobs, &chosen);
        started += jobs.len();
        held.0.extend(jobs.into_iter().map(|job| (slot + rng.random_range(1..6), job.channels)));
    }
    started
}

#[test]
fn no_policy_overcommits_splits_or_starts_below_the_minimum() {
    for both in [false, true] {
        let spec = cluster(both);
        for policy in PolicySpec::all() {
            let started = live(&spec, &policy, 1000);
            assert!(started > 300, "{} started {started} jobs", policy.name());
        }
    }
}
