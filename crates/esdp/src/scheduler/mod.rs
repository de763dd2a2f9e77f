//! The decision loop: arrivals in, a sealed [`Decision`] out, observations back.
//!
//! A [`Scheduler`] owns a cluster and a policy and counts slots. It does no IO and reads no
//! clock; a simulation, a service and a cluster driver all turn it the same way:
//!
//! ```
//! use esdp::model::{Arrivals, Capacity, ChannelSpec, Cluster, ClusterSpec, Observation, Outcome};
//! use esdp::policy::PolicySpec;
//! use esdp::scheduler::Scheduler;
//! use std::sync::Arc;
//!
//! let cluster = Arc::new(Cluster::new(ClusterSpec {
//!     devices: vec!["gpu".into()],
//!     servers: vec!["old".into(), "new".into()],
//!     ports: vec!["train".into()],
//!     channels: (0..2).map(|server| ChannelSpec::new(0, server, vec![4])).collect(),
//!     capacity: Capacity::cluster_wide(vec![4]),
//!     ..ClusterSpec::default()
//! })?);
//! let policy = "esdp".parse::<PolicySpec>()?.build(&cluster, 0, None)?;
//! let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy);
//! for _ in 0..20 {
//!     let decision = scheduler.decide(&Arrivals::everywhere(1), None)?;
//!     let (slot, channel) = (decision.slot(), decision.channels()[0]);
//!     let speed = if channel.0 == 1 { 0.9 } else { 0.2 };
//!     scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(speed) })?;
//! }
//! let last = scheduler.decide(&Arrivals::everywhere(1), None)?;
//! assert_eq!(cluster.channel(last.channels()[0]).server.0, 1); // it has found the fast one
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod book;
mod checkpoint;
mod credit;
mod deal;
mod decision;
mod devices;
mod learned;
mod queue;
pub(crate) mod text;

pub use book::{
    Book, ClosedUse, Expired, Moved, REMEMBERED, Refused, Started, StartedTask, TicketError, Waiting,
};
pub use checkpoint::{CHECKPOINT_VERSION, ChannelNames, Checkpoint, RestoreError, Shape};
pub use credit::ObserveError;
pub(crate) use credit::without_crossing;
pub use decision::{Decision, SealError};
pub use learned::DEPARTED_CHANNELS;
pub use queue::{
    BookedStart, HOLD, IdleTime, LOSS, Objective, PATIENCE, QueueFacts, QueueState, Reservation,
};
pub use text::TextError;

use crate::model::{
    Arrivals, Capacity, CapacityError, ChannelId, ChannelKey, Cluster, Observation, Outcome, ServerId, Slot,
    SlotView,
};
use crate::policy::{Choice, Policy, PolicyError};
use crate::stats::ChannelRecord;
use decision::Sealer;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Decides slot by slot with one policy on one cluster.
pub struct Scheduler {
    cluster: Arc<Cluster>,
    policy: Box<dyn Policy>,
    choice: Choice,
    sealer: Sealer,
    /// The last decision.
    decision: Decision,
    slot: Slot,
    /// By server, whether it is closed in the slot at hand.
    closed: Vec<bool>,
    /// What the policy believes of every channel; a buffer.
    speeds: Vec<f64>,
    /// What was seen of channels that are not part of the cluster now.
    departed: BTreeMap<ChannelKey, ChannelRecord>,
}

/// What a slot is decided on.
#[derive(Debug, Clone, Copy)]
pub struct SlotInput<'a> {
    /// Who has a job.
    pub arrivals: &'a Arrivals,
    /// The free devices; all of the cluster's if none.
    pub free: Option<&'a Capacity>,
    /// The servers that take nothing new in this slot, whatever is free on them.
    pub closed: &'a [ServerId],
    /// How much the utility of each port's jobs counts; empty if all count 1.
    pub weights: &'a [f64],
    /// By channel, whether it stays out of this slot; empty if none does.
    pub barred: &'a [bool],
    /// The most work that the decision may take, in visits of a solver of some nanoseconds each; the solver's
    /// own budget if none.
    pub work: Option<u64>,
}

