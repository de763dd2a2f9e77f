//! Changes of the cluster that two people make at once, that are asked about first, and of one server; and
//! servers that have left.

use crate::service::{Answer, Client, Service, cluster, output};
use serde_json::{Value, json};

fn started(args: &[&str]) -> (tempfile::TempDir, Service, Client) {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), args);
    let client = service.client();
    (data, service, client)
}

fn put(client: &mut Client, header: Option<(&str, &str)>, cluster: &Value) -> Answer {
    client.headers = header.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let answer = client.send("PUT", "/v1/cluster", &cluster.to_string());
    client.headers.clear();
    answer
}

fn patch(client: &mut Client, header: Option<&str>, server: &str, patch: &Value) -> Answer {
    client.headers = header.iter().map(|tag| ("if-match".to_owned(), (*tag).to_owned())).collect();
    let answer = client.send("PATCH", &format!("/v1/servers/{server}"), &patch.to_string());
    client.headers.clear();
    answer
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").unwrap_or_else(|| panic!("no tag: {answer:?}")).to_owned()
}

fn without(server: usize, of: usize) -> Value {
    let mut cluster = cluster(of);
    cluster["servers"].as_array_mut().unwrap().remove(server);
    cluster
}

#[test]
fn a_change_is_made_to_the_version_it_was_meant_for() {
    let (_data, _service, mut client) = started(&[]);
    let refused = put(&mut client, Some(("if-match", "*")), &cluster(2));
    assert_eq!((refused.status, refused.json()["code"].as_str()), (412, Some("precondition_failed")));
    let first = put(&mut client, Some(("if-none-match", "*")), &cluster(2));
    assert_eq!(first.status, 200);
    let shown = client.send("GET", "/v1/cluster", "");
    assert_eq!(tag(&shown), tag(&first), "the tag of what is shown from then on");
    assert_eq!(put(&mut client, Some(("if-none-match", "*")), &cluster(3)).status, 412);

    // Two who have read the same: the second is told, and nothing is lost.
    let second = put(&mut client, Some(("if-match", &tag(&first))), &cluster(3));
    assert_eq!((second.status, tag(&second) == tag(&first)), (200, false));
    let late = put(&mut client, Some(("if-match", &tag(&first))), &cluster(4));
    let error = late.json();
    assert_eq!((late.status, error["field"].as_str()), (412, Some("If-Match")));
    assert_eq!(error["accepted"], tag(&second), "what would have been accepted");
    assert_eq!(client.get("/v1/cluster")["servers"].as_array().unwrap().len(), 3);
    // A retry whose first answer was lost is answered like the first.
    let again = put(&mut client, Some(("if-match", &tag(&first))), &cluster(3));
    assert_eq!((again.status, again.json()["changed"].as_bool()), (200, Some(false)));
    assert_eq!(tag(&again), tag(&second));
    let wrong = put(&mut client, Some(("if-match", "without-quotes")), &cluster(4));
    assert_eq!((wrong.status, wrong.json()["field"].as_str()), (422, Some("If-Match")));
    assert_eq!(put(&mut client, None, &cluster(2)).status, 200, "who asks for nothing is asked nothing");
    assert_eq!(tag(&client.send("GET", "/v1/cluster", "")), tag(&first), "the same again has the same tag");
}

