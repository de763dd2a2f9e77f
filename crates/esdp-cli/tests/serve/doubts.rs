//! Outcomes that are doubted, over HTTP: listed, accepted, dropped, forgotten, and the same after a crash.

use crate::service::{Client, Service, output};
use serde_json::{Value, json};

/// Three servers of one device, on which jobs have run at a speed of 10.
fn learned(service: &Service, operator: &str) -> Client {
    let mut client = service.client();
    client.token = Some(operator.to_owned());
    let server = |at: usize| json!({"name": format!("n{at}"), "capacity": {"cpu": 1}});
    let servers: Vec<Value> = (0..3).map(server).collect();
    let ports = json!([{"name": "p", "request": {"cpu": 1}}]);
    client.ok(
        "PUT",
        "/v1/cluster",
        &json!({"devices": ["cpu"], "servers": servers, "ports": ports}).to_string(),
    );
    for slot in 0..10 {
        let jobs: Vec<Value> =
            (0..3).map(|job| json!({"id": format!("j{slot}.{job}"), "port": "p"})).collect();
        let decided = client.post("/v1/slots", &json!({"key": format!("k{slot}"), "jobs": jobs}));
        for place in decided["placements"].as_array().unwrap() {
            let report = json!({"ticket": place["ticket"], "rate": 10.0, "source": "slurm:alice"});
            client.post("/v1/observations", &report);
            client.ok("DELETE", &format!("/v1/jobs/{}", place["job"].as_str().unwrap()), "");
        }
    }
    client
}

fn speed(client: &mut Client, server: &str) -> f64 {
    let rows = client.get(&format!("/v1/channels?port=p&server={server}"));
    rows["channels"][0]["mean"].as_f64().unwrap()
}

fn listed(client: &mut Client) -> Vec<(u64, String, String)> {
    let all = client.get("/v1/outcomes/aside?port=p");
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (row["id"].as_u64().unwrap(), text("source"), text("server"))
    };
    all["outcomes"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn doubted_outcomes_are_listed_settled_and_survive_a_crash() {
    let data = tempfile::tempdir().unwrap();
    let token = |name: &str, role: &str| {
        output(&["token", "create", name, "--role", role], data.path()).trim().to_owned()
    };
    let (operator, liar) = (token("ops", "operator"), token("liar", "observer"));
    let service = Service::start(data.path(), &[]);
    let mut client = learned(&service, &operator);
    let servers = ["n0", "n1", "n2"];
    let before = servers.map(|server| speed(&mut client, server));
    let say = |client: &mut Client, by: &str, server: &str, id: &str, rate: f64| {
        client.token = Some(by.to_owned());
        let said =
            client.post("/v1/observations", &json!({"port": "p", "server": server, "id": id, "rate": rate}));
        client.token = Some(operator.clone());
        said["set_aside"].as_u64().unwrap()
    };
    assert_eq!(say(&mut client, &liar, "n0", "a", 1e30), 1);
    assert_eq!(say(&mut client, &liar, "n1", "b", 0.0), 1);
    assert_eq!(say(&mut client, &operator, "n2", "c", 35.0), 1);
    for (server, before) in servers.iter().zip(before) {
        let now = speed(&mut client, server);
        assert!((now / before - 1.0).abs() < 1e-6, "{server}: {before} became {now}");
    }
    let all = listed(&mut client);
    let sources: Vec<(&str, &str)> = all.iter().map(|one| (one.1.as_str(), one.2.as_str())).collect();
    assert_eq!(sources, [("token:liar", "n0"), ("token:liar", "n1"), ("token:ops", "n2")]);
    assert!(client.send("GET", "/metrics", "").body.contains("esdp_outcomes_aside 3"));
    assert_eq!(client.get("/v1/status")["set_aside"], 3);

    service.kill();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.token = Some(operator.clone());
    assert_eq!(listed(&mut client), all, "the same after a crash");
    // The operator believes one, drops another, and forgets the rest with its source.
    assert_eq!(client.post(&format!("/v1/outcomes/aside/{}/accept", all[2].0), &json!({}))["accepted"], true);
    assert!(speed(&mut client, "n2") > 10.5, "{}", speed(&mut client, "n2"));
    assert_eq!(client.post(&format!("/v1/outcomes/aside/{}/drop", all[0].0), &json!({}))["accepted"], false);
    assert_eq!(client.send("POST", &format!("/v1/outcomes/aside/{}/drop", all[0].0), "").status, 404);
    assert_eq!(client.send("POST", "/v1/outcomes/aside/x/drop", "").status, 404);
    assert_eq!(listed(&mut client), [all[1].clone()]);
    assert_eq!(client.post("/v1/sources/token:liar/forget", &json!({}))["set_aside"], 1);
    assert_eq!(listed(&mut client), []);
    // Who did it is known.
    let audit = client.get("/v1/audit").to_string();
    for action in ["accept-outcome", "drop-outcome", "forget-source", "token:ops"] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
    let now: Vec<f64> = ["n0", "n1", "n2"].iter().map(|server| speed(&mut client, server)).collect();
    service.kill();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.token = Some(operator);
    let then: Vec<f64> = ["n0", "n1", "n2"].iter().map(|server| speed(&mut client, server)).collect();
    assert_eq!(now, then);
}
