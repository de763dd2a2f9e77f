//! The contract of `esdp serve`, over real HTTP against the real binary.

use crate::service::{Client, Service, cluster};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;

pub(crate) fn started(data: &Path, args: &[&str]) -> (Service, Client) {
    let service = Service::start(data, args);
    let mut client = service.client();
    let put = client.ok("PUT", "/v1/cluster", &cluster(3).to_string());
    assert_eq!((&put["servers"], &put["ports"]), (&json!(3), &json!(2)));
    (service, client)
}

fn slot(client: &mut Client, key: &str, jobs: &[(&str, &str)]) -> Value {
    let jobs: Vec<Value> = jobs.iter().map(|(id, port)| json!({"id": id, "port": port})).collect();
    client.post("/v1/slots", &json!({"key": key, "jobs": jobs}))
}

#[test]
fn a_job_is_placed_observed_and_ended() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path(), &[]);
    let cluster = client.get("/v1/cluster");
    assert_eq!(cluster["servers"][0]["labels"], json!(["a100"]));
    assert_eq!(cluster["ports"][0]["reference_speed"], json!(120.0));

    let first = slot(&mut client, "2026-01-01T00:00:05Z", &[("j1", "train"), ("j2", "serve")]);
    assert_eq!((first["slot"].as_u64(), first["held"].as_array().map(Vec::len)), (Some(1), Some(0)));
    let placements = first["placements"].as_array().unwrap();
    let tasks: u64 =
        placements.iter().filter(|p| p["job"] == "j1").map(|p| p["count"].as_u64().unwrap()).sum();
    assert!((2..=4).contains(&tasks), "{first}");
    assert!(placements.iter().filter(|p| p["job"] == "j1").all(|p| p["group"] == "worker"));
    assert!(placements.iter().any(|p| p["job"] == "j2" && p["group"] == "ps"));
    assert_eq!(
        slot(&mut client, "2026-01-01T00:00:05Z", &[("j1", "train"), ("j2", "serve")]),
        first,
        "the same key, the same answer"
    );
    let second = slot(&mut client, "b", &[("j1", "train")]);
    assert!(
        second["placements"].as_array().unwrap().is_empty(),
        "a job that runs is not started again: {second}"
    );

    let one = &placements[0];
    let observation = json!({"ticket": one["ticket"], "work": 1000, "seconds": 10});
    let learned = client.post("/v1/observations", &observation);
    assert_eq!(
        (learned["learned"].as_u64(), learned["duplicates"].as_u64()),
        (one["count"].as_u64(), Some(0))
    );
    let again = client.post("/v1/observations", &observation);
    assert_eq!((&again["learned"], &again["duplicates"]), (&json!(0), &json!(1)));

    let why = client.get("/v1/slots/1");
    assert_eq!(why["key"], "2026-01-01T00:00:05Z");
    for reason in why["why"].as_array().unwrap() {
        for key in ["estimate", "bonus", "cost", "runner_up", "binding", "sentence"] {
            assert!(reason.get(key).is_some(), "{key}: {reason}");
        }
    }
    assert_eq!(client.ok("DELETE", "/v1/jobs/j1", "")["was"], "running");
    assert_eq!(client.ok("DELETE", "/v1/jobs/j1", "")["was"], "over");
    assert_eq!(client.send("DELETE", "/v1/jobs/nobody", "").status, 404);
    let ignored = slot(&mut client, "c", &[("j1", "train")]);
    assert_eq!(ignored["ignored"][0]["job"], "j1");
    let status = client.get("/v1/status");
    assert_eq!((status["running"].as_u64(), status["decisions"].as_u64()), (Some(1), Some(3)));
}

