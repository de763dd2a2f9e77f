//! Whole jobs, task by task: what the simple policies and the cover share for gangs.
//!
//! A job takes its tasks from a list of channels, in order, each as often as it fits and there are
//! tasks left for it. If it ends with fewer than its minimum, everything is given back. This is
//! greedy: it can miss a joint placement that exists. Only a solver looks further.

use super::Room;
use crate::model::{ChannelId, Cluster, PortId, TaskGroup};
use crate::policy::Choice;

/// Places whole jobs; keeps its buffer from slot to slot.
#[derive(Debug, Default)]
pub struct WholeJobs {
    /// The tasks left of each task group; only those of the port at hand are kept up.
    left: Vec<u32>,
}

impl WholeJobs {
    /// Starts up to `jobs` jobs of a port on these of its channels; the number that started.
    pub fn place(
        &mut self,
        cluster: &Cluster,
        (port, jobs): (PortId, u32),
        channels: &[ChannelId],
        room: &mut Room,
        choice: &mut Choice,
    ) -> u32 {
        (0..jobs).take_while(|_| self.place_one(cluster, port, channels, room, choice)).count() as u32
    }

    /// Starts one job, or leaves everything as it was and says no.
    fn place_one(
        &mut self,
        cluster: &Cluster,
        port: PortId,
        channels: &[ChannelId],
        room: &mut Room,
        choice: &mut Choice,
    ) -> bool {
        self.left.resize(cluster.task_groups().len(), 0);
        for &channel in channels {
            let group = cluster.task_group(channel);
            self.left[group] = cluster.task_groups()[group].count;
        }
        let before = choice.channels.len();
        let has_minima = cluster.group_minima().iter().any(|(of, _)| *of == port);
        // What every group needs goes first, so that no group takes the room of another's minimum.
        for rounds in (usize::from(!has_minima))..2 {
            for &channel in channels {
                let group = cluster.task_group(channel);
                let TaskGroup { count, minimum, .. } = cluster.task_groups()[group];
                let keep = if rounds == 0 { count - minimum } else { 0 };
                let left = &mut self.left[group];
                while *left > keep && room.take(cluster, channel) {
                    *left -= 1;
                    choice.channels.push(channel);
                }
            }
        }
        let placed = |group: usize| {
            let of = |channel: &&ChannelId| cluster.task_group(**channel) == group;
            choice.channels[before..].iter().filter(of).count()
        };
        let minima = cluster.group_minima().iter().find(|(of, _)| *of == port);
        let all_groups = minima.is_none_or(|(_, groups)| {
            groups.clone().all(|group| placed(group) >= cluster.task_groups()[group].minimum as usize)
        });
        if all_groups && choice.channels.len() - before >= cluster.minimum(port) as usize {
            return true;
        }
        for channel in choice.channels.drain(before..) {
            room.give(cluster, channel);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arrivals;
    use crate::policy::testing::{gang, view};

    #[test]
    fn a_job_is_whole_or_absent() {
        // Jobs of up to 3 + 1 tasks, at least 3; server 0 holds 2 tasks, server 1 one.
        let cluster = gang(vec![vec![2], vec![1]]);
        let (mut jobs, mut room, mut choice) = (WholeJobs::default(), Room::default(), Choice::default());
        let arrivals = Arrivals::everywhere(1);
        room.reset(&view(&cluster, 1, &arrivals, cluster.capacity()));
        let channels = cluster.channels_of(PortId(0));
        assert_eq!(jobs.place(&cluster, (PortId(0), 5), channels, &mut room, &mut choice), 1);
        assert_eq!(choice.channels, [0, 0, 1].map(ChannelId));

        let cluster = gang(vec![vec![1], vec![1]]);
        choice.clear();
        room.reset(&view(&cluster, 1, &arrivals, cluster.capacity()));
        assert_eq!(jobs.place(&cluster, (PortId(0), 5), channels, &mut room, &mut choice), 0);
        assert!(choice.channels.is_empty());
        assert_eq!(room.servers(), [1, 1], "what was taken is given back");
    }
}
