//! `esdp sweep`: a scenario at many points, in parallel, resumable, in shards.
//!
//! Every (point, seed) pair is a part in a file of its own. Results are always made from the parts,
//! so a sweep that was interrupted and resumed, or split in shards and merged, gives the
//! bytes of one that ran through.

mod saved;
mod shard;

pub use shard::Shard;

use crate::exit::End;
use crate::expect::Expectation;
use crate::progress::Progress;
use crate::run::{CommonArgs, ResultFormat};
use crate::source::SourceArgs;
use crate::{files, interrupt, output, provenance, store};
use anyhow::bail;
use clap::{Args, Subcommand};
use esdp::sim::Spacing;
use esdp_engine::results::resolved;
use esdp_engine::rows::KEYS;
use esdp_engine::sweep::{Piece, SweepPlan, SweepPoint, SweepResults, SweepRow, Vary};
use esdp_engine::{self as engine, Options, Thinning, Unit};
use std::path::{Path, PathBuf};

/// So many points are looked at before anything runs: clusters are built for it.
const MOST_WARNED: usize = 20;

const DETAILS: &str = r#"Keys are those of the scenario, with dots: arrivals.rho, graph.count,
devices.capacity, slots, policies.esdp-index.kappa; an entry of a list by its name or its position:
servers.kinds.a100.count, gangs.list.0.minimum. Values are written as in TOML, or as a range:
0.1..1.0:0.1 in steps, 1..1000:*10 by a factor. Several --vary give every combination. A scenario or
preset with a [sweep] table needs none.

