//! The live core: a deterministic state machine, fed by events, that schedules the jobs of a real cluster.
//!
//! ```text
//!                 +-------------------- esdp (no IO, no clock) --------------------+
//! driver -events->| Live: names, jobs, holds, tickets | Scheduler: policy, solver  |-> starts, reasons
//!                 +----------------------------------------------------------------+
//! ```
//!
//! [`Live::apply`] is a pure function of the state and an [`Event`], and the only way to change it. So a journal of events is all
//! the storage there is: applied again from the start, or from a [snapshot](Live::snapshot) on, it gives the same state
//! and the same decisions, bit for bit. An event that does not fit changes nothing and says why; one that was
//! said before is recognised, counted, and changes nothing either. Events may come late, twice and in any order: what a
//! driver says of a start it was given implies that it has accepted it.
//!
//! A [`Driver`] is what joins it to a cluster, and [`turn`] is one round of both.
//!
//! | file | what |
//! |---|---|
//! | `event.rs` | what comes in, what goes out |
//! | `mod.rs` | jobs and slots, and the state |
//! | `outcome.rs` | outcomes, and what a server's loss, reset and departure mean |
//! | `speeds.rs` | speeds in any unit |
//! | `advice.rs` | what the cluster did, beside what it was advised to do |
//! | `exploration.rs` | how much of what was started lately was exploration |
//! | `servers.rs` | which server is fast, which is slow |
//! | `queries.rs` | what is known: jobs, starts, counts |
//! | `explain.rs` | why here, why not, what is believed |
//! | `snapshot.rs` | the state as a text |
//! | `driver.rs` | the seam to a cluster |

mod advice;
mod driver;
mod event;
mod explain;
mod exploration;
mod memory;
mod names;
mod outcome;
mod queries;
mod servers;
mod snapshot;
mod speeds;

pub use advice::AdviceWorth;
pub use driver::{Driver, DriverError, Due, Journal, JournalError, Refusal, TurnError, TurnReport, turn};
pub use event::{EVENT_VERSION, Effect, Entry, Event, EventError, Mode, Placement, SpeedReport, Start, WhichTasks};
pub use explain::{ChannelBelief, HeldJob, HeldReason, StartReason};
pub use exploration::{EXPLORATION_WINDOW, UNSURE};
pub use memory::REMEMBERED_NAMES;
pub use servers::{ServerBelief, Verdict};
pub use snapshot::{SNAPSHOT_VERSION, SnapshotError};
pub use speeds::SpeedScale;

use crate::model::{
    Amounts, Arrivals, Capacity, Cluster, ClusterChange, ClusterDescription, DescriptionError, JobId, Observation,
    Outcome, PortId, ServerId, Slot, Ticket,
};
use crate::policy::Policy;
use crate::scheduler::{Book, ClosedUse, Scheduler, SlotInput, Started, TicketError};
use advice::Advice;
use exploration::Explored;
use memory::Memory;
use names::Names;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A live scheduler.
pub struct Live {
    described: ClusterDescription,
    names: Names,
    scheduler: Scheduler,
    book: Book,
    /// The names of jobs that wait or run.
    jobs: BTreeMap<JobId, Job>,
    by_name: HashMap<String, JobId>,
    /// Jobs that are over.
    over: Memory,
    /// Reports of what others have placed.
    observed: Memory,
    /// Servers that take nothing new.
    drained: BTreeSet<String>,
    /// By port, for those whose speeds were reported.
    scales: BTreeMap<String, SpeedScale>,
    counts: EventCounts,
    /// Whether anybody has said who decides. Before that the state is what it was before there were modes, so that old
    /// journals give old snapshots: no exploration is counted, and ended jobs are known by their tickets alone.
    directed: bool,
    mode: Mode,
    most_exploration: Option<f64>,
    explored: Explored,
    advice: Advice,
    /// Jobs that have ended while outcomes were open.
    ended: BTreeMap<String, Ticket>,
    /// What was free in the last slot, less what it has started.
    left: Capacity,
    closed: Vec<ServerId>,
}

/// A job by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    name: String,
    port: String,
}

/// How many events there were, and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventCounts {
    /// All events.
    pub events: u64,
    /// Those that said what was said before.
    pub duplicates: u64,
    /// Those that did not fit.
    pub rejected: u64,
    /// Jobs that were started, refused ones included.
    pub starts: u64,
    /// Outcomes that were learned.
    pub learned: u64,
    /// Outcomes that came for channels which had left the cluster.
    pub homeless: u64,
}

