//! The command line of esdp: flags in, the library's answer out, an exit code.
//!
//! | file | subject |
//! |---|---|
//! | [`solve`] | `esdp solve`: one slot's problem as JSON |
//! | [`bench`](mod@bench) | `esdp bench`: what a decision costs on this machine |
//! | [`demo`] | `esdp` alone: a short demonstration |
//! | `exit` | exit codes, and one sentence for every failure |
//! | `output`, `progress`, `table` | standard output, progress on terminals, plain tables |
//!
//! It is a library so that tests can reach the commands' cores in-process; nothing here is
//! meant for other programs.

pub mod bench;
pub mod demo;
mod exit;
mod output;
mod progress;
pub mod solve;
mod table;

pub use output::Format;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  esdp                                    a short demonstration
  esdp solve problem.json                 decide one slot
  esdp bench --quick                      what a decision costs on this machine

Exit codes: 0 fine; 1 a requested threshold was not met; 2 bad input or failure,
with one sentence on standard error.";

/// A scheduler that learns how fast your machines really are.
///
/// Without a command: a short demonstration, several policies on the paper's default
/// scenario.
#[derive(Debug, Parser)]
#[command(name = "esdp", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::SolveArgs),
    Bench(bench::BenchArgs),
}

/// Runs the command line and returns what the process shall exit with.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    exit::guard(|| {
        let cli = match Cli::try_parse_from(args) {
            Ok(cli) => cli,
            Err(answer) => return exit::usage(&answer),
        };
        match cli.command {
            None => demo::run(),
            Some(Command::Solve(args)) => solve::run(&args),
            Some(Command::Bench(args)) => bench::run(&args),
        }
    })
}
