//! What the engine is asked.

use super::View;
use crate::wire::{ApiError, Code, ObservationWire, OneOrMany, SlotWire, StartWire, TrainerWire};
use esdp::model::ClusterDescription;
use esdp::scheduler::Checkpoint;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// A request, checked as far as it can be without the state.
#[derive(Debug)]
pub enum Command {
    /// The cluster is this one from now on.
    Cluster(ClusterDescription),
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
    /// A server takes nothing new, or does again.
    Drain {
        /// The server.
        server: String,
        /// Whether it is drained.
        drained: bool,
    },
    /// The learned state.
    State,
    /// A slot and its reasons.
    SlotRow(u64),
    /// The last slots.
    LastSlots(u32),
    /// The jobs that were started and those that wait.
    Jobs,
    /// The state, as readers see it.
    View,
}

impl Command {
    /// Whether it may change the state.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::State | Self::SlotRow(_) | Self::LastSlots(_) | Self::Jobs | Self::View)
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

/// What comes back through the channel.
#[derive(Debug)]
pub(super) enum Answer {
    /// A body.
    Body(Body),
    /// A view.
    View(Arc<View>),
}

/// A command that waits for its answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) command: Command,
    pub(super) reply: oneshot::Sender<Result<Answer, ApiError>>,
    pub(super) since: Instant,
}

/// The way to the engine. It ends when the last handle is gone.
#[derive(Debug, Clone)]
pub struct Handle {
    sender: mpsc::Sender<Waiting>,
}

impl Handle {
    pub(super) fn new(sender: mpsc::Sender<Waiting>) -> Self {
        Self { sender }
    }

    /// Puts a command into the queue; its answer comes through what is returned.
    pub(super) fn post(
        &self,
        command: Command,
    ) -> Result<oneshot::Receiver<Result<Answer, ApiError>>, ApiError> {
        let (reply, answer) = oneshot::channel();
        self.sender.try_send(Waiting { command, reply, since: Instant::now() }).map_err(
            |error| match error {
                TrySendError::Full(_) => ApiError::new(Code::Overloaded, "too many requests wait; try again"),
                TrySendError::Closed(_) => stopping(),
            },
        )?;
        Ok(answer)
    }

    async fn send(&self, command: Command) -> Result<Answer, ApiError> {
        self.post(command)?.await.map_err(|_| stopping())?
    }

    /// Asks the engine.
    ///
    /// # Errors
    /// With what the caller is told.
    pub async fn ask(&self, command: Command) -> Reply {
        match self.send(command).await? {
            Answer::Body(body) => Ok(body),
            Answer::View(_) => Err(ApiError::new(Code::Internal, "a view is not a body")),
        }
    }

    /// The present state.
    ///
    /// # Errors
    /// With what the caller is told.
    pub async fn view(&self) -> Result<Arc<View>, ApiError> {
        match self.send(Command::View).await? {
            Answer::View(view) => Ok(view),
            Answer::Body(_) => Err(ApiError::new(Code::Internal, "a body is not a view")),
        }
    }
}

pub(super) fn stopping() -> ApiError {
    ApiError::new(Code::Unavailable, "the service is stopping; try again")
}
