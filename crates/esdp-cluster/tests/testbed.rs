//! The local Slurm cluster itself: real daemons, real jobs.

use esdp_cluster::testbed::{LocalCluster, LocalClusterError, LocalClusterSpec, LocalNode};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Holds every job and marks it.
const HOLD: &str = r#"
function slurm_job_submit(job, parts, uid)
  job.priority = 0
  job.admin_comment = "seen"
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, parts, uid)
  return slurm.SUCCESS
end
return slurm.SUCCESS
"#;

fn spec(dir: &Path) -> LocalClusterSpec {
    LocalClusterSpec { nodes: LocalNode::alike(3, 4, 2000, Some(("a100", 2))), ..LocalClusterSpec::at(dir) }
}

fn output(command: &mut Command) -> String {
    let answer = command.output().expect("the client runs");
    assert!(answer.status.success(), "{command:?}: {}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).expect("Slurm writes UTF-8").trim().to_owned()
}

fn submit(cluster: &LocalCluster, args: &[&str], script: &str) -> String {
    let mut command = cluster.command("sbatch");
    command.args(["--parsable", "--chdir=/", "--output=/dev/null"]).args(args).args(["--wrap", script]);
    output(&mut command)
}

fn show(cluster: &LocalCluster, job: &str) -> String {
    output(cluster.command("scontrol").args(["show", "job", "--oneliner", job]))
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: it never happened");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The processes that have this directory in their arguments: the daemons.
fn daemons(dir: &Path) -> usize {
    let dir = dir.to_str().expect("a plain path");
    let all = std::fs::read_dir("/proc").expect("Linux").flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|arguments| String::from_utf8_lossy(arguments).contains(dir))
        .count()
}

#[test]
fn two_clusters_run_jobs_of_several_users_and_leave_nothing_behind() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let start = |dir: &Path| LocalCluster::start(&spec(dir)).expect("the cluster starts");
    let clusters = std::thread::scope(|scope| {
        let starting = [0, 1].map(|which| {
            scope.spawn({
                let dir = dirs[which].path();
                move || start(dir)
            })
        });
        starting.map(|thread| thread.join().expect("no panic"))
    });
    for cluster in &clusters {
        let seen = cluster.dir().join("seen");
        std::fs::create_dir(&seen).expect("a directory");
        output(Command::new("chmod").arg("777").arg(&seen));
        let seen = seen.to_str().expect("a plain path");
        let script = format!("srun sh -c 'id -un > {seen}/$SLURM_JOB_ID.$SLURMD_NODENAME; sleep 1000'");
        let jobs = ["daemon", "bin"].map(|user| {
            submit(
                cluster,
                &["--uid", user, "-N2", "--ntasks-per-node=1", "-c2", "--gres=gpu:a100:1"],
                &script,
            )
        });
        for (job, user) in jobs.iter().zip(["daemon", "bin"]) {
            for node in ["n0", "n1"] {
                let path = format!("{seen}/{job}.{node}");
                wait_for(&path, || std::fs::read_to_string(&path).is_ok_and(|text| text.trim() == user));
            }
        }
    }
    let running = |tag: &str| output(Command::new("sh").args(["-c", &format!("pgrep -fc '{tag}' || true")]));
    let tags =
        clusters.each_ref().map(|cluster| format!("^/bin/sh -c id -un > {}/seen", cluster.dir().display()));
    let [first, second] = clusters;
    drop(first);
    assert_eq!(daemons(dirs[0].path()), 0, "processes are left");
    assert_eq!(running(&tags[0]), "0");
    assert_eq!(
        output(second.command("squeue").args(["--noheader", "--format=%t"])),
        "R\nR",
        "the other goes on"
    );
    drop(second);
    assert_eq!(daemons(dirs[1].path()), 0, "processes are left");
}

#[test]
fn nodes_die_and_come_back_and_the_controller_restarts() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut cluster = LocalCluster::start(&spec(dir.path())).expect("the cluster starts");
    let doomed = submit(&cluster, &["-w", "n1", "-N1"], "exec sleep 1000");
    let other = submit(&cluster, &["-w", "n2", "-N1"], "exec sleep 3");
    wait_for("both run", || {
        [&doomed, &other].iter().all(|job| show(&cluster, job).contains("JobState=RUNNING"))
    });
    cluster.kill_node("n1");
    cluster.restart_controller().expect("it restarts");
    wait_for("the job is lost", || show(&cluster, &doomed).contains("JobState=NODE_FAIL"));
    assert!(show(&cluster, &other).contains("JobState=COMPLETED"), "{}", show(&cluster, &other));
    cluster.start_node("n1").expect("it starts");
    assert!(cluster.wait_until_idle(Duration::from_secs(60)), "all nodes come back");
}

#[test]
fn jobs_pass_through_the_script() {
    let dir = tempfile::tempdir().expect("a directory");
    let spec = LocalClusterSpec { job_submit_lua: Some(HOLD.to_owned()), ..spec(dir.path()) };
    let cluster = LocalCluster::start(&spec).expect("the cluster starts");
    let job = submit(&cluster, &["-N2"], "true");
    let shown = show(&cluster, &job);
    assert!(shown.contains("Reason=JobHeld") && shown.contains("AdminComment=seen"), "{shown}");
    output(cluster.command("scontrol").args(["release", &job]));
    wait_for("it runs", || show(&cluster, &job).contains("JobState=COMPLETED"));
}

#[test]
fn what_cannot_be_started_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let error = |spec: &LocalClusterSpec| LocalCluster::start(spec).expect_err("it is refused").to_string();
    assert_eq!(error(&LocalClusterSpec::at(dir.path())), "a cluster needs at least one node");
    let mut twice = spec(dir.path());
    twice.nodes[1].name = "n0".to_owned();
    assert_eq!(error(&twice), "node name `n0` is used twice");
    let far = dir.path().join("x".repeat(60));
    assert!(error(&spec(&far)).contains("too long for Unix sockets"), "{}", error(&spec(&far)));
    let missing = LocalClusterError::Missing("slurmctld".to_owned()).to_string();
    assert!(missing.contains("`sudo apt install slurm-wlm munge`"), "{missing}");
    // A lua script that does not load: slurmctld gives up, and its log says why.
    let broken = LocalClusterSpec { job_submit_lua: Some("this is no lua".to_owned()), ..spec(dir.path()) };
    let said = error(&broken);
    assert!(said.contains("slurmctld has ended") && said.contains("job_submit.lua"), "{said}");
    assert_eq!(daemons(dir.path()), 0, "processes are left");
}
