//! What follows from events: starts to carry out, what was learned, and what was refused.

use super::judge::Doubt;
use crate::model::{Slot, Ticket};
use crate::policy::Certificate;
use serde::{Deserialize, Serialize};

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// A slot was decided; its starts follow.
    Decided {
        /// The slot.
        slot: Slot,
        /// What is proved of the decision and why the solver stopped there: the optimum is proved, the work
        /// budget ended, or a gap was left. None for policies that solve nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<Certificate>,
    },
    /// To be carried out, and to be answered with `Accepted` or `Refused`.
    Started(Start),
    /// Outcomes were learned.
    Learned {
        /// How many.
        uses: usize,
    },
    /// An outcome was not believed; jobs may confirm it, or an operator accept it.
    SetAside {
        /// Its number.
        id: u64,
        /// Why.
        why: Doubt,
    },
    /// Outcomes that were set aside are believed after all, and learned.
    Confirmed {
        /// How many.
        uses: usize,
    },
    /// A state was merged.
    Merged {
        /// How many of its channels were found here.
        channels: usize,
    },
    /// A job waits again.
    Requeued {
        /// The job.
        job: String,
        /// The start that came to nothing.
        ticket: Ticket,
    },
    /// A job is out of the book without having ended.
    Lost {
        /// The job.
        job: String,
        /// Why, for people.
        why: String,
    },
    /// Said before, counted, and otherwise ignored.
    Duplicate {
        /// What was said before, for people.
        what: String,
    },
    /// The event does not fit; nothing was changed.
    Rejected {
        /// Why, for people.
        why: String,
        /// Why, for programs.
        #[serde(default)]
        cause: Rejection,
    },
}

/// Why an event does not fit, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejection {
    /// It names something that is not there.
    Unknown,
    /// It contradicts the state or itself.
    #[default]
    Conflict,
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
