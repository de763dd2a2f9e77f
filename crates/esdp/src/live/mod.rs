//! The live core: a deterministic state machine, fed by events, that schedules the jobs of a real cluster.
//!
//! ```text
//!                 +-------------------- esdp (no IO, no clock) --------------------+
//! driver -events->| Live: names, jobs, holds, tickets | Scheduler: policy, solver  |-> starts, reasons
//!                 +----------------------------------------------------------------+
//! ```
//!
//! [`Live::apply`] is a pure function of the state and an [`Event`], and the only way to change it. It books
//! and never decides: [`Live::decide`] reads the state and changes nothing, and what it decided is an event
//! like any other. So a journal of events is all the storage there is: applied again from the start, or from
//! a [snapshot](Live::snapshot) on, it gives the same state, bit for bit, whatever that build would decide.
//! An event that does not fit changes nothing and says why; one that was said before is recognised, counted,
//! and changes nothing either. Events may come late, twice and in any order: what a driver says of a start it
//! was given implies that it has accepted it.
//!
//! A [`Driver`] is what joins it to a cluster, and [`turn`] is one round of both.
//!
//! | file | what |
//! |---|---|
//! | `event.rs`, `effect.rs` | what comes in, what goes out |
//! | `mod.rs` | the state, and which event goes where |
//! | `jobs.rs` | what becomes of a job |
//! | `moved.rs` | tasks that run elsewhere than was decided |
//! | `ended.rs` | jobs that have ended while outcomes were open |
//! | `slots.rs` | a slot that is due, its decision, and the booking of that |
//! | `outcome.rs` | outcomes, and what a server's loss, reset and departure mean |
//! | `judge/` | whether an outcome is believed |
//! | `aside.rs` | from a report to what is learned of it |
//! | `speeds.rs` | speeds in any unit |
//! | `advice.rs` | what the cluster did, beside what it was advised to do |
//! | `exploration.rs` | how much of what was started lately was exploration |
//! | `servers.rs` | which server is fast, which is slow |
//! | `queue.rs` | the rule for queues by name |
//! | `queries.rs` | what is known: jobs, starts, counts |
//! | `listing.rs` | jobs one can find: by name, or page after page |
//! | `traits.rs` | what is said of a job besides its port |
//! | `explain.rs` | why here, why not, what is believed |
//! | `snapshot.rs` | the state as a text |
//! | `digest.rs` | the state as two numbers |
//! | `driver.rs` | the seam to a cluster |

mod advice;
mod aside;
mod digest;
mod driver;
mod effect;
mod ended;
mod event;
mod explain;
mod exploration;
mod jobs;
mod judge;
mod listing;
mod memory;
mod moved;
mod names;
mod outcome;
mod queries;
mod queue;
mod servers;
mod slots;
mod slowest;
mod snapshot;
mod speeds;
mod traits;

pub use advice::AdviceWorth;
pub use driver::{Driver, DriverError, Due, Journal, JournalError, Refusal, TurnError, TurnReport, turn};
pub use effect::{Effect, Placement, Rejection, Start};
pub use event::{
    Decided, DecidedStart, DecidedTasks, EVENT_VERSION, Entry, Event, EventError, Mode, SpeedReport,
    WhichTasks,
};
pub use explain::{ChannelBelief, Held, HeldJob, HeldReason, StartReason};
pub use exploration::{EXPLORATION_WINDOW, UNSURE};
pub use judge::{Doubt, FAR, LISTED, NEAR, SetAside};
pub use listing::{FoundJob, JobCursor, JobPage, JobState, LOOKED_AT, QueuePlace, WhichJobs};
pub use memory::REMEMBERED_NAMES;
pub use queue::{DecidedQueue, Standing};
pub use servers::{ServerBelief, Verdict};
pub use snapshot::{SNAPSHOT_VERSION, SnapshotError};
pub use speeds::SpeedScale;
pub use traits::{
    ExpectedLength, Feature, JobTraits, LONGEST_FEATURE, LONGEST_TENANT, MOST_FEATURES, TraitError,
};

use crate::model::{
    Capacity, Cluster, ClusterChange, ClusterDescription, DescriptionError, JobId, PortId, ServerId, Slot,
};
use crate::policy::{Certificate, Policy};
use crate::scheduler::{Book, Objective, QueueState, Scheduler, TicketError};
use advice::Advice;
use ended::Ended;
use exploration::Explored;
use judge::Judge;
use memory::Memory;
use names::Names;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Why jobs are lost with a change of the cluster.
const SERVER_LEFT: &str = "its server has left the cluster";
const PORT_LEFT: &str = "its port has left the cluster";

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
    judge: Judge,
    counts: EventCounts,
    /// Whether anybody has said who decides. Before that the state is what it was before there were modes, so
    /// that old journals give old snapshots: no exploration is counted, and ended jobs are known by their
    /// tickets alone.
    directed: bool,
    mode: Mode,
    most_exploration: Option<f64>,
    explored: Explored,
    advice: Advice,
    /// Jobs that have ended while outcomes were open.
    ended: Ended,
    last: LastSlot,
    /// What a slot maximises; the default if nobody has said.
    objective: Option<Objective>,
    queue: QueueState,
    /// A buffer; no part of the state.
    room: Capacity,
}

