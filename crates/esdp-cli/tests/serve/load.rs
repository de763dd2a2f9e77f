//! `esdp load` against a real service.

use crate::service::{Service, esdp};
use serde_json::{Value, json};
use std::process::Output;

fn load(service: &Service, args: &[&str]) -> Output {
    let target = format!("http://{}", service.address);
    esdp().args(["load", "--target", &target, "--rate", "50", "--duration", "2"]).args(args).output().unwrap()
}

fn figures(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_scenario_is_played_measured_and_cleared_away() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--synchronous", "OFF"]);
    let found = figures(&load(&service, &["--format", "json"]));
    let (rounds, requests, learned) = (&found["rounds"], &found["requests"], &found["learned"]);
    assert!(rounds.as_u64().unwrap() > 1, "{found}");
    assert_eq!(requests["errors"], json!({}));
    assert_eq!(requests["latency"]["decision"]["count"], *rounds);
    assert_eq!(requests["latency"]["round"]["count"], *rounds);
    let time = |name: &str| requests["latency"]["decision"][name].as_f64().unwrap();
    let times = ["p50_ms", "p95_ms", "p99_ms", "max_ms"].map(time);
    assert!(times[0] > 0.0 && times.is_sorted(), "{times:?}");
    assert_eq!(learned["list"].as_array().unwrap().len() as u64, learned["tried"].as_u64().unwrap());
    // What was played is what was learned: as many outcomes as the service has counted, and near the truth.
    let mut client = service.client();
    let status = client.get("/v1/status");
    assert_eq!(status["events"]["learned"].as_f64(), learned["outcomes"].as_f64());
    assert!(learned["mean_error"].as_f64().unwrap() < 0.25, "{learned}");
    assert_eq!((&status["slot"], &status["running"], &status["waiting"]), (rounds, &json!(0), &json!({})));

    // Again, with the same cluster: jobs and slots are others.
    let again = figures(&load(&service, &["--format", "json"]));
    let slots = client.get("/v1/status")["slot"].as_u64().unwrap();
    assert_eq!(slots, rounds.as_u64().unwrap() + again["rounds"].as_u64().unwrap());

    // Another cluster is not replaced by accident.
    let refused = load(&service, &["--preset", "gang-queue"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--replace"));
    assert_eq!(client.get("/v1/status")["slot"], slots);
    let replaced = load(&service, &["--preset", "gang-queue", "--replace"]);
    assert!(String::from_utf8_lossy(&replaced.stdout).starts_with("scenario gang-queue, seed 0: "));
}

#[test]
fn slots_come_in_batches_from_several_clients_and_over_tls() {
    let data = tempfile::tempdir().unwrap();
    let fixture =
        |name: &str| format!("{}/../esdp-serve/tests/fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (certificate, key) = (fixture("cert.pem"), fixture("key.pem"));
    let args = ["--synchronous", "OFF", "--tls-certificate", &certificate, "--tls-key", &key];
    let service = Service::start(data.path(), &args);
    let target = format!("https://localhost:{}", service.address.port());
    let play = |args: &[&str]| {
        let mut command = esdp();
        command.args([
            "load",
            "--target",
            &target,
            "--tls-certificate",
            &certificate,
            "--duration",
            "2",
            "--format",
            "json",
        ]);
        figures(&command.args(args).output().unwrap())
    };
    let batches = play(&["--rate", "100", "--batch", "10"]);
    let (slots, rounds) = (batches["slots"].as_u64().unwrap(), batches["rounds"].as_u64().unwrap());
    assert_eq!(
        (slots, batches["requests"]["latency"]["decision"]["count"].as_u64()),
        (10 * rounds, Some(rounds))
    );
    // All but the outcomes of the last batch were reported and learned.
    let learned = batches["learned"]["outcomes"].as_f64().unwrap();
    assert!(rounds > 1 && learned > 3.0 * (slots - 10) as f64, "{batches}");
    let several = play(&["--rate", "40", "--clients", "4", "--outcomes", "500"]);
    assert_eq!(several["requests"]["errors"], json!({}));
    assert!(several["learned"]["outcomes"].as_f64().unwrap() > learned + 100.0, "{several}");
    let lasting = esdp()
        .args(["load", "--target", "localhost:1", "--batch", "2", "--preset", "gang-queue"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&lasting.stderr).contains("--batch 2"));
}

#[test]
fn a_service_that_is_not_there_or_does_not_decide_is_told_in_a_sentence() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--mode", "observe"]);
    let observing = load(&service, &[]);
    assert_eq!(observing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&observing.stderr).contains("mode observe"));
    let address = service.address;
    service.kill();
    let gone = esdp().args(["load", "--target", &address.to_string()]).output().unwrap();
    assert_eq!(gone.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&gone.stderr).lines().count(), 1);
    let secure = esdp().args(["load", "--target", "https://localhost:1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&secure.stderr).contains("https needs --tls-certificate"));
}
