//! What every policy must keep, in short: the library's own suite, `crates/esdp/tests/conformance.rs`,
//! asks the same of the policies it ships.
//!
//! Sealing checks feasibility in every slot: an infeasible choice is an error here.

use esdp::model::{Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, Observation, Outcome, PortId};
use esdp::policy::Policy;
use esdp::scheduler::{Checkpoint, Scheduler};
use own_policy::ExploreThenCommit;
use std::sync::Arc;

/// Three ports, four servers, two devices, every pair a channel; limited at one level or at both.
fn clusters() -> Vec<Arc<Cluster>> {
    let servers = || (0..4).map(|server| vec![1 + server % 3, 3]).collect::<Vec<_>>();
    let capacities = [
        Capacity::cluster_wide(vec![5, 6]),
        Capacity::per_server(servers()),
        Capacity::cluster_wide(vec![5, 6]).with_servers(servers()).unwrap(),
    ];
    let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
    let channel =
        |pair: u32| ChannelSpec::new(pair / 4, pair % 4, vec![u64::from(1 + pair % 2), u64::from(1 + pair % 3)]);
    let cluster = |capacity| ClusterSpec {
        devices: names("device", 2),
        servers: names("server", 4),
        ports: names("port", 3),
        channels: (0..12).map(channel).collect(),
        capacity,
        ..ClusterSpec::default()
    };
    capacities.into_iter().map(|capacity| Arc::new(Cluster::new(cluster(capacity)).unwrap())).collect()
}

fn scheduler(cluster: &Arc<Cluster>) -> Scheduler {
    Scheduler::new(Arc::clone(cluster), Box::new(ExploreThenCommit::new(cluster, 2)))
}

fn speed(channel: ChannelId) -> f64 {
    0.1 + 0.07 * f64::from(channel.0 * 5 % 12)
}

/// One slot: several jobs at times, and news that comes late, tells nothing or never comes.
fn step(scheduler: &mut Scheduler, late: &mut Vec<Observation>) -> Vec<ChannelId> {
    let slot = scheduler.slot().next();
    let jobs = (0..3).map(|port| ((slot.0 * 7 + port * 3) % 4) as u32).collect();
    let chosen = scheduler.decide(&Arrivals::new(jobs), None).unwrap().channels().to_vec();
    for seen in late.drain(..) {
        scheduler.observe(&seen).unwrap();
    }
    for (position, &channel) in chosen.iter().enumerate() {
        let seen = Observation { slot, channel, outcome: Outcome::Ran(speed(channel)) };
        match (slot.0 as usize + position) % 7 {
            0 => {}
            1 => scheduler.observe(&Observation { outcome: Outcome::Censored, ..seen }).unwrap(),
            2 => late.push(seen),
            _ => scheduler.observe(&seen).unwrap(),
        }
    }
    chosen
}

#[test]
fn feasible_deterministic_and_restored_exactly() {
    for cluster in clusters() {
        let (mut first, mut late) = (scheduler(&cluster), Vec::new());
        let (mut second, mut also_late) = (scheduler(&cluster), Vec::new());
        let mut used = 0;
        for slot in 0..300 {
            if slot % 50 == 17 {
                let saved = serde_json::to_string(&first.checkpoint()).unwrap();
                second = scheduler(&cluster);
                second.restore(serde_json::from_str::<Checkpoint>(&saved).unwrap()).unwrap();
            }
            let chosen = step(&mut first, &mut late);
            assert_eq!(chosen, step(&mut second, &mut also_late), "slot {}", slot + 1);
            used += chosen.len();
        }
        assert!(used > 300, "only {used} channels in 300 slots");
    }
}

#[test]
fn nothing_to_do_or_nothing_free_is_no_error() {
    for cluster in clusters() {
        let mut scheduler = scheduler(&cluster);
        assert!(scheduler.decide(&Arrivals::new(vec![0; 3]), None).unwrap().channels().is_empty());
        let none = Capacity::cluster_wide(vec![0, 0]);
        assert!(scheduler.decide(&Arrivals::everywhere(3), Some(&none)).unwrap().channels().is_empty());
    }
}

#[test]
fn it_tries_everything_and_then_takes_the_best() {
    // One port, room for one channel of four: two tries each, then the fastest for ever.
    let [cluster, ..] = &clusters()[..] else { panic!("there are three") };
    let mut scheduler = scheduler(cluster);
    let mut jobs = Arrivals::new(vec![0; 3]);
    jobs.set(PortId(0), 1);
    let room = Capacity::cluster_wide(vec![2, 3]);
    let mut uses = [0; 4];
    for _ in 0..40 {
        let decision = scheduler.decide(&jobs, Some(&room)).unwrap();
        let (slot, chosen) = (decision.slot(), decision.channels().to_vec());
        for channel in chosen {
            uses[channel.index()] += 1;
            scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(speed(channel)) }).unwrap();
        }
    }
    // Speeds 0.10, 0.45, 0.80, 0.31; channels 0 and 2 ask for (1, 1) and (1, 3), 1 and 3 for (2, 2) and (2, 1).
    assert!(uses.iter().all(|&uses| uses >= 2), "{uses:?}");
    assert!(uses[2] > 30, "{uses:?}");
}

#[test]
fn a_foreign_state_is_refused() {
    let cluster = &clusters()[0];
    let foreign = esdp::policy::PolicyState::empty("esdp");
    let refused = ExploreThenCommit::new(cluster, 2).restore(foreign).unwrap_err().to_string();
    assert_eq!(refused, "the saved state is of policy `esdp`, expected `explore-then-commit`");
}
