//! A decision that holds: the only way out of a policy.

use super::queue::FirstStart;
use crate::model::{
    Amount, ChannelId, Cluster, DeviceId, FewestJobs, JobId, PlacedJob, PortId, ServerId, Slot, SlotView,
    TaskGroup,
};
use crate::policy::{Certificate, Choice};
use thiserror::Error;

/// Channels that may run in a slot: every one open, within every capacity.
///
/// Its fields are private and [`Decision::seal`] is the only constructor, so whoever holds a
/// decision may act on it without checking again.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    slot: Slot,
    pub(super) channels: Vec<ChannelId>,
    certificate: Option<Certificate>,
    /// The jobs of ports that run at the speed of their slowest task, but for the one that goes first.
    paced: Vec<PlacedJob>,
    /// A job that goes before all others, with its own uses.
    first: Option<FirstStart>,
}

/// Why a choice was rejected. Fatal: a bug in the policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealError {
    /// A channel that the cluster does not have.
    #[error("{channel} does not exist, the cluster has {channels}")]
    UnknownChannel {
        /// The channel.
        channel: ChannelId,
        /// The number of channels.
        channels: usize,
    },
    /// A channel to a server that takes nothing in the slot.
    #[error("{channel} is used, but {server} is closed")]
    Closed {
        /// The channel.
        channel: ChannelId,
        /// Its server.
        server: ServerId,
    },
    /// A channel that stays out of the slot.
    #[error("{channel} is used, but it is barred in this slot")]
    Barred {
        /// The channel.
        channel: ChannelId,
    },
    /// A channel used more often than its port has jobs.
    #[error("uses of {channel}: {used}, expected at most {jobs}, as many as {port} has jobs")]
    TooOften {
        /// The channel.
        channel: ChannelId,
        /// How often it was chosen.
        used: u64,
        /// Its port.
        port: PortId,
        /// The jobs there.
        jobs: u32,
    },
    /// More tasks of a group than the gangs of a port have.
    #[error(
        "{port}: {used} tasks of the group of {channel} are placed, but its {jobs} jobs have {count} each"
    )]
    TooManyTasks {
        /// The first channel of the group that was chosen.
        channel: ChannelId,
        /// How often channels of the group were chosen.
        used: u64,
        /// Its port.
        port: PortId,
        /// The jobs there.
        jobs: u32,
        /// The tasks of the group that a job has.
        count: u32,
    },
    /// A job that would start with fewer tasks than it needs.
    #[error(
        "{port}: {tasks} tasks are placed for {jobs} jobs, which start with at least {minimum} tasks each"
    )]
    BelowMinimum {
        /// The port.
        port: PortId,
        /// The tasks placed.
        tasks: u64,
        /// The fewest jobs that have so many.
        jobs: u64,
        /// The least number of tasks of a job.
        minimum: u32,
    },
    /// A job that would start with fewer tasks of a group than it needs.
    #[error(
        "{port}: {tasks} tasks of group {group} are placed for {jobs} jobs, which need at least {minimum} \
         of it each"
    )]
    BelowGroupMinimum {
        /// The port.
        port: PortId,
        /// The position of the group.
        group: usize,
        /// The tasks of the group that are placed.
        tasks: u64,
        /// The fewest jobs that have so many tasks.
        jobs: u64,
        /// The least number of tasks of the group.
        minimum: u32,
    },
    /// The jobs of ports that run at the speed of their slowest task do not hold their uses, one by one.
    #[error("the jobs whose tasks wait for each other do not hold all of their uses, each once")]
    OtherUses,
    /// Uses that are said to make a job, and do not.
    #[error(
        "{port}: {tasks} tasks are said to be a job, but are too few, too many of a group, or of another port"
    )]
    NoJob {
        /// The port.
        port: PortId,
        /// The tasks.
        tasks: usize,
    },
    /// More jobs than a port has.
    #[error("{port}: more jobs start than the {jobs} that it has")]
    TooManyJobs {
        /// The port.
        port: PortId,
        /// The jobs it has.
        jobs: u32,
    },
    /// More devices than the cluster has free.
    #[error("{device}: {needed} are needed, {free} are free in the cluster")]
    Cluster {
        /// The device.
        device: DeviceId,
        /// What the chosen channels ask for.
        needed: u128,
        /// What is free.
        free: Amount,
    },
    /// More devices than a server has free.
    #[error("{device}: {needed} are needed, {free} are free on {server}")]
    Server {
        /// The device.
        device: DeviceId,
        /// The server.
        server: ServerId,
        /// What the chosen channels ask for there.
        needed: u128,
        /// What is free there.
        free: Amount,
    },
}