impl Live {
    /// A scheduler before its first event; `policy` builds its policy for a cluster.
    ///
    /// # Errors
    /// When the description was rejected.
    pub fn new(
        described: ClusterDescription,
        policy: impl FnOnce(&Cluster) -> Box<dyn Policy>,
    ) -> Result<Self, DescriptionError> {
        let cluster = Arc::new(described.cluster()?);
        let policy = policy(&cluster);
        let scales = BTreeMap::new();
        let mut live = Self {
            names: Names::of(&cluster),
            book: Book::new(&cluster),
            left: cluster.capacity().clone(),
            scheduler: Scheduler::new(cluster, policy),
            described,
            jobs: BTreeMap::new(),
            by_name: HashMap::new(),
            over: Memory::default(),
            observed: Memory::default(),
            drained: BTreeSet::new(),
            scales,
            counts: EventCounts::default(),
            directed: false,
            mode: Mode::default(),
            most_exploration: None,
            explored: Explored::default(),
            advice: Advice::default(),
            ended: BTreeMap::new(),
            closed: Vec::new(),
        };
        live.scale_ports();
        Ok(live)
    }

    /// Takes an event; what follows from it.
    pub fn apply(&mut self, event: &Event) -> Vec<Effect> {
        self.counts.events += 1;
        let mut effects = Vec::new();
        match self.take(event, &mut effects) {
            Ok(()) => {}
            Err(EventError::Ticket(
                error @ (TicketError::Closed(_)
                | TicketError::Reported { .. }
                | TicketError::Accepted(_)
                | TicketError::Over(_)),
            )) => effects.push(self.duplicate(error.to_string())),
            Err(error) => {
                self.counts.rejected += 1;
                effects.push(Effect::Rejected { why: error.to_string() });
            }
        }
        effects
    }

    fn take(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        match event {
            Event::Described { cluster } => self.change(cluster, effects),
            Event::Submitted { job, port, weight } => self.submit(job, port, *weight, effects),
            Event::Cancelled { job } => self.cancel(job, effects),
            Event::SlotDue { slot, free, closed, work } => self.decide(*slot, (free, closed, *work), effects),
            Event::Accepted { ticket } => self.accept(*ticket),
            Event::Refused { ticket, why } => self.refuse(*ticket, why, effects),
            Event::Reported { ticket, tasks, report } => self.report(*ticket, tasks, *report, effects),
            Event::Observed { id, port, group, server, report } => {
                self.observe(id, (port, group, server), *report, effects)
            }
            Event::Ended { job } => self.end(job, effects),
            Event::ServerLost { server } => self.lose_server(server, effects),
            Event::Drained { server } => {
                self.names.server(server)?;
                match self.drained.insert(server.clone()) {
                    true => Ok(()),
                    false => self.again(format!("server `{server}` is drained"), effects),
                }
            }
            Event::Opened { server } => match self.drained.remove(server) {
                true => Ok(()),
                false => self.again(format!("server `{server}` is open"), effects),
            },
            Event::Reset { port, server } => self.reset(port.as_deref(), server.as_deref()),
            Event::Forgotten { server } => {
                self.scheduler.forget(|key| key.server == *server);
                self.drained.remove(server);
                Ok(())
            }
            Event::Expired { before } => self.expire(*before, effects),
            Event::Directed { mode, most_exploration } => self.direct(*mode, *most_exploration),
            Event::Placed { job, port, group, server } => self.placed_elsewhere(job, (port, group, server)),
            Event::Merged { state, share } => {
                if !(*share > 0.0 && *share <= 1.0) {
                    let accepted = "a number above 0, at most 1";
                    return Err(EventError::Number { key: "share", value: *share, accepted });
                }
                effects.push(Effect::Merged { channels: self.scheduler.merge(state, *share)? });
                Ok(())
            }
        }
    }

    fn duplicate(&mut self, what: String) -> Effect {
        self.counts.duplicates += 1;
        Effect::Duplicate { what }
    }

    fn again(&mut self, what: String, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        effects.push(self.duplicate(what));
        Ok(())
    }

    fn submit(&mut self, job: &str, port: &str, weight: f64, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        if self.by_name.contains_key(job) {
            return self.again(format!("job `{job}` was submitted before"), effects);
        }
        if self.over.knows(job) {
            return self.again(format!("job `{job}` is over"), effects);
        }
        let at = self.names.port(port)?;
        if !(weight.is_finite() && weight > 0.0) {
            return Err(EventError::Number { key: "weight", value: weight, accepted: "a finite number above 0" });
        }
        let id = self.book.submit(at, weight, self.scheduler.slot());
        self.jobs.insert(id, Job { name: job.to_owned(), port: port.to_owned() });
        self.by_name.insert(job.to_owned(), id);
        Ok(())
    }

