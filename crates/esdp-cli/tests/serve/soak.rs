//! A service under steady load: its memory stays flat, and compaction bounds its database.
//!
//! A few seconds here; `cargo xtask soak` sets `ESDP_SOAK`, and then memory is checked, too.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

use crate::service::{Service, esdp, output};
use serde_json::Value;

/// By how much memory may vary after the first quarter, in megabytes.
const FLAT: f64 = 5.0;
/// The largest database of a long run: two snapshots, the events of as many, and the answers of 20,000 slots.
const LARGEST_DATABASE: f64 = 500.0;

#[test]
fn memory_is_flat_and_the_database_bounded() {
    let seconds: Option<u64> =
        std::env::var("ESDP_SOAK").ok().map(|seconds| seconds.parse().expect("seconds"));
    let home = tempfile::tempdir().unwrap();
    let (config, data) = (home.path().join("serve.toml"), home.path().join("data"));
    // A short run must see what a long one sees: many snapshots, and answers that are dropped.
    std::fs::write(
        &config,
        if seconds.is_some() { "" } else { "snapshot_events = 3000\nkept_slots = 100\n" },
    )
    .unwrap();
    let service = Service::start(&data, &["--config", config.to_str().unwrap()]);
    let (rate, batch) = if seconds.is_some() { ("1000", "4") } else { ("200", "10") };
    let duration = seconds.unwrap_or(8).to_string();
    let target = format!("http://{}", service.address);
    let mut load = esdp();
    load.args(["load", "--target", &target, "--rate", rate, "--batch", batch, "--duration", &duration]);
    let found = load.args(["--format", "json"]).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let figure = |name: &str, end: &str| found["service"][name][end].as_f64().expect(name);
    let memory = figure("memory_mb", "most") - figure("memory_mb", "least");
    let database = figure("database_mb", "most");
    println!(
        "{} slots per second, {} outcomes per second, decision p99 {} ms; memory {} to {} MB, database \
         {database} MB at most",
        found["reached_rate"],
        found["outcomes_rate"],
        found["requests"]["latency"]["decision"]["p99_ms"],
        figure("memory_mb", "least"),
        figure("memory_mb", "most"),
    );
    let slots = found["slots"].as_u64().unwrap();
    match seconds {
        Some(_) => {
            assert!(memory <= FLAT, "memory varies by {memory} MB: {}", found["service"]["samples"]);
            assert!(database <= LARGEST_DATABASE, "{}", found["service"]["samples"]);
        }
        None => {
            // All that was written is several times as much.
            assert!(slots > 300 && database < 8.0, "{slots} slots, {database} MB");
            let first = service.client().get("/v1/slots?limit=500")["slots"].as_array().unwrap().len();
            assert!(first < 300, "old answers are dropped: {first}");
        }
    }
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], &data);
}
