//! Nobody beats the oracle: plain scenarios in which its solver once gave less than simple rules do.

use crate::util::esdp;
use serde_json::Value;

/// Every port reaches every server at the same speed: a cold start, or machines that are alike.
const ALIKE: &str = r#"
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
[speeds]
mean = [0.5, 0.5]
deviation = 0.1
"#;

/// Jobs of one task on servers with devices of their own.
const SERVERS: &str = r#"
[graph]
ports = 50
servers = 500
probability = 0.2
[devices]
count = 2
request = [1, 3]
server_capacity = [2, 6]
"#;

/// Two slots of a cluster on one seed, with a job at a port at this rate.
fn check(rivals: [&str; 2], rho: f64, cluster: &str) {
    let [first, second] = rivals;
    let scenario = format!(
        "slots = 2\npolicies = [\"oracle\", \"{first}\", \"{second}\"]\n[seeds]\nfirst = 0\ncount = 1\n\
         [arrivals]\nlaw = \"bernoulli\"\nrho = {rho:?}\n{cluster}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let [file, out] = ["scenario.toml", "out"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&file, scenario).expect("written");
    let text = esdp(&["run", &file, "--out", &out, "--format", "json", "--quiet"], b"").fine();
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let policies = summary["policies"].as_array().expect("a list");
    assert_eq!(policies.len(), 3);
    for policy in policies {
        let ratio = policy["oracle_ratio_mean"].as_f64().expect("a number");
        assert!(ratio <= 1.0 + 1e-9, "{policy}");
    }
}

#[test]
fn equal_speeds() {
    check(["random", "first-fit"], 1.0, ALIKE);
}

#[test]
fn one_task_per_job() {
    check(["hauf", "lcf"], 0.9, SERVERS);
}
