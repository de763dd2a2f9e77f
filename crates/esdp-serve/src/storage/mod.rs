//! The seam to what keeps events for good.
//!
//! A [`Storage`] keeps *frames*: the events of one request, in order, under the sequence number of the first
//! of them. A [`Batch`] of frames is kept whole or not at all, and is on the disk when [`Storage::commit`]
//! returns: the answer to a request leaves after that and never before. Snapshots bound the time of a start,
//! and what is older than the last but one is dropped.
//!
//! SQLite is the one implementation ([`Sqlite`]). Another, such as PostgreSQL, has to pass [`kit::check`],
//! and nothing else of the service knows which it is.

mod audit;
mod checks;
mod faults;
pub mod kit;
mod lock;
mod rows;
pub(crate) mod salvage;
mod schema;
mod sqlite;
mod sums;
mod watermark;

pub use audit::{AuditPage, AuditQuery, AuditRow};
pub use lock::DataLock;
pub use schema::SCHEMA_VERSION;
pub use sqlite::Sqlite;

use esdp::live::Event;
use thiserror::Error;

/// The events of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The place of its first event in the journal, from 1.
    pub sequence: u64,
    /// When it was written, in milliseconds since 1970 by the writer's clock; for people only.
    pub at: u64,
    /// The version of the events, see [`EVENT_VERSION`](esdp::live::EVENT_VERSION).
    pub version: u32,
    /// A digest of the state after the frame, so that a reader notices if it reaches another one; 0 if none.
    pub digest: u64,
    /// The events.
    pub events: Vec<Event>,
}

/// The answer to a slot, kept so that the same key gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRow {
    /// The slot.
    pub slot: u64,
    /// The caller's key.
    pub key: String,
    /// When it was decided, in milliseconds since 1970.
    pub at: u64,
    /// A hash of the request, so that the key is not taken for another one; 0 if none is known.
    pub request: u64,
    /// The answer, as JSON.
    pub answer: String,
    /// Why it is so, as JSON.
    pub why: String,
}

/// What is written together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Frames, in order, the first directly after the last one kept.
    pub frames: Vec<Frame>,
    /// Answers.
    pub slots: Vec<SlotRow>,
    /// Who has asked for the frames.
    pub audit: Vec<AuditRow>,
}

/// A state, as of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// How many events it has seen.
    pub sequence: u64,
    /// The state as a text.
    pub state: String,
}

/// A snapshot that is kept, and who has written it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// How many events it has seen.
    pub sequence: u64,
    /// The build that wrote it; empty if it wrote schema version 1.
    pub build: String,
    /// The version of its events, see [`EVENT_VERSION`](esdp::live::EVENT_VERSION).
    pub version: u32,
}

/// Why something was not kept or read.
#[derive(Debug, Error)]
pub enum StorageError {
    /// No space is left, or writing is not allowed right now. Retryable: nothing of the batch was kept.
    #[error("the journal cannot be written: {0}")]
    Unavailable(String),
    /// The system could not say whether what was written is on the disk. Fatal: whether the batch was kept is
    /// known after the next start.
    #[error("the journal could not be synced: {0}")]
    Unsynced(String),
    /// Another process uses the data. Fatal.
    #[error("another process uses the data in {0}; stop it first, or give another --data directory")]
    Locked(String),
    /// Written by a later version. Fatal.
    #[error("the data has schema version {found}, this program reads versions 1 to {latest}; upgrade esdp")]
    Version {
        /// The version found.
        found: u32,
        /// The latest that is read.
        latest: u32,
    },
    /// Events of a later version. Fatal.
    #[error(
        "the frame at event {sequence} has events of version {found}, this program reads versions 1 to \
         {latest}; upgrade esdp"
    )]
    Events {
        /// The first event of the frame.
        sequence: u64,
        /// The version found.
        found: u32,
        /// The latest that is read.
        latest: u32,
    },
    /// The end of the journal is gone. Fatal.
    #[error(
        "the journal ends at event {last}, and events up to {acknowledged} were acknowledged: {} are \
         missing. Either the end of the log (`esdp.db-wal`) is lost or damaged: restore a backup, or go on \
         without those events by `esdp journal repair`, which lists what is lost. Or an older \
         backup was put here: remove the file `watermark` if that is what you want",
        acknowledged - last
    )]
    Lost {
        /// The last event that is there.
        last: u64,
        /// The last event of which somebody was told that it is kept.
        acknowledged: u64,
    },
    /// The watermark is not of this journal. Fatal.
    #[error(
        "the file `watermark` belongs to another journal than `esdp.db`: they part at or before event \
         {event}. If you have put a backup here, remove `watermark`; else restore the `esdp.db` that \
         belongs to it"
    )]
    Foreign {
        /// The event of the watermark.
        event: u64,
    },
    /// What was read is not what was written. Fatal.
    #[error("the data is damaged: {0}")]
    Damaged(String),
    /// Anything else. Fatal.
    #[error("{0}")]
    Failed(String),
}

