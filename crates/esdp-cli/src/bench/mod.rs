//! `esdp bench`: what a decision costs on this machine.
//!
//! The solver decides for a learner, slot after slot, and each of its calls is timed: learned
//! problems are far harder than random ones. The paper's DP and general MILP solvers then
//! solve a sample of the same problems, as far as they can.
//!
//! With `--families`, problems are drawn instead ([`esdp::sim::families`]), and solved by everybody. With
//! `--live`, the live core is measured: outcomes, snapshots, and the replay of a journal.

mod family;
mod journal;
mod live;
mod measure;
mod memory;
mod plan;
mod report;
mod rivals;
mod summary;

use crate::exit::End;
use crate::output::{self, OutputFormat};
use crate::{progress, provenance};
use clap::{Args, ValueEnum};
use esdp::sim::families::IndexKind;
use esdp_milp::Highs;
use family::{FamilyCase, FamilyReport, Rivals, Sized, Writer};
use live::LivePlan;
use plan::{Plan, Size};
use report::Report;
use rivals::Field;
use std::path::PathBuf;
use std::time::Duration;

const DETAILS: &str = r#"What is measured: `exact`, its buffers kept from slot to slot, inside the
policies `esdp` (the optimistic index, mean + sqrt of the summed widths) and `cucb` (a linear
index), on random clusters of E channels with capacity c on each of 3 devices and requests of 1 or
2, edge probability 0.1, a job at each port with probability 0.9. Only the solver's call is timed.
A size LxR is of gangs: the preset `gang` (8x40) with L ports and R servers, edge probability
0.4 up to 100 servers, 0.2 up to 1000 (the preset `gang-large`, 50x500), 0.1 beyond. A gap is
certified: how far a decision's value may be below the optimum, at most, relative. Slots in which
the learner tries every channel once have nothing to solve and are not counted as decisions.
`paper` is the paper's DP with its rounding kept below 1 %, `milp` is `microlp` with tangent
cuts, `highs` is HiGHS in the same way. They see a sample of the same problems within a time
limit; a ratio is their median over `exact`'s on these. A `>` marks a rival of which half were
stopped by the limit. `paper` rejects gangs; in large ones `milp` finds no placement in time, and
its gap is 100 %. HiGHS needs Python with the package highspy (`python3 -m pip install highspy`;
the variable ESDP_PYTHON names another Python); without it, its rows say so.

With --families, problems are drawn, and every solver gets every one of them:
  real-nodes   SERVERSxJOBS: gangs on machines with up to 128 cores, 1024 GB and 8 GPUs
  congested    JOBSxSERVERS: many more gangs than small servers hold
  or-library   LIMITSxCHANNELS: multi-dimensional knapsacks by Chu and Beasley's rule
  ties         CHANNELSxKINDS: channels that are alike, or nearly
  quotas       PORTSxSERVERS: limits of servers, of the cluster and of every port
  many-limits  LIMITSxCHANNELS: requests of 0 to 2 on many devices
  one-task     JOBSxSERVERS: jobs of one task, each on one or a few servers
  pisinger     CHANNELSxLARGEST: single knapsacks, from easy to hard, numbers up to LARGEST
A family without a size has those that the project measures; `all` is every family. An instance
is a function of family, size, index, --seed and its number, which also chooses among variants.
HiGHS stops at a gap of 1e-6; its time is that of its own runs alone.

With --live, the live core (`esdp::live`) is measured on a cluster of PORTSxSERVERS channels of
which all were tried, under `hauf`, `esdp` and `esdp-pooled`: an outcome, a snapshot and its size,
a restore (the best of five), and the replay of a journal of 1,000,000 events (100,000 with
--quick) of the preset `default`. Then a service keeps a journal of as many events (20,000 with
--quick) of jobs of the preset `gang`: its replay, and a start, which checks the database, the
answers and the snapshot, too, in seconds of the processor (the best of three).

--agree N compares `exact` and `greedy` with HiGHS on N `real-nodes` from 6x10 to 16x30 and N/10
of every other family: feasible decisions, no bound below a value that any of them found, equal
optima. If something is wrong, the instance is written (to --write, or `disagreements`), its name
is printed, and the exit code is 1.

Output of --format json, one JSON document:
  {"version": "0.2.0", "seed": 0,
   "cases": [{"size": "32:6", "channels": 32, "capacity": 6, "index": "optimistic",
     "slots": 2000,
     "exact": {"decisions": 1990, "p50_us": 0.0, "p95_us": 0.0, "p99_us": 0.0, "max_us": 0.0,
               "proved_share": 1.0, "mean_gap": 0.0, "median_gap": 0.0,
               "largest_gap": 0.0, "peak_memory_bytes": 0},
     "rivals": [{"name": "paper", "decisions": 12, "unfinished": 0, "p50_us": 0.0,
                 "p95_us": 0.0, "max_us": 0.0, "exact_p50_us": 0.0, "ratio_p50": 0.0,
                 "median_gap": 0.0, "largest_gap": 0.0, "largest_difference": 0.0,
                 "refused": 0, "refusal": null}]}]}