    fn cancel(&mut self, job: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let Some(&id) = self.by_name.get(job) else {
            if self.over.knows(job) {
                return self.again(format!("job `{job}` is over"), effects);
            }
            // The word of its submission may be late; it must not start then.
            self.over.add(job);
            return Ok(());
        };
        match self.book.ticket_of(id) {
            Some(ticket) => {
                let censored = self.book.lose(ticket)?;
                self.censor(&censored);
            }
            None => {
                let port = self.names.port(&self.jobs[&id].port)?;
                self.book.withdraw(port, id);
            }
        }
        self.forget_job(id);
        Ok(())
    }

    fn end(&mut self, job: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let Some(&id) = self.by_name.get(job) else {
            if self.over.knows(job) {
                return self.again(format!("job `{job}` is over"), effects);
            }
            return Err(EventError::Unknown { what: "job", name: job.to_owned() });
        };
        let Some(ticket) = self.book.ticket_of(id) else {
            return Err(EventError::Unknown { what: "running job", name: job.to_owned() });
        };
        self.accept_if_new(ticket)?;
        self.book.end(ticket)?;
        self.forget_job(id);
        if self.directed && self.book.started(ticket).is_ok() {
            self.ended.insert(job.to_owned(), ticket);
            if self.ended.len() > REMEMBERED_NAMES {
                let book = &self.book;
                self.ended.retain(|_, ticket| book.started(*ticket).is_ok());
            }
        }
        Ok(())
    }