Files in --out (`out/`, the scenario's name and `-sweep`, by default):
  sweep.csv      one line per point and policy; the timing columns decision_us_* vary between runs
  seeds.csv      one line per point, policy and seed: every number, for tests of your own
  sweep.json     the document that --format json prints
  report.html    one figure per metric, heat maps of two keys, complete in one file
  scenario.toml  the scenario before anything is varied
  plan.json, parts/   what is done: the same command resumes where it stopped
A sweep with more values or seeds goes on with what is there. The files of any other result in
the directory move to the same name with `-1`, or the next number that is free; parts stay, for
each is named by what it was made from.

Output of --format json, one JSON document:
  {"version": "...", "scenario": {...}, "vary": [{"key": "arrivals.rho", "values": ["0.5"]}],
   "complete": true,
   "rows": [{"at": {"arrivals.rho": 0.5}, "slots": 2000, "seeds": [0, 1], "name": "esdp",
             ...the numbers of `esdp run --format json`...}]}

A sweep that is too large for one machine: `--shard I/N`, I from 0 to N-1, computes one part of
the work on each, `esdp sweep merge` merges their directories. See docs/cluster.md.

Examples:
  esdp sweep --preset rho
  esdp sweep my.toml --vary arrivals.rho=0.1..0.9:0.2 --vary slots=500,2000
  esdp sweep --preset default --vary policies.esdp-index.kappa=0.1,0.25,0.5 --policies esdp-index
  esdp sweep --preset rho --expect 'rho=0.5:esdp.oracle_ratio_mean>=0.97'
  esdp sweep --preset edges --shard 0/4 --out out/edges-0
  esdp sweep merge out/edges-0 out/edges-1 out/edges-2 out/edges-3 -o out/edges"#;

/// Runs a scenario at many points: a parameter sweep, parallel and resumable.
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp sweep --help` for the keys, the files and examples."
)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "merge")]
pub struct SweepArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    source: SourceArgs,
    /// What to vary: a key of the scenario and its values or a range
    #[arg(long, value_name = "KEY=V1,V2,...")]
    vary: Vec<Vary>,
    /// Compute one part of the work: part I, from 0, of N
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    common: CommonArgs,
    /// A threshold, such as 'rho=0.5:esdp.oracle_ratio_mean>=0.9'; without a point, at every point
    #[arg(long, value_name = "THRESHOLD")]
    expect: Vec<Expectation>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Merge(MergeArgs),
}

/// Merges the shards of a sweep into one result.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The --out directories of the shards
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// The directory for the result
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: ResultFormat,
    /// A threshold; see `esdp sweep --help`
    #[arg(long, value_name = "THRESHOLD")]
    expect: Vec<Expectation>,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: bad input, a failure, an interruption, or a threshold that was not met.
pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    match &args.action {
        Some(Action::Merge(args)) => merge(args),
        None => sweep(args),
    }
}

fn sweep(args: &SweepArgs) -> anyhow::Result<()> {
    let plan = saved::plan(args.source.scenario()?, args.vary.clone())?;
    check(&args.expect, &plan)?;
    if args.shard.is_some() && !args.expect.is_empty() {
        bail!("--expect: a shard is only a part, give thresholds to `esdp sweep merge`");
    }
    if !args.common.quiet {
        warn(&plan)?;
    }
    let out = args.common.out.clone().unwrap_or_else(|| default_out(args, &plan));
    files::directory(&out.join(store::DIRECTORY))?;
    saved::keep_other(&plan, &out, args.common.quiet)?;
    saved::save(&plan, &out)?;
    let pieces = plan.pieces();
    let mine: Vec<&Piece> = match args.shard {
        Some(shard) => {
            pieces.iter().enumerate().filter(|(at, _)| shard.has(*at)).map(|(_, piece)| piece).collect()
        }
        None => pieces.iter().collect(),
    };
    let done = compute(&plan, &mine, &out, &args.common)?;
    let interrupted = done < mine.len();
    match args.shard {
        Some(shard) => shard.print(args.common.format, done, mine.len(), &out)?,
        None => {
            let results = collect(plan, &pieces, std::slice::from_ref(&out));
            if results.rows().is_empty() && !interrupted {
                bail!("the parts in {} cannot be read back", out.display());
            }
            if !results.rows().is_empty() {
                finish(&results, &out, args.common.format)?;
            }
            if !interrupted {
                thresholds(&args.expect, &results)?;
            }
        }
    }
    if interrupted {
        let (all, out) = (mine.len(), out.display());
        let sentence = format!("{done} of {all} parts are done and kept in {out}; the same command resumes");
        return Err(End::Interrupted(sentence).into());
    }
    Ok(())
}

/// What all points say and can hardly mean. What only some say may be what the sweep is for.
fn warn(plan: &SweepPlan) -> anyhow::Result<()> {
    let mut said: Option<Vec<String>> = None;
    for point in plan.points.iter().take(MOST_WARNED) {
        let own = point.scenario.warnings()?;
        let common = match said {
            None => own,
            Some(said) => said.into_iter().filter(|warning| own.contains(warning)).collect(),
        };
        if common.is_empty() {
            return Ok(());
        }
        said = Some(common);
    }
    said.iter().flatten().for_each(|warning| output::warn(warning));
    Ok(())
}

fn merge(args: &MergeArgs) -> anyhow::Result<()> {
    let plan = saved::load(&args.directories)?;
    check(&args.expect, &plan)?;
    let pieces = plan.pieces();
    let missing: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| store::load(&args.directories, &piece.key, &plan.unit(piece)).is_none())
        .collect();
    if let Some(first) = missing.first() {
        let (count, all, place) = (missing.len(), pieces.len(), plan.points[first.point].name());
        bail!(
            "{count} of {all} parts are missing or damaged, the first is {place}, seed {}; run their shards \
             again",
            first.seed
        );
    }
    files::directory(&args.out)?;
    saved::keep_other(&plan, &args.out, false)?;
    saved::save(&plan, &args.out)?;
    let results = collect(plan, &pieces, &args.directories);
    finish(&results, &args.out, args.format)?;
    thresholds(&args.expect, &results)
}

fn default_out(args: &SweepArgs, plan: &SweepPlan) -> PathBuf {
    let mut name = args.source.default_out(&plan.base).into_os_string();
    name.push("-sweep");
    name.into()
}

/// Computes the parts that are not there yet and says how many of all are done then.
fn compute(plan: &SweepPlan, pieces: &[&Piece], out: &Path, common: &CommonArgs) -> anyhow::Result<usize> {
    let here = [out.to_owned()];
    let is_missing = |piece: &&&Piece| store::load(&here, &piece.key, &plan.unit(piece)).is_none();
    let missing: Vec<&Piece> = pieces.iter().filter(is_missing).copied().collect();
    let units: Vec<Unit<'_>> = missing.iter().map(|piece| plan.unit(piece)).collect();
    let progress = Progress::new(engine::work(&units), common.quiet);
    let there = pieces.len() - missing.len();
    let again = if there > 0 { format!(", {there} are there already") } else { String::new() };
    progress.message(format!("{} parts{again}", missing.len()));
    let advance = |slots| progress.advance(slots);
    let options = Options {
        jobs: common.jobs.unwrap_or(0),
        thinning: Thinning { points: 0, spacing: Spacing::Linear },
        cancel: interrupt::on_ctrl_c(),
        progress: &advance,
        record: None,
    };
    let stored = std::sync::atomic::AtomicUsize::new(there);
    let outcome = engine::each(&units, &options, &|at, runs| {
        store::store(out, &missing[at].key, &units[at], runs)?;
        stored.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    progress.finish();
    outcome?;
    Ok(stored.into_inner())
}

/// The result of all the parts that are there, a point at a time.
fn collect(plan: SweepPlan, pieces: &[Piece], directories: &[PathBuf]) -> SweepResults {
    let mut results = SweepResults::new(plan);
    for of_a_point in pieces.chunk_by(|one, next| one.point == next.point) {
        let load = |piece: &Piece| store::load(directories, &piece.key, &results.plan().unit(piece));
        let runs = of_a_point.iter().map(load).collect();
        results.add(of_a_point[0].point, runs);
    }
    results
}

/// Writes and prints the result.
fn finish(results: &SweepResults, out: &Path, format: ResultFormat) -> anyhow::Result<()> {
    files::write(&out.join("sweep.csv"), results.csv())?;
    files::write(&out.join("sweep.json"), provenance::json(results)?)?;
    files::write(&out.join("seeds.csv"), results.seeds_csv())?;
    files::write(&out.join("scenario.toml"), resolved(&results.plan().base))?;
    let report = results.report().meta("Command", output::command_line());
    files::write(&out.join("report.html"), provenance::page(report))?;
    match format {
        ResultFormat::Json => output::print_json(&provenance::stamped(results)),
        ResultFormat::Csv => output::print(&results.csv()),
        ResultFormat::Table => {
            let (table, report) = (results.table_within(output::width()), out.join("report.html"));
            let written = "sweep.csv, sweep.json, seeds.csv, scenario.toml";
            let after = format!("\nAlso written: {written}\n");
            output::print_around(&format!("{table}\nReport: "), &report, &after)
        }
    }
}

/// Checks, before anything is computed, that thresholds name what there is.
fn check(expectations: &[Expectation], plan: &SweepPlan) -> anyhow::Result<()> {
    for expectation in expectations {
        let wanted = expectation.point.as_deref();
        let mut labels = Vec::new();
        for point in plan.points.iter().filter(|point| wanted.is_none_or(|wanted| point.matches(wanted))) {
            labels.extend(point.scenario.policies().iter().map(|policy| policy.label.as_str()));
        }
        if labels.is_empty() {
            let first = plan.points.first().map(SweepPoint::name).unwrap_or_default();
            bail!("--expect {expectation}: the sweep has no such point, expected one like {first}");
        }
        labels.sort_unstable();
        labels.dedup();
        expectation.check(labels, &KEYS)?;
    }
    Ok(())
}

/// Compares the thresholds.
fn thresholds(expectations: &[Expectation], results: &SweepResults) -> anyhow::Result<()> {
    let mut unmet = Vec::new();
    for expectation in expectations {
        let here = |line: &&SweepRow| {
            let wanted = expectation.point.as_deref();
            line.row.name == expectation.policy
                && wanted.is_none_or(|wanted| results.point(line).matches(wanted))
        };
        for line in results.rows().iter().filter(here) {
            let value = line.row.get(&expectation.key);
            unmet.extend(value.and_then(|value| expectation.complaint(Some(&results.place(line)), value)));
        }
    }
    if unmet.is_empty() { Ok(()) } else { Err(End::Unmet(unmet).into()) }
}
