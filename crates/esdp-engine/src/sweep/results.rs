//! The results of a sweep, in every form: `sweep.json`, `sweep.csv`, a table, a report.

use super::plan::SweepPlan;
use super::vary::{SweepPoint, Vary};
use super::worth::Worth;
use super::{page, table};
use crate::results::{SeedNumbers, seed_columns};
use crate::rows::Row;
use crate::{FEWEST_SEEDS, PolicyRun, RunOutcome, leaders};
use esdp::scenario::Scenario;
use esdp_report::csv;
use esdp_report::report::Report;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// One line of the results: a policy at a point.
#[derive(Debug, Clone, Serialize)]
pub struct SweepRow {
    /// The varied keys and their values.
    at: Map<String, Value>,
    slots: u64,
    /// The seeds that are done.
    seeds: Vec<u64>,
    /// The numbers.
    #[serde(flatten)]
    pub row: Row,
    /// The point's position in the plan.
    #[serde(skip)]
    pub(super) point: usize,
    /// Whether it is the oracle, which is no rival.
    #[serde(skip)]
    pub(super) oracle: bool,
    /// Whether it is among the best of the point: nobody is clearly better, seed by seed.
    #[serde(skip)]
    pub(super) leads: bool,
    /// What it was worth under each seed: the oracle ratio, or the AOU where there is no oracle.
    #[serde(skip)]
    pub(super) each: Vec<f64>,
    /// Every number, seed by seed.
    #[serde(skip)]
    numbers: Vec<SeedNumbers>,
}

/// What policies did at the points of a sweep. Serialises as the JSON document of `esdp sweep`.
#[derive(Debug, Clone)]
pub struct SweepResults {
    plan: SweepPlan,
    complete: bool,
    rows: Vec<SweepRow>,
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    scenario: &'a Scenario,
    vary: &'a [Vary],
    complete: bool,
    rows: &'a [SweepRow],
}

impl Serialize for SweepResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { plan, complete, rows } = self;
        let version = env!("CARGO_PKG_VERSION");
        Document { version, scenario: &plan.base, vary: &plan.vary, complete: *complete, rows }
            .serialize(serializer)
    }
}

impl SweepRow {
    /// Whether there are too few seeds to mark anybody.
    pub(super) fn is_of_few_seeds(&self) -> bool {
        (2..FEWEST_SEEDS).contains(&self.seeds.len())
    }
}

impl SweepResults {
    /// Nothing done yet.
    pub fn new(plan: SweepPlan) -> Self {
        Self { plan, complete: true, rows: Vec::new() }
    }

    /// Adds what is done of a point, seed by seed; nothing where nothing is.
    pub fn add(&mut self, position: usize, runs: Vec<Option<Vec<PolicyRun>>>) {
        let SweepPoint { at, scenario, policies } = &self.plan.points[position];
        let outcome = RunOutcome::collect(policies, scenario.slots(), scenario.seeds(), runs);
        self.complete &= outcome.is_complete();
        if outcome.seeds.is_empty() {
            return;
        }
        let at: Map<String, Value> = at.iter().map(|(key, value)| (key.clone(), typed(value))).collect();
        let worth = Worth::of(&outcome.policies);
        let leads = leaders(&outcome.policies, worth.each(), worth.is_highest());
        for (policy, leads) in outcome.policies.iter().zip(leads) {
            self.rows.push(SweepRow {
                at: at.clone(),
                slots: outcome.slots,
                seeds: outcome.seeds.clone(),
                row: Row::new(policy, &outcome),
                point: position,
                oracle: policy.is_oracle(),
                leads,
                each: policy.each(worth.each()).unwrap_or_default(),
                numbers: SeedNumbers::of(policy, &outcome),
            });
        }
    }

    /// What was to be computed.
    pub fn plan(&self) -> &SweepPlan {
        &self.plan
    }

    /// The lines, point by point.
    pub fn rows(&self) -> &[SweepRow] {
        &self.rows
    }

    /// Whether every seed of every point is done; false after Ctrl-C.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The JSON document.
    ///
    /// # Errors
    /// When a number has no JSON; there is none such.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// One line per point and policy; the times are last.
    pub fn csv(&self) -> String {
        // Points may differ in their devices; the shorter lines then end in empty cells before the times.
        let devices = self.rows.iter().map(|line| line.row.utilisation.len()).max().unwrap_or(0);
        let keys = self.plan.vary.iter().map(|vary| vary.key.clone());
        let head = ["policy", "slots", "seeds"].map(str::to_owned);
        let mut text = csv::line(keys.chain(head).chain(Row::columns(devices)));
        for line in &self.rows {
            let at = self.point(line).at.iter().map(|(_, value)| value.clone());
            let head = [line.row.name.clone(), line.slots.to_string(), line.seeds.len().to_string()];
            text += &csv::line(at.chain(head).chain(line.row.cells(devices)));
        }
        text
    }

    /// One line per point, policy and seed: every number, for tests of one's own.
    pub fn seeds_csv(&self) -> String {
        let numbers = self.rows.iter().flat_map(|line| &line.numbers);
        let devices = numbers.map(|own| own.used.len()).max().unwrap_or(0);
        let keys = self.plan.vary.iter().map(|vary| vary.key.clone());
        let mut text = csv::line(keys.chain(seed_columns(devices)));
        for line in &self.rows {
            for own in &line.numbers {
                let at = self.point(line).at.iter().map(|(_, value)| value.clone());
                text += &csv::line(at.chain(own.cells(&line.row.name, devices)));
            }
        }
        text
    }

    /// The oracle ratios, for a terminal.
    pub fn table(&self) -> String {
        self.table_within(table::WIDTH)
    }

    /// The same on a terminal that may be narrower: policies that do not fit go below.
    pub fn table_within(&self, width: usize) -> String {
        table::render(self, width)
    }

    /// A page with a figure per measure, over the first varied key.
    pub fn report(&self) -> Report {
        page::report(self)
    }

    /// The name of a line's point.
    pub fn place(&self, line: &SweepRow) -> String {
        self.point(line).name()
    }

    /// The point of a line.
    pub fn point(&self, line: &SweepRow) -> &SweepPoint {
        &self.plan.points[line.point]
    }
}

/// A value as it is written in TOML, as JSON.
fn typed(text: &str) -> Value {
    let table = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    let value =
        table.and_then(|mut table| table.remove("value")).and_then(|value| serde_json::to_value(value).ok());
    value.unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_type() {
        assert_eq!(typed("0.5"), Value::from(0.5));
        assert_eq!(typed("[1, 2]"), serde_json::json!([1, 2]));
        assert_eq!(typed("\"esdp\""), Value::from("esdp"));
        assert_eq!(typed("esdp"), Value::from("esdp"));
    }
}
