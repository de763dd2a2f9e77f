//! `esdp reproduce`: every figure and claim of the paper's evaluation section.
//!
//! | file | subject |
//! |---|---|
//! | `catalogue` | the figures: names, captions, what they need |
//! | `source`, `scale` | what is simulated for them: the presets, at full or quick size |
//! | `contenders`, `trace` | by whom; the scenarios of the trace |
//! | `measure` | simulating, and going on after an interruption |
//! | `evidence`, `draw` | the results, and the figures drawn from them |
//! | `reading` | what the paper leaves open, and how it may be read |
//! | `claims` | the paper's claims, judged from the results by stated rules, under every reading |
//! | `page` | the report and the table |

mod catalogue;
mod claims;
mod contenders;
mod draw;
mod evidence;
mod measure;
mod page;
mod reading;
mod scale;
mod source;
mod trace;

use crate::exit::End;
use crate::output::OutputFormat;
use crate::progress::Progress;
use crate::{figures, files, output, provenance, store};
use anyhow::Context;
use catalogue::Entry;
use claims::Judged;
use clap::Args;
use esdp::scenario::Scenario;
use esdp_engine::seeds_in_words;
use evidence::Evidence;
use measure::{Known, Task};
use page::EntryFigures;
use scale::Scale;
use serde::{Deserialize, Serialize};
use serde_json::json;
use source::Order;
use std::path::{Path, PathBuf};

const DETAILS: &str = "\
Files in --out (`out/reproduce`, or `out/reproduce-quick` with --quick, by default):
  report.html            all figures, the claims, the scenarios, complete in one file
  FIGURE.svg .png .csv   each figure; the CSV has series, x, y and standard error
  claims.csv, claims.json  each claim, what was measured, the rule and the verdict, under every
                         reading of the paper that makes a difference
  readings.csv           how many claims each reading makes true
  scenarios/             the resolved scenario of each figure, for `esdp run` and `esdp sweep`
  parts/                 what is done; an interrupted reproduction resumes from there

The full size takes 10 seeds, 8000 slots over time and 2000 slots per point elsewhere. Decisions
are timed with fewer, one at a time, because the paper's own program takes milliseconds for each.

Output of --format json, one JSON document:
  {\"version\": \"...\", \"quick\": false, \"report\": \"out/reproduce/report.html\",
   \"figures\": [{\"name\": \"aou\", \"files\": [\"aou.svg\", ...]}],
   \"claims\": [{\"id\": \"...\", \"figure\": \"aou\", \"claim\": \"...\", \"rule\": \"...\",
     \"measured\": \"...\", \"value\": 0.0, \"stderr\": 0.0, \"unit\": \"%\", \"verdict\": \"partly\",
     \"readings\": [{\"reading\": \"HAUF by channel\", \"measured\": \"...\", \"value\": 0.0,
       \"stderr\": 0.0, \"verdict\": \"reproduced\"}]}],
   \"readings\": [{\"reading\": \"...\", \"reproduced\": 0, \"partly\": 0, \"not\": 0, \"unclear\": 0}]}

Examples:
  esdp reproduce --quick
  esdp reproduce delta g
  esdp reproduce trace --trace machine_meta.csv --trace batch_task.csv
  esdp reproduce --jobs 4 --out results";

/// Reproduces the figures and claims of the paper's evaluation.
///
/// Simulates what each figure needs, draws it, and judges every claim of the evaluation
/// section from the data.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp reproduce --help` for the files and examples.")]
pub struct ReproduceArgs {
    /// Which figures, see --list [default: all]
    #[arg(value_name = "FIGURE")]
    figures: Vec<String>,
    /// List the figures and stop
    #[arg(long)]
    list: bool,
    /// Few seeds and short horizons: about a minute
    #[arg(long)]
    quick: bool,
    /// How many seeds
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = output::whole(1, 1_000_000_u64))]
    seeds: Option<u64>,
    /// How many slots, over time and elsewhere alike
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    #[arg(value_parser = output::whole(1, 1_000_000_u64))]
    slots: Option<u64>,
    /// Files of a real trace for the figure `trace`, plain or gzip: machines and tasks, as
    /// `esdp trace scenario` reads them [default: the built-in trace]
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// How many threads [default: one per core]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = output::whole(1, 1_000_000_u64))]
    jobs: Option<u64>,
    /// The directory for the results
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: an unknown figure, a failure, or an interruption.
pub fn run(args: &ReproduceArgs) -> anyhow::Result<()> {
    let figures = catalogue::select(&args.figures)?;
    if args.list {
        return list(&figures, args.format);
    }
    let scale = if args.quick { Scale::QUICK } else { Scale::FULL }.with(args.seeds, args.slots);
    let name = if args.quick { "out/reproduce-quick" } else { "out/reproduce" };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(name));
    files::directory(&out.join(store::DIRECTORY))?;
    let mut evidence = Evidence::default();
    let order = Order { scale, trace: args.trace.clone() };
    let scenarios = measure(args, &figures, &order, &out, &mut evidence)?;
    let drawn = drawn(&figures, &evidence);
    keep_other(&drawn, &scenarios, &out, args.quiet)?;
    drawn.iter().flat_map(|entry| &entry.figures).try_for_each(|figure| figures::save(figure, &out))?;
    let claims = claims::judge(&evidence);
    write(args, scale, &out, &drawn, &claims, &scenarios)?;
    let report = out.join("report.html");
    match args.format {
        OutputFormat::Json => {
            output::print_json(&provenance::stamped(&document(args, &report, &drawn, &claims)))
        }
        OutputFormat::Table => {
            let names: Vec<&str> = drawn.iter().map(|drawn| drawn.entry.name).collect();
            let mut seeds: Vec<u64> = scenarios.iter().flat_map(Scenario::seeds).copied().collect();
            seeds.sort_unstable();
            seeds.dedup();
            let seeds = seeds_in_words(&seeds);
            let figures = if names.len() == 1 { "figure" } else { "figures" };
            let head = format!("{} {figures}, seeds {seeds}: {}\n", names.len(), names.join(", "));
            let before = format!("{}\n{}\nReport: ", wrapped(&head), page::terminal(&claims));
            output::print_around(&before, &report, "\n")
        }
    }
}

