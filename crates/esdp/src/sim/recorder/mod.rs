//! What is kept of a run.
//!
//! A [`Recorder`] gets every slot. [`Summary`] and [`Curve`] keep a few numbers, however long the
//! run is; whoever wants every slot in a file writes a recorder that does so. Recorders
//! combine: a pair is a recorder, and so is a list of boxed ones.

mod backlog;
mod curve;
mod estimates;
mod histogram;
mod insights;
mod jobs;
mod summary;

pub use backlog::{Backlog, Growth};
pub use curve::{Curve, CurvePoint, Spacing};
pub use estimates::ChannelEstimate;
pub use histogram::Histogram;
pub use insights::{InsightPoint, Insights};
pub use jobs::{JobCounts, LostTime};
pub use summary::Summary;

use super::FinishedJob;
use crate::model::{Arrivals, ChannelId, Cluster, Slot};
use crate::scheduler::{Decision, QueueState};
use crate::stats::Statistics;
use std::ops::ControlFlow;

/// What happened in a slot.
#[derive(Debug, Clone, Copy)]
pub struct SlotRecord<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The slot.
    pub slot: Slot,
    /// Who came.
    pub arrived: &'a Arrivals,
    /// Who had a job when it was decided: those who came, and those who waited.
    pub present: &'a Arrivals,
    /// What was decided.
    pub decision: &'a Decision,
    /// How many jobs of each port it started.
    pub started: &'a [u32],
    /// A channel for each task that ran, ascending: what was chosen, and, where jobs hold their devices
    /// until they are done, what was chosen before and still ran.
    pub running: &'a [ChannelId],
    /// The jobs that were done at the end of the slot, where jobs hold their devices.
    pub finished: &'a [FinishedJob],
    /// The device time that was left idle on purpose while jobs waited; none where jobs last one slot.
    pub lost: Option<LostTime>,
    /// The sum of the *true mean* net utilities of what ran. No luck is in it.
    pub expected: f64,
    /// The sum of the net utilities that came out, known late or not.
    pub realised: f64,
    /// What the oracle would have had running, by the true means.
    pub oracle: Option<f64>,
    /// How many of the chosen uses went to channels that were still little known: whose
    /// confidence radius `sqrt(ln(t+1) / (2 n))` was above 1/4 after `n` uses.
    pub unsure: u32,
    /// What was learned before the outcomes of this slot; none for policies that learn nothing.
    pub learned: Option<&'a dyn Statistics>,
    /// What the rule for queues remembers after the slot; none if slots are not decided by it.
    pub queue: Option<&'a QueueState>,
    /// What the decision took, in nanoseconds, if there was a clock.
    pub nanos: Option<u64>,
}

/// Watches a run.
pub trait Recorder {
    /// Takes a slot; `Break` ends the run after it.
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()>;
}

/// Keeps nothing.
impl Recorder for () {
    fn record(&mut self, _record: &SlotRecord<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<R: Recorder + ?Sized> Recorder for &mut R {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        (**self).record(record)
    }
}

impl<R: Recorder + ?Sized> Recorder for Box<R> {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        (**self).record(record)
    }
}

/// Both see the slot, even where the first breaks off.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        let (first, second) = (self.0.record(record), self.1.record(record));
        if first.is_break() { first } else { second }
    }
}

/// All see the slot, even where one breaks off.
impl<R: Recorder> Recorder for Vec<R> {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        for recorder in self {
            let next = recorder.record(record);
            flow = if flow.is_break() { flow } else { next };
        }
        flow
    }
}
