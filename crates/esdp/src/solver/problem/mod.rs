//! One slot's problem, free of bandits: requests, capacities and an objective.

mod room;

use super::gangs::{Gang, Gangs, Group};
use super::uses::{Sum, Use, Uses};
use crate::model::{Amount, Room};
use thiserror::Error;

/// Maximise `sum(mean) + sqrt(sum(width))` over sets of channels within capacity.
///
/// `width` is the paper's *sigma-hat squared*; all zero makes the problem linear. Means
/// may be negative. Channels are named by their position, `0..len()`. Capacity rows are
/// cluster-wide, and optionally per server as well. Each channel is used at most once, unless
/// [`Gangs`] say otherwise. Built once per slot by [`Instance::problem`], which checks it.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    capacity: &'a [Amount],
    requests: &'a [Amount],
    mean: &'a [f64],
    width: &'a [f64],
    servers: Option<Servers<'a>>,
    gangs: Option<Gangs<'a>>,
}

/// Per-server limits of a [`Problem`].
#[derive(Debug, Clone, Copy)]
pub struct Servers<'a> {
    /// The server of each channel.
    pub of: &'a [u32],
    /// What each server has: `capacity[server * devices + device]`.
    pub capacity: &'a [Amount],
}

/// Why numbers are no [`Problem`]. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ProblemError {
    /// The lists do not have the same number of channels or devices.
    #[error("`{list}` has length {found}, expected {expected}")]
    Length {
        /// The list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// What the other lists ask for.
        expected: usize,
    },
    /// A mean is NaN or infinite.
    #[error("channel {channel}: `mean` is {value}, expected a finite number")]
    Mean {
        /// The channel's position.
        channel: usize,
        /// The value found.
        value: f64,
    },
    /// A width is NaN, infinite or negative.
    #[error("channel {channel}: `width` is {value}, expected a finite number of at least 0")]
    Width {
        /// The channel's position.
        channel: usize,
        /// The value found.
        value: f64,
    },
    /// The numbers are so large that their sum is not finite.
    #[error("the sum of `{list}` over all channels is not a finite number")]
    Overflow {
        /// The list.
        list: &'static str,
    },
    /// A channel names a server without a capacity.
    #[error("channel {channel}: `server` is {value}, expected less than {limit}")]
    Server {
        /// The channel's position.
        channel: usize,
        /// The value found.
        value: u32,
        /// The number of servers.
        limit: usize,
    },
    /// A channel names a task group, or a group names a job, that does not exist.
    #[error("`{list}` entry {position} is {value}, expected less than {limit}")]
    Unknown {
        /// The list.
        list: &'static str,
        /// The position in it.
        position: usize,
        /// The value found.
        value: u32,
        /// How many there are.
        limit: usize,
    },
    /// More tasks than a decision can list.
    #[error("the jobs have {found} tasks in all, at most {limit} are accepted", limit = Gangs::MOST_TASKS)]
    TooManyTasks {
        /// The number of tasks.
        found: u128,
    },
    /// More channels than positions can tell apart.
    #[error("{found} channels, at most {limit} are accepted", limit = u32::MAX)]
    TooMany {
        /// The number of channels.
        found: usize,
    },
}

impl<'a> Problem<'a> {
    /// The number of channels, *n*.
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there is no channel at all.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// The number of device types, *K*.
    pub fn devices(&self) -> usize {
        self.capacity.len()
    }

