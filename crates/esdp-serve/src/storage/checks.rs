//! What is checked of a database below the level of its rows.

use super::faults::told;
use super::watermark::{Found, Mark};
use super::{SCHEMA_VERSION, Sqlite, Storage, StorageError, schema, sums};
use rusqlite::OptionalExtension;

impl Sqlite {
    pub(super) fn check_version(&self) -> Result<(), StorageError> {
        match schema::version(&self.connection)? {
            found if found > SCHEMA_VERSION => Err(StorageError::Version { found, latest: SCHEMA_VERSION }),
            _ => Ok(()),
        }
    }

    pub(super) fn check_integrity(&mut self) -> Result<(), StorageError> {
        if self.checked {
            return Ok(());
        }
        let check = "PRAGMA integrity_check(1)";
        let found = self.connection.query_row(check, [], |row| row.get::<_, String>(0));
        match found.map_err(|error| told(&error))?.as_str() {
            "ok" => {}
            fault => return Err(StorageError::Damaged(format!("esdp.db: {fault}"))),
        }
        self.checked = true;
        Ok(())
    }

    /// Whether the journal goes as far as the watermark says.
    pub(super) fn check_watermark(&mut self) -> Result<(), StorageError> {
        let Found::Mark(Mark { event, chain, .. }) = self.found else { return Ok(()) };
        let version = schema::version(&self.connection)?;
        let last = if version == 0 { 0 } else { self.last_sequence()? };
        if event > last {
            return Err(StorageError::Lost { last, acknowledged: event });
        }
        if version < 2 {
            return Ok(());
        }
        // A frame that was compacted has nothing to be compared with.
        let there = "SELECT EXISTS (SELECT 1 FROM journal WHERE sequence <= ?)";
        let there: bool = self
            .connection
            .query_row(there, [event.cast_signed()], |row| row.get(0))
            .map_err(|error| told(&error))?;
        match self.chain_at(event).map_err(|error| told(&error))? {
            Some(found) if found != chain => Err(StorageError::Foreign { event }),
            None if there => Err(StorageError::Foreign { event }),
            _ => Ok(()),
        }
    }

    /// The chain of the frame or snapshot that ends with an event.
    pub(super) fn chain_at(&self, event: u64) -> rusqlite::Result<Option<u64>> {
        if event == 0 {
            return Ok(Some(0));
        }
        let frame = "SELECT chain FROM (SELECT chain, sequence + count - 1 AS last FROM journal
            WHERE sequence <= ?1 ORDER BY sequence DESC LIMIT 1) WHERE last = ?1
            UNION ALL SELECT chain FROM snapshots WHERE sequence = ?1 LIMIT 1";
        let found = self.connection.query_row(frame, [event.cast_signed()], |row| row.get::<_, i64>(0));
        Ok(found.optional()?.map(i64::cast_unsigned))
    }

    pub(super) fn check_notes(&self) -> Result<(), StorageError> {
        match sums::notes_fit(&self.connection).map_err(|error| told(&error)) {
            Ok(true) => {}
            Ok(false) => {
                return Err(StorageError::Damaged("the notes: their checksum does not fit".to_owned()));
            }
            Err(StorageError::Damaged(why)) => {
                return Err(StorageError::Damaged(format!("the notes: {why}")));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
