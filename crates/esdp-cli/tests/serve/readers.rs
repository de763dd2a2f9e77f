//! Many who read while slots are decided: each sees what it was told is done, and what is written down
//! meanwhile is one state.

use crate::service::{Client, Service, cluster, output};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const PATHS: [&str; 7] = [
    "/v1/status",
    "/v1/servers",
    "/v1/channels",
    "/v1/channels?port=train",
    "/v1/state",
    "/v1/slots?limit=5",
    "/metrics",
];

fn count(client: &mut Client) -> f64 {
    let rows = client.get("/v1/channels");
    rows["channels"].as_array().unwrap().iter().map(|row| row["count"].as_f64().unwrap()).sum()
}

#[test]
fn readers_see_what_was_done_and_snapshots_are_sound() {
    let data = tempfile::tempdir().unwrap();
    let args = ["--synchronous", "OFF", "--snapshot-events", "40"];
    let service = Service::start(data.path(), &args);
    let mut client = service.client();
    client.ok("PUT", "/v1/cluster", &cluster(3).to_string());
    let stop = Arc::new(AtomicBool::new(false));
    let pollers: Vec<_> = PATHS
        .into_iter()
        .map(|path| {
            let (mut client, stop) = (service.client(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut read = 0;
                while !stop.load(Relaxed) {
                    let answer = client.send("GET", path, "");
                    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
                    read += 1;
                }
                read
            })
        })
        .collect();
    let mut other = service.client();
    let mut learned = 0.0;
    for round in 1..=120 {
        let (key, job) = (format!("k{round}"), format!("j{round}"));
        let slot = client.post("/v1/slots", &json!({"key": key, "jobs": [{"id": job, "port": "train"}]}));
        assert_eq!(other.get("/v1/status")["slot"], round);
        assert_eq!(other.get(&format!("/v1/slots/{round}"))["key"], key);
        assert_eq!(other.get("/v1/slots?limit=1")["slots"][0]["slot"], round);
        let place = &slot["placements"][0];
        let report = json!({"ticket": place["ticket"], "rate": 100});
        learned += client.post("/v1/observations", &report)["learned"].as_f64().unwrap();
        assert_eq!(count(&mut other), learned);
        client.ok("DELETE", &format!("/v1/jobs/{job}"), "");
        assert_eq!(other.get("/v1/status")["running"], 0);
    }
    stop.store(true, Relaxed);
    for (poller, path) in pollers.into_iter().zip(PATHS) {
        assert!(poller.join().unwrap() > 0, "{path} was read");
    }
    let state = client.send("GET", "/v1/state", "").body;
    let status = client.get("/v1/status");
    let (snapshot, sequence) = (status["snapshot"].as_u64().unwrap(), status["sequence"].as_u64().unwrap());
    assert!(snapshot > 0 && snapshot <= sequence, "{status}");
    service.kill();
    let verified = output(&["journal", "verify", "--format", "json"], data.path());
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert!(
        verified["snapshots"].as_u64() > Some(0),
        "it compares them with what the events give: {verified}"
    );
    let service = Service::start(data.path(), &args);
    assert_eq!(service.client().send("GET", "/v1/state", "").body, state, "it is the state of the journal");
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}
