//! A service is killed, its files are damaged, and it is started again: it is refused with the place named,
//! or serves with nothing missing. `esdp journal verify` says exactly what a start says, and what `esdp
//! journal repair` saves is sound, the rest listed.
//!
//! 30 times here; `cargo xtask damage --times 300` sets `ESDP_DAMAGES`.

use crate::service::{Client, Service, esdp, output};
use esdp_serve::storage::{Batch, Sqlite, Storage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How many slots the data has.
pub const SLOTS: usize = 240;
/// Both snapshots and frames before, between and after them are there in the end.
pub const ARGS: [&str; 4] = ["--snapshot-events", "500", "--synchronous", "OFF"];

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
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--no-token", "--data"])
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

    /// Waits until it has ended by itself; its exit code, or nothing if it goes on.
    pub fn wait(&mut self) -> Option<Option<i32>> {
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().expect("it was started") {
                return Some(status.code());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        None
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
pub struct Truth {
    /// Requests and answers, in order.
    pub slots: Vec<(Value, Value)>,
    /// What was learned.
    pub state: Value,
}

pub fn gangs() -> Value {
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
pub fn played(data: &Path) -> Truth {
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

pub fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// What the log says of the data.
pub fn said(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines().filter(|line| !line.contains("no token is needed")).map(|line| format!("{line}\n")).collect()
}

/// What a start makes of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Refused,
    Warned,
    Served,
}

/// Verifies a directory and starts a service on it, and checks that both say the same and nothing is missing.
pub fn judge(data: &Path, truth: &Truth, args: &[&str]) -> (Outcome, String) {
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
            let log = said(&log);
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
    let repair = |more: &[&str]| {
        let mut command = esdp();
        command.args(["journal", "repair", "--format", "json", "--data"]).arg(data).arg("--out").arg(&out);
        let ran = command.args(more).output().expect("it runs");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        (ran, told)
    };
    let (mut ran, mut told) = repair(&[]);
    if told.contains("--policy") {
        std::fs::remove_dir_all(&out).expect("it was made");
        (ran, told) = repair(&["--policy", "esdp"]);
    }
    assert!(before == contents(data), "the old directory stays as it is");
    if !ran.status.success() {
        assert_eq!(ran.status.code(), Some(2), "{told}");
        assert!(told.contains("nothing can be repaired"), "{told}");
        return false;
    }
    let repaired: Value = serde_json::from_slice(&ran.stdout).unwrap();
    output(&["journal", "verify"], &out);
    let service = Service::start(&out, &ARGS);
    let rows = service.client().get("/v1/slots?limit=500");
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

/// The files of a directory but the index of the log, which any reader makes anew, and empty ones.
fn contents(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap());
    let file = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    let kept = |(name, bytes): &(String, Vec<u8>)| !name.ends_with("-shm") && !bytes.is_empty();
    entries.map(file).filter(kept).collect()
}

pub const DB: &str = "esdp.db";
const LOG: &str = "esdp.db-wal";
pub const MARK: &str = "watermark";

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
#[allow(clippy::print_stdout, reason = "the long form is read by people")]
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
            assert!(contents(&damaged) == contents(&trial), "{what}: the files were changed: {log}");
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
