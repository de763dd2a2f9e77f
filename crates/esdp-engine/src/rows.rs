//! A policy's numbers, as JSON and CSV: the contract other programs rely on.
//!
//! `aou` is the sum over the slots of the *expected* net utility of what was chosen, `oracle_ratio`
//! is that divided by the oracle's on the same arrivals, `regret` is their difference; each is a
//! mean over seeds with its standard error. What does not apply is none: a standard error of one seed, the
//! oracle where there is none, the exploration of who learns nothing, the proofs of who solves nothing.
//! Times of jobs are in slots, and there are none where jobs last one slot. Where jobs wait and hold their
//! devices, the oracle is measured by completion and not by utility: ratio and regret are none, and
//! `jct_to_oracle` is how much longer jobs take than the oracle's. The two decision times, which no two runs
//! share, come last.

use crate::{Difference, PolicyOutcome, RunOutcome, Spread, verdict};
use esdp::policy::PolicySpec;
use esdp::scheduler::Objective;
use esdp::sim::{JobCounts, LostTime};
use serde::Serialize;

/// The numbers of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The policy's label.
    pub name: String,
    /// What its decisions maximise: `sum`, the utilities of the slot; `relative`, the rule for queues;
    /// `maxweight`, backlog times speed; `none` if it solves no problem.
    pub objective: &'static str,
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
    /// The longest completion time of all seeds.
    pub jct_max: Option<f64>,
    /// The mean completion time of the seed in the middle, and of the worst.
    pub jct_median_seed: Option<f64>,
    /// See above.
    pub jct_worst_seed: Option<f64>,
    /// The mean completion time over that of the oracle under the same seed, less 1.
    pub jct_to_oracle_mean: Option<f64>,
    /// Its standard error.
    pub jct_to_oracle_stderr: Option<f64>,
    /// The mean completion time over that of the first policy other than the oracle under the same seed, less
    /// 1.
    pub jct_to_first_mean: Option<f64>,
    /// Its 95 % interval.
    pub jct_to_first_low: Option<f64>,
    /// See above.
    pub jct_to_first_high: Option<f64>,
    /// The standard error of the mean wait.
    pub wait_stderr: Option<f64>,
    /// The wait that half of the jobs of all seeds did not exceed.
    pub wait_p50: Option<f64>,
    /// The same of 99 %.
    pub wait_p99: Option<f64>,
    /// The longest wait of all seeds.
    pub wait_max: Option<f64>,
    /// How long the oldest job that never started has waited at the end, in the worst seed; 0 without one.
    pub oldest_waiting: Option<f64>,
    /// The jobs that never started.
    pub never_started_mean: Option<f64>,
    /// The jobs that were done, as a share of those that came.
    pub throughput: Option<f64>,
    /// The share of the device time that was withheld for reservations while jobs waited.
    pub lost_to_reservations: Option<f64>,
    /// The share that was not used because the server is slow and the queue was short.
    pub lost_to_holds: Option<f64>,
    /// The share of the arrivals that pile up.
    pub backlog_slope: Option<f64>,
    /// Whether the queue is `stable` or `growing`, or `undecided`.
    pub queue: Option<&'static str>,
    /// The same as a truth value: whether the queue grows; none if the run does not tell.
    pub unstable: Option<bool>,
    /// By port.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortRow>,
    /// The number of waiting jobs over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue_length: Vec<QueuePoint>,
    /// The share of each device that was used.
    pub utilisation: Vec<f64>,
    /// The median time of a decision, in microseconds.
    pub decision_us_p50: f64,
    /// The time within which 99 % of the decisions were taken.
    pub decision_us_p99: f64,
}

/// What became of the jobs of a port: means over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortRow {
    /// The port.
    pub port: String,
    /// The jobs that came.
    pub arrived_mean: f64,
    /// The mean completion time.
    pub jct_mean: Option<f64>,
    /// The mean wait.
    pub wait_mean: Option<f64>,
    /// The jobs that never started.
    pub never_started_mean: f64,
    /// How long the oldest of them has waited at the end, in the worst seed; 0 without one.
    pub oldest_waiting: u64,
}

/// How many jobs waited, on average since the point before, over all seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QueuePoint {
    /// The slot.
    pub slot: u64,
    /// The jobs.
    pub mean: f64,
}

/// So many points tell how a queue goes; `curves.csv` has more, with standard errors.
const QUEUE_POINTS: usize = 20;

