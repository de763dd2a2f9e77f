//! `esdp trace`: what is in real traces, scenarios from them, and a trace of our own.
//!
//! | file | subject |
//! |---|---|
//! | `describe`, `table`, `page` | what is in a trace: for people, for programs, as a page |
//! | `scenario` | a scenario for `esdp run` from a trace |
//! | `speeds` | how fast nodes are, from accounting |
//! | `generate` | the generated trace as files |
//! | `input` | files, their formats, and what became of their rows |

mod describe;
mod generate;
pub(crate) mod input;
mod page;
mod scenario;
mod speeds;
mod table;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  esdp trace describe batch_task.csv machine_meta.csv
  esdp trace describe jobs.swf.gz --out out/swf
  sacct -aPX -S now-7days -o JobID,Submit,Start,Elapsed,State,ReqTRES,AllocTRES > week.txt
  esdp trace describe week.txt
  esdp trace scenario machine_meta.csv batch_task.csv -o real.toml && esdp run real.toml
  esdp trace speeds month.txt -o speeds.csv
  esdp trace generate --hours 2 -o tasks.csv

Files are plain or gzip. Formats are found by content: docs/traces.md lists them.";

/// Describes real traces and makes scenarios from them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TraceArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Describe(describe::DescribeArgs),
    Scenario(scenario::ScenarioArgs),
    Speeds(speeds::SpeedsArgs),
    Generate(generate::GenerateArgs),
}

/// Runs the command.
///
/// # Errors
/// With one sentence: bad input or a failure.
pub fn run(args: &TraceArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Describe(args) => describe::run(args),
        Command::Scenario(args) => scenario::run(args),
        Command::Speeds(args) => speeds::run(args),
        Command::Generate(args) => generate::run(args),
    }
}
