//! Jobs made of tasks that run together or not at all.
//!
//! A port whose jobs are *gangs* says how many identical tasks each of its *task groups* has and
//! the least number *m_l* of them that must run, over all groups, if the job runs at all. A group may have a
//! minimum of its own: a job of one parameter server and four workers needs at least one of each. Each task
//! runs on one server. The constraint as the paper prints it cannot be met when a job is absent
//! and lets a task run on two servers; see deviation 17 of `docs/paper.md`.
//!
//! A port that is not a gang is the special case in which every channel is a group of its own,
//! with one task: each job may use each channel once, and any part of them.

use super::{ChannelId, ChannelSpec, Pace, PortId};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use thiserror::Error;

/// A port whose jobs are gangs, as the user writes it. Its channels say by
/// [`ChannelSpec::task`] which group of tasks may use them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GangSpec {
    /// The port, by position.
    pub port: u32,
    /// The least number of tasks that a job starts with, *m_l*, at least 1.
    pub minimum: u32,
    /// The groups of identical tasks of a job, at least one.
    pub tasks: Vec<TaskSpec>,
    /// How fast a job runs.
    #[serde(default)]
    pub pace: Pace,
}

/// A group of identical tasks, as the user writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// Its name, unique in its job.
    pub name: String,
    /// How many of these tasks a job has, at least 1.
    pub count: u32,
    /// How many of these tasks a job needs to start; 0 if the minimum of the job is enough.
    #[serde(default)]
    pub minimum: u32,
}

impl GangSpec {
    /// Jobs whose groups have these numbers of tasks, no minimum of their own, and their positions as names;
    /// their speeds add up.
    pub fn new(port: u32, minimum: u32, counts: &[u32]) -> Self {
        let task = |(index, &count): (usize, &u32)| TaskSpec { name: index.to_string(), count, minimum: 0 };
        Self { port, minimum, tasks: counts.iter().enumerate().map(task).collect(), pace: Pace::Sum }
    }
}

/// Why a [`GangSpec`] does not fit its cluster. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GangError {
    /// A job that spans servers keeps nothing of its speed, or more than all.
    #[error("the gang of port {port}: `crossing` is {crossing}, expected a number above 0, at most 1")]
    Crossing {
        /// The port.
        port: u32,
        /// The factor found.
        crossing: f64,
    },
    /// The port does not exist.
    #[error("`port` is {port}, expected less than {ports}")]
    UnknownPort {
        /// The port found.
        port: u32,
        /// The number of ports.
        ports: usize,
    },
    /// The port is listed twice.
    #[error("port {port} is listed by an earlier gang already")]
    Duplicate {
        /// The port.
        port: u32,
    },
    /// A group has no task, or there is no group.
    #[error("the gang of port {port}: `tasks` is {found}, expected one or more whole numbers from 1")]
    Tasks {
        /// The port.
        port: u32,
        /// What was found.
        found: String,
    },
    /// Two groups of a job have the same name.
    #[error("the gang of port {port}: the task group `{name}` is listed twice")]
    TaskName {
        /// The port.
        port: u32,
        /// The name found twice.
        name: String,
    },
    /// A group needs more tasks than it has.
    #[error(
        "the gang of port {port}: `minimum` of the task group `{name}` is {minimum}, expected at most {count}"
    )]
    TaskMinimum {
        /// The port.
        port: u32,
        /// The group.
        name: String,
        /// The minimum found.
        minimum: u32,
        /// The tasks of the group.
        count: u32,
    },
    /// The minimum is 0 or more than the job has tasks.
    #[error("the gang of port {port}: `minimum` is {minimum}, expected a whole number from 1 to {tasks}")]
    Minimum {
        /// The port.
        port: u32,
        /// The minimum found.
        minimum: u32,
        /// The number of tasks of a job.
        tasks: u64,
    },
    /// A channel names a group that its port does not have.
    #[error(
        "channel {channel}: `task` is {task}, expected less than {groups}, the task groups of port {port}"
    )]
    UnknownTask {
        /// The channel's position.
        channel: usize,
        /// The group found.
        task: u32,
        /// The channel's port.
        port: u32,
        /// The number of groups there.
        groups: usize,
    },
}

/// A group of identical tasks of a port's jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskGroup {
    /// The port.
    pub port: PortId,
    /// How many of these tasks a job has, *Q_lg*.
    pub count: u32,
    /// How many of these tasks a job needs to start.
    pub minimum: u32,
}

/// The task groups of a cluster: of every channel, and of every port.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tasks {
    groups: Vec<TaskGroup>,
    /// The names of the groups; empty where jobs are not gangs.
    names: Vec<String>,
    /// The group of each channel.
    of: Vec<u32>,
    minimum: Vec<u32>,
    is_gang: Vec<bool>,
    pace: Vec<Pace>,
    /// The ports with a group that has a minimum of its own, each with its groups.
    with_minima: Vec<(PortId, Range<usize>)>,
}

