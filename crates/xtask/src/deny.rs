//! The `deny` step: finds cargo-deny, or builds it once, and runs it with `deny.toml`.
//!
//! The checks of bans, licences and sources need only the lock file and the crates. The
//! advisories need a database that not every machine can reach, so this step says when they were
//! left out instead of failing: a command that cannot pass offline would soon be skipped. The
//! hosted workflow runs `cargo xtask advisories` besides, which does fail.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::cargo::{command, run};
use crate::tool::Tool;

/// A release may rename keys of `deny.toml`.
const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", flags: &[] };

/// How long to wait for the database of advisories (a few megabytes).
const FETCH_LIMIT: Duration = Duration::from_secs(30);

/// Runs every check of cargo-deny that can run on this machine; what could not be checked.
pub(crate) fn check() -> Result<Option<String>, Failure> {
    let deny = DENY.find_or_build()?;
    let mut offline_checks = command(&deny);
    offline_checks.args(["--locked", "check", "--hide-inclusion-graph"]);
    offline_checks.args(["bans", "licenses", "sources"]);
    run(offline_checks)?;
    match fetch(&deny) {
        Ok(()) => known_vulnerabilities(&deny).map(|()| None),
        Err(cause) => Ok(Some(format!("advisories, as their database cannot be reached ({cause})"))),
    }
}

/// Runs `cargo xtask advisories`: known vulnerabilities alone, and a failure where they cannot be known.
pub(crate) fn advisories(args: &[String]) -> Result<(), Failure> {
    if !args.is_empty() {
        return Err(Failure::Usage("usage: cargo xtask advisories".to_owned()));
    }
    let deny = DENY.find_or_build()?;
    fetch(&deny)
        .map_err(|cause| Failure::Check(format!("the database of advisories cannot be reached: {cause}")))?;
    known_vulnerabilities(&deny)
}

/// Fetches the database of advisories; the cause in one line where it cannot be reached.
fn fetch(deny: &Path) -> Result<(), String> {
    let mut fetch = command(deny);
    // Without a terminal to ask on, git must fail rather than wait for a password.
    fetch.args(["fetch", "db"]).env("GIT_TERMINAL_PROMPT", "0");
    run_within(fetch, FETCH_LIMIT)
}

fn known_vulnerabilities(deny: &Path) -> Result<(), Failure> {
    let mut advisories = command(deny);
    // Offline: the database has just been fetched, and cargo gets the crates that are not here yet.
    advisories.args(["--locked", "check", "--disable-fetch", "advisories"]);
    run(advisories)
}

/// Runs a command without showing its output and gives up on it after the limit. The error is
/// the cause in one line: the last one the command wrote to standard error.
fn run_within(mut command: Command, limit: Duration) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(50)),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                // Not its words: a child of its own may still hold the stream open.
                return Err(format!("no answer within {} s", limit.as_secs()));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut words = String::new();
    if let Some(mut stream) = child.stderr.take() {
        // Words that are no text are no cause to show; the status below stands in for them.
        let _ = stream.read_to_string(&mut words);
    }
    let last = words.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(last.map_or_else(|| status.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_given_up() {
        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        let start = Instant::now();
        assert!(run_within(sleep, Duration::from_millis(100)).is_err());
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[cfg(unix)]
    #[test]
    fn the_cause_is_the_last_line_of_a_failure() {
        let shell = |script: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]);
            run_within(shell, FETCH_LIMIT)
        };
        assert_eq!(shell("echo noise >&2"), Ok(()));
        assert_eq!(shell("echo first >&2; echo last >&2; echo >&2; exit 1"), Err("last".to_owned()));
        assert!(shell("exit 7").unwrap_err().contains('7'));
    }
}
