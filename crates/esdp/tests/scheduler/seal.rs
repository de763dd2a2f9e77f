//! What a decision and an observation must not be, and how the errors say so.

use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, GangSpec, Observation, Outcome, Pace,
    PlacedJob, PortId, ServerId, Slot, SlotView,
};
use esdp::policy::{Choice, Policy, PolicyError, PolicySpec, PolicyState};
use esdp::scheduler::{Decision, ObserveError, ScheduleError, Scheduler, SealError, SlotInput};
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

/// Port 0 has jobs of up to 3 + 1 tasks, at least 3; servers 0 and 1. Channels 0 and 1 are for the
/// three, 2 and 3 for the one.
fn gang() -> Cluster {
    let channel = |id: u32| ChannelSpec { port: 0, server: id % 2, task: id / 2, request: vec![1] };
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["train".into()],
        channels: (0..4).map(channel).collect(),
        capacity: roomy(),
        gangs: vec![GangSpec::new(0, 3, &[3, 1])],
        ..ClusterSpec::default()
    })
    .unwrap()
}

fn seal_gangs(jobs: u32, chosen: &[u32]) -> Result<Decision, SealError> {
    let (cluster, arrivals) = (gang(), Arrivals::new(vec![jobs]));
    let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
    let choice = Choice { channels: chosen.iter().copied().map(ChannelId).collect(), ..Choice::default() };
    Decision::seal(&view, &choice)
}

#[test]
fn jobs_at_the_pace_of_their_slowest_task_are_checked_one_by_one() {
    let slowest = GangSpec { pace: Pace::Slowest { crossing: 1.0 }, ..GangSpec::new(0, 2, &[2]) };
    let cluster = Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["train".into()],
        channels: (0..2).map(|id| ChannelSpec::new(0, id, vec![1])).collect(),
        capacity: roomy(),
        gangs: vec![slowest],
        ..ClusterSpec::default()
    })
    .unwrap();
    let seal = |jobs: u32, dealt: &[&[u32]]| {
        let arrivals = Arrivals::new(vec![jobs]);
        let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
        let of = |ids: &&[u32]| ids.iter().copied().map(ChannelId).collect();
        let jobs = dealt.iter().map(|ids| PlacedJob { port: PortId(0), channels: of(ids) }).collect();
        let channels = [0, 0, 1, 1].map(ChannelId).to_vec();
        Decision::seal(&view, &Choice { channels, jobs, certificate: None })
    };
    let sealed = seal(2, &[&[1, 1], &[0, 0]]).unwrap();
    let dealt: Vec<_> = sealed.jobs(&cluster).into_iter().map(|job| job.channels).collect();
    assert_eq!(dealt, [[1, 1].map(ChannelId), [0, 0].map(ChannelId)], "as the policy says");
    assert_eq!(seal(2, &[]), Err(SealError::OtherUses));
    assert_eq!(seal(2, &[&[0, 0], &[0, 1]]), Err(SealError::OtherUses));
    assert_eq!(seal(2, &[&[0], &[0, 1, 1]]), Err(SealError::NoJob { port: PortId(0), tasks: 1 }));
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
    let view = SlotView::new(&cluster, Slot(9), &arrivals, cluster.capacity());
    let choice = Choice { channels: chosen.iter().copied().map(ChannelId).collect(), ..Choice::default() };
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
    assert_eq!(
        refused(roomy(), [1, 0], &[0, 2]),
        "uses of channel 2: 1, expected at most 0, as many as port 1 has jobs"
    );
    assert_eq!(
        refused(roomy(), [1, 1], &[0, 0]),
        "uses of channel 0: 2, expected at most 1, as many as port 0 has jobs"
    );
    assert!(refused(roomy(), [2, 2], &[1, 2, 1, 3, 1]).contains("uses of channel 1: 3"));
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
fn every_device_of_every_server_counts() {
    let channel = |id: u32| ChannelSpec { port: 0, server: id, task: 0, request: vec![1, 1, 2] };
    let spec = ClusterSpec {
        devices: ["cpu", "mem", "gpu"].map(Into::into).to_vec(),
        servers: ["a", "b", "c"].map(Into::into).to_vec(),
        ports: vec!["p".into()],
        channels: (0..3).map(channel).collect(),
        capacity: Capacity::per_server(vec![vec![2, 2, 4], vec![2, 2, 4], vec![2, 2, 3]]),
        ..ClusterSpec::default()
    };
    let (cluster, arrivals) = (Cluster::new(spec).unwrap(), Arrivals::new(vec![2]));
    let seal = |chosen: &[u32]| {
        let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
        let channels = chosen.iter().copied().map(ChannelId).collect();
        Decision::seal(&view, &Choice { channels, ..Choice::default() })
    };
    assert!(seal(&[0, 0, 1, 1, 2]).is_ok());
    let error = seal(&[0, 0, 1, 1, 2, 2]).unwrap_err().to_string();
    assert_eq!(error, "device 2: 4 are needed, 3 are free on server 2");
}

