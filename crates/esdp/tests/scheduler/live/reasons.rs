//! What is free, what is closed, who comes first, and the reasons that people read.

use super::cluster::{described, live, outcomes, pending, policy, report, single, slot, submit};
use esdp::live::{Effect, Event, HeldReason, Live, SpeedReport};
use esdp::model::{ChannelRule, JobShape, PortSpec, ServerSpec, Slot};

#[test]
fn a_lost_server_loses_its_jobs_and_a_drained_one_keeps_them() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    starts.iter().for_each(|start| drop(live.apply(&Event::Accepted { ticket: start.ticket })));
    let on_n1 =
        starts.iter().find(|start| start.placements.iter().any(|place| place.server == "n1")).unwrap();
    let effects = live.apply(&Event::ServerLost { server: "n1".into() });
    assert_eq!(effects, [Effect::Lost { job: on_n1.job.clone(), why: "server `n1` was lost".into() }]);
    assert_eq!((pending(&live), outcomes(&live)), (2, 0.0), "lost is censored");
    live.apply(&Event::Drained { server: "n0".into() });
    submit(&mut live, "j3");
    assert!(slot(&mut live, 2).is_empty());
    let held: Vec<_> = live.held().collect();
    assert_eq!((held[0].job.as_str(), held[0].reason), ("j3", HeldReason::Closed));
    live.apply(&Event::Opened { server: "n1".into() });
    assert_eq!(slot(&mut live, 3)[0].placements[0].server, "n1");
}

#[test]
fn what_the_driver_says_is_free_is_the_most_that_is_used() {
    let mut live = live();
    submit(&mut live, "j1");
    let free = |amount| [("n0".to_owned(), [("gpu".to_owned(), amount)].into())].into();
    let due = |slot, amount| Event::SlotDue {
        slot: Slot(slot),
        free: free(amount),
        closed: vec!["n1".into()],
        work: None,
    };
    let starts = |live: &mut Live, slot, amount| {
        live.step(&due(slot, amount)).iter().filter(|effect| matches!(effect, Effect::Started(_))).count()
    };
    assert_eq!(starts(&mut live, 1, 1), 0);
    let held: Vec<_> = live.held().collect();
    assert_eq!(held[0].reason, HeldReason::Passed, "{held:?}");
    assert_eq!(starts(&mut live, 2, 0), 0);
    let held: Vec<_> = live.held().collect();
    assert_eq!(
        (held[0].reason, held[0].detail.as_str()),
        (HeldReason::Capacity, "gpu: 0 free on n0, 1 needed")
    );
    assert_eq!(starts(&mut live, 3, 99), 1);
    submit(&mut live, "j2");
    assert_eq!(starts(&mut live, 4, 99), 1);
    submit(&mut live, "j3");
    assert_eq!(starts(&mut live, 5, 99), 0, "our own jobs hold all four");
    let unknown = Event::SlotDue {
        slot: Slot(6),
        free: [("n9".to_owned(), [].into())].into(),
        closed: vec![],
        work: None,
    };
    assert!(matches!(&live.apply(&unknown)[..], [Effect::Rejected { .. }]));
    assert!(matches!(&live.step(&due(5, 9))[..], [Effect::Rejected { .. }]), "the clock does not go back");
}

#[test]
fn held_jobs_have_a_reason_a_person_can_read() {
    let mut described = described();
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 4)]);
    described.ports.push(PortSpec {
        channels: ChannelRule::Labels(vec!["h100".into()]),
        ..PortSpec::new("big", JobShape::tasks(1, 1, &[("gpu", 1)]))
    });
    let mut live = Live::new(described, policy("esdp-index")).unwrap();
    submit(&mut live, "j1");
    live.apply(&Event::Submitted { job: "b1".into(), port: "big".into(), weight: 1.0 });
    assert!(live.held().all(|held| held.reason == HeldReason::NotDecided));
    let starts = slot(&mut live, 1);
    assert_eq!(starts.len(), 1);
    submit(&mut live, "j2");
    slot(&mut live, 2);
    let held: Vec<(String, String)> = live.held().map(|held| (held.job, held.detail)).collect();
    assert_eq!(held[0], ("j2".into(), "gpu: 2 free on n1, 4 needed".into()));
    assert_eq!(held[1], ("b1".into(), "no server allows this port".into()));
    let why = live.why(starts[0].ticket);
    assert_eq!((why.len(), why[0].tasks), (1, 1));
    assert_eq!(why[0].runner_up, Some(("n1".into(), 0.0)));
    assert_eq!(why[0].binding.as_deref(), Some("gpu"));
    assert!(why[0].sentence.starts_with("n0: expected 0.000"), "{}", why[0].sentence);
}