impl<'a> SlotInput<'a> {
    /// A slot in which everything is free and open and all ports count the same.
    pub fn new(arrivals: &'a Arrivals) -> Self {
        Self { arrivals, free: None, closed: &[], weights: &[], barred: &[], work: None }
    }
}

/// Why there is no decision. The slot is not counted then.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScheduleError {
    /// The arrivals speak of another number of ports. Fatal: the caller's data is wrong.
    #[error("the arrivals list {found} ports, expected {expected}")]
    Arrivals {
        /// Ports listed.
        found: usize,
        /// Ports there are.
        expected: usize,
    },
    /// The free capacity does not fit the cluster. Fatal: the caller's data is wrong.
    #[error("free capacity: {0}")]
    Capacity(#[from] CapacityError),
    /// The slot is not later than the last one. Fatal for this slot: the caller's clock went back.
    #[error("{slot} is not later than {last}, the last one that was decided")]
    NotLater {
        /// The slot asked for.
        slot: Slot,
        /// The last slot decided.
        last: Slot,
    },
    /// A server that the cluster does not have is closed. Fatal: the caller's data is wrong.
    #[error("{server} is closed, but the cluster has {servers} servers")]
    UnknownServer {
        /// The server.
        server: ServerId,
        /// The number of servers.
        servers: usize,
    },
    /// The weights are not one positive number for each port. Fatal: the caller's data is wrong.
    #[error("the weights of the ports are {found:?}, expected {expected} finite positive numbers, or none")]
    Weights {
        /// The weights found.
        found: Vec<f64>,
        /// The number of ports.
        expected: usize,
    },
    /// The barred channels are not listed one by one. Fatal: the caller's data is wrong.
    #[error("{found} channels are said to be barred or not, expected {expected}, or none")]
    Barred {
        /// The channels listed.
        found: usize,
        /// The number of channels.
        expected: usize,
    },
    /// The policy gave no answer. Retryable when its cause is.
    #[error("policy `{policy}`, {slot}: {cause}")]
    Policy {
        /// The policy.
        policy: String,
        /// The slot.
        slot: Slot,
        /// What happened.
        cause: PolicyError,
    },
    /// The policy chose what may not run. Fatal: a bug in the policy.
    #[error("policy `{policy}`, {slot}: {cause}")]
    Infeasible {
        /// The policy.
        policy: String,
        /// The slot.
        slot: Slot,
        /// What does not hold.
        cause: SealError,
    },
}

impl Scheduler {
    /// A scheduler before its first slot.
    pub fn new(cluster: Arc<Cluster>, policy: Box<dyn Policy>) -> Self {
        let (choice, sealer) = (Choice::default(), Sealer::default());
        let (closed, speeds, departed) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self {
            cluster,
            policy,
            choice,
            sealer,
            decision: Decision::nothing(),
            slot: Slot(0),
            closed,
            speeds,
            departed,
        }
    }

    /// The cluster.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// The policy.
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// The last slot that was decided; 0 before the first.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The last decision; an empty one of slot 0 before the first.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Decides the next slot where nothing can be refused: all of the decision counts as pending at once.
    /// `free` is what can be used in the slot; all of the cluster if none.
    ///
    /// # Errors
    /// When the input does not fit the cluster, the policy fails, or what it chose may not run. Nothing is
    /// pending then.
    pub fn decide(
        &mut self,
        arrivals: &Arrivals,
        free: Option<&Capacity>,
    ) -> Result<&Decision, ScheduleError> {
        let slot = self.slot.next();
        self.decide_at(slot, &SlotInput { free, ..SlotInput::new(arrivals) })?;
        self.policy.commit(&self.cluster, slot, &self.decision.channels);
        Ok(&self.decision)
    }