With --families, `families` holds one object for each family, size and index:
  {"family": "real-nodes", "size": "40x60", "index": "linear", "instances": 20,
   "exact": {"p50_us": 0.0, "p95_us": 0.0, "max_us": 0.0, "proved_share": 1.0,
             "median_gap": 0.0, "largest_gap": 0.0},
   "exact_loss": {"median": 0.0, "largest": 0.0},
   "rivals": [{"name": "highs", "version": "...", "decisions": 20, "unfinished": 0,
               "figures": {as of exact}, "ratio_p50": 0.0, "loss": {...},
               "exact_loss": {...}, "refused": 0, "refusal": null}]}
With --live, `live` is one object:
  {"channels": 100000,
   "policies": [{"policy": "esdp", "outcomes": 20000, "outcome_p50_us": 0.0, "outcome_p99_us": 0.0,
                 "snapshot_ms": 0.0, "snapshot_bytes": 0, "restore_ms": 0.0}],
   "replay": {"events": 1000000, "slots": 0, "seconds": 0.0},
   "journal": {"events": 1000000, "frames": 0, "slots": 0, "journal_bytes": 0,
               "read_cpu_seconds": 0.0, "replay_cpu_seconds": 0.0, "events_per_cpu_second": 0.0,
               "start_cpu_seconds": 0.0}}
A loss is relative, below the best value of all solvers; inside of a rival, of the two.
`capacity` is null and `channels` about right for gangs.
`largest_difference` is how far a finished rival's value is from `exact`'s, relative.
`peak_memory_bytes` is that of the whole process while `exact` ran, null where the system
does not report it. `unfinished` counts decisions that the limit stopped, `refused` problems a
rival would not take, `refusal` says why. Without decisions its figures are null.

Examples:
  esdp bench --quick
  esdp bench --sizes 32:6,1000:200 --slots 500
  esdp bench --sizes 8x40,50x500
  esdp bench --format json > bench.json
  esdp bench --families real-nodes:40x60,or-library:10x250
  esdp bench --families congested --index linear --rivals highs --rival-time 60
  esdp bench --families all --instances 5 --rivals none --write instances
  esdp bench --live
  esdp bench --agree 2000"#;

/// Measures what a decision costs on this machine.
///
/// Prints the time per decision of the exact solver on learned problems of several sizes,
/// next to those of the paper's dynamic program and general MILP solvers. Takes some minutes.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS)]
#[command(after_help = "See `esdp bench --help` for what is measured and examples.")]
pub struct BenchArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Fewer slots, a tenth of the time for rivals and none at the largest sizes: about a
    /// minute
    #[arg(long)]
    quick: bool,
    /// Which sizes of learned problems, each as channels:capacity, or as ports x servers of gangs, such
    /// as 8x40 [default: 32:2,32:6,32:12,32:30,128:40,1000:200,10000:2000,100000:20000,8x40,50x500,200x5000,
    /// or none with --families or --live]
    #[arg(long, value_name = "E:c|LxR,...", value_delimiter = ',', value_parser = plan::size)]
    sizes: Vec<Size>,
    /// Which families of drawn problems, each as family:size, such as real-nodes:40x60, or as family
    #[arg(long, value_name = "FAMILY[:AxB],...", value_delimiter = ',', value_parser = family::sizes)]
    families: Vec<Vec<Sized>>,
    /// Measures the live core on so many ports and servers [default: 100x1000, if given without a size]
    #[arg(long, value_name = "PORTSxSERVERS", value_parser = live::size)]
    #[arg(num_args = 0..=1, default_missing_value = "100x1000")]
    live: Option<(usize, usize)>,
    /// How many problems to draw of each family, size and index
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = output::whole(1, 1_000_000_u64), allow_negative_numbers = true)]
    instances: u64,
    /// Which index of drawn problems [default: both]
    #[arg(long, value_enum)]
    index: Option<DrawnIndex>,
    /// Which rivals to ask
    #[arg(long, value_enum, value_delimiter = ',')]
    #[arg(default_values_t = [RivalName::Highs, RivalName::Milp, RivalName::Paper])]
    rivals: Vec<RivalName>,
    /// How long a rival may take, for each drawn problem and for each size of learned ones, in
    /// seconds [default: 10, or 1 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    rival_time: Option<Duration>,
    /// Writes the drawn problems into this directory, as `esdp solve` reads them
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Instead of measuring, compares the answers with those of HiGHS on so many problems
    #[arg(long, value_name = "N", conflicts_with_all = ["sizes", "families", "live"])]
    #[arg(value_parser = output::whole(1, 1_000_000_u64), allow_negative_numbers = true)]
    agree: Option<u64>,
    /// Draws the clusters, arrivals and speeds
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    #[arg(value_parser = output::whole(0, u64::MAX))]
    seed: u64,
    /// How many slots to decide for each size [default: fewer for larger sizes]
    #[arg(long, value_parser = output::whole(1, 1_000_000_000_u64), allow_negative_numbers = true)]
    slots: Option<u64>,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// Whom to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RivalName {
    /// HiGHS, the strongest open MILP solver
    Highs,
    /// microlp, a MILP solver in pure Rust
    Milp,
    /// The paper's dynamic program, on learned problems only
    Paper,
    /// Nobody
    None,
}

