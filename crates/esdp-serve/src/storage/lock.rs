//! One process at a time.

use super::StorageError;
use std::fs::{File, TryLockError};
use std::path::Path;

/// Held while a process uses a data directory. The system gives it back when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataLock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// When another process has it, or the directory cannot be written.
    pub fn take(directory: &Path) -> Result<Self, StorageError> {
        let path = directory.join("lock");
        let failed = |error: std::io::Error| StorageError::Failed(format!("{}: {error}", path.display()));
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StorageError::Locked(directory.display().to_string())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}
