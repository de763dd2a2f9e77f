//! The live core: what it promises of names, tickets, time, speeds and reasons, one by one.
//! `faults.rs` shows that it keeps it whatever happens.

use esdp::live::{
    Driver, DriverError, Due, Effect, Event, HeldReason, Live, Refusal, SpeedReport, Start, WhichTasks, turn,
};
use esdp::model::{ChannelId, ChannelRule, Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot, Ticket};
use esdp::policy::{Policy, PolicySpec};
use esdp::scenario::Scenario;
use esdp::sim::{Recorder, Setting, SimulatedCluster, Simulation, SlotRecord};
use esdp::solver::{Exact, Problem, Solution, SolveError, Solver};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn policy(name: &str) -> impl Fn(&Cluster) -> Box<dyn Policy> + use<> {
    let spec: PolicySpec = name.parse().unwrap();
    move |cluster| spec.build(cluster, 1, None).unwrap()
}

/// Servers `n0` with 4 and `n1` with 2 devices; jobs of two tasks, both needed, a device each.
fn described() -> ClusterDescription {
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: vec![ServerSpec::new("n0", &[("gpu", 4)]), ServerSpec::new("n1", &[("gpu", 2)])],
        ports: vec![PortSpec::new("train", JobShape::tasks(2, 2, &[("gpu", 1)]))],
        ..ClusterDescription::default()
    }
}

fn live() -> Live {
    Live::new(described(), policy("esdp")).unwrap()
}

/// The same cluster with jobs of one task for two devices: two fit on `n0`, one on `n1`, and all start at once.
fn single() -> ClusterDescription {
    let mut described = described();
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 2)]);
    described
}

fn submit(live: &mut Live, job: &str) -> Vec<Effect> {
    live.apply(&Event::Submitted { job: job.into(), port: "train".into(), weight: 1.0 })
}

fn slot(live: &mut Live, slot: u64) -> Vec<Start> {
    let effects = live.apply(&Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work: None });
    let start = |effect| match effect {
        Effect::Started(start) => start,
        other => panic!("{other:?}"),
    };
    effects.into_iter().map(start).collect()
}

fn report(ticket: Ticket, report: SpeedReport) -> Event {
    Event::Reported { ticket, tasks: WhichTasks::All, report }
}

fn pending(live: &Live) -> u32 {
    live.beliefs().map(|belief| belief.pending).sum()
}

fn outcomes(live: &Live) -> f64 {
    live.beliefs().map(|belief| belief.count).sum()
}

#[test]
fn a_ticket_counts_once() {
    let mut live = live();
    submit(&mut live, "j1");
    assert!(matches!(&submit(&mut live, "j1")[..], [Effect::Duplicate { .. }]), "saying it again is harmless");
    let starts = slot(&mut live, 1);
    let ticket = starts[0].ticket;
    assert_eq!((starts.len(), pending(&live)), (1, 0), "nothing is pending before it was accepted");
    assert!(live.apply(&Event::Accepted { ticket }).is_empty());
    assert_eq!(pending(&live), 2);
    assert!(matches!(&live.apply(&Event::Accepted { ticket })[..], [Effect::Duplicate { .. }]));
    assert_eq!(pending(&live), 2);
    assert_eq!(live.apply(&report(ticket, SpeedReport::Utility(0.5))), [Effect::Learned { uses: 2 }]);
    assert_eq!((pending(&live), outcomes(&live)), (0, 2.0));
    for _ in 0..3 {
        let again = live.apply(&report(ticket, SpeedReport::Utility(0.9)));
        assert!(matches!(&again[..], [Effect::Duplicate { .. }]), "{again:?}");
    }
    live.apply(&Event::Ended { job: "j1".into() });
    let closed = live.apply(&report(ticket, SpeedReport::Utility(0.9)));
    assert!(matches!(&closed[..], [Effect::Duplicate { .. }]), "{closed:?}");
    let unknown = live.apply(&report(Ticket(99), SpeedReport::Utility(0.9)));
    assert_eq!(unknown, [Effect::Rejected { why: "ticket 99 was never handed out".into() }]);
    assert_eq!((outcomes(&live), live.counts().duplicates, live.counts().rejected), (2.0, 6, 1));
    assert!(
        matches!(&submit(&mut live, "j1")[..], [Effect::Duplicate { .. }]),
        "a job that is over does not start again"
    );
    assert!(slot(&mut live, 2).is_empty());
}

