//! Nobody beats the oracle: plain scenarios in which its solver once gave less than simple rules do.

mod util;

use serde_json::Value;
use util::esdp;

/// Every port reaches every server at the same speed: a cold start, or machines that are alike.
const ALIKE: &str = r#"
name = "alike"
slots = 2
policies = ["oracle", "random", "first-fit"]
[seeds]
first = 0
count = 1
[graph]
ports = 8
servers = 1000
probability = 1.0
[devices]
count = 1
request = [1, 1]
capacity = [2400, 2400]
[costs]
mean = 0.0
deviation = 0.0
[arrivals]
law = "bernoulli"
rho = 1.0
[speeds]
mean = [0.5, 0.5]
deviation = 0.1
"#;

/// Jobs of one task on servers with devices of their own.
const SERVERS: &str = r#"
name = "servers"
slots = 2
policies = ["oracle", "hauf", "lcf"]
[seeds]
first = 0
count = 1
[graph]
ports = 50
servers = 500
probability = 0.2
[devices]
count = 2
request = [1, 3]
server_capacity = [2, 6]
[arrivals]
law = "bernoulli"
rho = 0.9
"#;

fn check(scenario: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, out] = ["scenario.toml", "out"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&file, scenario).expect("written");
    let text = esdp(&["run", &file, "--out", &out, "--format", "json", "--quiet"], b"").fine();
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    for policy in summary["policies"].as_array().expect("a list") {
        let ratio = policy["oracle_ratio_mean"].as_f64().expect("a number");
        assert!(ratio <= 1.0 + 1e-9, "{policy}");
    }
}

#[test]
fn equal_speeds() {
    check(ALIKE);
}

#[test]
fn one_task_per_job() {
    check(SERVERS);
}