#[test]
fn jobs_wait_with_reasons_and_starts_are_revoked() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path(), &[]);
    let full = json!({"key": "k", "jobs": [{"id": "j", "port": "train"}],
        "free": {"n0": {"gpu": 1}, "n1": {"gpu": 0}, "n2": {"gpu": 0}}});
    let held = client.post("/v1/slots", &full);
    assert_eq!(
        held["held"],
        json!([{"job": "j", "reason": "capacity", "detail": "gpu: 1 free on n0, 2 needed"}])
    );
    let placed = slot(&mut client, "l", &[]);
    let ticket = placed["placements"][0]["ticket"].as_str().unwrap().to_owned();
    let revoked =
        client.post("/v1/starts", &json!({"ticket": ticket, "accepted": false, "why": "node drained"}));
    assert_eq!(revoked["changed"], true);
    assert_eq!(client.post("/v1/starts", &json!({"ticket": ticket, "accepted": false}))["changed"], false);
    assert_eq!(client.send("POST", "/v1/starts", r#"{"ticket":"t999.0","accepted":true}"#).status, 404);
    assert_eq!(client.get("/v1/status")["running"], 0);

    for server in ["n0", "n1", "n2"] {
        assert_eq!(client.ok("POST", &format!("/v1/servers/{server}/drain"), "")["changed"], true);
    }
    assert_eq!(slot(&mut client, "m", &[])["held"][0]["reason"], "closed");
    client.ok("POST", "/v1/servers/n1/undrain", "");
    let placed = slot(&mut client, "n", &[]);
    assert!(placed["placements"].as_array().unwrap().iter().all(|p| p["server"] == "n1"), "{placed}");
}

#[test]
fn speeds_come_through_every_door_and_find_the_slow_server() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path(), &["--mode", "observe"]);
    for round in 0..200 {
        let report = |server: &str, work: f64| {
            json!({"port": "train", "server": server, "work": work, "seconds": 9.5,
            "id": format!("{server}-{round}")})
        };
        let list = json!([report("n0", 1000.0), report("n1", 980.0), report("n2", 400.0)]);
        assert_eq!(client.post("/v1/observations", &list)["learned"], 3);
    }
    let servers = client.get("/v1/servers");
    let verdict = |index: usize| servers["servers"][index]["verdict"].as_str().unwrap().to_owned();
    assert_eq!([verdict(0), verdict(1), verdict(2)], ["usual", "usual", "slow"], "{servers}");
    let channels = client.get("/v1/channels?port=train&server=n0");
    let row = &channels["channels"][0];
    assert!((row["mean"].as_f64().unwrap() - 1000.0 / 9.5).abs() < 1e-6, "{row}");
    assert_eq!((row["unit"].as_str(), row["count"].as_f64()), (Some("work/s"), Some(200.0)));
    assert!(
        row["interval"][0].as_f64() < row["mean"].as_f64()
            && row["mean"].as_f64() < row["interval"][1].as_f64()
    );
    let held = slot(&mut client, "k", &[("j", "train")]);
    assert_eq!(
        (held["placements"].as_array().unwrap().len(), held["held"][0]["reason"].as_str()),
        (0, Some("observing"))
    );

    let scores = client.ok(
        "POST",
        "/v1/prioritize",
        &json!({"Pod": {"metadata": {"labels": {"esdp.dev/port": "train"}}},
        "NodeNames": ["n0", "n2", "other"]})
        .to_string(),
    );
    assert_eq!(
        scores,
        json!([{"Host": "n0", "Score": 10}, {"Host": "n2", "Score": 4}, {"Host": "other", "Score": 5}])
    );
    for body in ["nonsense", "{}", r#"{"Pod":7}"#] {
        assert_eq!(client.ok("POST", "/v1/prioritize", body), json!([]), "it fails open");
    }

    client.ok("POST", "/v1/servers/n2/reset", "");
    assert_eq!(client.get("/v1/servers")["servers"][2]["verdict"], "unknown");
    client.ok("POST", "/v1/channels/train/n0/reset", "");
    // An absurd report is set aside; a reset forgets the port with its scale.
    let mean = |client: &mut Client| client.get("/v1/channels?port=train&server=n1")["channels"][0].clone();
    let report = |id: &str, rate: f64| json!({"port": "train", "server": "n1", "rate": rate, "id": id});
    assert_eq!(client.post("/v1/observations", &report("absurd", 1e30))["set_aside"], 1);
    client.post("/v1/observations", &report("sound", 100.0));
    assert!((50.0..150.0).contains(&mean(&mut client)["mean"].as_f64().unwrap()), "{}", mean(&mut client));
    client.ok("POST", "/v1/ports/train/reset", "");
    client.post("/v1/observations", &report("after", 100.0));
    let after = mean(&mut client);
    assert!((50.0..150.0).contains(&after["mean"].as_f64().unwrap()), "{after}");
    assert_eq!(client.send("POST", "/v1/ports/nowhere/reset", "").status, 404);
    assert_eq!(client.get("/v1/channels?port=train&server=n0")["channels"][0]["count"], 0.0);
    assert_eq!(client.send("POST", "/v1/servers/n9/reset", "").status, 404);
}

#[test]
fn a_trainer_reports_by_itself_and_a_gang_is_as_fast_as_its_slowest() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path(), &[]);
    slot(&mut client, "k", &[("ns/j", "train")]);
    let status = |percent: u32| {
        json!({"trainerStatus": {"progressPercentage": percent, "metrics":
        [{"name": "train_samples_per_second", "value": "60.0"}]}})
    };
    assert_eq!(client.post("/v1/trainer-status/ns/j", &status(40))["learned"], 0);
    assert!(client.post("/v1/trainer-status/ns/j", &status(100))["learned"].as_u64().unwrap() > 0);
    assert_eq!(client.post("/v1/trainer-status/ns/j", &status(100))["duplicates"], 1);
    assert_eq!(client.send("POST", "/v1/trainer-status/none", &status(1).to_string()).status, 404);
    let lost = slot(&mut client, "l", &[("m", "train")]);
    assert!(!lost["placements"].as_array().unwrap().is_empty());
    let counts = |client: &mut Client| client.get("/v1/status")["events"]["learned"].as_u64();
    let before = counts(&mut client);
    assert_eq!(client.post("/v1/observations", &json!({"job": "m", "outcome": "lost"}))["accepted"], 1);
    assert_eq!(counts(&mut client), before, "what was lost teaches nothing");
}