/// The slot that was due last, for the reasons of those who wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LastSlot {
    /// What was free, less what was started.
    left: Capacity,
    /// Servers that took nothing new, ascending.
    closed: Vec<ServerId>,
    /// What is proved of its decision.
    certificate: Option<Certificate>,
    /// The last slot of which a decision was booked.
    decided: Slot,
    /// Ports of which a job waited for a faster server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<PortId>,
}

impl LastSlot {
    /// Nothing was started or is known of the last slot.
    fn new(free: &Capacity, decided: Slot) -> Self {
        Self { left: free.clone(), closed: Vec::new(), certificate: None, decided, held: Vec::new() }
    }
}

/// A job by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Job {
    name: String,
    port: String,
    /// While it waits, its weight in the book, by which it is found there.
    #[serde(skip, default = "event::one")]
    weight: f64,
    /// None of most jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traits: Option<Box<JobTraits>>,
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
            last: LastSlot::new(cluster.capacity(), Slot(0)),
            scheduler: Scheduler::new(cluster, policy),
            described,
            jobs: BTreeMap::new(),
            by_name: HashMap::new(),
            over: Memory::default(),
            observed: Memory::default(),
            drained: BTreeSet::new(),
            scales,
            judge: Judge::default(),
            counts: EventCounts::default(),
            directed: false,
            mode: Mode::default(),
            most_exploration: None,
            explored: Explored::default(),
            advice: Advice::default(),
            ended: Ended::default(),
            objective: None,
            queue: QueueState::default(),
            room: Capacity::default(),
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
                effects.push(Effect::Rejected { why: error.to_string(), cause: error.cause() });
            }
        }
        effects
    }

    fn take(&mut self, event: &Event, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        match event {
            Event::Described { cluster } => self.change(cluster, effects),
            Event::Submitted { job, port, weight } => self.submit(job, port, *weight, effects),
            Event::Amended { job, weight, traits } => self.amend(job, *weight, traits.as_ref(), effects),
            Event::Cancelled { job } => self.cancel(job, effects),
            Event::SlotDue { slot, free, closed, work: _ } => self.begin_slot(*slot, free, closed),
            Event::Decided(decided) => self.book_decision(decided, effects),
            Event::Accepted { ticket } => self.accept(*ticket),
            Event::Refused { ticket, why: _ } => self.refuse(*ticket, effects),
            Event::Moved { ticket, tasks, server } => self.move_tasks(*ticket, tasks, server, effects),
            Event::Reported { ticket, tasks, report, source } => {
                self.report(*ticket, tasks, (*report, source), effects)
            }
            Event::Observed { id, port, group, server, report, source } => {
                self.observe(id, (port, group, server), (*report, source), effects)
            }
            Event::Settled { aside, accept } => self.settle_aside(*aside, *accept, effects),
            Event::SourceForgotten { source } => self.forget_source(source),
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
            Event::Directed { mode, most_exploration, objective } => {
                self.direct(*mode, *most_exploration)?;
                self.objective = objective.or(self.objective);
                Ok(())
            }
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

    fn direct(&mut self, mode: Mode, most_exploration: Option<f64>) -> Result<(), EventError> {
        if let Some(value) = most_exploration.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(EventError::Number {
                key: "most_exploration",
                value,
                accepted: "a number from 0 to 1",
            });
        }
        self.directed = true;
        (self.mode, self.most_exploration) = (mode, most_exploration);
        Ok(())
    }

    fn change(&mut self, next: &ClusterDescription, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let cluster = Arc::new(next.cluster().map_err(|error| EventError::Cluster(error.to_string()))?);
        let old = Arc::clone(self.scheduler.cluster());
        let change = ClusterChange::new(&old, &cluster);
        let moved = self.book.change(&cluster, &change.remap);
        for (_, job, censored) in moved.lost {
            self.censor(&censored);
            self.lost(job, SERVER_LEFT, effects);
        }
        for job in moved.dropped {
            self.lost(job, PORT_LEFT, effects);
        }
        self.queue.change(&change.remap, cluster.ports().len());
        self.scheduler.change(Arc::clone(&cluster));
        self.names = Names::of(&cluster);
        self.last = LastSlot::new(self.book.free(), self.last.decided);
        self.described = next.clone();
        self.scale_ports();
        self.forget_names();
        Ok(())
    }

    /// Names come and go for years, so of what is kept under names that left only so much stays.
    fn forget_names(&mut self) {
        if self.drained.len() > REMEMBERED_NAMES {
            self.drained.retain(|server| self.names.server(server).is_ok());
        }
        if self.scales.len() > REMEMBERED_NAMES {
            self.scales.retain(|port, _| self.names.port(port).is_ok());
        }
        self.forget_judged();
        self.advice.forget_names(|key| self.names.channels(&key.port, &key.server).is_ok());
    }
}
