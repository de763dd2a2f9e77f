//! What is known: jobs, starts, counts.

use super::event::EventError;
use super::{EventCounts, Live, Mode, PORT_LEFT, SERVER_LEFT, SpeedScale, Start};
use crate::model::{ClusterChange, ClusterDescription, Ticket};
use crate::scheduler::{Book, Scheduler};

impl Live {
    /// The cluster, as it was described.
    pub fn described(&self) -> &ClusterDescription {
        &self.described
    }

    /// The scheduler behind the names.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The jobs that wait and run, by position.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// How many events there were, and what became of them.
    pub fn counts(&self) -> EventCounts {
        self.counts
    }

    /// The starts that run, or that nobody has answered, in the order in which they were made.
    pub fn starts(&self) -> impl Iterator<Item = Start> {
        let open = self.book.starts().filter(|(_, started)| !started.over);
        open.map(|(ticket, started)| self.start_of(ticket, started))
    }

    /// The ticket of a job that was started and is not over, or of which outcomes are open.
    pub fn ticket_of(&self, job: &str) -> Option<Ticket> {
        match self.by_name.get(job) {
            Some(&id) => self.book.ticket_of(id),
            None => self.ended.ticket(job).filter(|&ticket| self.book.started(ticket).is_ok()),
        }
    }

    /// The start behind a ticket, while its job runs or outcomes are open.
    pub fn start(&self, ticket: Ticket) -> Option<Start> {
        self.book.started(ticket).ok().map(|started| self.start_of(ticket, started))
    }

    /// Whether a job waits.
    pub fn waits(&self, job: &str) -> bool {
        self.by_name.get(job).is_some_and(|&id| self.book.ticket_of(id).is_none())
    }

    /// Whether a job is remembered as over.
    pub fn is_over(&self, job: &str) -> bool {
        self.over.knows(job)
    }

    /// Whether a report of what others have placed was learned before.
    pub fn was_observed(&self, id: &str) -> bool {
        self.observed.knows(id)
    }

    /// The port of a job that waits or runs, or for which there is advice.
    pub fn port_of(&self, job: &str) -> Option<&str> {
        let known = self.by_name.get(job).map(|id| self.jobs[id].port.as_str());
        known.or_else(|| self.advice.port_of(job))
    }

    /// Who decides.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The largest share of exploration; any if none.
    pub fn most_exploration(&self) -> Option<f64> {
        self.most_exploration
    }

    /// Of the tasks started in the last [`EXPLORATION_WINDOW`](super::EXPLORATION_WINDOW) slots that started
    /// any: those that were exploration, and all.
    pub fn exploration(&self) -> (u64, u64) {
        self.explored.sums()
    }

    /// Whether a job waits or runs.
    pub fn has_job(&self, job: &str) -> bool {
        self.by_name.contains_key(job)
    }

    /// The jobs that wait or run, in the order of their submission.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.jobs.values().map(|job| (job.name.as_str(), job.port.as_str()))
    }

    /// Servers that take nothing new until they are opened.
    pub fn drained(&self) -> impl Iterator<Item = &str> {
        self.drained.iter().map(String::as_str)
    }

    /// The jobs that the change to another cluster would lose, each with the reason, as of now.
    ///
    /// # Errors
    /// When the description was rejected.
    pub fn would_lose(&self, next: &ClusterDescription) -> Result<Vec<(String, &'static str)>, EventError> {
        let cluster = next.cluster().map_err(|error| EventError::Cluster(error.to_string()))?;
        let change = ClusterChange::new(self.scheduler.cluster(), &cluster);
        let moved = self.book.clone().change(&cluster, &change.remap);
        let lost = moved.lost.into_iter().map(|(_, job, _)| (job, SERVER_LEFT));
        let lost = lost.chain(moved.dropped.into_iter().map(|job| (job, PORT_LEFT)));
        let named = |(job, why)| Some((self.jobs.get(&job)?.name.clone(), why));
        Ok(lost.filter_map(named).collect())
    }

    /// The scale of a port's speeds, once any was reported.
    pub fn scale(&self, port: &str) -> Option<SpeedScale> {
        self.scales.get(port).copied()
    }
}