#[test]
fn what_is_refused_waits_again_and_what_never_reports_expires() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    assert_eq!(starts.iter().map(|start| start.job.as_str()).collect::<Vec<_>>(), ["j0", "j1", "j2"]);
    let refused = live.apply(&Event::Refused { ticket: starts[0].ticket, why: "node drained".into() });
    assert_eq!(refused, [Effect::Requeued { job: "j0".into(), ticket: starts[0].ticket }]);
    // It was accepted, and then not: what was pending is taken back.
    live.apply(&Event::Accepted { ticket: starts[1].ticket });
    assert_eq!(pending(&live), 1);
    live.apply(&Event::Refused { ticket: starts[1].ticket, why: String::new() });
    assert_eq!((pending(&live), outcomes(&live)), (0, 0.0));
    live.apply(&Event::Accepted { ticket: starts[2].ticket });
    let again = slot(&mut live, 2);
    assert_eq!(again.iter().map(|start| start.job.as_str()).collect::<Vec<_>>(), ["j0", "j1"], "at their old places");
    let effects = live.apply(&Event::Expired { before: Slot(3) });
    assert_eq!(effects.len(), 2, "nobody answered those of slot 2");
    assert_eq!(pending(&live), 0);
    let late = live.apply(&report(starts[2].ticket, SpeedReport::Utility(0.5)));
    assert!(matches!(&late[..], [Effect::Duplicate { .. } | Effect::Rejected { .. }]), "{late:?}");
    live.apply(&Event::Ended { job: "j2".into() });
    let late = live.apply(&report(starts[2].ticket, SpeedReport::Utility(0.5)));
    assert_eq!(late, [Effect::Rejected { why: "ticket 3 has expired".into() }]);
    assert_eq!(outcomes(&live), 0.0);
}

#[test]
fn news_may_come_in_any_order() {
    let mut live = live();
    submit(&mut live, "j1");
    let ticket = slot(&mut live, 1)[0].ticket;
    // The end before the acceptance, the outcome after the end.
    assert!(live.apply(&Event::Ended { job: "j1".into() }).is_empty());
    assert_eq!(pending(&live), 2);
    assert!(matches!(&live.apply(&Event::Accepted { ticket })[..], [Effect::Duplicate { .. }]));
    assert_eq!(live.apply(&report(ticket, SpeedReport::Utility(0.5))), [Effect::Learned { uses: 2 }]);
    // A cancellation before the submission.
    live.apply(&Event::Cancelled { job: "j2".into() });
    submit(&mut live, "j2");
    assert!(slot(&mut live, 2).is_empty());
}

#[test]
fn tasks_may_report_one_by_one_or_by_server() {
    let mut live = live();
    submit(&mut live, "j1");
    let start = slot(&mut live, 1).remove(0);
    let server = start.placements[0].server.clone();
    let one = |task| Event::Reported {
        ticket: start.ticket,
        tasks: WhichTasks::One(task),
        report: SpeedReport::Utility(0.5),
    };
    assert_eq!(live.apply(&one(1)), [Effect::Learned { uses: 1 }]);
    assert!(matches!(&live.apply(&one(1))[..], [Effect::Duplicate { .. }]));
    assert!(matches!(&live.apply(&one(7))[..], [Effect::Rejected { .. }]));
    let on = |server: &str| Event::Reported {
        ticket: start.ticket,
        tasks: WhichTasks::On(server.into()),
        report: SpeedReport::Lost,
    };
    assert_eq!(live.apply(&on(&server)), [Effect::Learned { uses: 0 }]);
    assert!(matches!(&live.apply(&on(&server))[..], [Effect::Duplicate { .. }]));
    assert!(matches!(&live.apply(&on("n9"))[..], [Effect::Rejected { .. }]));
    assert_eq!((pending(&live), outcomes(&live)), (0, 1.0));
}

