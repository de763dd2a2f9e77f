//! The live core with the frame of events that is being written, and its way back from the journal.

use crate::storage::{Frame, Storage, StorageError};
use crate::wire::ApiError;
use esdp::live::{Effect, Event, Live, Mode, SnapshotError};
use esdp::model::{Cluster, ClusterDescription};
use esdp::policy::Policy;
use std::sync::Arc;
use thiserror::Error;

/// Builds the policy for a cluster.
pub type PolicyMaker = Arc<dyn Fn(&Cluster) -> Box<dyn Policy> + Send + Sync>;

/// Why the state cannot be rebuilt from the journal. Fatal.
#[derive(Debug, Error)]
pub enum JournalReplayError {
    /// The journal.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The snapshot.
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    /// Events are missing.
    #[error("the journal has a gap: event {expected} is missing, the next is {found}")]
    Gap {
        /// The event that should come.
        expected: u64,
        /// The one that comes.
        found: u64,
    },
    /// The journal does not begin with a cluster.
    #[error("the journal does not begin with a cluster: {0}")]
    NoCluster(String),
}

/// The live core, or nothing before the first cluster.
pub struct Core {
    live: Option<Live>,
    policy: PolicyMaker,
    frame: Vec<Event>,
}

/// The state as of an event, from the latest snapshot before it and the frames after that.
///
/// # Errors
/// When the journal cannot be read or has a gap.
pub fn replay(
    storage: &mut dyn Storage,
    policy: PolicyMaker,
    at_most: u64,
) -> Result<Core, JournalReplayError> {
    let mut core = Core { live: None, policy, frame: Vec::new() };
    if let Some(snapshot) = storage.snapshot(at_most)? {
        core.live = Some(Live::restore(&snapshot.state, |cluster| (core.policy)(cluster))?);
    }
    let mut fault = None;
    let read = storage.frames(core.sequence() + 1, &mut |frame| {
        if frame.sequence > at_most {
            return Ok(());
        }
        core.redo(frame).map_err(|error| {
            let told = StorageError::Damaged(error.to_string());
            fault = Some(error);
            told
        })
    });
    match (fault, read) {
        (Some(fault), _) => Err(fault),
        (None, read) => read.map(|()| core).map_err(JournalReplayError::from),
    }
}

impl Core {
    /// The live core.
    ///
    /// # Errors
    /// Before the first cluster.
    pub fn live(&self) -> Result<&Live, ApiError> {
        self.live.as_ref().ok_or_else(ApiError::no_cluster)
    }

    pub(super) fn policy_maker(&self) -> PolicyMaker {
        Arc::clone(&self.policy)
    }

    /// How many events have been applied.
    pub fn sequence(&self) -> u64 {
        self.live.as_ref().map_or(0, |live| live.counts().events)
    }

    /// The last slot that was decided.
    pub fn slot(&self) -> u64 {
        self.live.as_ref().map_or(0, |live| live.scheduler().slot().0)
    }

    /// The whole state as a text; none before the first cluster.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn snapshot(&self) -> Result<Option<String>, StorageError> {
        let text = self.live.as_ref().map(Live::snapshot).transpose();
        text.map_err(|error| StorageError::Failed(error.to_string()))
    }

    /// Applies an event and notes it in the frame.
    pub(super) fn apply(&mut self, event: Event) -> Result<Vec<Effect>, ApiError> {
        let live = self.live.as_mut().ok_or_else(ApiError::no_cluster)?;
        let effects = live.apply(&event);
        self.frame.push(event);
        Ok(effects)
    }

    /// Takes the first cluster, or another one.
    pub(super) fn describe(
        &mut self,
        cluster: ClusterDescription,
        (mode, most_exploration): (Mode, Option<f64>),
    ) -> Result<Vec<Effect>, ApiError> {
        if self.live.is_none() {
            let refused =
                |error| ApiError::clash("", format!("the cluster was rejected: {error}"), "a cluster");
            let live = Live::new(cluster.clone(), |cluster| (self.policy)(cluster)).map_err(refused)?;
            self.live = Some(live);
            let effects = self.apply(Event::Described { cluster })?;
            self.direct(mode, most_exploration);
            return Ok(effects);
        }
        self.apply(Event::Described { cluster })
    }

    /// Says who decides, if that is news.
    pub(super) fn direct(&mut self, mode: Mode, most_exploration: Option<f64>) {
        let Some(live) = &self.live else { return };
        let fresh = live.counts().events <= 1;
        if fresh || (live.mode(), live.most_exploration()) != (mode, most_exploration) {
            let _ = self.apply(Event::Directed { mode, most_exploration });
        }
    }

    /// The frame that was written since the last call.
    pub(super) fn take_frame(&mut self) -> Option<Frame> {
        if self.frame.is_empty() {
            return None;
        }
        let events = std::mem::take(&mut self.frame);
        let sequence = self.sequence() + 1 - events.len() as u64;
        Some(Frame { sequence, at: crate::clock::now(), events })
    }

    /// Applies a frame of the journal again.
    fn redo(&mut self, frame: Frame) -> Result<(), JournalReplayError> {
        let expected = self.sequence() + 1;
        if frame.sequence != expected {
            return Err(JournalReplayError::Gap { expected, found: frame.sequence });
        }
        for event in &frame.events {
            if self.live.is_none() {
                let Event::Described { cluster } = event else {
                    return Err(JournalReplayError::NoCluster("another event comes first".to_owned()));
                };
                let live = Live::new(cluster.clone(), |cluster| (self.policy)(cluster));
                self.live = Some(live.map_err(|error| JournalReplayError::NoCluster(error.to_string()))?);
            }
            if let Some(live) = &mut self.live {
                live.apply(event);
            }
        }
        Ok(())
    }
}
