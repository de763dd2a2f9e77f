//! The live core with the frame of events that is being written, and its way back from the journal.

use crate::storage::{Frame, SlotRow, Storage, StorageError};
use crate::wire::{ApiError, PlacementWire, TicketName};
use esdp::live::{
    Decided, DecidedStart, DecidedTasks, EVENT_VERSION, Effect, Event, EventError, Live, Mode, SnapshotError,
};
use esdp::model::{Cluster, ClusterDescription, Fnv};
use esdp::policy::Policy;
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// The note that says which build used the data last. Data of the first version has none.
pub(super) const BUILD_NOTE: &str = "build";

/// Builds the policy for a cluster.
pub type PolicyMaker = Arc<dyn Fn(&Cluster) -> Box<dyn Policy> + Send + Sync>;

/// Why the state cannot be rebuilt from the journal. Fatal.
#[derive(Debug, Error)]
pub enum JournalReplayError {
    /// The journal.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A snapshot, without which there is no way to the present state.
    #[error("the snapshot at event {sequence} is damaged, and no older one leads to the present: {error}")]
    Snapshot {
        /// How many events it has seen.
        sequence: u64,
        /// What is wrong with it.
        error: SnapshotError,
    },
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
    /// A slot of the first version, whose answer is not kept.
    #[error(
        "the data was written by a build that kept no decisions, and was not stopped cleanly: {0}. To decide \
         again could give another cluster than the one that runs. Start it once with the build that wrote \
         it, stop it (SIGTERM), then start this one"
    )]
    Undecided(EventError),
    /// The events give another state than when they were written.
    #[error(
        "the frame at event {sequence} gives another state than when it was written (last by build {build}, \
         this is {}). Start it once with that build, stop it (SIGTERM), then start this one",
        esdp::BUILD
    )]
    Diverged {
        /// The first event of the frame.
        sequence: u64,
        /// The build that used the data last.
        build: String,
    },
}

/// The live core, or nothing before the first cluster.
pub struct Core {
    live: Option<Live>,
    policy: PolicyMaker,
    frame: Vec<Event>,
    /// The newest snapshot, if it is damaged and an older one was used instead.
    faulty_snapshot: Option<(u64, SnapshotError)>,
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
    let mut core = Core { live: None, policy, frame: Vec::new(), faulty_snapshot: None };
    let mut before = at_most;
    while let Some(snapshot) = storage.snapshot(before)? {
        match Live::restore(&snapshot.state, |cluster| (core.policy)(cluster)) {
            Ok(live) => {
                core.live = Some(live);
                break;
            }
            // An older one and the events after it give the same state.
            Err(error) => drop(core.faulty_snapshot.get_or_insert((snapshot.sequence, error))),
        }
        before = snapshot.sequence.saturating_sub(1);
    }
    let build = storage.note(BUILD_NOTE)?;
    // Data of the first version has no note; its decisions are among the answers.
    let answers = if build.is_some() { HashMap::new() } else { answers(storage)? };
    let build = build.unwrap_or_default();
    let mut fault = None;
    let read = storage.frames(core.sequence() + 1, &mut |frame| {
        if frame.sequence > at_most {
            return Ok(());
        }
        core.redo(frame, &answers, &build).map_err(|error| {
            let told = StorageError::Damaged(error.to_string());
            fault = Some(error);
            told
        })
    });
    match (fault, read) {
        // A gap behind a damaged snapshot is the snapshot's fault.
        (Some(JournalReplayError::Gap { .. } | JournalReplayError::NoCluster(_)), _)
            if core.faulty_snapshot.is_some() =>
        {
            let (sequence, error) = core.faulty_snapshot.take().expect("it is there");
            Err(JournalReplayError::Snapshot { sequence, error })
        }
        (Some(fault), _) => Err(fault),
        (None, read) => read.map(|()| core).map_err(JournalReplayError::from),
    }
}

/// The decisions among the answers that are kept, by slot.
fn answers(storage: &mut dyn Storage) -> Result<HashMap<u64, Vec<DecidedStart>>, StorageError> {
    let row = |row: SlotRow| {
        let damaged = |why: String| StorageError::Damaged(format!("the answer of slot {}: {why}", row.slot));
        let starts = answered_starts(&row.answer).map_err(damaged)?;
        Ok((row.slot, starts))
    };
    storage.last_slots(u32::MAX)?.into_iter().map(row).collect()
}

/// What the answer to a slot says was started.
///
/// # Errors
/// When it is not an answer.
pub fn answered_starts(answer: &str) -> Result<Vec<DecidedStart>, String> {
    #[derive(serde::Deserialize)]
    struct Answered {
        placements: Vec<PlacementWire>,
    }
    let answered: Answered = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let mut starts: Vec<DecidedStart> = Vec::new();
    for PlacementWire { job, group, server, count, ticket } in answered.placements {
        let ticket = ticket.parse::<TicketName>().map_err(|error| error.message)?.ticket;
        if starts.last().is_none_or(|last| last.ticket != ticket) {
            starts.push(DecidedStart { ticket, job, tasks: Vec::new() });
        }
        let tasks = DecidedTasks { group, server, count, exploration: false };
        starts.last_mut().expect("there is one").tasks.push(tasks);
    }
    Ok(starts)
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

    /// The event of the newest snapshot, and what is wrong with it, if an older one had to be used instead.
    pub fn faulty_snapshot(&self) -> Option<&(u64, SnapshotError)> {
        self.faulty_snapshot.as_ref()
    }

    /// A digest of the state: a reader of the journal that reaches another one notices it. It covers the
    /// slot, the next ticket and the counts of what became of events, and is cheap.
    fn digest(&self) -> u64 {
        let Some(live) = &self.live else { return 0 };
        let state = format!("{} {:?} {:?}", self.slot(), live.book().next_ticket(), live.counts());
        Fnv::of(state.as_bytes()) | 1
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

    /// Decides the slot that is due, and books it; what follows from that.
    pub(super) fn decide(&mut self, due: &Event, key: &str) -> Result<Vec<Effect>, ApiError> {
        let live = self.live.as_mut().ok_or_else(ApiError::no_cluster)?;
        match live.decide(due) {
            Ok(Some(decided)) => self.apply(Event::Decided(Decided { key: key.to_owned(), ..decided })),
            Ok(None) => Ok(Vec::new()),
            Err(error) => Err(super::rejected(&error.to_string(), error.cause())),
        }
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
        let (version, digest) = (EVENT_VERSION, self.digest());
        Some(Frame { sequence, at: crate::clock::now(), version, digest, events })
    }

    /// Applies a frame of the journal again. Nothing is decided.
    fn redo(
        &mut self,
        frame: Frame,
        answers: &HashMap<u64, Vec<DecidedStart>>,
        build: &str,
    ) -> Result<(), JournalReplayError> {
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
            let Some(live) = &mut self.live else { continue };
            match (frame.version, event) {
                (1, Event::SlotDue { slot, .. }) => {
                    let answered = answers.get(&slot.0).cloned();
                    live.apply_version_1(event, answered).map_err(JournalReplayError::Undecided)?;
                }
                _ => drop(live.apply(event)),
            }
        }
        if frame.digest != 0 && frame.digest != self.digest() {
            return Err(JournalReplayError::Diverged { sequence: frame.sequence, build: build.to_owned() });
        }
        Ok(())
    }
}
