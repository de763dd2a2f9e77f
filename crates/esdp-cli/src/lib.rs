//! The command line of esdp: flags in, the library's answer out, an exit code.
//!
//! | file | subject |
//! |---|---|
//! | [`run`](mod@run) | `esdp run`: one scenario, several policies and seeds; what `esdp` alone does |
//! | [`reproduce`] | `esdp reproduce`: the figures and claims of the paper's evaluation |
//! | [`sweep`] | `esdp sweep`: a scenario at many points, resumable, in shards |
//! | [`replay`](mod@replay) | `esdp replay`: policies on a real trace, with real speeds |
//! | [`trace`] | `esdp trace`: what is in real traces, scenarios from them, a generated one |
//! | [`solve`] | `esdp solve`: one slot's problem as JSON |
//! | [`bench`](mod@bench) | `esdp bench`: what a decision costs on this machine |
//! | [`serve`] | `esdp serve`, `esdp journal`, `esdp token`: the live scheduler as a service |
//! | [`slurm`] | `esdp slurm`, `esdp report`: learned speeds on a Slurm cluster |
//! | [`demo`], [`load`] | `esdp demo`, `esdp load`: a simulated cluster behind a service |
//! | [`shell`], `cite` | `esdp completions`, `esdp man`; `esdp cite` |
//! | `healthcheck` | `esdp healthcheck`: whether a service can decide |
//! | [`expect`] | thresholds for scripts |
//! | `files`, `parts`, `store`, `figures` | result files, whole or not at all; to resume from; figures |
//! | [`scenario`] | `esdp scenario`, `esdp presets`, `esdp policies`: what a scenario may say |
//! | [`source`] | which scenario: a file or a preset, with flags on top |
//! | `exit`, `interrupt` | exit codes, and one sentence for every failure; Ctrl-C |
//! | `output`, `progress` | standard output, progress on terminals |
//! | `provenance` | which build made a result |
//!
//! Simulations and their results are in `esdp-engine`, figures and reports in `esdp-report`. This is a
//! library so that tests can reach the commands' cores in-process; nothing here is meant for other programs.

pub mod bench;
mod cite;
pub mod demo;
mod exit;
pub mod expect;
mod figures;
mod files;
mod healthcheck;
mod interrupt;
pub mod load;
mod output;
mod parts;
mod progress;
mod provenance;
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod scenario;
pub mod serve;
pub mod shell;
pub mod slurm;
pub mod solve;
pub mod source;
mod store;
pub mod sweep;
pub mod trace;

pub use output::OutputFormat;

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  esdp                                    the default scenario: a table and a report
  esdp run my.toml --policies esdp,cts    a scenario of your own
  esdp sweep --preset rho                 a parameter sweep
  esdp scenario show default > my.toml    a scenario to start from; `esdp presets` lists more
  esdp policies                           the policies and their parameters
  esdp reproduce --quick                  the paper's figures and claims, in a minute
  esdp trace describe jobs.swf.gz         what is in a real trace
  esdp replay                             replays a trace with queues and multi-slot jobs
  esdp solve problem.json                 decide one slot
  esdp bench --quick                      what a decision costs on this machine
  esdp serve                              the live scheduler as a service
  esdp slurm doctor                       learned speeds on a Slurm cluster: what it needs
  esdp demo                               a service with a simulated cluster, in your browser
  esdp load --rate 20                     plays a scenario against a service

Exit codes: 0 success; 1 a threshold was not met; 2 bad input or failure,
with one sentence on standard error; 130 interrupted, what is done is kept.";

/// A scheduler that learns how fast your machines really are.
///
/// Without a command: `esdp run`, several policies on the paper's default scenario.
#[derive(Debug, Parser)]
#[command(name = "esdp", after_help = EXAMPLES)]
#[command(version = provenance::VERSION, long_version = provenance::LONG_VERSION.as_str())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Reproduce(reproduce::ReproduceArgs),
    Sweep(sweep::SweepArgs),
    Scenario(scenario::ScenarioArgs),
    /// Lists the scenarios that come with esdp
    Presets(scenario::ListArgs),
    /// Lists the policies and their parameters
    Policies(scenario::ListArgs),
    Trace(trace::TraceArgs),
    Replay(replay::ReplayArgs),
    Solve(solve::SolveArgs),
    Bench(bench::BenchArgs),
    Serve(serve::ServeArgs),
    Slurm(slurm::SlurmArgs),
    Report(slurm::ReportArgs),
    Demo(demo::DemoArgs),
    Load(load::LoadArgs),
    Journal(serve::JournalArgs),
    Token(serve::TokenArgs),
    Healthcheck(healthcheck::HealthcheckArgs),
    Cite(cite::CiteArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Runs the command line and returns what the process exits with.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    exit::guard(|| {
        let cli = match Cli::try_parse_from(&args) {
            Ok(cli) => cli,
            Err(answer) => return exit::usage(&answer, &Cli::command(), &args),
        };
        match cli.command {
            None => run::run(&run::RunArgs::default()),
            Some(Command::Run(args)) => run::run(&args),
            Some(Command::Reproduce(args)) => reproduce::run(&args),
            Some(Command::Sweep(args)) => sweep::run(&args),
            Some(Command::Scenario(args)) => scenario::run(&args),
            Some(Command::Presets(args)) => scenario::run_presets(&args),
            Some(Command::Policies(args)) => scenario::run_policies(&args),
            Some(Command::Trace(args)) => trace::run(&args),
            Some(Command::Replay(args)) => replay::run(&args),
            Some(Command::Solve(args)) => solve::run(&args),
            Some(Command::Bench(args)) => bench::run(&args),
            Some(Command::Serve(args)) => serve::run(&args),
            Some(Command::Slurm(args)) => slurm::run(&args),
            Some(Command::Report(args)) => slurm::run_report(&args),
            Some(Command::Demo(args)) => demo::run(&args),
            Some(Command::Load(args)) => load::run(&args),
            Some(Command::Journal(args)) => serve::run_journal(&args),
            Some(Command::Token(args)) => serve::run_token(&args),
            Some(Command::Healthcheck(args)) => healthcheck::run(&args),
            Some(Command::Cite(args)) => cite::run(&args),
            Some(Command::Completions(args)) => shell::run_completions(&args, Cli::command()),
            Some(Command::Man(args)) => shell::run_man(&args, Cli::command()),
        }
    })
}