#[test]
fn advice_is_compared_with_what_was_done() {
    let data = tempfile::tempdir().unwrap();
    let (_service, mut client) = started(data.path(), &["--mode", "advise"]);
    for round in 0..100 {
        for (server, utility) in [("n0", 0.9), ("n1", 0.2), ("n2", 0.2)] {
            let report = json!({"port": "train", "server": server, "utility": utility,
                "id": format!("{server}-{round}")});
            client.post("/v1/observations", &report);
        }
    }
    for number in 0..10 {
        let job = format!("j{number}");
        let advice = slot(&mut client, &format!("k{number}"), &[(&job, "train")]);
        assert_eq!(advice["advice"], true);
        assert_eq!(advice["placements"][0]["server"], "n0");
        let done = json!({"job": job, "port": "train", "server": "n1", "utility": 0.2});
        assert_eq!(client.post("/v1/observations", &done)["learned"], 1);
        assert_eq!(client.post("/v1/observations", &done)["duplicates"], 1);
    }
    let advice = &client.get("/v1/status")["advice"];
    assert_eq!((&advice["compared"], &advice["followed"]), (&json!(10), &json!(0)));
    let (gain, low) = (advice["gain"].as_f64().unwrap(), advice["interval"][0].as_f64().unwrap());
    assert!((gain - 7.0).abs() < 0.2 && low > 0.0 && low < gain, "{advice}");
}

#[test]
fn a_state_moves_to_another_service_and_survives_changes() {
    let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (_one, mut one) = started(data[0].path(), &[]);
    let (_two, mut two) = started(data[1].path(), &[]);
    for number in 0..50 {
        let report =
            json!({"port": "train", "server": "n1", "work": 100, "seconds": 2, "id": format!("o{number}")});
        one.post("/v1/observations", &report);
    }
    let state = one.send("GET", "/v1/state", "").body;
    assert_eq!(
        two.ok("PUT", "/v1/state?share=0.5", &state)["channels"].as_u64(),
        Some(1),
        "one channel has a history, and is known here"
    );
    let count = |client: &mut Client| {
        client.get("/v1/channels?port=train&server=n1")["channels"][0]["count"].as_f64()
    };
    assert_eq!((count(&mut one), count(&mut two)), (Some(50.0), Some(25.0)));
    assert_eq!(two.send("PUT", "/v1/state?share=2", &state).status, 422);

    let mut smaller = cluster(3);
    smaller["servers"].as_array_mut().unwrap().remove(1);
    one.ok("PUT", "/v1/cluster", &smaller.to_string());
    assert_eq!(one.get("/v1/servers")["servers"].as_array().unwrap().len(), 2);
    one.ok("PUT", "/v1/cluster", &cluster(4).to_string());
    assert_eq!(count(&mut one), Some(50.0), "a server that comes back gets its history back");
}

