//! Arms at the same time, each on a cluster of its own. Slurm's daemons crash now and then (slurmd
//! 22.05.8 was seen to corrupt its own memory); that says nothing about the arms, so they are run once more.

use super::arm::{self, Arm, Outcome};
use super::workload::Workload;
use super::{DemoArgs, records};
use crate::exit::End;
use crate::{files, output, progress};
use anyhow::Context;
use esdp_cluster::testbed::LocalClusterError;
use esdp_engine::Cancel;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// How often arms are run again before the crash of a daemon is an error.
const MORE_TRIES: usize = 2;

/// Another arm has failed, so there will be no comparison.
#[derive(Debug, thiserror::Error)]
#[error("given up, because another arm has failed")]
struct GivenUp;

/// When an arm has to stop before its end.
#[derive(Debug)]
pub(super) struct Halt<'a> {
    cancel: &'a Cancel,
    failed: &'a AtomicBool,
}

impl Halt<'_> {
    /// Sleeps; an error if the arm has to stop.
    pub(super) fn pause(&self, time: Duration) -> anyhow::Result<()> {
        std::thread::sleep(time);
        if self.cancel.is_set() {
            return Err(End::Interrupted("the clusters were ended, nothing is kept".to_owned()).into());
        }
        if self.failed.load(Relaxed) {
            return Err(GivenUp.into());
        }
        Ok(())
    }
}

/// What is run, and what it is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub args: &'a DemoArgs,
    pub arms: &'a [Arm],
    pub workload: &'a Workload,
    /// On the progress bar.
    pub title: &'a str,
    /// Of kept files.
    pub name: &'a str,
}

/// Runs the arms until no daemon has crashed meanwhile.
pub(super) fn run(plan: Plan<'_>, cancel: &Cancel) -> anyhow::Result<Vec<Outcome>> {
    for _ in 0..MORE_TRIES {
        match once(plan, cancel) {
            Err(error) => match error.downcast_ref() {
                Some(LocalClusterError::Ended { program, status, .. }) => output::note(&format!(
                    "{} has ended: {status}; the comparison did not cause this; {} is run again",
                    program.display(),
                    plan.title
                )),
                _ => return Err(error),
            },
            done => return done,
        }
    }
    once(plan, cancel)
}

fn once(plan: Plan<'_>, cancel: &Cancel) -> anyhow::Result<Vec<Outcome>> {
    let Plan { args, arms, title, .. } = plan;
    let failed = AtomicBool::new(false);
    let halt = &Halt { cancel, failed: &failed };
    let done: Vec<AtomicUsize> = arms.iter().map(|_| AtomicUsize::new(0)).collect();
    let bar = progress::bar((arms.len() * args.jobs) as u64, args.quiet);
    let outcomes = std::thread::scope(|scope| {
        let start = |(&arm, done)| scope.spawn(move || alone(plan, arm, done, halt));
        let threads: Vec<_> = arms.iter().zip(&done).map(start).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            let counts: Vec<usize> = done.iter().map(|count| count.load(Relaxed)).collect();
            let shown: Vec<String> =
                arms.iter().zip(&counts).map(|(arm, count)| format!("{} {count}", arm.name())).collect();
            bar.set_position(counts.iter().sum::<usize>() as u64);
            bar.set_message(format!("{title}; jobs done: {}", shown.join(", ")));
            std::thread::sleep(Duration::from_millis(100));
        }
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect::<Vec<anyhow::Result<Outcome>>>()
    });
    bar.finish_and_clear();
    let (good, mut bad): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    // The cause, not those that were stopped by it.
    bad.sort_by_key(|outcome| outcome.as_ref().is_err_and(|error| error.is::<GivenUp>()));
    bad.into_iter().chain(good).collect()
}

fn alone(plan: Plan<'_>, arm: Arm, done: &AtomicUsize, halt: &Halt<'_>) -> anyhow::Result<Outcome> {
    // Not in --out: the directory must be short, for sockets, and open to the users of jobs.
    let dir = tempfile::Builder::new().prefix("esdp-slurm-").tempdir()?;
    let outcome = arm::run(arm, plan.workload, dir.path(), done, halt);
    if outcome.is_err() {
        halt.failed.store(true, Relaxed);
    }
    if let Some(out) = &plan.args.out {
        let kept = out.join(format!("{}-{}", plan.name, arm.name()));
        keep(dir.path(), &kept).with_context(|| format!("cannot keep records in {}", kept.display()))?;
        if let Ok(outcome) = &outcome {
            files::write(&kept.join("jobs.csv"), records::csv(&outcome.jobs))?;
        }
    }
    outcome.with_context(|| format!("arm {}", arm.name()))
}

/// Copies what tells how an arm went.
fn keep(dir: &Path, to: &Path) -> anyhow::Result<()> {
    files::directory(to)?;
    for name in ["slurm.conf", "log/jobcomp", "log/slurmctld.log", "log/esdp.log", "data/ledger.csv"] {
        let from = dir.join(name);
        if from.is_file() {
            std::fs::copy(&from, to.join(from.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
