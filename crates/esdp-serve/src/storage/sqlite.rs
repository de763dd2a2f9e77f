//! The journal in SQLite: one writer, a write-ahead log, and an fsync for every commit.
//!
//! `synchronous=FULL` in WAL mode means one fsync of the log for each commit, before it returns, and that is
//! what makes an answer durable; `tests/serve/order.rs` of `esdp-cli` proves the order from system calls.
//! Frames are JSON, so that any SQLite tool can look inside, also while the service runs.

use super::schema::{self, SCHEMA_VERSION};
use super::{Batch, Frame, SlotRow, SnapshotRow, Storage, StorageError};
use esdp::live::EVENT_VERSION;
use esdp::model::Fnv;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};
use std::path::{Path, PathBuf};

/// The name of the database in a data directory.
const FILE: &str = "esdp.db";
/// After how many pages of the write-ahead log it is carried over to the database. A commit waits for it, so
/// it is done often and is short.
const CHECKPOINT_PAGES: u32 = 1000;
/// How many snapshots are kept.
const SNAPSHOTS: u32 = 2;

/// A journal in SQLite.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
    /// The chain of the last frame; none before anybody asked for it.
    chain: Option<u64>,
}

/// What SQLite says, in our terms.
pub(super) fn told(error: &rusqlite::Error) -> StorageError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied,
        ReadOnly, SystemIoFailure,
    };
    let text = error.to_string();
    if let rusqlite::Error::SqliteFailure(failure, _) = error
        && matches!(failure.extended_code, SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC)
    {
        return StorageError::Unsynced(text);
    }
    match error.sqlite_error_code() {
        Some(
            DiskFull | SystemIoFailure | ReadOnly | PermissionDenied | DatabaseBusy | DatabaseLocked
            | CannotOpen,
        ) => StorageError::Unavailable(text),
        Some(DatabaseCorrupt | NotADatabase) => StorageError::Damaged(text),
        _ => StorageError::Failed(text),
    }
}

fn checksum(text: &str) -> i64 {
    Fnv::of(text.as_bytes()).cast_signed()
}

/// The chain of a frame: a hash over the checksums of all frames up to it.
fn chained(before: u64, sequence: u64, digest: u64, checksum: i64) -> u64 {
    let mut bytes = Vec::with_capacity(32);
    [before, sequence, digest, checksum.cast_unsigned()]
        .iter()
        .for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
    Fnv::of(&bytes)
}

/// The checksum of an answer; never 0, which stands for none.
fn slot_checksum(row: &SlotRow) -> i64 {
    let SlotRow { slot, key, at, request, answer, why } = row;
    let text = serde_json::json!([slot, key, at, request, answer, why]).to_string();
    checksum(&text) | 1
}

impl Sqlite {
    /// Opens the database of a data directory, or makes one.
    ///
    /// # Errors
    /// When it cannot be opened, is of a later version, or is damaged.
    pub fn open(directory: &Path) -> Result<Self, StorageError> {
        Self::open_with(directory, "FULL")
    }