    fn direct(&mut self, mode: Mode, most_exploration: Option<f64>) -> Result<(), EventError> {
        if let Some(value) = most_exploration.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(EventError::Number { key: "most_exploration", value, accepted: "a number from 0 to 1" });
        }
        self.directed = true;
        (self.mode, self.most_exploration) = (mode, most_exploration);
        Ok(())
    }

    /// A job that neither waits nor runs any more.
    fn forget_job(&mut self, id: JobId) {
        if let Some(job) = self.jobs.remove(&id) {
            self.by_name.remove(&job.name);
            self.over.add(&job.name);
        }
    }

    fn decide(
        &mut self,
        slot: Slot,
        (free, closed, work): (&BTreeMap<String, Amounts>, &[String], Option<u64>),
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        if self.mode == Mode::Observe {
            return self.scheduler.pass(slot).map_err(|error| EventError::Schedule(error.to_string()));
        }
        let cluster = Arc::clone(self.scheduler.cluster());
        let mut arrivals = Arrivals::new(vec![0; cluster.ports().len()]);
        self.book.present(&mut arrivals);
        let free = self.free(free)?;
        let shut = closed.iter().chain(&self.drained).filter_map(|name| self.names.server(name).ok());
        let mut shut: Vec<ServerId> = shut.collect();
        shut.sort_unstable();
        shut.dedup();
        let weights = self.weights(&cluster);
        let input = SlotInput { arrivals: &arrivals, free: Some(&free), closed: &shut, weights: &weights, work };
        let exploit = self.explored.reaches(self.most_exploration);
        self.scheduler.limit_exploration(exploit);
        let decision = self.scheduler.decide_at(slot, &input);
        let decision = decision.map_err(|error| EventError::Schedule(error.to_string()))?.clone();
        if self.directed {
            let exploring = if exploit { 0 } else { self.unsure(decision.channels()) };
            self.explored.add(exploring, decision.channels().len() as u32);
        }
        self.left = free;
        self.closed = shut;
        for &channel in decision.channels() {
            let server = cluster.channel(channel).server;
            let used = cluster.request(channel);
            if let Some(left) = self.left.cluster_mut() {
                left.iter_mut().zip(used).for_each(|(left, &amount)| *left -= amount);
            }
            if let Some(left) = self.left.server_mut(server) {
                left.iter_mut().zip(used).for_each(|(left, &amount)| *left -= amount);
            }
        }
        for ticket in self.book.start(&cluster, &decision).map(Ticket) {
            self.counts.starts += 1;
            let start = self.start_of(ticket, self.book.started(ticket)?);
            if self.mode == Mode::Advise {
                // The job waits again at its old place, and what it would have held is free.
                self.advice.give(&start);
                self.book.refuse(ticket)?;
            }
            effects.push(Effect::Started(start));
        }
        Ok(())
    }

    /// The devices that no job holds, and that nobody else uses.
    fn free(&self, told: &BTreeMap<String, Amounts>) -> Result<Capacity, EventError> {
        let mut free = self.book.free().clone();
        for (server, amounts) in told {
            let server = self.names.server(server)?;
            let Some(free) = free.server_mut(server) else { continue };
            for (device, free) in self.scheduler.cluster().devices().iter().zip(free) {
                if let Some(&amount) = amounts.get(device) {
                    *free = (*free).min(amount);
                }
            }
        }
        Ok(free)
    }

    /// What each port counts: its own weight times that of the job that would start first. None if all count 1.
    fn weights(&self, cluster: &Cluster) -> Vec<f64> {
        let of = |index: usize| {
            let head = self.book.waiting(PortId::at(index)).next().map_or(1.0, |job| job.weight);
            (self.described.ports[index].weight * head).clamp(1e-100, 1e100)
        };
        let weights: Vec<f64> = (0..cluster.ports().len()).map(of).collect();
        if weights.iter().all(|&weight| weight == 1.0) { Vec::new() } else { weights }
    }

    fn start_of(&self, ticket: Ticket, started: &Started) -> Start {
        let cluster = self.scheduler.cluster();
        let mut placements: Vec<Placement> = Vec::new();
        for (task, channel) in started.tasks.iter().enumerate().filter_map(|(task, t)| Some((task, t.channel?))) {
            let server = &cluster.servers()[cluster.channel(channel).server.index()];
            let group = cluster.group_name(cluster.task_group(channel));
            match placements.last_mut() {
                Some(last) if last.server == *server && last.group == group => last.count += 1,
                _ => placements.push(Placement {
                    group: group.to_owned(),
                    server: server.clone(),
                    count: 1,
                    first: task as u32,
                }),
            }
        }
        let job = self.jobs.get(&started.job.job);
        Start {
            ticket,
            job: job.map_or_else(String::new, |job| job.name.clone()),
            port: job.map_or_else(String::new, |job| job.port.clone()),
            slot: started.slot,
            placements,
        }
    }

    fn accept(&mut self, ticket: Ticket) -> Result<(), EventError> {
        let (slot, channels) = self.book.accept(ticket)?;
        self.scheduler.commit(slot, &channels);
        Ok(())
    }

    /// Who speaks of how a start went has accepted it.
    fn accept_if_new(&mut self, ticket: Ticket) -> Result<(), EventError> {
        match self.book.started(ticket)?.accepted {
            true => Ok(()),
            false => self.accept(ticket),
        }
    }

    fn refuse(&mut self, ticket: Ticket, why: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let refused = self.book.refuse(ticket)?;
        self.censor(&refused.censored);
        self.requeued(ticket, refused.job, refused.waits, why, effects);
        Ok(())
    }

    fn requeued(&mut self, ticket: Ticket, job: JobId, waits: bool, why: &str, effects: &mut Vec<Effect>) {
        let name = self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
        if waits {
            effects.push(Effect::Requeued { job: name, ticket });
        } else {
            self.forget_job(job);
            let why = if why.is_empty() { "its port has left the cluster" } else { why };
            effects.push(Effect::Lost { job: name, why: why.to_owned() });
        }
    }

    /// Takes uses back whose outcomes will not come.
    fn censor(&mut self, uses: &[ClosedUse]) {
        for closed in uses {
            if let Some(channel) = closed.channel {
                let seen = Observation { slot: closed.slot, channel, outcome: Outcome::Censored };
                // The slot was decided and the channel is there: it was committed.
                let _ = self.scheduler.observe(&seen);
            }
        }
    }

    fn change(&mut self, next: &ClusterDescription, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let cluster = Arc::new(next.cluster().map_err(|error| EventError::Cluster(error.to_string()))?);
        let old = Arc::clone(self.scheduler.cluster());
        let change = ClusterChange::new(&old, &cluster);
        let moved = self.book.change(&cluster, &change.remap);
        for (_, job, censored) in moved.lost {
            self.censor(&censored);
            self.lost(job, "its server has left the cluster", effects);
        }
        for job in moved.dropped {
            self.lost(job, "its port has left the cluster", effects);
        }
        self.scheduler.change(Arc::clone(&cluster));
        self.names = Names::of(&cluster);
        self.left = self.book.free().clone();
        self.closed.clear();
        self.described = next.clone();
        self.scale_ports();
        Ok(())
    }

    fn lost(&mut self, job: JobId, why: &str, effects: &mut Vec<Effect>) {
        let name = self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
        self.forget_job(job);
        effects.push(Effect::Lost { job: name, why: why.to_owned() });
    }

    fn expire(&mut self, before: Slot, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let expired = self.book.expire(before);
        self.censor(&expired.censored);
        for (ticket, refused) in expired.refused {
            self.requeued(ticket, refused.job, refused.waits, "", effects);
        }
        Ok(())
    }
}
