//! A service is killed, its files are damaged, and it is started again: it is refused with the place named, or
//! serves with nothing missing. `esdp journal verify` says exactly what a start says, and what `esdp journal
//! repair` saves is sound, the rest listed.
//!
//! 30 times here; `cargo xtask damage --times 300` sets `ESDP_DAMAGES`.

use crate::service::{Client, Service, esdp, output};
use esdp::live::{EVENT_VERSION, Event};
use esdp_serve::storage::{Batch, Frame, Sqlite, Storage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How many slots the data has.
const SLOTS: usize = 240;
/// Both snapshots and frames before, between and after them are there in the end.
const ARGS: [&str; 4] = ["--snapshot-events", "500", "--synchronous", "OFF"];

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// A service whose log is kept.
pub struct Logged {
    pub child: Child,
    pub address: SocketAddr,
}

impl Logged {
    /// Starts a service, or tells the exit code of one that does not start.
    pub fn start(mut command: Command, data: &Path, log: &Path, args: &[&str]) -> Result<Self, Option<i32>> {
        let log = std::fs::File::create(log).expect("a log can be written");
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--data"])
            .arg(data)
            .args(args);
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        out.read_line(&mut line).expect("it can be read");
        let address = line.trim().rsplit_once("://").and_then(|(_, address)| address.parse().ok());
        let Some(address) = address else { return Err(child.wait().expect("it ends").code()) };
        Ok(Self { child, address })
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it was killed");
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What clients of a service know.
struct Truth {
    /// Requests and answers, in order.
    slots: Vec<(Value, Value)>,
    /// What was learned.
    state: Value,
}

fn gangs() -> Value {
    let server = |index: usize| json!({"name": format!("n{index}"), "capacity": {"cpu": 6, "gpu": 2}});
    json!({
        "devices": ["cpu", "gpu"],
        "servers": (0..8).map(server).collect::<Vec<_>>(),
        "ports": [
            {"name": "pair", "request": {"cpu": 1}, "tasks": 2, "weight": 1.0},
            {"name": "gang", "groups": [{"name": "ps", "request": {"cpu": 1}, "count": 1, "min": 1},
                                        {"name": "worker", "request": {"gpu": 1}, "count": 2, "min": 2}]},
        ],
    })
}

/// Plays with a service for some slots, then kills it.
fn played(data: &Path) -> Truth {
    let service = Service::start(data, &ARGS);
    let mut client = service.client();
    client.ok("PUT", "/v1/cluster", &gangs().to_string());
    let mut dice = Dice(5);
    let (mut slots, mut running) = (Vec::new(), Vec::new());
    for number in 0..SLOTS {
        let port = if dice.roll(3) == 0 { "gang" } else { "pair" };
        let ended: Vec<String> = if running.len() > 8 { vec![running.remove(0)] } else { Vec::new() };
        let jobs = json!([{"id": format!("job-{number}"), "port": port}]);
        let request = json!({"key": format!("key-{number}"), "jobs": jobs, "ended": ended});
        let answer = client.post("/v1/slots", &request);
        let mut jobs = HashSet::new();
        for place in answer["placements"].as_array().unwrap() {
            let report = json!({"ticket": place["ticket"], "rate": 1.0 + dice.roll(100) as f64 / 100.0});
            client.post("/v1/observations", &report);
            if jobs.insert(place["job"].to_string()) {
                running.push(place["job"].as_str().unwrap().to_owned());
            }
        }
        slots.push((request, answer));
    }
    let state = client.get("/v1/state");
    service.kill();
    Truth { slots, state }
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// What a start makes of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    Warned,
    Served,
}

/// Verifies a directory and starts a service on it, and checks that both say the same and nothing is missing.
fn judge(data: &Path, truth: &Truth, args: &[&str]) -> (Outcome, String) {
    let verified = esdp().args(["journal", "verify", "--data"]).arg(data).output().expect("it runs");
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    let log = data.with_extension("log");
    let (outcome, log) = match Logged::start(esdp(), data, &log, &[&ARGS, args].concat()) {
        Err(code) => {
            let log = std::fs::read_to_string(&log).unwrap();
            assert_eq!(code, Some(2), "{log}");
            let places =
                ["event", "slot", "esdp.db", "notes", "watermark", "snapshot", "schema version", "policy"];
            assert!(places.iter().any(|place| log.contains(place)), "no place is named: {log}");
            (Outcome::Refused, log)
        }
        Ok(service) => {
            check_whole(&mut Client::new(service.address), truth);
            service.kill();
            let log = std::fs::read_to_string(&log).unwrap();
            let outcome = if log.contains("WARN") { Outcome::Warned } else { Outcome::Served };
            (outcome, log)
        }
    };
    let code = verified.status.code();
    assert_eq!(
        code == Some(0),
        outcome == Outcome::Served,
        "verify: {code:?} {told}\nserve: {outcome:?} {log}"
    );
    (outcome, log)
}

/// Everything that was acknowledged is there.
fn check_whole(client: &mut Client, truth: &Truth) {
    let requests: Vec<&Value> = truth.slots.iter().map(|(request, _)| request).collect();
    let again = client.post("/v1/slots", &json!(requests));
    for ((request, answer), again) in truth.slots.iter().zip(again["slots"].as_array().unwrap()) {
        assert_eq!(again, answer, "{request}");
    }
    assert_eq!(client.get("/v1/status")["slot"], SLOTS);
    assert_eq!(client.get("/v1/state"), truth.state, "what was learned");
}

/// What a repair saves is sound, and all else that was acknowledged is listed.
fn check_repair(data: &Path, truth: &Truth) -> bool {
    let out = data.with_extension("repaired");
    let _ = std::fs::remove_dir_all(&out);
    let before = contents(data);
    let mut command = esdp();
    command.args(["journal", "repair", "--format", "json", "--data"]).arg(data).arg("--out").arg(&out);
    let ran = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(before, contents(data), "the old directory stays as it is");
    if !ran.status.success() {
        assert_eq!(ran.status.code(), Some(2), "{told}");
        assert!(told.contains("nothing can be repaired"), "{told}");
        return false;
    }
    let repaired: Value = serde_json::from_slice(&ran.stdout).unwrap();
    output(&["journal", "verify"], &out);
    let service = Service::start(&out, &ARGS);
    let rows = service.client().get("/v1/slots?limit=1000");
    let rows: HashMap<&str, &Value> =
        rows["slots"].as_array().unwrap().iter().map(|row| (row["key"].as_str().unwrap(), row)).collect();
    let lost = repaired["slots"].as_array().unwrap();
    let lost_keys: HashSet<&str> = lost.iter().filter_map(|lost| lost["key"].as_str()).collect();
    let lost_slots: HashSet<u64> = lost.iter().filter_map(|lost| lost["slot"].as_u64()).collect();
    let unreadable = !repaired["unreadable"].as_array().unwrap().is_empty();
    for (request, answer) in &truth.slots {
        let key = request["key"].as_str().unwrap();
        match rows.get(key) {
            Some(row) => {
                assert_eq!((&row["slot"], &row["placements"]), (&answer["slot"], &answer["placements"]));
            }
            None => {
                let listed =
                    lost_keys.contains(key) || lost_slots.contains(&answer["slot"].as_u64().unwrap());
                assert!(listed || unreadable, "{key} is lost in silence: {repaired}");
            }
        }
    }
    true
}

/// The files of a directory but the index of the log, which any reader makes anew.
fn contents(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap());
    let file = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    entries.map(file).filter(|(name, _)| !name.ends_with("-shm")).collect()
}

const DB: &str = "esdp.db";
const LOG: &str = "esdp.db-wal";
const MARK: &str = "watermark";

/// The kinds of damage. Those of rows look for a text that such rows have.
const KINDS: [(&str, &str, &str); 18] = [
    ("cut", LOG, ""),
    ("flip", LOG, ""),
    ("torn", LOG, ""),
    ("removed", LOG, ""),
    ("flip", DB, ""),
    ("torn", DB, ""),
    ("cut", DB, ""),
    ("header", DB, ""),
    ("flip", DB, "\"placements\""),
    ("flip", DB, "policy {"),
    ("flip", DB, "{\"format\":\"esdp-live\""),
    ("flip", DB, "{\"event\":\"slot-due\""),
    ("flip", DB, "\x06key-"),
    ("flip", DB, "CREATE"),
    ("flip", MARK, ""),
    ("torn", MARK, ""),
    ("removed", MARK, ""),
    ("garbage", "esdp.db-shm", ""),
];

/// Damages a file.
fn damage(data: &Path, (kind, file, text): (&str, &str, &str), dice: &mut Dice) -> String {
    let path = data.join(file);
    let mut bytes = std::fs::read(&path).unwrap_or_default();
    let length = bytes.len().max(1);
    let mut place = dice.roll(length);
    match kind {
        "removed" => {
            let _ = std::fs::remove_file(&path);
            return format!("{file} removed");
        }
        "cut" => bytes.truncate(place),
        "garbage" => bytes = (0..32768).map(|_| dice.roll(256) as u8).collect(),
        "torn" => {
            place -= place % 512;
            let end = bytes.len().min(place + 512);
            bytes[place..end].fill(0);
        }
        kind => {
            if kind == "header" {
                place = dice.roll(100);
            } else if !text.is_empty() {
                let at: Vec<usize> = bytes
                    .windows(text.len())
                    .enumerate()
                    .filter(|(_, w)| *w == text.as_bytes())
                    .map(|(at, _)| at)
                    .collect();
                assert!(!at.is_empty(), "{text:?} is not in {file}");
                // A row begins some bytes before its text.
                place = (at[dice.roll(at.len())] + dice.roll(120)).saturating_sub(40).min(length - 1);
            }
            bytes[place] ^= 1 << dice.roll(8);
        }
    }
    std::fs::write(&path, bytes).unwrap();
    format!("{kind} {file} {text} at {place}")
}

#[test]
fn what_is_damaged_is_refused_or_whole() {
    let damages: usize =
        std::env::var("ESDP_DAMAGES").map_or(30, |times| times.parse().expect("a number of damages"));
    let space = tempfile::tempdir().unwrap();
    let (killed, one, trial) =
        (space.path().join("killed"), space.path().join("one"), space.path().join("trial"));
    let truth = played(&killed);
    // The same with all of it in the database.
    copy(&killed, &one);
    Sqlite::open(&one).unwrap().commit(&Batch::default()).unwrap();
    for sound in [&killed, &one] {
        copy(sound, &trial);
        assert_eq!(judge(&trial, &truth, &[]).0, Outcome::Served);
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..damages {
        let kind = KINDS[number % KINDS.len()];
        let in_log = kind.1 == LOG || number / KINDS.len() % 2 == 1 && kind.2.is_empty();
        copy(if in_log { &killed } else { &one }, &trial);
        let what = damage(&trial, kind, &mut dice);
        println!("{number}: {what}");
        let damaged = space.path().join("damaged");
        copy(&trial, &damaged);
        let (outcome, log) = judge(&trial, &truth, &[]);
        let mut key = format!("{} {} {:?}: {outcome:?}", kind.0, kind.1, kind.2);
        if outcome == Outcome::Refused {
            // Where it was refused, it stays as it is.
            assert_eq!(contents(&damaged), contents(&trial), "{log}");
            key += if check_repair(&damaged, &truth) { ", repaired" } else { ", not repaired" };
        } else {
            // What was warned of is put right.
            let (again, log) = judge(&trial, &truth, &[]);
            assert_eq!(again, Outcome::Served, "{log}");
        }
        *counts.entry(key).or_default() += 1;
    }
    counts.iter().for_each(|(key, count)| println!("{count:>4} {key}"));
    for outcome in ["Refused", "Warned", "Served"] {
        assert!(counts.keys().any(|key| key.contains(outcome)), "nothing was {outcome}: {counts:?}");
    }
}

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
            Ok((slot, std::fs::read_to_string(&log).unwrap()))
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
    storage.commit(&Batch { frames: vec![frame], slots: Vec::new() }).unwrap();
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
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("WARN") && log.contains(&format!("the frame at event {sequence}")), "{log}");
    assert_eq!(judge(data, &truth, &[]).0, Outcome::Served, "it was accepted once and for all");
}
