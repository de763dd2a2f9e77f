//! Why a trace cannot be read.

use crate::ledger::{Place, Reason};
use std::io;
use thiserror::Error;

/// Why reading stopped. All are fatal; whoever knows the file's name puts it in front.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The input could not be read, or is a truncated gzip file.
    // Not a field called `source`: whoever prints the chain of causes would say it twice.
    #[error("line {line}: cannot be read: {cause}")]
    Read {
        /// The line that was being read, from 1.
        line: u64,
        /// What the system, or the decompressor, says.
        cause: io::Error,
    },
    /// A dirty row, where none is tolerated.
    #[error("{place}: {}, expected {}", .reason.words(), .reason.accepted())]
    Dirty {
        /// What is wrong.
        reason: Reason,
        /// Where, and what stands there.
        place: Place,
    },
    /// A header lacks a column.
    #[error("line {line}, column {column}: the header has no column `{missing}`, expected {expected}")]
    Header {
        /// The line of the header.
        line: u64,
        /// Where it ends.
        column: u64,
        /// The column.
        missing: &'static str,
        /// The columns the format has.
        expected: String,
    },
    /// The text is no JSON of the kind that was expected.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// The first lines look like no known format.
    #[error(
        "line 1, column 1: the format is not recognised (it starts with `{start}`), name one of: {accepted}"
    )]
    Unknown {
        /// How it starts.
        start: String,
        /// The formats there are.
        accepted: String,
    },
    /// The first line names columns, and no known format has them.
    #[error(
        "line 1, column 1: no known format has the columns `{header}`; if it is one all the same, name it: \
         {accepted}"
    )]
    UnknownHeader {
        /// The header.
        header: String,
        /// The formats there are.
        accepted: String,
    },
    /// Slurm's accounting as it is printed for people.
    #[error("line 1, column 1: this looks like `sacct` without --parsable2, which cuts fields off: add -P")]
    AlignedAccounting,
    /// There is nothing in it.
    #[error("line 1, column 1: it is empty, expected a trace")]
    Empty,
    /// More of something than is kept in memory.
    #[error("more than {most} {what}, which is more than is held in memory")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are accepted.
        most: u64,
    },
}
