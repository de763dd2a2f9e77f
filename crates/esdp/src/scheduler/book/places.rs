//! Who waits where, and who runs: the questions that lists ask.

use super::{Book, Waiting};
use crate::model::{JobId, PortId};
use std::ops::Bound;

impl Book {
    /// The jobs that wait at a port, in the order in which they start.
    pub fn waiting(&self, port: PortId) -> impl ExactSizeIterator<Item = &Waiting> {
        self.waiting[port.index()].iter()
    }

    /// Those from a place in the queue on.
    pub fn waiting_from(&self, port: PortId, place: usize) -> impl Iterator<Item = &Waiting> {
        let waiting = &self.waiting[port.index()];
        waiting.range(place.min(waiting.len())..)
    }

    /// How many jobs of a port start before one of this weight, and it itself if it waits there.
    pub fn place_after(&self, port: PortId, weight: f64, job: JobId) -> usize {
        self.waiting[port.index()].partition_point(|other| other.starts_by(weight, job))
    }

    /// The place of a job in the queue of its port, from 0; none if it does not wait there with this weight.
    pub fn place(&self, port: PortId, weight: f64, job: JobId) -> Option<usize> {
        let place = self.place_after(port, weight, job).checked_sub(1)?;
        (self.waiting[port.index()][place].job == job).then_some(place)
    }

    /// The jobs that were started and are not over, from one on, in the order of their submission.
    pub fn running_after(&self, from: Bound<JobId>) -> impl Iterator<Item = JobId> {
        self.running.range((from, Bound::Unbounded)).map(|(&job, _)| job)
    }

    /// The job of a port that was submitted first of those that wait, whatever their weights.
    pub fn oldest(&self, port: PortId) -> Option<&Waiting> {
        let waiting = &self.waiting[port.index()];
        let (mut oldest, mut at) = (None, 0);
        while let Some(job) = waiting.get(at) {
            oldest = std::cmp::min_by_key(oldest.unwrap_or(job), job, |job| job.job).into();
            // Jobs of one weight are in the order of their submission.
            at = waiting.partition_point(|other| other.weight.total_cmp(&job.weight).is_ge());
        }
        oldest
    }
}
