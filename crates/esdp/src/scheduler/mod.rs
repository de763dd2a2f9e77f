//! The crank: arrivals in, a sealed [`Decision`] out, observations back.
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

mod checkpoint;
mod deal;
mod decision;

pub use checkpoint::{CHECKPOINT_VERSION, Checkpoint, RestoreError, Shape};
pub use deal::PlacedJob;
pub use decision::{Decision, SealError};

use crate::model::{Arrivals, Capacity, CapacityError, ChannelId, Cluster, Observation, Outcome, Slot, SlotView};
use crate::policy::{Choice, Policy, PolicyError};
use decision::Sealer;
use std::sync::Arc;
use thiserror::Error;

/// Decides slot by slot with one policy on one cluster.
pub struct Scheduler {
    cluster: Arc<Cluster>,
    policy: Box<dyn Policy>,
    choice: Choice,
    sealer: Sealer,
    /// The last decision; its slot is the counter.
    decision: Decision,
    slot: Slot,
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

/// Why an observation was refused. Fatal for it: nothing was learned; the scheduler goes on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ObserveError {
    /// A channel that the cluster does not have.
    #[error("{channel} does not exist, the cluster has {channels}")]
    UnknownChannel {
        /// The channel.
        channel: ChannelId,
        /// The number of channels.
        channels: usize,
    },
    /// A slot that has not been decided.
    #[error("{slot} has not been decided, the last one was {last}; the first is 1")]
    UnknownSlot {
        /// The slot observed.
        slot: Slot,
        /// The last slot decided.
        last: Slot,
    },
    /// A net utility that is no number in [0, 1].
    #[error("the net utility of {channel} in {slot} is {value}, expected a number from 0 to 1")]
    Utility {
        /// The channel.
        channel: ChannelId,
        /// The slot.
        slot: Slot,
        /// The value found.
        value: f64,
    },
}

impl Scheduler {
    /// A scheduler before its first slot.
    pub fn new(cluster: Arc<Cluster>, policy: Box<dyn Policy>) -> Self {
        let (choice, sealer) = (Choice::default(), Sealer::default());
        Self { cluster, policy, choice, sealer, decision: Decision::nothing(), slot: Slot(0) }
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

    /// Decides the next slot. `free` is what can be used in it; all of the cluster unless told.
    ///
    /// # Errors
    /// When the input does not fit the cluster, the policy fails, or what it chose may not run.
    pub fn decide(&mut self, arrivals: &Arrivals, free: Option<&Capacity>) -> Result<&Decision, ScheduleError> {
        let Self { cluster, policy, choice, sealer, decision, .. } = self;
        let (found, expected) = (arrivals.ports(), cluster.ports().len());
        if found != expected {
            return Err(ScheduleError::Arrivals { found, expected });
        }
        if let Some(free) = free {
            free.check(cluster.devices().len(), cluster.servers().len())?;
        }
        let slot = self.slot.next();
        let view = SlotView { cluster, slot, arrivals, free: free.unwrap_or(cluster.capacity()) };
        if let Err(cause) = policy.decide(&view, choice) {
            return Err(ScheduleError::Policy { policy: policy.name().to_owned(), slot, cause });
        }
        if let Err(cause) = sealer.seal(&view, choice, decision) {
            return Err(ScheduleError::Infeasible { policy: policy.name().to_owned(), slot, cause });
        }
        self.slot = slot;
        Ok(&self.decision)
    }

    /// Takes an outcome, now or slots later, in any order.
    ///
    /// # Errors
    /// When the channel or slot is unknown or the net utility is no number in [0, 1].
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
            policy: self.policy.state(),
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
        Ok(())
    }
}
