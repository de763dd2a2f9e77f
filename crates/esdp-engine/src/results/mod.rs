//! The results of a run, in every form: `summary.json`, `summary.csv`, `scenario.toml`, a table, a report;
//! `seeds.csv`, `curves.csv`, `cluster.json` and `estimates.csv` for statistics and figures of one's own.

mod beaten;
mod clusters;
mod curves;
mod fastest;
mod found;
mod learned;
mod page;
mod ports;
mod queues;
mod seeds;
mod spark;
mod table;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use seeds::{SeedNumbers, columns as seed_columns};
pub(crate) use table::shortened;

use crate::rows::Row;
use crate::{RunOutcome, seeds_in_words};
use esdp::model::Cluster;
use esdp::scenario::Scenario;
use esdp_report::csv;
use esdp_report::report::Report;
pub use queues::LoadReport;
pub(crate) use queues::verdict_cell;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// What policies did on a scenario. Serialises as the JSON document of `esdp run`.
#[derive(Debug, Clone)]
pub struct RunResults {
    scenario: Scenario,
    outcome: RunOutcome,
    rows: Vec<Row>,
    notes: Vec<String>,
    load: Option<LoadReport>,
    /// That of the first seed, whose names the report and the terminal use.
    cluster: Option<Arc<Cluster>>,
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    scenario: &'a Scenario,
    slots: u64,
    /// The seeds that are done, for every policy.
    seeds: &'a [u64],
    /// Whether these are all that were asked for; false after Ctrl-C.
    complete: bool,
    seeds_asked: &'a [u64],
    /// What a reader must know of these numbers.
    notes: &'a [String],
    /// How much of the capacity the jobs need; none where they do not wait.
    load: Option<&'a LoadReport>,
    policies: &'a [Row],
}

impl Serialize for RunResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { scenario, outcome, rows, notes, load, .. } = self;
        let document = Document {
            version: env!("CARGO_PKG_VERSION"),
            scenario,
            slots: outcome.slots,
            seeds: &outcome.seeds,
            complete: outcome.is_complete(),
            seeds_asked: &outcome.asked,
            notes,
            load: load.as_ref(),
            policies: rows,
        };
        document.serialize(serializer)
    }
}

impl RunResults {
    /// The results of a scenario's policies.
    pub fn new(scenario: Scenario, outcome: RunOutcome) -> Self {
        let setting = outcome.seeds.first().and_then(|&seed| scenario.setting(seed).ok());
        let cluster = setting.map(|setting| Arc::clone(setting.cluster()));
        let ports = cluster.as_ref().map_or(&[][..], |cluster| cluster.ports());
        let rows = Row::all(&outcome).into_iter().zip(&outcome.policies);
        let rows = rows.map(|(row, policy)| row.with_ports(policy, ports)).collect();
        let load = LoadReport::new(&scenario, &outcome);
        let mut notes = beaten::notes(&outcome);
        notes.extend(queues::notes(&scenario, &outcome, load.as_ref(), ports));
        Self { scenario, outcome, rows, notes, load, cluster }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The runs behind the numbers.
    pub fn outcome(&self) -> &RunOutcome {
        &self.outcome
    }

    /// What the first policy that learns has learned and found out, in at most nine lines; empty if there is
    /// nothing to tell.
    pub fn found(&self) -> String {
        let learned = self.cluster.as_ref().map(|cluster| fastest::lines(&self.outcome, cluster));
        found::sentence(&self.outcome) + &learned.unwrap_or_default()
    }

    /// The numbers, one row per policy.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How much of the capacity the jobs need, where they wait and hold their devices.
    pub fn load(&self) -> Option<&LoadReport> {
        self.load.as_ref()
    }

    /// What a reader must know of these numbers, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The JSON document.
    ///
    /// # Errors
    /// When a number has no JSON; there is none such.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// One line per policy; the times are last.
    pub fn csv(&self) -> String {
        let devices = self.rows.first().map_or(0, |row| row.utilisation.len());
        let head = ["policy", "slots", "seeds"].map(str::to_owned);
        let mut text = csv::line(head.into_iter().chain(Row::columns(devices)));
        for row in &self.rows {
            let (slots, seeds) = (self.outcome.slots.to_string(), self.outcome.seeds.len().to_string());
            text += &csv::line([row.name.clone(), slots, seeds].into_iter().chain(row.cells(devices)));
        }
        text
    }

    /// Every number of every policy under every seed.
    pub fn seeds_csv(&self) -> String {
        seeds::csv(&self.outcome)
    }

    /// What became of the jobs of every port, under every policy and seed.
    pub fn ports_csv(&self) -> String {
        ports::csv(&self.outcome, self.cluster.as_ref().map_or(&[][..], |cluster| cluster.ports()))
    }

    /// What the report draws over time, as means and standard errors.
    pub fn curves_csv(&self) -> String {
        curves::csv(&self.outcome)
    }

    /// What policies have learned of every channel, beside the truth.
    pub fn estimates_csv(&self) -> String {
        learned::csv(&self.scenario, &self.outcome)
    }

    /// The clusters that the seeds drew, with the true means.
    ///
    /// # Errors
    /// When a number has no JSON; there is none such.
    pub fn cluster_json(&self) -> serde_json::Result<String> {
        clusters::json(&self.scenario, &self.outcome.seeds)
    }

    /// A table within 80 columns, for a terminal.
    pub fn table(&self, colour: bool) -> String {
        self.table_within(table::WIDTH, colour)
    }

    /// The same on a terminal that may be narrower: columns that matter less go first.
    pub fn table_within(&self, width: usize, colour: bool) -> String {
        table::render(&self.scenario, &self.outcome, self.load.as_ref(), width, colour)
    }

    /// A page with figures and tables, and these remarks beside them.
    pub fn report(&self, remarks: &[String]) -> Report {
        let remarks = [remarks, self.notes()].concat();
        page::report(self, self.cluster.as_deref(), &remarks)
    }
}

/// The resolved scenario as a file that repeats the run.
pub fn resolved(scenario: &Scenario) -> String {
    format!(
        "# The resolved scenario of this result: esdp {}, {} slots, seeds {}.\n# `esdp run` with this file \
         repeats it.\n\n{}",
        env!("CARGO_PKG_VERSION"),
        scenario.slots(),
        seeds_in_words(scenario.seeds()),
        scenario.to_toml()
    )
}
