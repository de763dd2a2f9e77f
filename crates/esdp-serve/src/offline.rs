//! A journal without its service: show, verify, export.

use crate::engine::{Core, JournalReplayError, answered_starts, replay};
use crate::storage::{Frame, Sqlite, Storage, StorageError};
use crate::{noted_policy, policy_maker};
use esdp::live::{Decided, DecidedStart, Entry, Event};
use esdp::policy::PolicySpec;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;
use thiserror::Error;

/// Why a journal was not read. Fatal.
#[derive(Debug, Error)]
pub enum OfflineError {
    /// The journal.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The state.
    #[error(transparent)]
    Replay(#[from] JournalReplayError),
    /// The policy is not noted, or not known to this program.
    #[error("the journal's policy cannot be used: {0}")]
    Policy(String),
    /// An answer is not what was decided.
    #[error("the answer of slot {0} is not what the journal says was decided")]
    Answer(u64),
    /// The newest snapshot is damaged; the service would start from an older one, with a warning.
    #[error("the snapshot at event {0} is damaged: {1}")]
    FaultySnapshot(u64, String),
    /// A snapshot is not what its events give.
    #[error("the snapshot at event {0} is not the state that the events before it give")]
    Snapshot(u64),
}

/// What was found in a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verified {
    /// Frames that were read.
    pub frames: u64,
    /// Events in them.
    pub events: u64,
    /// The first event that is still there; those before it were compacted into a snapshot.
    pub first: u64,
    /// The last event.
    pub last: u64,
    /// Snapshots that were compared with what their events give.
    pub snapshots: u64,
    /// The last slot.
    pub slot: u64,
    /// Answers that were compared with what was decided.
    pub answers: u64,
}

/// The policy with which the data was learned.
fn policy(storage: &mut dyn Storage) -> Result<(PolicySpec, u64), OfflineError> {
    let note = noted_policy(storage)?.ok_or_else(|| OfflineError::Policy("none is noted".to_owned()))?;
    let parsed = || {
        let (spec, seed) = note.strip_prefix("policy ")?.rsplit_once(" and seed ")?;
        Some((serde_json::from_str(spec).ok()?, seed.parse().ok()?))
    };
    parsed().ok_or_else(|| OfflineError::Policy(note.clone()))
}

fn state(storage: &mut dyn Storage, at_most: u64) -> Result<Core, OfflineError> {
    let (spec, seed) = policy(storage)?;
    let maker = policy_maker(&spec, seed).map_err(|error| OfflineError::Policy(error.to_string()))?;
    Ok(replay(storage, maker, at_most)?)
}

/// Reads everything: checksums, gaps, and whether each snapshot is what the one before it and the events in
/// between give.
///
/// # Errors
/// With what is wrong.
pub fn verify(directory: &Path) -> Result<Verified, OfflineError> {
    let mut storage = Sqlite::open_read_only(directory)?;
    let mut found = Verified::default();
    storage.check()?;
    let mut decided: HashMap<u64, Vec<DecidedStart>> = HashMap::new();
    storage.frames(0, &mut |frame| {
        for event in &frame.events {
            if let Event::Decided(Decided { slot, starts, .. }) = event {
                decided.insert(slot.0, starts.clone());
            }
        }
        found.frames += 1;
        found.events += frame.events.len() as u64;
        found.first = if found.first == 0 { frame.sequence } else { found.first };
        Ok(())
    })?;
    found.last = storage.last_sequence()?;
    let core = state(&mut storage, u64::MAX)?;
    if let Some((sequence, error)) = core.faulty_snapshot() {
        return Err(OfflineError::FaultySnapshot(*sequence, error.to_string()));
    }
    found.slot = core.slot();
    for row in storage.last_slots(u32::MAX)? {
        let answered = answered_starts(&row.answer).map_err(|_| OfflineError::Answer(row.slot))?;
        // Those of slots whose events were compacted have nothing to be compared with.
        let Some(mut starts) = decided.remove(&row.slot) else { continue };
        starts.iter_mut().flat_map(|start| &mut start.tasks).for_each(|tasks| tasks.exploration = false);
        if answered != starts {
            return Err(OfflineError::Answer(row.slot));
        }
        found.answers += 1;
    }
    let mut at_most = u64::MAX;
    while let Some(snapshot) = storage.snapshot(at_most)? {
        let before = storage.snapshot(snapshot.sequence.saturating_sub(1))?;
        // The oldest can be compared only if nothing before it was compacted.
        if before.is_some() || found.first == 1 {
            let core = state(&mut Without(&mut storage, snapshot.sequence), snapshot.sequence)?;
            // Restored and written again: an old snapshot may say the same in other words.
            let again = state(&mut storage, snapshot.sequence)?;
            if core.snapshot()? != again.snapshot()? {
                return Err(OfflineError::Snapshot(snapshot.sequence));
            }
            found.snapshots += 1;
        }
        at_most = snapshot.sequence.saturating_sub(1);
    }
    Ok(found)
}

