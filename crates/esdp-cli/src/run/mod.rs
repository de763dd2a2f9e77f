//! `esdp run`: one scenario under several policies and seeds.

mod slots;
mod suite;

pub use slots::PerSlot;

use crate::exit::End;
use crate::expect::Expectation;
use crate::progress::Progress;
use crate::provenance::stamped;
use crate::source::SourceArgs;
use crate::{files, interrupt, output, provenance};
use clap::{Args, ValueEnum};
use esdp::scenario::Scenario;
use esdp_engine::results::{RunResults, resolved};
use esdp_engine::rows::KEYS;
use esdp_engine::{self as engine, Contender, MakeSink, Options, RunOutcome, seeds_in_words};
use esdp_report::table::wrapped;
use slots::Slots;
use std::path::{Path, PathBuf};

const DETAILS: &str = r#"Without a file or --preset, the scenario is preset `default`.

Files in --out (`out/` and the scenario's name, by default):
  summary.json   the document that --format json prints
  summary.csv    one row per policy; the timing columns decision_us_* vary between runs
  seeds.csv      one row per policy and seed: every number, for tests of your own
  ports.csv      one row per policy, seed and port: what became of its jobs
  curves.csv     one row per policy and point in time: what the report draws
  estimates.csv  one row per policy that learns, seed and channel: port, server, uses, estimate,
                 low and high (its 95 % interval, if nothing changed lately), true_mean
                 in the last slot, channel, group, last_used (slot), labels; estimates and means are net
                 utilities per slot (speed less supply cost)
  cluster.json   one entry per seed: ports, servers, devices, channels with requests, costs and
                 true means in the first slot; channels are in the order of their numbers
  scenario.toml  the scenario with every default and flag: `esdp run` repeats the run from it
  report.html    figures and tables, complete in one file
  slots.csv      with --per-slot csv: one line per slot, policy and seed (or slots.jsonl)
estimates.csv and cluster.json hold the first seeds only, as many as have 200,000 channels
together, and the first in any case. A directory that holds the result of another scenario,
other slots, seeds or policies keeps it: its files move to the same name with `-1`, or the next
number that is free.

Output of --format json, one JSON document:
  {"build": {...}, "version": "...", "scenario": {...}, "slots": 2000, "seeds": [0, 1], "complete": true,
   "seeds_asked": [0, 1], "notes": [], "load": null,
   "policies": [{"name": "esdp", "objective": "sum", "aou_mean": 0.0, "aou_stderr": 0.0,
     "oracle_ratio_mean": 0.0, "oracle_ratio_stderr": 0.0,
     "regret_mean": 0.0, "regret_stderr": 0.0,
     "realised_aou_mean": 0.0, "realised_aou_stderr": 0.0,
     "exploration_share": 0.0, "proved_share": 1.0,
     "started_share": 1.0, "deferred_mean": 0.0, "jain_mean": 1.0,
     "jct_mean": null, "jct_stderr": null, "jct_p50": null, "jct_p99": null,
     "wait_mean": null, "makespan_mean": null, "jct_max": null,
     "jct_median_seed": null, "jct_worst_seed": null,
     "jct_to_oracle_mean": null, "jct_to_oracle_stderr": null,
     "jct_to_first_mean": null, "jct_to_first_low": null, "jct_to_first_high": null,
     "wait_stderr": null, "wait_p50": null, "wait_p99": null, "wait_max": null,
     "oldest_waiting": null, "never_started_mean": null, "throughput": null,
     "lost_to_reservations": null, "lost_to_holds": null,
     "backlog_slope": null, "queue": null, "unstable": null, "utilisation": [0.0],
     "decision_us_p50": 0.0, "decision_us_p99": 0.0}]}
`aou` is the sum over the slots of the expected net utility of what was chosen,
`oracle_ratio` that divided by the omniscient oracle's on the same arrivals, `regret` their
difference. `build` names the commit, compiler and target that made the result. `notes` are
sentences about the result, such as that a policy beats the oracle.
What does not apply is null: the standard error of one seed, the exploration of a policy that
learns nothing, the proofs of one that solves nothing. Completion times (`jct`), waiting and
makespan are in slots, and null where jobs last one slot. Where they wait and hold their devices
(`jobs.held`), the oracle ratio and regret are null; `jct_to_oracle` is how much longer jobs take
than under the oracle, `jct_to_first` the same against the first policy other than the oracle with its 95 %
interval, `queue` is "stable", "growing" or "undecided", `unstable` the same as
false, true or null, `load` has the share of the capacity that any rule needs, and every policy
has its `ports` and its `queue_length` over time. docs/results.md has the rules.
The same scenario and seeds give the same numbers, times aside, on any number of
threads.

Ctrl-C stops between slots; the files then cover the seeds that are done, `complete` is
false and the exit code is 130.

Examples:
  esdp run
  esdp run my.toml --policies esdp,cts --seeds 20 --slots 8000
  esdp run --preset literal --format json > literal.json
  esdp run --preset drift --expect 'esdp-drift.oracle_ratio_mean>=0.94'
  esdp run --per-slot csv --out out/detail
  esdp run --suite --seed 5000 --policies esdp,esdp-index"#;

/// Simulates one scenario under several policies and seeds.
///
/// Prints a table and writes the numbers, the resolved scenario and an HTML report.
#[derive(Debug, Default, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp run --help` for the files, the formats and examples."
)]
pub struct RunArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    common: CommonArgs,
    /// Run all the scenarios that policies are judged by, and print one table
    #[arg(long, conflicts_with_all = ["file", "preset", "per_slot", "expect"])]
    suite: bool,
    /// Also record every slot
    #[arg(long, value_enum, value_name = "FORM")]
    per_slot: Option<PerSlot>,
    /// A threshold, such as 'esdp.oracle_ratio_mean>=0.98'; exit code 1 if one is not met
    #[arg(long, value_name = "THRESHOLD")]
    expect: Vec<Expectation>,
}

