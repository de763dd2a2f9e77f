//! The book of jobs: who waits, who was started on what, who holds which devices, which outcomes are open.
//!
//! ```text
//! submit -> waiting -> start -> started -> accept -> running -> end | lose -> over
//!              ^                   |                    |
//!              +----- refuse ------+------ refuse ------+        cancel: from everywhere to over
//! ```
//!
//! Jobs of a port wait in the order of their weight, then of their submission. A decision starts the first of
//! them; every start has a [`Ticket`]. Devices are held from the start until the job is over, so nothing is
//! given twice however long a driver thinks. Only what was *accepted* is committed as pending. A job's
//! outcomes, one for each of its tasks, may come before its end or after it, and each counts once: a ticket
//! is closed when its job is over and no outcome is open.
//!
//! The book works with positions of one version of a cluster; [`Book::change`] carries it to the next. It is
//! plain data and can be saved whole. Memory: the jobs that wait, run or have open outcomes, and
//! [`REMEMBERED`] expired tickets.

mod change;
mod places;

pub use change::{Expired, Moved};

use super::Decision;
use super::devices::Devices;
use crate::model::{
    Amount, Arrivals, Capacity, ChannelId, Cluster, JobId, PlacedJob, PortId, ServerId, Slot, Ticket,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thiserror::Error;

/// The most jobs of a port that are offered in a slot; the others wait behind them.
const OFFERED: usize = 1 << 12;
/// How many expired tickets are told from those that were reported.
pub const REMEMBERED: usize = 1 << 16;

/// Jobs that wait and jobs that run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Book {
    devices: Devices,
    /// By port, in the order in which they start.
    waiting: Vec<VecDeque<Waiting>>,
    /// What was started and is not closed.
    starts: BTreeMap<Ticket, Started>,
    /// The ticket of every job that was started and is not over.
    running: BTreeMap<JobId, Ticket>,
    next_job: JobId,
    next_ticket: Ticket,
    expired: BTreeSet<Ticket>,
}

/// A job that waits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The job.
    pub job: JobId,
    /// How urgent it is among the jobs of its port.
    pub weight: f64,
    /// The slot in which it was submitted.
    pub submitted: Slot,
}

impl Waiting {
    /// Whether it starts before another job of its port, or is that job.
    fn starts_by(&self, weight: f64, job: JobId) -> bool {
        self.weight.total_cmp(&weight).reverse().then(self.job.cmp(&job)).is_le()
    }
}

/// A job that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The job.
    pub job: Waiting,
    /// Its port; none if the port has left the cluster.
    pub port: Option<PortId>,
    /// The slot of the decision.
    pub slot: Slot,
    /// Its tasks.
    pub tasks: Vec<StartedTask>,
    /// Whether the driver has accepted it.
    pub accepted: bool,
    /// Whether it is over: its devices are free again.
    pub over: bool,
}

/// A task that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedTask {
    /// Its channel; none if that has left the cluster.
    pub channel: Option<ChannelId>,
    /// Its server; none if that has left the cluster.
    pub server: Option<ServerId>,
    /// The devices it holds.
    pub amounts: Vec<Amount>,
    /// Whether its outcome is open.
    pub open: bool,
}

/// A use of a channel whose outcome is no longer open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedUse {
    /// The slot of the decision.
    pub slot: Slot,
    /// The channel; none if that has left the cluster.
    pub channel: Option<ChannelId>,
}

