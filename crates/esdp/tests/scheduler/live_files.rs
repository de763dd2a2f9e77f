//! Files of the live core that were written before: snapshots and journals of every version are read.
//!
//! `tests/fixtures/live-vN` holds the journal of a short life and the snapshot in its middle. A new version
//! adds a directory of its own and never changes an old one. It is written by
//! `cargo test -p esdp-core --test scheduler live_files:: -- --ignored`.

use esdp::live::{
    EVENT_VERSION, Effect, Entry, Event, Live, Mode, SNAPSHOT_VERSION, SpeedReport, WhichTasks,
};
use esdp::model::{Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot, TaskGroupSpec, Ticket};
use esdp::policy::{Policy, PolicySpec};
use esdp::scheduler::{Checkpoint, Objective};
use std::path::PathBuf;

/// It was called `esdp` when the files of version 1 were written.
fn policy(cluster: &Cluster) -> Box<dyn Policy> {
    "esdp-index".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap()
}

fn described() -> ClusterDescription {
    let group = |name: &str, count| TaskGroupSpec {
        name: name.into(),
        count,
        minimum: 0,
        request: [("gpu".to_owned(), 1)].into(),
    };
    let gang = JobShape::Gang { minimum: 2, groups: vec![group("ps", 1), group("worker", 2)] };
    let mut fast = ServerSpec::new("n1", &[("gpu", 3)]);
    fast.labels = vec!["h100".into()];
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: vec![ServerSpec::new("n0", &[("gpu", 4)]), fast],
        ports: vec![
            PortSpec { weight: 2.0, reference: Some(100.0), ..PortSpec::new("train", gang) },
            PortSpec::new("serve", JobShape::Parts { request: [("gpu".to_owned(), 1)].into() }),
        ],
        ..ClusterDescription::default()
    }
}

/// Every kind of event, most of them more than once.
fn life() -> Vec<Event> {
    let mut events = Vec::new();
    for slot in 1..=40u64 {
        let port = if slot.is_multiple_of(3) { "serve" } else { "train" };
        events.push(Event::Submitted {
            job: format!("j{slot}"),
            port: port.into(),
            weight: 1.0 + (slot % 2) as f64,
        });
        let closed = if slot.is_multiple_of(7) { vec!["n0".to_owned()] } else { vec![] };
        let free = if slot.is_multiple_of(5) {
            [("n1".to_owned(), [("gpu".to_owned(), 1)].into())].into()
        } else {
            [].into()
        };
        events.push(Event::SlotDue {
            slot: Slot(slot),
            free,
            closed,
            work: slot.is_multiple_of(4).then_some(5000),
        });
        let ticket = Ticket(slot);
        match slot % 6 {
            0 => events.push(Event::Refused { ticket, why: "no".into() }),
            _ => events.push(Event::Accepted { ticket }),
        }
        let report = match slot % 4 {
            0 => SpeedReport::Lost,
            1 => SpeedReport::Utility(0.25),
            2 => SpeedReport::Rate(40.0 * slot as f64),
            _ => SpeedReport::Work { work: 300.0, seconds: 2.5 },
        };
        let tasks =
            [WhichTasks::All, WhichTasks::One(0), WhichTasks::On("n1".into())][(slot % 3) as usize].clone();
        events.push(Event::Reported { ticket, tasks, report, source: String::new() });
        events.push(Event::Ended { job: format!("j{}", slot.saturating_sub(1)) });
        match slot {
            8 => events.push(Event::Drained { server: "n1".into() }),
            10 => events.push(Event::Opened { server: "n1".into() }),
            12 => events.push(Event::Cancelled { job: "j12".into() }),
            15 => events.push(Event::ServerLost { server: "n0".into() }),
            16 => events.push(Event::Opened { server: "n0".into() }),
            18 => events.push(Event::Expired { before: Slot(10) }),
            22 => {
                let mut next = described();
                next.servers.push(ServerSpec::new("n2", &[("gpu", 2)]));
                next.servers.remove(0);
                events.push(Event::Described { cluster: next });
            }
            25 => events.push(Event::Reset { port: None, server: Some("n1".into()) }),
            27 => events.push(Event::Forgotten { server: "n0".into() }),
            29 => {
                let (port, group, server) = ("train".into(), "worker".into(), "n2".into());
                events.push(Event::Observed {
                    id: "x".into(),
                    port,
                    group,
                    server,
                    report: SpeedReport::Rate(90.0),
                    source: String::new(),
                });
            }
            _ => {}
        }
    }
    events
}

fn directory(version: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", version].iter().collect()
}

/// After how many events the snapshot was taken.
const MIDDLE: usize = 120;

/// Applies an event and books the decision that it asks for; both are journalled.
fn live_on(live: &mut Live, event: Event, journal: &mut Vec<Event>) {
    live.apply(&event);
    let decided = live.decide(&event).unwrap();
    journal.push(event);
    if let Some(decided) = decided {
        live.apply(&Event::Decided(decided.clone()));
        journal.push(Event::Decided(decided));
    }
}

