//! Queues as batch schedulers run them: jobs in the order of their arrival, on the first servers with room,
//! whatever their speed. What a policy that learns has to beat.
//!
//! | rule | what |
//! |---|---|
//! | [`QueueRule::Easy`] | later jobs may go ahead if they do not delay the first that does not fit |
//! | [`QueueRule::Conservative`] | later jobs may go ahead if they delay nobody |
//! | [`QueueRule::Logged`] | jobs start when and where a log says: a check of the model |
//!
//! With the first two, who may not be delayed has a reservation: the first job in the queue that does not fit
//! (EASY backfill, what Slurm does by default), or every job.
//!
//! A rule is told how long each job would take on a server of average speed, and of one that runs when it
//! will be done if it goes on as it did so far: more than a real scheduler ever knows, and with users'
//! guesses backfill does worse. It learns nothing. It is no [`Policy`](crate::policy::Policy), which sees how
//! many jobs wait at a port and not which; so it starts jobs by itself, while the scheduler lets the slot
//! pass.

mod conservative;
mod easy;
mod room;

use super::held::JobWork;
use crate::model::{ChannelId, Cluster, JobId, PortId, ServerId, Slot};
use room::Room;
use std::sync::Arc;

/// In which order jobs start.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueRule {
    /// First come, first served, with EASY backfill.
    Easy,
    /// The same with conservative backfill.
    Conservative,
    /// As logged: for each port when its jobs start and on which channels, in the order in which they come.
    /// One whose channels are not told goes where there is room.
    Logged(Arc<Vec<Vec<LoggedStart>>>),
}

/// When and where a job started.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedStart {
    /// The slot.
    pub slot: Slot,
    /// A channel for each task; empty where that is not told.
    pub channels: Vec<ChannelId>,
}

/// A job that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) job: JobId,
    pub(super) port: PortId,
    pub(super) number: u64,
    /// The slots it would take on a server of average speed, at least 1.
    pub(super) slots: u64,
}

/// A job that runs: the slot after its last one, as far as one can tell (the next at the earliest), and its
/// channels.
pub(super) struct Ending<'a> {
    pub(super) end: u64,
    pub(super) channels: &'a [ChannelId],
}

/// A job that starts.
pub(super) type Start = (JobId, PortId, Vec<ChannelId>);

/// What a rule decides on.
pub(super) struct View<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) now: u64,
    /// In the order of arrival.
    pub(super) waiting: &'a [Queued],
    pub(super) running: &'a [Ending<'a>],
}

impl QueueRule {
    /// The jobs that start now.
    pub(super) fn starts(
        &self,
        held: &JobWork,
        slot: Slot,
        means: &[f64],
        closed: &[ServerId],
    ) -> Vec<Start> {
        let waiting = held.waiting(means);
        if waiting.is_empty() {
            return Vec::new();
        }
        let running = held.endings(slot);
        let view = View { cluster: held.cluster(), now: slot.0, waiting: &waiting, running: &running };
        let room = Room::new(held.cluster(), held.free(), closed);
        match self {
            Self::Easy => easy::starts(&view, room),
            Self::Conservative => conservative::starts(&view, room),
            Self::Logged(log) => logged(&view, room, log),
        }
    }
}

fn logged(view: &View<'_>, mut room: Room, log: &[Vec<LoggedStart>]) -> Vec<Start> {
    let mut starts = Vec::new();
    for job in view.waiting {
        let Some(told) = log[job.port.index()].get(job.number as usize) else { continue };
        if told.slot.0 > view.now {
            continue;
        }
        let placed = match told.channels.is_empty() {
            true => room.place(view.cluster, job.port),
            false => room.fits(view.cluster, &told.channels).then(|| told.channels.clone()),
        };
        if let Some(channels) = placed {
            room.take(view.cluster, &channels);
            starts.push((job.job, job.port, channels));
        }
    }
    starts
}

#[cfg(test)]
mod tests;
