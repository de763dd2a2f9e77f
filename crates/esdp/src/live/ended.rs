//! Jobs that have ended while outcomes were open, by name and by ticket.

use crate::model::Ticket;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The tickets of ended jobs whose outcomes are waited for.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(from = "BTreeMap<String, Ticket>")]
pub(super) struct Ended {
    tickets: BTreeMap<String, Ticket>,
    names: BTreeMap<Ticket, String>,
}

impl Ended {
    pub(super) fn ticket(&self, job: &str) -> Option<Ticket> {
        self.tickets.get(job).copied()
    }

    /// Those behind a ticket, in the order of their starts.
    pub(super) fn after(&self, from: Bound<Ticket>) -> impl Iterator<Item = (Ticket, &str)> {
        self.names.range((from, Bound::Unbounded)).map(|(&ticket, job)| (ticket, job.as_str()))
    }

    pub(super) fn len(&self) -> usize {
        self.tickets.len()
    }

    pub(super) fn add(&mut self, job: &str, ticket: Ticket) {
        self.tickets.insert(job.to_owned(), ticket);
        self.names.insert(ticket, job.to_owned());
    }

    /// Nothing more is expected of a ticket.
    pub(super) fn remove(&mut self, ticket: Ticket) {
        if let Some(job) = self.names.remove(&ticket) {
            self.tickets.remove(&job);
        }
    }

    /// The oldest ones, all but so many.
    pub(super) fn oldest(&self, but: usize) -> Vec<Ticket> {
        self.names.keys().copied().take(self.len().saturating_sub(but)).collect()
    }
}

impl From<BTreeMap<String, Ticket>> for Ended {
    fn from(tickets: BTreeMap<String, Ticket>) -> Self {
        let names = tickets.iter().map(|(job, &ticket)| (ticket, job.clone())).collect();
        Self { tickets, names }
    }
}

impl Serialize for Ended {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tickets.serialize(serializer)
    }
}
