//! `esdp scenario check`: whether files are scenarios, and what in them can hardly be meant.

use crate::output::{self, OutputFormat};
use crate::source;
use clap::Args;
use esdp::scenario::Scenario;
use serde::Serialize;
use std::path::{Path, PathBuf};

const DETAILS: &str = r#"Output of --format json, one JSON document:
  {"ok": false, "files": [{"file": "my.toml", "ok": false, "warnings": [], "errors": ["..."]}]}
Warnings are what is accepted and can hardly be meant, such as an outage after the last slot or
a job that fits on no server. The exit code is 2 if a file is not a scenario."#;

#[derive(Debug, Args)]
#[command(after_long_help = DETAILS)]
pub(super) struct CheckArgs {
    /// The files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Document {
    ok: bool,
    files: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    file: String,
    ok: bool,
    warnings: Vec<String>,
    errors: Vec<String>,
}

/// Checks files one by one; as JSON all of them, else up to the first that is no scenario.
pub(super) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    if args.format == OutputFormat::Table {
        return args.files.iter().try_for_each(|file| {
            let (scenario, warnings) = checked(file)?;
            warnings.iter().for_each(|warning| output::warn(&format!("{}: {warning}", file.display())));
            output::print(&format!("{}: ok, {}\n", file.display(), told(&scenario)))
        });
    }
    let (mut first, mut files) = (None, Vec::new());
    for file in &args.files {
        let (warnings, error) = match checked(file) {
            Ok((_, warnings)) => (warnings, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let errors: Vec<String> = error.iter().map(|error| format!("{error:#}")).collect();
        files.push(Checked { file: file.display().to_string(), ok: errors.is_empty(), warnings, errors });
        first = first.or(error);
    }
    output::print_json(&Document { ok: first.is_none(), files })?;
    first.map_or(Ok(()), Err)
}

/// A scenario, built once as a run does it, since a text cannot tell everything; and its warnings.
fn checked(file: &Path) -> anyhow::Result<(Scenario, Vec<String>)> {
    let scenario = source::from_file(file)?;
    let built = scenario.setting(scenario.seeds()[0]).and_then(|_| scenario.warnings());
    let warnings = built.map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    Ok((scenario, warnings))
}

/// A scenario in a few words.
fn told(scenario: &Scenario) -> String {
    let graph = &scenario.spec().graph;
    let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    [
        plural(graph.ports.count(), "port"),
        plural(scenario.servers(), "server"),
        plural(scenario.slots(), "slot"),
        plural(scenario.seeds().len() as u64, "seed"),
        format!("{} policies", scenario.policies().len()).replace("1 policies", "1 policy"),
    ]
    .join(", ")
}
