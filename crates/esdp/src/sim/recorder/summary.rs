//! A run in a few numbers.

use super::{Histogram, JobCounts, Recorder, SlotRecord};
use crate::model::{Amount, Cluster, ServerId};
use crate::solver::Guarantee;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What a run was worth, in constant memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The slots that were run.
    pub slots: u64,
    /// The accumulated overall utility: over all slots, the sum of the *true mean* net
    /// utilities of what was chosen. No luck is in it.
    pub aou: f64,
    /// The same of the utilities that came out.
    pub realised: f64,
    /// The oracle's AOU on the same arrivals; none when a slot had no oracle.
    pub oracle: Option<f64>,
    /// What became of the jobs.
    pub jobs: JobCounts,
    /// The channels that were chosen, one use a task.
    pub uses: u64,
    /// Those of them that went to channels which were still little known
    /// ([`SlotRecord::unsure`]).
    pub unsure: u64,
    /// Whether the policy learns anything of channels.
    pub learns: bool,
    /// Whether the rule for queues decided.
    #[serde(default)]
    pub relative: bool,
    /// Slots in which the policy solved a problem.
    pub solved: u64,
    /// Those of them in which the optimum was proved.
    pub proved: u64,
    /// Over all slots, the units of each device that were used.
    pub used: Vec<f64>,
    /// The units of each device that can be used in a slot.
    pub available: Vec<f64>,
    /// What decisions took; empty without a clock.
    pub times: Histogram,
}

impl Summary {
    /// Nothing seen yet.
    pub fn new(cluster: &Cluster) -> Self {
        Self {
            slots: 0,
            aou: 0.0,
            realised: 0.0,
            oracle: Some(0.0),
            jobs: JobCounts::new(cluster.ports().len()),
            uses: 0,
            unsure: 0,
            learns: false,
            relative: false,
            solved: 0,
            proved: 0,
            used: vec![0.0; cluster.devices().len()],
            available: available(cluster),
            times: Histogram::default(),
        }
    }

    /// What was lost against the oracle.
    pub fn regret(&self) -> Option<f64> {
        self.oracle.map(|oracle| oracle - self.aou)
    }

    /// The AOU as a share of the oracle's; 1 where there was nothing to get.
    pub fn oracle_ratio(&self) -> Option<f64> {
        self.oracle.map(|oracle| if oracle > 0.0 { self.aou / oracle } else { 1.0 })
    }

    /// The AOU a slot.
    pub fn average(&self) -> f64 {
        share(self.aou, self.slots as f64)
    }

    /// The share of each device that was used.
    pub fn utilisation(&self) -> Vec<f64> {
        let of = |(used, available): (&f64, &f64)| share(*used, available * self.slots as f64);
        self.used.iter().zip(&self.available).map(of).collect()
    }

    /// The share of uses that went to channels which were still little known; 0 without any.
    pub fn exploration_share(&self) -> f64 {
        share(self.unsure as f64, self.uses as f64)
    }

    /// The share of slots whose choice was proved optimal for the policy's own problem; 0 for
    /// policies that solve none.
    pub fn proved_share(&self) -> f64 {
        share(self.proved as f64, self.slots as f64)
    }

    /// The time of a decision in microseconds below which a share of all lies.
    pub fn decision_us(&self, percentile: f64) -> Option<f64> {
        self.times.percentile(percentile).map(|nanos| nanos / 1e3)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Per device the tighter of the cluster-wide limit and the sum over the servers.
fn available(cluster: &Cluster) -> Vec<f64> {
    let capacity = cluster.capacity();
    let servers = |device: usize| {
        let all = (0..cluster.servers().len()).map(ServerId::at).map(|server| capacity.server(server));
        let all: Option<f64> = all.map(|amounts| amounts.map(|amounts| amounts[device] as f64)).sum();
        all.unwrap_or(f64::INFINITY)
    };
    let whole = |device: usize| capacity.cluster().map_or(f64::INFINITY, |all: &[Amount]| all[device] as f64);
    (0..cluster.devices().len()).map(|device| whole(device).min(servers(device))).collect()
}

impl Recorder for Summary {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.slots += 1;
        self.aou += record.expected;
        self.realised += record.realised;
        self.oracle = self.oracle.zip(record.oracle).map(|(sum, oracle)| sum + oracle);
        self.jobs.add(record);
        self.uses += record.decision.channels().len() as u64;
        self.unsure += u64::from(record.unsure);
        self.learns |= record.learned.is_some();
        self.relative |= record.queue.is_some();
        for &channel in record.running {
            let request = record.cluster.request(channel);
            self.used.iter_mut().zip(request).for_each(|(sum, &amount)| *sum += amount as f64);
        }
        if let Some(certificate) = record.decision.certificate() {
            self.solved += 1;
            self.proved += u64::from(certificate.guarantee == Guarantee::Optimal);
        }
        if let Some(nanos) = record.nanos {
            self.times.add(nanos);
        }
        ControlFlow::Continue(())
    }
}