#[test]
fn reports_of_others_count_once() {
    let mut live = live();
    let seen = |id: &str| Event::Observed {
        id: id.into(),
        port: "train".into(),
        group: "task".into(),
        server: "n1".into(),
        report: SpeedReport::Rate(50.0),
    };
    assert!(matches!(&live.apply(&seen("a"))[..], [Effect::Rejected { .. }]), "no slot yet");
    slot(&mut live, 1);
    assert_eq!(live.apply(&seen("a")), [Effect::Learned { uses: 1 }]);
    assert!(matches!(&live.apply(&seen("a"))[..], [Effect::Duplicate { .. }]));
    assert_eq!(live.apply(&seen("b")), [Effect::Learned { uses: 1 }]);
    assert_eq!(live.belief(ChannelId(1)).unwrap().speed, 50.0);
    assert_eq!(outcomes(&live), 2.0);
}

#[test]
fn a_lost_server_loses_its_jobs_and_a_drained_one_keeps_them() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    starts.iter().for_each(|start| drop(live.apply(&Event::Accepted { ticket: start.ticket })));
    let on_n1 = starts.iter().find(|start| start.placements.iter().any(|place| place.server == "n1")).unwrap();
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
    let due =
        |slot, amount| Event::SlotDue { slot: Slot(slot), free: free(amount), closed: vec!["n1".into()], work: None };
    assert!(live.apply(&due(1, 1)).is_empty());
    let held: Vec<_> = live.held().collect();
    assert_eq!(held[0].reason, HeldReason::Passed, "{held:?}");
    assert!(live.apply(&due(2, 0)).is_empty());
    let held: Vec<_> = live.held().collect();
    assert_eq!((held[0].reason, held[0].detail.as_str()), (HeldReason::Capacity, "gpu: 0 free on n0, 1 needed"));
    assert_eq!(live.apply(&due(3, 99)).len(), 1);
    submit(&mut live, "j2");
    assert_eq!(live.apply(&due(4, 99)).len(), 1);
    submit(&mut live, "j3");
    assert!(live.apply(&due(5, 99)).is_empty(), "our own jobs hold all four");
    let unknown =
        Event::SlotDue { slot: Slot(6), free: [("n9".to_owned(), [].into())].into(), closed: vec![], work: None };
    assert!(matches!(&live.apply(&unknown)[..], [Effect::Rejected { .. }]));
    assert!(matches!(&live.apply(&due(5, 9))[..], [Effect::Rejected { .. }]), "the clock does not go back");
}

