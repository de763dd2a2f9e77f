//! `kill -9` at random moments under mixed traffic. The clients' own log is the truth: what was answered is
//! there, once; the state is what an independent replay of the journal gives; the next decision is that of a
//! twin that never crashed.
//!
//! 50 times here; `cargo xtask crash --times 1000` sets `ESDP_CRASHES`.

use crate::service::{Client, Dice, Service, cluster, output};
use esdp::live::{Effect, Entry, Event, Live};
use esdp::model::{Cluster, Slot};
use esdp::policy::{Policy, PolicySpec};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const CONNECTIONS: u64 = 64;
/// How many of a client's last keys and reports are sent again in the end: the service remembers 20,000 slots
/// and 65,536 reports.
const LAST_KEYS: usize = 100;
const LAST_REPORTS: usize = 500;
const ARGS: [&str; 2] = ["--snapshot-events", "20000"];

/// A request that is sent until it is answered: all of them may be sent twice.
#[derive(Debug, Clone)]
struct Request {
    method: &'static str,
    path: String,
    body: String,
}

/// One client, with all it knows for sure.
struct Worker {
    id: u64,
    dice: Dice,
    made: u64,
    /// Sent, and not answered.
    open: Option<Request>,
    next: Vec<Request>,
    /// Requests for slots and their answers, in order.
    slots: Vec<(String, String)>,
    /// Reports that were answered.
    reports: Vec<String>,
}

impl Worker {
    fn new(id: u64) -> Self {
        let dice = Dice::new(id + 1);
        let (slots, reports) = (Vec::new(), Vec::new());
        Self { id, dice, made: 0, open: None, next: Vec::new(), slots, reports }
    }

    /// The next request: what an earlier answer asks for, or something new.
    fn request(&mut self) -> Request {
        if let Some(next) = self.next.pop() {
            return next;
        }
        self.made += 1;
        let name = format!("{}-{}", self.id, self.made);
        let post = |path: &str, body: Value| Request {
            method: "POST",
            path: path.to_owned(),
            body: body.to_string(),
        };
        match self.dice.roll(100) {
            0..40 => {
                let port = if self.dice.roll(3) == 0 { "serve" } else { "train" };
                post(
                    "/v1/slots",
                    json!({"key": format!("k{name}"), "jobs": [{"id": format!("j{name}"), "port": port}]}),
                )
            }
            40..90 => {
                let server = format!("n{}", self.dice.roll(4));
                let utility = self.dice.roll(1000) as f64 / 1000.0;
                post(
                    "/v1/observations",
                    json!({"port": "train", "server": server, "utility": utility, "id": name}),
                )
            }
            90..94 => post(&format!("/v1/channels/serve/n{}/reset", self.dice.roll(4)), json!({})),
            94..97 => {
                let action = ["drain", "undrain"][self.dice.roll(2) as usize];
                post(&format!("/v1/servers/n{}/{action}", self.dice.roll(4)), json!({}))
            }
            _ => {
                let mut cluster = cluster(4);
                cluster["ports"][1]["weight"] = json!(1 + self.dice.roll(3));
                Request { method: "PUT", path: "/v1/cluster".to_owned(), body: cluster.to_string() }
            }
        }
    }

    /// Takes note of an answer.
    fn note(&mut self, request: &Request, body: &str) {
        let answer: Value = serde_json::from_str(body).expect("an answer is JSON");
        if request.path == "/v1/observations" {
            // A report whose answer was lost is known the second time, and counts all the same.
            assert_eq!(answer["accepted"], 1, "{body}");
            self.reports.push(request.body.clone());
        }
        if request.path == "/v1/slots" {
            self.slots.push((request.body.clone(), body.to_owned()));
            let mut jobs = HashSet::new();
            for placement in answer["placements"].as_array().unwrap() {
                jobs.insert(placement["job"].as_str().unwrap().to_owned());
            }
            // Jobs of others may start in this slot; whoever is told ends them.
            for job in jobs {
                self.next.push(Request {
                    method: "DELETE",
                    path: format!("/v1/jobs/{job}"),
                    body: String::new(),
                });
            }
        }
    }

    /// Sends requests until the service is gone.
    fn work(&mut self, address: SocketAddr) {
        let mut client = Client::new(address);
        loop {
            let request = self.open.take().unwrap_or_else(|| self.request());
            let body = (!request.body.is_empty()).then_some(request.body.as_str());
            match client.try_send(request.method, &request.path, body) {
                Ok(answer) if answer.status == 200 => self.note(&request, &answer.body),
                Ok(answer) => panic!("{request:?}: {answer:?}"),
                Err(_) => {
                    self.open = Some(request);
                    return;
                }
            }
        }
    }
}

fn policy(cluster: &Cluster) -> Box<dyn Policy> {
    "esdp".parse::<PolicySpec>().unwrap().build(cluster, 0, None).unwrap()
}

/// A core that never crashed: it is fed from the journal as it grows.
#[derive(Default)]
struct Twin {
    live: Option<Live>,
    sequence: u64,
}

