//! `esdp replay`: policies on a real trace, with real speeds.

mod jobs;
mod schedule;
mod verdict;

use crate::expect::Expectation;
use crate::run::{self, CommonArgs, Reporting};
use crate::trace::input::{Account, InputArgs};
use crate::{files, output, source};
use anyhow::Context;
use clap::Args;
use esdp::scenario::Scenario;
use esdp_engine::MakeSink;
use esdp_engine::results::RunResults;
use esdp_engine::rows::KEYS;
use esdp_trace::generate::Generator;
use esdp_trace::plan::Window;
use esdp_trace::replay::{BuiltReplay, Replay, ReplayPlan};
use esdp_trace::summary::TraceSummary;
use esdp_trace::{Ledger, Sink, Source};
use jobs::JobFile;
use std::path::PathBuf;

const DETAILS: &str = r#"FILES are any of, in any order, plain or gzip, told apart by content:
  tasks     Alibaba v2018 batch_task or the hour sample, GPU 2023 pods, SWF, Batsim, sacct
  machines  Alibaba machine_meta, GPU 2020 machines, GPU 2023 nodes
  speeds    Gavel's isolated throughputs, or a CSV of job type, server, speed
  noise     Azure VM benchmarks, GPU 2020 mini-batch times
What is missing comes from the generated trace and from preset `fleet-real`; without any file,
everything does.

Jobs keep their real order, arrival and duration: on a server of average speed a job takes as
long as it did. They wait, start with all their tasks or not at all, and hold their devices until
they are done. Arrivals are thinned to --load. Mean speeds are those of the table, by job type and
kind of server; they fluctuate as was measured, in blocks, so that autocorrelation stays. Every seed
draws other blocks: the standard errors are over resamplings of the fluctuation.

Files in --out (default: `out/replay`): those of `esdp run`, and
  jobs.csv       one line per finished job, seed and policy, with the columns of Batsim
  schedule.json  one object per seed and policy, with the keys of Batsim's schedule
Times in them are in seconds; `esdp run` repeats the result from scenario.toml, without them.

Examples:
  esdp replay
  esdp replay batch_task.csv openb_node_list.csv isolated.csv long_westus2.csv --servers 60
  esdp replay jobs.swf.gz --slot 600 --slots 3000 --policies esdp,first-fit
  esdp replay --expect 'esdp.jct_mean<=12'"#;

/// Drives policies with a real trace and real measured speeds.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp replay --help` for the files, the rules and examples.")]
pub struct ReplayArgs {
    /// Tasks, machines, speeds and noise; the generated trace without any
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Fail on the first malformed row, with its line and column
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    common: CommonArgs,
    /// How many job types: the most frequent request vectors
    #[arg(long, value_name = "N", default_value_t = 8)]
    ports: usize,
    /// How many servers, drawn from the machine table
    #[arg(long, value_name = "N", default_value_t = 40)]
    servers: usize,
    /// The length of a slot
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    slot: f64,
    /// How many slots
    #[arg(long, value_name = "T", default_value_t = 300)]
    slots: u64,
    /// Where to start, after the first arrival
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    start: f64,
    /// Target utilisation of the scarcest device at mean speeds
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    load: f64,
    /// The most tasks of a job
    #[arg(long, value_name = "N", default_value_t = 4)]
    tasks: u32,
    /// Length of a resampled fluctuation block, in slots
    #[arg(long, value_name = "T", default_value_t = 20)]
    block: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many seeds: resamplings of the fluctuation
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Which policies
    #[arg(long, value_name = "a,b,c", value_delimiter = ',')]
    policies: Vec<String>,
    /// A threshold, such as 'esdp.jct_mean<=12'; exit code 1 if one is not met
    #[arg(long, value_name = "THRESHOLD")]
    expect: Vec<Expectation>,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: bad input, a failure, an interruption, or a threshold that was not met.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let built = build(args)?;
    let scenario = flagged(&built, args)?;
    for expectation in &args.expect {
        expectation.check(scenario.policies().iter().map(|policy| policy.label.as_str()), &KEYS)?;
    }
    let out = args.common.out.clone().unwrap_or_else(|| PathBuf::from("out/replay"));
    files::directory(&out)?;
    let jobs = JobFile::new(&out, args.slot)?;
    let (policies, seeds) = (scenario.policies(), scenario.seeds());
    let sink = |unit: usize, policy: usize| jobs.sink(seeds[unit], policy, &policies[policy].label);
    let outcome = run::simulate(&scenario, &args.common, Some(&sink as &MakeSink<'_>))?;
    jobs.join(&outcome.seeds, outcome.policies.len())?;
    files::write(&out.join("schedule.json"), schedule::render(&scenario, &outcome, args.slot)?)?;
    let played = format!(
        "{} of {} tasks, {} slots of {} s, load {:.2}, {} servers; {}",
        built.jobs,
        built.tasks,
        scenario.slots(),
        args.slot,
        built.load,
        args.servers,
        built.origin
    );
    let remarks: Vec<String> = [played].into_iter().chain(verdict::sentences(&outcome)).collect();
    run::report(
        &RunResults::new(scenario, outcome),
        &Reporting {
            format: args.common.format,
            out: &out,
            expect: &args.expect,
            remarks: &remarks,
            quiet: args.common.quiet,
        },
    )
}

fn build(args: &ReplayArgs) -> anyhow::Result<BuiltReplay> {
    let &ReplayArgs { ports, servers, slot, slots, start, seed, load, tasks, block, .. } = args;
    let window = Window { ports, servers, slot, slots, start, seed };
    let plan = ReplayPlan { window, load, most_tasks: tasks, block };
    let input = InputArgs::of(&args.files, args.strict, args.common.quiet);
    let names = || if args.files.is_empty() { "the generated trace".to_owned() } else { input.names() };
    let mut summary = TraceSummary::default();
    input.read(&mut summary)?;
    let tasks_told = summary.arrivals().is_some();
    if !tasks_told {
        generated(args, &mut summary)?;
    }
    let mut replay = Replay::new(plan, &summary).with_context(names)?;
    let accounts = input.read(&mut replay)?;
    if !tasks_told {
        generated(args, &mut replay)?;
    }
    if !args.common.quiet {
        tell(&accounts);
    }
    replay.finish().with_context(names)
}

/// What became of dirty rows.
fn tell(accounts: &[Account]) {
    for account in accounts.iter().filter(|account| account.skipped + account.repaired > 0) {
        let Account { file, rows, skipped, repaired, .. } = account;
        output::note(&format!(
            "{file}: of {rows} rows {skipped} were skipped and {repaired} repaired; `esdp trace describe` says why"
        ));
    }
}

/// The generated trace, as long as the replay.
fn generated(args: &ReplayArgs, sink: &mut dyn Sink) -> anyhow::Result<()> {
    let seconds = (args.start + args.slot * args.slots as f64).clamp(1.0, 1e8).ceil() as u64;
    let mut generator = Generator { seconds, machines: 0, ..Generator::new(args.seed) };
    Ok(generator.stream(&mut Ledger::new(false), sink)?)
}

fn flagged(built: &BuiltReplay, args: &ReplayArgs) -> anyhow::Result<Scenario> {
    let scenario = built.scenario.with_seed_count(args.seeds).with_context(|| format!("--seeds {}", args.seeds))?;
    let scenario = scenario.with_first_seed(args.seed).with_context(|| format!("--seed {}", args.seed))?;
    source::with_policies(scenario, &args.policies)
}