    /// Decides a slot of the caller's own clock, later than all before. Nothing is pending until the caller
    /// [commits](Scheduler::commit) what was accepted.
    ///
    /// # Errors
    /// When the slot is not later, the input does not fit the cluster, the policy fails, or what it chose may
    /// not run.
    pub fn decide_at(&mut self, slot: Slot, input: &SlotInput<'_>) -> Result<&Decision, ScheduleError> {
        self.check_later(slot)?;
        self.check(input)?;
        self.advance(slot);
        self.choose_for(slot, input)?;
        self.slot = slot;
        self.policy.settle(slot, input.arrivals);
        Ok(&self.decision)
    }

    /// Decides the slot that [began](Scheduler::begin) last, and changes nothing but buffers: the decision
    /// may
    /// be forgotten, or [settled](Scheduler::settle).
    ///
    /// # Errors
    /// When the input does not fit the cluster, the policy fails, or what it chose may not run.
    pub fn choose(&mut self, input: &SlotInput<'_>) -> Result<&Decision, ScheduleError> {
        self.check(input)?;
        self.choose_for(self.slot, input)?;
        Ok(&self.decision)
    }

    /// The slot that began last was decided, and these jobs were there. Nothing is pending until the caller
    /// [commits](Scheduler::commit) what was accepted.
    pub fn settle(&mut self, arrivals: &Arrivals) {
        self.policy.settle(self.slot, arrivals);
    }

    /// Whether an input fits the cluster.
    fn check(&self, input: &SlotInput<'_>) -> Result<(), ScheduleError> {
        let &SlotInput { arrivals, free, closed, weights, barred, work: _ } = input;
        let cluster = &*self.cluster;
        let servers = cluster.servers().len();
        if let Some(&server) = closed.iter().find(|server| server.index() >= servers) {
            return Err(ScheduleError::UnknownServer { server, servers });
        }
        let (found, expected) = (arrivals.ports(), cluster.ports().len());
        if found != expected {
            return Err(ScheduleError::Arrivals { found, expected });
        }
        let positive = |weight: &f64| weight.is_finite() && *weight > 0.0;
        if !weights.is_empty() && (weights.len() != expected || !weights.iter().all(positive)) {
            return Err(ScheduleError::Weights { found: weights.to_vec(), expected });
        }
        let (found, expected) = (barred.len(), cluster.channels().len());
        if !barred.is_empty() && found != expected {
            return Err(ScheduleError::Barred { found, expected });
        }
        if let Some(free) = free {
            free.check(cluster.devices().len(), servers)?;
        }
        Ok(())
    }

    fn choose_for(&mut self, slot: Slot, input: &SlotInput<'_>) -> Result<(), ScheduleError> {
        let &SlotInput { arrivals, free, closed, weights, barred, work } = input;
        self.close(closed);
        let Self { cluster, policy, choice, closed, .. } = self;
        let view = SlotView {
            cluster,
            slot,
            arrivals,
            free: free.unwrap_or(cluster.capacity()),
            closed,
            weights,
            barred,
        };
        policy.limit_work(work);
        if let Err(cause) = policy.decide(&view, choice) {
            return Err(ScheduleError::Policy { policy: policy.name().to_owned(), slot, cause });
        }
        if self.cluster.has_slowest() {
            self.deal_choice();
        }
        let Self { cluster, policy, choice, sealer, decision, closed, .. } = self;
        let free = free.unwrap_or(cluster.capacity());
        let view = SlotView { cluster, slot, arrivals, free, closed, weights, barred };
        if let Err(cause) = sealer.seal(&view, choice, decision) {
            return Err(ScheduleError::Infeasible { policy: policy.name().to_owned(), slot, cause });
        }
        Ok(())
    }

