//! What every policy must keep, by the library's own suite, and what this one promises beside it.

use esdp::conformance::Suite;
use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterDescription, ClusterSpec, JobShape,
    Observation, Outcome, PortId, PortSpec, ServerSpec, Slot, TaskGroupSpec,
};
use esdp::policy::Policy;
use esdp::scheduler::{Scheduler, SlotInput};
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
    let channel = |pair: u32| {
        ChannelSpec::new(pair / 4, pair % 4, vec![u64::from(1 + pair % 2), u64::from(1 + pair % 3)])
    };
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
    Scheduler::new(Arc::clone(cluster), Box::new(ExploreThenCommit::policy(cluster, 2)))
}

fn speed(channel: ChannelId) -> f64 {
    0.1 + 0.07 * f64::from(channel.0 * 5 % 12)
}

/// All that the library asks of its own policies: gangs and their minima, weights, clusters that change.
#[test]
fn it_conforms() {
    Suite::new(&|cluster| Box::new(ExploreThenCommit::policy(cluster, 2))).run();
}

/// Room for one job alone: that of the port that counts more gets it, whichever it is.
#[test]
fn the_weight_of_a_port_counts() {
    for heavy in [0, 2] {
        let cluster = &clusters()[0];
        let mut scheduler = scheduler(cluster);
        let (mut arrivals, mut weights) = (Arrivals::new(vec![1, 0, 1]), vec![1.0; 3]);
        weights[heavy] = 3.0;
        let room = Capacity::cluster_wide(vec![1, 2]);
        let input = SlotInput { free: Some(&room), weights: &weights, ..SlotInput::new(&arrivals) };
        let chosen = scheduler.decide_at(Slot(1), &input).unwrap().channels().to_vec();
        let ports: Vec<PortId> = chosen.iter().map(|&channel| cluster.channel(channel).port).collect();
        assert_eq!(ports, [PortId::at(heavy)]);
        arrivals.set(PortId::at(heavy), 0);
        let input = SlotInput { free: Some(&room), weights: &weights, ..SlotInput::new(&arrivals) };
        assert_eq!(scheduler.decide_at(Slot(2), &input).unwrap().channels().len(), 1, "the other one, alone");
    }
}

/// Two workers of four and a parameter server, or nothing: by name, as a live cluster would say it.
#[test]
fn a_job_starts_with_its_minima_or_not_at_all() {
    let group = |name: &str, count, minimum| TaskGroupSpec {
        name: name.into(),
        count,
        minimum,
        request: [("gpu".to_owned(), 1)].into(),
    };
    let groups = vec![group("ps", 1, 1), group("worker", 4, 2)];
    let described = |gpus| ClusterDescription {
        devices: vec!["gpu".into()],
        servers: vec![ServerSpec::new("a", &[("gpu", gpus)])],
        ports: vec![PortSpec::new("train", JobShape::Gang { minimum: 1, groups: groups.clone() })],
        ..ClusterDescription::default()
    };
    for (gpus, tasks) in [(2, 0), (3, 3), (4, 4), (9, 5)] {
        let cluster = Arc::new(described(gpus).cluster().unwrap());
        let decision = scheduler(&cluster).decide(&Arrivals::everywhere(1), None).unwrap().clone();
        assert_eq!(decision.channels().len(), tasks, "{gpus} devices");
        assert_eq!(decision.jobs(&cluster).len(), usize::from(tasks > 0));
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
    // Speeds 0.10, 0.45, 0.80, 0.31; channels 0 and 2 ask for (1, 1) and (1, 3), 1 and 3 for (2, 2) and (2,
    // 1).
    assert!(uses.iter().all(|&uses| uses >= 2), "{uses:?}");
    assert!(uses[2] > 30, "{uses:?}");
}

#[test]
fn a_foreign_state_is_refused() {
    let cluster = &clusters()[0];
    let foreign = esdp::policy::PolicyState::empty("esdp");
    let refused = ExploreThenCommit::policy(cluster, 2).restore(foreign).unwrap_err().to_string();
    assert_eq!(refused, "the saved state is of policy `esdp`, expected `explore-then-commit`");
}
