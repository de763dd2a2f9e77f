//! What the engine does between batches: snapshots, compaction, carrying the log over.

use super::{DROPPED_AT_ONCE, Engine, IDLE, JournalReplayError};
use crate::storage::{SnapshotRow, StorageError};
use std::sync::mpsc as threads;

impl Engine {
    /// Snapshots and compaction, between batches.
    ///
    /// # Errors
    /// When a sync fails, or when the copy for readers has left the journal: one of the two states is wrong
    /// then. All else is tried again later.
    pub(super) fn keep_house(&mut self) -> Result<(), JournalReplayError> {
        if let Some(why) = self.lead.fault() {
            tracing::error!(why, "the state of readers cannot be kept; stopping");
            return Err(StorageError::Failed(why).into());
        }
        self.take_snapshot()?;
        let due = self.core.sequence() >= self.snapshot_at.saturating_add(self.settings.snapshot_events);
        if due && self.degraded.is_none() && self.snapshot.is_none() {
            self.snapshot = Some(self.lead.snapshot());
        }
        if self.compacting && self.degraded.is_none() {
            let keep_from = self.core.slot().saturating_sub(self.settings.kept_slots);
            let more = self.storage.compact(keep_from, DROPPED_AT_ONCE);
            self.compacting = tolerated(more, "nothing was dropped")?.unwrap_or(false);
        }
        let carried = self.storage.checkpoint();
        tolerated(carried, "the log was not carried over to the database")?;
        if self.told.elapsed() >= IDLE {
            self.tell();
        }
        Ok(())
    }

    /// Keeps the snapshot that was asked for, once it is written. It is of a state that was committed, and
    /// another one is asked for after that.
    ///
    /// # Errors
    /// When a sync fails; all else is tried again later.
    fn take_snapshot(&mut self) -> Result<(), StorageError> {
        let Some(written) = self.snapshot.as_ref().map(threads::Receiver::try_recv) else { return Ok(()) };
        let kept = match written {
            Err(threads::TryRecvError::Empty) => return Ok(()),
            Err(threads::TryRecvError::Disconnected) => Ok(None),
            Ok(written) => written,
        };
        self.snapshot = None;
        self.compacting = true;
        let kept = kept.and_then(|row| row.map_or(Ok(()), |row| self.keep_snapshot(&row)));
        tolerated(kept, "no snapshot was written").map(drop)
    }

    fn keep_snapshot(&mut self, row: &SnapshotRow) -> Result<(), StorageError> {
        if row.sequence > self.snapshot_at {
            self.storage.save_snapshot(row)?;
            self.snapshot_at = row.sequence;
        }
        Ok(())
    }

    /// Writes a snapshot at once.
    pub(super) fn save_snapshot(&mut self) -> Result<(), StorageError> {
        let sequence = self.core.sequence();
        if sequence <= self.snapshot_at {
            return Ok(());
        }
        let Some(state) = self.core.snapshot()? else { return Ok(()) };
        self.keep_snapshot(&SnapshotRow { sequence, state })
    }
}

/// What did not work and is tried again later, unless a sync has failed.
fn tolerated<T>(done: Result<T, StorageError>, what: &str) -> Result<Option<T>, StorageError> {
    match done {
        Err(error @ StorageError::Unsynced(_)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "{what}");
            Ok(None)
        }
        Ok(done) => Ok(Some(done)),
    }
}