/// The numbers of a [`Row`] that have a name of their own, in its order.
pub const KEYS: [&str; 39] = [
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
    "jct_max",
    "jct_median_seed",
    "jct_worst_seed",
    "jct_to_oracle_mean",
    "jct_to_oracle_stderr",
    "jct_to_first_mean",
    "jct_to_first_low",
    "jct_to_first_high",
    "wait_stderr",
    "wait_p50",
    "wait_p99",
    "wait_max",
    "oldest_waiting",
    "never_started_mean",
    "throughput",
    "lost_to_reservations",
    "lost_to_holds",
    "backlog_slope",
    "decision_us_p50",
    "decision_us_p99",
];

/// How many of [`KEYS`] come before the utilisation, which has a column for each device.
const BEFORE_DEVICES: usize = 37;

/// The columns that are words, after the devices.
const WORDS: [&str; 2] = ["objective", "queue"];

impl Row {
    /// The numbers of every policy that ran.
    pub fn all(outcome: &RunOutcome) -> Vec<Self> {
        outcome.policies.iter().map(|policy| Self::new(policy, outcome)).collect()
    }

    /// The numbers of a policy of a run.
    pub fn new(policy: &PolicyOutcome, outcome: &RunOutcome) -> Self {
        let mean = |spread: Option<Spread>| spread.map(|spread| spread.mean);
        let error = |spread: Option<Spread>| spread.and_then(|spread| spread.error());
        let (aou, realised) = (policy.aou(), policy.spread(|summary| summary.realised));
        let (oracle_ratio, regret) = (policy.oracle_ratio(), policy.regret());
        let counted = |value: fn(&JobCounts) -> f64| policy.spread(|summary| value(&summary.jobs)).mean;
        let completion = policy.completion();
        let finished = |value: f64| completion.is_some().then_some(value);
        let mean_completion = |policy: &PolicyOutcome| policy.each(|summary| summary.jobs.mean_completion());
        let mut by_seed = mean_completion(policy).unwrap_or_default();
        by_seed.sort_unstable_by(f64::total_cmp);
        let oracle = outcome.policies.iter().find(|policy| policy.is_oracle()).and_then(mean_completion);
        let first = outcome.policies.iter().find(|policy| !policy.is_oracle()).and_then(mean_completion);
        let own = mean_completion(policy);
        let against = |other: Option<Vec<f64>>| Some(Difference::gain(own.as_ref()?, &other?));
        let to_oracle = against(oracle).map(|difference| difference.spread);
        let to_first = against(first);
        let end = |sign: f64| {
            let difference = to_first.filter(|difference| difference.spread.n > 1)?;
            Some(difference.spread.mean + sign * difference.half_interval())
        };
        let wait = policy.each(|summary| summary.jobs.mean_wait()).map(Spread::of);
        let waits = |share| policy.slots_within(share, |jobs| &jobs.wait);
        let largest = |value: fn(&JobCounts) -> u64| {
            finished(policy.runs.iter().map(|run| value(&run.summary.jobs)).max().unwrap_or(0) as f64)
        };
        let verdict = verdict(policy, outcome.slots);
        let lost = |value: fn(&LostTime) -> f64| finished(policy.lost(value));
        Self {
            name: policy.label.clone(),
            objective: objective(policy),
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
            jct_p50: policy.slots_within(0.5, |jobs| &jobs.completion),
            jct_p99: policy.slots_within(0.99, |jobs| &jobs.completion),
            wait_mean: mean(wait),
            makespan_mean: finished(counted(|jobs| jobs.makespan as f64)),
            jct_max: largest(|jobs| jobs.longest.0),
            jct_median_seed: median(&by_seed),
            jct_worst_seed: by_seed.last().copied(),
            jct_to_oracle_mean: mean(to_oracle),
            jct_to_oracle_stderr: error(to_oracle),
            jct_to_first_mean: to_first.map(|difference| difference.spread.mean),
            jct_to_first_low: end(-1.0),
            jct_to_first_high: end(1.0),
            wait_stderr: error(wait),
            wait_p50: waits(0.5),
            wait_p99: waits(0.99),
            wait_max: largest(|jobs| jobs.longest.1),
            oldest_waiting: largest(JobCounts::oldest_waiting),
            never_started_mean: finished(counted(|jobs| jobs.never_started() as f64)),
            throughput: finished(counted(JobCounts::throughput)),
            lost_to_reservations: lost(|lost| lost.reservations),
            lost_to_holds: lost(|lost| lost.holds),
            backlog_slope: verdict.map(|verdict| verdict.slope),
            queue: verdict.map(|verdict| verdict.stability.word()),
            unstable: verdict.and_then(|verdict| verdict.stability.is_unstable()),
            ports: Vec::new(),
            queue_length: Vec::new(),
            utilisation: policy.utilisation(),
            decision_us_p50: policy.decision_us(0.5),
            decision_us_p99: policy.decision_us(0.99),
        }
    }

