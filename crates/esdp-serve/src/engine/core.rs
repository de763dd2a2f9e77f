//! The live core with the frame of events that is being written.

use super::Directions;
use super::answers::Answers;
use super::recover::JournalReplayError;
use crate::storage::{Frame, StorageError};
use crate::wire::ApiError;
use esdp::live::{Decided, DecidedStart, EVENT_VERSION, Effect, Event, Live};
use esdp::model::{Cluster, ClusterDescription};
use esdp::policy::Policy;
use std::sync::Arc;

/// The fewest events between two digests of the whole book.
const FEWEST_EVENTS: u64 = 1000;
/// The lowest two bits of a digest of the whole book.
const WITH_BOOK: u64 = 2;
/// The lowest two bits of a digest without it.
const WITHOUT_BOOK: u64 = 1;

/// Builds the policy for a cluster.
pub type PolicyMaker = Arc<dyn Fn(&Cluster) -> Box<dyn Policy> + Send + Sync>;

/// The live core, or nothing before the first cluster.
pub struct Core {
    live: Option<Live>,
    policy: PolicyMaker,
    frame: Vec<Event>,
    /// The event of the last frame with a digest of the whole book.
    book_at: u64,
}

impl Core {
    /// The state at a snapshot, or before the first event.
    pub(crate) fn new(live: Option<Live>, policy: PolicyMaker) -> Self {
        let mut core = Self { live, policy, frame: Vec::new(), book_at: 0 };
        core.book_at = core.sequence();
        core
    }

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
        directions: Directions,
    ) -> Result<Vec<Effect>, ApiError> {
        if self.live.is_none() {
            let refused =
                |error| ApiError::clash("", format!("the cluster was rejected: {error}"), "a cluster");
            let live = Live::new(cluster.clone(), |cluster| (self.policy)(cluster)).map_err(refused)?;
            self.live = Some(live);
            let effects = self.apply(Event::Described { cluster })?;
            self.direct(directions);
            return Ok(effects);
        }
        self.apply(Event::Described { cluster })
    }

    /// Says who decides, and how, if that is news.
    pub(super) fn direct(&mut self, directions: Directions) {
        let Some(live) = &self.live else { return };
        let fresh = live.counts().events <= 1;
        let Directions { mode, most_exploration, objective } = directions;
        if fresh
            || (live.mode(), live.most_exploration(), live.objective()) != (mode, most_exploration, objective)
        {
            let _ = self.apply(Event::Directed { mode, most_exploration, objective: Some(objective) });
        }
    }

    /// The frame that was written since the last call.
    pub(super) fn take_frame(&mut self) -> Option<Frame> {
        if self.frame.is_empty() {
            return None;
        }
        let events = std::mem::take(&mut self.frame);
        let sequence = self.sequence() + 1 - events.len() as u64;
        let book = self.is_book_due();
        if book {
            self.book_at = self.sequence();
        }
        let (version, digest) = (EVENT_VERSION, self.digest(book));
        Some(Frame { sequence, at: crate::clock::now(), version, digest, events })
    }

    /// Whether the digest of the next frame should be that of the whole book: it costs some nanoseconds for
    /// each name in it, so there are as many events in between as names.
    fn is_book_due(&self) -> bool {
        let names = self.live.as_ref().map_or(0, |live| live.book_size() as u64);
        self.sequence() >= self.book_at + names.max(FEWEST_EVENTS)
    }

    /// A digest of the facts of the state, of all of them if `book`. Its lowest bits say which: a reader that
    /// reaches another one notices it. 0 before the first cluster.
    pub(super) fn digest(&self, book: bool) -> u64 {
        match &self.live {
            None => 0,
            Some(live) if book => live.book_digest() & !3 | WITH_BOOK,
            Some(live) => live.digest() & !3 | WITHOUT_BOOK,
        }
    }

    /// Applies a frame of the journal again. Nothing is decided.
    ///
    /// # Errors
    /// When the frame does not follow, or a decision of version 1 is not known.
    pub(crate) fn redo(&mut self, frame: &Frame, answers: &Answers) -> Result<(), JournalReplayError> {
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
                    let answered = answers.starts(slot.0).map(<[DecidedStart]>::to_vec);
                    live.apply_version_1(event, answered).map_err(JournalReplayError::Undecided)?;
                }
                _ => drop(live.apply(event)),
            }
        }
        Ok(())
    }

    /// Whether the state is the one that a frame was written with.
    pub(crate) fn fits(&self, frame: &Frame) -> bool {
        frame.digest == 0 || frame.digest == self.digest(frame.digest & 3 == WITH_BOOK)
    }
}