/// The flags of every command that simulates.
#[derive(Debug, Clone, Default, Args)]
pub struct CommonArgs {
    /// How many threads [default: one per core]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = output::whole(1, 1024_usize))]
    pub(crate) jobs: Option<usize>,
    /// The directory for the results
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResultFormat,
    /// No progress and no notes on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ResultFormat {
    /// For people
    #[default]
    Table,
    /// For programs: one JSON document
    Json,
    /// For spreadsheets: the lines of the CSV file
    Csv,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: bad input, a failure, an interruption, or a threshold that was not met.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    if args.suite {
        return suite::run(&args.source, &args.common);
    }
    let scenario = args.source.scenario()?;
    for expectation in &args.expect {
        if let Some(point) = &expectation.point {
            anyhow::bail!(
                "--expect {expectation}: `{point}` is a point of a sweep, but this is a single run"
            );
        }
        expectation.check(scenario.policies().iter().map(|policy| policy.label.as_str()), &KEYS)?;
    }
    let out = args.common.out.clone().unwrap_or_else(|| args.source.default_out(&scenario));
    let quiet = args.common.quiet;
    if !quiet {
        scenario.warnings()?.iter().for_each(|warning| output::warn(warning));
    }
    files::directory(&out)?;
    let slots = args.per_slot.map(|form| Slots::new(form, &out)).transpose()?;
    let (policies, seeds) = (scenario.policies(), scenario.seeds());
    let sink = slots.as_ref().map(|slots| {
        move |unit: usize, policy: usize| slots.sink(seeds[unit], policy, &policies[policy].label)
    });
    let outcome = simulate(&scenario, &args.common, sink.as_ref().map(|sink| sink as &MakeSink<'_>));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            drop(slots);
            // Removed if it is empty only: it may hold an earlier result.
            let _ = std::fs::remove_dir(&out);
            return Err(error);
        }
    };
    keep_other(&out, &scenario, quiet)?;
    // What an earlier run left would not belong to this one.
    for stale in [PerSlot::Csv, PerSlot::Jsonl] {
        let _ = std::fs::remove_file(out.join(stale.file()));
    }
    let mut written = Vec::new();
    if let Some(slots) = slots {
        slots.join(&outcome.seeds, outcome.policies.len())?;
        written.extend(args.per_slot.map(PerSlot::file));
    }
    let (format, expect) = (args.common.format, args.expect.as_slice());
    report(
        &RunResults::new(scenario, outcome),
        &Reporting { format, out: &out, expect, quiet, written: &written },
    )
}

/// Moves the result of another scenario out of the way, and says so.
fn keep_other(out: &Path, scenario: &Scenario, quiet: bool) -> anyhow::Result<()> {
    let earlier = std::fs::read_to_string(out.join("scenario.toml"));
    let is_sweep = out.join("sweep.json").exists();
    let Some(earlier) = earlier.ok().filter(|earlier| is_sweep || *earlier != resolved(scenario)) else {
        return Ok(());
    };
    let what = match Scenario::from_toml(&earlier) {
        Ok(_) if is_sweep => "a sweep".to_owned(),
        Ok(other) => {
            format!("{}, {} slots, seeds {}", other.name(), other.slots(), seeds_in_words(other.seeds()))
        }
        Err(_) => "unknown".to_owned(),
    };
    let place = files::keep_earlier(out, &[])?;
    if !quiet {
        output::note(&format!(
            "{} held another result ({what}): moved to {}",
            out.display(),
            place.display()
        ));
    }
    Ok(())
}

