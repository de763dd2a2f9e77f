//! The journal in SQLite: one writer, a write-ahead log, and an fsync for every commit.
//!
//! `synchronous=FULL` in WAL mode means one fsync of the log for each commit, before it returns, and that is
//! what makes an answer durable; `tests/serve/order.rs` of `esdp-cli` proves the order from system calls.
//! Frames are JSON, so that any SQLite tool can look inside, also while the service runs.
//!
//! After a sync that failed, nothing more is written, not even when the database is closed: nobody knows what
//! is on the disk, and the next start finds out. The log is carried over to the database between commits
//! ([`Storage::checkpoint`]), where a failing sync is seen; SQLite would keep it to itself.

use super::audit;
use super::faults::{check_file, log_of, told};
use super::rows::{self, FRAME, FrameRow, SLOT, SNAPSHOT};
use super::schema::{self, SCHEMA_VERSION};
use super::sums::{self, KeptSnapshot};
use super::watermark::{self, Found, Mark, Watermark};
use super::{AuditPage, AuditQuery, Batch, Frame, SlotRow, SnapshotInfo, SnapshotRow, Storage, StorageError};
use esdp::live::EVENT_VERSION;
use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The name of the database in a data directory.
const FILE: &str = "esdp.db";
/// After how many pages of the write-ahead log it is carried over to the database.
const CHECKPOINT_PAGES: i32 = 1000;
/// How many snapshots are kept.
const SNAPSHOTS: u32 = 2;

/// A journal in SQLite.
#[derive(Debug)]
pub struct Sqlite {
    pub(super) connection: Connection,
    path: PathBuf,
    watermark: Watermark,
    /// The watermark when it was opened.
    pub(super) found: Found,
    /// The last event and its chain; none before anybody asked for it.
    last: Option<(u64, u64)>,
    /// The pages of the write-ahead log.
    log_pages: Arc<AtomicI32>,
    /// Whether the integrity of the database was checked.
    pub(super) checked: bool,
    /// Whether the log stays as it is when the database is closed.
    sealed: bool,
    /// Why nothing more is written: a sync has failed.
    unsynced: Option<String>,
}

impl Sqlite {
    /// Opens the database of a data directory, or makes one.
    ///
    /// # Errors
    /// When it cannot be opened, is of a later version, is damaged, or has lost its end.
    pub fn open(directory: &Path) -> Result<Self, StorageError> {
        Self::open_with(directory, "FULL")
    }

    /// The same with a weaker promise, `NORMAL` or `OFF`, to show that the checks of the order of writes
    /// notice it.
    ///
    /// # Errors
    /// When it cannot be opened, is of a later version, is damaged, or has lost its end.
    pub fn open_with(directory: &Path, synchronous: &str) -> Result<Self, StorageError> {
        let path = directory.join(FILE);
        check_file(&path)?;
        let found = watermark::read(directory)?;
        let connection = Connection::open(&path).map_err(|error| told(&error))?;
        let mut storage = Self::new(connection, directory, found)?;
        let mode = storage.set_up(synchronous).map_err(|error| told(&error))?;
        if mode != "wal" {
            // SQLite does not say why: a sync that failed, or a file system without shared memory.
            let path = storage.path.display();
            return Err(StorageError::Failed(format!("{path}: the write-ahead log cannot be used ({mode})")));
        }
        storage.check_integrity()?;
        storage.check_version()?;
        // Before anything is written.
        storage.check_watermark()?;
        schema::migrate(&storage.connection)?;
        let parent = directory.parent();
        let synced =
            watermark::sync_directory(Some(directory)).and_then(|()| watermark::sync_directory(parent));
        synced.map_err(|error| StorageError::Unsynced(format!("{}: {error}", directory.display())))?;
        Ok(storage)
    }

