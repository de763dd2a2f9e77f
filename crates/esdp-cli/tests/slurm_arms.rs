//! `esdp slurm demo`, end to end: real Slurm clusters of 8 nodes with hidden speeds, 150 multi-node jobs of 3
//! types by 3 users, under Slurm alone, with learned weights, and placed. What the command says is checked,
//! and so are its records.
#![cfg(target_os = "linux")]

mod util;

use esdp_trace::hostlist;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use util::{esdp, signal, wait_for};

/// One at a time: the arms are compared by time.
static ALONE: Mutex<()> = Mutex::new(());

const JOBS: usize = 150;

/// The arms of a load, by name.
fn arms(document: &Value, load: f64) -> BTreeMap<&str, &Value> {
    let all = document["arms"].as_array().expect("a list of arms").iter();
    let chosen: BTreeMap<&str, &Value> = all
        .filter(|arm| arm["load"] == load)
        .map(|arm| (arm["arm"].as_str().expect("a name"), arm))
        .collect();
    assert_eq!(chosen.keys().copied().collect::<Vec<_>>(), ["placement", "slurm", "weights"]);
    chosen
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Nodes of each job in Slurm's own accounting, which must know each job once, as completed.
fn accounting(directory: &Path) -> BTreeMap<u32, Vec<String>> {
    let text = std::fs::read_to_string(directory.join("jobcomp")).expect("Slurm's accounting");
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        assert_eq!(field("JobState"), Some("COMPLETED"), "{line}");
        let mut nodes = hostlist::names(field("NodeList").expect("nodes"));
        nodes.sort();
        let before = found.insert(field("JobId").expect("a number").parse().expect("a number"), nodes);
        assert_eq!(before, None, "twice: {line}");
    }
    assert_eq!(found.len(), JOBS);
    found
}

/// Every job was decided, and ran and ended on exactly the nodes of its last decision, in the eyes of Slurm.
fn check_ledger(directory: &Path) {
    let text = std::fs::read_to_string(directory.join("ledger.csv")).expect("the driver's ledger");
    let mut events: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let job = fields[2].parse().expect("a number");
        events.entry((job, fields[3].to_owned())).or_default().push(fields[4].to_owned());
    }
    for (job, nodes) in accounting(directory) {
        let of = |event: &str| events.get(&(job, event.to_owned())).cloned().unwrap_or_default();
        let ran = nodes.join("+");
        assert_eq!(of("decided").last(), Some(&ran), "job {job}");
        for event in ["running", "ended"] {
            assert_eq!(of(event), std::slice::from_ref(&ran), "job {job}: {event}");
        }
        assert_eq!(of("left").len() + of("gone").len(), 0, "job {job}");
    }
}

#[test]
fn placement_and_weights_beat_slurm_alone() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().to_str().expect("a plain path");
    let jobs = JOBS.to_string();
    let args = ["slurm", "demo", "--loads", "40,70", "--jobs", &jobs, "--out", out, "--format", "json"];
    let ran = esdp(&args, b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let mut failures = Vec::new();
    for load in [0.4, 0.7] {
        let arms = arms(&document, load);
        for (name, arm) in &arms {
            assert_eq!(arm["jobs"], JOBS, "{name}");
            accounting(&dir.path().join(format!("seed1-load{}-{name}", 100.0 * load)));
        }
        check_ledger(&dir.path().join(format!("seed1-load{}-placement", 100.0 * load)));
        let completion = |name: &str| number(&arms[name]["completion"]);
        let mut expect = |holds: bool, what: String| {
            if !holds {
                failures.push(format!("load {load}: {what}"));
            }
        };
        for name in ["placement", "weights"] {
            // By how much, and at higher loads, depends on how busy the machine is: the command measures it,
            // and docs/slurm.md has what was measured.
            let (own, alone) = (completion(name), completion("slurm"));
            expect(load > 0.5 || own < alone, format!("{name} takes {own:.2} s, Slurm alone {alone:.2} s"));
            let learned = arms[name]["learned"].as_array().expect("learned speeds");
            let known: Vec<&Value> =
                learned.iter().filter(|speed| number(&speed["outcomes"]) >= 10.0).collect();
            assert!(known.len() >= 8, "{name} has learned few speeds well: {}", known.len());
            for speed in known {
                let (truth, learned) = (number(&speed["true"]), number(&speed["learned"]));
                expect((learned / truth - 1.0).abs() < 0.1, format!("{name}: {speed}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}\n{}", failures.join("\n"), ran.stdout);
}

#[test]
fn ctrl_c_ends_everything() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("a directory");
    // Jobs run as other users, who must be able to reach it.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_esdp"));
    command.args(["slurm", "demo", "--jobs", "20", "--arms", "slurm,placement"]).env("TMPDIR", dir.path());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let clusters = || std::fs::read_dir(dir.path()).expect("a directory").flatten().map(|entry| entry.path());
    let jobs = || {
        clusters().filter(|path| path.join("records").read_dir().is_ok_and(|mut all| all.next().is_some()))
    };
    wait_for(|| jobs().count() == 2);
    let place = dir.path().to_str().expect("a plain path").to_owned();
    assert!(mentioned(&place) > 10, "the daemons run");
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(mentioned(&place), 0, "processes are left");
    assert_eq!(clusters().count(), 0, "files are left");
}

#[test]
fn a_crash_of_slurm_itself_is_told_and_the_arms_run_again() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_esdp"));
    command.args(["slurm", "demo", "--jobs", "8", "--arms", "slurm"]).env("TMPDIR", dir.path());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    let place = dir.path().to_str().expect("a plain path").to_owned();
    let node =
        || processes().find(|(_, arguments)| arguments.contains(&place) && arguments.ends_with("-N\0n1\0"));
    let ready =
        || processes().any(|(_, arguments)| arguments.contains(&place) && arguments.contains("job.sh"));
    wait_for(|| node().is_some() && ready());
    let (slurmd, _) = node().expect("it runs");
    let killed = std::process::Command::new("kill").args(["-KILL", &slurmd.to_string()]).status();
    assert!(killed.expect("kill runs").success());
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("slurmd has ended: signal: 9") && said.contains("is run again"), "{said}");
    let table = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(table.contains("8 jobs on 8 nodes"), "{table}");
}

/// Processes and their arguments.
fn processes() -> impl Iterator<Item = (u32, String)> {
    let all = std::fs::read_dir("/proc").expect("Linux").flatten();
    all.filter_map(|entry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((entry.file_name().to_str()?.parse().ok()?, String::from_utf8_lossy(&arguments).into_owned()))
    })
}

/// Processes that have a text in their arguments.
fn mentioned(text: &str) -> usize {
    processes().filter(|(_, arguments)| arguments.contains(text)).count()
}

#[test]
fn bad_arguments_are_refused() {
    let refused = |args: &[&str]| esdp(&[&["slurm", "demo"], args].concat(), b"").refused();
    assert_eq!(refused(&["--loads", "0"]), "--loads 0: expected percentages from 1 to 100");
    assert_eq!(refused(&["--jobs", "0"]), "--jobs 0: expected a number from 1 to 10000");
    assert_eq!(refused(&["--repeat", "0"]), "--repeat 0: expected a number from 1 to 100");
}