#[test]
fn what_is_wrong_is_said_with_code_place_and_what_is_accepted() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    let slot = r#"{"key":"k","jobs":[]}"#;
    assert_eq!(client.send("POST", "/v1/slots", slot).status, 409, "no cluster yet");
    assert_eq!(client.send("GET", "/v1/cluster", "").status, 404);
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    for (method, path, body, status, code, field) in [
        ("POST", "/v1/slots", r#"{"jobs":[]}"#, 422, "invalid_value", Some("")),
        (
            "POST",
            "/v1/slots",
            r#"{"key":"k","jobs":[{"id":"a","port":"nope"}]}"#,
            409,
            "conflict",
            Some("jobs[0].port"),
        ),
        (
            "POST",
            "/v1/slots",
            r#"{"key":"k","jobs":[{"id":7,"port":"train"}]}"#,
            422,
            "invalid_value",
            Some("jobs[0].id"),
        ),
        ("POST", "/v1/slots", r#"{"key":"k","free":{"n7":{}}}"#, 409, "conflict", Some("free.n7")),
        ("POST", "/v1/slots", r#"{"key":"k","free":{"n1":{"tpu":1}}}"#, 409, "conflict", Some("free.n1.tpu")),
        ("POST", "/v1/slots", "{", 400, "invalid_json", None),
        ("POST", "/v1/observations", r#"{"job":"x","utility":2}"#, 409, "conflict", Some("utility")),
        ("POST", "/v1/observations", r#"{"job":"x","utility":1}"#, 404, "not_found", Some("job")),
        (
            "POST",
            "/v1/observations",
            r#"{"port":"train","server":"n0","rate":1}"#,
            409,
            "conflict",
            Some("id"),
        ),
        ("POST", "/v1/observations", r#"{"ticket":"x","rate":1}"#, 409, "conflict", Some("ticket")),
        ("PUT", "/v1/cluster", r#"{"devices":[],"servers":[],"ports":[]}"#, 409, "conflict", Some("")),
        ("PUT", "/v1/state", "{}", 409, "conflict", Some("")),
        ("GET", "/v1/slots/999", "", 404, "not_found", None),
        ("GET", "/v1/slots?limit=0", "", 422, "invalid_value", Some("limit")),
        ("GET", "/nowhere", "", 404, "not_found", None),
        ("PATCH", "/v1/cluster", "", 405, "method_not_allowed", None),
    ] {
        let answer = client.send(method, path, body);
        let error = answer.json();
        assert_eq!(
            (answer.status, error["code"].as_str()),
            (status, Some(code)),
            "{method} {path} {body}: {error}"
        );
        assert_eq!(error["field"].as_str(), field, "{method} {path} {body}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    let mixed = json!([
        {"port": "train", "server": "n0", "rate": 1, "id": "a"},
        {"port": "train", "server": "n9", "rate": 1, "id": "b"}]);
    let answer = client.post("/v1/observations", &mixed);
    assert_eq!((&answer["learned"], &answer["refused"][0]["index"]), (&json!(1), &json!(1)), "{answer}");
}

/// Every path of the document answers, and nothing that it promises is missing.
#[test]
fn the_document_tells_what_is_there() {
    let data = tempfile::tempdir().unwrap();
    let (service, mut client) = started(data.path(), &[]);
    let document = client.get("/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            if path == "/v1/events" {
                continue; // it never ends; it has a test of its own
            }
            let path = path
                .replace("{slot}", "1")
                .replace("{job}", "j")
                .replace("{port}", "p")
                .replace("{server}", "s");
            let answer = client.send(&method.to_uppercase(), &path, if method == "get" { "" } else { "{}" });
            let promised = methods[method.as_str()]["responses"].as_object().unwrap();
            assert!(promised.contains_key(&answer.status.to_string()), "{method} {path}: {answer:?}");
            assert!(answer.status == 200 || answer.json()["code"].is_string(), "{method} {path}: {answer:?}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        }
    }
    let metrics = client.send("GET", "/metrics", "").body;
    for name in [
        "esdp_decisions_total",
        "esdp_decision_seconds_bucket",
        "esdp_placements_total",
        "esdp_exploration_ratio",
        "esdp_duplicates_total",
        "esdp_observations_refused_total",
        "esdp_journal_lag_seconds_sum",
    ] {
        assert!(metrics.contains(name), "{name}: {metrics}");
    }
    assert!(client.send("GET", "/", "").body.contains("<title>"));
    assert_eq!(client.get("/readyz")["status"], "ready");
    assert_eq!(service.stop(), Some(0));
}

#[test]
fn news_arrive_live_and_after_a_break() {
    let data = tempfile::tempdir().unwrap();
    let (service, mut client) = started(data.path(), &[]);
    let watch = |last: Option<u64>| {
        let mut stream = TcpStream::connect(service.address).unwrap();
        let last = last.map_or_else(String::new, |last| format!("last-event-id: {last}\r\n"));
        write!(stream, "GET /v1/events HTTP/1.1\r\nhost: localhost\r\n{last}\r\n").unwrap();
        BufReader::new(stream).lines().map(Result::unwrap)
    };
    fn next(lines: &mut impl Iterator<Item = String>) -> (u64, String, String) {
        let id: u64 = lines.find_map(|line| line.strip_prefix("id: ")?.parse().ok()).unwrap();
        (id, lines.next().unwrap(), lines.next().unwrap())
    }
    let mut lines = watch(None);
    assert!(lines.any(|line| line.starts_with("retry")), "it is open");
    slot(&mut client, "a", &[("j", "train")]);
    let (first, event, data) = next(&mut lines);
    assert_eq!(event, "event: slot");
    assert!(data.contains("\"slot\":1"), "{data}");
    drop(lines);
    slot(&mut client, "b", &[]);
    slot(&mut client, "c", &[]);
    let mut lines = watch(Some(first));
    let (second, _, data) = next(&mut lines);
    assert!(second > first && data.contains("\"slot\":2"), "{data}");
    assert!(next(&mut lines).2.contains("\"slot\":3"));
    assert!(watch(Some(0)).any(|line| line.contains("\"slot\":1")), "what is kept comes again");
}
