//! The rule for queues: what a slot maximises when jobs wait, and hold their devices until they are done.
//!
//! The paper's objective, the sum of net utilities in a slot, has no idea of a queue. With jobs that wait it
//! is unstable where other rules are not, it lets large jobs wait for ever, and a change of the unit in which
//! a port's speeds are reported changes who runs. Under [`Objective::Relative`] a use of channel *lr* counts
//!
//! ```text
//! s_u * w_l * (v_lr / m_l) * (Q_l (d + a_l) / D_l)^(1/3)
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | *v_lr* | the policy's index of the channel, optimism included |
//! | *m_l* | the mean of the estimates over the port's servers |
//! | *w_l* | the weight of the port times that of its first job |
//! | *s_u* | the factor of a tenant's share; 1 as long as there are no tenants |
//! | *Q_l*, *a_l* | the jobs that wait at the port, and the age of its first one in slots |
//! | *d*, *D_l* | the mean duration of all jobs, and of the port's jobs at the port's mean speed |
//!
//! (and up to 2 % more if the port has started less than others of late, so that ports which are alike take
//! turns), which is the relative speed times the cube root of backlog times slowdown. While all tasks that
//! wait fit into the free devices, *D_l* is left out. As jobs start in order within a port, all of this is
//! one weight per port, and the slot's problem stays the one that is solved exactly. Two rules restrict it:
//!
//! - **Hold.** A slow server is used only if the queue is long enough: channels on which a job would take
//!   longer than on faster servers, by more than the queue can explain, are barred for the slot
//!   (`values.rs`).
//! - **Reservation.** The oldest job of all is reserved for once it has waited [`PATIENCE`] times as long as
//!   jobs take to wait and run. Devices that it may use are kept from all others, without backfill, until it
//!   fits. It starts at the latest when what ran at that moment has ended. A *loss budget* bounds the share
//!   of the devices that idle for reservations, in the long run, by [`LOSS`]. After a gang come those of its
//!   port which waited at that moment, as long as each fits at once (`plan.rs`).
//!
//! Nothing here is decided twice: what a decision reserved and what idled for it are [`QueueFacts`], booked
//! with the decision, and the state follows from those and from jobs that start and end.
//!
//! Cost: *O(channels)* per slot, *O(channels log channels)* if something may have to be held. Memory: some
//! numbers per port.

mod choose;
mod plan;
mod values;

use super::Book;
use crate::model::{JobId, PortId, Remap, Slot};
use serde::{Deserialize, Serialize};

pub(super) use choose::FirstStart;

/// How many times the mean of wait and duration a job waits before devices are reserved for it, *k*.
pub const PATIENCE: f64 = 10.0;
/// The share of the devices that may idle for reservations in the long run, *f*.
pub const LOSS: f64 = 0.05;
/// How much of the time that a faster server saves a job waits for it, *h*.
pub const HOLD: f64 = 0.25;
/// By how much a port counts more at most that has started less than others of late: enough to decide between
/// values that are nearly alike, which would otherwise always go to the same port.
const TURN: f64 = 0.02;
/// After how many slots starts are forgotten for that.
const TURNS: f64 = 64.0;
/// The least weight of a new value in a running mean.
const FORGETTING: f64 = 0.005;

/// What a slot maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The paper's: the sum of net utilities, each times the weight of its port.
    Sum,
    /// The rule for queues: relative speed times the cube root of backlog and slowdown, with hold and
    /// reservation.
    #[default]
    Relative,
}

impl Objective {
    /// Its name, as scenarios and results have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Relative => "relative",
        }
    }
}

/// A running mean that forgets slowly.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct RunningMean {
    count: u64,
    value: f64,
}

impl RunningMean {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.value += (1.0 / self.count as f64).max(FORGETTING) * (value - self.value);
    }

    /// The mean, if there is one.
    fn known(&self) -> Option<f64> {
        (self.count > 0).then_some(self.value)
    }
}

/// What is known of the jobs of a port.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct PortQueue {
    /// How long they took.
    duration: RunningMean,
    /// How fast they ran, relative to the port's mean speed with all of their tasks.
    pace: RunningMean,
    /// How many started, of late.
    #[serde(default)]
    recent: f64,
}

/// A reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The job.
    pub job: JobId,
    /// Its port.
    pub port: PortId,
    /// The slot in which it was made.
    pub since: Slot,
}

/// Jobs of a port that may follow the gang that was reserved for, as long as they fit at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Batch {
    port: PortId,
    left: u32,
}

/// The share of all devices that idled, summed over slots.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct IdleTime {
    /// Slots that were decided.
    pub slots: u64,
    /// Device-slots kept for reservations, in slots of the whole cluster.
    pub reserved: f64,
    /// The same for jobs that wait for a faster server.
    pub held: f64,
}