#[test]
fn held_jobs_have_a_reason_a_person_can_read() {
    let mut described = described();
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 4)]);
    described.ports.push(PortSpec {
        channels: ChannelRule::Labels(vec!["h100".into()]),
        ..PortSpec::new("big", JobShape::tasks(1, 1, &[("gpu", 1)]))
    });
    let mut live = Live::new(described, policy("esdp")).unwrap();
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
fn urgent_jobs_and_heavy_ports_come_first() {
    let mut described = described();
    described.ports.push(PortSpec { weight: 3.0, ..PortSpec::new("vip", JobShape::tasks(2, 2, &[("gpu", 1)])) });
    described.servers.remove(1);
    described.servers[0] = ServerSpec::new("n0", &[("gpu", 2)]);
    let mut live = Live::new(described, policy("esdp")).unwrap();
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

/// Speeds in a unit that nobody told: tiny, huge, and suddenly ten times faster.
#[test]
fn speeds_come_in_any_unit() {
    for unit in [1e-30, 1.0, 1e30] {
        for name in ["esdp", "esdp-drift", "esdp-pooled", "cucb"] {
            let mut live = Live::new(described(), policy(name)).unwrap();
            let speeds = [("n0", 3.0 * unit), ("n1", 1.0 * unit)];
            let mut number = 0;
            let mut run = |live: &mut Live, slots: std::ops::Range<u64>, faster: f64| {
                for at in slots {
                    number += 1;
                    submit(live, &format!("j{number}"));
                    for start in slot(live, at) {
                        for place in &start.placements {
                            let speed = speeds.iter().find(|(server, _)| *server == place.server).unwrap().1;
                            let report = SpeedReport::Work { work: speed * faster * 8.0, seconds: 8.0 };
                            let tasks = WhichTasks::On(place.server.clone());
                            live.apply(&Event::Reported { ticket: start.ticket, tasks, report });
                        }
                        live.apply(&Event::Ended { job: start.job });
                    }
                }
            };
            run(&mut live, 1..60, 1.0);
            let speed = |live: &Live, at| live.belief(ChannelId(at)).unwrap().speed / unit;
            assert!((speed(&live, 0) - 3.0).abs() < 0.2, "{name} at {unit}: {}", speed(&live, 0));
            let factors = live.server_beliefs();
            assert!(factors[0].factor > factors[1].factor || factors[1].factor.is_none(), "{name}: {factors:?}");
            assert!(live.beliefs().all(|belief| (0.0..=1.0).contains(&belief.estimate)), "{name}");
            let before = live.counts().starts;
            run(&mut live, 60..600, 10.0);
            assert_eq!(live.counts().starts, before + 540, "{name}: jobs still start");
            let best = speed(&live, 0).max(speed(&live, 1));
            assert!((5.0..=30.1).contains(&best), "{name} at {unit}: {best}");
            assert!(live.beliefs().all(|belief| (-0.01..=1.0).contains(&belief.estimate)), "{name}");
        }
    }
}

/// Raising the scale is exact: the state is the one that a scale known from the start would have given.
#[test]
fn a_scale_that_grows_leaves_no_trace() {
    let rates = [0.3, 0.11, 7.0, 0.2, 1000.0, 31.0];
    for name in ["esdp", "esdp-drift"] {
        let mut lives = [None, Some(1024.0)].map(|reference| {
            let mut described = described();
            described.ports[0].reference = reference;
            let mut live = Live::new(described, policy(name)).unwrap();
            slot(&mut live, 1);
            live
        });
        for (id, rate) in rates.into_iter().enumerate() {
            for live in &mut lives {
                let (port, group, server) = ("train".into(), "task".into(), "n0".into());
                let report = SpeedReport::Rate(rate);
                live.apply(&Event::Observed { id: id.to_string(), port, group, server, report });
            }
        }
        let [learned, told] = lives.map(|live| live.scheduler().checkpoint().policy);
        assert_eq!(learned, told, "{name}");
    }
}

#[test]
fn a_port_can_be_reset_after_an_absurd_report() {
    let mut live = live();
    slot(&mut live, 1);
    let seen = |id: &str, rate| Event::Observed {
        id: id.into(),
        port: "train".into(),
        group: "task".into(),
        server: "n0".into(),
        report: SpeedReport::Rate(rate),
    };
    live.apply(&seen("a", 1e200));
    live.apply(&seen("b", 2.0));
    assert!(live.belief(ChannelId(0)).unwrap().estimate < 0.51);
    live.apply(&Event::Reset { port: Some("train".into()), server: None });
    live.apply(&seen("c", 2.0));
    assert_eq!(live.belief(ChannelId(0)).unwrap().estimate, 1.0);
    assert!(matches!(&live.apply(&seen("d", f64::INFINITY))[..], [Effect::Rejected { .. }]));
}

#[test]
fn a_change_keeps_jobs_and_learning_by_name() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    starts.iter().for_each(|start| drop(live.apply(&report(start.ticket, SpeedReport::Utility(0.5)))));
    let on_n1 = starts.iter().find(|start| start.placements[0].server == "n1").unwrap();
    let mut next = single();
    next.servers = vec![ServerSpec::new("n2", &[("gpu", 2)]), ServerSpec::new("n0", &[("gpu", 4)])];
    let effects = live.apply(&Event::Described { cluster: next.clone() });
    assert_eq!(effects, [Effect::Lost { job: on_n1.job.clone(), why: "its server has left the cluster".into() }]);
    let counts: Vec<(String, f64)> = live.beliefs().map(|belief| (belief.channel.server, belief.count)).collect();
    assert_eq!(counts, [("n2".into(), 0.0), ("n0".into(), 2.0)]);
    live.apply(&Event::Described { cluster: single() });
    assert_eq!(outcomes(&live), 3.0, "n1 is back with its history");
    live.apply(&Event::Described { cluster: next });
    live.apply(&Event::Forgotten { server: "n1".into() });
    live.apply(&Event::Described { cluster: single() });
    assert_eq!(outcomes(&live), 2.0);
    let broken = ClusterDescription::default();
    assert!(matches!(&live.apply(&Event::Described { cluster: broken })[..], [Effect::Rejected { .. }]));
    assert_eq!(live.described(), &single());
}

