//! A policy's numbers, as JSON and CSV: the contract other programs rely on.
//!
//! `aou` is the sum over the slots of the *expected* net utility of what was chosen, `oracle_ratio`
//! is that divided by the oracle's on the same arrivals, `regret` is their difference; each is a
//! mean over seeds with its standard error. What does not apply is none: a standard error of one seed, the
//! oracle where there is none, the exploration of who learns nothing, the proofs of who solves nothing.
//! Times of jobs are in slots, and there are none where jobs last one slot. The two decision times, which no
//! two runs share, come last.

use crate::{PolicyOutcome, Spread};
use esdp::sim::JobCounts;
use serde::Serialize;

/// The numbers of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The policy's label.
    pub name: String,
    /// The AOU.
    pub aou_mean: f64,
    /// Its standard error.
    pub aou_stderr: Option<f64>,
    /// The AOU as a share of the oracle's.
    pub oracle_ratio_mean: Option<f64>,
    /// Its standard error.
    pub oracle_ratio_stderr: Option<f64>,
    /// The oracle's AOU less ours.
    pub regret_mean: Option<f64>,
    /// Its standard error.
    pub regret_stderr: Option<f64>,
    /// The utility actually obtained, including noise.
    pub realised_aou_mean: f64,
    /// Its standard error.
    pub realised_aou_stderr: Option<f64>,
    /// The share of uses that went to channels with few observations so far.
    pub exploration_share: Option<f64>,
    /// The share of slots whose choice was proved optimal for the policy's own problem.
    pub proved_share: Option<f64>,
    /// The share of the jobs that started.
    pub started_share: f64,
    /// Over all slots, the jobs that were there and did not start.
    pub deferred_mean: f64,
    /// Jain's index over the ports of the share of their jobs that started.
    pub jain_mean: f64,
    /// The completion time of jobs: from arrival to end.
    pub jct_mean: Option<f64>,
    /// Its standard error.
    pub jct_stderr: Option<f64>,
    /// The completion time within which half of the jobs of all seeds were done.
    pub jct_p50: Option<f64>,
    /// The same of 99 %.
    pub jct_p99: Option<f64>,
    /// How long jobs waited before they started.
    pub wait_mean: Option<f64>,
    /// The last slot in which a job was done.
    pub makespan_mean: Option<f64>,
    /// The share of each device that was used.
    pub utilisation: Vec<f64>,
    /// The median time of a decision, in microseconds.
    pub decision_us_p50: f64,
    /// The time within which 99 % of the decisions were taken.
    pub decision_us_p99: f64,
}

/// The numbers of a [`Row`] that have a name of their own, in its order.
pub const KEYS: [&str; 21] = [
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
    "started_share",
    "deferred_mean",
    "jain_mean",
    "jct_mean",
    "jct_stderr",
    "jct_p50",
    "jct_p99",
    "wait_mean",
    "makespan_mean",
    "decision_us_p50",
    "decision_us_p99",
];

/// How many of [`KEYS`] come before the utilisation, which has a column for each device.
const BEFORE_DEVICES: usize = 19;

impl Row {
    /// The numbers of a policy that ran.
    pub fn new(policy: &PolicyOutcome) -> Self {
        let mean = |spread: Option<Spread>| spread.map(|spread| spread.mean);
        let error = |spread: Option<Spread>| spread.and_then(|spread| spread.error());
        let (aou, realised) = (policy.aou(), policy.spread(|summary| summary.realised));
        let (oracle_ratio, regret) = (policy.oracle_ratio(), policy.regret());
        let counted = |value: fn(&JobCounts) -> f64| policy.spread(|summary| value(&summary.jobs)).mean;
        let completion = policy.completion();
        let finished = |value: f64| completion.is_some().then_some(value);
        Self {
            name: policy.label.clone(),
            aou_mean: aou.mean,
            aou_stderr: aou.error(),
            oracle_ratio_mean: mean(oracle_ratio),
            oracle_ratio_stderr: error(oracle_ratio),
            regret_mean: mean(regret),
            regret_stderr: error(regret),
            realised_aou_mean: realised.mean,
            realised_aou_stderr: realised.error(),
            exploration_share: mean(policy.exploration()),
            proved_share: mean(policy.proved()),
            started_share: counted(|jobs| jobs.all_started() as f64 / jobs.all_arrived().max(1) as f64),
            deferred_mean: counted(|jobs| jobs.deferred as f64),
            jain_mean: counted(JobCounts::jain),
            jct_mean: mean(completion),
            jct_stderr: error(completion),
            jct_p50: policy.completion_within(0.5),
            jct_p99: policy.completion_within(0.99),
            wait_mean: finished(counted(|jobs| jobs.mean_wait().unwrap_or(0.0))),
            makespan_mean: finished(counted(|jobs| jobs.makespan as f64)),
            utilisation: policy.utilisation(),
            decision_us_p50: policy.decision_us(0.5),
            decision_us_p99: policy.decision_us(0.99),
        }
    }

    fn numbers(&self) -> [Option<f64>; 21] {
        [
            Some(self.aou_mean),
            self.aou_stderr,
            self.oracle_ratio_mean,
            self.oracle_ratio_stderr,
            self.regret_mean,
            self.regret_stderr,
            Some(self.realised_aou_mean),
            self.realised_aou_stderr,
            self.exploration_share,
            self.proved_share,
            Some(self.started_share),
            Some(self.deferred_mean),
            Some(self.jain_mean),
            self.jct_mean,
            self.jct_stderr,
            self.jct_p50,
            self.jct_p99,
            self.wait_mean,
            self.makespan_mean,
            Some(self.decision_us_p50),
            Some(self.decision_us_p99),
        ]
    }

    /// A number by its key; one that this run does not have is no number.
    pub fn get(&self, key: &str) -> Option<f64> {
        KEYS.iter().position(|known| *known == key).map(|at| self.numbers()[at].unwrap_or(f64::NAN))
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
        let numbers =
            self.numbers().map(|number| number.map(|number| number.to_string()).unwrap_or_default());
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
        let policy = PolicyOutcome { label: "esdp".into(), spec: "esdp".parse().ok(), runs: Vec::new() };
        let mut row = Row::new(&policy);
        row.utilisation = vec![0.25, 0.5];
        row.decision_us_p99 = 7.5;
        let json = serde_json::to_value(&row).unwrap();
        for key in KEYS {
            assert_eq!(json[key].as_f64(), row.get(key).filter(|number| !number.is_nan()), "{key}");
        }
        let columns: Vec<String> = Row::columns(2).collect();
        let cells: Vec<String> = row.cells(2).collect();
        assert_eq!(columns.len(), cells.len());
        let at = |name: &str| cells[columns.iter().position(|column| column == name).unwrap()].as_str();
        assert_eq!(row.cells(3).nth(21).as_deref(), Some(""));
        assert_eq!((at("utilisation_1"), at("decision_us_p99"), at("aou_mean")), ("0.5", "7.5", "0"));
    }
}
