//! `esdp replay`: would it help on this cluster? Policies on a real trace.
//!
//! | file | subject |
//! |---|---|
//! | `speeds` | how fast servers are taken to be: measured, estimated, or assumed in several ways |
//! | `play` | the runs, and what became of every job |
//! | `compare` | the same jobs under every policy: means, paired differences, intervals |
//! | `check` | the log played again: how far off the model is |
//! | `told` | the result as text, JSON and CSV |
//! | `page`, `figures` | the result as a page |
//! | `jobs` | one line per job, with Batsim's columns |

mod check;
mod compare;
mod figures;
mod jobs;
mod page;
mod play;
mod speeds;
mod told;

use crate::expect::Expectation;
use crate::run::{CommonArgs, ResultFormat};
use crate::trace::input::{Account, InputArgs};
use crate::{exit::End, files, output, provenance};
use anyhow::Context;
use clap::Args;
use esdp::scheduler::Objective;
use esdp_trace::generate::Generator;
use esdp_trace::replay::{Played, Replay, ReplayPlan};
use esdp_trace::summary::TraceSummary;
use esdp_trace::{Ledger, Reason, Sink, Source};
use std::path::PathBuf;
use told::Told;

const DETAILS: &str = r#"FILES are any of these, in any order, plain or gzip, recognised by content:
  jobs      sacct -P, SWF, Batsim, GPU 2023 pods, Alibaba v2018 batch_task or the hour sample
  machines  sinfo, scontrol show node, kubectl get nodes -o json, a CSV of name,cpu,mem,gpu,kind;
            Alibaba machine_meta, GPU 2020 machines, GPU 2023 nodes
  speeds    what `esdp trace speeds` writes, a CSV of job,server,speed, Gavel's throughputs
  noise     Azure VM benchmarks, GPU 2020 mini-batch times
For Slurm, these two have all that is needed:
  sacct -aPX -S now-7days \
    -o JobID,User,JobName,Partition,Submit,Start,Elapsed,State,NodeList,NNodes,ReqTRES,AllocTRES
  sinfo -N -o '%N|%c|%m|%G|%T'

Jobs keep their order, their arrival and their ids. They wait, start with all their tasks or not at
all, and hold their devices until they are done. A job takes as long as it did on the server it ran
on, and longer or shorter on others by their speeds. The run goes on until nothing waits, so every
policy has finished the same jobs, and these are compared.

Speeds: a speed table if there is one; else an estimate from accounting (the same user's job of the
same name and shape on different nodes); else they are unknown, and the answer is a range over
assumed spreads.
Machines: the whole table; without one, the nodes that accounting names. Without any file the
generated trace is played on 40 equal servers.

`easy` and `conservative` are queues with backfill that know how long each job takes. `oracle` knows
all speeds. Differences are paired over jobs and seeds; intervals are of 95 %, over days (stretches of
jobs) and seeds together.

Files in --out (default: `out/replay`):
  report.html    what was assumed, measured and gained, and how sure that is; figures
  summary.json   the document that --format json prints
  jobs.csv       one line per job and policy of the first seed, with the columns of Batsim
  scenario.toml  the first seed's scenario: `esdp run` runs its policies (not the queues) again

Examples:
  esdp replay week.txt nodes.txt
  esdp replay week.txt nodes.txt speeds.csv --policies esdp,easy,oracle --seeds 10
  esdp replay batch_task.csv openb_node_list.csv isolated.csv long_westus2.csv \
    --servers 60 --gpu-each --load 0.8
  esdp replay jobs.swf.gz --servers 16
  esdp replay week.txt nodes.txt --expect 'esdp.gain>=0'"#;

const RELATIVE: &str = "relative";
const SUM: &str = "sum";