impl StorageError {
    /// Whether it may work later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// Keeps events, snapshots and answers.
pub trait Storage: Send {
    /// Keeps a batch for good.
    ///
    /// # Errors
    /// When it cannot; nothing of it was kept then, except that nobody knows after
    /// [`StorageError::Unsynced`].
    fn commit(&mut self, batch: &Batch) -> Result<(), StorageError>;

    /// Whether a commit would work, as far as can be told without one that counts.
    ///
    /// # Errors
    /// When it would not.
    fn probe(&mut self) -> Result<(), StorageError>;

    /// Does what is done now and then and nobody should wait for.
    ///
    /// # Errors
    /// After [`StorageError::Unsynced`], nothing may be written any more; all else is tried again later.
    fn checkpoint(&mut self) -> Result<(), StorageError>;

    /// How many events are kept, dropped ones included: the sequence number of the last.
    fn last_sequence(&mut self) -> Result<u64, StorageError>;

    /// The first event that is kept.
    fn first_sequence(&mut self) -> Result<Option<u64>, StorageError>;

    /// The snapshots that are kept, damaged ones included, the oldest first.
    fn snapshots(&mut self) -> Result<Vec<SnapshotInfo>, StorageError>;

    /// The latest snapshot at or before an event.
    ///
    /// # Errors
    /// When it is damaged.
    fn snapshot(&mut self, at_most: u64) -> Result<Option<SnapshotRow>, StorageError>;

    /// Keeps a snapshot.
    fn save_snapshot(&mut self, snapshot: &SnapshotRow) -> Result<(), StorageError>;

    /// Drops a snapshot that leads nowhere.
    fn drop_snapshot(&mut self, sequence: u64) -> Result<(), StorageError>;

    /// Shows every frame from an event on, in order; the sink may stop it with an error.
    fn frames(
        &mut self,
        from: u64,
        sink: &mut dyn FnMut(Frame) -> Result<(), StorageError>,
    ) -> Result<(), StorageError>;

    /// Looks for damage below the level of frames, slots and snapshots. What does no harm by itself but must
    /// be known is listed.
    ///
    /// # Errors
    /// When there is damage, or the end of the journal is missing.
    fn check(&mut self) -> Result<Vec<String>, StorageError>;

    /// An answer by its key.
    fn slot_by_key(&mut self, key: &str) -> Result<Option<SlotRow>, StorageError>;

    /// An answer by its slot.
    fn slot(&mut self, slot: u64) -> Result<Option<SlotRow>, StorageError>;

    /// The last answers, newest first.
    fn last_slots(&mut self, limit: u32) -> Result<Vec<SlotRow>, StorageError>;

    /// Who changed what, the newest first.
    fn audit(&mut self, query: &AuditQuery) -> Result<AuditPage, StorageError>;

    /// Drops frames that the last but one snapshot makes superfluous, who has asked for slots and outcomes in
    /// them, and answers of slots before `keep_from`, at most `most` of each. Whether there is more to drop.
    fn compact(&mut self, keep_from: u64, most: u32) -> Result<bool, StorageError>;

    /// A note by its name: what the data was made with.
    fn note(&mut self, name: &str) -> Result<Option<String>, StorageError>;

    /// Keeps a note.
    fn save_note(&mut self, name: &str, value: &str) -> Result<(), StorageError>;

    /// A second way to the same data, which only reads: what is committed from then on is seen by it.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn reader(&self) -> Result<Box<dyn Storage>, StorageError>;

    /// The size on the disk, in bytes.
    fn size(&mut self) -> Result<u64, StorageError>;
}
