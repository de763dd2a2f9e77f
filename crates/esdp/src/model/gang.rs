//! Jobs made of tasks that run together or not at all.
//!
//! A port whose jobs are *gangs* says how many identical tasks each of its *task groups* has and
//! the least number *m_l* of them that must run, over all groups, if the job runs at all. Each task
//! runs on one server. The constraint as the paper prints it cannot be met when a job is absent
//! and lets a task run on two servers; see deviation 17 of `docs/paper.md`.
//!
//! A port that is not a gang is the special case in which every channel is a group of its own,
//! with one task: each job may use each channel once, and any part of them.

use super::{ChannelId, ChannelSpec, PortId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A port whose jobs are gangs, as the user writes it. Its channels say by
/// [`ChannelSpec::task`] which group of tasks may use them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GangSpec {
    /// The port, by position.
    pub port: u32,
    /// The least number of tasks that a job starts with, *m_l*, at least 1.
    pub minimum: u32,
    /// How many identical tasks each group of a job has, at least 1 each.
    pub tasks: Vec<u32>,
}

/// Why a [`GangSpec`] does not fit its cluster. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GangError {
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
    #[error("channel {channel}: `task` is {task}, expected less than {groups}, the task groups of port {port}")]
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
}

/// The task groups of a cluster: of every channel, and of every port.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tasks {
    groups: Vec<TaskGroup>,
    /// The group of each channel.
    of: Vec<u32>,
    minimum: Vec<u32>,
    is_gang: Vec<bool>,
}

impl Tasks {
    pub(super) fn new(gangs: &[GangSpec], channels: &[ChannelSpec], ports: usize) -> Result<Self, GangError> {
        let mut tasks = Self { minimum: vec![1; ports], is_gang: vec![false; ports], ..Self::default() };
        let mut first = vec![0u32; ports];
        let mut width = vec![1usize; ports];
        for gang in gangs {
            let GangSpec { port, minimum, tasks: counts } = gang;
            let index = *port as usize;
            if index >= ports {
                return Err(GangError::UnknownPort { port: *port, ports });
            }
            if tasks.is_gang[index] {
                return Err(GangError::Duplicate { port: *port });
            }
            if counts.is_empty() || counts.contains(&0) {
                return Err(GangError::Tasks { port: *port, found: format!("{counts:?}") });
            }
            let all = counts.iter().map(|&count| u64::from(count)).sum();
            if *minimum == 0 || u64::from(*minimum) > all {
                return Err(GangError::Minimum { port: *port, minimum: *minimum, tasks: all });
            }
            tasks.is_gang[index] = true;
            tasks.minimum[index] = *minimum;
            first[index] = tasks.groups.len() as u32;
            width[index] = counts.len();
            tasks.groups.extend(counts.iter().map(|&count| TaskGroup { port: PortId(*port), count }));
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
                tasks.groups.push(TaskGroup { port: PortId(spec.port), count: 1 });
            }
        }
        Ok(tasks)
    }

    pub(super) fn groups(&self) -> &[TaskGroup] {
        &self.groups
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

    pub(super) fn any_gang(&self) -> bool {
        self.is_gang.contains(&true)
    }
}

/// How uses of channels stand as jobs: the fewest jobs that can hold them, and whether each of
/// those reaches its minimum.
///
/// Jobs of one port are alike, so uses need not say whose they are. If the uses of every group fit
/// into `s` jobs, and there are at least `s m` of them, then dealing them out in turn gives every job
/// between its minimum and its tasks; and if the fewest jobs do not reach their minimum, more of
/// them do not either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Muster {
    /// The fewest jobs that can hold the uses.
    pub jobs: u64,
    /// The uses in all.
    pub tasks: u64,
}

impl Muster {
    /// Nothing used.
    pub const NONE: Muster = Muster { jobs: 0, tasks: 0 };

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
