//! What an operator does with a journal that does not start: backups, `esdp journal repair`,
//! `--accept-divergence`.

use super::damage::{ARGS, DB, Logged, MARK, Outcome, SLOTS, copy, gangs, judge, played, said};
use crate::service::{Client, Service, esdp, output};
use esdp::live::{EVENT_VERSION, Event, Live, SpeedReport, WhichTasks};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::policy::PolicySpec;
use esdp_serve::storage::{Batch, Frame, Sqlite, Storage};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// A backup has no watermark, or that of its day; one that was put into the old directory is found out.
#[test]
fn a_backup_is_told_from_a_lost_end() {
    let space = tempfile::tempdir().unwrap();
    let [data, backup, other] = ["data", "backup", "other"].map(|name| space.path().join(name));
    let args = ["--snapshot-events", "40"];
    let work = |data: &Path, from: usize, to: usize| {
        let service = Service::start(data, &args);
        let mut client = service.client();
        client.ok("PUT", "/v1/cluster", &gangs().to_string());
        for number in from..to {
            let jobs = json!([{"id": format!("j{number}"), "port": "pair"}]);
            client.post("/v1/slots", &json!({"key": format!("k{number}"), "jobs": jobs}));
        }
        client.get("/v1/status")["slot"].as_u64()
    };
    work(&data, 0, 10);
    let old_mark = std::fs::read(data.join(MARK)).unwrap();
    // The backup that SQLite makes is one file.
    Sqlite::open(&data).unwrap().commit(&Batch::default()).unwrap();
    std::fs::create_dir(&backup).unwrap();
    std::fs::copy(data.join(DB), backup.join(DB)).unwrap();
    work(&data, 10, 20);
    let log = space.path().join("log");
    let starts = |data: &Path| match Logged::start(esdp(), data, &log, &args) {
        Ok(service) => {
            let slot = Client::new(service.address).get("/v1/status")["slot"].as_u64();
            service.kill();
            Ok((slot, said(&log)))
        }
        Err(_) => Err(std::fs::read_to_string(&log).unwrap()),
    };
    // Older than the database, as after a power cut, or between a commit and its watermark.
    std::fs::write(data.join(MARK), old_mark).unwrap();
    output(&["journal", "verify"], &data);
    assert_eq!(starts(&data), Ok((Some(20), String::new())));
    // None, as in a backup; it is written anew.
    copy(&backup, &other);
    output(&["journal", "verify"], &other);
    assert_eq!(starts(&other), Ok((Some(10), String::new())));
    assert!(other.join(MARK).exists());
    // Newer than the database: a backup in the old directory.
    let newer = std::fs::read(data.join(MARK)).unwrap();
    copy(&backup, &other);
    std::fs::write(other.join(MARK), &newer).unwrap();
    let why = starts(&other).expect_err("it is refused");
    assert!(why.contains("are missing") && why.contains("older backup") && why.contains("repair"), "{why}");
    let verified = esdp().args(["journal", "verify", "--data"]).arg(&other).output().unwrap();
    assert_eq!(verified.status.code(), Some(2));
    // What is missing is said by a repair, too.
    let out = space.path().join("out");
    let repair = output(&["journal", "repair", "--out", out.to_str().unwrap()], &other);
    assert!(repair.contains("which cannot be read"), "{repair}");
    assert_eq!(starts(&out), Ok((Some(10), String::new())));
    std::fs::remove_file(other.join(MARK)).unwrap();
    assert_eq!(starts(&other), Ok((Some(10), String::new())), "on purpose, after the watermark was removed");
    // It goes on by itself, and is then another journal than the one of the watermark.
    work(&other, 30, 60);
    std::fs::write(other.join(MARK), &newer).unwrap();
    let why = starts(&other).expect_err("it is refused");
    assert!(why.contains("belongs to another journal"), "{why}");
}

/// A repair up to an event leaves out what came later, and says so.
#[test]
fn a_repair_goes_as_far_as_it_is_told() {
    let space = tempfile::tempdir().unwrap();
    let (data, out) = (space.path().join("data"), space.path().join("out"));
    let truth = played(&data);
    let last = Sqlite::open_read_only(&data).unwrap().last_sequence().unwrap();
    let to = (last - 60).to_string();
    let args = ["journal", "repair", "--to", &to, "--out", out.to_str().unwrap()];
    let told = output(&args, &data);
    assert!(
        told.contains("outcome   event") && told.contains("job       ") && told.contains("key \"key-239\"")
    );
    let service = Service::start(&out, &ARGS);
    let slot = service.client().get("/v1/status")["slot"].as_u64().unwrap() as usize;
    assert!((SLOTS - 60..SLOTS).contains(&slot), "{slot}");
    for (number, (request, answer)) in truth.slots.iter().enumerate() {
        let listed = told.contains(&format!("key {:?}:", request["key"].as_str().unwrap()));
        assert_eq!(listed, number >= slot, "{request}");
        if number < slot {
            assert_eq!(service.client().post("/v1/slots", request), *answer);
        }
    }
    drop(service);
    let again = esdp().args(args).arg("--data").arg(&data).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("is not empty"));
    assert_eq!(judge(&data, &truth, &[]).0, Outcome::Served, "the old one is as it was");
}

