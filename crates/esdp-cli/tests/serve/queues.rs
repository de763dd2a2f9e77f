//! The rule for queues through the service: units of speed change nothing, and nobody starves.

use crate::service::{Client, Dice, Service};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Jobs that run on the cluster behind a service, which plays slot by slot.
struct Played {
    client: Client,
    slot: u64,
    /// When each job ends.
    running: BTreeMap<String, u64>,
    /// Every start, as a line.
    log: Vec<String>,
}

impl Played {
    fn new(service: &Service, cluster: &Value) -> Self {
        let mut client = service.client();
        client.ok("PUT", "/v1/cluster", &cluster.to_string());
        Self { client, slot: 0, running: BTreeMap::new(), log: Vec::new() }
    }

    /// Plays a slot with new jobs, by id and port. `runs` says how long a job runs on a server and at which
    /// rate.
    fn slot(&mut self, jobs: &[(String, &str)], runs: &mut dyn FnMut(&str, &str) -> (u64, f64)) {
        self.slot += 1;
        let slot = self.slot;
        let ended: Vec<String> =
            self.running.iter().filter(|(_, end)| **end <= slot).map(|(job, _)| job.clone()).collect();
        self.running.retain(|_, end| *end > slot);
        let jobs: Vec<Value> = jobs.iter().map(|(id, port)| json!({"id": id, "port": port})).collect();
        let slot = json!({"key": format!("k{slot}"), "jobs": jobs, "ended": ended});
        let answer = self.client.post("/v1/slots", &slot);
        let mut reports = Vec::new();
        for place in answer["placements"].as_array().unwrap() {
            let [job, server] = ["job", "server"].map(|key| place[key].as_str().unwrap());
            self.log.push(format!("{} {job} {server} {}", self.slot, place["count"]));
            let (slots, rate) = runs(job, server);
            let end = self.running.entry(job.to_owned()).or_default();
            *end = (*end).max(self.slot + slots);
            reports.push(json!({"ticket": place["ticket"], "rate": rate}));
        }
        if !reports.is_empty() {
            self.client.post("/v1/observations", &Value::Array(reports));
        }
    }
}

/// The starts of 500 slots, if each of three ports reports its speeds in such a unit.
fn starts(units: [f64; 3]) -> Vec<String> {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--synchronous", "OFF"]);
    let server = |(name, gpu): (&str, u64)| json!({"name": name, "capacity": {"gpu": gpu}});
    let port = |(name, tasks): (&str, u64)| json!({"name": name, "request": {"gpu": 1}, "tasks": tasks});
    let (servers, ports) =
        ([("n0", 3), ("n1", 2), ("n2", 2)].map(server), [("a", 1), ("b", 1), ("c", 2)].map(port));
    let cluster = json!({"devices": ["gpu"], "servers": servers, "ports": ports});
    let mut played = Played::new(&service, &cluster);
    let (mut dice, mut noise, mut numbers) = (Dice::new(3), Dice::new(4), [0; 3]);
    for _ in 0..500 {
        let mut jobs = Vec::new();
        for (port, percent) in [("a", 70), ("b", 65), ("c", 35)].into_iter().enumerate() {
            if dice.roll(100) < percent.1 {
                numbers[port] += 1;
                jobs.push((format!("{}{}", percent.0, numbers[port]), percent.0));
            }
        }
        played.slot(&jobs, &mut |job, server| {
            let port = "abc".find(&job[..1]).unwrap();
            let speed = [1.0, 0.7, 0.9][port] * if server == "n0" { 1.0 } else { 0.55 };
            let rate = speed * (1.0 + noise.roll(13) as f64 / 100.0) * units[port];
            ((6.0 / speed).ceil() as u64, rate)
        });
    }
    let log = played.log;
    assert_eq!(service.stop(), Some(0));
    log
}

/// In what unit a port reports its speeds changes nothing, start by start.
#[test]
fn the_unit_of_speed_changes_no_start() {
    let plain = starts([1.0; 3]);
    assert!(plain.len() > 300, "{}", plain.len());
    for (at, unit) in [2.0, 1.0 / 1_048_576.0, 1e-6, 1.03, 1000.0].into_iter().enumerate() {
        let mut units = [1.0; 3];
        units[at % 3] = unit;
        let other = starts(units);
        let first = plain.iter().zip(&other).position(|(a, b)| a != b);
        assert_eq!((first, plain.len()), (None, other.len()), "unit {unit} of port {}", at % 3);
    }
}

/// Eight processors at a load of 0.9 of one-task jobs, and a gang of eight: it starts once it has waited ten
/// times as long as jobs wait and run, and what ran then has ended.
#[test]
fn a_gang_as_large_as_the_cluster_does_not_starve() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--synchronous", "OFF"]);
    let server = |name: &str| json!({"name": name, "capacity": {"cpu": 2}});
    let servers = ["n0", "n1", "n2", "n3"].map(server);
    let ports = [
        json!({"name": "small", "request": {"cpu": 1}}),
        json!({"name": "gang", "request": {"cpu": 1}, "tasks": 8}),
    ];
    let cluster = json!({"devices": ["cpu"], "servers": servers, "ports": ports});
    let mut played = Played::new(&service, &cluster);
    let (mut dice, mut lengths, mut number, mut reserved) = (Dice::new(1), Dice::new(2), 0, None);
    while played.slot < 300 && !played.running.contains_key("gang") {
        let mut jobs = Vec::new();
        for _ in 0..[1, 2, 2, 3][dice.roll(4) as usize] {
            number += 1;
            jobs.push((format!("s{number}"), "small"));
        }
        if played.slot == 4 {
            jobs.push(("gang".to_owned(), "gang"));
        }
        played.slot(&jobs, &mut |_, _| (2 + lengths.roll(4), 0.8));
        if played.slot > 5 && played.client.get("/v1/jobs/gang")["reason"] == "reserved" {
            reserved = reserved.or(Some(played.slot));
        }
    }
    let reserved = reserved.expect("devices were kept for it");
    assert!(played.running.contains_key("gang"), "it waits on: {}", played.client.get("/v1/jobs/gang"));
    assert!(played.slot <= reserved + 5, "reserved in slot {reserved}, started in {}", played.slot);
    assert_eq!(service.stop(), Some(0));
}