#[test]
fn a_dry_run_says_what_would_be_lost_and_changes_nothing() {
    let (data, service, mut client) = started(&[]);
    let dry = |client: &mut Client, cluster: &Value| {
        client.send("PUT", "/v1/cluster?dry_run=true", &cluster.to_string())
    };
    let first = dry(&mut client, &cluster(2)).json();
    assert_eq!((&first["added"]["servers"], &first["changed"]), (&json!(["n0", "n1"]), &json!(true)));
    assert_eq!(client.send("GET", "/v1/cluster", "").status, 404, "nothing was described");
    client.ok("PUT", "/v1/cluster", &cluster(3).to_string());
    let jobs: Vec<Value> = (0..8).map(|job| json!({"id": format!("j{job}"), "port": "train"})).collect();
    let slot = client.post("/v1/slots", &json!({"key": "k", "jobs": jobs}));
    let mut next = without(0, 4);
    next["servers"][0]["capacity"]["gpu"] = json!(4);
    next["ports"].as_array_mut().unwrap().remove(1);
    let before = client.send("GET", "/v1/cluster", "");
    let answer = dry(&mut client, &next);
    assert_eq!(tag(&answer), tag(&before), "the tag with which it can be done");
    let preview = answer.json();
    assert_eq!(preview["dry_run"], true);
    assert_eq!(
        (&preview["added"]["servers"], &preview["removed"]["servers"]),
        (&json!(["n3"]), &json!(["n0"]))
    );
    assert_eq!(
        (&preview["altered"]["servers"], &preview["removed"]["ports"]),
        (&json!(["n1"]), &json!(["serve"]))
    );
    let on_n0 = slot["placements"].as_array().unwrap().iter().any(|place| place["server"] == "n0");
    assert!(on_n0 && !preview["lost"].as_array().unwrap().is_empty(), "{preview} {slot}");
    let same = client.send("GET", "/v1/cluster", "");
    assert_eq!((&same.body, tag(&same)), (&before.body, tag(&before)));
    let events = client.get("/v1/status")["sequence"].clone();
    assert_eq!(dry(&mut client, &json!({"devices": [], "servers": [], "ports": []})).status, 409);
    let strange = client.send("PUT", "/v1/cluster?dry_run=perhaps", &next.to_string());
    assert_eq!((strange.status, strange.json()["field"].as_str()), (422, Some("dry_run")));
    assert_eq!(client.get("/v1/status")["sequence"], events, "no event came of it");
    let done = put(&mut client, Some(("if-match", &tag(&before))), &next).json();
    assert_eq!(done["lost"], preview["lost"], "it was right");
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}

#[test]
fn one_server_is_changed_like_the_whole_cluster() {
    let (data, service, mut client) = started(&[]);
    assert_eq!(patch(&mut client, None, "n0", &json!({})).status, 409, "no cluster yet");
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    let before = tag(&client.send("GET", "/v1/cluster", ""));
    let changed = patch(&mut client, None, "n1", &json!({"capacity": {"gpu": 2}, "labels": ["h100"]}));
    assert_eq!((changed.status, changed.json()["changed"].as_bool()), (200, Some(true)));
    let shown = client.send("GET", "/v1/cluster", "");
    assert_eq!(tag(&shown), tag(&changed));
    assert_eq!(
        shown.json()["servers"][1],
        json!({"name": "n1", "capacity": {"cpu": 64, "gpu": 2}, "labels": ["h100"]})
    );
    assert_eq!(shown.json()["servers"][0], cluster(2)["servers"][0], "the other one is as it was");
    // As events of a PUT of the whole.
    let events = output(&["journal", "show", "--limit", "100"], data.path());
    assert_eq!(events.matches("described").count(), 2, "{events}");
    let again =
        patch(&mut client, Some(&before), "n1", &json!({"capacity": {"gpu": 2.0}, "labels": ["h100"]}));
    assert_eq!((again.status, again.json()["changed"].as_bool()), (200, Some(false)), "a retry is harmless");
    assert_eq!(patch(&mut client, Some(&before), "n1", &json!({"labels": []})).status, 412);
    let sequence = client.get("/v1/status")["sequence"].clone();
    for (server, body, status, field) in [
        ("n9", json!({"labels": []}), 404, None),
        ("n1", json!({"name": "n2"}), 422, Some("name")),
        ("n1", json!({"capacity": {"tpu": 1}}), 409, Some("capacity.tpu")),
        ("n1", json!({"capacity": {"gpu": -1}}), 422, Some("capacity.gpu")),
        ("n1", json!({"capacity": {"gpu": 1_u64 << 50}}), 422, Some("capacity.gpu")),
        ("n1", json!({"labels": "h100"}), 422, Some("labels")),
        ("n1", json!([]), 422, Some("")),
    ] {
        let answer = patch(&mut client, None, server, &body);
        assert_eq!((answer.status, answer.json()["field"].as_str()), (status, field), "{body}: {answer:?}");
    }
    assert_eq!(client.get("/v1/status")["sequence"], sequence, "nothing of that was done");
    // Many at once, each on a server of its own: none takes back what another has done.
    client.ok("PUT", "/v1/cluster", &cluster(8).to_string());
    let others: Vec<_> = (0..8)
        .map(|server| {
            let mut client = service.client();
            std::thread::spawn(move || {
                let body = json!({"labels": [format!("l{server}")]});
                patch(&mut client, None, &format!("n{server}"), &body).status
            })
        })
        .collect();
    let statuses: Vec<u16> = others.into_iter().map(|other| other.join().unwrap()).collect();
    let shown = client.get("/v1/cluster");
    for (server, status) in statuses.into_iter().enumerate() {
        assert_eq!(status, 200);
        assert_eq!(shown["servers"][server]["labels"], json!([format!("l{server}")]));
    }
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}

