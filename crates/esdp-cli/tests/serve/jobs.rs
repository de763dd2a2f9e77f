//! Jobs one can find: pages, one job, what can be changed of one that waits.

use crate::service::{Answer, Client, Service, output};
use serde_json::{Value, json};
use std::path::Path;

/// A cluster with room for two jobs.
fn started(data: &Path) -> (Service, Client) {
    let service = Service::start(data, &["--policy", "first-fit"]);
    let mut client = service.client();
    let port = |name: &str| json!({"name": name, "request": {"gpu": 1}, "tasks": 2});
    let cluster = json!({"devices": ["gpu"], "servers": [{"name": "n0", "capacity": {"gpu": 4}}],
        "ports": [port("train"), port("eval")]});
    client.ok("PUT", "/v1/cluster", &cluster.to_string());
    (service, client)
}

fn patch(client: &mut Client, path: &str, tag: Option<&str>, patch: &Value) -> Answer {
    client.headers = tag.iter().map(|tag| ("if-match".to_owned(), (*tag).to_owned())).collect();
    let answer = client.send("PATCH", &format!("/v1/jobs/{path}"), &patch.to_string());
    client.headers.clear();
    answer
}

fn names(page: &Value) -> Vec<&str> {
    page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect()
}

#[test]
fn jobs_are_listed_page_by_page_and_shown_one_by_one() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &[]);
    assert_eq!(service.client().get("/v1/jobs"), json!({"jobs": [], "slot": 0}));
    assert_eq!(service.client().send("GET", "/v1/jobs/j", "").status, 409, "no cluster yet");
    assert_eq!(service.stop(), Some(0));
    let (service, mut client) = started(data.path());
    let job = |id: &str, port: &str| json!({"id": id, "port": port});
    let mut jobs: Vec<Value> = ["a/1", "b", "c", "d"].map(|id| job(id, "train")).to_vec();
    jobs.push(json!({"id": "e", "port": "eval", "tenant": "lab", "expected": {"seconds": 90},
        "features": ["bert", 128], "priority": 0.5}));
    let slot = client.post("/v1/slots", &json!({"key": "k1", "jobs": jobs}));
    client.post("/v1/slots", &json!({"key": "k2"}));
    assert_eq!(names(&client.get("/v1/jobs")), ["a/1", "b", "c", "d", "e"]);
    assert_eq!(names(&client.get("/v1/jobs?state=waiting&port=train&server=")), ["c", "d"]);
    assert_eq!(names(&client.get("/v1/jobs?state=running")), ["a/1", "b"]);
    assert_eq!(names(&client.get("/v1/jobs?server=n0&name=A%2F")), ["a/1"]);
    assert_eq!(names(&client.get("/v1/jobs?port=nowhere")), [""; 0]);
    let page = client.get("/v1/jobs?limit=3");
    let next = page["next"].as_str().unwrap();
    assert_eq!(names(&client.get(&format!("/v1/jobs?limit=3&cursor={next}"))), ["d", "e"]);
    for (query, field) in [
        ("state=held", "state"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("cursor=7", "cursor"),
        ("cursor=t7", "cursor"),
        ("state=waiting&port=train&cursor=s1", "cursor"),
    ] {
        let refused = client.send("GET", &format!("/v1/jobs?{query}"), "");
        assert_eq!((refused.status, refused.json()["field"].as_str()), (422, Some(field)), "{query}");
    }

    let runs = client.get("/v1/jobs/a%2F1");
    let place = &slot["placements"][0];
    let placed = json!([{"group": place["group"], "server": "n0", "count": 2, "ticket": place["ticket"],
        "reported": 0}]);
    assert_eq!(
        (&runs["state"], &runs["started"], &runs["placements"]),
        (&json!("running"), &json!(1), &placed)
    );
    assert_eq!(runs["tenant"], "train", "its port stands for it");
    let waits = client.get("/v1/jobs/d");
    let expected = json!({"id": "d", "port": "train", "state": "waiting", "tenant": "train", "weight": 1.0,
        "submitted": 0, "age": 2, "position": 2, "queue": 2, "reason": "capacity",
        "detail": "gpu: 0 free on n0, 1 needed", "tag": waits["tag"]});
    assert_eq!(waits, expected);
    let told = client.get("/v1/jobs/e");
    assert_eq!(
        (&told["tenant"], &told["expected"], &told["features"], &told["weight"]),
        (&json!("lab"), &json!({"seconds": 90.0}), &json!(["bert", 128.0]), &json!(0.5))
    );
    client.post("/v1/observations", &json!({"job": "b", "utility": 0.5}));
    assert_eq!(client.get("/v1/jobs/b")["placements"][0]["reported"], 2);
    client.ok("DELETE", "/v1/jobs/a/1", "");
    assert_eq!(names(&client.get("/v1/jobs?state=over")), ["a/1"], "its outcomes are awaited");
    client.ok("DELETE", "/v1/jobs/b", "");
    assert_eq!(client.get("/v1/jobs/b"), json!({"id": "b", "port": null, "state": "over", "tenant": null}));
    assert_eq!(client.send("GET", "/v1/jobs/nobody", "").status, 404);
    // What is wrong with a job is said with its place, and nothing of the request is done.
    let events = client.get("/v1/status")["sequence"].clone();
    for (wrong, field) in [
        (json!({"tenant": ""}), "jobs[1].tenant"),
        (json!({"expected": {"work": 0}}), "jobs[1].expected.work"),
        (json!({"features": ["x", ""]}), "jobs[1].features[1]"),
        (json!({"features": [true]}), "jobs[1].features[0]"),
        (json!({"features": vec![1; 17]}), "jobs[1].features"),
        (json!({"prio": 1}), "jobs[1].prio"),
    ] {
        let mut second = job("y", "train");
        second.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let body = json!({"key": "k3", "jobs": [job("x", "train"), second]});
        let refused = client.send("POST", "/v1/slots", &body.to_string());
        assert_eq!((refused.status, refused.json()["field"].as_str()), (422, Some(field)), "{refused:?}");
    }
    assert_eq!(client.get("/v1/status")["sequence"], events);
    assert_eq!(service.stop(), Some(0));
}

