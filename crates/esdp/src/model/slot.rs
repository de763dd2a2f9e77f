//! What happens in one slot: who arrived, what is free, how it went.

use super::{Capacity, ChannelId, Cluster, PortId, ServerId, Slot};
use serde::{Deserialize, Serialize};

/// How many jobs wait at each port in a slot. The paper has at most one; with
/// several, each job is its own copy of the port and may use each of the port's
/// channels once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arrivals {
    jobs: Vec<u32>,
}

impl Arrivals {
    /// Jobs per port, in the order of the ports.
    pub fn new(jobs: Vec<u32>) -> Self {
        Self { jobs }
    }

    /// One job at every port.
    pub fn everywhere(ports: usize) -> Self {
        Self { jobs: vec![1; ports] }
    }

    /// The number of ports this speaks of.
    pub fn ports(&self) -> usize {
        self.jobs.len()
    }

    /// The number of jobs at a port.
    pub fn jobs(&self, port: PortId) -> u32 {
        self.jobs[port.index()]
    }

    /// Sets the number of jobs at a port.
    pub fn set(&mut self, port: PortId, jobs: u32) {
        self.jobs[port.index()] = jobs;
    }

    /// No port has a job any more.
    pub fn clear(&mut self) {
        self.jobs.fill(0);
    }

    /// Whether no port has a job.
    pub fn is_empty(&self) -> bool {
        self.jobs.iter().all(|&jobs| jobs == 0)
    }
}

/// What a policy may see when it decides. The true speeds are not in here.
#[derive(Debug, Clone, Copy)]
pub struct SlotView<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The slot, *t*.
    pub slot: Slot,
    /// Who has a job.
    pub arrivals: &'a Arrivals,
    /// The devices that are free in this slot.
    pub free: &'a Capacity,
    /// By server, whether it takes nothing new in this slot; empty where none is closed.
    pub closed: &'a [bool],
    /// By port, how much its utility counts; empty where all count 1.
    pub weights: &'a [f64],
    /// By channel, whether it stays out of this slot; empty where none does.
    pub barred: &'a [bool],
}

impl<'a> SlotView<'a> {
    /// A slot in which no server is closed and all ports count the same.
    pub fn new(cluster: &'a Cluster, slot: Slot, arrivals: &'a Arrivals, free: &'a Capacity) -> Self {
        Self { cluster, slot, arrivals, free, closed: &[], weights: &[], barred: &[] }
    }

    /// Whether a server takes nothing new in this slot.
    #[inline]
    pub fn is_closed(&self, server: ServerId) -> bool {
        self.closed.get(server.index()).copied().unwrap_or(false)
    }

    /// Whether a channel stays out of this slot.
    #[inline]
    pub fn is_barred(&self, channel: ChannelId) -> bool {
        self.barred.get(channel.index()).copied().unwrap_or(false)
    }

    /// How much the utility of a port's jobs counts in this slot.
    #[inline]
    pub fn weight(&self, port: PortId) -> f64 {
        self.weights.get(port.index()).copied().unwrap_or(1.0)
    }

    /// The channels of ports that have a job to servers that are not closed, port after port, without those
    /// that are barred; a channel comes once for every job of its port. These span the paper's *Omega(t)*.
    pub fn open_channels(&self) -> impl Iterator<Item = ChannelId> + use<'a> {
        let view = *self;
        (0..view.cluster.ports().len()).map(PortId::at).flat_map(move |port| {
            let channels = view.cluster.channels_of(port);
            let open = move |channel: &ChannelId| {
                !view.is_closed(view.cluster.channel(*channel).server) && !view.is_barred(*channel)
            };
            (0..view.arrivals.jobs(port)).flat_map(move |_| channels.iter().copied().filter(open))
        })
    }
}

/// How a channel that was used in a slot went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ran; the net utility that was seen, in [0, 1].
    Ran(f64),
    /// It tells nothing about speed: cancelled, lost with its server, never placed.
    Censored,
}

/// One outcome, possibly slots after its decision, possibly never.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The slot in which the channel was chosen.
    pub slot: Slot,
    /// The channel.
    pub channel: ChannelId,
    /// How it went.
    pub outcome: Outcome,
}
