//! The `deny` step: finds cargo-deny, or builds it once, and runs it with `deny.toml`.
//!
//! The checks of bans, licences and sources need only the lock file and the crates. The
//! advisories need a database that not every machine can reach, so this step says when they were
//! left out instead of failing: a command that cannot pass offline would soon be skipped. The
//! hosted workflow runs `cargo xtask advisories` besides, which does fail.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::cargo::{cargo, command, run, workspace_root};

/// The version this project builds. A release may rename keys of `deny.toml`, so raise it on
/// purpose, together with that file.
const VERSION: &str = "0.20.2";

/// How long to wait for the database of advisories (a few megabytes).
const FETCH_LIMIT: Duration = Duration::from_secs(30);

/// Runs every check of cargo-deny that can run on this machine; what could not be checked.
pub(crate) fn check() -> Result<Option<String>, Failure> {
    let deny = find_or_build()?;
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
    let deny = find_or_build()?;
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

/// The program to run: one on the search path if it reads our configuration, else our own.
fn find_or_build() -> Result<PathBuf, Failure> {
    let installed = PathBuf::from("cargo-deny");
    if version_of(&installed).is_some_and(|version| reads_our_config(&version)) {
        return Ok(installed);
    }
    // Below `target`, so that nothing outside the checkout changes and `cargo clean` removes it;
    // the version in the name makes a raised version build anew.
    let tools = workspace_root().join("target").join("tools");
    let root = tools.join(format!("cargo-deny-{VERSION}"));
    let program = root.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if version_of(&program).is_none() {
        println!(
            "cargo-deny {VERSION} is not installed: building it once, in target/tools; this takes a minute \
             or two"
        );
        let build = tools.join("build");
        let mut install = cargo();
        install.args(["install", "--quiet", "cargo-deny", "--version", VERSION, "--locked"]);
        // It runs for a second, so compile time is all that counts: neither optimisation nor
        // debug information, where its release profile asks for full link-time optimisation.
        install.arg("--debug").env("CARGO_PROFILE_DEV_DEBUG", "0");
        install.arg("--root").arg(&root);
        install.arg("--target-dir").arg(&build);
        run(install)?;
        // Several hundred megabytes that nobody reads again. Failing to remove them harms nothing.
        let _ = std::fs::remove_dir_all(build);
    }
    Ok(program)
}

/// What `PROGRAM --version` reports, such as `0.20.2`; nothing if it cannot be run.
fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().nth(1).map(str::to_owned)
}

/// Whether a cargo-deny of this version understands `deny.toml` as ours does: before 1.0, only
/// releases with the same first two numbers promise that.
fn reads_our_config(version: &str) -> bool {
    let series = |text: &str| {
        let mut parts = text.split('.').map(str::to_owned);
        (parts.next(), parts.next())
    };
    series(version) == series(VERSION)
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

    #[test]
    fn only_the_same_series_reads_our_config() {
        assert!(reads_our_config(VERSION));
        assert!(reads_our_config("0.20.99"));
        assert!(!reads_our_config("0.14.2"));
        assert!(!reads_our_config("1.20.2"));
        assert!(!reads_our_config(""));
    }

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
