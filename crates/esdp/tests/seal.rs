//! What a decision and an observation must not be, and how the errors say so.

use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, Observation, Outcome, Slot, SlotView,
};
use esdp::policy::{Choice, Policy, PolicyError, PolicyState};
use esdp::scheduler::{Decision, ObserveError, ScheduleError, Scheduler, SealError};
use esdp::stats::StateError;
use std::sync::Arc;

/// Ports 0 and 1, servers 0 and 1, one device; channel 2p+r joins port p and server r and asks for 2.
fn cluster(capacity: Capacity) -> Arc<Cluster> {
    let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
    Arc::new(
        Cluster::new(ClusterSpec {
            devices: names("device", 1),
            servers: names("server", 2),
            ports: names("port", 2),
            channels: (0..4).map(|id| ChannelSpec::new(id / 2, id % 2, vec![2])).collect(),
            capacity,
            ..ClusterSpec::default()
        })
        .unwrap(),
    )
}

/// Chooses what it is told and counts what it learns.
struct Stubborn {
    chosen: Vec<u32>,
}

impl Policy for Stubborn {
    fn name(&self) -> &str {
        "stubborn"
    }

    fn decide(&mut self, _view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        choice.clear();
        choice.channels.extend(self.chosen.iter().copied().map(ChannelId));
        Ok(())
    }

    fn learn(&mut self, _seen: &Observation) {
        self.chosen.push(0);
    }

    fn state(&self) -> PolicyState {
        PolicyState::empty("stubborn")
    }

    fn restore(&mut self, _state: PolicyState) -> Result<(), StateError> {
        Ok(())
    }
}

fn seal(capacity: Capacity, jobs: [u32; 2], chosen: &[u32]) -> Result<Decision, SealError> {
    let cluster = cluster(capacity);
    let arrivals = Arrivals::new(jobs.to_vec());
    let view = SlotView { cluster: &cluster, slot: Slot(9), arrivals: &arrivals, free: cluster.capacity() };
    let choice = Choice { channels: chosen.iter().copied().map(ChannelId).collect(), certificate: None };
    Decision::seal(&view, &choice)
}

fn refused(capacity: Capacity, jobs: [u32; 2], chosen: &[u32]) -> String {
    seal(capacity, jobs, chosen).unwrap_err().to_string()
}

fn roomy() -> Capacity {
    Capacity::cluster_wide(vec![100])
}

#[test]
fn what_holds_is_sealed_in_order() {
    let decision = seal(roomy(), [2, 1], &[3, 0, 1, 0]).unwrap();
    assert_eq!(decision.channels(), [0, 0, 1, 3].map(ChannelId));
    assert_eq!((decision.slot(), decision.certificate()), (Slot(9), None));
    assert!(seal(roomy(), [0, 0], &[]).unwrap().channels().is_empty());
    let exactly = Capacity::cluster_wide(vec![4]).with_servers(vec![vec![2], vec![2]]).unwrap();
    assert!(seal(exactly, [1, 1], &[0, 3]).is_ok());
}

#[test]
fn arrivals_must_hold() {
    assert_eq!(refused(roomy(), [1, 1], &[4]), "channel 4 does not exist, the cluster has 4");
    assert_eq!(refused(roomy(), [1, 0], &[0, 2]), "channel 2 is used 1 times, but port 1 has 0 jobs");
    assert_eq!(refused(roomy(), [1, 1], &[0, 0]), "channel 0 is used 2 times, but port 0 has 1 jobs");
    assert!(refused(roomy(), [2, 2], &[1, 2, 1, 3, 1]).contains("channel 1 is used 3 times"));
}

#[test]
fn capacities_must_hold() {
    let tight = Capacity::cluster_wide(vec![5]);
    assert_eq!(refused(tight, [1, 1], &[0, 1, 2]), "device 0: 6 are needed, 5 are free in the cluster");
    let servers = Capacity::per_server(vec![vec![100], vec![3]]);
    assert_eq!(refused(servers, [1, 1], &[0, 2, 1, 3]), "device 0: 4 are needed, 3 are free on server 1");
    let repeated = Capacity::per_server(vec![vec![3], vec![3]]);
    assert!(refused(repeated, [2, 0], &[0, 0]).contains("on server 0"));
}