    /// Opens the database of a data directory to look at it; a service may be running.
    ///
    /// # Errors
    /// When there is none, it is of a later version, or is damaged.
    pub fn open_read_only(directory: &Path) -> Result<Self, StorageError> {
        let path = directory.join(FILE);
        let failed = |error: rusqlite::Error| match told(&error) {
            StorageError::Damaged(why) => StorageError::Damaged(why),
            error => StorageError::Failed(format!("{}: {error}", path.display())),
        };
        check_file(&path)?;
        // Before the database: what is committed in between is no contradiction.
        let found = watermark::read(directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
        match schema::version(&connection)? {
            0 if !Self::is_empty(&connection).map_err(failed)? => {
                Err(StorageError::Failed(format!("{}: not a journal of esdp", path.display())))
            }
            version if version > SCHEMA_VERSION => {
                Err(StorageError::Version { found: version, latest: SCHEMA_VERSION })
            }
            version if version < SCHEMA_VERSION => {
                // It is brought to the present version in memory: the files are left as they are.
                let mut copy = Connection::open_in_memory().map_err(failed)?;
                let all = rusqlite::backup::Backup::new(&connection, &mut copy).map_err(failed)?;
                all.step(-1).map_err(|error| told(&error))?;
                drop(all);
                schema::migrate(&copy)?;
                Self::new(copy, directory, found)
            }
            _ => {
                // One state for all that is read.
                connection.execute_batch("BEGIN").map_err(failed)?;
                Self::new(connection, directory, found)
            }
        }
    }

    /// Whether nothing was made in a database yet.
    fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
    }

    pub(super) fn new(connection: Connection, directory: &Path, found: Found) -> Result<Self, StorageError> {
        // Until something was written, all of it stays as it is.
        let sealed = connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        sealed.map_err(|error| told(&error))?;
        Ok(Self {
            connection,
            path: directory.join(FILE),
            watermark: Watermark::new(directory),
            found,
            last: None,
            log_pages: Arc::default(),
            checked: false,
            sealed: true,
            unsynced: None,
        })
    }

    /// How the journal mode is called that was reached.
    fn set_up(&mut self, synchronous: &str) -> rusqlite::Result<String> {
        // To its end: that is where its transaction may fail.
        let mut statement = self.connection.prepare("PRAGMA journal_mode = WAL")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        drop(rows);
        drop(statement);
        let mode = self.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        self.connection.execute_batch(&format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA busy_timeout = 2000;
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY;"
        ))?;
        self.connection.set_prepared_statement_cache_capacity(32);
        let pages = Arc::clone(&self.log_pages);
        self.connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, found| {
            pages.store(found, Relaxed);
            Ok(())
        }))?;
        Ok(mode)
    }

    /// The last event that is kept, and the chain of its frame.
    fn last(&mut self) -> rusqlite::Result<(u64, u64)> {
        if let Some(last) = self.last {
            return Ok(last);
        }
        let last = "SELECT MAX(COALESCE((SELECT sequence + count - 1 FROM journal ORDER BY sequence DESC \
                    LIMIT 1), 0),
                               COALESCE((SELECT MAX(sequence) FROM snapshots), 0))";
        let last: i64 = self.connection.query_row(last, [], |row| row.get(0))?;
        let last = last.cast_unsigned();
        Ok((last, self.chain_at(last)?.unwrap_or(0)))
    }

    fn write(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        let (mut last, mut chain) = self.last()?;
        // Known again when all of it was kept.
        self.last = None;
        if !batch.frames.is_empty() || !batch.slots.is_empty() {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for frame in &batch.frames {
                let mut row = FrameRow::of(frame)?;
                (last, chain) = (row.link.last(), row.link.chain(chain));
                row.chain = chain;
                row.insert(&transaction)?;
            }
            for row in &batch.slots {
                rows::insert_slot(&transaction, row)?;
            }
            for row in &batch.audit {
                audit::insert(&transaction, row)?;
            }
            transaction.commit()?;
        }
        self.last = Some((last, chain));
        if std::mem::take(&mut self.sealed) {
            self.connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        }
        Ok(())
    }

    fn drop_old(&mut self, keep_from: u64, most: u32) -> rusqlite::Result<bool> {
        // A state can be had in two ways at any time: from each of two snapshots, or from the one and from
        // the beginning.
        let oldest = "SELECT sequence FROM snapshots ORDER BY sequence DESC LIMIT 1 OFFSET ?";
        let oldest: Option<i64> =
            self.connection.query_row(oldest, [SNAPSHOTS - 1], |row| row.get(0)).optional()?;
        let oldest = oldest.unwrap_or(0);
        let frames = "DELETE FROM journal WHERE sequence IN (SELECT sequence FROM journal
            WHERE sequence <= ?1 AND sequence + count - 1 <= ?1 ORDER BY sequence LIMIT ?2)";
        let frames = self.connection.prepare_cached(frames)?.execute(params![oldest, most])?;
        let slots =
            "DELETE FROM slots WHERE slot IN (SELECT slot FROM slots WHERE slot < ?1 ORDER BY slot LIMIT ?2)";
        let slots = self.connection.prepare_cached(slots)?.execute(params![keep_from.cast_signed(), most])?;
        let audit = self.drop_audit(oldest, most)?;
        Ok(frames as u32 == most || slots as u32 == most || audit)
    }

    fn keep_snapshot(&mut self, snapshot: &SnapshotRow) -> rusqlite::Result<()> {
        let SnapshotRow { sequence, state } = snapshot.clone();
        let chain = self.chain_at(sequence)?.unwrap_or(0);
        let (at, build, version) = (crate::clock::now(), esdp::BUILD.to_owned(), EVENT_VERSION);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::insert_snapshot(&transaction, &KeptSnapshot { sequence, at, build, version, chain, state })?;
        let old = "DELETE FROM snapshots WHERE sequence NOT IN
            (SELECT sequence FROM snapshots ORDER BY sequence DESC LIMIT ?)";
        transaction.execute(old, [SNAPSHOTS])?;
        transaction.commit()
    }

    /// Does what writes, unless a sync has failed, and takes note of it if one does.
    fn writing<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        if let Some(cause) = &self.unsynced {
            return Err(StorageError::Unsynced(cause.clone()));
        }
        let done = write(self).map_err(|error| told(&error));
        if let Err(StorageError::Unsynced(cause)) = &done {
            self.unsynced = Some(cause.clone());
            self.sealed = true;
            // What fails here has not been opened.
            let _ = self.connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        done
    }
}