#[test]
fn a_licence_belongs_to_the_cluster_and_cores_to_the_servers() {
    let mut described = described();
    described.devices.push("licence".into());
    described.capacity = Some([("licence".to_owned(), 1)].into());
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 1), ("licence", 1)]);
    let mut live = Live::new(described, policy("esdp-index")).unwrap();
    ["j1", "j2"].iter().for_each(|job| drop(submit(&mut live, job)));
    let starts = slot(&mut live, 1);
    assert_eq!(starts.len(), 1, "one licence, one job");
    let held: Vec<_> = live.held().map(|held| (held.job, held.reason, held.detail)).collect();
    let why = "licence: 0 free in the cluster, 1 needed".to_owned();
    assert_eq!(held, [("j2".to_owned(), HeldReason::Capacity, why)]);
    live.apply(&Event::Ended { job: starts[0].job.clone() });
    assert_eq!(slot(&mut live, 2).len(), 1, "the licence is free again");
}

#[test]
fn urgent_jobs_and_heavy_ports_come_first() {
    let mut described = described();
    described
        .ports
        .push(PortSpec { weight: 3.0, ..PortSpec::new("vip", JobShape::tasks(2, 2, &[("gpu", 1)])) });
    described.servers.remove(1);
    described.servers[0] = ServerSpec::new("n0", &[("gpu", 2)]);
    let mut live = Live::new(described, policy("esdp-index")).unwrap();
    let mut next = 0;
    let mut first = |live: &mut Live, weight: f64| {
        for (job, port) in [("t", "train"), ("v", "vip")] {
            let weight = if job == "t" { weight } else { 1.0 };
            live.apply(&Event::Submitted { job: format!("{job}{next}"), port: port.into(), weight });
        }
        next += 1;
        let starts = slot(live, next);
        assert_eq!(starts.len(), 1);
        live.apply(&report(starts[0].ticket, SpeedReport::Utility(0.5)));
        live.apply(&Event::Ended { job: starts[0].job.clone() });
        starts[0].port.clone()
    };
    // Both are tried, then the weight of the port decides, then that of the job.
    (0..40).for_each(|_| drop(first(&mut live, 1.0)));
    assert_eq!(first(&mut live, 1.0), "vip");
    assert_eq!(first(&mut live, 100.0), "train");
    for weight in [0.0, f64::NAN, -1.0] {
        let refused = live.apply(&Event::Submitted { job: "x".into(), port: "vip".into(), weight });
        assert!(matches!(&refused[..], [Effect::Rejected { .. }]));
    }
}

/// What is listed after a slot: the named jobs, some others, and how many more wait; the same reasons as in
/// the whole list.
#[test]
fn some_of_a_long_queue_are_listed() {
    let mut live = live();
    (0..1000).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    slot(&mut live, 1);
    let all: Vec<_> = live.held().collect();
    let held = live.held_after_slot(["j999", "nobody", "j999", "j0"].into_iter(), 3);
    let names: Vec<&str> = held.jobs.iter().map(|held| held.job.as_str()).collect();
    assert_eq!(names[0], "j999", "those that were named come first, once, and only as far as they wait");
    assert_eq!((names.len(), held.more as usize), (4, all.len() - 4));
    assert_eq!(held.jobs[1..], all[..3]);
    submit(&mut live, "late");
    let counts: Vec<(HeldReason, u64)> = live.held_by_reason().into_iter().collect();
    assert_eq!(counts, [(HeldReason::NotDecided, 1), (all[0].reason, all.len() as u64)]);
}
