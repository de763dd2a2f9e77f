//! Slots and starts over the wire.

use super::{ApiError, check_length, check_name, job, object, whole};
use esdp::live::{ExpectedLength, Feature, JobTraits};
use esdp::model::{Amounts, Ticket};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

const MOST_JOBS: usize = 10_000;

/// `POST /v1/slots`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotWire {
    /// The caller's name for the slot; the same key gets the same answer.
    pub key: String,
    /// Jobs that wait; those that were sent before may be sent again.
    #[serde(default, deserialize_with = "object::list")]
    pub jobs: Vec<JobWire>,
    /// Jobs that are over, as by `DELETE /v1/jobs/{id}`, before the slot is decided.
    #[serde(default)]
    pub ended: Vec<String>,
    /// What is free by server; what no job of ours holds if left out.
    #[serde(default, deserialize_with = "whole::free")]
    pub free: BTreeMap<String, Amounts>,
    /// Servers that take nothing new in this slot.
    #[serde(default)]
    pub closed: Vec<String>,
    /// The most work that the decision may take, in visits of the solver; more than 2^32 counts as that.
    #[serde(default, deserialize_with = "whole::some_large")]
    pub work: Option<u64>,
}

/// A job that waits.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobWire {
    /// Its name, never used for another job.
    pub id: String,
    /// Its port.
    pub port: String,
    /// How urgent it is; 1 if left out.
    #[serde(default, alias = "priority")]
    pub weight: Option<f64>,
    /// The user, account or queue that it belongs to.
    #[serde(default)]
    pub tenant: Option<String>,
    /// How long it is expected to take.
    #[serde(default)]
    pub expected: Option<ExpectedLength>,
    /// What else is said of it.
    #[serde(default, deserialize_with = "job::features")]
    pub features: Option<Vec<Feature>>,
}

impl JobWire {
    /// What is said of it besides its port.
    pub fn traits(&self) -> JobTraits {
        JobTraits {
            tenant: self.tenant.clone(),
            expected: self.expected,
            features: self.features.clone().unwrap_or_default(),
        }
    }
}

/// What is not said is not shown: requests are known again by this text, and those of earlier builds had
/// fewer keys.
impl fmt::Debug for JobWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("JobWire");
        shown.field("id", &self.id).field("port", &self.port).field("weight", &self.weight);
        if !self.traits().is_empty() {
            shown.field("traits", &self.traits());
        }
        shown.finish()
    }
}

impl SlotWire {
    /// Checks lengths and names.
    ///
    /// # Errors
    /// With the field that is wrong.
    pub fn check(&self) -> Result<(), ApiError> {
        check_name(|| "key".to_owned(), &self.key)?;
        check_length("jobs", self.jobs.len(), MOST_JOBS)?;
        check_length("ended", self.ended.len(), MOST_JOBS)?;
        for (index, server) in self.closed.iter().enumerate() {
            check_name(|| format!("closed[{index}]"), server)?;
        }
        for (index, job) in self.jobs.iter().enumerate() {
            check_name(|| format!("jobs[{index}].id"), &job.id)?;
            let weight = job.weight.unwrap_or(1.0);
            job::check_weight(|| format!("jobs[{index}].weight"), weight)?;
            if !job.traits().is_empty() {
                job::check_traits(&format!("jobs[{index}]."), &job.traits())?;
            }
        }
        Ok(())
    }
}

/// The answer to a slot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotAnswer {
    /// The slot's number.
    pub slot: u64,
    /// What starts where.
    pub placements: Vec<PlacementWire>,
    /// What waits, and why.
    pub held: Vec<HeldWire>,
    /// How many more wait than `held` lists.
    #[serde(skip_serializing_if = "is_zero")]
    pub held_more: u64,
    /// Jobs that were sent and are over, or ended and not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredWire>,
    /// Whether this is advice and nothing was started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advice: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Tasks of a job that start on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementWire {
    /// The job.
    pub job: String,
    /// The group of tasks.
    pub group: String,
    /// The server.
    pub server: String,
    /// How many tasks.
    pub count: u32,
    /// The name of these tasks, for outcomes.
    pub ticket: String,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldWire {
    /// The job.
    pub job: String,
    /// Why, for programs.
    pub reason: &'static str,
    /// Why, for people.
    pub detail: String,
}

/// A job that was named for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IgnoredWire {
    /// The job.
    pub job: String,
    /// Why, for people.
    pub why: &'static str,
}

/// What was started and what waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobsAnswer {
    /// Jobs that were started and have not ended.
    pub started: Vec<StartedWire>,
    /// Jobs that wait, each with its port.
    pub waiting: Vec<(String, String)>,
}

/// A job that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedWire {
    /// The start.
    pub ticket: String,
    /// The job.
    pub job: String,
    /// Its port.
    pub port: String,
    /// Where its tasks were put.
    pub servers: Vec<String>,
}

/// `POST /v1/starts`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartWire {
    /// Any ticket of the job.
    pub ticket: String,
    /// Whether the cluster runs it.
    pub accepted: bool,
    /// The server on which the cluster runs these tasks, if it is another one than was answered. A ticket
    /// such as `t17.2` names the tasks of one placement, `t17` all of the start.
    #[serde(default)]
    pub server: Option<String>,
    /// Why not, for people.
    #[serde(default)]
    pub why: String,
}

/// A ticket's name: `t17.2` are the tasks of start 17 from its task 2 on that are alike and on one server;
/// `t17` is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketName {
    /// The start.
    pub ticket: Ticket,
    /// The first task.
    pub first: Option<u32>,
}

impl fmt::Display for TicketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.ticket.0)?;
        self.first.map_or(Ok(()), |first| write!(f, ".{first}"))
    }
}

impl FromStr for TicketName {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let parsed = || {
            let (start, first) = match text.strip_prefix('t')?.split_once('.') {
                Some((start, first)) => (start, Some(first.parse().ok()?)),
                None => (text.strip_prefix('t')?, None),
            };
            Some(Self { ticket: Ticket(start.parse().ok()?), first })
        };
        let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        let refused = || {
            ApiError::value(
                "ticket",
                format!("`{shown}` is not a ticket"),
                "a ticket of a placement, such as t17.0",
            )
        };
        parsed().ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that was sent to an earlier build must be known again by its hash.
    #[test]
    fn what_is_not_said_is_not_shown() {
        let job = |text: &str| format!("{:?}", serde_json::from_str::<JobWire>(text).unwrap());
        let before = r#"JobWire { id: "j", port: "p", weight: Some(2.0) }"#;
        assert_eq!(job(r#"{"id":"j","port":"p","weight":2}"#), before);
        assert_eq!(job(r#"{"id":"j","port":"p","priority":2,"features":[]}"#), before);
        assert!(job(r#"{"id":"j","port":"p","tenant":"lab"}"#).contains("lab"));
    }

    #[test]
    fn tickets_are_read_as_they_are_written() {
        for (ticket, first) in [(1, None), (17, Some(0)), (u64::MAX, Some(u32::MAX))] {
            let name = TicketName { ticket: Ticket(ticket), first };
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        for text in ["", "t", "17", "t1.", "t-1", "t1.2.3", "t99999999999999999999999"] {
            assert!(text.parse::<TicketName>().is_err(), "{text}");
        }
    }
}
