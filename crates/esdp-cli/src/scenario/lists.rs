//! `esdp presets` and `esdp policies`: what comes with the program.

use super::keys::{Key, keys};
use super::words::columns;
use crate::output::{self, OutputFormat};
use clap::Args;
use esdp::policy::PolicySpec;
use esdp::scenario::{Scenario, presets, schema};
use serde::Serialize;
use std::fmt::Write;

/// The flags of a command that lists something.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// How to print the list
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Preset {
    name: &'static str,
    description: String,
    slots: u64,
    seeds: usize,
}

/// Runs `esdp presets`.
///
/// # Errors
/// When standard output cannot be written.
pub fn run_presets(args: &ListArgs) -> anyhow::Result<()> {
    let preset = |&(name, text): &(&'static str, &str)| -> anyhow::Result<Preset> {
        let scenario = Scenario::from_toml(text)?;
        // A second name for a scenario says so.
        let description = match scenario.name() == name {
            true => scenario.description().to_owned(),
            false => format!("another name for {}", scenario.name()),
        };
        Ok(Preset { name, description, slots: scenario.slots(), seeds: scenario.seeds().len() })
    };
    let all = presets().iter().map(preset).collect::<anyhow::Result<Vec<_>>>()?;
    match args.format {
        OutputFormat::Json => output::print_json(&all),
        OutputFormat::Table => {
            let rows: Vec<[String; 2]> =
                all.into_iter().map(|preset| [preset.name.to_owned(), preset.description]).collect();
            let hint = "\n`esdp scenario show NAME` prints one, `esdp run --preset NAME` runs it.\n";
            output::print(&(columns(&rows) + hint))
        }
    }
}

#[derive(Serialize)]
struct PolicyEntry {
    name: &'static str,
    description: &'static str,
    parameters: Vec<Key>,
}

/// Runs `esdp policies`.
///
/// # Errors
/// When standard output cannot be written.
pub fn run_policies(args: &ListArgs) -> anyhow::Result<()> {
    let all = policies();
    match args.format {
        OutputFormat::Json => output::print_json(&all),
        OutputFormat::Table => {
            let mut text = String::new();
            for PolicyEntry { name, description, parameters } in &all {
                let _ = writeln!(text, "{name}: {description}");
                for Key { key, kind, default, range, description, .. } in parameters {
                    let default = default.as_ref().map(|default| format!(", default {default}"));
                    let range = range.as_ref().map(|range| format!(", {range}"));
                    let (default, range) = (default.unwrap_or_default(), range.unwrap_or_default());
                    let _ = writeln!(text, "    {key}: {kind}{range}{default}. {description}");
                }
            }
            text.push_str("\nIn a scenario: policies = [\"esdp\", { name = \"cts\", sigma = 0.2 }]\n");
            output::print(&text)
        }
    }
}

/// Every policy with its parameters; their keys are those inside of the policy's table.
fn policies() -> Vec<PolicyEntry> {
    let keys = keys(&schema());
    let entry = |policy: PolicySpec| {
        let of = format!("name = \"{}\"", policy.name());
        let own = keys.iter().filter(|key| key.of.as_ref() == Some(&of)).filter_map(|key| {
            let name = key.key.strip_prefix("policies[].")?.to_owned();
            Some(Key { key: name, of: None, ..key.clone() })
        });
        PolicyEntry { name: policy.name(), description: policy.summary(), parameters: own.collect() }
    };
    PolicySpec::all().into_iter().chain(PolicySpec::rules()).map(entry).collect()
}
