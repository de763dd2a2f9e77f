//! From a decision to jobs: which uses belong together.
//!
//! Jobs of a port are alike, so a decision lists uses and not whose they are. They are dealt out in
//! turn to the fewest jobs that can hold them, group after group without starting over: each job then
//! gets, of every group, no more tasks than it has, and in all at least its minimum
//! (see [`FewestJobs`]). The fewest, because a job that starts with all its tasks
//! is done sooner than two that share them.

use super::Decision;
use crate::model::{ChannelId, Cluster, FewestJobs, PortId};

/// A job that starts, with a channel for each of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedJob {
    /// Its port.
    pub port: PortId,
    /// A channel for each task that runs.
    pub channels: Vec<ChannelId>,
}

impl Decision {
    /// The uses of all jobs but the one that goes before the others.
    pub(super) fn rest(&self) -> Vec<ChannelId> {
        let mut rest = self.channels().to_vec();
        for channel in self.first_start().iter().flat_map(|(_, first)| &first.channels) {
            if let Ok(place) = rest.binary_search(channel) {
                rest.remove(place);
            }
        }
        rest
    }

    /// The jobs that start: the one that goes before the others, if there is one, and the others port after
    /// port.
    pub fn jobs(&self, cluster: &Cluster) -> Vec<PlacedJob> {
        let mut uses: Vec<(PortId, usize, ChannelId)> = self
            .rest()
            .iter()
            .map(|&channel| (cluster.channel(channel).port, cluster.task_group(channel), channel))
            .collect();
        uses.sort_unstable();
        let mut placed: Vec<PlacedJob> =
            self.first_start().map(|(_, first)| first.clone()).into_iter().collect();
        for port in uses.chunk_by(|a, b| a.0 == b.0) {
            let mut fewest = FewestJobs::NONE;
            for group in port.chunk_by(|a, b| a.1 == b.1) {
                fewest.add(group.len() as u64, cluster.task_groups()[group[0].1].count);
            }
            let first = placed.len();
            placed.resize(first + fewest.jobs as usize, PlacedJob { port: port[0].0, channels: Vec::new() });
            let jobs = placed[first..].len();
            for (turn, &(_, _, channel)) in port.iter().enumerate() {
                placed[first + turn % jobs].channels.push(channel);
            }
        }
        placed
    }
}
