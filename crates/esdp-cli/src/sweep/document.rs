//! The result of a sweep as a document: `sweep.json` and `sweep.csv`.

use super::plan::Plan;
use super::vary::Point;
use crate::files;
use esdp_engine::rows::Row;
use esdp_engine::{Outcome, PolicyRun};
use serde::Serialize;
use serde_json::{Map, Value};

/// One line of the result: a policy at a point.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    /// The varied keys and their values.
    at: Map<String, Value>,
    slots: u64,
    /// The seeds that are done.
    seeds: Vec<u64>,
    #[serde(flatten)]
    pub(super) row: Row,
    /// The point's position in the plan.
    #[serde(skip)]
    pub(super) point: usize,
    /// Whether it is the oracle, which is no rival.
    #[serde(skip)]
    pub(super) oracle: bool,
}

/// `sweep.json`, and what `--format json` prints.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    version: &'static str,
    scenario: &'a esdp::scenario::Scenario,
    vary: &'a [super::vary::Vary],
    /// Whether every seed of every point is done; false after Ctrl-C.
    pub(super) complete: bool,
    pub(super) rows: Vec<Line>,
    #[serde(skip)]
    points: &'a [Point],
}

impl<'a> Document<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            scenario: &plan.base,
            vary: &plan.vary,
            complete: true,
            rows: Vec::new(),
            points: &plan.points,
        }
    }

    /// Adds what is done of a point, seed by seed; nothing where nothing is.
    pub(super) fn add(&mut self, position: usize, runs: Vec<Option<Vec<PolicyRun>>>) {
        let point = &self.points[position];
        let scenario = &point.scenario;
        let outcome = Outcome::collect(scenario.policies(), scenario.slots(), scenario.seeds(), runs);
        self.complete &= outcome.is_complete();
        if outcome.seeds.is_empty() {
            return;
        }
        let at: Map<String, Value> = point.at.iter().map(|(key, value)| (key.clone(), typed(value))).collect();
        for policy in &outcome.policies {
            self.rows.push(Line {
                at: at.clone(),
                slots: outcome.slots,
                seeds: outcome.seeds.clone(),
                row: Row::new(policy),
                point: position,
                oracle: policy.spec.name() == "oracle",
            });
        }
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// One line a point and policy; the times are last.
    pub(super) fn csv(&self) -> String {
        // Points may differ in their devices; the shorter lines then end in empty cells before the times.
        let devices = self.rows.iter().map(|line| line.row.utilisation.len()).max().unwrap_or(0);
        let keys = self.vary.iter().map(|vary| vary.key.clone());
        let head = ["policy", "slots", "seeds"].map(str::to_owned);
        let mut text = files::csv_line(keys.chain(head).chain(Row::columns(devices)));
        for line in &self.rows {
            let at = self.points[line.point].at.iter().map(|(_, value)| value.clone());
            let head = [line.row.name.clone(), line.slots.to_string(), line.seeds.len().to_string()];
            text += &files::csv_line(at.chain(head).chain(line.row.cells(devices)));
        }
        text
    }

    /// The name of a line's point.
    pub(super) fn place(&self, line: &Line) -> String {
        self.points[line.point].name()
    }

    pub(super) fn point(&self, line: &Line) -> &Point {
        &self.points[line.point]
    }
}

/// A value as it is written in TOML, as JSON.
fn typed(text: &str) -> Value {
    let table = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    let value = table.and_then(|mut table| table.remove("value")).and_then(|value| serde_json::to_value(value).ok());
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