/// Events that give another state than when they were written stop a start, unless an operator goes on.
#[test]
fn a_divergence_is_seen_and_can_be_accepted() {
    let data = tempfile::tempdir().unwrap();
    let data = &data.path().join("data");
    let mut truth = played(data);
    let mut storage = Sqlite::open(data).unwrap();
    let sequence = storage.last_sequence().unwrap() + 1;
    let events = vec![Event::Drained { server: "n1".to_owned() }];
    let frame = Frame { sequence, at: 0, version: EVENT_VERSION, digest: 0xabc1, events };
    storage.commit(&Batch { frames: vec![frame], slots: Vec::new(), audit: Vec::new() }).unwrap();
    drop(storage);
    let (outcome, why) = judge(data, &truth, &[]);
    assert_eq!(outcome, Outcome::Refused);
    assert!(why.contains(&format!("the frame at event {sequence} gives another state")), "{why}");
    assert!(why.contains("--accept-divergence"), "{why}");
    let log = data.with_extension("log");
    let service = Logged::start(esdp(), data, &log, &["--accept-divergence"]).expect("it starts");
    let mut client = Client::new(service.address);
    let page = client.send("GET", "/metrics", "").body;
    assert!(page.contains("\nesdp_journal_divergences_total 1\n"), "{page}");
    let servers = client.get("/v1/servers");
    let drained = |row: &&Value| row["name"] == "n1" && row["drained"] == true;
    assert!(
        servers["servers"].as_array().unwrap().iter().any(|row| drained(&row)),
        "it is booked: {servers}"
    );
    truth.state = client.get("/v1/state");
    service.kill();
    let log = said(&log);
    assert!(log.contains("WARN") && log.contains(&format!("the frame at event {sequence}")), "{log}");
    assert_eq!(judge(data, &truth, &[]).0, Outcome::Served, "it was accepted once and for all");
}

/// What is written with a frame covers the facts and nothing that was learned: another policy, as another
/// build, may learn otherwise from the same events.
#[test]
fn a_digest_covers_facts_only() {
    let server = |name: &str| ServerSpec::new(name, &[("cpu", 6)]);
    let cluster = ClusterDescription {
        devices: vec!["cpu".to_owned()],
        servers: ["n0", "n1", "n2"].map(server).to_vec(),
        ports: vec![PortSpec::new("pair", JobShape::tasks(2, 2, &[("cpu", 1)]))],
        ..ClusterDescription::default()
    };
    let build = |policy: &str| {
        let spec: PolicySpec = policy.parse().unwrap();
        Live::new(cluster.clone(), |cluster| spec.build(cluster, 1, None).unwrap()).unwrap()
    };
    let (mut one, mut other) = (build("esdp"), build("cts"));
    let mut apply = |event: &Event| {
        one.apply(event);
        other.apply(event);
        let digests = [&one, &other].map(|live| (live.digest(), live.book_digest()));
        assert_eq!(digests[0], digests[1], "{event:?}");
        (digests[0], one.decide(event).unwrap())
    };
    let mut seen = HashSet::new();
    for number in 1..=20 {
        let job = format!("j{number}");
        let mut next = vec![
            Event::Submitted { job: job.clone(), port: "pair".to_owned(), weight: 1.0 },
            Event::SlotDue { slot: Slot(number), free: [].into(), closed: Vec::new(), work: None },
        ];
        while !next.is_empty() {
            let ((_, book), decided) = apply(&next.remove(0));
            assert!(seen.insert(book), "every event changes it");
            if let Some(decided) = decided {
                let ticket = decided.starts.first().map(|start| start.ticket);
                next.push(Event::Decided(decided));
                if let Some(ticket) = ticket {
                    let report = SpeedReport::Rate(number as f64);
                    next.push(Event::Reported {
                        ticket,
                        tasks: WhichTasks::All,
                        report,
                        source: String::new(),
                    });
                    next.push(Event::Ended { job: job.clone() });
                }
            }
        }
    }
    assert_ne!(one.snapshot().unwrap(), other.snapshot().unwrap(), "they have learned");
    // The book is by name.
    let (mut a, mut b) = (build("esdp"), build("esdp"));
    a.apply(&Event::Drained { server: "n0".to_owned() });
    b.apply(&Event::Drained { server: "n1".to_owned() });
    assert_eq!(a.digest(), b.digest());
    assert_ne!(a.book_digest(), b.book_digest());
}
