//! Who changed what, and from where: one row for each frame, written with it.
//!
//! Rows about slots and outcomes are as many as requests; they are dropped with their frames. All others, the
//! changes that somebody may be asked about months later, are kept up to a number.

use super::faults::told;
use super::{Sqlite, StorageError, sums};
use rusqlite::{Connection, Row, params};

/// The table of what is done all day, and that of all else.
const ROUTINE: &str = "audit_routine";
const CHANGES: &str = "audit_changes";
/// How many changes are kept.
const MOST_CHANGES: u32 = 100_000;
/// How many rows a question looks at: a service that was asked for a server of which nothing is there must
/// not be busy with it for long.
const MOST_READ: usize = 50_000;
const COLUMNS: &str = "sequence, at, actor, address, request, action, target, servers, checksum";

/// Who changed what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditRow {
    /// The first event of the frame.
    pub sequence: u64,
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// Who.
    pub actor: String,
    /// From where; empty for this machine.
    pub address: String,
    /// The id of the request.
    pub request: String,
    /// What was done.
    pub action: String,
    /// To which port, job or key; empty if to none.
    pub target: String,
    /// The servers that it is about.
    pub servers: Vec<String>,
    /// Whether it is done all day: a slot or an outcome.
    pub routine: bool,
    /// Whether the row is not what was written.
    pub damaged: bool,
}

/// Which changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// Not before, in milliseconds since 1970.
    pub since: u64,
    /// Not after.
    pub until: u64,
    /// Of this server only.
    pub server: Option<String>,
    /// By this actor only.
    pub actor: Option<String>,
    /// At most so many.
    pub limit: usize,
    /// Those after this one: its time and event.
    pub after: Option<(u64, u64)>,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self { since: 0, until: u64::MAX, server: None, actor: None, limit: 100, after: None }
    }
}

impl AuditQuery {
    fn fits(&self, row: &AuditRow) -> bool {
        self.server.as_ref().is_none_or(|server| row.servers.contains(server))
            && self.actor.as_ref().is_none_or(|actor| row.actor == *actor)
    }
}

/// Changes, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditPage {
    /// The changes.
    pub rows: Vec<AuditRow>,
    /// Where the next page begins, if there may be more.
    pub next: Option<(u64, u64)>,
}

/// A row as it is kept, and whether it is what was written.
fn read(row: &Row<'_>, routine: bool) -> rusqlite::Result<AuditRow> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    // What cannot be read is shown as damaged: one row must not hide the others.
    let text = |at| row.get::<_, String>(at).unwrap_or_default();
    let servers = text(7);
    let sum = number(8).unwrap_or(0);
    let mut found = AuditRow {
        sequence: number(0)?,
        at: number(1)?,
        actor: text(2),
        address: text(3),
        request: text(4),
        action: text(5),
        target: text(6),
        servers: serde_json::from_str(&servers).unwrap_or_default(),
        routine,
        damaged: false,
    };
    found.damaged = sum != sums::of_audit(&found, &servers);
    Ok(found)
}

pub(super) fn insert(connection: &Connection, row: &AuditRow) -> rusqlite::Result<()> {
    let table = if row.routine { ROUTINE } else { CHANGES };
    let insert = format!("INSERT INTO {table} ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let servers = serde_json::to_string(&row.servers)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let sum = sums::of_audit(row, &servers).cast_signed();
    let AuditRow { sequence, at, actor, address, request, action, target, .. } = row;
    let (sequence, at) = (sequence.cast_signed(), at.cast_signed());
    let columns = params![sequence, at, actor, address, request, action, target, servers, sum];
    connection.prepare_cached(&insert)?.execute(columns).map(drop)
}

/// All rows up to an event that can be read.
pub(super) fn all(connection: &Connection, to: u64) -> Vec<AuditRow> {
    let rows = |table: &str, routine| -> rusqlite::Result<Vec<AuditRow>> {
        let query = format!("SELECT {COLUMNS} FROM {table} WHERE sequence <= ? ORDER BY sequence");
        let mut statement = connection.prepare(&query)?;
        let rows = statement.query_map([to.cast_signed()], |row| read(row, routine))?;
        Ok(rows.map_while(Result::ok).filter(|row| !row.damaged).collect())
    };
    let tables = [(CHANGES, false), (ROUTINE, true)];
    tables.iter().flat_map(|(table, routine)| rows(table, *routine).unwrap_or_default()).collect()
}

impl Sqlite {
    /// What is wrong with rows about who changed what; nothing depends on them.
    pub(super) fn audit_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (table, routine) in [(CHANGES, false), (ROUTINE, true)] {
            let count = || -> rusqlite::Result<usize> {
                let mut statement = self.connection.prepare(&format!("SELECT {COLUMNS} FROM {table}"))?;
                let rows = statement.query_map([], |row| read(row, routine))?;
                Ok(rows.filter(|row| row.as_ref().map_or(true, |row| row.damaged)).count())
            };
            match count() {
                Ok(0) => {}
                Ok(1) => faults.push("a record of who changed what is damaged".to_owned()),
                Ok(count) => faults.push(format!("{count} records of who changed what are damaged")),
                Err(error) => faults.push(format!("who changed what cannot be read: {error}")),
            }
        }
        faults
    }

    pub(super) fn read_audit(&self, query: &AuditQuery) -> Result<AuditPage, StorageError> {
        let sql = format!(
            "SELECT {COLUMNS}, 0 FROM {CHANGES} WHERE at BETWEEN ?1 AND ?2 AND (at, sequence) < (?3, ?4)
             UNION ALL
             SELECT {COLUMNS}, 1 FROM {ROUTINE} WHERE at BETWEEN ?1 AND ?2 AND (at, sequence) < (?3, ?4)
             ORDER BY at DESC, sequence DESC"
        );
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (at, sequence) = query.after.unwrap_or((u64::MAX, u64::MAX));
        let bounds = [number(query.since), number(query.until), number(at), number(sequence)];
        let mut page = AuditPage::default();
        let mut statement = self.connection.prepare_cached(&sql).map_err(|error| told(&error))?;
        let mut rows = statement.query(bounds).map_err(|error| told(&error))?;
        let mut looked = 0;
        while let Some(row) = rows.next().map_err(|error| told(&error))? {
            let routine = row.get::<_, bool>(9).map_err(|error| told(&error))?;
            let row = read(row, routine).map_err(|error| told(&error))?;
            looked += 1;
            let place = (row.at, row.sequence);
            if query.fits(&row) {
                page.rows.push(row);
            }
            if page.rows.len() >= query.limit || looked >= MOST_READ {
                page.next = Some(place);
                break;
            }
        }
        Ok(page)
    }

    /// Drops rows about slots and outcomes up to an event, and changes beyond those that are kept.
    pub(super) fn drop_audit(&self, to: i64, most: u32) -> rusqlite::Result<bool> {
        let routine = format!(
            "DELETE FROM {ROUTINE} WHERE sequence IN
                (SELECT sequence FROM {ROUTINE} WHERE sequence <= ?1 ORDER BY sequence LIMIT ?2)"
        );
        let routine = self.connection.prepare_cached(&routine)?.execute(params![to, most])?;
        let changes = format!(
            "DELETE FROM {CHANGES} WHERE sequence <=
                (SELECT sequence FROM {CHANGES} ORDER BY sequence DESC LIMIT 1 OFFSET {MOST_CHANGES})"
        );
        self.connection.prepare_cached(&changes)?.execute([])?;
        Ok(routine as u32 == most)
    }
}
