//! A journal without its service: show, verify, export, repair.

mod repair;

pub use repair::{LostJob, LostOutcome, LostSlot, RepairError, Repaired, repair};

use crate::engine::{JournalReplayError, PolicyMaker, Recovered, Verified, recover};
use crate::storage::{Frame, Sqlite, Storage, StorageError};
use crate::{noted_policy, policy_maker};
use esdp::live::Entry;
use esdp::policy::PolicySpec;
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
    /// What a start of the service would warn of.
    #[error("{}", .0.join("; "))]
    Warned(Vec<String>),
}

/// Builds the policy that is noted.
fn maker(note: Option<String>) -> Result<PolicyMaker, OfflineError> {
    let note = note.ok_or_else(|| OfflineError::Policy("none is noted".to_owned()))?;
    let parsed = || -> Option<(PolicySpec, u64)> {
        let (spec, seed) = note.strip_prefix("policy ")?.rsplit_once(" and seed ")?;
        Some((serde_json::from_str(spec).ok()?, seed.parse().ok()?))
    };
    let (spec, seed) = parsed().ok_or_else(|| OfflineError::Policy(note.clone()))?;
    policy_maker(&spec, seed).map_err(|error| OfflineError::Policy(error.to_string()))
}

fn recovered(storage: &mut dyn Storage) -> Result<Option<Recovered>, OfflineError> {
    let note = noted_policy(storage)?;
    if note.is_none() && storage.last_sequence()? == 0 {
        // It was made and not used yet.
        storage.check()?;
        return Ok(None);
    }
    let policy = maker(note)?;
    Ok(Some(recover(storage, &policy, false)?))
}

/// Reads and checks everything, as a start of the service does.
///
/// # Errors
/// With what is wrong: a start would be refused, or would warn of it.
pub fn verify(directory: &Path) -> Result<Verified, OfflineError> {
    match recovered(&mut Sqlite::open_read_only(directory)?)? {
        Some(Recovered { warnings, .. }) if !warnings.is_empty() => Err(OfflineError::Warned(warnings)),
        Some(recovered) => Ok(recovered.found),
        None => Ok(Verified::default()),
    }
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
    match recovered(&mut storage)? {
        Some(recovered) => Ok(recovered.core.snapshot()?),
        None => Ok(None),
    }
}
