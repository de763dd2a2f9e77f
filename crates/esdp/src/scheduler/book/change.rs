//! What time and changes of the cluster do to jobs: tickets that nobody answers, servers and ports that
//! leave.

use super::{Book, ClosedUse, REMEMBERED, Refused};
use crate::model::{Cluster, JobId, PortId, Remap, Slot, Ticket};
use crate::scheduler::devices::{Devices, moved};
use std::collections::VecDeque;

impl Book {
    /// Gives up on outcomes of decisions before a slot. A start that nobody answered waits again; a job that
    /// runs goes on and keeps its devices, but nothing more is expected of it.
    pub fn expire(&mut self, before: Slot) -> Expired {
        let mut expired = Expired::default();
        let old: Vec<Ticket> = self
            .starts
            .iter()
            .filter(|(_, started)| started.slot < before)
            .map(|(&ticket, _)| ticket)
            .collect();
        for ticket in old {
            let started = &self.starts[&ticket];
            if !started.accepted {
                expired.refused.push((ticket, self.refuse(ticket).expect("it is open and not over")));
                continue;
            }
            if started.tasks.iter().any(|task| task.open) {
                expired.censored.extend(self.give_up(ticket));
                expired.tickets.push(ticket);
            }
        }
        expired
    }

    /// Gives up on the open outcomes of one start that was accepted; its uses. A ticket that is not open has
    /// none.
    pub fn give_up(&mut self, ticket: Ticket) -> Vec<ClosedUse> {
        let mut censored = Vec::new();
        if self.starts.contains_key(&ticket) {
            self.censor(ticket, &mut censored);
            self.expired.insert(ticket);
            if self.expired.len() > REMEMBERED {
                self.expired.pop_first();
            }
            self.close_if_done(ticket);
        }
        censored
    }

    /// Carries the book to the next version of its cluster. What runs on a server that left is lost; jobs
    /// that wait at a port that left are dropped.
    pub fn change(&mut self, next: &Cluster, remap: &Remap) -> Moved {
        let mut moved_jobs = Moved::default();
        let mut waiting = vec![VecDeque::new(); next.ports().len()];
        for (index, jobs) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            match remap.port(PortId::at(index)) {
                Some(port) => waiting[port.index()] = jobs,
                None => moved_jobs.dropped.extend(jobs.iter().map(|job| job.job)),
            }
        }
        self.waiting = waiting;
        let mut devices = Devices::new(next);
        let mut lost = Vec::new();
        for (&ticket, started) in &mut self.starts {
            started.port = started.port.and_then(|port| remap.port(port));
            for task in &mut started.tasks {
                task.amounts = moved(&task.amounts, remap, next.devices().len());
                task.server = task.server.and_then(|server| remap.server(server));
                if task.server.is_none() && !started.over && lost.last() != Some(&ticket) {
                    lost.push(ticket);
                }
                if let Some(server) = task.server.filter(|_| !started.over) {
                    devices.take(server, &task.amounts);
                }
            }
        }
        self.devices = devices;
        for ticket in lost {
            let job = self.starts[&ticket].job.job;
            let censored = self.lose(ticket).expect("it runs");
            moved_jobs.lost.push((ticket, job, censored));
        }
        for started in self.starts.values_mut() {
            for task in &mut started.tasks {
                task.channel = task.channel.and_then(|channel| remap.channel(channel));
            }
        }
        moved_jobs
    }
}

/// What [`Book::expire`] gave up on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expired {
    /// Starts that nobody answered.
    pub refused: Vec<(Ticket, Refused)>,
    /// Tickets of which outcomes were open.
    pub tickets: Vec<Ticket>,
    /// Their uses.
    pub censored: Vec<ClosedUse>,
}

/// What a change of the cluster did to jobs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moved {
    /// Jobs that waited at a port that left.
    pub dropped: Vec<JobId>,
    /// Jobs that ran on a server that left, with uses that were committed, by their old channels.
    pub lost: Vec<(Ticket, JobId, Vec<ClosedUse>)>,
}
