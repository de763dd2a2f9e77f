//! `esdp trace describe`: what is in a trace.

use super::input::{Account, InputArgs};
use super::{page, table};
use crate::output::{self, OutputFormat};
use crate::{files, provenance};
use clap::Args;
use esdp_trace::summary::{TraceDescription, TraceSummary};
use serde::Serialize;
use std::path::PathBuf;

const DETAILS: &str = r#"Several files are described together: a machine table and its tasks, or
speeds of jobs alone and of jobs that share a machine. Dirty rows are counted by reason, shown, and
skipped or repaired by the rule that is shown with them; --strict makes the first one an error.

Output of --format json, one JSON document:
  {"files": [{"file": "...", "format": "...", "rows": 0, "clean": 0, "repaired": 0, "skipped": 0,
              "set_aside": 0, "reasons": [{"reason": "no-end", "rule": "...", "count": 0,
              "first_line": 1, "first_column": 1, "first_value": "0", ...}]}],
   "machines": {...}, "tasks": {...}, "instances": {...}, "speeds": {...}}
A part that the files do not have is null. Times are in seconds; `variance_over_mean` of
arrivals is 1 for a Poisson process.

Files in --out: report.html (complete in one file), describe.json, and each figure as SVG, PNG
and CSV.

Examples:
  esdp trace describe machine_meta.csv batch_task.csv.gz
  esdp trace describe --format json jobs.swf | jq .tasks.jobs.per_minute
  esdp trace describe isolated.csv colocated.csv --out out/gavel
  esdp trace describe --from hour-tasks --strict tasks.csv"#;

/// Describes a trace: machines, arrivals, requests, durations, speeds.
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp trace describe --help` for the output and examples."
)]
pub(super) struct DescribeArgs {
    #[command(flatten)]
    input: InputArgs,
    /// A directory for a page with figures
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The document.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    version: &'static str,
    pub(super) files: Vec<Account>,
    #[serde(flatten)]
    pub(super) told: TraceDescription,
}

pub(super) fn run(args: &DescribeArgs) -> anyhow::Result<()> {
    let mut summary = TraceSummary::default();
    let files = args.input.read(&mut summary)?;
    let document = Document { version: env!("CARGO_PKG_VERSION"), files, told: summary.finish() };
    let mut text = table::render(&document);
    if let Some(out) = &args.out {
        files::directory(out)?;
        let figures = page::figures(&document.told);
        let report = out.join("report.html");
        files::write(&report, page::render(&document, &args.input.titles(), &figures))?;
        files::write(&out.join("describe.json"), provenance::json(&document)?)?;
        figures.iter().try_for_each(|figure| crate::figures::save(figure, out))?;
        text += &format!("\nReport: {}\n", report.display());
    }
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&document)),
        OutputFormat::Table => output::print(&text),
    }
}
