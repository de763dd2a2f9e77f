//! What is decided and what is started, all of it by name.

use super::queue::DecidedQueue;
use crate::model::{Slot, Ticket};
use crate::policy::Certificate;
use serde::{Deserialize, Serialize};

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

/// A job to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The id of this start.
    pub ticket: Ticket,
    /// The job.
    pub job: String,
    /// Its port.
    pub port: String,
    /// The slot of the decision.
    pub slot: Slot,
    /// Where its tasks run.
    pub placements: Vec<Placement>,
}

impl Start {
    /// The placement of a task, and the tasks of it from that one on.
    pub fn tasks_from(&self, task: u32) -> Option<(&Placement, std::ops::Range<u32>)> {
        let tasks = |place: &Placement| place.first..place.first + place.count;
        let place = self.placements.iter().find(|place| tasks(place).contains(&task))?;
        Some((place, task..tasks(place).end))
    }
}

/// Tasks of a group on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The group; empty if jobs of the port are not gangs.
    pub group: String,
    /// The server.
    pub server: String,
    /// How many tasks.
    pub count: u32,
    /// The number of the first of them, from 0.
    pub first: u32,
}
