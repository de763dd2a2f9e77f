//! Notes which commit, compiler and target the binary is made of, for `esdp --version` and for results.
//!
//! The commit comes from the variable `ESDP_COMMIT` (`HASH` or `HASH DATE`, for builds of an archive without
//! git), from the note that cargo puts into a published package, or from git. Without all three it is
//! unknown, and `esdp --version` says so. Nothing else depends on it, so a commit rebuilds this crate alone.

#![allow(clippy::print_stdout, reason = "cargo listens there")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What does not get into the binary: a change there does not make a build differ from its commit.
const UNUSED: [&str; 9] =
    ["tests", "benches", "examples", "corpus", "fuzz", "target", "README.md", "xtask", "esdp-fuzz"];

/// The note in a published package.
const NOTE: &str = ".cargo_vcs_info.json";

#[derive(Default)]
struct Commit {
    /// Followed by `-dirty` if the sources differ from it.
    hash: String,
    date: String,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ESDP_COMMIT");
    let commit = named().or_else(packaged).or_else(checked_out).unwrap_or_default();
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let (hash, dirty) = commit.hash.split_at(commit.hash.find('-').unwrap_or(commit.hash.len()));
    let short = match hash.get(..10) {
        None => version,
        Some(start) if commit.date.is_empty() => format!("{version} ({start}{dirty})"),
        Some(start) => format!("{version} ({start}{dirty} {})", commit.date),
    };
    note("VERSION", &short);
    note("COMMIT", &commit.hash);
    note("DATE", &commit.date);
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let rustc = output(Command::new(rustc).arg("--version")).unwrap_or_default();
    note("RUSTC", rustc.trim_start_matches("rustc "));
    for name in ["TARGET", "PROFILE"] {
        note(name, &env::var(name).expect("cargo sets it"));
    }
}

fn note(name: &str, value: &str) {
    println!("cargo::rustc-env=ESDP_BUILD_{name}={value}");
}

/// What the variable says.
fn named() -> Option<Commit> {
    let text = env::var("ESDP_COMMIT").ok().filter(|text| !text.trim().is_empty())?;
    let (hash, date) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let is_hash = (10..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_date = date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    assert!(is_hash && is_date, "ESDP_COMMIT is `{text}`, expected a hash, or a hash and a date");
    Some(Commit { hash: hash.to_owned(), date: date.to_owned() })
}

/// What cargo noted when it made the package.
fn packaged() -> Option<Commit> {
    let text = fs::read_to_string(NOTE).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let hash = rest.split('"').nth(1)?;
    let dirty = if text.contains("\"dirty\": true") { "-dirty" } else { "" };
    Some(Commit { hash: format!("{hash}{dirty}"), date: String::new() })
}

/// What git says, if this crate is one of its files and not just below somebody else's repository.
fn checked_out() -> Option<Commit> {
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let head = git(&["log", "-1", "--format=%H %cs"])?;
    let (hash, date) = head.split_once(' ')?;
    // HEAD moves with every commit and checkout, and git logs where it was.
    for name in ["HEAD", "logs/HEAD"] {
        watch(Path::new(&git(&["rev-parse", "--git-path", name])?));
    }
    let sources = sources();
    sources.iter().for_each(|path| watch(path));
    let mut status = Command::new("git");
    status.args(["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--"]);
    let dirty = if output(status.args(&sources))?.is_empty() { "" } else { "-dirty" };
    Some(Commit { hash: format!("{hash}{dirty}"), date: date.to_owned() })
}

/// What the binary is made of: the crates of the workspace, and its manifest and lock file.
fn sources() -> Vec<PathBuf> {
    let used = |path: &PathBuf| !UNUSED.iter().any(|name| path.ends_with(name));
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(used).collect()
    };
    let crates = entries(Path::new("..")).into_iter().flat_map(|folder| entries(&folder));
    let mut all: Vec<PathBuf> =
        crates.chain(["../../Cargo.toml", "../../Cargo.lock"].map(PathBuf::from)).collect();
    all.sort();
    all
}

/// A path that is missing would make this script run at every build.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").args(arguments))
}

/// What a program prints, if it is there and succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