#[test]
#[ignore = "writes the files of this version"]
fn write() {
    let directory = directory(&format!("live-v{SNAPSHOT_VERSION}"));
    std::fs::create_dir_all(&directory).unwrap();
    let (mut live, mut events) = (Live::new(described(), policy).unwrap(), Vec::new());
    for (index, event) in life().into_iter().enumerate() {
        if index == MIDDLE {
            std::fs::write(directory.join("snapshot.txt"), live.snapshot().unwrap()).unwrap();
        }
        // Version 1 had no moves, whose life this is.
        let running = live.starts().next().map(|start| start.ticket);
        if let Some(ticket) = running.filter(|_| index.is_multiple_of(30)) {
            let (tasks, server) = (WhichTasks::All, "n1".to_owned());
            live_on(&mut live, Event::Moved { ticket, tasks, server }, &mut events);
        }
        live_on(&mut live, event, &mut events);
    }
    let line = |(index, event): (usize, Event)| {
        let entry = Entry { version: EVENT_VERSION, sequence: index as u64 + 1, event };
        serde_json::to_string(&entry).unwrap() + "\n"
    };
    let journal: String = events.into_iter().enumerate().map(line).collect();
    std::fs::write(directory.join("journal.jsonl"), journal).unwrap();
    std::fs::write(directory.join("end.txt"), live.snapshot().unwrap()).unwrap();
}

fn journal(version: &str) -> Vec<Event> {
    let text = std::fs::read_to_string(directory(version).join("journal.jsonl")).unwrap();
    let entries = text.lines().map(|line| serde_json::from_str::<Entry>(line).unwrap());
    entries.map(|entry| entry.event).collect()
}

fn file(version: &str, name: &str) -> String {
    std::fs::read_to_string(directory(version).join(name)).unwrap()
}

/// Decisions of version 2 are facts: whatever policy reads the journal, jobs run where they were started.
#[test]
fn version_2_is_read() {
    let (events, saved) = (journal("live-v2"), file("live-v2", "snapshot.txt"));
    let restored = Live::restore(&saved, policy).unwrap();
    let middle = restored.counts().events as usize;
    assert!(events[..middle].iter().any(|event| matches!(event, Event::Decided(_))));
    assert!(events.iter().any(|event| matches!(event, Event::Moved { .. })));
    assert!((MIDDLE..events.len()).contains(&middle));
    let first_fit =
        |cluster: &Cluster| "first-fit".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap();
    let mut restored = Live::restore(&file("live-v2", "snapshot.txt"), policy).unwrap();
    let mut replayed = Live::new(described(), policy).unwrap();
    let mut other = Live::new(described(), first_fit).unwrap();
    for (index, event) in events.iter().enumerate() {
        let effects = replayed.apply(event);
        let other = other.apply(event);
        let starts = |effects: &[Effect]| {
            effects.iter().filter(|effect| matches!(effect, Effect::Started(_))).cloned().collect::<Vec<_>>()
        };
        assert_eq!(starts(&effects), starts(&other), "{event:?}");
        match index.cmp(&middle) {
            std::cmp::Ordering::Less => {}
            _ => assert_eq!(effects, restored.apply(event), "{event:?}"),
        }
    }
    assert_eq!(other.book(), replayed.book(), "the same jobs run in the same places");
    assert_eq!(replayed.counts().rejected, other.counts().rejected);
    for live in [&replayed, &restored] {
        assert_eq!(unjudged(&live.snapshot().unwrap()), unjudged(&file("live-v2", "end.txt")));
    }
}

/// A snapshot without what is known of outcomes and their sources, which the first files of this version did
/// not have.
fn unjudged(snapshot: &str) -> serde_json::Value {
    let (_, state) = snapshot.split_once('\n').unwrap();
    let mut state: serde_json::Value = serde_json::from_str(state).unwrap();
    state.as_object_mut().unwrap().remove("judge");
    state
}

/// Applies an event of version 1 with the decision that this library would make, as a service finds it among
/// the answers that it has kept.
fn answer(live: &mut Live, event: &Event) -> Vec<Effect> {
    let mut probe = Live::restore(&live.snapshot().unwrap(), policy).unwrap();
    // Version 1 knew no other objective than the sum.
    let objective = Some(Objective::Sum);
    probe.apply(&Event::Directed { mode: Mode::Place, most_exploration: None, objective });
    probe.apply(event);
    let answered = probe.decide(event).unwrap().map(|decided| decided.starts);
    live.apply_version_1(event, answered).unwrap()
}

/// What was learned. Version 1 did not say when a channel has left.
fn learned(live: &Live) -> Checkpoint {
    let mut learned = live.scheduler().checkpoint();
    learned.departed.iter_mut().for_each(|(_, record)| record.slot = 0);
    learned
}

