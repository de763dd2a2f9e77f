//! What comes in, all of it by name.

use super::effect::Rejection;
use super::queue::DecidedQueue;
use super::traits::{JobTraits, TraitError};
use crate::model::{Amounts, ClusterDescription, Slot, Ticket};
use crate::policy::Certificate;
use crate::scheduler::{Checkpoint, Objective, RestoreError, TicketError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// The version of [`Event`] that this library writes into [`Entry`]. It reads this one and all before.
///
/// Version 1 had no [`Event::Decided`]: its `SlotDue` meant that a reader decides again. Who reads it has to
/// bring the decision; see [`Live::apply_version_1`](super::Live::apply_version_1).
pub const EVENT_VERSION: u32 = 2;

/// Something that happened, or that is due: the only way into a [`Live`](super::Live).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The cluster is another one from now on; what keeps its name keeps what was learned of it.
    Described {
        /// The cluster.
        cluster: ClusterDescription,
    },
    /// A job waits. Saying so again is harmless.
    Submitted {
        /// The job's name, never used for another one.
        job: String,
        /// Its port.
        port: String,
        /// How urgent it is, above 0: among the jobs of its port the heaviest start first, and a port counts
        /// as much as its first job.
        #[serde(default = "one")]
        weight: f64,
    },
    /// What is said of a job that waits changes; what is left out stays.
    Amended {
        /// The job.
        job: String,
        /// How urgent it is, above 0. It takes its place among the jobs of its port as if it had been
        /// submitted so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        /// What is said besides, all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traits: Option<JobTraits>,
    },
    /// A job is not wanted any more, whether it waits or runs.
    Cancelled {
        /// The job.
        job: String,
    },
    /// Time comes to a slot. What is decided in it, if anything, is said by the next event.
    SlotDue {
        /// The slot, later than all before, on the driver's own clock.
        slot: Slot,
        /// What is free by server, if the driver knows of others who use them. Never more is used than no job
        /// holds.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        free: BTreeMap<String, Amounts>,
        /// Servers that take nothing new in this slot.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        closed: Vec<String>,
        /// The most work that the decision may take, in visits of a solver of some nanoseconds each, so that
        /// no slot is late; the solver's own budget if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<u64>,
    },
    /// What was decided in the slot that was due last: a fact, booked as it is.
    Decided(Decided),
    /// The cluster runs what was started.
    Accepted {
        /// The start.
        ticket: Ticket,
    },
    /// The cluster does not run what was started, or runs it no more: the job waits again.
    Refused {
        /// The start.
        ticket: Ticket,
        /// Why, for people.
        #[serde(default)]
        why: String,
    },
    /// The cluster runs tasks of a start on another server than was decided: they hold their devices there,
    /// and what they teach is learned of that server. Who says so has accepted the start.
    Moved {
        /// The start.
        ticket: Ticket,
        /// Which of its tasks.
        #[serde(default)]
        tasks: WhichTasks,
        /// Where they run.
        server: String,
    },
    /// How tasks of a start went; each counts once, however often it is said.
    Reported {
        /// The start.
        ticket: Ticket,
        /// Which of its tasks.
        #[serde(default)]
        tasks: WhichTasks,
        /// How they went.
        report: SpeedReport,
        /// Who says so; empty if nobody asks.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
    /// How a task went that somebody else has placed.
    Observed {
        /// A name for this report, so that it counts once.
        id: String,
        /// The port it would belong to.
        port: String,
        /// The group of tasks; empty if jobs of the port are not gangs.
        #[serde(default)]
        group: String,
        /// The server.
        server: String,
        /// How it went.
        report: SpeedReport,
        /// Who says so; empty if nobody asks.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
    /// An outcome that was set aside is learned after all, or dropped.
    Settled {
        /// Its number.
        aside: u64,
        /// Whether it is learned.
        accept: bool,
    },
    /// What a source has reported is forgotten, as far as it can be told apart: what was set aside, and the
    /// channels on which the source reported of late, but for what others have shown there.
    SourceForgotten {
        /// The source.
        source: String,
    },
    /// A job is done and holds nothing any more. Its outcomes may come before or after.
    Ended {
        /// The job.
        job: String,
    },
    /// A server is gone with everything on it; it may come back.
    ServerLost {
        /// The server.
        server: String,
    },
    /// A server takes nothing new until it is opened; what runs there goes on.
    Drained {
        /// The server.
        server: String,
    },
    /// A drained or lost server takes jobs again.
    Opened {
        /// The server.
        server: String,
    },
    /// What was learned is forgotten: of a server, of a port, or of a port on a server. All of it if neither
    /// is named.
    Reset {
        /// The port; all if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<String>,
        /// The server; all if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
    /// A server that left the cluster will not come back.
    Forgotten {
        /// The server.
        server: String,
    },
    /// Nothing more is expected of decisions before a slot.
    Expired {
        /// The slot.
        before: Slot,
    },
    /// Who decides from now on, and how much of it may be exploration.
    Directed {
        /// What a slot does.
        mode: Mode,
        /// The largest share of the tasks of the last slots that may be exploration, from 0 to 1; any if
        /// none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most_exploration: Option<f64>,
        /// What a slot maximises; what it did before if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        objective: Option<Objective>,
    },
    /// Others have placed a task of a job, whether it waits here or is unknown: it waits here no more, and
    /// the place is compared with the advice for the job, if there was any.
    Placed {
        /// The job.
        job: String,
        /// Its port.
        port: String,
        /// The group of the task; empty if jobs of the port are not gangs.
        #[serde(default)]
        group: String,
        /// The server.
        server: String,
    },
    /// What another scheduler has learned is added, by name, as if it had been seen now.
    Merged {
        /// Its state.
        state: Box<Checkpoint>,
        /// How much a foreign outcome counts against one of our own, above 0, at most 1.
        share: f64,
    },
}

/// What was decided in a slot. [`Live::decide`](super::Live::decide) makes it and changes nothing;
/// [`Live::apply`](super::Live::apply) books it and decides nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The slot, the last one that was due.
    pub slot: Slot,
    /// What the caller knows the decision by; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// The jobs that start, in the order of their tickets.
    pub starts: Vec<DecidedStart>,
    /// What is proved of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// What was decided by the rule for queues; none for the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<DecidedQueue>,
    /// The build that decided, [`BUILD`](crate::model::BUILD); for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
}

/// A job that starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedStart {
    /// The id of the start.
    pub ticket: Ticket,
    /// The job.
    pub job: String,
    /// Its tasks, in order.
    pub tasks: Vec<DecidedTasks>,
    /// How fast it is expected to run, relative to the mean speed of its port with all of its tasks, in
    /// thousandths; 0 if that is not known.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub pace: u32,
}

fn is_unknown(pace: &u32) -> bool {
    *pace == 0
}

/// Tasks of a group on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedTasks {
    /// The group; empty if jobs of the port are not gangs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The server.
    pub server: String,
    /// How many.
    pub count: u32,
    /// Whether they were put there in order to learn more of the server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exploration: bool,
}