/// Shows every event, or those of the last frames, as entries.
///
/// # Errors
/// When the journal cannot be read, or the sink fails.
pub fn entries(
    directory: &Path,
    from: u64,
    sink: &mut dyn FnMut(&Frame, Entry) -> std::io::Result<()>,
) -> Result<(), OfflineError> {
    let mut storage = Sqlite::open_read_only(directory)?;
    storage.frames(from, &mut |frame| {
        for (index, event) in frame.events.iter().enumerate() {
            let sequence = frame.sequence + index as u64;
            if sequence >= from {
                let entry = Entry { version: frame.version, sequence, event: event.clone() };
                sink(&frame, entry).map_err(|error| StorageError::Failed(error.to_string()))?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// The whole state after the last event, as the core writes it; none before the first cluster.
///
/// # Errors
/// When the journal cannot be read.
pub fn snapshot(directory: &Path) -> Result<Option<String>, OfflineError> {
    let mut storage = Sqlite::open_read_only(directory)?;
    Ok(state(&mut storage, u64::MAX)?.snapshot()?)
}

/// A storage in which the snapshots from an event on are not seen.
struct Without<'a>(&'a mut Sqlite, u64);

impl Storage for Without<'_> {
    fn snapshot(&mut self, at_most: u64) -> Result<Option<crate::storage::SnapshotRow>, StorageError> {
        self.0.snapshot(at_most.min(self.1.saturating_sub(1)))
    }

    fn frames(
        &mut self,
        from: u64,
        sink: &mut dyn FnMut(Frame) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        self.0.frames(from, sink)
    }

    fn check(&mut self) -> Result<(), StorageError> {
        self.0.check()
    }

    fn note(&mut self, name: &str) -> Result<Option<String>, StorageError> {
        self.0.note(name)
    }

    fn last_sequence(&mut self) -> Result<u64, StorageError> {
        self.0.last_sequence()
    }

    fn slot_by_key(&mut self, key: &str) -> Result<Option<crate::storage::SlotRow>, StorageError> {
        self.0.slot_by_key(key)
    }

    fn slot(&mut self, slot: u64) -> Result<Option<crate::storage::SlotRow>, StorageError> {
        self.0.slot(slot)
    }

    fn last_slots(&mut self, limit: u32) -> Result<Vec<crate::storage::SlotRow>, StorageError> {
        self.0.last_slots(limit)
    }

    fn reader(&self) -> Result<Box<dyn Storage>, StorageError> {
        self.0.reader()
    }

    fn size(&mut self) -> Result<u64, StorageError> {
        self.0.size()
    }

    fn commit(&mut self, _batch: &crate::storage::Batch) -> Result<(), StorageError> {
        Err(StorageError::Failed("the journal is read only".to_owned()))
    }

    fn probe(&mut self) -> Result<(), StorageError> {
        Err(StorageError::Failed("the journal is read only".to_owned()))
    }

    fn save_snapshot(&mut self, _snapshot: &crate::storage::SnapshotRow) -> Result<(), StorageError> {
        Err(StorageError::Failed("the journal is read only".to_owned()))
    }

    fn compact(&mut self, _keep_from: u64, _most: u32) -> Result<bool, StorageError> {
        Err(StorageError::Failed("the journal is read only".to_owned()))
    }

    fn save_note(&mut self, _name: &str, _value: &str) -> Result<(), StorageError> {
        Err(StorageError::Failed("the journal is read only".to_owned()))
    }
}
