//! Modes of the live core: observing, advising, and a limit on exploration.

use esdp::live::{Effect, Event, Live, Mode, SpeedReport, Start, Verdict, WhichTasks};
use esdp::model::{Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::policy::{Policy, PolicySpec};

fn policy(cluster: &Cluster) -> Box<dyn Policy> {
    // Plain averages: what is expected can be worked out by hand.
    "esdp-index".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap()
}

fn live(servers: usize) -> Live {
    let server = |index: usize| ServerSpec::new(&format!("n{index}"), &[("gpu", 2)]);
    let described = ClusterDescription {
        devices: vec!["gpu".into()],
        servers: (0..servers).map(server).collect(),
        ports: vec![PortSpec::new("train", JobShape::tasks(1, 1, &[("gpu", 1)]))],
        ..ClusterDescription::default()
    };
    Live::new(described, policy).unwrap()
}

fn direct(live: &mut Live, mode: Mode, most_exploration: Option<f64>) {
    assert_eq!(live.apply(&Event::Directed { mode, most_exploration, objective: None }), []);
}

fn submit(live: &mut Live, job: &str) {
    live.apply(&Event::Submitted { job: job.into(), port: "train".into(), weight: 1.0 });
}

fn slot(live: &mut Live) -> Vec<Start> {
    let slot = live.scheduler().slot().next();
    let effects = live.step(&Event::SlotDue { slot, free: [].into(), closed: vec![], work: None });
    let start = |effect| match effect {
        Effect::Started(start) => Some(start),
        Effect::Decided { .. } => None,
        other => panic!("{other:?}"),
    };
    effects.into_iter().filter_map(start).collect()
}

fn observe(live: &mut Live, id: &str, server: &str, utility: f64) -> Vec<Effect> {
    let (port, group) = ("train".into(), "task".into());
    let report = SpeedReport::Utility(utility);
    live.apply(&Event::Observed {
        id: id.into(),
        port,
        group,
        server: server.into(),
        report,
        source: String::new(),
    })
}

fn placed(live: &mut Live, job: &str, server: &str) {
    let (port, group) = ("train".into(), "task".into());
    assert_eq!(live.apply(&Event::Placed { job: job.into(), port, group, server: server.into() }), []);
}

/// A state that is saved in any mode goes on as it would have.
fn again(live: &Live) -> Live {
    let text = live.snapshot().unwrap();
    let twin = Live::restore(&text, policy).unwrap();
    assert_eq!(twin.snapshot().unwrap(), text);
    twin
}

#[test]
fn who_observes_learns_and_decides_nothing() {
    let mut live = live(3);
    direct(&mut live, Mode::Observe, None);
    submit(&mut live, "j");
    assert_eq!(slot(&mut live), []);
    assert_eq!(live.scheduler().slot(), Slot(1), "time passes");
    for round in 0..400 {
        for (server, utility) in [("n0", 0.6), ("n1", 0.6), ("n2", 0.3)] {
            observe(&mut live, &format!("{server}-{round}"), server, utility);
        }
    }
    let mut twin = again(&live);
    let verdicts: Vec<Verdict> = twin.server_beliefs().iter().map(|belief| belief.verdict).collect();
    assert_eq!(verdicts, [Verdict::Usual, Verdict::Usual, Verdict::Slow]);
    assert!((twin.server_beliefs()[2].factor.unwrap() - 0.5).abs() < 1e-9);
    assert!(twin.held().any(|held| held.job == "j"));
    direct(&mut twin, Mode::Place, None);
    assert_ne!(slot(&mut twin)[0].placements[0].server, "n2");
}

#[test]
fn advice_holds_nothing_and_is_compared_with_what_was_done() {
    let mut live = live(2);
    for (server, utility) in [("n0", 0.9), ("n1", 0.3)] {
        slot(&mut live);
        for round in 0..100 {
            observe(&mut live, &format!("{server}-{round}"), server, utility);
        }
    }
    direct(&mut live, Mode::Advise, None);
    for number in 0..40 {
        let job = format!("j{number}");
        submit(&mut live, &job);
        let advised = slot(&mut live);
        assert_eq!((advised.len(), advised[0].placements[0].server.as_str()), (1, "n0"));
        assert!(live.waits(&job), "advice starts nothing");
        assert_eq!(live.starts().count(), 0);
        assert_eq!(live.why_start(&advised[0]).len(), 1);
        let mut twin = again(&live);
        // Every other job goes to the slow server all the same.
        let server = if number % 2 == 0 { "n0" } else { "n1" };
        for live in [&mut live, &mut twin] {
            placed(live, &job, server);
            assert!(!live.has_job(&job), "it runs elsewhere and waits no more");
        }
        assert_eq!(live.snapshot(), twin.snapshot());
        placed(&mut live, &job, server);
    }
    let worth = live.advice_worth();
    assert_eq!((worth.compared, worth.followed), (40, 20), "each task counts once");
    assert!((worth.gain - 20.0 * 0.6).abs() < 1e-6, "{worth:?}");
    assert!(
        worth.interval.0 > 0.0 && worth.interval.0 < worth.gain && worth.gain < worth.interval.1,
        "{worth:?}"
    );
}

#[test]
fn exploration_stays_below_its_limit() {
    for most in [0.0, 0.1, 0.5] {
        let mut live = live(12);
        direct(&mut live, Mode::Place, Some(most));
        let (mut explored, mut uses) = (0, 0);
        for number in 0..600 {
            submit(&mut live, &format!("j{number}"));
            let before = live.exploration();
            let starts = slot(&mut live);
            assert_eq!(starts.len(), 1, "a limit keeps no job waiting");
            let after = live.exploration();
            explored += u64::from(after.0 > before.0);
            uses += 1;
            let Start { ticket, job, .. } = starts.into_iter().next().unwrap();
            let report = SpeedReport::Utility(0.5);
            live.apply(&Event::Reported { ticket, tasks: WhichTasks::All, report, source: String::new() });
            live.apply(&Event::Ended { job });
            assert!(after.0 as f64 <= most * after.1 as f64 + 1.0, "{most}: {after:?}");
        }
        assert!(explored as f64 <= most * f64::from(uses) + 1.0, "{most}: {explored} of {uses}");
        assert_eq!(again(&live).exploration(), live.exploration());
    }
    let rejected =
        live(1).apply(&Event::Directed { mode: Mode::Place, most_exploration: Some(1.5), objective: None });
    assert!(
        matches!(&rejected[..], [Effect::Rejected { why, .. }] if why.contains("from 0 to 1")),
        "{rejected:?}"
    );
}

#[test]
fn outcomes_by_name_may_come_after_the_end() {
    let mut live = live(1);
    direct(&mut live, Mode::Place, None);
    submit(&mut live, "j");
    let ticket = slot(&mut live)[0].ticket;
    live.apply(&Event::Ended { job: "j".into() });
    let mut twin = again(&live);
    assert_eq!(twin.ticket_of("j"), Some(ticket));
    let report = Event::Reported {
        ticket,
        tasks: WhichTasks::All,
        report: SpeedReport::Utility(0.5),
        source: String::new(),
    };
    assert_eq!(twin.apply(&report), [Effect::Learned { uses: 1 }]);
    assert_eq!(twin.ticket_of("j"), None, "all of it is reported");
}