    /// The same with a weaker promise, `NORMAL` or `OFF`, to show that the checks of the order of writes
    /// notice it.
    ///
    /// # Errors
    /// When it cannot be opened, is of a later version, or is damaged.
    pub fn open_with(directory: &Path, synchronous: &str) -> Result<Self, StorageError> {
        let path = directory.join(FILE);
        let connection = Connection::open(&path).map_err(|error| told(&error))?;
        let setup = format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; PRAGMA busy_timeout = 2000;
             PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; PRAGMA cache_size = -4000;
             PRAGMA temp_store = MEMORY;"
        );
        let run = |connection: &Connection| {
            connection.execute_batch(&setup)?;
            connection.set_prepared_statement_cache_capacity(32);
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
        };
        match run(&connection).map_err(|error| told(&error))?.as_str() {
            "ok" => {}
            fault => return Err(StorageError::Damaged(fault.to_owned())),
        }
        schema::migrate(&connection)?;
        Ok(Self { connection, path, chain: None })
    }

    /// Opens the database of a data directory to look at it; a service may be running.
    ///
    /// # Errors
    /// When there is none, it is of a later version, or is damaged.
    pub fn open_read_only(directory: &Path) -> Result<Self, StorageError> {
        let path = directory.join(FILE);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error: rusqlite::Error| StorageError::Failed(format!("{}: {error}", path.display()));
        let connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
        match schema::version(&connection)? {
            0 => Err(StorageError::Failed(format!("{}: not a journal of esdp", path.display()))),
            found if found > SCHEMA_VERSION => Err(StorageError::Version { found, latest: SCHEMA_VERSION }),
            found if found < SCHEMA_VERSION => {
                // It is brought to the present version in memory: the files are left as they are.
                let mut copy = Connection::open_in_memory().map_err(failed)?;
                let all = rusqlite::backup::Backup::new(&connection, &mut copy).map_err(failed)?;
                all.step(-1).map_err(|error| told(&error))?;
                drop(all);
                schema::migrate(&copy)?;
                Ok(Self { connection: copy, path, chain: None })
            }
            _ => Ok(Self { connection, path, chain: None }),
        }
    }

    /// A slot's row, and whether its checksum fits.
    fn slot_row(row: &Row<'_>) -> rusqlite::Result<(SlotRow, bool)> {
        let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
        let found = SlotRow {
            slot: number(0)?,
            key: row.get(1)?,
            at: number(2)?,
            answer: row.get(3)?,
            why: row.get(4)?,
            request: number(5)?,
        };
        let sum: i64 = row.get(6)?;
        let sound = sum == 0 || sum == slot_checksum(&found);
        Ok((found, sound))
    }

    /// The chain of the last frame that is kept.
    fn last_chain(&mut self) -> rusqlite::Result<u64> {
        if let Some(chain) = self.chain {
            return Ok(chain);
        }
        let last = "SELECT chain FROM journal ORDER BY sequence DESC LIMIT 1";
        let last: Option<i64> = self.connection.query_row(last, [], |row| row.get(0)).optional()?;
        Ok(last.map_or(0, i64::cast_unsigned))
    }

    fn write(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        // Known again when all of it was kept.
        let mut chain = self.last_chain()?;
        self.chain = None;
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        {
            let insert = "INSERT INTO journal (sequence, count, version, at, checksum, events, chain, digest)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
            let mut frames = transaction.prepare_cached(insert)?;
            for frame in &batch.frames {
                let events = serde_json::to_string(&frame.events)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
                let (sequence, count) = (frame.sequence.cast_signed(), frame.events.len() as i64);
                let sum = checksum(&events);
                chain = chained(chain, frame.sequence, frame.digest, sum);
                frames.execute(params![
                    sequence,
                    count,
                    frame.version,
                    frame.at.cast_signed(),
                    sum,
                    events,
                    chain.cast_signed(),
                    frame.digest.cast_signed()
                ])?;
            }
            let insert = "INSERT INTO slots (slot, key, at, answer, why, request, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?)";
            let mut slots = transaction.prepare_cached(insert)?;
            for row in &batch.slots {
                let SlotRow { slot, key, at, request, answer, why } = row;
                slots.execute(params![
                    slot.cast_signed(),
                    key,
                    at.cast_signed(),
                    answer,
                    why,
                    request.cast_signed(),
                    slot_checksum(row)
                ])?;
            }
        }
        transaction.commit()?;
        self.chain = Some(chain);
        Ok(())
    }

    fn drop_old(&mut self, keep_from: u64, most: u32) -> rusqlite::Result<bool> {
        // A state can be had in two ways at any time: from each of two snapshots, or from the one and from
        // the beginning.
        let oldest = "SELECT sequence FROM snapshots ORDER BY sequence DESC LIMIT 1 OFFSET ?";
        let oldest: Option<i64> =
            self.connection.query_row(oldest, [SNAPSHOTS - 1], |row| row.get(0)).optional()?;
        let oldest = oldest.unwrap_or(0);
        let frames = "DELETE FROM journal WHERE sequence IN
            (SELECT sequence FROM journal WHERE sequence + count - 1 <= ?1 ORDER BY sequence LIMIT ?2)";
        let frames = self.connection.prepare_cached(frames)?.execute(params![oldest, most])?;
        let slots =
            "DELETE FROM slots WHERE slot IN (SELECT slot FROM slots WHERE slot < ?1 ORDER BY slot LIMIT ?2)";
        let slots = self.connection.prepare_cached(slots)?.execute(params![keep_from.cast_signed(), most])?;
        Ok(frames as u32 == most || slots as u32 == most)
    }
}

