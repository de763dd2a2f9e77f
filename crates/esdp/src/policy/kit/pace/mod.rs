//! A slot in which some jobs run at the speed of their slowest task.
//!
//! The solver adds speeds up. That is a relaxation: no job does more than the sum of its tasks' indices, so
//! the solver's bound is a bound of this problem too, and its choice is the first candidate. The uses it
//! chose are dealt to jobs ([`deal`]), and [`search`] looks for jobs that do more together: on servers above
//! a threshold of speed, and on one server. What is best by *tasks x slowest x crossing* is taken.

mod deal;
mod place;
mod search;

pub use deal::deal;

use super::Room;
use crate::model::{ChannelId, Cluster, PlacedJob, PortId, SlotView};
use place::{Column, Placed, Port};
use search::Search;

/// What a job may give of its index to run on one server and not on as many as it has tasks. Indices are
/// never exactly equal, and that a job which spans servers is slower is known even where nobody says by how
/// much.
const NODE: f64 = 0.05;

/// What one decision may take, in looks at a column; some nanoseconds each.
const WORK: u64 = 3_000_000;

/// The buffers of a slot, and its limit of work.
#[derive(Debug, Default)]
pub(super) struct Paced {
    limit: Option<u64>,
    ports: Vec<Port>,
}

/// What came of a search.
pub(super) struct Outcome {
    /// The jobs that run at the speed of their slowest task.
    pub jobs: Vec<PlacedJob>,
    /// Uses of all other ports.
    pub others: Vec<ChannelId>,
    /// What all of it counts.
    pub value: f64,
}

impl Paced {
    /// Limits the work of every decision.
    pub fn limit_work(&mut self, visits: Option<u64>) {
        self.limit = visits;
    }

    /// Improves what a solver chose. `scored` lists every channel of the slot's problem once with its index,
    /// `room` is what was free before the choice, `started` the jobs of each port that have started already,
    /// and `bound` is what no choice exceeds.
    pub fn improve(
        &mut self,
        view: &SlotView<'_>,
        room: &mut Room,
        scored: &[(ChannelId, f64)],
        (chosen, started): (&[ChannelId], &[u32]),
        bound: f64,
    ) -> Outcome {
        let cluster = view.cluster;
        self.fill(view, scored, started);
        let index = |channel| self.index(cluster, channel);
        let (mut jobs, mut others, mut fixed) = (Vec::new(), Vec::new(), 0.0);
        let mut by_port: Vec<Vec<ChannelId>> = vec![Vec::new(); cluster.ports().len()];
        chosen.iter().for_each(|&channel| by_port[cluster.channel(channel).port.index()].push(channel));
        for (port, uses) in by_port.iter().enumerate().filter(|(_, uses)| !uses.is_empty()) {
            let port = PortId::at(port);
            if !cluster.is_gang(port) {
                fixed += uses.iter().map(|&channel| index(channel)).sum::<f64>();
                uses.iter().for_each(|&channel| {
                    room.take(cluster, channel);
                });
                others.extend_from_slice(uses);
                continue;
            }
            for channels in deal(cluster, port, uses, index) {
                jobs.push(self.placed(cluster, port, &channels));
            }
        }
        let work = self.limit.unwrap_or(WORK).min(WORK);
        let mut search = Search::new(cluster, &self.ports, room, jobs, work);
        search.run(bound - fixed);
        let value = fixed + search.value();
        let mut paced = Vec::new();
        for Placed { port, columns, .. } in search.into_jobs() {
            let Port { id, columns: all, crossing, .. } = &self.ports[port];
            let mut channels: Vec<ChannelId> = columns.iter().map(|&column| all[column].channel).collect();
            channels.sort_unstable_by_key(|&channel| (cluster.task_group(channel), channel));
            match crossing {
                Some(_) => paced.push(PlacedJob { port: *id, channels }),
                None => others.extend(channels),
            }
        }
        paced.sort_by_key(|job| job.port);
        Outcome { jobs: paced, others, value }
    }

    /// The ports of gangs that have jobs, each with its channels, the best first. Other ports are listed
    /// too, so that positions are ids, and have no jobs.
    fn fill(&mut self, view: &SlotView<'_>, scored: &[(ChannelId, f64)], started: &[u32]) {
        let cluster = view.cluster;
        let port = |id: PortId| {
            let jobs = view.arrivals.jobs(id).saturating_sub(started[id.index()]);
            Port::new(cluster, id, if cluster.is_gang(id) { jobs } else { 0 })
        };
        self.ports.clear();
        self.ports.extend((0..cluster.ports().len()).map(|id| port(PortId::at(id))));
        for &(channel, index) in scored {
            let port = cluster.channel(channel).port;
            self.ports[port.index()].columns.push(Column::new(cluster, channel, index));
        }
        self.ports.iter_mut().for_each(|port| port.prepare(cluster));
    }

    fn index(&self, cluster: &Cluster, channel: ChannelId) -> f64 {
        let port = &self.ports[cluster.channel(channel).port.index()];
        port.position(channel).map_or(0.0, |at| port.columns[at].index)
    }

    fn placed(&self, cluster: &Cluster, port: PortId, channels: &[ChannelId]) -> Placed {
        let of = &self.ports[port.index()];
        let columns = channels.iter().filter_map(|&channel| of.position(channel)).collect();
        Placed::new(cluster, port.index(), of, columns)
    }
}

#[cfg(test)]
mod tests;
