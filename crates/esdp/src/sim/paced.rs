//! Jobs that run as fast as their slowest task: what they do in a slot, and what is seen of it.
//!
//! In every slot each task of such a job does as much as the slowest of them could, times the crossing if
//! the job spans servers. What it reports is its own speed, the same for all of its tasks; nobody sees who
//! was slow.

use crate::model::{ChannelId, Cluster, Observation, Outcome, PlacedJob, Slot};
use crate::scheduler::{Decision, ObserveError, Scheduler};

/// An outcome on its way to the scheduler.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Report {
    /// Of a task.
    Task(Observation),
    /// Of a job whose tasks wait for each other: the slot of its start, its channels, what each task did.
    Job(Slot, Vec<ChannelId>, f64),
}

impl Report {
    /// The slot and the channel that it is of, or the first of its channels.
    pub fn key(&self) -> (Slot, ChannelId) {
        match self {
            Self::Task(seen) => (seen.slot, seen.channel),
            Self::Job(slot, channels, _) => (*slot, channels[0]),
        }
    }

    pub fn channels(&self) -> &[ChannelId] {
        match self {
            Self::Task(seen) => std::slice::from_ref(&seen.channel),
            Self::Job(_, channels, _) => channels,
        }
    }

    /// Tells the scheduler.
    pub fn tell(&self, scheduler: &mut Scheduler) -> Result<(), ObserveError> {
        match self {
            Self::Task(seen) => scheduler.observe(seen),
            Self::Job(slot, channels, utility) => {
                scheduler.observe_job(*slot, channels, Outcome::Ran(*utility))
            }
        }
    }
}

/// What some jobs of a slot are worth: uses of other ports one by one, ascending, then these jobs.
pub(super) fn worth(
    cluster: &Cluster,
    channels: &[ChannelId],
    jobs: &[PlacedJob],
    mut mean: impl FnMut(ChannelId) -> f64,
) -> f64 {
    let mut sum: f64 =
        channels.iter().filter(|&&channel| !is_paced(cluster, channel)).map(|&channel| mean(channel)).sum();
    for PlacedJob { port, channels } in jobs {
        let speeds: Vec<f64> = channels.iter().map(|&channel| mean(channel)).collect();
        sum += cluster.progress(*port, channels, |task| speeds[task]);
    }
    sum
}

/// What uses of a slot did, and what is seen of them, where jobs last one slot. `utilities` is of
/// `decision.channels()`, one by one.
pub(super) fn run(decision: &Decision, cluster: &Cluster, utilities: &[f64], seen: &mut Vec<Report>) -> f64 {
    let (slot, channels) = (decision.slot(), decision.channels());
    let mut sum = 0.0;
    for (&channel, &utility) in channels.iter().zip(utilities).filter(|(c, _)| !is_paced(cluster, **c)) {
        sum += utility;
        seen.push(Report::Task(Observation { slot, channel, outcome: Outcome::Ran(utility) }));
    }
    let mut next: Vec<usize> = (0..channels.len()).collect();
    for job in paced(cluster, decision) {
        let mut speeds = Vec::with_capacity(job.channels.len());
        for channel in &job.channels {
            // The uses of a channel are given out in turn.
            let first = channels.partition_point(|other| other < channel);
            speeds.push(utilities[next[first]]);
            next[first] += 1;
        }
        let done = cluster.progress(job.port, &job.channels, |task| speeds[task]);
        sum += done;
        let each = done / job.channels.len() as f64;
        seen.push(Report::Job(slot, job.channels, each));
    }
    sum
}

/// The jobs of a decision that run as fast as their slowest task.
pub(super) fn paced(cluster: &Cluster, decision: &Decision) -> Vec<PlacedJob> {
    let mut jobs = decision.jobs(cluster);
    jobs.retain(|job| cluster.crossing(job.port).is_some());
    jobs
}

fn is_paced(cluster: &Cluster, channel: ChannelId) -> bool {
    cluster.crossing(cluster.channel(channel).port).is_some()
}