impl Storage for Sqlite {
    fn commit(&mut self, batch: &Batch) -> Result<(), StorageError> {
        self.writing(|this| this.write(batch))?;
        let (event, chain) = self.last.expect("it was just written");
        self.watermark.write(Mark { epoch: 0, event, chain })
    }

    fn probe(&mut self) -> Result<(), StorageError> {
        // Large enough that it needs pages which a full disk does not have.
        let filler = "x".repeat(64 << 10);
        self.writing(|this| {
            let transaction = this.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("INSERT OR REPLACE INTO meta VALUES ('probe', ?)", [filler])?;
            transaction.commit()?;
            this.connection.execute("DELETE FROM meta WHERE key = 'probe'", []).map(drop)
        })
    }

    fn checkpoint(&mut self) -> Result<(), StorageError> {
        if self.log_pages.load(Relaxed) < CHECKPOINT_PAGES {
            return Ok(());
        }
        self.log_pages.store(0, Relaxed);
        self.writing(|this| this.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())))
    }

    fn last_sequence(&mut self) -> Result<u64, StorageError> {
        self.last().map(|(last, _)| last).map_err(|error| told(&error))
    }

    fn first_sequence(&mut self) -> Result<Option<u64>, StorageError> {
        let first = "SELECT MIN(sequence) FROM journal";
        let first = self.connection.query_row(first, [], |row| row.get::<_, Option<i64>>(0));
        Ok(first.map_err(|error| told(&error))?.map(i64::cast_unsigned))
    }

    fn snapshots(&mut self) -> Result<Vec<SnapshotInfo>, StorageError> {
        let query = "SELECT sequence, build, version FROM snapshots ORDER BY sequence";
        let info = |row: &Row<'_>| {
            let sequence = row.get::<_, i64>(0)?.cast_unsigned();
            // Whether they are right is known when the whole row is read.
            let (build, version) = (row.get(1).unwrap_or_default(), row.get(2).unwrap_or_default());
            Ok(SnapshotInfo { sequence, build, version })
        };
        let read = |connection: &Connection| -> rusqlite::Result<Vec<_>> {
            connection.prepare(query)?.query_map([], info)?.collect()
        };
        read(&self.connection).map_err(|error| told(&error))
    }

    fn snapshot(&mut self, at_most: u64) -> Result<Option<SnapshotRow>, StorageError> {
        let query =
            format!("SELECT {SNAPSHOT} FROM snapshots WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1");
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let found = self.connection.query_row(&query, [at_most], rows::snapshot_and_sum).optional();
        let found = found.map_err(|error| told(&error))?.map(rows::sound_snapshot).transpose()?;
        Ok(found.map(|KeptSnapshot { sequence, state, .. }| SnapshotRow { sequence, state }))
    }

    fn save_snapshot(&mut self, snapshot: &SnapshotRow) -> Result<(), StorageError> {
        self.writing(|this| this.keep_snapshot(snapshot))
    }

    fn drop_snapshot(&mut self, sequence: u64) -> Result<(), StorageError> {
        let drop_it = "DELETE FROM snapshots WHERE sequence = ?";
        self.writing(|this| this.connection.execute(drop_it, [sequence.cast_signed()]).map(drop))
    }

    fn frames(
        &mut self,
        from: u64,
        sink: &mut dyn FnMut(Frame) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let query = format!(
            "SELECT {FRAME} FROM journal WHERE sequence >=
                (SELECT COALESCE(MAX(sequence), 0) FROM journal WHERE sequence <= ?) ORDER BY sequence"
        );
        let mut statement = self.connection.prepare(&query).map_err(|error| told(&error))?;
        let mut rows = statement.query([from.cast_signed()]).map_err(|error| told(&error))?;
        let mut before: Option<(u64, u64)> = None;
        while let Some(row) = rows.next().map_err(|error| told(&error))? {
            let row = rows::read_frame(row).map_err(|error| match told(&error) {
                StorageError::Damaged(why) => StorageError::Damaged(match before {
                    Some((last, _)) => format!("the frame after event {last}: {why}"),
                    None => format!("the first frame: {why}"),
                }),
                other => other,
            })?;
            let chain = match before {
                Some((_, chain)) => Some(chain),
                None => self.chain_at(row.link.sequence - 1).map_err(|error| told(&error))?,
            };
            before = Some((row.link.last(), row.chain));
            let frame = row.frame(chain)?;
            if frame.sequence + frame.events.len() as u64 > from {
                sink(frame)?;
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<Vec<String>, StorageError> {
        self.check_integrity()?;
        self.check_notes()?;
        self.check_watermark()?;
        let mut odd = self.audit_faults();
        if self.found == Found::Damaged {
            let why = "is damaged; it is written anew, and a lost end of the journal would not be noticed";
            odd.push(format!("the file `{}` {why}", watermark::FILE));
        }
        Ok(odd)
    }

    fn slot_by_key(&mut self, key: &str) -> Result<Option<SlotRow>, StorageError> {
        let query = format!("SELECT {SLOT} FROM slots WHERE key = ?");
        let found = self
            .connection
            .prepare_cached(&query)
            .and_then(|mut statement| statement.query_row([key], |row| Ok(rows::sound_slot(row))).optional());
        found.map_err(|error| told(&error))?.transpose()
    }

    fn slot(&mut self, slot: u64) -> Result<Option<SlotRow>, StorageError> {
        let Ok(slot) = i64::try_from(slot) else { return Ok(None) };
        let query = format!("SELECT {SLOT} FROM slots WHERE slot = ?");
        let found = self.connection.query_row(&query, [slot], |row| Ok(rows::sound_slot(row))).optional();
        found.map_err(|error| told(&error))?.transpose()
    }

    fn last_slots(&mut self, limit: u32) -> Result<Vec<SlotRow>, StorageError> {
        let query = format!("SELECT {SLOT} FROM slots ORDER BY slot DESC LIMIT ?");
        let mut statement = self.connection.prepare_cached(&query).map_err(|error| told(&error))?;
        let mut rows = statement.query([limit]).map_err(|error| told(&error))?;
        let mut slots = Vec::new();
        while let Some(row) = rows.next().map_err(|error| told(&error))? {
            slots.push(rows::sound_slot(row)?);
        }
        Ok(slots)
    }

    fn audit(&mut self, query: &AuditQuery) -> Result<AuditPage, StorageError> {
        self.read_audit(query)
    }

    fn compact(&mut self, keep_from: u64, most: u32) -> Result<bool, StorageError> {
        self.writing(|this| this.drop_old(keep_from, most))
    }

    fn note(&mut self, name: &str) -> Result<Option<String>, StorageError> {
        let query = "SELECT value FROM meta WHERE key = ?";
        self.connection.query_row(query, [name], |row| row.get(0)).optional().map_err(|error| told(&error))
    }

    fn save_note(&mut self, name: &str, value: &str) -> Result<(), StorageError> {
        self.writing(|this| {
            let transaction = this.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [name, value])?;
            sums::seal_notes(&transaction)?;
            transaction.commit()
        })
    }

    fn reader(&self) -> Result<Box<dyn Storage>, StorageError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(|error| told(&error))?;
        // Each answer is of the present: no transaction is begun.
        let directory = self.path.parent().unwrap_or(Path::new("."));
        Ok(Box::new(Self::new(connection, directory, Found::Missing)?))
    }

    fn size(&mut self) -> Result<u64, StorageError> {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        Ok(length(&self.path) + length(&log_of(&self.path)))
    }
}