#[test]
fn a_revoked_job_without_a_port_is_lost() {
    let (_data, _service, mut client) = started(&[]);
    client.ok("PUT", "/v1/cluster", &cluster(3).to_string());
    let jobs = json!([{"id": "t", "port": "train"}, {"id": "s", "port": "serve"}]);
    let slot = client.post("/v1/slots", &json!({"key": "k", "jobs": jobs}));
    let placements = slot["placements"].as_array().unwrap();
    let ticket = |job: &str| placements.iter().find(|place| place["job"] == job).unwrap()["ticket"].clone();
    let mut without = cluster(3);
    without["ports"].as_array_mut().unwrap().remove(1);
    client.ok("PUT", "/v1/cluster", &without.to_string());
    assert_eq!(client.get("/v1/status")["running"], 2, "what runs goes on");
    let revoke = |ticket: Value| json!({"ticket": ticket, "accepted": false, "why": "no image"});
    let answer = client.post("/v1/starts", &json!([revoke(ticket("t")), revoke(ticket("s"))]));
    let starts = &answer["starts"];
    assert_eq!((&starts[0]["job"], &starts[0]["state"]), (&json!("t"), &json!("waiting")));
    assert_eq!((&starts[1]["job"], &starts[1]["state"]), (&json!("s"), &json!("lost")));
    assert_eq!(starts[1]["why"], "its port has left the cluster", "and not why it was revoked");
    let status = client.get("/v1/status");
    let waiting: u64 = status["waiting"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!((&status["running"], waiting), (&json!(0), 1));
}

#[test]
fn what_has_left_is_listed_and_forgotten() {
    let (data, service, mut client) = started(&["--mode", "observe"]);
    assert_eq!(client.send("DELETE", "/v1/departed/n1", "").status, 409, "no cluster yet");
    client.ok("PUT", "/v1/cluster", &cluster(4).to_string());
    for (server, times) in [("n1", 3), ("n3", 2)] {
        for time in 0..times {
            let id = format!("{server}-{time}");
            client.post("/v1/observations", &json!({"port": "train", "server": server, "rate": 5, "id": id}));
        }
    }
    client.ok("POST", "/v1/servers/n1/drain", "");
    assert_eq!(client.get("/v1/departed")["servers"], json!([]));
    assert_eq!(client.send("DELETE", "/v1/departed/n1", "").status, 409, "it is still there");
    client.ok("PUT", "/v1/cluster", &cluster(1).to_string());
    let row = |name: &str, outcomes: f64, drained: bool| {
        let channels = 1;
        json!({"name": name, "channels": channels, "outcomes": outcomes, "drained": drained})
    };
    let departed = client.get("/v1/departed");
    assert_eq!(departed["servers"], json!([row("n1", 3.0, true), row("n3", 2.0, false)]));
    let gone = client.ok("DELETE", "/v1/departed/n1", "");
    assert_eq!(gone, json!({"forgotten": "n1", "channels": 1}));
    assert_eq!(client.send("DELETE", "/v1/departed/n1", "").status, 404);
    assert_eq!(client.get("/v1/departed")["servers"], json!([row("n3", 2.0, false)]));
    client.ok("PUT", "/v1/cluster", &cluster(4).to_string());
    let count = |client: &mut Client, server: &str| {
        let rows = client.get(&format!("/v1/channels?port=train&server={server}"));
        rows["channels"][0]["count"].as_f64()
    };
    assert_eq!((count(&mut client, "n1"), count(&mut client, "n3")), (Some(0.0), Some(2.0)));
    assert_eq!(client.get("/v1/departed")["servers"], json!([]));
    let servers = client.get("/v1/servers");
    assert_eq!(servers["servers"][1]["drained"], false, "its drain is forgotten, too");
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}
