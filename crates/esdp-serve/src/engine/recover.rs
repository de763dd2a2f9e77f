//! The way back from the journal to the state, and what is checked on it.
//!
//! ```text
//! older snapshot --frames--> newest snapshot --frames--> the present
//! ```
//!
//! A start takes the whole way: each frame is checked, applied, and compared by its digest and by the answers
//! that were given; the state on arrival at the newest snapshot is compared with it. Where the first part
//! does not hold, the newest snapshot is as good, and the start says so. `esdp journal verify` is the same
//! function, so it finds what a start finds.

use super::answers::Answers;
use super::core::{Core, PolicyMaker};
use crate::storage::{SnapshotInfo, SnapshotRow, Storage, StorageError};
use esdp::live::{EVENT_VERSION, EventError, Live};
use serde::Serialize;
use thiserror::Error;

/// The note that says which build used the data last. Data of the first version has none.
pub(crate) const BUILD_NOTE: &str = "build";
/// The note that says which version of events it writes.
const EVENTS_NOTE: &str = "events";
/// The note of the last event before which frames may give another state than when they were written: an
/// operator has said so.
pub(crate) const ACCEPTED_NOTE: &str = "accepted divergence";
/// The note of slots whose answers were lost, which a repair has told.
pub(crate) const LOST_NOTE: &str = "lost answers";

/// Why the state cannot be rebuilt from the journal. Fatal.
#[derive(Debug, Error)]
pub enum JournalReplayError {
    /// The journal.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A snapshot cannot be restored.
    #[error("the snapshot at event {sequence} is damaged: {why}")]
    Snapshot {
        /// How many events it has seen.
        sequence: u64,
        /// What is wrong with it.
        why: String,
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
         this is {}). Start it once with that build, stop it (SIGTERM), then start this one; or go on with \
         the state that this build comes to, by --accept-divergence",
        esdp::BUILD
    )]
    Diverged {
        /// The first event of the frame.
        sequence: u64,
        /// The build that used the data last.
        build: String,
    },
    /// A snapshot is not what its events give.
    #[error("the snapshot at event {0} is not the state that the events before it give")]
    OtherSnapshot(u64),
    /// An answer is not what was decided.
    #[error("the answer of slot {0} is not what the journal says was decided")]
    Answer(u64),
    /// An answer is gone.
    #[error("the answer of slot {0} is missing")]
    NoAnswer(u64),
}

/// What was found in a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verified {
    /// Frames that were read.
    pub frames: u64,
    /// Events in them.
    pub events: u64,
    /// The first event that was read; a snapshot has those before it.
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

/// A state that was rebuilt, and what was found on the way.
pub struct Recovered {
    /// The state.
    pub core: Core,
    /// What was read and compared.
    pub found: Verified,
    /// What is not as it should be, and was got over without a loss.
    pub warnings: Vec<String>,
    /// The frames that gave another state than when they were written, which somebody has accepted; those
    /// of earlier starts are not counted.
    pub divergences: u64,
    /// Snapshots that are damaged, or lead nowhere.
    useless: Vec<u64>,
}

