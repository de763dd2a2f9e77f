//! Rows of the database, read and written.

use super::faults::told;
use super::sums::{self, KeptSnapshot, Link};
use super::{Frame, SlotRow, StorageError};
use esdp::live::EVENT_VERSION;
use rusqlite::{Connection, Row, params};

/// The columns of a frame, as [`read_frame`] takes them.
pub(super) const FRAME: &str = "sequence, count, version, at, checksum, events, digest, chain, epoch";
/// The columns of an answer, as [`sound_slot`] takes them.
pub(super) const SLOT: &str = "slot, key, at, answer, why, request, checksum";
/// The columns of a snapshot, as [`snapshot_and_sum`] takes them.
pub(super) const SNAPSHOT: &str = "sequence, at, build, version, chain, state, checksum";

fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::cast_unsigned)
}

/// A row of `journal`.
#[derive(Debug, Clone)]
pub(super) struct FrameRow {
    pub(super) link: Link,
    pub(super) chain: u64,
    pub(super) events: String,
}

pub(super) fn read_frame(row: &Row<'_>) -> rusqlite::Result<FrameRow> {
    let link = Link {
        sequence: number(row, 0)?,
        count: number(row, 1)?,
        version: row.get(2)?,
        at: number(row, 3)?,
        checksum: number(row, 4)?,
        digest: number(row, 6)?,
        epoch: number(row, 8)?,
    };
    Ok(FrameRow { link, events: row.get(5)?, chain: number(row, 7)? })
}

impl FrameRow {
    /// The row of a frame, but for its chain.
    pub(super) fn of(frame: &Frame) -> rusqlite::Result<Self> {
        let Frame { sequence, at, version, digest, ref events } = *frame;
        let count = events.len() as u64;
        let events = serde_json::to_string(events)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let checksum = sums::of_text(&events);
        let link = Link { sequence, count, version, at, epoch: 0, digest, checksum };
        Ok(Self { link, chain: 0, events })
    }

    /// The frame, if all of it is as it was written; `before` is the chain of the one before it, if known.
    pub(super) fn frame(self, before: Option<u64>) -> Result<Frame, StorageError> {
        let Link { sequence, count, version, at, checksum, digest, .. } = self.link;
        let damaged = |why: String| StorageError::Damaged(format!("the frame at event {sequence}: {why}"));
        if sums::of_text(&self.events) != checksum {
            return Err(damaged("its checksum does not fit".to_owned()));
        }
        if before.is_some_and(|before| self.link.chain(before) != self.chain) {
            return Err(damaged("it does not follow the frame before it".to_owned()));
        }
        if !(1..=EVENT_VERSION).contains(&version) {
            return Err(StorageError::Events { sequence, found: version, latest: EVENT_VERSION });
        }
        let events: Vec<_> =
            serde_json::from_str(&self.events).map_err(|error| damaged(error.to_string()))?;
        if events.len() as u64 != count {
            return Err(damaged(format!("{} events, expected {count}", events.len())));
        }
        Ok(Frame { sequence, at, version, digest, events })
    }

    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let Self { link, chain, events } = self;
        let Link { sequence, count, version, at, epoch, digest, checksum } = *link;
        let insert = format!("INSERT INTO journal ({FRAME}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
        let [sequence, count, at, checksum, digest, chain, epoch] =
            [sequence, count, at, checksum, digest, *chain, epoch].map(u64::cast_signed);
        let columns = params![sequence, count, version, at, checksum, events, digest, chain, epoch];
        connection.prepare_cached(&insert)?.execute(columns).map(drop)
    }
}

pub(super) fn slot_columns(row: &Row<'_>) -> rusqlite::Result<SlotRow> {
    Ok(SlotRow {
        slot: number(row, 0)?,
        key: row.get(1)?,
        at: number(row, 2)?,
        answer: row.get(3)?,
        why: row.get(4)?,
        request: number(row, 5)?,
    })
}

/// An answer, unless it is damaged.
pub(super) fn sound_slot(row: &Row<'_>) -> Result<SlotRow, StorageError> {
    let slot = row.get::<_, i64>(0).map_err(|error| told(&error))?;
    let damaged = |why: &str| StorageError::Damaged(format!("the answer of slot {slot}: {why}"));
    let found = slot_columns(row).and_then(|found| Ok((found, number(row, 6)?)));
    match found.map_err(|error| told(&error)) {
        Ok((found, sum)) if sum == sums::of_slot(&found) => Ok(found),
        Ok(_) => Err(damaged("its checksum does not fit")),
        Err(StorageError::Damaged(why)) => Err(damaged(&why)),
        Err(error) => Err(error),
    }
}

pub(super) fn insert_slot(connection: &Connection, row: &SlotRow) -> rusqlite::Result<()> {
    let SlotRow { slot, key, at, request, answer, why } = row;
    let insert = format!("INSERT INTO slots ({SLOT}) VALUES (?, ?, ?, ?, ?, ?, ?)");
    let [slot, at, request, sum] = [*slot, *at, *request, sums::of_slot(row)].map(u64::cast_signed);
    connection.prepare_cached(&insert)?.execute(params![slot, key, at, answer, why, request, sum]).map(drop)
}

pub(super) fn snapshot_columns(row: &Row<'_>) -> rusqlite::Result<KeptSnapshot> {
    Ok(KeptSnapshot {
        sequence: number(row, 0)?,
        at: number(row, 1)?,
        build: row.get(2)?,
        version: row.get(3)?,
        chain: number(row, 4)?,
        state: row.get(5)?,
    })
}

/// A snapshot and its checksum.
pub(super) fn snapshot_and_sum(row: &Row<'_>) -> rusqlite::Result<(KeptSnapshot, u64)> {
    Ok((snapshot_columns(row)?, number(row, 6)?))
}

/// A snapshot, unless it is damaged.
pub(super) fn sound_snapshot((row, sum): (KeptSnapshot, u64)) -> Result<KeptSnapshot, StorageError> {
    match sum == sums::of_snapshot(&row) {
        true => Ok(row),
        false => Err(StorageError::Damaged("its checksum does not fit".to_owned())),
    }
}

pub(super) fn insert_snapshot(connection: &Connection, row: &KeptSnapshot) -> rusqlite::Result<()> {
    let KeptSnapshot { sequence, at, build, version, chain, state } = row;
    let insert = format!("INSERT OR REPLACE INTO snapshots ({SNAPSHOT}) VALUES (?, ?, ?, ?, ?, ?, ?)");
    let [sequence, at, chain, sum] = [*sequence, *at, *chain, sums::of_snapshot(row)].map(u64::cast_signed);
    connection.execute(&insert, params![sequence, at, build, version, chain, state, sum]).map(drop)
}
