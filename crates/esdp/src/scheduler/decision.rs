//! A decision that holds: the only way out of a policy.

use crate::model::{Amount, ChannelId, DeviceId, PortId, ServerId, Slot, SlotView};
use crate::policy::{Certificate, Choice};
use thiserror::Error;

/// Channels that may run in a slot: every one open, within every capacity.
///
/// Its fields are private and [`Decision::seal`] is the only constructor, so whoever holds a
/// decision may act on it without checking again.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    slot: Slot,
    channels: Vec<ChannelId>,
    certificate: Option<Certificate>,
}

/// Why a choice is no decision. Fatal: a bug in the policy.
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
    /// A channel used more often than its port has jobs.
    #[error("{channel} is used {used} times, but {port} has {jobs} jobs")]
    TooOften {
        /// The channel.
        channel: ChannelId,
        /// How often it was chosen.
        used: usize,
        /// Its port.
        port: PortId,
        /// The jobs there.
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
    /// Checks a choice against the slot it was made for: known channels, a channel at
    /// most once for each job of its port, cluster-wide and per-server capacity.
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
        Self { slot: Slot(0), channels: Vec::new(), certificate: None }
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
        self.check_capacity(view)?;
        decision.slot = view.slot;
        decision.channels.clone_from(&self.sorted);
        decision.certificate = choice.certificate;
        Ok(())
    }

    fn check_arrivals(&self, view: &SlotView<'_>) -> Result<(), SealError> {
        let channels = view.cluster.channels().len();
        for same in self.sorted.chunk_by(|a, b| a == b) {
            let (channel, used) = (same[0], same.len());
            if channel.index() >= channels {
                return Err(SealError::UnknownChannel { channel, channels });
            }
            let port = view.cluster.channel(channel).port;
            let jobs = view.arrivals.jobs(port);
            if used > jobs as usize {
                return Err(SealError::TooOften { channel, used, port, jobs });
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
                && let Some((device, needed, free)) = exceeded(&self.servers[server.index() * devices..], free)
            {
                return Err(SealError::Server { device, server, needed, free });
            }
        }
        Ok(())
    }
}
