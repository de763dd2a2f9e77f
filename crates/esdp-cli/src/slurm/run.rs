//! `esdp slurm run` and `esdp slurm watch`.

use super::options::DriverOptions;
use clap::Args;
use esdp::live::Mode;
use esdp_cluster::slurm::cluster::Slurm;
use esdp_cluster::slurm::driver::{DriverSettings, drive};
use esdp_serve::engine::Client;

const RUN_DETAILS: &str = "\
Decides where the held jobs of a partition run, holds, places and releases them, verifies that
they run on exactly those nodes, and learns from their speeds. Jobs are held by job_submit.lua;
`esdp slurm doctor` prints it. Needs the rights of an operator, or those of SlurmUser.

The driver may be killed at any time: decisions are in the journal before they are carried out,
and a new start compares them with what Slurm shows. DIR/ledger.csv has a line for everything
that became of a job.

Examples:
  esdp slurm run --partition main
  esdp slurm run --partition main --advise          says what it would do, and touches nothing
  esdp slurm run --slot 1s --data /var/lib/esdp --config ports.toml";

/// Places the held jobs of a partition by learned speeds.
#[derive(Debug, Args)]
#[command(after_long_help = RUN_DETAILS, after_help = "See `esdp slurm run --help` for examples.")]
pub(super) struct RunArgs {
    #[command(flatten)]
    options: DriverOptions,
    /// Decide as advice on jobs that Slurm places, and touch nothing
    #[arg(long)]
    advise: bool,
}

/// Learns from finished jobs which nodes are slow for which jobs; changes nothing.
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    options: DriverOptions,
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    args.options.serve(if args.advise { Mode::Advise } else { Mode::Place }, endless)
}

pub(super) fn watch(args: &WatchArgs) -> anyhow::Result<()> {
    args.options.serve(Mode::Observe, endless)
}

fn endless(slurm: Slurm, client: &Client, settings: DriverSettings) -> Result<(), String> {
    drive(slurm, client, settings, |_, _| Ok(true))
}