/// Why a ticket was not taken. The book is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TicketError {
    /// It was never handed out.
    #[error("{0} was never handed out")]
    Unknown(Ticket),
    /// It has expired: nobody waits for its outcomes any more.
    #[error("{0} has expired")]
    Expired(Ticket),
    /// All of it was reported before.
    #[error("{0} is closed: all of it was reported before")]
    Closed(Ticket),
    /// The outcome of this task was reported before.
    #[error("task {task} of {ticket} was reported before")]
    Reported {
        /// The ticket.
        ticket: Ticket,
        /// The task.
        task: usize,
    },
    /// It has no such task.
    #[error("{ticket} has {tasks} tasks, not a task {task}")]
    UnknownTask {
        /// The ticket.
        ticket: Ticket,
        /// The task.
        task: usize,
        /// The number of its tasks.
        tasks: usize,
    },
    /// Its job is over.
    #[error("the job of {0} is over")]
    Over(Ticket),
    /// It was accepted before.
    #[error("{0} was accepted before")]
    Accepted(Ticket),
}

/// What became of a start that the driver does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The job.
    pub job: JobId,
    /// Whether it waits again; else its port has left the cluster, and it is dropped.
    pub waits: bool,
    /// Uses that were committed and whose outcomes will not come.
    pub censored: Vec<ClosedUse>,
}

impl Book {
    /// Nobody waits, nothing runs.
    pub fn new(cluster: &Cluster) -> Self {
        Self {
            devices: Devices::new(cluster),
            waiting: vec![VecDeque::new(); cluster.ports().len()],
            starts: BTreeMap::new(),
            running: BTreeMap::new(),
            next_job: JobId(0),
            next_ticket: Ticket(1),
            expired: BTreeSet::new(),
        }
    }

    /// What no job holds.
    pub fn free(&self) -> &Capacity {
        self.devices.free()
    }

    /// The starts that are not closed, in the order in which they were made.
    pub fn starts(&self) -> impl Iterator<Item = (Ticket, &Started)> {
        self.starts.iter().map(|(&ticket, started)| (ticket, started))
    }

    /// A start that is not closed.
    pub fn started(&self, ticket: Ticket) -> Result<&Started, TicketError> {
        self.starts.get(&ticket).ok_or_else(|| self.missing(ticket))
    }

    /// The ticket of a job that was started and is not over.
    pub fn ticket_of(&self, job: JobId) -> Option<Ticket> {
        self.running.get(&job).copied()
    }

    /// The ticket of the next start.
    pub fn next_ticket(&self) -> Ticket {
        self.next_ticket
    }

    /// How many jobs of each port can start; at most 4,096 of each are offered.
    pub fn present(&self, present: &mut Arrivals) {
        for (index, waiting) in self.waiting.iter().enumerate() {
            present.set(PortId::at(index), waiting.len().min(OFFERED) as u32);
        }
    }

    /// Lets a job in.
    pub fn submit(&mut self, port: PortId, weight: f64, slot: Slot) -> JobId {
        let job = self.next_job;
        self.next_job = JobId(job.0 + 1);
        self.queue(port, Waiting { job, weight, submitted: slot });
        job
    }

    fn queue(&mut self, port: PortId, job: Waiting) {
        let waiting = &mut self.waiting[port.index()];
        let before = |other: &Waiting| other.starts_by(job.weight, job.job);
        let place = match waiting.back().is_none_or(before) {
            true => waiting.len(),
            false => waiting.partition_point(before),
        };
        waiting.insert(place, job);
    }

    /// Starts the jobs of a decision and holds their devices; the tickets, in order.
    ///
    /// # Panics
    /// If the decision was made on other arrivals than [`Book::present`] told.
    pub fn start(&mut self, cluster: &Cluster, decision: &Decision) -> std::ops::Range<u64> {
        let first = self.next_ticket;
        for (index, placed) in decision.jobs(cluster).into_iter().enumerate() {
            let waiting = &mut self.waiting[placed.port.index()];
            let own = decision.first().filter(|_| index == 0);
            let job = match own.and_then(|own| waiting.iter().position(|job| job.job == own)) {
                Some(place) => waiting.remove(place),
                None => waiting.pop_front(),
            };
            let job = job.expect("a decision starts no more jobs than wait");
            self.begin(cluster, decision.slot(), job, &placed);
        }
        first.0..self.next_ticket.0
    }