    /// Adds what became of the jobs of each port, and how many waited when, if they wait.
    pub(crate) fn with_ports(mut self, policy: &PolicyOutcome, ports: &[String]) -> Self {
        if self.wait_mean.is_some() {
            self.ports = ports.iter().enumerate().map(|(at, name)| port(policy, at, name)).collect();
            let points = policy.queue();
            let point = |points: &[(u64, Spread)]| QueuePoint {
                slot: points[points.len() - 1].0,
                mean: points.iter().map(|point| point.1.mean).sum::<f64>() / points.len() as f64,
            };
            self.queue_length =
                points.chunks(points.len().div_ceil(QUEUE_POINTS).max(1)).map(point).collect();
        }
        self
    }

    fn numbers(&self) -> [Option<f64>; 39] {
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
            self.jct_max,
            self.jct_median_seed,
            self.jct_worst_seed,
            self.jct_to_oracle_mean,
            self.jct_to_oracle_stderr,
            self.jct_to_first_mean,
            self.jct_to_first_low,
            self.jct_to_first_high,
            self.wait_stderr,
            self.wait_p50,
            self.wait_p99,
            self.wait_max,
            self.oldest_waiting,
            self.never_started_mean,
            self.throughput,
            self.lost_to_reservations,
            self.lost_to_holds,
            self.backlog_slope,
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
        let words = WORDS.iter().chain(after).map(ToString::to_string);
        before.iter().map(ToString::to_string).chain(devices).chain(words)
    }

    /// The numbers in the order of the [`columns`](Row::columns); a device that is not there is empty.
    pub fn cells(&self, devices: usize) -> impl Iterator<Item = String> {
        // Written as the shortest text that reads back as the same number.
        let numbers =
            self.numbers().map(|number| number.map(|number| number.to_string()).unwrap_or_default());
        let device = |at: usize| self.utilisation.get(at).map(f64::to_string).unwrap_or_default();
        let (before, after) = numbers.split_at(BEFORE_DEVICES);
        let words = [self.objective, self.queue.unwrap_or_default()].map(str::to_owned);
        let (before, after) = (before.iter().cloned(), after.iter().cloned());
        let all: Vec<String> = before.chain((0..devices).map(device)).chain(words).chain(after).collect();
        all.into_iter()
    }
}

fn objective(policy: &PolicyOutcome) -> &'static str {
    let summaries = || policy.runs.iter().map(|run| &run.summary);
    match &policy.spec {
        _ if summaries().all(|summary| summary.solved == 0) => "none",
        Some(PolicySpec::MaxweightUcb(_)) => "maxweight",
        _ if summaries().any(|summary| summary.relative) => Objective::Relative.name(),
        _ => Objective::Sum.name(),
    }
}

/// The value in the middle of sorted ones.
fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

fn port(policy: &PolicyOutcome, at: usize, name: &str) -> PortRow {
    let jobs = || policy.runs.iter().map(|run| &run.summary.jobs);
    let mean = |value: &dyn Fn(&JobCounts) -> Option<f64>| {
        let values: Vec<f64> = jobs().filter_map(value).collect();
        (!values.is_empty()).then(|| Spread::of(values).mean)
    };
    PortRow {
        port: name.to_owned(),
        arrived_mean: mean(&|jobs| Some(jobs.arrived[at] as f64)).unwrap_or(0.0),
        jct_mean: mean(&|jobs| jobs.mean_completion_at(at)),
        wait_mean: mean(&|jobs| jobs.mean_wait_at(at)),
        never_started_mean: mean(&|jobs| Some((jobs.arrived[at] - jobs.started[at]) as f64)).unwrap_or(0.0),
        oldest_waiting: jobs().map(|jobs| jobs.oldest[at]).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!([median(&[]), median(&[3.0]), median(&[1.0, 2.0])], [None, Some(3.0), Some(1.5)]);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
    }

    #[test]
    fn names_and_numbers_are_in_the_same_order() {
        let policy = PolicyOutcome { label: "esdp".into(), spec: "esdp".parse().ok(), runs: Vec::new() };
        let outcome = RunOutcome { slots: 0, asked: Vec::new(), seeds: Vec::new(), policies: vec![policy] };
        let mut row = Row::all(&outcome).remove(0);
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
        assert_eq!(row.cells(3).nth(BEFORE_DEVICES + 2).as_deref(), Some(""));
        assert_eq!((at("objective"), at("queue")), ("none", ""));
        assert_eq!((at("utilisation_1"), at("decision_us_p99"), at("aou_mean")), ("0.5", "7.5", "0"));
    }
}