#[test]
fn sums_do_not_wrap() {
    let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
    let channels = (0..2).map(|server| ChannelSpec::new(0, server, vec![u64::MAX])).collect();
    let cluster = Cluster::new(ClusterSpec {
        devices: names("device", 1),
        servers: names("server", 2),
        ports: names("port", 1),
        channels,
        capacity: Capacity::cluster_wide(vec![u64::MAX]),
        ..ClusterSpec::default()
    })
    .unwrap();
    let arrivals = Arrivals::everywhere(1);
    let view = SlotView { cluster: &cluster, slot: Slot(1), arrivals: &arrivals, free: cluster.capacity() };
    let choice = Choice { channels: vec![ChannelId(0), ChannelId(1)], certificate: None };
    assert!(matches!(Decision::seal(&view, &choice), Err(SealError::Cluster { .. })));
}

#[test]
fn the_error_names_policy_slot_and_cause_and_the_slot_is_not_counted() {
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Stubborn { chosen: vec![0] }));
    assert!(scheduler.decide(&Arrivals::everywhere(2), None).is_ok());
    let error = scheduler.decide(&Arrivals::new(vec![0, 1]), None).unwrap_err();
    assert_eq!(error.to_string(), "policy `stubborn`, slot 2: channel 0 is used 1 times, but port 0 has 0 jobs");
    assert!(matches!(error, ScheduleError::Infeasible { slot: Slot(2), .. }));
    assert_eq!(scheduler.slot(), Slot(1));
    // What is free now counts, not what the cluster has.
    let busy = Capacity::cluster_wide(vec![1]);
    let error = scheduler.decide(&Arrivals::everywhere(2), Some(&busy)).unwrap_err();
    assert!(error.to_string().ends_with("device 0: 2 are needed, 1 are free in the cluster"));
}

#[test]
fn input_of_another_shape_is_refused() {
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Stubborn { chosen: vec![] }));
    let error = scheduler.decide(&Arrivals::everywhere(3), None).unwrap_err();
    assert_eq!(error.to_string(), "the arrivals list 3 ports, expected 2");
    let wide = Capacity::cluster_wide(vec![1, 1]);
    let error = scheduler.decide(&Arrivals::everywhere(2), Some(&wide)).unwrap_err();
    assert_eq!(error.to_string(), "free capacity: the cluster-wide capacity lists 2 devices, expected 1");
    assert_eq!(scheduler.slot(), Slot(0));
}

#[test]
fn bad_observations_teach_nothing() {
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Stubborn { chosen: vec![] }));
    scheduler.decide(&Arrivals::everywhere(2), None).unwrap();
    let mut observe = |slot, channel, outcome| {
        scheduler.observe(&Observation { slot: Slot(slot), channel: ChannelId(channel), outcome }).unwrap_err()
    };
    assert!(matches!(observe(1, 4, Outcome::Ran(0.5)), ObserveError::UnknownChannel { channels: 4, .. }));
    for slot in [0, 2] {
        assert!(matches!(observe(slot, 0, Outcome::Censored), ObserveError::UnknownSlot { last: Slot(1), .. }));
    }
    for value in [f64::NAN, f64::INFINITY, -0.1, 1.0 + 1e-9] {
        assert!(matches!(observe(1, 0, Outcome::Ran(value)), ObserveError::Utility { .. }));
    }
    assert_eq!(
        observe(1, 0, Outcome::Ran(2.0)).to_string(),
        "the net utility of channel 0 in slot 1 is 2, expected a number from 0 to 1"
    );
    assert!(scheduler.decide(&Arrivals::everywhere(2), None).unwrap().channels().is_empty());
    scheduler.observe(&Observation { slot: Slot(1), channel: ChannelId(3), outcome: Outcome::Ran(1.0) }).unwrap();
    assert_eq!(scheduler.decide(&Arrivals::everywhere(2), None).unwrap().channels().len(), 1, "it has learned now");
}