#[test]
fn a_job_that_waits_is_made_more_urgent() {
    let data = tempfile::tempdir().unwrap();
    let (service, mut client) = started(data.path());
    let jobs: Vec<Value> = (0..5).map(|job| json!({"id": format!("j{job}"), "port": "train"})).collect();
    client.post("/v1/slots", &json!({"key": "k", "jobs": jobs}));
    let shown = client.send("GET", "/v1/jobs/j4", "");
    let tag = shown.header("etag").unwrap().to_owned();
    assert_eq!((&shown.json()["position"], shown.json()["tag"].as_str()), (&json!(3), Some(tag.as_str())));
    let events = client.get("/v1/status")["sequence"].clone();
    let dry = patch(&mut client, "j4?dry_run=true", Some(&tag), &json!({"weight": 2})).json();
    assert_eq!((&dry["changed"], &dry["dry_run"]), (&json!(true), &json!(true)));
    assert_eq!((&dry["job"]["position"], &dry["job"]["weight"]), (&json!(1), &json!(2.0)));
    assert_eq!(client.get("/v1/status")["sequence"], events, "no event came of it");
    let done = patch(&mut client, "j4", Some(&tag), &json!({"weight": 2, "tenant": "lab"})).json();
    assert_eq!((&done["changed"], &done["job"]["position"]), (&json!(true), &json!(1)));
    let again = patch(&mut client, "j4", Some(&tag), &json!({"priority": 2, "tenant": "lab"}));
    assert_eq!((again.status, &again.json()["changed"]), (200, &json!(false)), "a retry is harmless");
    let late = patch(&mut client, "j4", Some(&tag), &json!({"weight": 3}));
    assert_eq!((late.status, &late.json()["accepted"]), (412, &done["job"]["tag"]));
    for (job, body, status, field) in [
        ("j0", json!({"weight": 2}), 409, Some("")),
        ("nobody", json!({"weight": 2}), 404, None),
        ("j4", json!({"weight": 0}), 422, Some("weight")),
        ("j4", json!({"urgency": 1}), 422, Some("urgency")),
        ("j4?dry_run=perhaps", json!({}), 422, Some("dry_run")),
    ] {
        let refused = patch(&mut client, job, None, &body);
        assert_eq!((refused.status, refused.json()["field"].as_str()), (status, field), "{job}: {refused:?}");
    }
    // As an event, which a restart and the second copy find.
    let before = client.get("/v1/jobs?state=waiting&port=train");
    assert_eq!(names(&before), ["j4", "j2", "j3"]);
    service.kill();
    output(&["journal", "verify"], data.path());
    let service = Service::start(data.path(), &["--policy", "first-fit"]);
    let mut client = service.client();
    assert_eq!(client.get("/v1/jobs?state=waiting&port=train"), before);
    client.ok("DELETE", "/v1/jobs/j0", "");
    let slot = client.post("/v1/slots", &json!({"key": "k2"}));
    assert_eq!(slot["placements"][0]["job"], "j4", "it starts first");
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}