/// Rebuilds the present state and checks all that is kept. Frames that give another state than when they were
/// written are an error unless `accept`: what they say is still booked, as far as it can be.
///
/// # Errors
/// When the journal cannot be read, is damaged, or does not lead to the present.
pub fn recover(
    storage: &mut dyn Storage,
    policy: &PolicyMaker,
    accept: bool,
) -> Result<Recovered, JournalReplayError> {
    let mut warnings = storage.check()?;
    let mut answers = Answers::read(storage)?;
    let (mut useless, mut faulty) = (Vec::new(), None);
    let mut snapshots = Vec::new();
    for info in storage.snapshots()? {
        match storage.snapshot(info.sequence) {
            Ok(Some(row)) => snapshots.push((info, row)),
            Ok(None) => {}
            Err(StorageError::Damaged(why)) => {
                warnings.push(format!("the snapshot at event {} is damaged: {why}", info.sequence));
                useless.push(info.sequence);
                faulty = Some(JournalReplayError::Snapshot { sequence: info.sequence, why });
            }
            Err(error) => return Err(error.into()),
        }
    }
    // From the beginning, if all of the journal is there and there is no other way to the only snapshot.
    let whole = snapshots.len() < 2 && storage.first_sequence()?.is_none_or(|first| first == 1);
    // What came before a snapshot of the first version has no digests, and its decisions may be gone.
    let old = snapshots.iter().rposition(|(info, _)| info.build.is_empty());
    let first = old.map_or(usize::from(!whole), |place| place + 1);
    for base in first..=snapshots.len() {
        let (before, later) = snapshots.split_at(base);
        let base = before.last().map(|(_, row)| row);
        let is_last = later.is_empty();
        answers.compared = 0;
        match pass(storage, policy, base, later, &mut answers, accept && is_last) {
            Ok(passed) => {
                let Passed { core, mut found, divergences, doubts } = passed;
                warnings.extend(doubts);
                (found.slot, found.answers) = (core.slot(), answers.compared);
                found.last = storage.last_sequence()?;
                return Ok(Recovered { core, found, warnings, divergences, useless });
            }
            Err(
                error @ (JournalReplayError::Storage(StorageError::Damaged(_))
                | JournalReplayError::Gap { .. }
                | JournalReplayError::NoCluster(_)
                | JournalReplayError::Undecided(_)
                | JournalReplayError::Snapshot { .. }
                | JournalReplayError::Diverged { .. }
                | JournalReplayError::OtherSnapshot(_)),
            ) if !is_last => {
                // Slots of the first version are behind a snapshot once it was left; that is no fault.
                if !matches!(error, JournalReplayError::Undecided(_)) {
                    let next = later[0].1.sequence;
                    warnings.push(format!("{error}; the snapshot at event {next} has what came before it"));
                    useless.extend(base.map(|row| row.sequence));
                }
            }
            // A gap behind a damaged snapshot is the snapshot's fault.
            Err(JournalReplayError::Gap { .. } | JournalReplayError::NoCluster(_)) if faulty.is_some() => {
                return Err(faulty.expect("it is there"));
            }
            Err(error) => return Err(error),
        }
    }
    Err(faulty.unwrap_or_else(|| JournalReplayError::NoCluster("nothing leads to the present".to_owned())))
}

/// The state as it is on the disk, by the shortest way: what was written by this process needs no check.
///
/// # Errors
/// When the journal cannot be read or has a gap.
pub(super) fn reload(storage: &mut dyn Storage, policy: &PolicyMaker) -> Result<Core, JournalReplayError> {
    let base = storage.snapshot(u64::MAX)?;
    replay(storage, policy, base.as_ref())
}

/// The state after all frames that follow a snapshot, or after all of them: frames are checked and booked,
/// and nothing else is looked at.
///
/// # Errors
/// When the journal cannot be read or has a gap.
pub fn replay(
    storage: &mut dyn Storage,
    policy: &PolicyMaker,
    base: Option<&SnapshotRow>,
) -> Result<Core, JournalReplayError> {
    // What was decided is in the journal; no answer is needed.
    Ok(pass(storage, policy, base, &[], &mut Answers::unread(), true)?.core)
}

/// One way to the present.
struct Passed {
    core: Core,
    found: Verified,
    divergences: u64,
    doubts: Vec<String>,
}

