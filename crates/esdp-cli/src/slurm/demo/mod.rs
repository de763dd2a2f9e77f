//! `esdp slurm demo`: Slurm alone, with learned weights, and with `esdp` placing the jobs, on real clusters
//! on this machine.
//!
//! | file | subject |
//! |---|---|
//! | `workload` | hidden speeds and jobs, the same for every arm |
//! | `stage` | what a job does on its nodes |
//! | `together` | arms at the same time, and once more if one of Slurm's daemons has crashed |
//! | `arm` | one cluster, its jobs from the first to the last |
//! | `assistant` | `esdp slurm` as a process beside it |
//! | `records` | what became of each job |
//! | `summary`, `comparison` | figures and tables |

mod arm;
mod assistant;
mod comparison;
mod install;
mod records;
mod stage;
mod summary;
mod together;
mod workload;

use crate::output::{self, OutputFormat};
use crate::{files, provenance};
use anyhow::bail;
use arm::Arm;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use summary::Summary;
use together::Plan;
use workload::Workload;

const DETAILS: &str = "\
Starts real Slurm clusters of 8 nodes on this machine, each with its own slurmctld, 8 slurmd and
munged, and runs the same jobs on each: under Slurm alone, with the node weights of `esdp slurm
weights`, and placed by `esdp slurm run`. Jobs have 2, 3 or 4 nodes and sleep for as long as their
work takes at the hidden speed of each node, from 0.3 to 1.0 by job type. `esdp` starts without
knowledge and learns while the jobs run.

The load is the share of CPUs that would be busy if nodes were chosen at random. Clusters run at
the same time, so all arms see the same machine; with --one-by-one they run one after the other,
in an order that rotates from repetition to repetition.

Needs root, and Slurm and munge, which it installs with apt if they are missing. All processes
run at nice -10, so that other work on the machine disturbs little. Everything is stopped and
removed afterwards, even after Ctrl-C.

Examples:
  esdp slurm demo                                    about two and a half minutes
  esdp slurm demo --loads 40,70,95 --repeat 3        about 25 minutes
  esdp slurm demo --out results --format json        keeps all records of jobs and decisions";

/// The nice value of all processes of the demo.
const PRIORITY: i32 = -10;

/// Compares Slurm alone, learned weights and placement on real clusters on this machine.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp slurm demo --help` for examples.")]
pub(super) struct DemoArgs {
    /// Loads in percent, from 1 to 100
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "40")]
    loads: Vec<f64>,
    /// Jobs per arm
    #[arg(long, value_name = "N", default_value_t = 150)]
    jobs: usize,
    /// Repetitions, each with other speeds and other jobs
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u64,
    /// The seed of speeds and jobs; further repetitions take the numbers that follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = output::whole(0, u64::MAX))]
    seed: u64,
    /// Arms to run
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "slurm,weights,placement")]
    arms: Vec<Arm>,
    /// Run one arm after the other instead of all at the same time
    #[arg(long)]
    one_by_one: bool,
    /// Keep the records of jobs, decisions and logs in this directory
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    check(args)?;
    install::require()?;
    // Other work on this machine shall disturb the comparison little. Where that is not allowed, it goes on
    // without.
    let _ = rustix::process::setpriority_process(None, PRIORITY);
    let cancel = crate::interrupt::on_ctrl_c();
    let mut summaries = Vec::new();
    for repetition in 0..args.repeat {
        let seed = args.seed.wrapping_add(repetition);
        let mut arms = args.arms.clone();
        arms.sort_unstable();
        arms.dedup();
        let turns = repetition as usize % arms.len();
        arms.rotate_left(turns);
        for load in &args.loads {
            let workload = Workload::draw(seed, load / 100.0, args.jobs);
            let title = format!("load {load} %, repetition {} of {}", repetition + 1, args.repeat);
            let groups: Vec<&[Arm]> = if args.one_by_one { arms.chunks(1).collect() } else { vec![&arms] };
            let name = format!("seed{seed}-load{load}");
            for group in groups {
                let plan = Plan { args, arms: group, workload: &workload, title: &title, name: &name };
                for outcome in together::run(plan, cancel)? {
                    summaries.push(Summary::of(&outcome, &workload, load / 100.0, seed));
                }
            }
        }
    }
    let document = json!({ "jobs": args.jobs, "nodes": workload::NODES, "arms": summaries });
    if let Some(out) = &args.out {
        files::write(&out.join("summary.json"), provenance::json(&document)?)?;
    }
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&document)),
        OutputFormat::Table => output::print(&comparison::render(&summaries)),
    }
}

fn check(args: &DemoArgs) -> anyhow::Result<()> {
    if let Some(load) = args.loads.iter().find(|load| !(1.0..=100.0).contains(*load)) {
        bail!("--loads {load}: expected percentages from 1 to 100");
    }
    if !(1..=10_000).contains(&args.jobs) {
        bail!("--jobs {}: expected a number from 1 to 10000", args.jobs);
    }
    if !(1..=100).contains(&args.repeat) {
        bail!("--repeat {}: expected a number from 1 to 100", args.repeat);
    }
    if let Some(out) = &args.out {
        files::directory(out)?;
    }
    Ok(())
}
