//! `esdp report`: a job tells how fast it was, on each of its nodes.

use crate::output;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use esdp_cluster::slurm::reports::{self, Line};
use std::path::PathBuf;

const DETAILS: &str = "\
Called by a job's script on each of its nodes, before and after the work:

  srun --ntasks-per-node=1 sh -c 'esdp report start; ./work && esdp report end --work 1000'

It appends a line to a file of the job and the node in a directory that all nodes share. What goes
wrong is a warning on standard error and no reason for the job to fail: the exit code is 0, unless
--strict is given.";

/// Reports when a job's work begins and ends, and how much it was.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
    /// End with exit code 2 if the report cannot be written
    #[arg(long, global = true)]
    strict: bool,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    /// The work begins
    Start(Where),
    /// The work is done
    End {
        /// How much it was, in any unit that is the same for all jobs of a type
        #[arg(long, value_name = "N")]
        work: f64,
        #[command(flatten)]
        place: Where,
    },
}

#[derive(Debug, Args)]
struct Where {
    /// The directory of reports [default: $ESDP_REPORTS]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The job's number [default: $SLURM_JOB_ID]
    #[arg(long)]
    job: Option<String>,
    /// The node's name [default: $SLURMD_NODENAME]
    #[arg(long)]
    node: Option<String>,
}

/// Writes one line. A job does not fail because its report does.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    match write(args) {
        Err(error) if !args.strict => {
            output::note(&format!("the speed of this job is not reported: {error:#}"));
            Ok(())
        }
        other => other,
    }
}

fn write(args: &ReportArgs) -> anyhow::Result<()> {
    let (place, line) = match &args.command {
        ReportCommand::Start(place) => (place, Line::Start),
        ReportCommand::End { work, place } => (place, Line::End(*work)),
    };
    if let Line::End(work) = line
        && !(work.is_finite() && work >= 0.0)
    {
        bail!("--work {work}: expected a finite number, at least 0");
    }
    let named = |given: &Option<String>, flag: &str, variable: &str| {
        let name = given.clone().or_else(|| std::env::var(variable).ok()).filter(|name| !name.is_empty());
        let name = name.with_context(|| format!("give --{flag}, or set {variable} as Slurm does"))?;
        match name.contains('/') {
            true => bail!("--{flag} {name}: expected a name without `/`"),
            false => Ok(name),
        }
    };
    let job = named(&place.job, "job", "SLURM_JOB_ID")?;
    let node = named(&place.node, "node", "SLURMD_NODENAME")?;
    let set = || std::env::var_os(reports::DIRECTORY).filter(|name| !name.is_empty()).map(PathBuf::from);
    let directory = place.dir.clone().or_else(set);
    let directory = directory.with_context(|| format!("give --dir, or set {}", reports::DIRECTORY))?;
    reports::write(&directory, &job, &node, line)
        .with_context(|| reports::file(&directory, &job, &node).display().to_string())
}
