//! Checksums of what is in the database: any change of a single byte of a row is noticed.

use super::{AuditRow, SlotRow};
use esdp::model::Fnv;
use rusqlite::{Connection, params};

/// The key of the checksum among the notes.
pub(super) const NOTES: &str = "checksum";

/// The checksum of a frame's events.
pub(super) fn of_text(text: &str) -> u64 {
    Fnv::of(text.as_bytes())
}

/// What a chain is made of: the columns of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) sequence: u64,
    pub(super) count: u64,
    pub(super) version: u32,
    pub(super) at: u64,
    pub(super) epoch: u64,
    pub(super) digest: u64,
    pub(super) checksum: u64,
}

impl Link {
    /// The last event of the frame.
    pub(super) fn last(&self) -> u64 {
        self.sequence + self.count - 1
    }

    /// The chain of the frame: a hash over all columns of all frames up to it. Frames of version 1 have none.
    pub(super) fn chain(&self, before: u64) -> u64 {
        if self.version == 1 {
            return 0;
        }
        let Self { sequence, count, version, at, epoch, digest, checksum } = *self;
        let mut hash = Fnv::default();
        let parts = [before, sequence, count, u64::from(version), at, epoch, digest, checksum];
        parts.into_iter().for_each(|part| hash.number(part));
        hash.finish()
    }
}

/// The checksum of an answer.
pub(super) fn of_slot(row: &SlotRow) -> u64 {
    let SlotRow { slot, key, at, request, answer, why } = row;
    let mut hash = Fnv::default();
    [*slot, *at, *request].into_iter().for_each(|number| hash.number(number));
    [key, answer, why].into_iter().for_each(|text| hash.text(text));
    hash.finish()
}

/// The checksum of a row about who changed what.
pub(super) fn of_audit(row: &AuditRow, servers: &str) -> u64 {
    let AuditRow { sequence, at, actor, address, request, action, target, .. } = row;
    let mut hash = Fnv::default();
    [*sequence, *at].into_iter().for_each(|number| hash.number(number));
    [actor, address, request, action, target].into_iter().for_each(|text| hash.text(text));
    hash.text(servers);
    hash.finish()
}

/// A row of `snapshots`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptSnapshot {
    pub(super) sequence: u64,
    pub(super) at: u64,
    pub(super) build: String,
    /// Of the events.
    pub(super) version: u32,
    /// Of the last frame in it.
    pub(super) chain: u64,
    pub(super) state: String,
}

/// The checksum of a snapshot.
pub(super) fn of_snapshot(row: &KeptSnapshot) -> u64 {
    let KeptSnapshot { sequence, at, build, version, chain, state } = row;
    let mut hash = Fnv::default();
    [*sequence, *at, u64::from(*version), *chain].into_iter().for_each(|number| hash.number(number));
    hash.text(build);
    hash.text(state);
    hash.finish()
}

fn of_notes(connection: &Connection) -> rusqlite::Result<u64> {
    let query = "SELECT key, value FROM meta WHERE key NOT IN (?, 'probe') ORDER BY key";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([NOTES])?;
    let mut hash = Fnv::default();
    while let Some(row) = rows.next()? {
        hash.text(&row.get::<_, String>(0)?);
        hash.text(&row.get::<_, String>(1)?);
    }
    Ok(hash.finish())
}

/// Whether the notes are what was written.
pub(super) fn notes_fit(connection: &Connection) -> rusqlite::Result<bool> {
    let sum = format!("{:016x}", of_notes(connection)?);
    let query = "SELECT COUNT(*) FROM meta WHERE key = ? AND value = ?";
    connection.query_row(query, [NOTES, &sum], |row| row.get(0))
}

/// Writes the checksum of the notes anew.
pub(super) fn seal_notes(connection: &Connection) -> rusqlite::Result<()> {
    let sum = format!("{:016x}", of_notes(connection)?);
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [NOTES, &sum]).map(drop)
}

/// Gives rows of the first version, which have no checksums, theirs.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut all = connection.prepare("SELECT slot, key, at, answer, why, request FROM slots")?;
    let rows = all.query_map([], super::rows::slot_columns)?;
    for row in rows.collect::<rusqlite::Result<Vec<SlotRow>>>()? {
        let sum = of_slot(&row).cast_signed();
        connection.execute("UPDATE slots SET checksum = ? WHERE slot = ?", params![sum, row.slot as i64])?;
    }
    let mut all = connection.prepare("SELECT sequence, at, build, version, chain, state FROM snapshots")?;
    let rows = all.query_map([], super::rows::snapshot_columns)?;
    for row in rows.collect::<rusqlite::Result<Vec<KeptSnapshot>>>()? {
        let sum = of_snapshot(&row).cast_signed();
        let update = "UPDATE snapshots SET checksum = ? WHERE sequence = ?";
        connection.execute(update, params![sum, row.sequence as i64])?;
    }
    seal_notes(connection)
}