#[test]
fn another_state_is_merged_as_an_event() {
    let mut veteran = Live::new(single(), policy("hauf")).unwrap();
    let mut fresh = Live::new(single(), policy("esdp")).unwrap();
    for live in [&mut veteran, &mut fresh] {
        slot(live, 1);
    }
    for id in 0..20 {
        let (port, group, server) = ("train".into(), "task".into(), "n1".into());
        let report = SpeedReport::Utility(0.75);
        veteran.apply(&Event::Observed { id: id.to_string(), port, group, server, report });
    }
    let state = Box::new(veteran.scheduler().checkpoint());
    let merged = fresh.apply(&Event::Merged { state: state.clone(), share: 0.5 });
    assert_eq!(merged, [Effect::Merged { channels: 1 }]);
    let belief = fresh.belief(ChannelId(1)).unwrap();
    assert_eq!((belief.estimate, belief.count), (0.75, 10.0), "of another policy, by name, half as much");
    let refused = fresh.apply(&Event::Merged { state, share: 1.5 });
    assert!(matches!(&refused[..], [Effect::Rejected { .. }]));
}

/// Loses, refuses and answers late; keeps no state that the core could not lose as well.
struct Moody {
    events: Vec<Event>,
    calls: u32,
}

impl Driver for Moody {
    fn poll(&mut self) -> Result<Vec<Event>, DriverError> {
        self.calls += 1;
        match self.calls % 3 {
            0 => Err(DriverError { cause: "no answer".into() }),
            _ => Ok(std::mem::take(&mut self.events)),
        }
    }

    fn due(&mut self) -> Due {
        Due { closed: vec!["n1".into()], work: Some(1000), ..Due::default() }
    }

    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)> {
        assert!(starts.iter().all(|start| start.placements[0].server == "n0"));
        let refuse = |start: &Start| (start.ticket, Err(Refusal { why: "not today".into() }));
        starts.iter().map(refuse).collect()
    }
}

#[test]
fn a_turn_asks_decides_starts_and_takes_the_answers() {
    let (mut live, mut journal) = (live(), Vec::new());
    let submitted = Event::Submitted { job: "j1".into(), port: "train".into(), weight: 1.0 };
    let mut driver = Moody { events: vec![submitted], calls: 0 };
    for at in 1..=2 {
        let report = turn(&mut live, &mut driver, &mut journal, Slot(at)).unwrap();
        assert_eq!(report.starts.len(), 1);
        assert!(matches!(&report.effects[..], [Effect::Requeued { .. }]));
    }
    let error = turn(&mut live, &mut driver, &mut journal, Slot(3)).unwrap_err();
    assert_eq!(error.to_string(), "the cluster cannot be asked: no answer");
    let mut twin = self::live();
    journal.iter().for_each(|event| drop(twin.apply(event)));
    assert_eq!(twin.snapshot().unwrap(), live.snapshot().unwrap());
}

/// Solves exactly, and tells the limit of its last call.
struct Limited {
    inner: Exact,
    limit: Arc<AtomicU64>,
}