impl Twin {
    fn catch_up(&mut self, data: &Path) {
        let lines = output(&["journal", "export", "--from", &(self.sequence + 1).to_string()], data);
        for line in lines.lines() {
            let entry: Entry = serde_json::from_str(line).unwrap();
            assert_eq!(entry.sequence, self.sequence + 1, "no gap");
            self.sequence = entry.sequence;
            if self.live.is_none() {
                let Event::Described { cluster } = &entry.event else { panic!("{:?}", entry.event) };
                self.live = Some(Live::new(cluster.clone(), policy).unwrap());
            }
            self.live.as_mut().unwrap().apply(&entry.event);
        }
        if let Some(live) = &self.live {
            let state = output(&["journal", "export", "--state"], data);
            assert!(state == live.snapshot().unwrap(), "the state is what an independent replay gives");
        }
    }
}

/// All clients work until the service is gone.
fn life(address: SocketAddr, workers: &mut [Worker]) {
    std::thread::scope(|scope| {
        workers.iter_mut().for_each(|worker| drop(scope.spawn(|| worker.work(address))))
    });
}

#[test]
fn nothing_that_was_answered_is_lost_or_doubled() {
    let crashes: u64 =
        std::env::var("ESDP_CRASHES").map_or(50, |times| times.parse().expect("a number of crashes"));
    let data = tempfile::tempdir().unwrap();
    let mut workers: Vec<Worker> = (0..CONNECTIONS).map(Worker::new).collect();
    let (mut twin, mut dice) = (Twin::default(), Dice::new(7));
    Service::start(data.path(), &ARGS).client().ok("PUT", "/v1/cluster", &cluster(4).to_string());
    for crash in 0..crashes {
        let service = Service::start(data.path(), &ARGS);
        let (address, time) = (service.address, Duration::from_millis(5 + dice.roll(200)));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(time);
            service.kill();
        });
        life(address, &mut workers);
        killer.join().unwrap();
        twin.catch_up(data.path());
        assert!(twin.sequence > 0, "crash {crash}");
    }
    let service = Service::start(data.path(), &ARGS);
    let mut client = service.client();
    // What was under way is sent again, and is known or done now.
    for worker in &mut workers {
        while let Some(request) = worker.open.take().or_else(|| worker.next.pop()) {
            let answer = client.send(request.method, &request.path, &request.body);
            assert_eq!(answer.status, 200, "{request:?}: {answer:?}");
            worker.note(&request, &answer.body);
        }
    }
    check_answers(&mut client, &workers);
    let learned: u64 = workers.iter().map(|worker| worker.reports.len() as u64).sum();
    assert_eq!(client.get("/v1/status")["events"]["learned"], learned, "each report was learned once");
    assert!(learned > crashes * 10, "the traffic was worth the name: {learned}");
    service.kill();
    twin.catch_up(data.path());
    check_next(data.path(), twin.live.as_mut().unwrap());
}

/// Every answer comes again as it was, every report is known, no job was started twice.
fn check_answers(client: &mut Client, workers: &[Worker]) {
    let mut started: HashMap<String, String> = HashMap::new();
    for worker in workers {
        for (request, answer) in worker.slots.iter().rev().take(LAST_KEYS) {
            let again = client.send("POST", "/v1/slots", request);
            assert_eq!(again.body, *answer, "{request}");
        }
        for (key, answer) in &worker.slots {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let jobs: HashSet<&str> =
                answer["placements"].as_array().unwrap().iter().map(|p| p["job"].as_str().unwrap()).collect();
            for job in jobs {
                let before = started.insert(job.to_owned(), key.clone());
                assert_eq!(before, None, "{job} was started by {key}, too");
            }
        }
        let recent = worker.reports.len().saturating_sub(LAST_REPORTS);
        for reports in worker.reports[recent..].chunks(500) {
            let list = format!("[{}]", reports.join(","));
            let answer = client.ok("POST", "/v1/observations", &list);
            assert_eq!((&answer["learned"], &answer["duplicates"]), (&json!(0), &json!(reports.len())));
        }
    }
}

/// The next decision is that of the twin.
fn check_next(data: &Path, twin: &mut Live) {
    let service = Service::start(data, &ARGS);
    let mut client = service.client();
    let state: Value = serde_json::from_str(&client.send("GET", "/v1/state", "").body).unwrap();
    assert_eq!(state, serde_json::to_value(twin.scheduler().checkpoint()).unwrap());
    for number in 0..20 {
        let job = format!("last-{number}");
        let port = if number % 2 == 0 { "train" } else { "serve" };
        let request = json!({"key": job, "jobs": [{"id": job, "port": port}]});
        let answer = client.post("/v1/slots", &request);
        twin.apply(&Event::Submitted { job: job.clone(), port: port.into(), weight: 1.0 });
        let slot = twin.scheduler().slot().next();
        assert_eq!(Slot(answer["slot"].as_u64().unwrap()), slot);
        let mut expected = Vec::new();
        for effect in twin.step(&Event::SlotDue { slot, free: [].into(), closed: vec![], work: None }) {
            let start = match effect {
                Effect::Started(start) => start,
                Effect::Decided { .. } => continue,
                other => panic!("{other:?}"),
            };
            for place in &start.placements {
                expected.push(json!({"job": start.job, "group": place.group, "server": place.server,
                    "count": place.count, "ticket": format!("t{}.{}", start.ticket.0, place.first)}));
            }
            twin.apply(&Event::Accepted { ticket: start.ticket });
        }
        assert_eq!(answer["placements"], Value::Array(expected), "slot {slot}");
    }
}
