//! A sync that fails: the service says that nobody knows, and ends; no answer turns out to be untrue after
//! the next start. Every kind of sync is tried: of the log, of the database when the log is carried over, of
//! the directory, of the watermark.
//!
//! A shim in C, loaded by LD_PRELOAD, lets the k-th sync fail; the test compiles it with `cc`, which the
//! bundled SQLite needs, too. A spread of k here; `cargo xtask sync --times 200` sets `ESDP_SYNCS` and tries
//! each.

use super::damage::Logged;
use crate::service::{Client, Service, cluster, esdp, output};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Small, so that snapshots are among the syncs.
const ARGS: [&str; 2] = ["--snapshot-events", "60"];
/// So many slots that the log is carried over to the database now and then.
const SLOTS: usize = 110;

/// Compiles the shim.
fn shim(space: &Path) -> PathBuf {
    let library = space.join("sync.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve/sync.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    let built = compiler.status().expect("a C compiler is there: the bundled SQLite needs it, too");
    assert!(built.success());
    library
}

/// What somebody was told of a slot.
#[derive(Debug)]
enum Told {
    Done(Value),
    Nothing,
    Unknown,
}

/// Requests, and what was told of each.
type Said = Vec<(Value, Told)>;

/// Sends slots and reports until the service is gone; what was told of each.
fn play(client: &mut Client) -> (Said, Said) {
    let told = |answer: std::io::Result<crate::service::Answer>| match answer {
        Ok(answer) if answer.status == 200 => Told::Done(answer.json()),
        Ok(answer) if answer.status == 503 && answer.body.contains("nothing was changed") => Told::Nothing,
        Ok(answer) if answer.status == 503 && answer.body.contains("is not known") => Told::Unknown,
        // It ends just now.
        Ok(answer) if answer.status == 503 && answer.body.contains("is stopping") => Told::Unknown,
        Ok(answer) => panic!("{answer:?}"),
        Err(_) => Told::Unknown,
    };
    let _ = client.try_send("PUT", "/v1/cluster", Some(&cluster(3).to_string()));
    let (mut slots, mut reports) = (Vec::new(), Vec::new());
    for number in 0..SLOTS {
        // Long names, so that the log is soon long enough.
        let name = |job: usize| format!("{number}-{job}-{}", "x".repeat(200));
        let jobs: Vec<Value> = (0..12).map(|job| json!({"id": name(job), "port": "train"})).collect();
        let ended: Vec<String> = match number {
            0 => Vec::new(),
            _ => (0..12).map(|job| format!("{}-{job}-{}", number - 1, "x".repeat(200))).collect(),
        };
        let request = json!({"key": format!("k{number}"), "jobs": jobs, "ended": ended});
        let answer = told(client.try_send("POST", "/v1/slots", Some(&request.to_string())));
        let going = !matches!(answer, Told::Unknown);
        slots.push((request, answer));
        let report = json!({"port": "train", "server": "n0", "utility": 0.5, "id": format!("r{number}")});
        if going {
            let answer = told(client.try_send("POST", "/v1/observations", Some(&report.to_string())));
            reports.push((report, answer));
        }
        if !going || matches!(reports.last(), Some((_, Told::Unknown))) {
            break;
        }
    }
    (slots, reports)
}

/// Lets one sync fail; which file's it was, if it was reached, and whether somebody was told that nobody
/// knows.
fn trial(library: &Path, fails: usize, file: Option<&str>) -> (Option<String>, bool) {
    let space = tempfile::tempdir().unwrap();
    let (data, note, log) = (space.path().join("data"), space.path().join("note"), space.path().join("log"));
    let mut command = esdp();
    command.env("LD_PRELOAD", library).env("ESDP_SYNC_FAILS", fails.to_string()).env("ESDP_SYNC_NOTE", &note);
    if let Some(file) = file {
        command.env("ESDP_SYNC_FILE", file);
    }
    let (mut slots, mut reports) = (Vec::new(), Vec::new());
    match Logged::start(command, &data, &log, &ARGS) {
        // It was refused, and said why.
        Err(code) => {
            let why = std::fs::read_to_string(&log).unwrap();
            assert!(code == Some(2) && note.exists(), "{code:?} {why}");
        }
        Ok(mut service) => {
            (slots, reports) = play(&mut Client::new(service.address));
            let failed = std::fs::read_to_string(&note).unwrap_or_default();
            // SQLite says nothing of a directory; the service has synced it once more by itself.
            if !failed.is_empty() && !failed.ends_with("/data") {
                let code = service.wait().unwrap_or_else(|| panic!("{fails} {file:?} {failed}: it goes on"));
                let why = std::fs::read_to_string(&log).unwrap();
                assert!(code == Some(2) && why.contains("could not be synced"), "{code:?} {why}");
            }
            service.kill();
        }
    }
    if data.join("esdp.db").exists() {
        output(&["journal", "verify"], &data);
    }
    let service = Service::start(&data, &ARGS);
    let mut client = service.client();
    let unknown = slots.iter().chain(&reports).any(|(_, told)| matches!(told, Told::Unknown));
    let kept = client.get("/v1/slots?limit=500");
    for (request, told) in &slots {
        let row = kept["slots"].as_array().unwrap().iter().find(|row| row["key"] == request["key"]);
        match (told, row) {
            (Told::Done(answer), Some(_)) => assert_eq!(client.post("/v1/slots", request), *answer),
            (Told::Done(_), None) => panic!("{fails} {file:?}: {} was answered and is gone", request["key"]),
            (Told::Nothing, Some(_)) => panic!("{fails} {file:?}: {} is there", request["key"]),
            (Told::Nothing, None) | (Told::Unknown, _) => {}
        }
    }
    for (report, told) in &reports {
        let duplicates = |client: &mut Client| client.post("/v1/observations", report)["duplicates"].clone();
        match told {
            Told::Done(_) => assert_eq!(duplicates(&mut client), 1, "{fails} {file:?}: {report}"),
            Told::Nothing => assert_eq!(duplicates(&mut client), 0, "{fails} {file:?}: {report}"),
            Told::Unknown => {}
        }
    }
    assert_eq!(service.stop(), Some(0));
    (std::fs::read_to_string(note).ok(), unknown)
}

#[test]
#[allow(clippy::print_stdout, reason = "the long form is read by people")]
fn a_failed_sync_makes_no_answer_untrue() {
    let space = tempfile::tempdir().unwrap();
    let library = shim(space.path());
    let all =
        std::env::var("ESDP_SYNCS").ok().map(|times| times.parse::<usize>().expect("a number of syncs"));
    let mut tries: Vec<(usize, Option<&str>)> = match all {
        Some(all) => (1..=all).map(|fails| (fails, None)).collect(),
        None => [1, 4, 9, 15, 40, 77].map(|fails| (fails, None)).to_vec(),
    };
    // The database is synced when it is made, and then each time the log is carried over.
    let of_files = [(3, "esdp.db"), (4, "esdp.db"), (60, "esdp.db-wal"), (1, "/watermark"), (1, "/data")];
    tries.extend(of_files.map(|(fails, file)| (fails, Some(file))));
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (fails, file) in tries {
        let (failed, unknown) = trial(&library, fails, file);
        let name = failed.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("none").to_owned();
        println!("{fails} of {file:?}: {name}, unknown: {unknown}");
        let count = counts.entry(name).or_default();
        count.0 += 1;
        count.1 += usize::from(unknown);
    }
    println!("failed syncs by file, and those of which somebody was told: {counts:?}");
    for file in ["esdp.db", "esdp.db-wal", "watermark", "data"] {
        assert!(counts.contains_key(file), "no sync of {file} failed: {counts:?}");
    }
    assert!(counts["esdp.db-wal"].1 > 0, "{counts:?}");
}
