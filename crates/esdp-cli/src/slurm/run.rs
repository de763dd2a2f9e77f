//! `esdp slurm run` and `esdp slurm watch`.

use super::options::{DriverOptions, time};
use super::speeds;
use crate::output;
use clap::Args;
use esdp::live::Mode;
use esdp_cluster::slurm::cluster::Slurm;
use esdp_cluster::slurm::driver::{DriverSettings, drive};
use esdp_serve::engine::Client;
use std::time::{Duration, Instant};

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
  esdp slurm run --slot 1s --data /var/lib/esdp --config ports.toml
  esdp slurm run --wake /var/lib/esdp/wake          decides as soon as a job was submitted";

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

const WATCH_DETAILS: &str = "\
Reads jobs and nodes once per slot and learns from jobs that have ended: from their own reports
(`esdp report`), or from how long they took, if a rule says how long they should
(`reference_seconds`). Shows which nodes are slow for which jobs, as a table here, on the
dashboard and as metrics. Needs no rights.

Examples:
  esdp slurm watch --partition main --reports /shared/esdp/reports
  esdp slurm watch --once             looks once, prints the table, and ends";

/// Learns from finished jobs which nodes are slow for which jobs; changes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = WATCH_DETAILS, after_help = "See `esdp slurm watch --help` for examples.")]
pub(super) struct WatchArgs {
    #[command(flatten)]
    options: DriverOptions,
    /// Print the table of nodes at this interval, if something was learned
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    every: Duration,
    /// Look once, print the table, and end
    #[arg(long)]
    once: bool,
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    args.options.serve(if args.advise { Mode::Advise } else { Mode::Place }, endless)
}

pub(super) fn watch(args: &WatchArgs) -> anyhow::Result<()> {
    let (every, once) = (args.every, args.once);
    let (mut due, mut shown) = (Instant::now(), String::new());
    args.options.serve(Mode::Observe, move |slurm, client, settings| {
        drive(slurm, client, settings, |driver, _| {
            if Instant::now() >= due {
                let view = driver.core().view().map_err(|error| error.to_string())?;
                let table = speeds::table(&view.channels);
                if once || table != shown {
                    output::print(&table).map_err(|error| format!("{error:#}"))?;
                }
                (due, shown) = (Instant::now() + every, table);
            }
            Ok(!once)
        })
    })
}

fn endless(slurm: Slurm, client: &Client, settings: DriverSettings) -> Result<(), String> {
    drive(slurm, client, settings, |_, _| Ok(true))
}