#[test]
fn version_1_is_read() {
    let events = journal("live-v1");
    assert_eq!(events, life(), "every event of version 1 means what it meant");
    let saved = file("live-v1", "snapshot.txt");
    let mut restored = Live::restore(&saved, policy).unwrap();
    assert_eq!(restored.counts().events, MIDDLE as u64);
    let mut replayed = Live::new(described(), policy).unwrap();
    events[..MIDDLE].iter().for_each(|event| drop(answer(&mut replayed, event)));
    assert_eq!(replayed.counts(), restored.counts());
    assert_eq!(replayed.book(), restored.book());
    assert_eq!(learned(&replayed), learned(&restored));
    assert!(!learned(&replayed).departed.is_empty());
    let today = |cluster: &Cluster| "esdp".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap();
    let refused = Live::restore(&saved, today).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("policy `esdp-index`, then called `esdp`, expected `esdp`"), "{refused}");
    for event in &events[MIDDLE..] {
        assert_eq!(answer(&mut replayed, event), answer(&mut restored, event), "{event:?}");
    }
    assert_eq!((replayed.book(), learned(&replayed)), (restored.book(), learned(&restored)));
    let counts = restored.counts();
    assert_eq!(counts.events as usize, events.len(), "a slot and its answer count as one event, as they did");
    assert!(counts.starts > 20 && counts.learned > 15 && counts.duplicates > 0, "{counts:?}");
}

/// Without an answer, a slot of version 1 is not decided again.
#[test]
fn a_slot_of_version_1_without_its_answer_is_refused() {
    let mut live = Live::new(described(), policy).unwrap();
    let due = |slot| Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work: None };
    assert!(live.apply_version_1(&due(1), None).is_ok(), "nobody waits, so nothing was started");
    live.apply(&Event::Submitted { job: "j".into(), port: "train".into(), weight: 1.0 });
    let refused = live.apply_version_1(&due(2), None).unwrap_err().to_string();
    assert_eq!(refused, "the decision of slot 2 does not fit: its answer is not kept");
}

/// A decision that was made on another state is refused, and nothing of it is booked.
#[test]
fn a_decision_that_does_not_fit_is_refused() {
    let first_fit =
        |cluster: &Cluster| "first-fit".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap();
    let mut live = Live::new(described(), first_fit).unwrap();
    for job in ["a", "b"] {
        live.apply(&Event::Submitted { job: job.into(), port: "train".into(), weight: 1.0 });
    }
    let due = Event::SlotDue { slot: Slot(1), free: [].into(), closed: vec![], work: None };
    live.apply(&due);
    let decided = live.decide(&due).unwrap().unwrap();
    assert_eq!(decided.starts.len(), 2, "{decided:?}");
    let before = live.book().clone();
    let mut refused = |change: &dyn Fn(&mut esdp::live::Decided), expected: &str| {
        let mut wrong = decided.clone();
        change(&mut wrong);
        match &live.apply(&Event::Decided(wrong))[..] {
            [Effect::Rejected { why, .. }] => assert!(why.contains(expected), "{why}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(*live.book(), before);
    };
    refused(&|wrong| wrong.slot = Slot(2), "the slot that is due is slot 1");
    refused(&|wrong| wrong.starts[1].ticket = Ticket(7), "expected");
    refused(&|wrong| wrong.starts[1].job = "a".into(), "job `a` does not wait");
    refused(&|wrong| wrong.starts[1].job = "z".into(), "job `z` does not wait");
    refused(&|wrong| wrong.starts[0].tasks[0].server = "n9".into(), "on server `n9`");
    refused(&|wrong| wrong.starts[0].tasks[0].count = 99, "has no room");
    refused(&|wrong| wrong.starts[0].tasks[0].count = u32::MAX, "has no room");
    refused(&|wrong| wrong.starts[0].tasks.clear(), "has no tasks");
    assert!(matches!(live.apply(&Event::Decided(decided.clone()))[..], [Effect::Decided { .. }, _, _]));
    let again = live.apply(&Event::Decided(decided));
    assert!(matches!(&again[..], [Effect::Rejected { why, .. }] if why.contains("before")), "{again:?}");
}

#[test]
fn what_is_damaged_or_foreign_is_refused() {
    let saved = std::fs::read_to_string(directory("live-v1").join("snapshot.txt")).unwrap();
    let refused = |text: &str| Live::restore(text, policy).map(|_| ()).unwrap_err().to_string();
    assert!(refused(&saved.replacen("\"n1\"", "\"n7\"", 1)).contains("checksum"));
    assert!(refused(&saved[..saved.len() / 2]).contains("checksum"));
    assert!(refused(&saved.replacen("\"version\":1", "\"version\":3", 1)).contains("version 3"));
    assert!(refused("").contains("first line") && refused("{}\n{}").contains("first line"));
    let other = |cluster: &Cluster| "cts".parse::<PolicySpec>().unwrap().build(cluster, 1, None).unwrap();
    let refused = Live::restore(&saved, other).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("policy `esdp-index`, then called `esdp`, expected `cts`"), "{refused}");
}