impl Tasks {
    pub(super) fn new(gangs: &[GangSpec], channels: &[ChannelSpec], ports: usize) -> Result<Self, GangError> {
        let mut tasks = Self {
            minimum: vec![1; ports],
            is_gang: vec![false; ports],
            pace: vec![Pace::Sum; ports],
            ..Self::default()
        };
        let mut first = vec![0u32; ports];
        let mut width = vec![1usize; ports];
        for gang in gangs {
            let GangSpec { port, minimum, tasks: counts, pace } = gang;
            let index = *port as usize;
            if index >= ports {
                return Err(GangError::UnknownPort { port: *port, ports });
            }
            if tasks.is_gang[index] {
                return Err(GangError::Duplicate { port: *port });
            }
            if counts.is_empty() || counts.iter().any(|task| task.count == 0) {
                let found: Vec<u32> = counts.iter().map(|task| task.count).collect();
                return Err(GangError::Tasks { port: *port, found: format!("{found:?}") });
            }
            for (position, TaskSpec { name, count, minimum }) in counts.iter().enumerate() {
                if counts[..position].iter().any(|earlier| earlier.name == *name) {
                    return Err(GangError::TaskName { port: *port, name: name.clone() });
                }
                if minimum > count {
                    let (name, minimum, count) = (name.clone(), *minimum, *count);
                    return Err(GangError::TaskMinimum { port: *port, name, minimum, count });
                }
            }
            let all = counts.iter().map(|task| u64::from(task.count)).sum();
            if *minimum == 0 || u64::from(*minimum) > all {
                return Err(GangError::Minimum { port: *port, minimum: *minimum, tasks: all });
            }
            if let Pace::Slowest { crossing } = pace
                && !(*crossing > 0.0 && *crossing <= 1.0)
            {
                return Err(GangError::Crossing { port: *port, crossing: *crossing });
            }
            // A job of one task waits for nobody.
            tasks.pace[index] = if all > 1 { *pace } else { Pace::Sum };
            tasks.is_gang[index] = true;
            tasks.minimum[index] = *minimum;
            first[index] = tasks.groups.len() as u32;
            width[index] = counts.len();
            let groups = tasks.groups.len()..tasks.groups.len() + counts.len();
            if counts.iter().any(|task| task.minimum > 0) {
                tasks.with_minima.push((PortId(*port), groups));
            }
            for &TaskSpec { ref name, count, minimum } in counts {
                tasks.groups.push(TaskGroup { port: PortId(*port), count, minimum });
                tasks.names.push(name.clone());
            }
        }
        for (channel, spec) in channels.iter().enumerate() {
            let port = spec.port as usize;
            if spec.task as usize >= width[port] {
                let (task, port, groups) = (spec.task, spec.port, width[port]);
                return Err(GangError::UnknownTask { channel, task, port, groups });
            }
            if tasks.is_gang[port] {
                tasks.of.push(first[port] + spec.task);
            } else {
                tasks.of.push(tasks.groups.len() as u32);
                tasks.groups.push(TaskGroup { port: PortId(spec.port), count: 1, minimum: 0 });
                tasks.names.push(String::new());
            }
        }
        Ok(tasks)
    }

    pub(super) fn groups(&self) -> &[TaskGroup] {
        &self.groups
    }

    pub(super) fn name(&self, group: usize) -> &str {
        &self.names[group]
    }

    pub(super) fn with_minima(&self) -> &[(PortId, Range<usize>)] {
        &self.with_minima
    }

    pub(super) fn of(&self, channel: ChannelId) -> usize {
        self.of[channel.index()] as usize
    }

    pub(super) fn minimum(&self, port: PortId) -> u32 {
        self.minimum[port.index()]
    }

    pub(super) fn is_gang(&self, port: PortId) -> bool {
        self.is_gang[port.index()]
    }

    pub(super) fn pace(&self, port: PortId) -> Pace {
        self.pace[port.index()]
    }

    pub(super) fn any_slowest(&self) -> bool {
        self.pace.iter().any(|&pace| pace != Pace::Sum)
    }

    pub(super) fn any_gang(&self) -> bool {
        self.is_gang.contains(&true)
    }
}

/// A job that starts, with a channel for each of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedJob {
    /// Its port.
    pub port: PortId,
    /// A channel for each task that runs.
    pub channels: Vec<ChannelId>,
}

/// How uses of channels stand as jobs: the fewest jobs that can hold them, and whether each of
/// those reaches its minimum.
///
/// Jobs of one port are alike, so uses need not say whose they are. If the uses of every group fit into `s`
/// jobs, and there are at least `s m` of them, then dealing them out in turn gives every job between its
/// minimum and its tasks, of every group as well; and if the fewest jobs do not reach their minimum, more of
/// them do not either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FewestJobs {
    /// The fewest jobs that can hold the uses.
    pub jobs: u64,
    /// The uses in all.
    pub tasks: u64,
}

impl FewestJobs {
    /// Nothing used.
    pub const NONE: FewestJobs = FewestJobs { jobs: 0, tasks: 0 };

    /// Adds the uses of one group with `count` tasks a job.
    pub fn add(&mut self, uses: u64, count: u32) {
        self.jobs = self.jobs.max(uses.div_ceil(u64::from(count.max(1))));
        self.tasks += uses;
    }

    /// Whether every job reaches its minimum.
    pub fn reaches(&self, minimum: u32) -> bool {
        self.tasks >= self.jobs.saturating_mul(u64::from(minimum))
    }
}