    /// Seals a choice that is not the policy's.
    fn seal_for(&mut self, slot: Slot, input: &SlotInput<'_>, choice: &Choice) -> Result<(), ScheduleError> {
        let &SlotInput { arrivals, free, closed, weights, barred, work: _ } = input;
        self.close(closed);
        let Self { cluster, policy, sealer, decision, closed, .. } = self;
        let free = free.unwrap_or(cluster.capacity());
        let view = SlotView { cluster, slot, arrivals, free, closed, weights, barred };
        let infeasible = |cause| ScheduleError::Infeasible { policy: policy.name().to_owned(), slot, cause };
        sealer.seal(&view, choice, decision).map_err(infeasible)
    }

    /// Notes which servers are closed.
    fn close(&mut self, closed: &[ServerId]) {
        self.closed.clear();
        if !closed.is_empty() {
            self.closed.resize(self.cluster.servers().len(), false);
            closed.iter().for_each(|server| self.closed[server.index()] = true);
        }
    }

    /// Time comes to a slot of the caller's own clock, later than all before, of which nothing is decided
    /// yet.
    ///
    /// # Errors
    /// When the slot is not later.
    pub fn begin(&mut self, slot: Slot) -> Result<(), ScheduleError> {
        self.check_later(slot)?;
        self.advance(slot);
        self.decision.clear();
        self.slot = slot;
        Ok(())
    }

    /// Whether decisions from now on go by what is known alone; see [`Policy::limit_exploration`].
    pub fn limit_exploration(&mut self, exploit: bool) {
        self.policy.limit_exploration(exploit);
    }

    fn check_later(&self, slot: Slot) -> Result<(), ScheduleError> {
        match slot > self.slot {
            true => Ok(()),
            false => Err(ScheduleError::NotLater { slot, last: self.slot }),
        }
    }

    /// Brings what was learned to a slot.
    fn advance(&mut self, slot: Slot) {
        if let Some(learned) = self.policy.learned_mut() {
            learned.advance(slot);
        }
    }

    /// Counts uses of a decision of `slot` as pending: they were accepted and will run. One that comes to
    /// nothing after all is taken back by observing it as [`Outcome::Censored`].
    pub fn commit(&mut self, slot: Slot, channels: &[ChannelId]) {
        self.policy.commit(&self.cluster, slot, channels);
    }

    /// Takes an outcome, now or slots later, in any order.
    ///
    /// # Errors
    /// When the channel or slot is unknown or the net utility is not a number in [0, 1].
    pub fn observe(&mut self, seen: &Observation) -> Result<(), ObserveError> {
        let &Observation { slot, channel, outcome } = seen;
        let channels = self.cluster.channels().len();
        if channel.index() >= channels {
            return Err(ObserveError::UnknownChannel { channel, channels });
        }
        if slot < Slot::FIRST || slot > self.slot {
            return Err(ObserveError::UnknownSlot { slot, last: self.slot });
        }
        if let Outcome::Ran(value) = outcome
            && !(0.0..=1.0).contains(&value)
        {
            return Err(ObserveError::Utility { channel, slot, value });
        }
        self.policy.learn(seen);
        Ok(())
    }

    /// Everything needed to go on, as a versioned value.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            version: CHECKPOINT_VERSION,
            slot: self.slot,
            shape: Shape::of(&self.cluster),
            names: Some(ChannelNames::of(&self.cluster)),
            policy: self.policy.state(),
            departed: self.departed.iter().map(|(key, record)| (key.clone(), *record)).collect(),
        }
    }

    /// Puts a checkpoint back; decisions continue exactly as they would have.
    ///
    /// # Errors
    /// When it belongs to another version, cluster or policy, or is damaged. Nothing is changed then.
    pub fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), RestoreError> {
        checkpoint.check(&self.cluster)?;
        self.policy.restore(checkpoint.policy)?;
        self.slot = checkpoint.slot;
        self.departed = checkpoint.departed.into_iter().collect();
        self.decision.clear();
        Ok(())
    }
}
