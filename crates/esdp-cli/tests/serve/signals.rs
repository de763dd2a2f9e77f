//! What a running service hears: new settings, tokens and certificates, and every signal.

use crate::service::{Service, cluster, esdp, output};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn send(service: &Service, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &service.id().to_string()]).status();
    assert!(sent.unwrap().success(), "{signal}");
}

/// Waits for a line of the log; all of it.
fn until(log: &Path, part: &str) -> String {
    for _ in 0..400 {
        let text = fs::read_to_string(log).unwrap();
        if text.contains(part) {
            return text;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no line has {part:?}: {}", fs::read_to_string(log).unwrap());
}

#[test]
fn settings_are_read_anew_and_mistakes_change_nothing() {
    let space = tempfile::tempdir().unwrap();
    let (data, log, config) =
        (space.path().join("data"), space.path().join("log"), space.path().join("c.toml"));
    let token = output(&["token", "create", "ops", "--role", "operator"], &data).trim().to_owned();
    fs::write(&config, "mode = 'observe'").unwrap();
    let service = Service::start_logged(&data, &log, &["--config", config.to_str().unwrap()]);
    let mut client = service.client();
    client.token = Some(token);
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    assert_eq!(client.get("/v1/status")["mode"], "observe");
    let named = |name: &str| {
        let mut other = service.client();
        other.headers = vec![("x-forwarded-proto".to_owned(), "https".to_owned())];
        other.headers.push(("origin".to_owned(), format!("https://{name}")));
        other.send("GET", "/healthz", "").status
    };
    assert_eq!(named("esdp.example.org"), 403);

    fs::write(&config, "mode = 'place'\nallow_host = ['esdp.example.org']\nseed = 7").unwrap();
    send(&service, "HUP");
    let text = until(&log, "need a restart");
    assert!(text.contains("were read anew"), "{text}");
    assert_eq!((named("esdp.example.org"), named("evil.example")), (200, 403));
    assert_eq!(client.get("/v1/status")["mode"], "place");
    let last = client.get("/v1/audit?limit=1")["changes"][0].clone();
    assert_eq!((&last["actor"], &last["action"]), (&json!("driver:service"), &json!("mode")));

    fs::write(&config, "mode = 'observe'\nallow_host = ['https://x']").unwrap();
    send(&service, "HUP");
    let text = until(&log, "nothing was changed");
    assert!(text.contains("ERROR") && text.contains("allow_host"), "{text}");
    assert_eq!((named("esdp.example.org"), client.get("/v1/status")["mode"].clone()), (200, json!("place")));

    fs::write(&config, "mode = 'place'").unwrap();
    let late = output(&["token", "create", "late", "--role", "reader"], &data).trim().to_owned();
    send(&service, "HUP");
    until(&log, "tokens=2");
    client.token = Some(late);
    client.get("/v1/status");
    assert_eq!(service.stop(), Some(0));
    until(&log, "SIGTERM");
}

#[test]
fn a_certificate_is_read_anew() {
    let space = tempfile::tempdir().unwrap();
    let file = |name: &str| space.path().join(name);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../esdp-serve/tests/fixtures/tls");
    let take = |certificate: &str, key: &str| {
        fs::copy(kept.join(certificate), file("cert.pem")).unwrap();
        fs::copy(kept.join(key), file("key.pem")).unwrap();
    };
    take("cert.pem", "key.pem");
    let (certificate, key) = (file("cert.pem").display().to_string(), file("key.pem").display().to_string());
    let log = file("log");
    let args = ["--no-token", "--tls-certificate", &certificate, "--tls-key", &key];
    let service = Service::start_logged(&file("data"), &log, &args);
    let target = format!("https://localhost:{}", service.address.port());
    let trusted = |certificate: &str| {
        let mut command = esdp();
        command.args(["healthcheck", "--target", &target, "--tls-certificate"]).arg(kept.join(certificate));
        command.output().unwrap().status.success()
    };
    assert_eq!((trusted("cert.pem"), trusted("other.pem")), (true, false));
    fs::write(file("cert.pem"), "nonsense").unwrap();
    send(&service, "HUP");
    until(&log, "nothing was changed");
    assert!(trusted("cert.pem"), "the old one stays");
    take("other.pem", "other-key.pem");
    send(&service, "HUP");
    until(&log, "were read anew");
    assert_eq!((trusted("cert.pem"), trusted("other.pem")), (false, true));
    assert_eq!(service.stop(), Some(0));
}

#[test]
fn no_signal_ends_it_without_a_line() {
    let space = tempfile::tempdir().unwrap();
    let (data, log) = (space.path().join("data"), space.path().join("log"));
    let start = || Service::start_logged(&data, &log, &["--no-token"]);
    let service = start();
    for signal in [
        "USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "XFSZ", "PIPE", "CHLD", "WINCH", "URG", "TRAP",
        "SYS", "34", "64", "HUP",
    ] {
        send(&service, signal);
        assert_eq!(service.client().get("/healthz")["status"], "ok", "{signal}");
    }
    for signal in ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPROF", "SIGIO", "SIGTRAP", "real-time", "SIGHUP"] {
        until(&log, signal);
    }
    drop(service);
    for signal in ["TERM", "INT", "QUIT", "XCPU", "ABRT"] {
        let service = start();
        send(&service, signal);
        let text = until(&log, "stopped");
        assert!(text.contains("stopping") && text.contains(&format!("SIG{signal}")), "{text}");
    }
    // Nothing hears this one; the next start says so.
    start().kill();
    let service = start();
    until(&log, "was killed");
    assert_eq!(service.stop(), Some(0));
    assert_eq!(start().stop(), Some(0));
    assert!(!fs::read_to_string(&log).unwrap().contains("was killed"), "it has come to its end");
}