#[test]
fn a_decision_has_its_certificate_until_a_restore_forgets_it() {
    let cluster = cluster(roomy());
    let policy = "esdp".parse::<PolicySpec>().unwrap().build(&cluster, 0, None).unwrap();
    let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy);
    let before = scheduler.checkpoint();
    let arrivals = Arrivals::everywhere(2);
    // Until every channel was tried nothing is solved; by then a decision is the best of its problem.
    for _ in 0..6 {
        let chosen = scheduler.decide(&arrivals, None).unwrap().channels().to_vec();
        let slot = scheduler.slot();
        for channel in chosen {
            scheduler.commit(slot, &[channel]);
            scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(0.5) }).unwrap();
        }
    }
    let decision = scheduler.decision();
    assert!(
        decision.certificate().is_some() && !decision.channels().is_empty() && decision.slot() == Slot(6)
    );
    scheduler.restore(before).unwrap();
    let decision = scheduler.decision();
    assert!(decision.certificate().is_none() && decision.channels().is_empty() && decision.slot() == Slot(0));
}

#[test]
fn gangs_must_be_whole() {
    assert!(seal_gangs(1, &[0, 1, 1, 2]).is_ok() && seal_gangs(1, &[0, 0, 0]).is_ok());
    assert!(seal_gangs(2, &[0, 0, 0, 1, 1, 1, 2, 3]).is_ok());
    assert_eq!(
        seal_gangs(1, &[0, 2]).unwrap_err().to_string(),
        "port 0: 2 tasks are placed for 1 jobs, which start with at least 3 tasks each"
    );
    // Five tasks are too few for two jobs, and too many of one group for one.
    assert!(matches!(
        seal_gangs(2, &[0, 0, 0, 1, 2]),
        Err(SealError::BelowMinimum { tasks: 5, jobs: 2, .. })
    ));
    assert_eq!(
        seal_gangs(1, &[0, 0, 1, 1]).unwrap_err().to_string(),
        "port 0: 4 tasks of the group of channel 0 are placed, but its 1 jobs have 3 each"
    );
    assert!(matches!(
        seal_gangs(1, &[0, 0, 0, 2, 3]),
        Err(SealError::TooManyTasks { used: 2, count: 1, .. })
    ));
}

#[test]
fn a_closed_server_takes_nothing() {
    let cluster = cluster(roomy());
    let arrivals = Arrivals::everywhere(2);
    let view = SlotView {
        closed: &[false, true],
        ..SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity())
    };
    let seal =
        |channel| Decision::seal(&view, &Choice { channels: vec![ChannelId(channel)], ..Choice::default() });
    assert!(seal(0).is_ok());
    assert_eq!(seal(1).unwrap_err().to_string(), "channel 1 is used, but server 1 is closed");
    // Limits of the whole cluster cannot close a server; every policy that looks at the view can.
    for spec in PolicySpec::all() {
        let Ok(policy) = spec.build(&cluster, 0, None) else { continue };
        let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy);
        for slot in 1..20 {
            let closed = [ServerId((slot % 2) as u32)];
            let input = SlotInput { closed: &closed, ..SlotInput::new(&arrivals) };
            let chosen = scheduler.decide_at(Slot(slot), &input).unwrap().channels();
            assert!(chosen.iter().all(|channel| u64::from(channel.0 % 2) != slot % 2), "{spec:?}");
        }
    }
}

#[test]
fn weights_decide_between_ports() {
    // Room for one of the two ports' channels to server 0; port 1 is a little slower.
    let cluster = cluster(Capacity::per_server(vec![vec![2], vec![0]]));
    let arrivals = Arrivals::everywhere(2);
    for name in ["esdp", "esdp-index", "cucb", "cts", "hauf", "esdp-paper", "escb", "esdp-pooled"] {
        let policy = name.parse::<PolicySpec>().unwrap().build(&cluster, 0, None).unwrap();
        let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy);
        scheduler.decide_at(Slot(1), &SlotInput::new(&arrivals)).unwrap();
        for _ in 0..4000 {
            for (channel, utility) in [(0, 0.6), (2, 0.4)] {
                let outcome = Outcome::Ran(utility);
                scheduler
                    .observe(&Observation { slot: Slot(1), channel: ChannelId(channel), outcome })
                    .unwrap();
            }
        }
        let mut chosen = |slot, weights: &[f64]| {
            let input = SlotInput { weights, ..SlotInput::new(&arrivals) };
            scheduler.decide_at(Slot(slot), &input).unwrap().channels().to_vec()
        };
        assert_eq!(chosen(2, &[]), [ChannelId(0)], "{name}");
        assert_eq!(chosen(3, &[1.0, 1.0]), [ChannelId(0)], "{name}");
        assert_eq!(chosen(4, &[1.0, 3.0]), [ChannelId(2)], "{name}");
    }
    let mut scheduler = Scheduler::new(cluster, Box::new(Stubborn { chosen: vec![] }));
    for weights in [&[1.0][..], &[1.0, 0.0], &[1.0, f64::NAN]] {
        let refused = scheduler.decide_at(Slot(1), &SlotInput { weights, ..SlotInput::new(&arrivals) });
        assert!(matches!(refused, Err(ScheduleError::Weights { expected: 2, .. })));
    }
}

