//! `esdp scenario`, `esdp presets`, `esdp policies`: what can be written in a scenario, and what comes with
//! the program.
//!
//! The keys come from the types that read a scenario, by way of their JSON Schema
//! ([`esdp::scenario::schema`]).

mod check;
mod keys;
mod lists;
mod reference;
mod words;

pub use keys::{Key, keys};
pub use lists::{ListArgs, run_policies, run_presets};
pub use reference::reference;

use crate::output::{self, OutputFormat};
use crate::source;
use anyhow::Context;
use clap::{Args, Subcommand};
use esdp::scenario::{Scenario, presets, schema};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  esdp scenario show default > my.toml       start from a preset
  esdp scenario check my.toml                say what is wrong with it
  esdp scenario keys arrivals                which keys there are
  esdp scenario schema > scenario.schema.json
  esdp run my.toml

An editor that knows JSON Schema completes and checks the keys if the file's first line is
  #:schema ./scenario.schema.json";

/// Shows, checks and explains scenarios: the files that `esdp run` and others read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ScenarioArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print a scenario as TOML: a preset as it was written, a file with every default
    Show(ShowArgs),
    /// Say whether files are scenarios
    Check(check::CheckArgs),
    /// List the keys: type, accepted values, unit, default, and what they mean
    Keys(KeysArgs),
    /// Print the JSON Schema (draft 2020-12) of scenarios, for editors
    Schema,
    /// Print the reference of all keys, as Markdown
    Reference,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// A preset's name or a TOML file; `-` is standard input
    #[arg(value_name = "NAME|FILE")]
    scenario: PathBuf,
    /// A preset with every default too
    #[arg(long)]
    resolved: bool,
}

#[derive(Debug, Args)]
struct KeysArgs {
    /// Only keys that start so, such as `speeds.drift`, or, if none does, have it in them, such as `kinds`
    #[arg(value_name = "PART")]
    part: Option<String>,
    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// With one sentence: what is wrong with a scenario, or which name is unknown.
pub fn run(args: &ScenarioArgs) -> anyhow::Result<()> {
    match &args.action {
        Action::Show(args) => output::print(&shown(args)?),
        Action::Check(args) => check::run(args),
        Action::Keys(args) => print_keys(args),
        Action::Schema => output::print(&schema_text()),
        Action::Reference => output::print(&reference()),
    }
}

/// The schema as a file has it.
pub fn schema_text() -> String {
    let text = serde_json::to_string_pretty(&schema()).expect("a JSON value can be written");
    text + "\n"
}

fn shown(args: &ShowArgs) -> anyhow::Result<String> {
    let name = args.scenario.to_str();
    let preset = presets().iter().find(|preset| Some(preset.0) == name && !Path::new(preset.0).is_file());
    match preset {
        Some((_, text)) if !args.resolved => Ok((*text).to_owned()),
        Some((name, text)) => {
            Ok(Scenario::from_toml(text).with_context(|| format!("preset {name}"))?.to_toml())
        }
        None if !args.scenario.exists() && args.scenario.extension().is_none() && name != Some("-") => {
            anyhow::bail!(
                "{}: neither a file nor a preset; `esdp presets` lists them",
                args.scenario.display()
            )
        }
        None => Ok(source::from_file(&args.scenario)?.to_toml()),
    }
}

fn print_keys(args: &KeysArgs) -> anyhow::Result<()> {
    let part = args.part.as_deref().unwrap_or_default();
    let all = keys(&schema());
    let which = |is: fn(&str, &str) -> bool| all.iter().filter(|key| is(&key.key, part)).collect::<Vec<_>>();
    let mut chosen = which(|key, part| key.starts_with(part));
    if chosen.is_empty() {
        chosen = which(|key, part| key.contains(part));
    }
    if chosen.is_empty() {
        anyhow::bail!("no key has `{part}` in it; `esdp scenario keys` lists all of them");
    }
    match args.format {
        OutputFormat::Json => output::print_json(&chosen),
        OutputFormat::Table => {
            let said = |key: &&Key| words::block(&headed(key), &key.description, &key.values);
            output::print(&chosen.iter().map(said).collect::<String>())
        }
    }
}

/// A key with what may stand there: its type, range, unit and default.
fn headed(key: &Key) -> String {
    let of = key.of.as_ref().map(|of| format!(" ({of})")).unwrap_or_default();
    let default = match (key.required, &key.default) {
        (true, _) => Some("required".to_owned()),
        (false, default) => default.as_ref().map(|default| format!("default {default}")),
    };
    let unit = key.unit.as_ref().map(|unit| format!("in {unit}"));
    let told = [Some(key.kind.clone()), key.range.clone(), unit, default];
    format!("{}{of}: {}", key.key, told.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
