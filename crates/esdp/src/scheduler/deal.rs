//! From a decision to jobs: which uses belong together.
//!
//! Where the speeds of a job's tasks add up, jobs of a port are alike, so a decision lists uses and not
//! whose they are. They are dealt out in turn to the fewest jobs that can hold them, group after group
//! without starting over: each job then gets, of every group, no more tasks than it has, and in all at least
//! its minimum (see [`FewestJobs`]). The fewest, because a job that starts with all its tasks is done sooner
//! than two that share them.
//!
//! Where a job runs at the speed of its slowest task, it matters which uses go together: a policy says so
//! with its choice, or its uses are dealt by what is believed of speeds
//! ([`deal`](crate::policy::kit::deal)).

use super::{Decision, Scheduler};
use crate::model::{ChannelId, Cluster, FewestJobs, PlacedJob, PortId};
use crate::policy::kit::deal;

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
        uses.retain(|(port, ..)| cluster.crossing(*port).is_none());
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
        let own = usize::from(self.first_start().is_some());
        placed.extend_from_slice(self.paced());
        placed[own..].sort_by_key(|job| job.port);
        placed
    }
}

impl Scheduler {
    /// Deals uses of ports whose jobs run at the speed of their slowest task, where the policy did not.
    pub(super) fn deal_choice(&mut self) {
        let Self { cluster, policy, choice, speeds, slot, .. } = self;
        let is_dealt = |port: PortId| choice.jobs.iter().any(|job| job.port == port);
        let port = |channel: &ChannelId| cluster.channel(*channel).port;
        let paced =
            |channel: &ChannelId| cluster.crossing(port(channel)).is_some() && !is_dealt(port(channel));
        let mut open: Vec<ChannelId> = choice.channels.iter().copied().filter(paced).collect();
        if open.is_empty() {
            return;
        }
        open.sort_by_key(port);
        if !policy.believed(*slot, cluster.channels().len(), speeds) {
            speeds.clear();
        }
        let speed = |channel: ChannelId| {
            let known = speeds.get(channel.index()).copied().filter(|speed| !speed.is_nan());
            known.unwrap_or(0.0)
        };
        for uses in open.chunk_by(|a, b| port(a) == port(b)) {
            let port = port(&uses[0]);
            let jobs = deal(cluster, port, uses, speed).into_iter();
            choice.jobs.extend(jobs.map(|channels| PlacedJob { port, channels }));
        }
    }
}
