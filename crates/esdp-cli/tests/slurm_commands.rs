//! `esdp slurm doctor`, `weights` and `prefer`, and `esdp report`, on a real cluster.

mod slurm_bed;
mod util;

use slurm_bed::{Bed, said};
use std::process::Command;
use util::{esdp, esdp_with};

/// A call of `esdp slurm` for a cluster.
fn slurm(bed: &Bed, command: &str, args: &[&str]) -> String {
    let mut call = Command::new(env!("CARGO_BIN_EXE_esdp"));
    call.args(["slurm", command, "--conf"]).arg(bed.cluster.conf()).args(args);
    if command != "doctor" {
        call.arg("--data").arg(bed.path("data")).arg("--reports").arg(bed.path("reports"));
        call.args(["--log-level", "warn"]);
    }
    said(call)
}

/// What `scontrol` shows of a node under a key.
fn shown(bed: &Bed, node: &str, key: &str) -> String {
    let mut command = bed.cluster.command("scontrol");
    command.args(["show", "node", node]);
    let text = said(command);
    let value = text.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("{key} in {text}")).to_owned()
}

/// Runs three jobs on each node; those on n1 take twice as long for the same work, and tell so by `esdp
/// report`.
fn teach(bed: &Bed) {
    let binary = env!("CARGO_BIN_EXE_esdp");
    let directory = bed.path("reports");
    let mut jobs = Vec::new();
    for (node, seconds) in [("n0", 1.5), ("n1", 3.0)] {
        for _ in 0..3 {
            let script = format!(
                "export ESDP_REPORTS={}; {binary} report start && sleep {seconds} && {binary} report end \
                 --work 10",
                directory.display()
            );
            // A job that names its node is not held.
            jobs.push(bed.submit(&["-J", "train-x", "-w", node], &script));
        }
    }
    bed.wait("all jobs to end", |bed| {
        let mut command = bed.cluster.command("squeue");
        command.arg("--noheader");
        said(command).trim().is_empty()
    });
}

#[test]
fn a_cluster_learns_gets_weights_and_features_and_gets_its_own_back() {
    let bed = Bed::new(2);
    bed.scontrol(&["update", "nodename=n0", "weight=7"]);
    assert!(slurm(&bed, "watch", &["--once"]).contains("No job has reported its speed yet"));
    teach(&bed);
    let seen = slurm(&bed, "watch", &["--once"]);
    let share =
        |node: &str| seen.lines().find(|line| line.contains(node)).map(str::to_owned).unwrap_or_default();
    assert!(share("n0").contains("100 %") && !share("n1").contains("100 %"), "{seen}");
    let plan = slurm(&bed, "weights", &[]);
    assert!(plan.contains("would be"), "{plan}");
    assert_eq!(
        (shown(&bed, "n0", "Weight"), shown(&bed, "n1", "Weight")),
        ("7".to_owned(), "1".to_owned()),
        "{plan}"
    );
    let done = slurm(&bed, "weights", &["--apply"]);
    let (fast, slow) = (shown(&bed, "n0", "Weight"), shown(&bed, "n1", "Weight"));
    assert_eq!(fast, "7", "{done}");
    assert!(slow.parse::<u32>().unwrap() > 30, "{slow}: {done}");
    slurm(&bed, "weights", &["--restore"]);
    assert_eq!((shown(&bed, "n0", "Weight"), shown(&bed, "n1", "Weight")), ("7".to_owned(), "1".to_owned()));

    let rules = bed.path("rules.toml");
    std::fs::write(&rules, "[[port]]\nname = 'train'\njob = 'train-*'\n").unwrap();
    let config = rules.to_str().unwrap();
    // Under their rule, the jobs are of another type than before: it is learned from the start, and from new
    // jobs, because a report is removed once it was read.
    std::fs::remove_dir_all(bed.path("data")).unwrap();
    teach(&bed);
    slurm(&bed, "prefer", &["--config", config, "--apply"]);
    assert_eq!(shown(&bed, "n0", "ActiveFeatures"), "esdp_train");
    assert_eq!(shown(&bed, "n1", "ActiveFeatures"), "(null)");
    assert!(slurm(&bed, "prefer", &["--config", config, "--print-lua"]).contains("esdp_train"));
    slurm(&bed, "prefer", &["--restore"]);
    // None that was ever there is `(null)`, none that is left is nothing.
    assert_eq!(shown(&bed, "n0", "ActiveFeatures"), "");
}

#[test]
fn the_doctor_says_what_is_there_and_what_is_missing() {
    let bed = Bed::new(2);
    let found = slurm(&bed, "doctor", &[]);
    assert!(
        found.contains("2 nodes, 0 of them closed") && found.contains("job_submit.lua holds the jobs"),
        "{found}"
    );
    let other = slurm(&bed, "doctor", &["--partition", "debug"]);
    assert!(other.contains("has no nodes") && other.contains("--partition debug --print-lua"), "{other}");
    assert!(slurm(&bed, "doctor", &["--print-lua"]).contains("function slurm_job_submit"));
    let conf = bed.cluster.conf().to_str().unwrap();
    let refused = |args: &[&str]| esdp(&[&["slurm", "watch", "--conf", conf], args].concat(), b"").refused();
    let data = bed.path("data");
    let data = data.to_str().unwrap();
    let said = refused(&["--data", data, "--partition", "debug"]);
    assert!(said.contains("--partition debug: no node is in it; the partitions are main"), "{said}");
    assert!(refused(&["--data", data, "--rest", "/nowhere"]).contains("slurmrestd at /nowhere"));
    let gone = esdp_with(&[("SLURM_CONF", "/nowhere")], &["slurm", "doctor"]).refused();
    assert_eq!(gone, "SLURM_CONF is /nowhere, where no file is");
}

#[test]
fn a_report_says_what_it_lacks() {
    let lacks = ["report", "start", "--job", "1", "--node", "n0", "--strict"];
    assert!(esdp(&lacks, b"").refused().contains("ESDP_REPORTS"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let variables = [("SLURM_JOB_ID", "17"), ("SLURMD_NODENAME", "n3"), ("ESDP_REPORTS", path)];
    let negative = ["report", "--strict", "end", "--work=-1"];
    assert!(esdp_with(&variables, &negative).refused().contains("at least 0"));
    esdp_with(&variables, &["report", "start"]).fine();
    esdp_with(&variables, &["report", "end", "--work", "2.5"]).fine();
    let text = std::fs::read_to_string(directory.path().join("17.n3.report")).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!((words[0], words[2], words[4]), ("start", "end", "2.5"), "{text}");
    let gone = directory.path().join("gone");
    let report = ["report", "start", "--job", "1", "--node", "n0", "--dir", gone.to_str().unwrap()];
    let refused = esdp(&[&report[..], &["--strict"]].concat(), b"").refused();
    assert!(refused.contains("1.n0.report"), "{refused}");
    // A job does not fail because its report does.
    let said = esdp(&report, b"");
    let named = said.stderr.contains("is not reported") && said.stderr.contains("1.n0.report");
    assert!(said.code == 0 && named, "{said:?}");
}