    /// Starts one job of a port, wherever in its queue it waits; none if it does not wait there.
    pub fn start_job(
        &mut self,
        cluster: &Cluster,
        slot: Slot,
        job: JobId,
        placed: &PlacedJob,
    ) -> Option<Ticket> {
        let waiting = &mut self.waiting[placed.port.index()];
        let place = waiting.iter().position(|other| other.job == job)?;
        let job = waiting.remove(place)?;
        Some(self.begin(cluster, slot, job, placed))
    }

    fn begin(&mut self, cluster: &Cluster, slot: Slot, job: Waiting, placed: &PlacedJob) -> Ticket {
        let tasks = placed.channels.iter().map(|&channel| {
            let (server, amounts) = (cluster.channel(channel).server, cluster.request(channel));
            self.devices.take(server, amounts);
            StartedTask {
                channel: Some(channel),
                server: Some(server),
                amounts: amounts.to_vec(),
                open: true,
            }
        });
        let tasks = tasks.collect();
        let ticket = self.next_ticket;
        self.next_ticket = Ticket(ticket.0 + 1);
        let started = Started { job, port: Some(placed.port), slot, tasks, accepted: false, over: false };
        self.starts.insert(ticket, started);
        self.running.insert(job.job, ticket);
        ticket
    }

    /// The driver runs a start: its uses, to be committed.
    ///
    /// # Errors
    /// When the ticket is not open, or was accepted before.
    pub fn accept(&mut self, ticket: Ticket) -> Result<(Slot, Vec<ChannelId>), TicketError> {
        let started = self.open(ticket)?;
        if started.accepted {
            return Err(TicketError::Accepted(ticket));
        }
        started.accepted = true;
        let channels = started.tasks.iter().filter_map(|task| task.channel).collect();
        Ok((started.slot, channels))
    }

    /// The driver does not run a start, or runs it no more: its job waits again at its old place.
    ///
    /// # Errors
    /// When the ticket is not open or its job is over.
    pub fn refuse(&mut self, ticket: Ticket) -> Result<Refused, TicketError> {
        if self.open(ticket)?.over {
            return Err(TicketError::Over(ticket));
        }
        let censored = self.release(ticket, true);
        let Started { job, port, .. } = self.starts.remove(&ticket).expect("it is open");
        if let Some(port) = port {
            self.queue(port, job);
        }
        Ok(Refused { job: job.job, waits: port.is_some(), censored })
    }

    /// A task runs on another server than before, with the devices that it held: on a channel of that
    /// server, or none if its port has none there. The use that it was until now, if its outcome is open.
    ///
    /// # Errors
    /// When the ticket or the task is not open.
    pub fn relocate(
        &mut self,
        ticket: Ticket,
        task: usize,
        server: ServerId,
        channel: Option<ChannelId>,
    ) -> Result<Option<ClosedUse>, TicketError> {
        let Some(started) = self.starts.get_mut(&ticket) else { return Err(self.missing(ticket)) };
        let (slot, over, tasks) = (started.slot, started.over, started.tasks.len());
        let task = started.tasks.get_mut(task).ok_or(TicketError::UnknownTask { ticket, task, tasks })?;
        let from = task.server.replace(server);
        if !over {
            from.into_iter().for_each(|from| self.devices.give(from, &task.amounts));
            self.devices.take(server, &task.amounts);
        }
        let channel = std::mem::replace(&mut task.channel, channel);
        Ok(task.open.then_some(ClosedUse { slot, channel }))
    }