/// What the rule for queues remembers from slot to slot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QueueState {
    /// The last slot that was booked.
    #[serde(default)]
    slot: Option<Slot>,
    /// How long jobs took, *d*.
    #[serde(default)]
    duration: RunningMean,
    /// How long jobs waited that were started, *q*.
    #[serde(default)]
    wait: RunningMean,
    #[serde(default)]
    ports: Vec<PortQueue>,
    /// Slots of the whole cluster that may idle for reservations.
    #[serde(default)]
    budget: f64,
    /// The share of the devices that idles for a reservation since the last slot.
    #[serde(default)]
    withheld: f64,
    #[serde(default)]
    reserved: Option<Reservation>,
    #[serde(default)]
    batch: Option<Batch>,
    #[serde(default)]
    idle: IdleTime,
}

/// What a decision did beside its starts: to be booked with it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueFacts {
    /// The job with a reservation in this slot, whether it starts or not, and its port.
    pub reserved: Option<(PortId, JobId)>,
    /// How many jobs of its port may follow it.
    pub batch: u32,
    /// The share of all devices that idles for it.
    pub idle: f64,
    /// Ports of which a job waits for a faster server.
    pub held: Vec<PortId>,
    /// The share of all devices that idles because of that.
    pub idle_held: f64,
    /// For each start, how fast it runs relative to its port's mean speed with all of its tasks, in
    /// thousandths; 0 if that is not known.
    pub paces: Vec<u32>,
}

/// A job of a decision, as it is booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookedStart {
    /// The job.
    pub job: JobId,
    /// Its port.
    pub port: PortId,
    /// The slots that it has waited.
    pub waited: u64,
}

impl QueueState {
    /// Whether a decision under this rule was ever booked.
    pub fn is_used(&self) -> bool {
        self.slot.is_some()
    }

    /// The reservation that goes on, if there is one.
    pub fn reserved(&self) -> Option<Reservation> {
        self.reserved
    }

    /// What idled so far.
    pub fn idle(&self) -> IdleTime {
        self.idle
    }

    /// The age in slots from which devices are reserved for a job; none before any job has ended.
    pub fn patience(&self) -> Option<f64> {
        Some(PATIENCE * (self.duration.known()? + self.wait.value))
    }

    /// The budget in a slot.
    fn budget_at(&self, slot: Slot) -> f64 {
        let most = self.patience().map_or(0.0, |patience| LOSS * patience);
        let passed = self.slot.map_or(1, |last| slot.0.saturating_sub(last.0));
        (self.budget + (LOSS - self.withheld) * passed as f64).min(most)
    }

    fn port(&mut self, port: PortId) -> &mut PortQueue {
        if self.ports.len() <= port.index() {
            self.ports.resize(port.index() + 1, PortQueue::default());
        }
        &mut self.ports[port.index()]
    }

    /// Books the facts of a decision and its starts.
    pub fn book(&mut self, slot: Slot, facts: &QueueFacts, starts: &[BookedStart]) {
        (self.budget, self.withheld) = (self.budget_at(slot), facts.idle);
        self.slot = Some(slot);
        let before = self.reserved.take();
        if let Some((port, job)) = facts.reserved {
            self.batch = (facts.batch > 0).then_some(Batch { port, left: facts.batch });
            if !starts.iter().any(|start| start.job == job) {
                let since = before.filter(|before| before.job == job).map_or(slot, |before| before.since);
                self.reserved = Some(Reservation { job, port, since });
            }
        } else if facts.batch == 0 {
            self.batch = None;
        }
        self.ports.iter_mut().for_each(|port| port.recent *= 1.0 - 1.0 / TURNS);
        for (start, &pace) in starts.iter().zip(facts.paces.iter().chain(std::iter::repeat(&0))) {
            self.wait.add(start.waited as f64);
            self.port(start.port).recent += 1.0;
            if pace > 0 {
                self.port(start.port).pace.add(f64::from(pace) / 1e3);
            }
        }
        self.idle.slots += 1;
        self.idle.reserved += facts.idle;
        self.idle.held += facts.idle_held;
    }

    /// A job has ended that was started in a slot. Before any decision was booked nothing is remembered.
    pub fn ended(&mut self, port: PortId, started: Slot, now: Slot) {
        if self.is_used() {
            let slots = (now.0.saturating_sub(started.0) + 1) as f64;
            self.duration.add(slots);
            self.port(port).duration.add(slots);
        }
    }

    /// A job is gone that may have had the reservation.
    pub fn forget(&mut self, job: JobId) {
        self.reserved = self.reserved.filter(|reserved| reserved.job != job);
    }

    /// Goes on in the next version of the cluster.
    pub fn change(&mut self, remap: &Remap, ports: usize) {
        if !self.is_used() {
            return;
        }
        let old = std::mem::take(&mut self.ports);
        self.ports.resize(ports, PortQueue::default());
        for (index, known) in old.into_iter().enumerate() {
            if let Some(port) = remap.port(PortId::at(index)) {
                self.ports[port.index()] = known;
            }
        }
        self.batch =
            self.batch.and_then(|batch| Some(Batch { port: remap.port(batch.port)?, left: batch.left }));
        self.reserved = self
            .reserved
            .and_then(|reserved| Some(Reservation { port: remap.port(reserved.port)?, ..reserved }));
    }
}

#[cfg(test)]
mod tests;
