//! The result of a run as a document: `summary.json`, `summary.csv`, `scenario.toml`.

use crate::files;
use crate::source::seeds_in_words;
use esdp::scenario::Scenario;
use esdp_engine::Outcome;
use esdp_engine::rows::Row;
use serde::Serialize;

/// `summary.json`, and what `--format json` prints.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    version: &'static str,
    scenario: &'a Scenario,
    slots: u64,
    /// The seeds that are done, for every policy.
    seeds: &'a [u64],
    /// Whether these are all that were asked for; false after Ctrl-C.
    complete: bool,
    seeds_asked: &'a [u64],
    /// What a reader must know of these numbers.
    notes: Vec<String>,
    policies: Vec<Row>,
}

impl<'a> Document<'a> {
    pub(super) fn new(scenario: &'a Scenario, outcome: &'a Outcome, notes: Vec<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            scenario,
            slots: outcome.slots,
            seeds: &outcome.seeds,
            complete: outcome.is_complete(),
            seeds_asked: &outcome.asked,
            notes,
            policies: outcome.policies.iter().map(Row::new).collect(),
        }
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.policies
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// One line a policy; the times are last.
    pub(super) fn csv(&self) -> String {
        let devices = self.policies.first().map_or(0, |row| row.utilisation.len());
        let head = ["policy", "slots", "seeds"].map(str::to_owned);
        let mut text = files::csv_line(head.into_iter().chain(Row::columns(devices)));
        for row in &self.policies {
            let head = [row.name.clone(), self.slots.to_string(), self.seeds.len().to_string()];
            text += &files::csv_line(head.into_iter().chain(row.cells(devices)));
        }
        text
    }
}

/// The resolved scenario as a file that repeats the run.
pub(crate) fn resolved(scenario: &Scenario) -> String {
    format!(
        "# The resolved scenario of this result: esdp {}, {} slots, seeds {}.\n# `esdp run` with this file repeats it.\n\n{}",
        env!("CARGO_PKG_VERSION"),
        scenario.slots(),
        seeds_in_words(scenario.seeds()),
        scenario.to_toml()
    )
}
