//! What SQLite says and does not say of a database that is not as it should be.

use super::StorageError;
use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What SQLite says, in our terms.
pub(super) fn told(error: &rusqlite::Error) -> StorageError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied,
        ReadOnly, SystemIoFailure,
    };
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    let text = error.to_string();
    match error {
        rusqlite::Error::SqliteFailure(failure, _)
            if matches!(failure.extended_code, SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC) =>
        {
            return StorageError::Unsynced(text);
        }
        // Nobody has written such a row.
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | Utf8Error(..) => {
            return StorageError::Damaged(text);
        }
        _ => {}
    }
    match error.sqlite_error_code() {
        Some(
            DiskFull | SystemIoFailure | ReadOnly | PermissionDenied | DatabaseBusy | DatabaseLocked
            | CannotOpen,
        ) => StorageError::Unavailable(text),
        Some(DatabaseCorrupt | NotADatabase) => StorageError::Damaged(format!("esdp.db: {text}")),
        _ => StorageError::Failed(text),
    }
}

/// What SQLite does not look at or would mend without a word: a database that was cut to nothing loses its
/// log, and one whose header is damaged may be read and not written.
pub(super) fn check_file(path: &Path) -> Result<(), StorageError> {
    let damaged = |why: &str| Err(StorageError::Damaged(format!("{}: {why}", path.display())));
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    let mut head = [0; 20];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    match read {
        Ok(()) if head[18] > 2 || head[19] > 2 => damaged("its header has an unknown version"),
        Ok(()) => Ok(()),
        Err(_) if length(path) > 0 => damaged("it is cut"),
        Err(_) if length(&log_of(path)) > 0 => damaged("it is missing or empty, and its log is not"),
        Err(_) => Ok(()),
    }
}

pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    PathBuf::from(log)
}
