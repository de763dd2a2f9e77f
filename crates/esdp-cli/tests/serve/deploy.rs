//! What `deploy/` shows and alerts on is what a service measures.

use crate::service::{Service, cluster};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The names of our metrics in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    let name = |piece: &str| -> String {
        let end = piece.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(piece.len());
        format!("esdp_{}", &piece[..end])
    };
    text.split("esdp_").skip(1).map(name).collect()
}

fn deployed(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)).unwrap()
}

#[test]
fn every_metric_that_is_shown_is_measured() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    client.post("/v1/slots", &json!({"key": "k", "jobs": [{"id": "j", "port": "train"}]}));
    let page = client.send("GET", "/metrics", "").body;
    // Only a service with a driver has this one.
    let of_drivers = "esdp_driver_turn_age_seconds".to_owned();
    assert!(!page.contains(&of_drivers));
    let measured: BTreeSet<String> = metrics(&page).into_iter().chain([of_drivers]).collect();
    let grafana: Value = serde_json::from_str(&deployed("grafana/esdp.json")).unwrap();
    let panels = grafana["panels"].as_array().unwrap();
    let shown: String = panels.iter().map(|panel| panel["targets"].to_string()).collect();
    let documented = include_str!("../../../../docs/operate.md");
    for (where_, text) in
        [("Grafana", &*shown), ("alerts", &deployed("prometheus/alerts.yml")), ("docs", documented)]
    {
        let names = metrics(text);
        assert!(names.len() >= 7, "{where_}: {names:?}");
        let unknown: Vec<_> = names.difference(&measured).collect();
        assert!(unknown.is_empty(), "{where_}: {unknown:?} are not in /metrics");
    }
}

#[test]
fn the_settings_that_are_shown_are_read() {
    // Every setting is there as a comment; without the marks it must be a file that is accepted.
    let text = deployed("serve.toml");
    let settings: String =
        text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).fold(String::new(), |text, line| {
            if line
                .split_once(" = ")
                .is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
            {
                text + line + "\n"
            } else {
                text
            }
        });
    assert!(settings.lines().count() >= 12, "{settings}");
    let read: esdp_serve::settings::SettingsFile = toml::from_str(&settings).unwrap();
    read.settle().unwrap();
    // As it is shipped, a service watches first.
    let shipped: esdp_serve::settings::SettingsFile = toml::from_str(&text).unwrap();
    assert_eq!(shipped.settle().unwrap().directions.mode, esdp::live::Mode::Observe);
}

#[test]
fn the_command_of_the_image_starts_a_service_that_observes() {
    let text = deployed("Containerfile").replace("\\\n", "");
    let command = text.lines().find_map(|line| line.strip_prefix("CMD ")).expect("a command");
    let mut words: Vec<String> = serde_json::from_str(command).unwrap();
    let data = tempfile::tempdir().unwrap();
    let token = data.path().join("token");
    let (data, file) = (data.path().to_str().unwrap(), token.to_str().unwrap());
    for (flag, ours) in [("--data", data), ("--listen", "127.0.0.1:0"), ("--token-file", file)] {
        let at = words.iter().position(|word| word == flag).expect(flag);
        ours.clone_into(&mut words[at + 1]);
    }
    let mut start = crate::service::esdp();
    start.args(&words);
    let service = Service::spawn(start).unwrap();
    let mut client = service.client();
    client.token = Some(std::fs::read_to_string(&token).unwrap().trim().to_owned());
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    let status = client.get("/v1/status");
    assert_eq!(status["mode"], "observe");
    assert!(status["version"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{status}");
}

#[test]
fn a_service_is_healthy_while_it_runs() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &[]);
    let target = format!("http://{}", service.address);
    let check = || crate::service::esdp().args(["healthcheck", "--target", &target]).output().unwrap();
    let up = check();
    assert_eq!((up.status.code(), &*up.stdout), (Some(0), b"ready\n".as_slice()));
    drop(service);
    let down = check();
    let said = String::from_utf8(down.stderr).unwrap();
    assert_eq!((down.status.code(), &*down.stdout), (Some(1), b"".as_slice()), "{said}");
    assert!(said.starts_with("not met: 127.0.0.1:"), "{said}");
}