/// An index of drawn problems, as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DrawnIndex {
    /// No widths
    Linear,
    /// With widths
    Optimistic,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let found = text.parse().ok().filter(|seconds| (0.01..=1e6).contains(seconds));
    found.map(Duration::from_secs_f64).ok_or_else(|| "expected a number from 0.01 to 1000000".to_owned())
}

/// Runs the command.
///
/// # Errors
/// When a cluster cannot be drawn or decided, files or standard output cannot be written, or answers
/// that were to agree do not.
pub fn run(args: &BenchArgs) -> anyhow::Result<()> {
    if let Some(count) = args.agree {
        return agree(args, count);
    }
    let mut report = Report::new(args.seed);
    if (args.families.is_empty() && args.live.is_none()) || !args.sizes.is_empty() {
        learned(args, &mut report)?;
    }
    drawn(args, &mut report)?;
    if let Some(size) = args.live {
        let bar = progress::bar(5, args.quiet);
        report.set_live(LivePlan::new(size, args.quick, args.seed).measure(|| bar.inc(1))?);
        bar.finish_and_clear();
    }
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&report)),
        OutputFormat::Table => output::print(&report.table()),
    }
}

impl BenchArgs {
    fn asks(&self, rival: RivalName) -> bool {
        self.rivals.contains(&rival) && !self.rivals.contains(&RivalName::None)
    }

    fn time(&self) -> Duration {
        self.rival_time.unwrap_or(Duration::from_secs(if self.quick { 1 } else { 10 }))
    }
}

/// The problems of a learner.
fn learned(args: &BenchArgs, report: &mut Report) -> anyhow::Result<()> {
    let sizes = if args.sizes.is_empty() { plan::SIZES.to_vec() } else { args.sizes.clone() };
    let rival_time = args.time();
    let plan = Plan { sizes, slots: args.slots, quick: args.quick, seed: args.seed, rival_time };
    let highs =
        || Highs::start().map(|highs| highs.with_time_limit(rival_time)).map_err(|error| error.to_string());
    let mut field = Field {
        paper: args.asks(RivalName::Paper),
        milp: args.asks(RivalName::Milp),
        highs: args.asks(RivalName::Highs).then(highs),
    };
    let bar = progress::bar(plan.steps(), args.quiet);
    for case in plan.cases() {
        bar.set_message(case.to_string());
        let run = measure::measure(&case, plan.seed, || bar.inc(1))?;
        let rivals = match plan.has_rivals(case.size) {
            true => rivals::compare(&run, &mut field, plan.rival_time),
            false => Vec::new(),
        };
        report.add(&case, run.exact, rivals);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The problems of families.
fn drawn(args: &BenchArgs, report: &mut Report) -> anyhow::Result<()> {
    let sizes: Vec<Sized> = args.families.iter().flatten().copied().collect();
    if sizes.is_empty() {
        return Ok(());
    }
    let indices = match args.index {
        None => IndexKind::ALL.to_vec(),
        Some(DrawnIndex::Linear) => vec![IndexKind::Linear],
        Some(DrawnIndex::Optimistic) => vec![IndexKind::Optimistic],
    };
    let writer = args.write.as_deref().map(Writer::new).transpose()?;
    let mut rivals = Rivals::new(args.asks(RivalName::Highs), args.asks(RivalName::Milp), args.time());
    let bar = progress::bar(args.instances * (sizes.len() * indices.len()) as u64, args.quiet);
    for sized in sizes {
        for &index in &indices {
            bar.set_message(format!("{sized} {index}"));
            let case = FamilyCase { sized, index, seed: args.seed, instances: args.instances };
            let compared = family::measure(&case, &mut rivals, |draw, instance| {
                bar.inc(1);
                writer.as_ref().map_or(Ok(()), |writer| writer.write(draw, instance).map(drop))
            })?;
            report.add_family(FamilyReport::new(&case, &rivals, &compared));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Whether everybody agrees.
fn agree(args: &BenchArgs, count: u64) -> anyhow::Result<()> {
    let mut highs = Highs::start()?.with_time_limit(args.time());
    let draws = family::draws(count, args.seed);
    let directory = args.write.clone().unwrap_or_else(|| PathBuf::from("disagreements"));
    let bar = progress::bar(draws.len() as u64, args.quiet);
    let agreement = family::agree(&draws, &mut highs, |draw, instance, wrong| {
        bar.inc(1);
        bar.set_message(draw.to_string());
        if wrong.is_some() || args.write.is_some() {
            Writer::new(&directory)?.write(draw, instance)?;
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&agreement))?,
        OutputFormat::Table => output::print(&agreement.table())?,
    }
    if agreement.disagreements.is_empty() {
        return Ok(());
    }
    let place = format!("the instances are in {}", directory.display());
    Err(End::Unmet(agreement.disagreements.into_iter().chain([place]).collect()).into())
}