/// Who decides what runs where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Others: a slot passes without a decision.
    Observe,
    /// Others, who may ask: a slot's starts are advice, hold nothing, and their jobs go on waiting.
    Advise,
    /// We.
    #[default]
    Place,
}

/// Which tasks of a start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichTasks {
    /// All; of those that are reported, all whose outcome is open.
    #[default]
    All,
    /// One, by its number.
    One(u32),
    /// Those on a server; of those that are reported, the ones whose outcome is open.
    On(String),
}

/// How a task went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedReport {
    /// Its net utility, from 0 to 1, supply cost taken off.
    Utility(f64),
    /// Its speed, at least 0, in any unit that is the same for all jobs of the port.
    Rate(f64),
    /// Work in any unit, and the seconds it took.
    Work {
        /// The work.
        work: f64,
        /// The time, above 0.
        seconds: f64,
    },
    /// It tells nothing about speed.
    Lost,
}

/// Why an event does not fit. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EventError {
    /// A port, server or job that is not there.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// `port`, `server`, `job` or `task group`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A port does not use a server.
    #[error("port `{port}` does not use server `{server}`")]
    NoChannel {
        /// The port.
        port: String,
        /// The server.
        server: String,
    },
    /// Only what waits can be amended.
    #[error("job `{0}` runs; only a job that waits can be changed")]
    Runs(String),
    /// Traits of a job that are out of range.
    #[error(transparent)]
    Traits(#[from] TraitError),
    /// A number that is out of range.
    #[error("`{key}` is {value}, expected {accepted}")]
    Number {
        /// What it is.
        key: &'static str,
        /// The value found.
        value: f64,
        /// What is accepted.
        accepted: &'static str,
    },
    /// A ticket that is not open.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// A report before the first slot.
    #[error("no slot has been decided yet")]
    NoSlot,
    /// The cluster was rejected.
    #[error("cluster: {0}")]
    Cluster(String),
    /// The slot was not decided.
    #[error("{0}")]
    Schedule(String),
    /// A decision that does not fit the state: it was made on another one.
    #[error("the decision of {slot} does not fit: {why}")]
    Decided {
        /// Its slot.
        slot: Slot,
        /// What does not fit, for people.
        why: String,
    },
    /// The state was not merged.
    #[error(transparent)]
    State(#[from] RestoreError),
}

impl EventError {
    /// The kind of error, for programs.
    pub fn cause(&self) -> Rejection {
        match self {
            Self::Unknown { .. } | Self::Ticket(TicketError::Unknown(_)) => Rejection::Unknown,
            _ => Rejection::Conflict,
        }
    }
}

/// An event in a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the event, [`EVENT_VERSION`].
    pub version: u32,
    /// Its place in the journal, from 1.
    pub sequence: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

pub(super) fn one() -> f64 {
    1.0
}