/// How a result is told.
pub(crate) struct Reporting<'a> {
    /// On standard output.
    pub(crate) format: ResultFormat,
    /// The directory of the files.
    pub(crate) out: &'a Path,
    /// What must be reached.
    pub(crate) expect: &'a [Expectation],
    /// No notes on standard error.
    pub(crate) quiet: bool,
    /// The files that are there already.
    pub(crate) written: &'a [&'a str],
}

/// Writes and prints the result of a run; an error where it is not complete or not good enough.
///
/// # Errors
/// When a file cannot be written, seeds are missing, or a threshold was not met.
pub(crate) fn report(results: &RunResults, how: &Reporting<'_>) -> anyhow::Result<()> {
    let written = write(how.out, results)?;
    print(how, results, &written)?;
    if !how.quiet {
        results.notes().iter().for_each(|note| output::note(note));
    }
    let outcome = results.outcome();
    if !outcome.is_complete() {
        let (done, asked, out) = (outcome.seeds.len(), outcome.asked.len(), how.out.display());
        return Err(End::Interrupted(format!("{done} of {asked} seeds are done, and in {out}")).into());
    }
    check(how.expect, results)
}

/// Simulates a scenario under its policies and seeds, with progress and until Ctrl-C.
///
/// # Errors
/// When a run fails, or was interrupted before any seed was complete.
pub(crate) fn simulate(
    scenario: &Scenario,
    common: &CommonArgs,
    record: Option<&MakeSink<'_>>,
) -> anyhow::Result<RunOutcome> {
    let (policies, seeds) = (scenario.policies(), scenario.seeds());
    let work = scenario.slots().saturating_mul((policies.len() * seeds.len()) as u64);
    let progress = Progress::new(work, common.quiet);
    progress.message(format!("{} policies, {} seeds", policies.len(), seeds.len()));
    let advance = |slots| progress.advance(slots);
    let options = Options {
        jobs: common.jobs.unwrap_or(0),
        cancel: interrupt::on_ctrl_c(),
        progress: &advance,
        record,
        ..Options::default()
    };
    let outcome = engine::simulate(scenario, &Contender::of(scenario), scenario.slots(), seeds, &options);
    progress.finish();
    let outcome = outcome?;
    if outcome.seeds.is_empty() {
        return Err(End::Interrupted("no seed was complete, so nothing was written".to_owned()).into());
    }
    Ok(outcome)
}

const REPORT: &str = "report.html";

/// Writes the files, and says which beside the report.
fn write(out: &Path, results: &RunResults) -> anyhow::Result<Vec<&'static str>> {
    let report = results.report(&[]).meta("Command", output::command_line());
    let files = [
        ("summary.json", provenance::json(results)?),
        ("summary.csv", results.csv()),
        ("seeds.csv", results.seeds_csv()),
        ("ports.csv", results.ports_csv()),
        ("curves.csv", results.curves_csv()),
        ("estimates.csv", results.estimates_csv()),
        ("cluster.json", results.cluster_json()?),
        ("scenario.toml", resolved(results.scenario())),
        (REPORT, provenance::page(report)),
    ];
    files.iter().try_for_each(|(name, text)| files::write(&out.join(name), text))?;
    Ok(files.iter().map(|(name, _)| *name).filter(|name| *name != REPORT).collect())
}

fn print(how: &Reporting<'_>, results: &RunResults, written: &[&str]) -> anyhow::Result<()> {
    match how.format {
        ResultFormat::Json => output::print_json(&stamped(results)),
        ResultFormat::Csv => output::print(&results.csv()),
        ResultFormat::Table => {
            let (report, width) = (how.out.join(REPORT), output::width());
            let table = results.table_within(width, output::colour());
            let found: String =
                results.found().lines().map(|line| wrapped(line, width.min(WIDEST)) + "\n").collect();
            let written = [written, how.written].concat().join(", ");
            let written = wrapped(&format!("Also written: {written}"), width.min(WIDEST));
            output::print_around(&format!("{table}{found}\nReport: "), &report, &format!("\n{written}\n"))
        }
    }
}

/// Sentences are not wider, however wide the terminal is.
const WIDEST: usize = 80;

/// Compares the thresholds.
fn check(expectations: &[Expectation], results: &RunResults) -> anyhow::Result<()> {
    let complaint = |expectation: &Expectation| {
        let row = results.rows().iter().find(|row| row.name == expectation.policy)?;
        expectation.complaint(None, row.get(&expectation.key)?)
    };
    let unmet: Vec<String> = expectations.iter().filter_map(complaint).collect();
    if unmet.is_empty() { Ok(()) } else { Err(End::Unmet(unmet).into()) }
}