impl Storage for Sqlite {
    fn commit(&mut self, batch: &Batch) -> Result<(), StorageError> {
        self.write(batch).map_err(|error| told(&error))
    }

    fn probe(&mut self) -> Result<(), StorageError> {
        // Large enough that it needs pages which a full disk does not have.
        let filler = "x".repeat(64 << 10);
        let probe = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute("INSERT OR REPLACE INTO meta VALUES ('probe', ?)", [filler])?;
            transaction.commit()?;
            connection.execute("DELETE FROM meta WHERE key = 'probe'", [])?;
            Ok(())
        };
        probe(&mut self.connection).map_err(|error| told(&error))
    }

    fn last_sequence(&mut self) -> Result<u64, StorageError> {
        let last = "SELECT MAX(COALESCE((SELECT sequence + count - 1 FROM journal ORDER BY sequence DESC \
                    LIMIT 1), 0),
                               COALESCE((SELECT MAX(sequence) FROM snapshots), 0))";
        let last: i64 =
            self.connection.query_row(last, [], |row| row.get(0)).map_err(|error| told(&error))?;
        Ok(last.cast_unsigned())
    }

    fn snapshot(&mut self, at_most: u64) -> Result<Option<SnapshotRow>, StorageError> {
        let query =
            "SELECT sequence, state FROM snapshots WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1";
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let row = |row: &Row<'_>| {
            Ok(SnapshotRow { sequence: row.get::<_, i64>(0)?.cast_unsigned(), state: row.get(1)? })
        };
        self.connection.query_row(query, [at_most], row).optional().map_err(|error| told(&error))
    }

    fn save_snapshot(&mut self, snapshot: &SnapshotRow) -> Result<(), StorageError> {
        let save = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let SnapshotRow { sequence, state } = snapshot;
            let at = crate::clock::now().cast_signed();
            let insert = "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)";
            transaction.execute(insert, params![sequence.cast_signed(), at, state, esdp::BUILD])?;
            let old = "DELETE FROM snapshots WHERE sequence NOT IN
                (SELECT sequence FROM snapshots ORDER BY sequence DESC LIMIT ?)";
            transaction.execute(old, [SNAPSHOTS])?;
            transaction.commit()
        };
        save(&mut self.connection).map_err(|error| told(&error))
    }

    fn frames(
        &mut self,
        from: u64,
        sink: &mut dyn FnMut(Frame) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let query = "SELECT sequence, count, version, at, checksum, events, digest, chain FROM journal
            WHERE sequence + count > ? ORDER BY sequence";
        let mut statement = self.connection.prepare(query).map_err(|error| told(&error))?;
        let mut rows = statement.query([from.cast_signed()]).map_err(|error| told(&error))?;
        let mut before = None;
        while let Some(row) = rows.next().map_err(|error| told(&error))? {
            let (frame, count, sum, text, chain) = read_frame(row).map_err(|error| told(&error))?;
            let Frame { sequence, version, digest, .. } = frame;
            let damaged =
                |why: String| StorageError::Damaged(format!("the frame at event {sequence}: {why}"));
            if checksum(&text) != sum {
                return Err(damaged("its checksum does not fit".to_owned()));
            }
            if before.is_some_and(|before| version > 1 && chained(before, sequence, digest, sum) != chain) {
                return Err(damaged("it does not follow the frame before it".to_owned()));
            }
            before = Some(chain);
            if !(1..=EVENT_VERSION).contains(&version) {
                return Err(damaged(format!(
                    "its events have version {version}, this program reads versions 1 to {EVENT_VERSION}"
                )));
            }
            let events = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
            let frame = Frame { events, ..frame };
            if frame.events.len() as u64 != count {
                return Err(damaged(format!("{} events, expected {count}", frame.events.len())));
            }
            sink(frame)?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), StorageError> {
        let check = "PRAGMA integrity_check(1)";
        let found = self.connection.query_row(check, [], |row| row.get::<_, String>(0));
        match found.map_err(|error| told(&error))?.as_str() {
            "ok" => Ok(()),
            fault => Err(StorageError::Damaged(fault.to_owned())),
        }
    }

    fn slot_by_key(&mut self, key: &str) -> Result<Option<SlotRow>, StorageError> {
        let query = "SELECT slot, key, at, answer, why, request, checksum FROM slots WHERE key = ?";
        let found = self
            .connection
            .prepare_cached(query)
            .and_then(|mut statement| statement.query_row([key], Self::slot_row).optional());
        found.map_err(|error| told(&error))?.map(sound).transpose()
    }

    fn slot(&mut self, slot: u64) -> Result<Option<SlotRow>, StorageError> {
        let Ok(slot) = i64::try_from(slot) else { return Ok(None) };
        let query = "SELECT slot, key, at, answer, why, request, checksum FROM slots WHERE slot = ?";
        let found = self.connection.query_row(query, [slot], Self::slot_row).optional();
        found.map_err(|error| told(&error))?.map(sound).transpose()
    }

    fn last_slots(&mut self, limit: u32) -> Result<Vec<SlotRow>, StorageError> {
        let query =
            "SELECT slot, key, at, answer, why, request, checksum FROM slots ORDER BY slot DESC LIMIT ?";
        let read = |connection: &Connection| {
            connection
                .prepare_cached(query)?
                .query_map([limit], Self::slot_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        read(&self.connection).map_err(|error| told(&error))?.into_iter().map(sound).collect()
    }

    fn compact(&mut self, keep_from: u64, most: u32) -> Result<bool, StorageError> {
        self.drop_old(keep_from, most).map_err(|error| told(&error))
    }

    fn note(&mut self, name: &str) -> Result<Option<String>, StorageError> {
        let query = "SELECT value FROM meta WHERE key = ?";
        self.connection.query_row(query, [name], |row| row.get(0)).optional().map_err(|error| told(&error))
    }

    fn save_note(&mut self, name: &str, value: &str) -> Result<(), StorageError> {
        let insert = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
        self.connection.execute(insert, [name, value]).map(drop).map_err(|error| told(&error))
    }

    fn reader(&self) -> Result<Box<dyn Storage>, StorageError> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        Ok(Box::new(Self::open_read_only(directory)?))
    }

    fn size(&mut self) -> Result<u64, StorageError> {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        Ok(length(&self.path) + length(Path::new(&log)))
    }
}

/// A slot's row, unless it is damaged.
fn sound((row, sound): (SlotRow, bool)) -> Result<SlotRow, StorageError> {
    match sound {
        true => Ok(row),
        false => {
            Err(StorageError::Damaged(format!("the answer of slot {}: its checksum does not fit", row.slot)))
        }
    }
}

type FrameRow = (Frame, u64, i64, String, u64);

fn read_frame(row: &Row<'_>) -> rusqlite::Result<FrameRow> {
    let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let (sequence, version, at, digest) = (number(0)?, row.get(2)?, number(3)?, number(6)?);
    let frame = Frame { sequence, at, version, digest, events: Vec::new() };
    Ok((frame, number(1)?, row.get(4)?, row.get(5)?, number(7)?))
}
