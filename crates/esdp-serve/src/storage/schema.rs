//! The schema of the database, step by step. A step is never changed once it was released; a change is a new
//! step.

use super::StorageError;
use rusqlite::Connection;

/// Step `n` leads from version `n` to version `n + 1`.
const STEPS: &[&str] = &[
    "
    CREATE TABLE journal (
        sequence INTEGER PRIMARY KEY,  -- of the first event of the frame
        count    INTEGER NOT NULL,     -- of its events
        version  INTEGER NOT NULL,     -- of the events' format
        at       INTEGER NOT NULL,     -- milliseconds since 1970, for people
        checksum INTEGER NOT NULL,     -- of `events`
        events   TEXT NOT NULL         -- a JSON list
    );
    CREATE TABLE snapshots (
        sequence INTEGER PRIMARY KEY,  -- how many events it has seen
        at       INTEGER NOT NULL,
        state    TEXT NOT NULL         -- with a checksum of its own
    );
    CREATE TABLE slots (
        slot   INTEGER PRIMARY KEY,
        key    TEXT NOT NULL UNIQUE,
        at     INTEGER NOT NULL,
        answer TEXT NOT NULL,
        why    TEXT NOT NULL
    );
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
",
    "
    ALTER TABLE journal ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;     -- who leads; 0 while there is one
    ALTER TABLE journal ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;     -- of all frames up to this one
    ALTER TABLE journal ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;    -- of the state after it; 0: none
    ALTER TABLE slots ADD COLUMN request INTEGER NOT NULL DEFAULT 0;     -- a hash of the request; 0: none
    ALTER TABLE slots ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;    -- of the row
    ALTER TABLE snapshots ADD COLUMN build TEXT NOT NULL DEFAULT '';     -- that wrote it
    ALTER TABLE snapshots ADD COLUMN version INTEGER NOT NULL DEFAULT 1; -- of the events' format
    ALTER TABLE snapshots ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;   -- of the last frame in it
    ALTER TABLE snapshots ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0; -- of the row
",
    // Who changed what, in two tables: slots and outcomes are many and go with the journal, all else stays.
    "
    CREATE TABLE audit_changes (
        sequence INTEGER PRIMARY KEY,  -- of the first event of the frame
        at       INTEGER NOT NULL,     -- milliseconds since 1970
        actor    TEXT NOT NULL,        -- who
        address  TEXT NOT NULL,        -- from where; empty: from this machine
        request  TEXT NOT NULL,        -- the id of the request
        action   TEXT NOT NULL,        -- what
        target   TEXT NOT NULL,        -- to which port, job or key
        servers  TEXT NOT NULL,        -- the servers that it is about, a JSON list
        checksum INTEGER NOT NULL      -- of the row
    );
    CREATE INDEX audit_changes_at ON audit_changes (at);
    CREATE TABLE audit_routine (
        sequence INTEGER PRIMARY KEY,
        at       INTEGER NOT NULL,
        actor    TEXT NOT NULL,
        address  TEXT NOT NULL,
        request  TEXT NOT NULL,
        action   TEXT NOT NULL,
        target   TEXT NOT NULL,
        servers  TEXT NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE INDEX audit_routine_at ON audit_routine (at);
",
];

/// The version in which rows and notes got checksums.
const WITH_SUMS: usize = 2;

/// The version that this program writes. It reads this one and all before.
pub const SCHEMA_VERSION: u32 = STEPS.len() as u32;

/// Brings a database to the present version, in one transaction for each step.
pub(super) fn migrate(connection: &Connection) -> Result<(), StorageError> {
    let found = version(connection)?;
    if found > SCHEMA_VERSION {
        return Err(StorageError::Version { found, latest: SCHEMA_VERSION });
    }
    for (from, step) in STEPS.iter().enumerate().skip(found as usize) {
        let next = from + 1;
        let run = || {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {step} PRAGMA user_version = {next};"))?;
            if next == WITH_SUMS {
                super::sums::fill(connection)?;
            }
            connection.execute_batch("COMMIT")
        };
        run()
            .inspect_err(|_| drop(connection.execute_batch("ROLLBACK")))
            .map_err(|error| super::faults::told(&error))?;
    }
    Ok(())
}

/// The version of a database; 0 for an empty one.
pub(super) fn version(connection: &Connection) -> Result<u32, StorageError> {
    // A damaged header may say a negative one, which is as unknown as a large one.
    let read = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    read.map(|version| version as u32).map_err(|error| super::faults::told(&error))
}
