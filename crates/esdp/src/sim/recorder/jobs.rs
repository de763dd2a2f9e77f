//! What became of the jobs of a run.
//!
//! The jobs that are left over when a run ends are counted with the slots they have had so far, once the run is
//! [closed](JobCounts::close): a rule that never starts some jobs must not look better for it.

use super::backlog::Backlog;
use super::{Histogram, SlotRecord};
use crate::model::{PortId, Slot};
use crate::sim::UnfinishedJob;
use serde::{Deserialize, Serialize};

/// Counts and times of jobs, in slots. Times are those of finished jobs, and of all jobs once the run is
/// closed; there are none where jobs last one slot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobCounts {
    /// The jobs that came to each port.
    pub arrived: Vec<u64>,
    /// Those of each port that started.
    pub started: Vec<u64>,
    /// Over all slots, the jobs that were there and did not start.
    pub deferred: u64,
    /// The slots from arrival to end of each job.
    pub completion: Histogram,
    /// Their sum, by port.
    pub completed_slots: Vec<u64>,
    /// The slots that each job waited.
    pub wait: Histogram,
    /// Their sum, by port.
    pub waited_slots: Vec<u64>,
    /// The jobs that were done, by port.
    pub done: Vec<u64>,
    /// The jobs that were left over at the end, by port.
    pub left: Vec<u64>,
    /// The last slot in which a job was done.
    pub makespan: u64,
    /// The longest completion and the longest wait.
    pub longest: (u64, u64),
    /// For each port how long the oldest job that never started has waited at the end; 0 without one.
    pub oldest: Vec<u64>,
    /// The jobs that wait, over time.
    pub backlog: Backlog,
    /// The device time that was left idle on purpose.
    pub lost: LostTime,
}

/// Devices that a rule for queues left idle on purpose while jobs waited, in devices times slots.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LostTime {
    /// Withheld for a job that has a reservation.
    pub reservations: f64,
    /// Not used because they were slow and the queue was short.
    pub holds: f64,
}

impl JobCounts {
    /// Nothing seen yet.
    pub fn new(ports: usize) -> Self {
        let none = || vec![0; ports];
        Self {
            arrived: none(),
            started: none(),
            completed_slots: none(),
            waited_slots: none(),
            done: none(),
            left: none(),
            oldest: none(),
            backlog: Backlog::new(ports),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, record: &SlotRecord<'_>) {
        let waiting = |(port, &started): (usize, &u32)| {
            u64::from(record.present.jobs(PortId::at(port)).saturating_sub(started))
        };
        for (port, &started) in record.started.iter().enumerate() {
            self.arrived[port] += u64::from(record.arrived.jobs(PortId::at(port)));
            self.started[port] += u64::from(started);
            self.deferred += waiting((port, &started));
        }
        if let Some(lost) = record.lost {
            self.backlog.add(record.started.iter().enumerate().map(waiting));
            self.lost.reservations += lost.reservations;
            self.lost.holds += lost.holds;
        }
        for job in record.finished {
            self.done[job.port.index()] += 1;
            self.makespan = job.finished.0;
            self.count(job.port, job.completion(), job.waited());
        }
    }

    fn count(&mut self, port: PortId, completion: u64, waited: u64) {
        self.completion.add(completion);
        self.completed_slots[port.index()] += completion;
        self.wait.add(waited);
        self.waited_slots[port.index()] += waited;
        self.longest = (self.longest.0.max(completion), self.longest.1.max(waited));
    }

    /// No job arrives from now on; those that are there may still run to their end.
    pub fn end_of_arrivals(&mut self) {
        self.backlog.close();
    }

    /// Counts the jobs that are left over at the end of a run with the slots they have had so far.
    pub fn close(&mut self, now: Slot, left: impl IntoIterator<Item = UnfinishedJob>) {
        for UnfinishedJob { port, arrived, started } in left {
            let age = now.0 + 1 - arrived.0;
            let waited = started.map_or(age, |started| started.0 - arrived.0);
            if started.is_none() {
                let oldest = &mut self.oldest[port.index()];
                *oldest = age.max(*oldest);
            }
            self.left[port.index()] += 1;
            self.count(port, age, waited);
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
        self.done.iter().sum()
    }

    /// The jobs that never started.
    pub fn never_started(&self) -> u64 {
        self.all_arrived() - self.all_started()
    }

    /// The jobs that were done as a share of those that came.
    pub fn throughput(&self) -> f64 {
        self.finished() as f64 / self.all_arrived().max(1) as f64
    }

    /// How long the oldest job that never started has waited; 0 without one.
    pub fn oldest_waiting(&self) -> u64 {
        self.oldest.iter().copied().max().unwrap_or(0)
    }

    /// The mean completion time; none without any job.
    pub fn mean_completion(&self) -> Option<f64> {
        mean(&self.completed_slots, self.completion.count())
    }

    /// The same at a port.
    pub fn mean_completion_at(&self, port: usize) -> Option<f64> {
        mean(&self.completed_slots[port..=port], self.counted(port))
    }

    /// The mean waiting time at a port; none without any job.
    pub fn mean_wait_at(&self, port: usize) -> Option<f64> {
        mean(&self.waited_slots[port..=port], self.counted(port))
    }

    fn counted(&self, port: usize) -> u64 {
        self.done[port] + self.left[port]
    }

    /// The mean waiting time; none without any job.
    pub fn mean_wait(&self) -> Option<f64> {
        mean(&self.waited_slots, self.wait.count())
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

fn mean(slots: &[u64], jobs: u64) -> Option<f64> {
    (jobs > 0).then(|| slots.iter().sum::<u64>() as f64 / jobs as f64)
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