    /// The cluster-wide capacity; [`Amount::MAX`] where it does not limit.
    pub fn capacity(&self) -> &'a [Amount] {
        self.capacity
    }

    /// A channel's request on every device.
    pub fn request(&self, channel: usize) -> &'a [Amount] {
        &self.requests[channel * self.devices()..][..self.devices()]
    }

    /// The means.
    pub fn mean(&self) -> &'a [f64] {
        self.mean
    }

    /// The widths.
    pub fn width(&self) -> &'a [f64] {
        self.width
    }

    /// Per-server limits, if there are any.
    pub fn servers(&self) -> Option<Servers<'a>> {
        self.servers
    }

    /// The jobs that the channels' tasks belong to, if tasks run together or not at all.
    pub fn gangs(&self) -> Option<Gangs<'a>> {
        self.gangs
    }

    /// How often a channel can be used: once, or as often as there are tasks for it, but no more
    /// often than it fits.
    pub fn most(&self, channel: usize) -> u64 {
        let request = self.request(channel);
        let fits = |capacity: &[Amount]| {
            request.iter().zip(capacity).filter_map(|(&a, &c)| c.checked_div(a)).min().unwrap_or(Amount::MAX)
        };
        let server = self
            .servers
            .map_or(Amount::MAX, |servers| fits(servers.row(servers.of[channel], self.devices())));
        self.gangs.map_or(1, |gangs| gangs.most(channel)).min(fits(self.capacity)).min(server)
    }

    /// Whether a channel could run alone.
    pub fn fits_alone(&self, channel: usize) -> bool {
        let request = self.request(channel);
        let fits = |capacity: &[Amount]| request.iter().zip(capacity).all(|(a, c)| a <= c);
        fits(self.capacity)
            && self.servers.is_none_or(|servers| fits(servers.row(servers.of[channel], self.devices())))
    }

    /// The objective at the uses of channels: `sum(mean) + sqrt(sum(width))`.
    pub fn value(&self, uses: &Uses) -> f64 {
        let (mut mean, mut width) = (Sum::default(), Sum::default());
        for Use { channel, count } in uses.iter() {
            mean.add(self.mean[channel as usize] * f64::from(count));
            width.add(self.width[channel as usize] * f64::from(count));
        }
        mean.total() + f64::sqrt(width.total())
    }

    /// Whether uses of distinct, ascending channels keep every capacity: at most one of each channel, or,
    /// with [`Gangs`], such that every job is whole.
    pub fn is_feasible(&self, uses: &Uses) -> bool {
        let is_kind =
            uses.is_sorted() && (self.gangs.is_some() || uses.iter().all(|Use { count, .. }| count == 1));
        let mut room = Room::default();
        self.fill(&mut room);
        let fits = |Use { channel, count }| self.take(&mut room, channel as usize, count);
        is_kind && uses.iter().all(fits) && self.gangs.is_none_or(|gangs| gangs.are_whole(uses))
    }
}

impl<'a> Servers<'a> {
    /// One server's capacity.
    pub fn row(&self, server: u32, devices: usize) -> &'a [Amount] {
        &self.capacity[server as usize * devices..][..devices]
    }
}

/// The owned numbers of a [`Problem`]; a buffer to fill slot after slot.
///
/// ```
/// use esdp::solver::{Exhaustive, Instance, Solver, Uses};
///
/// let mut instance = Instance::new(vec![6, 5, 8]);
/// instance.push(&[1, 2, 1], 0.41, 0.20);
/// instance.push(&[2, 1, 1], 0.37, 0.0);
/// let solution = Exhaustive::default().solve(&instance.problem()?)?;
/// assert_eq!(solution.chosen, Uses::from([0, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Instance {
    /// The cluster-wide capacity; [`Amount::MAX`] where it does not limit.
    pub capacity: Vec<Amount>,
    /// Channel after channel, the request on every device.
    pub requests: Vec<Amount>,
    /// The means.
    pub mean: Vec<f64>,
    /// The widths.
    pub width: Vec<f64>,
    /// The server of each channel; empty where servers have no limits.
    pub server: Vec<u32>,
    /// Server after server, its capacity; empty where servers have no limits, or there are no device types.
    pub server_capacity: Vec<Amount>,
    /// The task group of each channel; empty where channels are used at most once.
    pub group: Vec<u32>,
    /// The task groups.
    pub groups: Vec<Group>,
    /// The jobs of the task groups.
    pub jobs: Vec<Gang>,
}

