//! A policy's numbers, as JSON and CSV: the contract other programs rely on.
//!
//! `aou` is the sum over the slots of the *expected* net utility of what was chosen, `oracle_ratio`
//! is that divided by the oracle's on the same arrivals, `regret` is their difference; each is a
//! mean over seeds with its standard error. The two times, which no two runs share, come last.

use crate::engine::{PolicyOutcome, Spread};
use serde::Serialize;

/// The numbers of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The policy's label.
    pub name: String,
    /// The AOU.
    pub aou_mean: f64,
    /// Its standard error.
    pub aou_stderr: f64,
    /// The AOU as a share of the oracle's.
    pub oracle_ratio_mean: f64,
    /// Its standard error.
    pub oracle_ratio_stderr: f64,
    /// The oracle's AOU less ours.
    pub regret_mean: f64,
    /// Its standard error.
    pub regret_stderr: f64,
    /// The utility that came out, luck included.
    pub realised_aou_mean: f64,
    /// Its standard error.
    pub realised_aou_stderr: f64,
    /// The share of uses that went to channels which were still little known.
    pub exploration_share: f64,
    /// The share of slots whose choice was proved optimal for the policy's own problem.
    pub proved_share: f64,
    /// The share of each device that was used.
    pub utilisation: Vec<f64>,
    /// The median time of a decision, in microseconds.
    pub decision_us_p50: f64,
    /// The time within which 99 % of the decisions were taken.
    pub decision_us_p99: f64,
}

/// The numbers of a [`Row`] that have a name of their own, in its order.
pub const KEYS: [&str; 12] = [
    "aou_mean",
    "aou_stderr",
    "oracle_ratio_mean",
    "oracle_ratio_stderr",
    "regret_mean",
    "regret_stderr",
    "realised_aou_mean",
    "realised_aou_stderr",
    "exploration_share",
    "proved_share",
    "decision_us_p50",
    "decision_us_p99",
];

/// How many of [`KEYS`] come before the utilisation, which has a column for each device.
const BEFORE_DEVICES: usize = 10;

impl Row {
    /// The numbers of a policy that ran.
    pub fn new(policy: &PolicyOutcome) -> Self {
        let pair = |Spread { mean, stderr, .. }: Spread| (mean, stderr);
        let (aou_mean, aou_stderr) = pair(policy.aou());
        let (oracle_ratio_mean, oracle_ratio_stderr) = pair(policy.oracle_ratio());
        let (regret_mean, regret_stderr) = pair(policy.regret());
        let (realised_aou_mean, realised_aou_stderr) = pair(policy.spread(|summary| summary.realised));
        Self {
            name: policy.label.clone(),
            aou_mean,
            aou_stderr,
            oracle_ratio_mean,
            oracle_ratio_stderr,
            regret_mean,
            regret_stderr,
            realised_aou_mean,
            realised_aou_stderr,
            exploration_share: policy.spread(|summary| summary.exploration_share()).mean,
            proved_share: policy.spread(|summary| summary.proved_share()).mean,
            utilisation: policy.utilisation(),
            decision_us_p50: policy.decision_us(0.5),
            decision_us_p99: policy.decision_us(0.99),
        }
    }

    fn numbers(&self) -> [f64; 12] {
        [
            self.aou_mean,
            self.aou_stderr,
            self.oracle_ratio_mean,
            self.oracle_ratio_stderr,
            self.regret_mean,
            self.regret_stderr,
            self.realised_aou_mean,
            self.realised_aou_stderr,
            self.exploration_share,
            self.proved_share,
            self.decision_us_p50,
            self.decision_us_p99,
        ]
    }

    /// A number by its key.
    pub fn get(&self, key: &str) -> Option<f64> {
        KEYS.iter().position(|known| *known == key).map(|at| self.numbers()[at])
    }

    /// The names of the CSV columns, for so many devices.
    pub fn columns(devices: usize) -> impl Iterator<Item = String> {
        let (before, after) = KEYS.split_at(BEFORE_DEVICES);
        let devices = (0..devices).map(|device| format!("utilisation_{device}"));
        before.iter().map(ToString::to_string).chain(devices).chain(after.iter().map(ToString::to_string))
    }

    /// The numbers in the order of the [`columns`](Row::columns); a device that is not there is empty.
    pub fn cells(&self, devices: usize) -> impl Iterator<Item = String> {
        // Written as the shortest text that reads back as the same number.
        let numbers = self.numbers().map(|number| number.to_string());
        let device = |at: usize| self.utilisation.get(at).map(f64::to_string).unwrap_or_default();
        let (before, after) = numbers.split_at(BEFORE_DEVICES);
        let all: Vec<String> =
            before.iter().cloned().chain((0..devices).map(device)).chain(after.iter().cloned()).collect();
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_in_the_same_order() {
        let policy = PolicyOutcome { label: "esdp".into(), spec: "esdp".parse().unwrap(), runs: Vec::new() };
        let mut row = Row::new(&policy);
        row.utilisation = vec![0.25, 0.5];
        row.decision_us_p99 = 7.5;
        let json = serde_json::to_value(&row).unwrap();
        for key in KEYS {
            assert_eq!(json[key].as_f64(), row.get(key), "{key}");
        }
        let columns: Vec<String> = Row::columns(2).collect();
        let cells: Vec<String> = row.cells(2).collect();
        assert_eq!(columns.len(), cells.len());
        let at = |name: &str| cells[columns.iter().position(|column| column == name).unwrap()].as_str();
        assert_eq!(row.cells(3).nth(12).as_deref(), Some(""));
        assert_eq!((at("utilisation_1"), at("decision_us_p99"), at("aou_mean")), ("0.5", "7.5", "0"));
    }
}
