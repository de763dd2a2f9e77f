//! What can still be read of a database, however damaged it is, and a new one made of what is sound.

use super::rows::{self, FRAME, FrameRow, SLOT, SNAPSHOT};
use super::sums::KeptSnapshot;
use super::watermark::{self, Found};
use super::{AuditRow, Frame, SlotRow, Sqlite, StorageError};
use super::{faults, schema, sums};
use rusqlite::{Connection, OptionalExtension, Row};
use std::path::Path;

/// The files that make up a journal.
const FILES: [&str; 3] = ["esdp.db", "esdp.db-wal", watermark::FILE];

/// A copy of a database that may be damaged.
pub(crate) struct Salvage {
    connection: Connection,
    /// The last event that was acknowledged, if that is known.
    pub(crate) acknowledged: Option<u64>,
    /// Whether the notes are what was written.
    pub(crate) notes_fit: bool,
}

/// Frames as they are in the database, up to a fault or the end.
pub(crate) struct Sound {
    /// Frames, and as they are kept.
    pub(crate) frames: Vec<(Frame, RawFrame)>,
    /// Why it ends, if not because there are no more.
    pub(crate) fault: Option<StorageError>,
}

/// A frame as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct RawFrame(FrameRow);

/// A snapshot as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct RawSnapshot(KeptSnapshot);

impl RawSnapshot {
    /// How many events it has seen, and its state.
    pub(crate) fn row(&self) -> super::SnapshotRow {
        super::SnapshotRow { sequence: self.0.sequence, state: self.0.state.clone() }
    }
}

fn told(error: rusqlite::Error) -> StorageError {
    faults::told(&error)
}

impl Salvage {
    /// Copies the files of a data directory to another one, which is empty, and opens the copy.
    ///
    /// # Errors
    /// When it cannot be opened at all.
    pub(crate) fn open(directory: &Path, copy: &Path) -> Result<Self, StorageError> {
        for name in FILES {
            let (from, to) = (directory.join(name), copy.join(name));
            if from.exists() {
                let failed =
                    |error: std::io::Error| StorageError::Failed(format!("{}: {error}", from.display()));
                std::fs::copy(&from, to).map_err(failed)?;
            }
        }
        faults::check_file(&copy.join(FILES[0]))?;
        let acknowledged = match watermark::read(copy)? {
            Found::Mark(mark) => Some(mark.event),
            Found::Missing | Found::Damaged => None,
        };
        let connection = Connection::open(copy.join(FILES[0])).map_err(told)?;
        match schema::version(&connection)? {
            0 => return Err(StorageError::Failed("it is not a journal of esdp".to_owned())),
            found if found > super::SCHEMA_VERSION => {
                return Err(StorageError::Version { found, latest: super::SCHEMA_VERSION });
            }
            _ => schema::migrate(&connection)?,
        }
        let notes_fit = sums::notes_fit(&connection).unwrap_or(false);
        Ok(Self { connection, acknowledged, notes_fit })
    }