impl Solver for Limited {
    fn name(&self) -> &'static str {
        "limited"
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.limit.store(visits.unwrap_or(0), Ordering::Relaxed);
        self.inner.limit_work(visits);
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        self.inner.solve_into(problem, solution)
    }
}

#[test]
fn a_decision_takes_a_work_budget() {
    for name in ["esdp", "cts", "esdp-pooled"] {
        let limit = Arc::new(AtomicU64::new(0));
        let build = |cluster: &Cluster| {
            let solver = Limited { inner: Exact::default(), limit: Arc::clone(&limit) };
            name.parse::<PolicySpec>().unwrap().build_with(cluster, 1, None, Some(Box::new(solver))).unwrap()
        };
        let mut live = Live::new(described(), build).unwrap();
        for (at, work) in [Some(7), None, Some(9)].into_iter().enumerate() {
            submit(&mut live, &format!("j{at}"));
            live.apply(&Event::SlotDue { slot: Slot(at as u64 + 1), free: [].into(), closed: vec![], work });
            assert_eq!(limit.load(Ordering::Relaxed), work.unwrap_or(0), "{name}");
            assert!(live.scheduler().decision().certificate().is_some_and(|proved| proved.gap() >= 0.0));
        }
    }
}

#[derive(Default)]
struct Decisions(Vec<Vec<ChannelId>>);

impl Recorder for Decisions {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.push(record.decision.channels().to_vec());
        ControlFlow::Continue(())
    }
}

/// The decisions of a live scheduler that drives the same cluster.
fn live_decisions(setting: &Setting, spec: &PolicySpec, slots: u64) -> (Vec<Vec<ChannelId>>, Live) {
    let mut driver = SimulatedCluster::new(setting);
    let build = |cluster: &Cluster| spec.build(cluster, setting.seed(), None).unwrap();
    let mut live = Live::new(driver.describe(), build).unwrap();
    let cluster = setting.cluster();
    let find = |start: &Start, server: &str, group: &str| {
        let named = |id: &ChannelId| {
            let key = cluster.channel_key(*id);
            key.port == start.port && key.server == server && key.group == group
        };
        (0..cluster.channels().len()).map(ChannelId::at).find(named).unwrap()
    };
    let mut decisions = Vec::new();
    for at in 1..=slots {
        let report = turn(&mut live, &mut driver, &mut (), Slot(at)).unwrap();
        let mut chosen = Vec::new();
        for start in &report.starts {
            for place in &start.placements {
                let channel = find(start, &place.server, &place.group);
                chosen.extend(std::iter::repeat_n(channel, place.count as usize));
            }
        }
        chosen.sort_unstable();
        decisions.push(chosen);
    }
    (decisions, live)
}

/// What is evaluated is what is deployed: on presets with and without queues, delays, gangs and costs.
#[test]
fn a_simulated_cluster_gets_the_decisions_of_the_simulation() {
    for (preset, policies, slots) in [
        ("default", &["esdp", "cts", "hauf", "esdp-pooled"][..], 300),
        ("drift-switch", &["esdp-drift"], 200),
        ("gang-queue", &["esdp", "lwtf"], 40),
        ("fleet-200", &["esdp-pooled"], 12),
    ] {
        let scenario = Scenario::preset(preset).unwrap();
        let setting = scenario.setting(3).unwrap();
        for name in policies {
            let spec: PolicySpec = name.parse().unwrap();
            let mut recorded = Decisions::default();
            let mut simulation = Simulation::new(&setting, &spec).unwrap();
            assert!(simulation.run(slots, &mut recorded).unwrap().is_continue());
            let (decisions, live) = live_decisions(&setting, &spec, slots);
            for (at, (live, simulated)) in decisions.iter().zip(&recorded.0).enumerate() {
                assert_eq!(live, simulated, "{preset}, {name}, slot {}", at + 1);
            }
            assert_eq!((live.counts().rejected, live.counts().duplicates), (0, 0), "{preset}, {name}");
        }
    }
}