impl Decision {
    /// Checks a choice against the slot it was made for: known channels to open servers, no more tasks than
    /// the jobs of a port have, no job with fewer than its minimum, cluster-wide and per-server capacity.
    ///
    /// # Errors
    /// With the first thing that does not hold. Nothing is repaired.
    pub fn seal(view: &SlotView<'_>, choice: &Choice) -> Result<Self, SealError> {
        let mut decision = Self::nothing();
        Sealer::default().seal(view, choice, &mut decision)?;
        Ok(decision)
    }

    /// The decision before the first slot, which is empty and therefore holds.
    pub(super) fn nothing() -> Self {
        Self { slot: Slot(0), channels: Vec::new(), certificate: None, paced: Vec::new(), first: None }
    }

    /// The same, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.slot = Slot(0);
        self.channels.clear();
        self.certificate = None;
        self.paced.clear();
        self.first = None;
    }

    /// Adds a job that goes before all others. Its uses were sealed before those of the others, which were
    /// sealed on what it leaves.
    pub(super) fn start_first(&mut self, job: JobId, placed: PlacedJob) {
        self.channels.extend_from_slice(&placed.channels);
        self.channels.sort_unstable();
        self.first = Some((job, placed));
    }

    /// The job that goes before all others, whatever its place in the queue of its port.
    pub fn first(&self) -> Option<JobId> {
        self.first.as_ref().map(|(job, _)| *job)
    }

    /// The job that goes before all others and its uses.
    pub(super) fn first_start(&self) -> Option<&FirstStart> {
        self.first.as_ref()
    }

    /// The jobs of ports that run at the speed of their slowest task, but for the one that goes first.
    pub(super) fn paced(&self) -> &[PlacedJob] {
        &self.paced
    }

    /// The slot it is for.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The channels, ascending; one repeats where it serves several jobs.
    pub fn channels(&self) -> &[ChannelId] {
        &self.channels
    }

    /// What is proved of the index problem behind it, for policies that solve one.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }
}

/// The buffers of [`Decision::seal`], kept from slot to slot.
#[derive(Debug, Default)]
pub(super) struct Sealer {
    sorted: Vec<ChannelId>,
    /// The task group of each use.
    groups: Vec<(usize, ChannelId)>,
    /// How each port's uses stand as jobs.
    fewest: Vec<FewestJobs>,
    cluster: Vec<u128>,
    servers: Vec<u128>,
}

impl Sealer {
    /// Seals into an existing decision, which stays as it was when the choice does not hold.
    pub(super) fn seal(
        &mut self,
        view: &SlotView<'_>,
        choice: &Choice,
        decision: &mut Decision,
    ) -> Result<(), SealError> {
        self.sorted.clone_from(&choice.channels);
        self.sorted.sort_unstable();
        self.check_arrivals(view)?;
        self.check_jobs(view, choice)?;
        self.check_capacity(view)?;
        decision.slot = view.slot;
        decision.channels.clone_from(&self.sorted);
        decision.certificate = choice.certificate;
        decision.paced.clone_from(&choice.jobs);
        decision.first = None;
        Ok(())
    }

    fn check_arrivals(&mut self, view: &SlotView<'_>) -> Result<(), SealError> {
        let cluster = view.cluster;
        let channels = cluster.channels().len();
        self.fewest.clear();
        self.fewest.resize(cluster.ports().len(), FewestJobs::NONE);
        self.groups.clear();
        for &channel in &self.sorted {
            if channel.index() >= channels {
                return Err(SealError::UnknownChannel { channel, channels });
            }
            let server = cluster.channel(channel).server;
            if view.is_closed(server) {
                return Err(SealError::Closed { channel, server });
            }
            if view.is_barred(channel) {
                return Err(SealError::Barred { channel });
            }
            self.groups.push((cluster.task_group(channel), channel));
        }
        self.groups.sort_unstable();
        for same in self.groups.chunk_by(|a, b| a.0 == b.0) {
            let ((group, channel), used) = (same[0], same.len() as u64);
            let TaskGroup { port, count, .. } = cluster.task_groups()[group];
            let jobs = view.arrivals.jobs(port);
            if used > u64::from(jobs) * u64::from(count) {
                return Err(match cluster.is_gang(port) {
                    true => SealError::TooManyTasks { channel, used, port, jobs, count },
                    false => SealError::TooOften { channel, used, port, jobs },
                });
            }
            self.fewest[port.index()].add(used, count);
        }
        for (port, fewest) in self.fewest.iter().enumerate() {
            let port = PortId::at(port);
            let minimum = cluster.minimum(port);
            if !fewest.reaches(minimum) {
                let &FewestJobs { jobs, tasks } = fewest;
                return Err(SealError::BelowMinimum { port, tasks, jobs, minimum });
            }
        }
        self.check_group_minima(cluster)
    }