    /// The notes that can be read.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let read = || -> rusqlite::Result<Vec<_>> {
            let mut statement = self.connection.prepare("SELECT key, value FROM meta")?;
            Ok(statement.query_map([], columns)?.filter_map(Result::ok).collect())
        };
        read().unwrap_or_default()
    }

    /// The snapshots that are sound, the oldest first, and what is wrong with the others.
    pub(crate) fn snapshots(&self) -> (Vec<RawSnapshot>, Vec<String>) {
        let (mut sound, mut faults) = (Vec::new(), Vec::new());
        let mut after = -1;
        let numbers = "SELECT sequence FROM snapshots WHERE sequence > ? ORDER BY sequence LIMIT 1";
        let query = format!("SELECT {SNAPSHOT} FROM snapshots WHERE sequence = ?");
        loop {
            match self.connection.query_row(numbers, [after], |row| row.get::<_, i64>(0)).optional() {
                Ok(Some(sequence)) => after = sequence,
                Ok(None) => break,
                Err(error) => {
                    faults.push(format!("the snapshots after event {}: {error}", after.max(0)));
                    break;
                }
            }
            let found = self.connection.query_row(&query, [after], rows::snapshot_and_sum).map_err(told);
            match found.and_then(rows::sound_snapshot) {
                Ok(row) => sound.push(RawSnapshot(row)),
                Err(error) => faults.push(format!("the snapshot at event {after}: {error}")),
            }
        }
        (sound, faults)
    }

    /// Who changed what up to an event, as far as can be read.
    pub(crate) fn audit(&self, to: u64) -> Vec<AuditRow> {
        super::audit::all(&self.connection, to)
    }

    /// The first event that is kept, as far as can be read.
    pub(crate) fn first(&self) -> Option<u64> {
        let first = "SELECT sequence FROM journal ORDER BY sequence LIMIT 1";
        let first = self.connection.query_row(first, [], |row| row.get::<_, i64>(0));
        first.ok().map(i64::cast_unsigned)
    }

    /// The frames after an event of which this is the chain, one by one, up to a fault.
    pub(crate) fn frames(&self, after: &RawSnapshot) -> Sound {
        self.frames_after(after.0.sequence, Some(after.0.chain))
    }

    /// The frames from the beginning.
    pub(crate) fn all_frames(&self) -> Sound {
        self.frames_after(0, Some(0))
    }

    /// The frames after an event, whatever came before them.
    pub(crate) fn frames_after(&self, mut after: u64, mut chain: Option<u64>) -> Sound {
        let query = format!("SELECT {FRAME} FROM journal WHERE sequence > ? ORDER BY sequence LIMIT 1");
        let mut sound = Sound { frames: Vec::new(), fault: None };
        loop {
            let read = || {
                let mut statement = self.connection.prepare_cached(&query)?;
                statement.query_row([after.cast_signed()], rows::read_frame).optional()
            };
            let found = match read().map_err(told) {
                Ok(Some(row)) => row.clone().frame(chain).map(|frame| (frame, RawFrame(row))),
                Ok(None) => return sound,
                Err(error) => Err(error),
            };
            match found {
                Ok((frame, raw)) => {
                    (after, chain) = (raw.0.link.last(), Some(raw.0.chain));
                    sound.frames.push((frame, raw));
                }
                Err(fault) => return Sound { fault: Some(fault), ..sound },
            }
        }
    }

    /// The frames after an event that can be read from the end on, the oldest first; each is sound by itself.
    pub(crate) fn last_frames(&self, after: u64) -> Vec<Frame> {
        let query = format!(
            "SELECT {FRAME} FROM journal WHERE sequence < ?1 AND sequence > ?2 ORDER BY sequence DESC LIMIT 1"
        );
        let (mut frames, mut before) = (Vec::new(), i64::MAX);
        loop {
            let bounds = [before, after.cast_signed()];
            let found = self.connection.query_row(&query, bounds, rows::read_frame).optional();
            let Ok(Some(row)) = found else { break };
            before = row.link.sequence.cast_signed();
            // One that is damaged does not hide those before it.
            frames.extend(row.frame(None).ok());
        }
        frames.reverse();
        frames
    }

    /// The answers that can be read, by slot, and the slots of those that are damaged. They are looked for
    /// from both ends. Whether the first could be reached.
    pub(crate) fn slots(&self) -> (Vec<SlotRow>, Vec<u64>, bool) {
        let mut from_start = true;
        let (mut sound, mut damaged) = (std::collections::BTreeMap::new(), Vec::new());
        for (bound, order, mut at) in [(">", "ASC", -1), ("<", "DESC", i64::MAX)] {
            let numbers =
                format!("SELECT slot FROM slots WHERE slot {bound} ? ORDER BY slot {order} LIMIT 1");
            let query = format!("SELECT {SLOT} FROM slots WHERE slot = ?");
            loop {
                let number = self.connection.query_row(&numbers, [at], |row| row.get::<_, i64>(0)).optional();
                if number.is_err() && at < 0 {
                    from_start = false;
                }
                let Ok(Some(slot)) = number else { break };
                at = slot;
                let slot = slot.cast_unsigned();
                if sound.contains_key(&slot) || damaged.contains(&slot) {
                    break;
                }
                let found = self.connection.query_row(&query, [at], |row| Ok(rows::sound_slot(row)));
                match found.map_err(told).flatten() {
                    Ok(row) => drop(sound.insert(slot, row)),
                    Err(_) => damaged.push(slot),
                }
            }
        }
        damaged.sort_unstable();
        (sound.into_values().collect(), damaged, from_start)
    }
}

/// Writes a new journal from what is sound: notes, snapshots, the frames after the oldest of them, answers,
/// who changed what.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(
    directory: &Path,
    notes: &[(String, String)],
    snapshots: &[RawSnapshot],
    frames: &[RawFrame],
    slots: &[SlotRow],
    audit: &[AuditRow],
) -> Result<(), StorageError> {
    let mut storage = Sqlite::open(directory)?;
    let mut fill = || -> rusqlite::Result<()> {
        let transaction = storage.connection.transaction()?;
        for (key, value) in notes.iter().filter(|(key, _)| key != sums::NOTES && key != "probe") {
            transaction.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])?;
        }
        sums::seal_notes(&transaction)?;
        for RawSnapshot(row) in snapshots {
            rows::insert_snapshot(&transaction, row)?;
        }
        for RawFrame(row) in frames {
            row.insert(&transaction)?;
        }
        for row in slots {
            rows::insert_slot(&transaction, row)?;
        }
        for row in audit {
            super::audit::insert(&transaction, row)?;
        }
        transaction.commit()
    };
    fill().map_err(told)?;
    // The watermark, too.
    super::Storage::commit(&mut storage, &super::Batch::default())
}
