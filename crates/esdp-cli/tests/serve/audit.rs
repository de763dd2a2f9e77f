//! Who did it: the question of an auditor, answered by one request and by one line of the log.

use crate::service::{Client, Service, cluster, esdp, output};
use esdp_serve::clock;
use serde_json::{Value, json};
use std::time::Duration;

fn rows(client: &mut Client, query: &str) -> Vec<Value> {
    client.get(&format!("/v1/audit?{query}"))["changes"].as_array().unwrap().clone()
}

#[test]
fn who_changed_a_server_between_two_times_and_from_where() {
    let data = tempfile::tempdir().unwrap();
    let token = |name: &str, role: &str| {
        output(&["token", "create", name, "--role", role], data.path()).trim().to_owned()
    };
    let (ops, alice, ci) = (token("ops", "operator"), token("alice", "operator"), token("ci", "observer"));
    let path = data.path().with_extension("log");
    let service = Service::start_logged(data.path(), &path, &[]);
    let as_ = |token: &str, id: &str| {
        let mut client = service.client();
        client.token = Some(token.to_owned());
        client.headers = vec![("x-request-id".to_owned(), id.to_owned())];
        client
    };
    as_(&ops, "r1").ok("PUT", "/v1/cluster", &cluster(3).to_string());
    as_(&ops, "r2").ok("POST", "/v1/servers/n1/drain", "");
    std::thread::sleep(Duration::from_millis(1100));
    let since = clock::utc(clock::now());
    as_(&alice, "r3").ok("POST", "/v1/servers/n0/drain", "");
    as_(&ops, "r4").ok("POST", "/v1/servers/n0/drain", "");
    as_(&ops, "r5").ok("POST", "/v1/servers/n2/drain", "");
    as_(&alice, "evil id=1").ok("PATCH", "/v1/servers/n0", r#"{"capacity":{"gpu":4}}"#);
    let report = json!({"port": "train", "server": "n0", "rate": 1.0, "id": "x"});
    as_(&ci, "r7").post("/v1/observations", &report);
    as_(&ci, "r8").post("/v1/observations", &report);
    std::thread::sleep(Duration::from_millis(1100));
    let until = clock::utc(clock::now());
    as_(&ops, "r9").ok("POST", "/v1/servers/n0/undrain", "");
    let job = json!({"key": "k", "jobs": [{"id": "j", "port": "train"}]});
    as_(&ops, "r10").post("/v1/slots", &job);
    as_(&ops, "r11").ok("DELETE", "/v1/jobs/j", "");

    let asked = format!("server=n0&since={since}&until={until}");
    let mut reader = as_(&ops, "r12");
    let found = rows(&mut reader, &asked);
    let said: Vec<_> = found
        .iter()
        .map(|row| ["actor", "address", "action"].map(|key| row[key].as_str().unwrap().to_owned()))
        .collect();
    let row = |actor: &str, action: &str| [actor, "127.0.0.1", action].map(str::to_owned);
    let expected = [
        row("token:ci", "observations"),
        row("token:alice", "cluster"),
        // The second to drain it has changed nothing, and the second report was known.
        row("token:alice", "drain"),
    ];
    assert_eq!(said, expected, "{found:?}");
    assert_eq!(found.last().unwrap()["request"], "r3");
    assert!(found.iter().all(|row| !row["request"].as_str().unwrap().contains(' ')), "{found:?}");
    assert_eq!(rows(&mut reader, "actor=token:alice&limit=1")[0]["action"], "cluster");
    let everything = rows(&mut reader, "limit=1000");
    let actions: Vec<&str> = everything.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..3], ["end-job", "slots", "undrain"]);
    let ended = &everything[0];
    assert_eq!(
        (&ended["target"], &ended["actor"], &ended["request"]),
        (&json!("j"), &json!("token:ops"), &json!("r11"))
    );
    // Page by page, and the same.
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = reader.get(&format!("/v1/audit?limit=2{cursor}"));
        paged.extend(page["changes"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(paged, everything);
    for wrong in ["since=yesterday", "limit=0", "limit=1001", "cursor=x", "until=1e300"] {
        assert_eq!(reader.send("GET", &format!("/v1/audit?{wrong}"), "").status, 422, "{wrong}");
    }
    let id = reader.send("GET", "/healthz", "").header("x-request-id").unwrap().to_owned();
    assert_eq!(id, "r12");

    // One line of the log answers it as well, and no secret is in it.
    let text = std::fs::read_to_string(&path).unwrap();
    let line =
        |line: &&str| line.contains("changed") && line.contains("\"n0\"") && line.contains("\"drain\"");
    let lines: Vec<&str> = text.lines().filter(line).collect();
    assert!(
        lines.len() == 1
            && ["token:alice", "127.0.0.1", "r3", "INFO"].iter().all(|part| lines[0].contains(part)),
        "{text}"
    );
    for secret in [&ops, &alice, &ci] {
        assert!(!text.contains(secret.as_str()));
        assert!(!json!(everything).to_string().contains(secret.as_str()));
    }

    // A crash loses nothing of it, and neither does a repair.
    service.kill();
    let copy = data.path().with_extension("repaired");
    let repaired =
        esdp().args(["journal", "repair", "--data"]).arg(data.path()).arg("--out").arg(&copy).output();
    assert!(repaired.unwrap().status.success());
    for directory in [data.path(), &*copy] {
        let service = Service::start(directory, &[]);
        let mut client = service.client();
        client.token = Some(ops.clone());
        assert_eq!(rows(&mut client, "limit=1000"), everything, "{}", directory.display());
    }
    std::fs::remove_dir_all(copy).unwrap();
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_token_for_some_ports_reports_for_them_and_does_nothing_else() {
    let data = tempfile::tempdir().unwrap();
    let create =
        |args: &[&str]| output(&[&["token", "create"], args].concat(), data.path()).trim().to_owned();
    let ops = create(&["ops", "--role", "operator"]);
    let limited = create(&["ci", "--role", "observer", "--ports", "train", "--expires", "30d"]);
    let short = create(&["short", "--role", "reader", "--expires", "1s"]);
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.token = Some(ops.clone());
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    let jobs = json!([{"id": "t", "port": "train"}, {"id": "s", "port": "serve"}]);
    let placed = client.post("/v1/slots", &json!({"key": "k", "jobs": jobs}));
    let ticket = |job: &str| {
        let placements = placed["placements"].as_array().unwrap();
        placements.iter().find(|place| place["job"] == job).unwrap()["ticket"].clone()
    };
    let before = client.get("/v1/channels?port=serve");
    client.token = Some(limited);
    let mut report = |observation: Value| client.send("POST", "/v1/observations", &observation.to_string());
    let own = |id: &str| json!({"port": "train", "server": "n0", "rate": 1.0, "id": id});
    let foreign = json!({"port": "serve", "server": "n0", "group": "ps", "rate": 1.0, "id": "c"});
    assert_eq!(report(own("a")).status, 200);
    assert_eq!(report(json!({"ticket": ticket("t"), "utility": 0.5})).status, 200);
    for refused in [
        foreign.clone(),
        json!({"ticket": ticket("s"), "utility": 0.5}),
        json!({"job": "s", "utility": 0.5}),
        json!({"job": "s", "port": "train", "server": "n0", "utility": 0.5}),
        json!([own("d"), foreign]),
    ] {
        let answer = report(refused.clone());
        assert_eq!(answer.status, 403, "{refused}: {}", answer.body);
        assert_eq!(answer.json()["accepted"], "train");
    }
    let status = json!({"trainerStatus": {"progressPercentage": 100}}).to_string();
    assert_eq!(client.send("POST", "/v1/trainer-status/s", &status).status, 403);
    for (method, path) in [("GET", "/v1/status"), ("POST", "/v1/prioritize"), ("DELETE", "/v1/jobs/t")] {
        assert_eq!(client.send(method, path, "").status, 403, "{method} {path}");
    }
    client.token = Some(ops.clone());
    assert_eq!(client.get("/v1/channels?port=serve")["channels"], before["channels"], "nothing was learned");
    std::thread::sleep(Duration::from_millis(1100));
    client.token = Some(short);
    let ended = client.send("GET", "/v1/status", "");
    assert!(ended.status == 401 && ended.body.contains("expired"), "{}", ended.body);
    assert_eq!(service.stop(), Some(0));
    let list = output(&["token", "list"], data.path());
    let line =
        |name: &str| list.lines().find(|line| line.contains(&format!("  {name}  "))).unwrap().to_owned();
    assert!(line("ci").contains("ports train") && line("ci").contains("expires 20"), "{list}");
    assert!(line("ops").contains("used 20") && line("short").contains("expired"), "{list}");
    let refused = esdp()
        .args(["token", "create", "x", "--role", "operator", "--ports", "a", "--data"])
        .arg(data.path())
        .output();
    let refused = refused.unwrap();
    assert!(
        refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("reporter")
    );
}
