//! Jobs at the pace of their slowest task: whom a report is credited to, and what `why` says.

use super::cluster::{policy, report, slot, submit};
use esdp::live::{Event, Live, SpeedReport, WhichTasks};
use esdp::model::{ClusterDescription, JobShape, Pace, PortSpec, ServerSpec, Slot, Ticket};

/// Three servers with a device each, and jobs of two tasks.
fn described(pace: Pace) -> ClusterDescription {
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: ["n0", "n1", "n2"].map(|name| ServerSpec::new(name, &[("gpu", 1)])).to_vec(),
        ports: vec![PortSpec { pace, ..PortSpec::new("train", JobShape::tasks(2, 2, &[("gpu", 1)])) }],
        ..ClusterDescription::default()
    }
}

/// A scheduler that has seen these utilities on the servers, many times.
fn seen(utilities: [f64; 3]) -> Live {
    let mut live = Live::new(described(Pace::Slowest { crossing: 0.8 }), policy("esdp-pooled")).unwrap();
    slot(&mut live, 1);
    for round in 0..200 {
        for (server, utility) in utilities.into_iter().enumerate() {
            let (server, group) = (format!("n{server}"), "task".to_owned());
            let (id, port) = (format!("{server}-{round}"), "train".to_owned());
            let (report, source) = (SpeedReport::Utility(utility), String::new());
            live.apply(&Event::Observed { id, port, group, server, report, source });
        }
    }
    live
}

fn counts(live: &Live) -> Vec<f64> {
    live.beliefs().map(|belief| belief.count).collect()
}

#[test]
fn a_job_s_own_speed_is_that_of_the_believed_slowest_and_of_one_server() {
    let mut live = seen([0.9, 0.5, 0.2]);
    submit(&mut live, "j");
    let starts = slot(&mut live, 2);
    let servers: Vec<&str> = starts[0].placements.iter().map(|place| place.server.as_str()).collect();
    assert_eq!(servers, ["n0", "n1"]);
    assert_eq!(counts(&live), [200.0; 3]);
    // .32 on two servers is .4 on one; n1 is believed to be the slowest.
    live.apply(&report(starts[0].ticket, SpeedReport::Utility(0.32)));
    assert_eq!(counts(&live), [200.0, 201.0, 200.0]);
    let estimates: Vec<f64> = live.beliefs().map(|belief| belief.estimate).collect();
    let expected = (200.0 * 0.5 + 0.4) / 201.0;
    assert!((estimates[1] - expected).abs() < 5e-4, "{estimates:?}, not {expected}");
    assert!((estimates[0] - 0.9).abs() < 0.01, "{estimates:?}");
}

#[test]
fn a_member_s_own_report_is_believed() {
    let mut live = seen([0.9, 0.5, 0.2]);
    submit(&mut live, "j");
    let ticket = slot(&mut live, 2)[0].ticket;
    let (report, source) = (SpeedReport::Utility(0.9), String::new());
    live.apply(&Event::Reported { ticket, tasks: WhichTasks::One(0), report, source });
    assert_eq!(counts(&live), [201.0, 200.0, 200.0]);
}

#[test]
fn why_names_whose_pace_it_is_and_what_the_next_better_set_waits_for() {
    let mut live = seen([0.9, 0.5, 0.2]);
    // Somebody holds n1: the job takes the fast server and the slow one.
    let due = |slot, closed: &[&str]| Event::SlotDue {
        slot: Slot(slot),
        free: closed.iter().map(|name| ((*name).to_owned(), [("gpu".to_owned(), 0)].into())).collect(),
        closed: Vec::new(),
        work: None,
    };
    submit(&mut live, "j");
    live.step(&due(2, &["n1"]));
    let told: Vec<String> = live.why(Ticket(1)).into_iter().map(|reason| reason.sentence).collect();
    let slowest: Vec<&String> = told.iter().filter(|sentence| sentence.contains("at the pace of")).collect();
    assert_eq!(slowest.len(), 1, "{told:?}");
    let expected = "the job runs at the pace of n2, 0.2";
    assert!(slowest[0].starts_with("n2: ") && slowest[0].contains(expected), "{told:?}");
    assert!(slowest[0].contains("times 0.8 for spanning servers"), "{told:?}");
    let better = "the next better set would wait for n1 with 0.5";
    assert!(slowest[0].contains(better) && slowest[0].ends_with("gpu: 0 free, 1 needed for each of 1 tasks"));
}

#[test]
fn an_old_description_adds_speeds_up() {
    let text = serde_json::to_string(&described(Pace::Sum)).unwrap();
    assert!(!text.contains("pace"), "as it was written before there was a pace: {text}");
    let old: ClusterDescription = serde_json::from_str(&text).unwrap();
    assert!(old.ports[0].adds_up());
    let new = described(Pace::Slowest { crossing: 0.8 });
    let again: ClusterDescription = serde_json::from_str(&serde_json::to_string(&new).unwrap()).unwrap();
    assert_eq!(again, new);
    assert!(!again.ports[0].adds_up());
    let parts = PortSpec::new("parts", JobShape::Parts { request: [("gpu".to_owned(), 1)].into() });
    let wrong = PortSpec { pace: Pace::Slowest { crossing: 1.0 }, ..parts };
    let refused = ClusterDescription { ports: vec![wrong], ..new }.cluster().unwrap_err().to_string();
    assert!(refused.contains("port `parts`: its jobs are in parts"), "{refused}");
}