/// Goes from a snapshot, or from the beginning, over all frames, past the snapshots that come later.
fn pass(
    storage: &mut dyn Storage,
    policy: &PolicyMaker,
    base: Option<&SnapshotRow>,
    later: &[(SnapshotInfo, SnapshotRow)],
    answers: &mut Answers,
    accept: bool,
) -> Result<Passed, JournalReplayError> {
    let build = storage.note(BUILD_NOTE)?.unwrap_or_default();
    let accepted = storage.note(ACCEPTED_NOTE)?.and_then(|event| event.parse().ok()).unwrap_or(0);
    let live = base.map(|row| restore(row, policy)).transpose()?;
    let core = Core::new(live, PolicyMaker::clone(policy));
    let mut passed = Passed { core, found: Verified::default(), divergences: 0, doubts: Vec::new() };
    let mut later = later.iter().peekable();
    let mut fault = None;
    let read = storage.frames(passed.core.sequence() + 1, &mut |frame| {
        let Passed { core, found, divergences, doubts } = &mut passed;
        let mut step = || {
            core.redo(&frame, answers)?;
            if !core.fits(&frame) && frame.sequence > accepted {
                if !accept {
                    let build = build.clone();
                    return Err(JournalReplayError::Diverged { sequence: frame.sequence, build });
                }
                if *divergences == 0 {
                    doubts.push(format!(
                        "the frame at event {} gives another state than when it was written, and so may \
                         those after it; that was accepted",
                        frame.sequence
                    ));
                }
                *divergences += 1;
            }
            answers.compare(&frame.events)?;
            found.frames += 1;
            found.events += frame.events.len() as u64;
            found.first = if found.first == 0 { frame.sequence } else { found.first };
            if let Some((info, row)) = later.next_if(|(info, _)| info.sequence <= core.sequence()) {
                doubts.extend(meet(core, info, row, policy)?);
                found.snapshots += 1;
            }
            Ok(())
        };
        step().map_err(|error: JournalReplayError| {
            let told = StorageError::Damaged(error.to_string());
            fault = Some(error);
            told
        })
    });
    match (fault, read) {
        (Some(fault), _) => return Err(fault),
        (None, read) => read?,
    }
    match later.next() {
        // It knows more than the frames do.
        Some((info, _)) => {
            Err(JournalReplayError::Gap { expected: passed.core.sequence() + 1, found: info.sequence })
        }
        None => Ok(passed),
    }
}

pub(crate) fn restore(row: &SnapshotRow, policy: &PolicyMaker) -> Result<Live, JournalReplayError> {
    let sequence = row.sequence;
    let faulty = |why: String| JournalReplayError::Snapshot { sequence, why };
    let live =
        Live::restore(&row.state, |cluster| policy(cluster)).map_err(|error| faulty(error.to_string()))?;
    match live.counts().events {
        events if events == sequence => Ok(live),
        events => Err(faulty(format!("it has seen {events} events"))),
    }
}

/// Compares a state with the snapshot that was written there, in all facts; in what was learned, too, if this
/// build has written it. Another build may have learned otherwise, and what it has learned is kept. What is
/// odd and does no harm is told.
fn meet(
    core: &mut Core,
    info: &SnapshotInfo,
    row: &SnapshotRow,
    policy: &PolicyMaker,
) -> Result<Option<String>, JournalReplayError> {
    let state = core.snapshot()?;
    if state.as_ref() == Some(&row.state) {
        return Ok(None);
    }
    let kept = Core::new(Some(restore(row, policy)?), PolicyMaker::clone(policy));
    if kept.sequence() != core.sequence() || kept.digest(true) != core.digest(true) {
        return Err(JournalReplayError::OtherSnapshot(info.sequence));
    }
    // Restored and written again: it may say the same in other words.
    let differs = info.build == esdp::BUILD && kept.snapshot()? != state;
    let doubt = || {
        let (sequence, what) = (info.sequence, "has learned otherwise than the events before it give");
        format!("the snapshot at event {sequence} {what}; it was used as it is")
    };
    *core = kept;
    Ok(differs.then(doubt))
}

impl Recovered {
    /// Brings what is kept into the form that the next start expects: there are two ways to the present
    /// again, and nothing is told twice. Says which build uses the data from now on. The event of the last
    /// snapshot.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn settle(&self, storage: &mut dyn Storage) -> Result<u64, StorageError> {
        let is_old = storage.note(BUILD_NOTE)?.is_none();
        for (name, value) in [(BUILD_NOTE, esdp::BUILD), (EVENTS_NOTE, &EVENT_VERSION.to_string())] {
            if storage.note(name)?.as_deref() != Some(value) {
                storage.save_note(name, value)?;
            }
        }
        let sequence = self.core.sequence();
        if self.divergences > 0 {
            storage.save_note(ACCEPTED_NOTE, &sequence.to_string())?;
        }
        for &snapshot in &self.useless {
            storage.drop_snapshot(snapshot)?;
        }
        let last = storage.snapshots()?.last().map_or(0, |info| info.sequence);
        // Frames of the first version are made superfluous: their slots are rebuilt from answers, which are
        // not kept for ever.
        let wanted = is_old || self.divergences > 0 || !self.useless.is_empty();
        match self.core.snapshot()? {
            Some(state) if wanted && sequence > last => {
                storage.save_snapshot(&SnapshotRow { sequence, state })?;
                Ok(sequence)
            }
            _ => Ok(last),
        }
    }
}
