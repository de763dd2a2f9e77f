//! What became of the jobs of a run.

use super::{Histogram, SlotRecord};
use crate::model::PortId;
use serde::{Deserialize, Serialize};

/// Counts and times of jobs, in slots. Times are those of finished jobs, and there are none where jobs
/// last one slot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobCounts {
    /// The jobs that came to each port.
    pub arrived: Vec<u64>,
    /// Those of each port that started.
    pub started: Vec<u64>,
    /// Over all slots, the jobs that were there and did not start.
    pub deferred: u64,
    /// The slots from arrival to end of each finished job.
    pub completion: Histogram,
    /// Their sum.
    pub completed_slots: u64,
    /// The slots that finished jobs waited, in all.
    pub waited_slots: u64,
    /// The last slot in which a job was done.
    pub makespan: u64,
    /// The longest completion and the longest wait of a finished job.
    pub longest: (u64, u64),
    /// The sum and the largest of the finished jobs' slowdowns: completion over the slots they ran.
    pub slowdown: (f64, f64),
}

impl JobCounts {
    /// Nothing seen yet.
    pub fn new(ports: usize) -> Self {
        Self { arrived: vec![0; ports], started: vec![0; ports], ..Self::default() }
    }

    pub(super) fn add(&mut self, record: &SlotRecord<'_>) {
        for (port, &started) in record.started.iter().enumerate() {
            self.arrived[port] += u64::from(record.arrived.jobs(PortId::at(port)));
            self.started[port] += u64::from(started);
            self.deferred += u64::from(record.present.jobs(PortId::at(port)).saturating_sub(started));
        }
        for job in record.finished {
            self.completion.add(job.completion());
            self.completed_slots += job.completion();
            self.waited_slots += job.waited();
            self.makespan = job.finished.0;
            self.longest = (self.longest.0.max(job.completion()), self.longest.1.max(job.waited()));
            let slowdown = job.completion() as f64 / (job.completion() - job.waited()) as f64;
            self.slowdown = (self.slowdown.0 + slowdown, self.slowdown.1.max(slowdown));
        }
    }

    /// The jobs that came.
    pub fn all_arrived(&self) -> u64 {
        self.arrived.iter().sum()
    }

    /// The jobs that started.
    pub fn all_started(&self) -> u64 {
        self.started.iter().sum()
    }

    /// The jobs that were done.
    pub fn finished(&self) -> u64 {
        self.completion.count()
    }

    /// The mean completion time of finished jobs; none without any.
    pub fn mean_completion(&self) -> Option<f64> {
        (self.finished() > 0).then(|| self.completed_slots as f64 / self.finished() as f64)
    }

    /// The mean time that finished jobs waited; none without any.
    pub fn mean_wait(&self) -> Option<f64> {
        (self.finished() > 0).then(|| self.waited_slots as f64 / self.finished() as f64)
    }

    /// Jain's index over the ports of the share of their jobs that started: 1 where all ports are
    /// served alike, `1/n` where one of `n` has everything. Ports without a job stay out.
    pub fn jain(&self) -> f64 {
        let shares = self.arrived.iter().zip(&self.started).filter(|(arrived, _)| **arrived > 0);
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (&arrived, &started) in shares {
            let share = started as f64 / arrived as f64;
            n += 1.0;
            sum += share;
            squares += share * share;
        }
        if squares > 0.0 { sum * sum / (n * squares) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_tells_even_from_uneven() {
        let of = |arrived: &[u64], started: &[u64]| {
            JobCounts { arrived: arrived.to_vec(), started: started.to_vec(), ..JobCounts::default() }.jain()
        };
        assert_eq!(of(&[10, 20, 0], &[5, 10, 0]), 1.0);
        assert_eq!(of(&[10, 10], &[10, 0]), 0.5);
        assert_eq!(of(&[0], &[0]), 1.0);
        assert!((of(&[4, 4], &[4, 2]) - 2.25 / 2.5).abs() < 1e-12);
    }
}
