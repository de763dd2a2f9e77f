//! The whole state as a text: a shortcut past the journal.

use super::advice::Advice;
use super::ended::Ended;
use super::exploration::Explored;
use super::judge::Judge;
use super::memory::Memory;
use super::names::Names;
use super::{EventCounts, Job, LastSlot, Live, Mode, SpeedScale};
use crate::model::{Capacity, Cluster, ClusterDescription, DescriptionError, JobId, PortId};
use crate::policy::Policy;
use crate::scheduler::text::{self, TextError};
use crate::scheduler::{Book, Checkpoint, Objective, QueueState, RestoreError, Scheduler};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use thiserror::Error;

/// The version of a snapshot that this library writes. It reads this one and all before.
pub const SNAPSHOT_VERSION: u32 = 2;

/// What the first line of a snapshot says it is.
const FORMAT: &str = "esdp-live";

/// Borrowed where it is written: the books and names of a large cluster are not copied for it.
#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    cluster: Cow<'a, ClusterDescription>,
    book: Cow<'a, Book>,
    jobs: Cow<'a, BTreeMap<JobId, Job>>,
    over: Cow<'a, Memory>,
    observed: Cow<'a, Memory>,
    drained: Cow<'a, BTreeSet<String>>,
    scales: Cow<'a, BTreeMap<String, SpeedScale>>,
    #[serde(default, skip_serializing_if = "is_default")]
    judge: Cow<'a, Judge>,
    counts: EventCounts,
    #[serde(default, skip_serializing_if = "is_default")]
    directed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most_exploration: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    explored: Explored,
    #[serde(default, skip_serializing_if = "is_default")]
    advice: Cow<'a, Advice>,
    #[serde(default, skip_serializing_if = "is_default")]
    ended: Cow<'a, Ended>,
    /// None in version 1, in which every slot that was due was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Cow<'a, LastSlot>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objective: Option<Objective>,
    #[serde(default, skip_serializing_if = "is_default")]
    queue: Cow<'a, QueueState>,
    scheduler: Checkpoint,
}

/// What was not there in the first files is not written where it is not needed.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Why a snapshot was not restored. Fatal for this snapshot.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SnapshotError {
    /// The text is damaged, of another kind, or of a later version.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Its cluster was rejected.
    #[error("the snapshot's cluster: {0}")]
    Cluster(#[from] DescriptionError),
    /// What was learned cannot be put back.
    #[error("the snapshot's {0}")]
    Learned(#[from] RestoreError),
}

impl Live {
    /// The whole state. Events that are applied after it give the state that they would have given without
    /// it; [`EventCounts::events`] says how many there were before.
    ///
    /// # Errors
    /// When a policy's own value cannot be written.
    pub fn snapshot(&self) -> Result<String, SnapshotError> {
        let snapshot = Snapshot {
            cluster: Cow::Borrowed(&self.described),
            book: Cow::Borrowed(&self.book),
            jobs: Cow::Borrowed(&self.jobs),
            over: Cow::Borrowed(&self.over),
            observed: Cow::Borrowed(&self.observed),
            drained: Cow::Borrowed(&self.drained),
            scales: Cow::Borrowed(&self.scales),
            judge: Cow::Borrowed(&self.judge),
            counts: self.counts,
            directed: self.directed,
            mode: self.mode,
            most_exploration: self.most_exploration,
            explored: self.explored.clone(),
            advice: Cow::Borrowed(&self.advice),
            ended: Cow::Borrowed(&self.ended),
            last: Some(Cow::Borrowed(&self.last)),
            objective: self.objective,
            queue: Cow::Borrowed(&self.queue),
            scheduler: self.scheduler.checkpoint(),
        };
        // Every channel takes some numbers of up to 20 digits; what is too much is given back.
        let size = 100 * self.scheduler.cluster().channels().len();
        Ok(text::write(FORMAT, SNAPSHOT_VERSION, &snapshot, size)?)
    }

    /// Goes on from a snapshot; `policy` builds its policy for a cluster, with the same parameters as before.
    ///
    /// # Errors
    /// When the text is not a snapshot, is damaged, or is of another policy.
    pub fn restore(
        text: &str,
        policy: impl FnOnce(&Cluster) -> Box<dyn Policy>,
    ) -> Result<Self, SnapshotError> {
        let saved: Snapshot<'static> = text::read(FORMAT, SNAPSHOT_VERSION, text)?;
        let cluster = Arc::new(saved.cluster.cluster()?);
        let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy(&cluster));
        scheduler.restore(saved.scheduler)?;
        let (book, mut jobs) = (saved.book.into_owned(), saved.jobs.into_owned());
        let ports = (0..cluster.ports().len()).map(PortId::at);
        let started = book.starts().map(|(_, started)| &started.job);
        for waiting in ports.flat_map(|port| book.waiting(port)).chain(started) {
            if waiting.weight != 1.0
                && let Some(job) = jobs.get_mut(&waiting.job)
            {
                job.weight = waiting.weight;
            }
        }
        let by_name = jobs.iter().map(|(&id, job)| (job.name.clone(), id)).collect();
        Ok(Self {
            names: Names::of(&cluster),
            last: match saved.last {
                Some(last) => last.into_owned(),
                None => LastSlot::new(book.free(), scheduler.slot()),
            },
            described: saved.cluster.into_owned(),
            scheduler,
            book,
            jobs,
            by_name,
            over: saved.over.into_owned(),
            observed: saved.observed.into_owned(),
            drained: saved.drained.into_owned(),
            scales: saved.scales.into_owned(),
            judge: saved.judge.into_owned(),
            counts: saved.counts,
            directed: saved.directed,
            mode: saved.mode,
            most_exploration: saved.most_exploration,
            explored: saved.explored,
            advice: saved.advice.into_owned(),
            ended: saved.ended.into_owned(),
            objective: saved.objective,
            queue: saved.queue.into_owned(),
            room: Capacity::default(),
        })
    }
}