    fn check_group_minima(&self, cluster: &Cluster) -> Result<(), SealError> {
        for (port, groups) in cluster.group_minima() {
            let (port, jobs) = (*port, self.fewest[port.index()].jobs);
            for group in groups.clone() {
                let minimum = cluster.task_groups()[group].minimum;
                let tasks = self.groups.iter().filter(|(of, _)| *of == group).count() as u64;
                if tasks < jobs * u64::from(minimum) {
                    return Err(SealError::BelowGroupMinimum { port, group, tasks, jobs, minimum });
                }
            }
        }
        Ok(())
    }

    /// Whether the jobs of ports that run at the speed of their slowest task are jobs, and hold all of its
    /// uses.
    fn check_jobs(&self, view: &SlotView<'_>, choice: &Choice) -> Result<(), SealError> {
        let cluster = view.cluster;
        if !cluster.has_slowest() && choice.jobs.is_empty() {
            return Ok(());
        }
        let paced = |channel: &ChannelId| cluster.crossing(cluster.channel(*channel).port).is_some();
        let mut dealt: Vec<ChannelId> = choice.jobs.iter().flat_map(|job| job.channels.clone()).collect();
        dealt.sort_unstable();
        let uses = self.sorted.iter().copied().filter(paced);
        if !uses.eq(dealt) {
            return Err(SealError::OtherUses);
        }
        let mut started = vec![0_u32; cluster.ports().len()];
        for PlacedJob { port, channels } in &choice.jobs {
            let fits = channels.iter().all(|&channel| {
                let (of, group) = (cluster.channel(channel).port, cluster.task_group(channel));
                let own = channels.iter().filter(|&&other| cluster.task_group(other) == group).count();
                of == *port && own <= cluster.task_groups()[group].count as usize
            });
            let has = |group: usize| channels.iter().filter(|&&id| cluster.task_group(id) == group).count();
            let minima = cluster.group_minima().iter().filter(|(of, _)| of == port);
            let reaches = minima
                .flat_map(|(_, groups)| groups.clone())
                .all(|group| has(group) >= cluster.task_groups()[group].minimum as usize);
            let (tasks, jobs) = (channels.len(), &mut started[port.index()]);
            *jobs += 1;
            if !fits || !reaches || tasks < cluster.minimum(*port) as usize {
                return Err(SealError::NoJob { port: *port, tasks });
            }
            if *jobs > view.arrivals.jobs(*port) {
                return Err(SealError::TooManyJobs { port: *port, jobs: view.arrivals.jobs(*port) });
            }
        }
        Ok(())
    }

    fn check_capacity(&mut self, view: &SlotView<'_>) -> Result<(), SealError> {
        let (cluster, devices) = (view.cluster, view.cluster.devices().len());
        let rows = if view.free.has_servers() { cluster.servers().len() } else { 0 };
        for (needed, length) in [(&mut self.cluster, devices), (&mut self.servers, rows * devices)] {
            needed.clear();
            needed.resize(length, 0);
        }
        // Sums in 128 bits: no number of 64-bit requests can wrap around to something small.
        for &channel in &self.sorted {
            let add = |needed: &mut [u128]| {
                needed.iter_mut().zip(cluster.request(channel)).for_each(|(sum, &a)| *sum += u128::from(a));
            };
            add(&mut self.cluster);
            if rows > 0 {
                add(&mut self.servers[cluster.channel(channel).server.index() * devices..]);
            }
        }
        let exceeded = |needed: &[u128], free: &[Amount]| {
            let over = needed.iter().zip(free).position(|(&needed, &free)| needed > u128::from(free));
            over.map(|device| (DeviceId::at(device), needed[device], free[device]))
        };
        if let Some(free) = view.free.cluster()
            && let Some((device, needed, free)) = exceeded(&self.cluster, free)
        {
            return Err(SealError::Cluster { device, needed, free });
        }
        for server in (0..rows).map(ServerId::at) {
            if let Some(free) = view.free.server(server)
                && let Some((device, needed, free)) =
                    exceeded(&self.servers[server.index() * devices..], free)
            {
                return Err(SealError::Server { device, server, needed, free });
            }
        }
        Ok(())
    }
}