/// Replays a real trace: what would other policies have done with these jobs on these machines?
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp replay --help` for the files, the rules and examples."
)]
pub struct ReplayArgs {
    /// Jobs, machines, speeds and noise; the generated trace without any
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Fail on the first malformed row, with its line and column
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    common: CommonArgs,
    /// How many job types [default: as many as cover 99 % of jobs and time, at most 64]
    #[arg(long, value_name = "N")]
    types: Option<usize>,
    /// How many servers: drawn from the machine table, or equal ones where there is none [default: the whole
    /// table]
    #[arg(long, value_name = "N")]
    servers: Option<usize>,
    /// The length of a slot [default: a twentieth of the median job, or longer]
    #[arg(long, value_name = "SECONDS")]
    slot: Option<f64>,
    /// How many slots [default: to the last arrival, at most 20,000]
    #[arg(long, value_name = "T")]
    slots: Option<u64>,
    /// Where to start, after the first arrival
    #[arg(long, value_name = "SECONDS")]
    start: Option<f64>,
    /// Drop jobs at random until the scarcest device is this busy [default: all jobs]
    #[arg(long, value_name = "SHARE")]
    load: Option<f64>,
    /// The most tasks of a job [default: 4 where a trace counts instances, none where it counts nodes]
    #[arg(long, value_name = "N")]
    tasks: Option<u32>,
    /// Every task gets a GPU, also those that ask for none
    #[arg(long)]
    gpu_each: bool,
    /// The slots of a block of measured fluctuation
    #[arg(long, value_name = "T", default_value_t = 20)]
    block: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many seeds: draws of speeds and of fluctuation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = output::whole(1, 1000_u64))]
    seeds: u64,
    /// Which policies and queues [default: esdp, oracle, easy, conservative, first-fit, lwtf, hauf, random]
    #[arg(long, value_name = "a,b,c", value_delimiter = ',')]
    policies: Vec<String>,
    /// What a slot maximises: `relative`, the rule for queues, or `sum`, the paper's sum of net utilities
    #[arg(long, value_name = "NAME", value_parser = [RELATIVE, SUM], default_value = RELATIVE)]
    objective: String,
    /// A threshold, such as 'esdp.gain>=5' in percent against `easy`; exit code 1 if one is not met
    #[arg(long, value_name = "THRESHOLD")]
    expect: Vec<Expectation>,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: bad input, a failure, an interruption, or a threshold that was not met.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let played = build(args)?;
    let contenders = play::Contenders::new(&args.policies)?;
    for expectation in &args.expect {
        expectation.check(contenders.labels(), &told::KEYS)?;
    }
    let seeds: Vec<u64> = (0..args.seeds).map(|number| args.seed.wrapping_add(number)).collect();
    let answers = speeds::answers(&played, args.files.is_empty(), args.block);
    let out = args.common.out.clone().unwrap_or_else(|| PathBuf::from("out/replay"));
    files::directory(&out)?;
    let check = check::check(&played, &answers, args.seed)?;
    let objective = if args.objective == SUM { Objective::Sum } else { Objective::Relative };
    let runs = play::play(&played, &answers, (&contenders, objective), &seeds, &args.common)?;
    let told = Told::new(&played, &answers, &runs, check);
    let figures = figures::figures(&played, &runs);
    let summary = provenance::json(&told.json())?;
    // No time is in the summary, so the same input gives the same.
    let drawn = crate::figures::names(&figures);
    files::keep_unless_same(&out, ("summary.json", &summary), &drawn, args.common.quiet)?;
    files::write(&out.join("summary.json"), summary)?;
    files::write(&out.join("jobs.csv"), jobs::render(&played, &runs))?;
    files::write(&out.join("scenario.toml"), esdp_engine::results::resolved(&runs.first_scenario))?;
    files::write(&out.join("report.html"), page::render(&played, &told, &runs, &figures))?;
    figures.iter().try_for_each(|figure| crate::figures::save(figure, &out))?;
    match args.common.format {
        ResultFormat::Json => output::print_json(&provenance::stamped(&told.json()))?,
        ResultFormat::Csv => output::print(&told.csv())?,
        ResultFormat::Table => {
            let report = out.join("report.html");
            output::print_around(&format!("{}\nReport: ", told.text()), &report, "\n")?;
        }
    }
    if runs.seeds.len() < seeds.len() {
        let (done, out) = (runs.seeds.len(), out.display());
        return Err(
            End::Interrupted(format!("{done} of {} seeds are done, and in {out}", seeds.len())).into()
        );
    }
    let unmet: Vec<String> =
        args.expect.iter().filter_map(|expectation| told.complaint(expectation)).collect();
    if unmet.is_empty() { Ok(()) } else { Err(End::Unmet(unmet).into()) }
}

fn build(args: &ReplayArgs) -> anyhow::Result<Played> {
    let &ReplayArgs { types, slot, slots, start, load, tasks, gpu_each, seed, .. } = args;
    let alone = args.files.is_empty();
    // The generated trace has more jobs than 40 servers can do; half an hour of them is enough to see.
    let (servers, slots) = (args.servers.or(alone.then_some(40)), slots.or(alone.then_some(300)));
    let (slot, load) = (slot.or(alone.then_some(5.0)), load.or(alone.then_some(0.8)));
    let plan = ReplayPlan { slot, slots, start, types, servers, load, most_tasks: tasks, gpu_each, seed };
    let input = InputArgs::of(&args.files, args.strict, args.common.quiet);
    let names = || if alone { "the generated trace".to_owned() } else { input.names() };
    let mut summary = TraceSummary::default();
    input.read(&mut summary)?;
    if alone {
        generated(&plan, &mut summary)?;
    }
    let mut replay = Replay::new(plan.clone(), &summary).with_context(names)?;
    let accounts = input.read(&mut replay)?;
    if alone {
        generated(&plan, &mut replay)?;
    }
    if !args.common.quiet {
        tell(&accounts);
    }
    let mut played = replay.finish().with_context(names)?;
    played.notes.extend(out_of_service(&accounts));
    Ok(played)
}

/// Machines that are left out because they take no jobs.
fn out_of_service(accounts: &[Account]) -> impl Iterator<Item = String> {
    let out = |account: &Account| {
        let cause = account.reasons.iter().find(|cause| cause.reason == Reason::OutOfService.name())?;
        Some(format!(
            "{} rows of {} are of machines that take no jobs, such as `{}`: they are left out.",
            cause.count,
            account.title(),
            cause.first_value
        ))
    };
    accounts.iter().filter_map(out)
}

/// What became of dirty rows.
fn tell(accounts: &[Account]) {
    for account in accounts.iter().filter(|account| account.skipped + account.repaired > 0) {
        let Account { file, rows, skipped, repaired, .. } = account;
        output::note(&format!(
            "{file}: of {rows} rows {skipped} were skipped and {repaired} repaired; `esdp trace describe` \
             says why"
        ));
    }
}

/// The generated trace, as long as the replay.
fn generated(plan: &ReplayPlan, sink: &mut dyn Sink) -> anyhow::Result<()> {
    let length = plan.slot.unwrap_or(5.0) * plan.slots.unwrap_or(300) as f64;
    let seconds = (plan.start.unwrap_or(0.0) + length).clamp(1.0, 1e8).ceil() as u64;
    let mut generator = Generator { seconds, machines: 0, ..Generator::new(plan.seed) };
    Ok(generator.stream(&mut Ledger::new(false), sink)?)
}
