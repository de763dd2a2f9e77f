//! What the engine is asked.

use super::{Directions, Follower};
use crate::actor::Actor;
use crate::wire::{
    ApiError, Code, JobPatch, ObservationWire, OneOrMany, Precondition, SlotWire, StartWire, TrainerWire,
};
use esdp::model::ClusterDescription;
use esdp::scheduler::Checkpoint;
use std::time::Instant;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// A request, checked as far as it can be without the state.
#[derive(Debug)]
pub enum Command {
    /// The cluster is this one from now on.
    Cluster(ClusterDescription),
    /// The same, if the present one is as the caller thinks it is.
    ClusterIf(ClusterDescription, Precondition),
    /// Decide a slot, or several one after the other.
    Slots(OneOrMany<SlotWire>),
    /// What became of starts.
    Starts(OneOrMany<StartWire>),
    /// How tasks went.
    Observe(OneOrMany<ObservationWire>),
    /// A trainer's status of a job.
    Trainer {
        /// The job.
        job: String,
        /// The status.
        status: TrainerWire,
    },
    /// A job is over.
    EndJob(String),
    /// What is said of a job that waits changes, if it is as the caller thinks it is.
    AmendJob(String, JobPatch, Precondition),
    /// Adds a state.
    Merge {
        /// The state.
        state: Box<Checkpoint>,
        /// How much it counts.
        share: f64,
    },
    /// Forgets what was learned.
    Reset {
        /// Of a port.
        port: Option<String>,
        /// Of a server.
        server: Option<String>,
    },
    /// What becomes of an outcome that was set aside.
    Settle {
        /// Its number.
        id: u64,
        /// Whether it is learned.
        accept: bool,
    },
    /// What a source has reported is forgotten.
    ForgetSource(String),
    /// A server takes nothing new, or does again.
    Drain {
        /// The server.
        server: String,
        /// Whether it is drained.
        drained: bool,
    },
    /// What was learned of a server that has left is forgotten.
    Forget(String),
    /// Who decides from now on, and how.
    Direct(Directions),
    /// The jobs that were started and those that wait.
    Jobs,
    /// Whether it can decide and write.
    Ready,
}

impl Command {
    /// Whether it may change the state.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Jobs | Self::Ready)
    }
}

/// The body of an answer, JSON, and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The HTTP status.
    pub status: u16,
    /// The JSON text.
    pub text: String,
}

/// What a command is answered with.
pub type Reply = Result<Body, ApiError>;

/// A command that waits for its answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) command: Command,
    pub(super) actor: Actor,
    pub(super) reply: oneshot::Sender<Reply>,
    pub(super) since: Instant,
}

/// The way to the engine, and to the follower for those who only read. The engine ends when the last handle
/// is gone.
#[derive(Debug, Clone)]
pub struct Handle {
    sender: mpsc::Sender<Waiting>,
    follower: Follower,
}

impl Handle {
    pub(super) fn new(sender: mpsc::Sender<Waiting>, follower: Follower) -> Self {
        Self { sender, follower }
    }

    /// The way for those who only read: the engine does not notice them.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// Puts a command into the queue; its answer comes through what is returned.
    pub(super) fn post(&self, actor: Actor, command: Command) -> Result<oneshot::Receiver<Reply>, ApiError> {
        let (reply, answer) = oneshot::channel();
        self.sender.try_send(Waiting { command, actor, reply, since: Instant::now() }).map_err(|error| {
            match error {
                TrySendError::Full(_) => ApiError::new(Code::Overloaded, "too many requests wait; try again"),
                TrySendError::Closed(_) => stopping(),
            }
        })?;
        Ok(answer)
    }

    /// Asks the engine for somebody.
    ///
    /// # Errors
    /// With what the caller is told.
    pub async fn ask(&self, actor: Actor, command: Command) -> Reply {
        self.post(actor, command)?.await.map_err(|_| stopping())?
    }
}

pub(super) fn stopping() -> ApiError {
    ApiError::new(Code::Unavailable, "the service is stopping; try again")
}
