//! One arm of the comparison: a cluster of its own, the same jobs at the same times, and `esdp` as a process
//! beside it.

use super::assistant::Assistant;
use super::records::{self, JobRecord};
use super::stage;
use super::together::Halt;
use super::workload::{CPUS, NODES, PlannedJob, TYPES, USERS, Workload};
use anyhow::{Context, bail};
use clap::ValueEnum;
use esdp_cluster::testbed::{LocalCluster, LocalClusterSpec, LocalNode};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long jobs may take after the last submission before the arm is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// Who chooses the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Arm {
    /// Slurm, as it is
    Slurm,
    /// Slurm, with node weights from `esdp slurm weights`
    Weights,
    /// `esdp slurm run`
    Placement,
}

impl Arm {
    pub(super) const ALL: [Self; 3] = [Self::Slurm, Self::Weights, Self::Placement];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Slurm => "slurm",
            Self::Weights => "weights",
            Self::Placement => "placement",
        }
    }
}

/// What came of an arm.
#[derive(Debug)]
pub(super) struct Outcome {
    pub arm: Arm,
    pub jobs: Vec<JobRecord>,
    /// What `esdp` has learned, as its service tells it.
    pub channels: Option<Value>,
}

/// Runs an arm in a directory, which keeps all files. `done` counts the jobs that have ended.
pub(super) fn run(
    arm: Arm,
    workload: &Workload,
    dir: &Path,
    done: &AtomicUsize,
    halt: &Halt<'_>,
) -> anyhow::Result<Outcome> {
    let spec = LocalClusterSpec {
        nodes: LocalNode::alike(NODES, CPUS, 4000, Some(("a100", CPUS))),
        job_submit_lua: Assistant::job_submit_lua(arm, dir),
        ..LocalClusterSpec::at(dir)
    };
    let mut cluster = LocalCluster::start(&spec).context("the Slurm cluster did not start")?;
    let dir = &cluster.dir().to_owned();
    stage::prepare(dir, workload)?;
    let mut assistant = Assistant::start(arm, &cluster)?;
    let origin = Instant::now() + Duration::from_millis(200);
    let epoch = (SystemTime::now() + Duration::from_millis(200)).duration_since(UNIX_EPOCH)?.as_secs_f64();
    let count_ended = || records::ended(dir).inspect(|ended| done.store(*ended, Relaxed));
    let mut ids = Vec::with_capacity(workload.jobs.len());
    for job in &workload.jobs {
        let due = origin + Duration::from_secs_f64(job.due);
        loop {
            halt.pause(due.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)))?;
            if Instant::now() >= due {
                break;
            }
            count_ended()?;
            cluster.check()?;
            assistant.check()?;
        }
        ids.push(submit(&cluster, job)?);
    }
    let deadline = Instant::now() + PATIENCE;
    while count_ended()? < ids.len() {
        cluster.check()?;
        assistant.check()?;
        if Instant::now() > deadline {
            bail!("arm {}: {} of {} jobs have ended in time", arm.name(), records::ended(dir)?, ids.len());
        }
        halt.pause(Duration::from_millis(200))?;
    }
    cluster.check()?;
    let outcomes = workload.jobs.iter().map(|job| TYPES[job.kind].nodes).sum();
    let channels = assistant.finish(outcomes)?;
    let jobs = records::read(dir, &workload.jobs, &ids, epoch)?;
    Ok(Outcome { arm, jobs, channels })
}

/// Submits a job; gives back its number.
fn submit(cluster: &LocalCluster, job: &PlannedJob) -> anyhow::Result<u32> {
    let kind = &TYPES[job.kind];
    let mut command = cluster.command("sbatch");
    command.args([
        "--parsable",
        "--chdir=/",
        "--output=/dev/null",
        "--ntasks-per-node=1",
        "--cpus-per-task=1",
    ]);
    command.args(["--uid", USERS[job.user], "--job-name", kind.name]);
    command.arg(format!("--nodes={}", kind.nodes)).arg(format!("--mem={}", kind.memory_mb));
    if kind.gpus > 0 {
        command.arg(format!("--gres=gpu:a100:{}", kind.gpus));
    }
    command.arg(cluster.dir().join("job.sh")).arg(cluster.dir()).arg(kind.name);
    command.arg(format!("{}", (1000.0 * job.work).round()));
    let answer = command.output().context("sbatch does not run")?;
    let id = String::from_utf8_lossy(&answer.stdout).trim().parse();
    match id {
        Ok(id) if answer.status.success() => Ok(id),
        _ => bail!("sbatch refused a job: {}", String::from_utf8_lossy(&answer.stderr).trim()),
    }
}