fn list(figures: &[&Entry], format: OutputFormat) -> anyhow::Result<()> {
    if format == OutputFormat::Json {
        let each = |figure: &&Entry| json!({"name": figure.name, "caption": figure.caption});
        return output::print_json(&figures.iter().map(each).collect::<Vec<_>>());
    }
    let lines = figures.iter().map(|figure| format!("{:<16}{}\n", figure.name, figure.caption));
    output::print(&lines.collect::<String>())
}

/// Simulates every source that the figures need; returns their scenarios.
fn measure(
    args: &ReproduceArgs,
    figures: &[&'static Entry],
    order: &Order,
    out: &Path,
    evidence: &mut Evidence,
) -> anyhow::Result<Vec<Scenario>> {
    let sources = catalogue::sources(figures);
    let task = |&source: &source::Source| Ok(Task { source, places: source.places(order)? });
    let tasks = sources.iter().map(task).collect::<anyhow::Result<Vec<_>>>()?;
    let resolved = tasks.iter().map(|task| task.source.resolved(order, &task.places));
    let scenarios = resolved.collect::<anyhow::Result<Vec<_>>>()?.concat();
    let stored: Vec<Vec<Known>> = tasks.iter().map(|task| task.stored(out)).collect();
    let work = tasks.iter().zip(&stored).map(|(task, stored)| task.work(stored)).sum();
    let progress = Progress::new(work, args.quiet);
    let jobs = usize::try_from(args.jobs.unwrap_or(0)).context("--jobs")?;
    for (done, (task, stored)) in tasks.iter().zip(stored).enumerate() {
        let Some(points) = task.run(stored, out, jobs, &progress)? else {
            progress.finish();
            let all = tasks.len();
            let sentence = format!(
                "{done} of {all} sets of simulations are complete; the same command resumes from there"
            );
            return Err(End::Interrupted(sentence).into());
        };
        evidence.add(task.source, points);
    }
    progress.finish();
    Ok(scenarios)
}

fn drawn(figures: &[&'static Entry], evidence: &Evidence) -> Vec<EntryFigures> {
    figures.iter().map(|&entry| EntryFigures { entry, figures: (entry.draw)(evidence) }).collect()
}

/// What a directory holds a reproduction of: times differ from run to run, and this does not.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reproduction {
    figures: Vec<String>,
    scenarios: Vec<String>,
    /// The files beside those that every reproduction has.
    files: Vec<String>,
}

/// The file of a [`Reproduction`].
const HELD: &str = "reproduction.json";

/// Moves the reproduction of other figures, seeds or slots out of the way, and says so.
fn keep_other(drawn: &[EntryFigures], scenarios: &[Scenario], out: &Path, quiet: bool) -> anyhow::Result<()> {
    let names = drawn.iter().flat_map(|entry| figures::names(&entry.figures));
    let own = scenarios.iter().map(|scenario| format!("scenarios/{}.toml", scenario.name()));
    let held = Reproduction {
        figures: drawn.iter().map(|entry| entry.entry.name.to_owned()).collect(),
        scenarios: scenarios.iter().map(Scenario::to_toml).collect(),
        files: names.chain(own).collect(),
    };
    let text = serde_json::to_string_pretty(&held)? + "\n";
    let earlier = std::fs::read_to_string(out.join(HELD)).ok();
    let earlier = earlier.and_then(|earlier| serde_json::from_str::<Reproduction>(&earlier).ok());
    let also = earlier.map(|earlier| earlier.files).unwrap_or_default();
    files::keep_unless_same(out, (HELD, &text), &also, quiet)?;
    files::write(&out.join(HELD), text)
}

fn write(
    args: &ReproduceArgs,
    scale: Scale,
    out: &Path,
    drawn: &[EntryFigures],
    claims: &[Judged],
    scenarios: &[Scenario],
) -> anyhow::Result<()> {
    let directory = out.join("scenarios");
    files::directory(&directory)?;
    for scenario in scenarios {
        files::write(&directory.join(format!("{}.toml", scenario.name())), scenario.to_toml())?;
    }
    files::write(&out.join("claims.csv"), claims::csv(claims))?;
    files::write(&out.join("readings.csv"), claims::tallies_csv(claims))?;
    files::write(&out.join("claims.json"), serde_json::to_string_pretty(claims)? + "\n")?;
    files::write(&out.join("report.html"), page::render(scale, args.quick, drawn, claims, scenarios))
}

fn document(
    args: &ReproduceArgs,
    report: &Path,
    drawn: &[EntryFigures],
    claims: &[Judged],
) -> serde_json::Value {
    let figure = |drawn: &EntryFigures| {
        let names = drawn.figures.iter().flat_map(|figure| {
            ["svg", "png", "csv"].map(|extension| format!("{}.{extension}", figure.file_stem()))
        });
        json!({"name": drawn.entry.name, "files": names.collect::<Vec<_>>()})
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "quick": args.quick,
        "report": report.display().to_string(),
        "figures": drawn.iter().map(figure).collect::<Vec<_>>(),
        "claims": claims,
        "readings": claims::tallies(claims),
    })
}

/// A text in lines of at most 80 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > 80 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}
