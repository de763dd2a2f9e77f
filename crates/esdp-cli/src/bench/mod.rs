//! `esdp bench`: what a decision costs on this machine.
//!
//! The solver decides for a learner, slot after slot, and each of its calls is timed: learned
//! problems are far harder than random ones. The paper's DP and a general MILP solver then
//! solve a sample of the same problems, as far as they can.

mod measure;
mod memory;
mod plan;
mod report;
mod rivals;
mod summary;

use crate::output::{self, Format};
use crate::progress;
use clap::Args;
use plan::{Plan, Size};
use report::Report;
use std::time::Duration;

const DETAILS: &str = r#"What is measured: `exact`, its buffers kept from slot to slot, inside the policies `esdp` (the
optimistic index, mean + sqrt of the summed widths) and `cucb` (a linear index), on random
clusters of E channels with capacity c on each of 3 devices and requests of 1 or 2, edge
probability 0.1, a job at each port with probability 0.9. Only the solver's call is timed.
A size LxR is of gangs: the preset `gang` (8x40) with L ports and R servers, edge probability
0.4 up to 100 servers, 0.2 up to 1000 (the preset `gang-large`, 50x500), 0.1 beyond. A gap is
certified: how far a decision's value may be below the optimum, at most, relative. Slots in which
the learner tries every channel once have nothing to solve and are not counted as decisions.
`paper` is the paper's DP with its rounding kept below 1 %, `milp` is `microlp` with tangent
cuts. Both see a sample of the same problems within a time limit; a ratio is their median
over `exact`'s on these. A `>` marks a rival of which half were stopped by the limit. `paper`
refuses gangs; in large ones `milp` finds no placement in time, and its gap is 100 %.

Output of --format json, one JSON document:
  {"version": "0.1.0", "seed": 0,
   "cases": [{"size": "32:6", "channels": 32, "capacity": 6, "index": "optimistic",
     "slots": 2000,
     "exact": {"decisions": 1990, "p50_us": 0.0, "p95_us": 0.0, "p99_us": 0.0, "max_us": 0.0,
               "proved_share": 1.0, "mean_gap": 0.0, "median_gap": 0.0,
               "largest_gap": 0.0, "peak_memory_bytes": 0},
     "rivals": [{"name": "paper", "decisions": 12, "unfinished": 0, "p50_us": 0.0,
                 "p95_us": 0.0, "max_us": 0.0, "exact_p50_us": 0.0, "ratio_p50": 0.0,
                 "median_gap": 0.0, "largest_gap": 0.0, "largest_difference": 0.0, "refused": 0, "refusal": null}]}]}
`capacity` is null and `channels` about right for gangs.
`largest_difference` is how far a finished rival's value is from `exact`'s, relative.
`peak_memory_bytes` is that of the whole process while `exact` ran, null where the system
does not tell. `unfinished` counts decisions that the limit stopped, `refused` problems a
rival would not take, `refusal` says why. Without decisions its figures are null.

Examples:
  esdp bench --quick
  esdp bench --sizes 32:6,1000:200 --slots 500
  esdp bench --sizes 8x40,50x500
  esdp bench --format json > bench.json"#;

/// Measures what a decision costs on this machine.
///
/// Prints the time per decision of the exact solver on learned problems of several sizes,
/// beside the paper's dynamic programme and a general MILP solver. Takes some minutes.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp bench --help` for what is measured and examples.")]
pub struct BenchArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Fewer slots, a tenth of the time for rivals and none at the largest sizes: about a
    /// minute
    #[arg(long)]
    quick: bool,
    /// Which sizes, each as channels:capacity, or as ports x servers of gangs, such as 8x40
    #[arg(long, value_name = "E:c|LxR,...", value_delimiter = ',', value_parser = plan::size, default_values_t = plan::SIZES)]
    sizes: Vec<Size>,
    /// Draws the clusters, arrivals and speeds
    #[arg(long, default_value_t = 0, value_parser = output::whole, allow_negative_numbers = true)]
    seed: u64,
    /// How many slots to decide for each size [default: fewer for larger sizes]
    #[arg(long, value_parser = plan::slots, allow_negative_numbers = true)]
    slots: Option<u64>,
    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// When a cluster cannot be drawn or decided, or standard output cannot be written.
pub fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let rival_time = if args.quick { Duration::from_secs(1) } else { Duration::from_secs(10) };
    let plan = Plan { sizes: args.sizes.clone(), slots: args.slots, quick: args.quick, seed: args.seed, rival_time };
    let bar = progress::bar(plan.steps(), args.quiet);
    let mut report = Report::new(plan.seed);
    for case in plan.cases() {
        bar.set_message(case.to_string());
        let run = measure::measure(&case, plan.seed, || bar.inc(1))?;
        let rivals = if plan.has_rivals(case.size) { rivals::compare(&run, plan.rival_time) } else { Vec::new() };
        report.add(&case, run.exact, rivals);
    }
    bar.finish_and_clear();
    match args.format {
        Format::Json => output::print_json(&report),
        Format::Table => output::print(&report.table()),
    }
}
