//! One process at a time.

use super::StorageError;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// Held while a process uses a data directory. The system gives it back when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct DataLock {
    file: File,
    killed: bool,
}

/// What is in the file while a process runs.
const RUNS: &[u8] = b"running\n";

impl DataLock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// When another process has it, or the directory cannot be written.
    pub fn take(directory: &Path) -> Result<Self, StorageError> {
        let path = directory.join("lock");
        let failed = |error: std::io::Error| StorageError::Failed(format!("{}: {error}", path.display()));
        let mut file =
            crate::private::options().read(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                let mut before = Vec::new();
                let killed = file.read_to_end(&mut before).is_ok() && before == RUNS;
                Ok(Self { file, killed })
            }
            Err(TryLockError::WouldBlock) => Err(StorageError::Locked(directory.display().to_string())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Notes that a service runs; whether the one before it did not come to its end.
    pub fn begin(&self) -> bool {
        let mut file = &self.file;
        // Only people hear of it: a disk that is full has told them more.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(RUNS));
        self.killed
    }

    /// Notes that the service has come to its end.
    pub fn finished(&self) {
        let _ = self.file.set_len(0);
    }
}
