//! Tasks that the cluster runs on another server than was answered.

use crate::api::started;
use crate::service::Client;
use serde_json::{Value, json};

/// What is free of a device, by server.
fn free(client: &mut Client, device: &str) -> Vec<u64> {
    let servers = client.get("/v1/servers");
    let of = |server: &Value| server["free"][device].as_u64().unwrap();
    servers["servers"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn devices_and_speeds_follow_tasks_that_were_moved() {
    let data = tempfile::tempdir().unwrap();
    let (service, mut client) = started(data.path(), &[]);
    let all = free(&mut client, "gpu");
    // The job may run on one server only, and is moved from there.
    let closed = json!({"key": "a", "jobs": [{"id": "j", "port": "train"}], "closed": ["n1", "n2"]});
    let placed = client.post("/v1/slots", &closed);
    let placements = placed["placements"].as_array().unwrap();
    assert_eq!((placements.len(), &placements[0]["server"]), (1, &json!("n0")), "{placed}");
    let ticket = placements[0]["ticket"].as_str().unwrap().to_owned();
    let used = all[0] - free(&mut client, "gpu")[0];
    assert!(used > 0);

    let moved = json!({"ticket": ticket, "accepted": true, "server": "n2"});
    assert_eq!(client.post("/v1/starts", &moved)["changed"], true);
    assert_eq!(client.post("/v1/starts", &moved)["changed"], false, "they are there");
    assert_eq!(free(&mut client, "gpu"), [all[0], all[1], all[2] - used]);
    let wrong = json!({"ticket": ticket, "accepted": false, "server": "n2"});
    assert_eq!(client.send("POST", "/v1/starts", &wrong.to_string()).status, 409);
    let nowhere = json!({"ticket": ticket, "accepted": true, "server": "nowhere"});
    assert_eq!(client.send("POST", "/v1/starts", &nowhere.to_string()).status, 404);

    // The ticket of the answer stays the name of these tasks, and what they teach is learned of n2.
    let report = json!({"ticket": ticket, "work": 1000, "seconds": 9.5});
    assert!(client.post("/v1/observations", &report)["learned"].as_u64() > Some(0));
    let counts = |client: &mut Client, server: &str| {
        let rows = client.get(&format!("/v1/channels?port=train&server={server}"));
        (rows["channels"][0]["count"].as_f64().unwrap(), rows["channels"][0]["pending"].as_u64().unwrap())
    };
    assert_eq!(counts(&mut client, "n0"), (0.0, 0));
    assert!(counts(&mut client, "n2").0 > 0.0);

    service.kill();
    let service = crate::service::Service::start(data.path(), &[]);
    let mut client = service.client();
    assert_eq!(free(&mut client, "gpu"), [all[0], all[1], all[2] - used], "a restart knows it");
    assert_eq!(client.ok("DELETE", "/v1/jobs/j", "")["was"], "running");
    assert_eq!(free(&mut client, "gpu"), all);
}
