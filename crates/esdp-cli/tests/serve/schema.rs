//! The OpenAPI document of a service against the service: schemathesis draws requests that fit it and
//! requests that do not, follows links from answer to request, and checks every answer against what the
//! document promises.
//!
//! A few examples for each operation here; `cargo xtask schema` sets `ESDP_EXAMPLES`. Needs schemathesis;
//! `cargo xtask test` installs it.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

use crate::service::{Service, cluster, output};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where schemathesis is; `cargo xtask test` installs it and says so.
fn program() -> PathBuf {
    let found = std::env::var_os("ESDP_SCHEMATHESIS").map(PathBuf::from).or_else(installed);
    found.expect(
        "the test of the document needs schemathesis: `cargo xtask test test` installs it, or name it in \
         ESDP_SCHEMATHESIS",
    )
}

/// What an earlier `cargo xtask test` has left in `target/tools`.
fn installed() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let homes = std::fs::read_dir(tools).ok()?.flatten().map(|entry| entry.path());
    homes.map(|home| home.join("bin/schemathesis")).find(|program| program.is_file())
}

/// A slot that fits the document is refused all the same if its key was used for another request, a change of
/// the cluster if it is meant for another version, of which the tag is looked at before the body.
const SETTINGS: &str = r#"
[[operations]]
include-path = "/v1/slots"
checks.positive_data_acceptance.expected-statuses = ["2xx", "409", "422", "5xx"]

[[operations]]
include-path = "/v1/cluster"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "412", "5xx"]
checks.negative_data_rejection.expected-statuses = ["4xx", "5xx"]

[[operations]]
include-path = "/v1/servers/{server}"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "412", "5xx"]
checks.negative_data_rejection.expected-statuses = ["4xx", "5xx"]
"#;

/// Runs all checks; what was printed.
fn check(service: &Service, token: Option<&str>) {
    let examples = std::env::var("ESDP_EXAMPLES").unwrap_or_else(|_| "10".to_owned());
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("schemathesis.toml"), SETTINGS).unwrap();
    let mut command = Command::new(program());
    command.arg("run").arg(format!("http://{}/openapi.json", service.address)).current_dir(home.path());
    command.args([
        "--checks",
        "all",
        "--phases",
        "examples,coverage,fuzzing,stateful",
        "--max-examples",
        &examples,
    ]);
    // Server-sent events never end; they have a test of their own.
    command.args([
        "--exclude-path",
        "/v1/events",
        "--seed",
        "1",
        "--generation-database",
        "none",
        "--no-color",
    ]);
    command.args(["--suppress-health-check", "all", "--continue-on-failure"]);
    if let Some(token) = token {
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
    }
    let found = command.output().expect("schemathesis runs");
    let printed = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{printed}\n{}", String::from_utf8_lossy(&found.stderr));
    assert!(printed.contains("Stateful") && printed.contains("API Links"), "all phases have run: {printed}");
    println!("{printed}");
}

#[test]
fn answers_are_as_the_document_promises() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--synchronous", "OFF"]);
    service.client().ok("PUT", "/v1/cluster", &cluster(3).to_string());
    check(&service, None);
    assert_eq!(service.client().get("/healthz")["status"], "ok");
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data.path());
}

/// With a token that may do everything; schemathesis also leaves it out and breaks it, which must be noticed.
#[test]
fn answers_with_tokens_are_as_the_document_promises() {
    let data = tempfile::tempdir().unwrap();
    let token = output(&["token", "create", "o", "--role", "operator"], data.path()).trim().to_owned();
    let service = Service::start(data.path(), &["--synchronous", "OFF", "--mode", "advise"]);
    check(&service, Some(&token));
    assert_eq!(service.client().get("/healthz")["status"], "ok");
}
