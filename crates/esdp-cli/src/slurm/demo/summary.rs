//! The figures of one arm.

use super::arm::{Arm, Outcome};
use super::records::JobRecord;
use super::workload::{CPUS, NODES, TYPES, USERS, Workload};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// From how many outcomes on a learned speed is compared with the true one.
pub(super) const OUTCOMES: f64 = 10.0;

/// One arm of one repetition at one load. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Summary {
    pub arm: Arm,
    /// The share of CPUs that would be busy if nodes were chosen at random.
    pub load: f64,
    pub seed: u64,
    pub jobs: usize,
    /// From when a job was due to its end, on average.
    pub completion: f64,
    /// From when a job was due to its start, on average.
    pub waiting: f64,
    pub waiting_by_user: BTreeMap<&'static str, f64>,
    /// From the first job that was due to the end of the last.
    pub makespan: f64,
    /// Seconds of work at speed 1, times nodes, per minute.
    pub work_per_minute: f64,
    /// The share of CPUs that were busy.
    pub busy: f64,
    pub learned: Vec<LearnedSpeed>,
}

/// A learned speed beside the true one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct LearnedSpeed {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub node: String,
    #[serde(rename = "true")]
    pub truth: f64,
    pub learned: f64,
    pub outcomes: f64,
}

impl LearnedSpeed {
    pub(super) fn error(&self) -> f64 {
        (self.learned / self.truth - 1.0).abs()
    }
}

impl Summary {
    pub(super) fn of(outcome: &Outcome, workload: &Workload, load: f64, seed: u64) -> Self {
        let jobs = &outcome.jobs;
        let mean = |chosen: &mut dyn Iterator<Item = f64>| {
            let (count, sum) = chosen.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
            if count == 0 { 0.0 } else { sum / f64::from(count) }
        };
        let by_user = |user: usize| {
            mean(&mut jobs.iter().filter(|job| job.planned.user == user).map(JobRecord::waiting))
        };
        let first = jobs.first().map_or(0.0, |job| job.planned.due);
        let makespan = jobs.iter().map(|job| job.ended).fold(0.0, f64::max) - first;
        let nodes = |job: &JobRecord| job.nodes.len() as f64;
        let work: f64 = jobs.iter().map(|job| job.planned.work * nodes(job)).sum();
        let held: f64 = jobs.iter().map(|job| (job.ended - job.started) * nodes(job)).sum();
        Self {
            arm: outcome.arm,
            load,
            seed,
            jobs: jobs.len(),
            completion: mean(&mut jobs.iter().map(JobRecord::completion)),
            waiting: mean(&mut jobs.iter().map(JobRecord::waiting)),
            waiting_by_user: USERS.iter().zip(0..).map(|(&name, user)| (name, by_user(user))).collect(),
            makespan,
            work_per_minute: 60.0 * work / makespan,
            busy: held / (makespan * NODES as f64 * f64::from(CPUS)),
            learned: outcome.channels.as_ref().map_or_else(Vec::new, |channels| learned(channels, workload)),
        }
    }
}

/// What the service says it has learned, beside the truth. Job types are told apart by their number of nodes,
/// which the name of a port says: `2n cpu:1 ...`.
fn learned(answer: &Value, workload: &Workload) -> Vec<LearnedSpeed> {
    let speed = |row: &Value| {
        let port = row["port"].as_str()?;
        let node = row["server"].as_str()?;
        let kind =
            TYPES.iter().position(|kind| port.split(' ').any(|word| word == format!("{}n", kind.nodes)))?;
        let index: usize = node.strip_prefix('n')?.parse().ok()?;
        let outcomes = row["count"].as_f64().filter(|&count| count > 0.0)?;
        Some(LearnedSpeed {
            kind: TYPES[kind].name,
            node: node.to_owned(),
            truth: f64::from(*workload.speeds[kind].get(index)?) / 1000.0,
            learned: row["mean"].as_f64()?,
            outcomes,
        })
    };
    answer["channels"].as_array().into_iter().flatten().filter_map(speed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::demo::workload::PlannedJob;
    use serde_json::json;

    #[test]
    fn figures() {
        let workload = Workload::draw(1, 0.4, 2);
        let job = |id, user, due, started, ended| JobRecord {
            id,
            planned: PlannedJob { due, kind: 0, user, work: 2.0 },
            nodes: vec!["n0".to_owned(), "n1".to_owned()],
            started,
            ended,
        };
        let channels = json!({ "channels": [
            { "port": "2n cpu:1 gpu:1", "server": "n3", "mean": 0.5, "count": 12.0 },
            { "port": "2n cpu:1 gpu:1", "server": "n4", "mean": 0.5, "count": 0.0 },
        ] });
        let jobs = vec![job(1, 0, 1.0, 2.0, 5.0), job(2, 1, 2.0, 2.5, 7.0)];
        let outcome = Outcome { arm: Arm::Placement, jobs, channels: Some(channels) };
        let summary = Summary::of(&outcome, &workload, 0.4, 1);
        assert_eq!((summary.completion, summary.waiting, summary.makespan), (4.5, 0.75, 6.0));
        assert_eq!(summary.waiting_by_user, BTreeMap::from([("daemon", 1.0), ("bin", 0.5), ("sys", 0.0)]));
        assert_eq!(summary.work_per_minute, 80.0);
        let truth = f64::from(workload.speeds[0][3]) / 1000.0;
        assert_eq!(summary.learned.len(), 1);
        assert_eq!((summary.learned[0].kind, summary.learned[0].truth), ("train", truth));
    }
}
