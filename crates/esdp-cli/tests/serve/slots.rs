//! Slots beyond the simplest: lists of them, jobs that end with them, long queues, numbers and messages that
//! cannot be.

use crate::service::{Client, Service, cluster};
use serde_json::{Value, json};
use std::path::Path;

fn started(data: &Path) -> (Service, Client) {
    let service = Service::start(data, &["--synchronous", "OFF"]);
    let mut client = service.client();
    client.ok("PUT", "/v1/cluster", &cluster(3).to_string());
    (service, client)
}

fn job(id: &str) -> Value {
    json!({"id": id, "port": "train"})
}

#[test]
fn a_list_of_slots_is_decided_in_order_or_not_at_all() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path());
    let list = json!([{"key": "a", "jobs": [job("j1")]}, {"key": "b", "jobs": [job("j2")], "ended": ["j1"]},
                      {"key": "a", "jobs": [job("j1")]}]);
    let mut reused = list.clone();
    reused[2]["jobs"][0] = job("other");
    let refused = client.send("POST", "/v1/slots", &reused.to_string()).json();
    assert_eq!((&refused["code"], &refused["field"]), (&json!("key_reused"), &json!("[2].key")));
    assert_eq!(client.get("/v1/status")["slot"], 0, "nothing of it was decided");
    let answer = client.post("/v1/slots", &list);
    let slots = answer["slots"].as_array().unwrap();
    assert_eq!(
        [&slots[0]["slot"], &slots[1]["slot"], &slots[2]["slot"]],
        [1, 2, 1],
        "a key is known in the same list"
    );
    assert_eq!(slots[0], slots[2]);
    assert_eq!(slots[1]["placements"][0]["job"], "j2");
    assert_eq!(client.get("/v1/status")["running"], 1, "j1 has ended");
    assert_eq!(client.post("/v1/slots", &list), answer, "the same keys, the same answers");
    assert_eq!(client.post("/v1/slots", &json!([])), json!({"slots": []}));

    let wrong =
        json!([{"key": "c", "jobs": [job("j3")]}, {"key": "d", "jobs": [{"id": "j4", "port": "nowhere"}]}]);
    let refused = client.send("POST", "/v1/slots", &wrong.to_string());
    assert_eq!((refused.status, refused.json()["field"].as_str()), (409, Some("[1].jobs[0].port")));
    assert_eq!(client.get("/v1/status")["slot"], 2, "nothing of it was decided");
    // A key that is known is answered even if its ports are gone.
    let mut without = cluster(3);
    without["ports"].as_array_mut().unwrap().remove(0);
    client.ok("PUT", "/v1/cluster", &without.to_string());
    assert_eq!(client.post("/v1/slots", &list), answer);
}

#[test]
fn jobs_end_with_a_slot() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path());
    let many: Vec<Value> = (0..30).map(|number| job(&format!("j{number}"))).collect();
    let first = client.post("/v1/slots", &json!({"key": "a", "jobs": many}));
    let started = first["placements"][0]["job"].as_str().unwrap().to_owned();
    let waiting = first["held"][0]["job"].as_str().unwrap().to_owned();
    let answer =
        client.post("/v1/slots", &json!({"key": "b", "ended": [started, waiting, started, "nobody"]}));
    assert_eq!(answer["ignored"], json!([{"job": "nobody", "why": "there is no such job"}]));
    assert!(!answer["placements"].as_array().unwrap().is_empty(), "there is room again: {answer}");
    assert!(!answer.to_string().contains(&format!("\"{waiting}\"")), "a job that waited is withdrawn");
    assert_eq!(client.ok("DELETE", &format!("/v1/jobs/{waiting}"), "")["was"], "over");
}

#[test]
fn a_long_queue_is_listed_in_part() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path());
    let many: Vec<Value> = (0..5000).map(|number| job(&format!("j{number}"))).collect();
    client.post("/v1/slots", &json!({"key": "a", "jobs": many}));
    let answer = client.post("/v1/slots", &json!({"key": "b", "jobs": [job("last")]}));
    let held = answer["held"].as_array().unwrap();
    assert_eq!(
        (held.len(), held[0]["job"].as_str()),
        (21, Some("last")),
        "those that were sent, and 20 more"
    );
    let status = client.get("/v1/status");
    let waiting: u64 =
        status["waiting"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(waiting, held.len() as u64 + answer["held_more"].as_u64().unwrap());
}

/// Nothing that was said late, twice, or with absurd numbers does any harm.
#[test]
fn late_doubled_and_absurd_messages_are_told_apart() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path());
    let placed = client.post("/v1/slots", &json!({"key": "a", "jobs": [job("j")]}));
    let ticket = placed["placements"][0]["ticket"].as_str().unwrap().to_owned();
    client.ok("DELETE", "/v1/jobs/j", "");
    let report = json!({"ticket": ticket, "work": 10, "seconds": 1});
    assert!(
        client.post("/v1/observations", &report)["learned"].as_u64() > Some(0),
        "after the end is early enough"
    );
    assert_eq!(client.post("/v1/observations", &report)["duplicates"], 1);
    assert_eq!(
        client.send("POST", "/v1/starts", &json!({"ticket": ticket, "accepted": false}).to_string()).status,
        200
    );
    assert_eq!(client.get("/v1/status")["waiting"], json!({}), "what is over does not wait again");
    let refused = |client: &mut Client, body: &str| client.send("POST", "/v1/observations", body).status;
    for number in ["NaN", "Infinity", "1e999", "-1", "1e400", "\"1\""] {
        let body = format!(r#"{{"port":"train","server":"n0","id":"x","rate":{number}}}"#);
        assert!(matches!(refused(&mut client, &body), 400 | 409 | 422), "{body}");
    }
    assert_eq!(
        refused(&mut client, r#"{"port":"train","server":"n0","id":"x","work":1e308,"seconds":1e-308}"#),
        409
    );
    assert_eq!(
        refused(&mut client, r#"{"port":"train","server":"n0","id":"x","rate":1e300}"#),
        200,
        "fast, but a number"
    );
    assert_eq!(refused(&mut client, r#"{"port":"train","server":"n0","id":"y","rate":1e-300}"#), 200);
    let channels = client.get("/v1/channels");
    for row in channels["channels"].as_array().unwrap() {
        assert!(row["mean"].is_number() && row["estimate"].is_number(), "{row}");
    }
    for body in [r#"{"key":"b","free":{"n0":{"gpu":-1}}}"#, r#"{"key":"b","free":{"n0":{"gpu":1e30}}}"#] {
        assert_eq!(client.send("POST", "/v1/slots", body).status, 422, "{body}");
    }
    assert_eq!(
        client.post("/v1/slots", &json!({"key": "b", "jobs": [job("k")]}))["placements"][0]["job"],
        "k"
    );
}