    /// Takes a task's outcome: the use is no longer open.
    ///
    /// # Errors
    /// When the ticket or the task is not open.
    pub fn report(&mut self, ticket: Ticket, task: usize) -> Result<ClosedUse, TicketError> {
        let started = self.open(ticket)?;
        let tasks = started.tasks.len();
        let slot = started.slot;
        let Some(found) = started.tasks.get_mut(task) else {
            return Err(TicketError::UnknownTask { ticket, task, tasks });
        };
        if !std::mem::take(&mut found.open) {
            return Err(TicketError::Reported { ticket, task });
        }
        let channel = found.channel;
        self.close_if_done(ticket);
        Ok(ClosedUse { slot, channel })
    }

    /// A job has ended: its devices are free. Outcomes that are still open may come later.
    ///
    /// # Errors
    /// When the ticket is not open or its job is over.
    pub fn end(&mut self, ticket: Ticket) -> Result<(), TicketError> {
        if self.open(ticket)?.over {
            return Err(TicketError::Over(ticket));
        }
        self.release(ticket, false);
        self.close_if_done(ticket);
        Ok(())
    }

    /// Ends a job whose outcomes will not come: it was cancelled, or lost with a server. Those of its uses
    /// that were committed.
    ///
    /// # Errors
    /// When the ticket is not open or its job is over.
    pub fn lose(&mut self, ticket: Ticket) -> Result<Vec<ClosedUse>, TicketError> {
        if self.open(ticket)?.over {
            return Err(TicketError::Over(ticket));
        }
        let censored = self.release(ticket, true);
        self.starts.remove(&ticket);
        Ok(censored)
    }

    /// Takes a waiting job with its weight out of its queue; none if it was not there.
    pub fn withdraw(&mut self, port: PortId, job: JobId, weight: f64) -> Option<Waiting> {
        let place = self.place(port, weight, job)?;
        self.waiting[port.index()].remove(place)
    }

    /// Gives a waiting job another weight, and the place that goes with it; whether it was there.
    pub fn reweigh(&mut self, port: PortId, job: JobId, from: f64, to: f64) -> bool {
        let waiting = self.withdraw(port, job, from);
        waiting.map(|waiting| self.queue(port, Waiting { weight: to, ..waiting })).is_some()
    }

    fn open(&mut self, ticket: Ticket) -> Result<&mut Started, TicketError> {
        match self.starts.contains_key(&ticket) {
            true => Ok(self.starts.get_mut(&ticket).expect("it is there")),
            false => Err(self.missing(ticket)),
        }
    }

    fn missing(&self, ticket: Ticket) -> TicketError {
        match ticket {
            Ticket(0) => TicketError::Unknown(ticket),
            _ if ticket >= self.next_ticket => TicketError::Unknown(ticket),
            _ if self.expired.contains(&ticket) => TicketError::Expired(ticket),
            _ => TicketError::Closed(ticket),
        }
    }

    /// Gives a job's devices back; its open outcomes are given up where `censor` says so.
    fn release(&mut self, ticket: Ticket, censor: bool) -> Vec<ClosedUse> {
        let started = self.starts.get_mut(&ticket).expect("it is open");
        started.over = true;
        for task in &started.tasks {
            if let Some(server) = task.server {
                self.devices.give(server, &task.amounts);
            }
        }
        self.running.remove(&started.job.job);
        let mut censored = Vec::new();
        if censor {
            self.censor(ticket, &mut censored);
        }
        censored
    }

    /// Gives up on the open outcomes of a start; those that were committed are listed.
    fn censor(&mut self, ticket: Ticket, censored: &mut Vec<ClosedUse>) {
        let started = self.starts.get_mut(&ticket).expect("it is open");
        let (slot, accepted) = (started.slot, started.accepted);
        for task in &mut started.tasks {
            if std::mem::take(&mut task.open) && accepted {
                censored.push(ClosedUse { slot, channel: task.channel });
            }
        }
    }

    fn close_if_done(&mut self, ticket: Ticket) {
        let started = &self.starts[&ticket];
        if started.over && started.tasks.iter().all(|task| !task.open) {
            self.starts.remove(&ticket);
        }
    }
}

#[cfg(test)]
mod tests;
