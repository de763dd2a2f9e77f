//! `esdp slurm`: learned speeds on a Slurm cluster, and `esdp report`, by which jobs tell their speeds.

mod demo;
mod doctor;
mod options;
mod prefer;
mod report;
mod run;
mod speeds;
mod weights;

pub use report::ReportArgs;
pub(crate) use report::run as run_report;

use clap::{Args, Subcommand};

const DETAILS: &str = "\
From least to most intrusive, each useful alone:
  esdp slurm watch             learns which nodes are slow for which jobs; changes nothing
  esdp slurm weights           node weights by learned speed
  esdp slurm prefer            jobs prefer nodes that are fast for them
  esdp slurm run               places held jobs itself

`esdp slurm doctor` says what a cluster needs for each of them, and how to go back.
`esdp slurm demo` compares them on real clusters on this machine.
docs/slurm.md goes from zero to a placed job.";

/// Learned speeds on a Slurm cluster.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub struct SlurmArgs {
    #[command(subcommand)]
    command: SlurmCommand,
}

#[derive(Debug, Subcommand)]
enum SlurmCommand {
    Run(run::RunArgs),
    Watch(run::WatchArgs),
    Weights(weights::WeightsArgs),
    Prefer(prefer::PreferArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
}

/// Runs a command of `esdp slurm`.
pub(crate) fn run(args: &SlurmArgs) -> anyhow::Result<()> {
    match &args.command {
        SlurmCommand::Run(args) => run::run(args),
        SlurmCommand::Watch(args) => run::watch(args),
        SlurmCommand::Weights(args) => weights::run(args),
        SlurmCommand::Prefer(args) => prefer::run(args),
        SlurmCommand::Doctor(args) => doctor::run(args),
        SlurmCommand::Demo(args) => demo::run(args),
    }
}