impl From<&Problem<'_>> for Instance {
    /// A copy of a problem, to be solved later.
    fn from(problem: &Problem<'_>) -> Self {
        let mut instance = Self::new(problem.capacity().to_vec());
        for channel in 0..problem.len() {
            instance.push(problem.request(channel), problem.mean()[channel], problem.width()[channel]);
        }
        if let Some(servers) = problem.servers() {
            instance.server = servers.of.to_vec();
            instance.server_capacity = servers.capacity.to_vec();
        }
        if let Some(gangs) = problem.gangs() {
            instance.group = gangs.group.to_vec();
            instance.groups = gangs.groups.to_vec();
            instance.jobs = gangs.jobs.to_vec();
        }
        instance
    }
}

impl Instance {
    /// No channels yet, and a cluster-wide capacity.
    pub fn new(capacity: Vec<Amount>) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Adds a channel.
    pub fn push(&mut self, request: &[Amount], mean: f64, width: f64) {
        self.requests.extend_from_slice(request);
        self.mean.push(mean);
        self.width.push(width);
    }

    /// Removes all channels and capacities, keeping the memory.
    pub fn clear(&mut self) {
        let Self { capacity, requests, mean, width, server, server_capacity, group, groups, jobs } = self;
        capacity.clear();
        requests.clear();
        mean.clear();
        width.clear();
        server.clear();
        server_capacity.clear();
        group.clear();
        groups.clear();
        jobs.clear();
    }

    /// The checked problem.
    ///
    /// # Errors
    /// When lengths differ, or a number is NaN, infinite, negative where it must not
    /// be, or so large that sums overflow.
    pub fn problem(&self) -> Result<Problem<'_>, ProblemError> {
        let (n, devices) = (self.mean.len(), self.capacity.len());
        if u32::try_from(n).is_err() {
            return Err(ProblemError::TooMany { found: n });
        }
        let length = |list, found, expected| {
            if found == expected { Ok(()) } else { Err(ProblemError::Length { list, found, expected }) }
        };
        length("width", self.width.len(), n)?;
        length("request", self.requests.len(), n.saturating_mul(devices))?;
        let gangs = self.gangs(n)?;
        let (mut means, mut widths) = (0.0, 0.0);
        for (channel, (&mean, &width)) in self.mean.iter().zip(&self.width).enumerate() {
            if !mean.is_finite() {
                return Err(ProblemError::Mean { channel, value: mean });
            }
            if !(width.is_finite() && width >= 0.0) {
                return Err(ProblemError::Width { channel, value: width });
            }
            let uses = gangs.map_or(1.0, |gangs| gangs.most(channel) as f64);
            means += mean.abs() * uses;
            widths += width * uses;
        }
        for (list, sum) in [("mean", means), ("width", widths)] {
            if !f64::is_finite(sum) {
                return Err(ProblemError::Overflow { list });
            }
        }
        Ok(Problem {
            capacity: &self.capacity,
            requests: &self.requests,
            mean: &self.mean,
            width: &self.width,
            servers: self.servers(n, devices)?,
            gangs,
        })
    }

    fn gangs(&self, n: usize) -> Result<Option<Gangs<'_>>, ProblemError> {
        if self.group.is_empty() && self.groups.is_empty() && self.jobs.is_empty() {
            return Ok(None);
        }
        let gangs = Gangs { group: &self.group, groups: &self.groups, jobs: &self.jobs };
        gangs.check(n)?;
        Ok(Some(gangs))
    }

    fn servers(&self, n: usize, devices: usize) -> Result<Option<Servers<'_>>, ProblemError> {
        if self.server.is_empty() && self.server_capacity.is_empty() {
            return Ok(None);
        }
        if self.server.len() != n {
            return Err(ProblemError::Length { list: "server", found: self.server.len(), expected: n });
        }
        // Without device types there is no capacity to count the servers by, and none that binds.
        let limit = self.server_capacity.len().checked_div(devices).unwrap_or(u32::MAX as usize);
        if limit * devices != self.server_capacity.len() {
            let (found, expected) = (self.server_capacity.len(), limit * devices);
            return Err(ProblemError::Length { list: "server_capacity", found, expected });
        }
        let unknown = self.server.iter().position(|&server| server as usize >= limit);
        match unknown {
            Some(channel) => Err(ProblemError::Server { channel, value: self.server[channel], limit }),
            None => Ok(Some(Servers { of: &self.server, capacity: &self.server_capacity })),
        }
    }
}