#[test]
fn the_slot_is_the_callers() {
    let arrivals = Arrivals::everywhere(2);
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Stubborn { chosen: vec![0] }));
    assert_eq!(scheduler.decide_at(Slot(100), &SlotInput::new(&arrivals)).unwrap().slot(), Slot(100));
    let error = scheduler.decide_at(Slot(100), &SlotInput::new(&arrivals)).unwrap_err();
    assert_eq!(error.to_string(), "slot 100 is not later than slot 100, the last one that was decided");
    let error =
        scheduler.decide_at(Slot(101), &SlotInput { closed: &[ServerId(2)], ..SlotInput::new(&arrivals) });
    assert_eq!(error.unwrap_err().to_string(), "server 2 is closed, but the cluster has 2 servers");
    assert_eq!(scheduler.slot(), Slot(100));
}

/// Counts what is pending, and chooses too much in its second slot.
struct Greedy {
    pending: Arc<std::sync::atomic::AtomicUsize>,
}

impl Policy for Greedy {
    fn name(&self) -> &str {
        "greedy"
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        choice.clear();
        choice.channels.resize(view.slot.0 as usize, ChannelId(0));
        Ok(())
    }

    fn commit(&mut self, _cluster: &Cluster, _slot: Slot, channels: &[ChannelId]) {
        self.pending.fetch_add(channels.len(), std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn nothing_is_pending_before_it_is_sealed_and_accepted() {
    let pending = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = || pending.load(std::sync::atomic::Ordering::Relaxed);
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Greedy { pending: Arc::clone(&pending) }));
    let arrivals = Arrivals::everywhere(2);
    let decision = scheduler.decide_at(Slot(1), &SlotInput::new(&arrivals)).unwrap().clone();
    assert_eq!(count(), 0);
    scheduler.commit(Slot(1), decision.channels());
    assert_eq!(count(), 1);
    assert!(matches!(scheduler.decide(&arrivals, None), Err(ScheduleError::Infeasible { .. })));
    assert_eq!(count(), 1, "what was not sealed is not pending");
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
    let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
    let choice = Choice { channels: vec![ChannelId(0), ChannelId(1)], ..Choice::default() };
    assert!(matches!(Decision::seal(&view, &choice), Err(SealError::Cluster { .. })));
}

#[test]
fn the_error_names_policy_slot_and_cause_and_the_slot_is_not_counted() {
    let mut scheduler = Scheduler::new(cluster(roomy()), Box::new(Stubborn { chosen: vec![0] }));
    assert!(scheduler.decide(&Arrivals::everywhere(2), None).is_ok());
    let error = scheduler.decide(&Arrivals::new(vec![0, 1]), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "policy `stubborn`, slot 2: uses of channel 0: 1, expected at most 0, as many as port 0 has jobs"
    );
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
        scheduler
            .observe(&Observation { slot: Slot(slot), channel: ChannelId(channel), outcome })
            .unwrap_err()
    };
    assert!(matches!(observe(1, 4, Outcome::Ran(0.5)), ObserveError::UnknownChannel { channels: 4, .. }));
    for slot in [0, 2] {
        assert!(matches!(
            observe(slot, 0, Outcome::Censored),
            ObserveError::UnknownSlot { last: Slot(1), .. }
        ));
    }
    for value in [f64::NAN, f64::INFINITY, -0.1, 1.0 + 1e-9] {
        assert!(matches!(observe(1, 0, Outcome::Ran(value)), ObserveError::Utility { .. }));
    }
    assert_eq!(
        observe(1, 0, Outcome::Ran(2.0)).to_string(),
        "the net utility of channel 0 in slot 1 is 2, expected a number from 0 to 1"
    );
    assert!(scheduler.decide(&Arrivals::everywhere(2), None).unwrap().channels().is_empty());
    scheduler
        .observe(&Observation { slot: Slot(1), channel: ChannelId(3), outcome: Outcome::Ran(1.0) })
        .unwrap();
    assert_eq!(
        scheduler.decide(&Arrivals::everywhere(2), None).unwrap().channels().len(),
        1,
        "it has learned now"
    );
}
