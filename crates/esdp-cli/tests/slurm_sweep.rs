//! The array job of `docs/cluster.md` on a real Slurm: submitted as written there, one task ended halfway and
//! submitted again, merged to the bytes of a run on one machine.
#![cfg(target_os = "linux")]

mod util;

use esdp_cluster::testbed::{LocalCluster, LocalClusterSpec, LocalNode};
use std::path::Path;
use std::process::Command;
use util::{esdp_in, untimed_csv, untimed_json, wait_for};

/// 8 points times 20 seeds: 160 parts, 40 per task.
const SWEEP: [&str; 10] = [
    "--preset",
    "default",
    "--slots",
    "1500",
    "--seeds",
    "20",
    "--policies",
    "oracle,esdp,lcf",
    "--vary",
    "arrivals.rho=0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
];

/// The first fenced block of `docs/cluster.md` in a language.
fn documented(language: &str) -> String {
    let text = include_str!("../../../docs/cluster.md");
    let mut blocks = text.split("\n```").skip(1).step_by(2);
    let found = blocks.find_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    found.expect("the document has such a block").to_owned()
}

fn output(command: &mut Command) -> String {
    let answer = command.output().expect("the client runs");
    assert!(answer.status.success(), "{command:?}: {}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).expect("Slurm writes UTF-8").trim().to_owned()
}

/// Submits in a directory, with `esdp` on the path of jobs.
fn sbatch(cluster: &LocalCluster, directory: &Path, args: &[&str]) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_esdp")).parent().expect("it is in a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").expect("a path"));
    output(cluster.command("sbatch").arg("--parsable").args(args).current_dir(directory).env("PATH", path))
}

/// The states of a job's tasks, in order; Slurm forgets jobs only after minutes.
fn states(cluster: &LocalCluster, job: &str) -> Vec<String> {
    let args = ["--noheader", "--array", "--states=all", "--sort=i", "--format=%T", "--jobs", job];
    output(cluster.command("squeue").args(args)).lines().map(|line| line.trim().to_owned()).collect()
}

/// The files of a result, times aside.
fn result(out: &Path) -> [String; 3] {
    let read = |name: &str| {
        std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    [untimed_csv(&read("sweep.csv")), untimed_json(&read("sweep.json")), read("scenario.toml")]
}

#[test]
fn an_array_merges_to_the_bytes_of_one_run_though_a_task_was_ended_halfway() {
    let dir = tempfile::tempdir().expect("a directory");
    let nodes = LocalNode::alike(4, 4, 4000, None);
    let cluster =
        LocalCluster::start(&LocalClusterSpec { nodes, ..LocalClusterSpec::at(&dir.path().join("slurm")) });
    let cluster = cluster.expect("the cluster starts");
    let work = dir.path().join("work");
    std::fs::create_dir(&work).expect("a directory");
    std::fs::write(work.join("sweep.sbatch"), documented("bash")).expect("it is written");
    let job = sbatch(&cluster, &work, &[&["sweep.sbatch"], &SWEEP[..]].concat());
    let parts = |shard: usize| {
        let parts = work.join(format!("out/sweep/shard-{shard}/parts")).read_dir();
        parts.map_or(0, |parts| parts.flatten().count())
    };
    wait_for(|| parts(2) > 0);
    // To the task's script alone, as the warning before its time limit is.
    output(cluster.command("scancel").args(["--batch", "--signal=TERM", &format!("{job}_2")]));
    wait_for(|| {
        states(&cluster, &job).iter().all(|state| !["PENDING", "RUNNING", "COMPLETING"].contains(&&**state))
    });
    assert_eq!(states(&cluster, &job), ["COMPLETED", "COMPLETED", "FAILED", "COMPLETED"]);
    let left = parts(2);
    assert!((1..40).contains(&left), "ended halfway: {left} of 40 parts");
    let submit = documented("sh");
    let merge = submit.split('\'').nth(1).expect("the command of the merge");
    let words: Vec<&str> = merge.split_whitespace().skip(1).filter(|word| !word.contains('*')).collect();
    let shards: Vec<String> = (0..4).map(|shard| format!("out/sweep/shard-{shard}")).collect();
    let shards: Vec<&str> = shards.iter().map(String::as_str).collect();
    let refused = esdp_in(&work, &[&words[..2], &shards, &words[2..]].concat(), b"");
    assert!(refused.code == 2 && refused.stderr.contains("missing"), "{refused:?}");
    // Again on its own, and the merge when it has succeeded.
    let again = sbatch(&cluster, &work, &[&["--array=2", "sweep.sbatch"], &SWEEP[..]].concat());
    let merged = sbatch(&cluster, &work, &[&format!("--dependency=afterok:{again}"), "--wrap", merge]);
    wait_for(|| states(&cluster, &merged) == ["COMPLETED"]);
    let whole = work.join("whole");
    let local = esdp_in(&work, &[&["sweep", "--out", "whole", "--quiet"], &SWEEP[..]].concat(), b"");
    assert_eq!(local.code, 0, "{}", local.stderr);
    assert_eq!(result(&work.join("out/sweep")), result(&whole));
}
