//! How far the journal has come, in a file beside the database.
//!
//! SQLite takes a log as far as it can be read: where its tail is lost or damaged, what was acknowledged is
//! gone without a word. So the last event of every commit is written here, after the commit's fsync and
//! before the answers: one write of a fixed size at the same place, without an fsync of its own. After a
//! power cut the file may be older than the database, which says nothing; it is never newer, but where a tail
//! was lost.
//!
//! ```text
//! esdp watermark 1 epoch 00000000 event 00000000000000000600 chain 0123456789abcdef sum 0123456789abcdef
//! ```

use super::StorageError;
use esdp::model::Fnv;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file in a data directory.
pub(super) const FILE: &str = "watermark";

/// The last event of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Mark {
    /// Who leads; 0 while there is one.
    pub(super) epoch: u64,
    /// The event.
    pub(super) event: u64,
    /// The chain of its frame.
    pub(super) chain: u64,
}

/// What is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing: the data is new, or a backup.
    Missing,
    /// Something that was not written like this.
    Damaged,
    /// A watermark.
    Mark(Mark),
}

impl Mark {
    fn text(self) -> String {
        let Self { epoch, event, chain } = self;
        let text = format!("esdp watermark 1 epoch {epoch:08} event {event:020} chain {chain:016x}");
        let sum = Fnv::of(text.as_bytes());
        format!("{text} sum {sum:016x}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let epoch = words.get(4)?.parse().ok()?;
        let event = words.get(6)?.parse().ok()?;
        let chain = u64::from_str_radix(words.get(8)?, 16).ok()?;
        // Nothing else is right but what would be written, to the letter.
        Some(Self { epoch, event, chain }).filter(|mark| mark.text() == text)
    }
}

/// Reads the file of a data directory.
pub(super) fn read(directory: &Path) -> Result<Found, StorageError> {
    let path = directory.join(FILE);
    let mut found = Found::Missing;
    // A service may be writing it just now.
    for _ in 0..3 {
        found = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(failed(&path, &error)),
            // Made, and not written before the power failed.
            Ok(bytes) if bytes.is_empty() => Found::Missing,
            Ok(bytes) => {
                let mark = str::from_utf8(&bytes).ok().and_then(Mark::parse);
                mark.map_or(Found::Damaged, Found::Mark)
            }
        };
        if found != Found::Damaged {
            break;
        }
    }
    Ok(found)
}

fn failed(path: &Path, error: &io::Error) -> StorageError {
    StorageError::Failed(format!("{}: {error}", path.display()))
}

/// The file while a service writes to it.
#[derive(Debug)]
pub(super) struct Watermark {
    path: PathBuf,
    /// Opened with the first write: before that the data may be refused, and is left as it is.
    file: Option<File>,
    /// Whether it could be written the last time.
    written: bool,
}

impl Watermark {
    pub(super) fn new(directory: &Path) -> Self {
        Self { path: directory.join(FILE), file: None, written: true }
    }

    /// Writes the mark of a commit that is on the disk. Where that fails, what was committed is as good as
    /// before; only the loss of a tail would not be noticed.
    pub(super) fn write(&mut self, mark: Mark) -> Result<(), StorageError> {
        let written = match self.put(mark.text().as_bytes()) {
            Ok(()) => true,
            Err(Put::Unsynced(error)) => return Err(StorageError::Unsynced(error)),
            Err(Put::Failed(error)) => {
                if self.written {
                    tracing::warn!(path = %self.path.display(), %error, "the watermark cannot be written");
                }
                false
            }
        };
        self.written = written;
        Ok(())
    }

    fn put(&mut self, text: &[u8]) -> Result<(), Put> {
        if let Some(file) = &self.file {
            return write_at_start(file, text).map_err(Put::Failed);
        }
        let file = crate::private::options().create(true).truncate(false).open(&self.path);
        let file = file.map_err(Put::Failed)?;
        file.set_len(text.len() as u64).and_then(|()| write_at_start(&file, text)).map_err(Put::Failed)?;
        // Once, so that the file is there after a power cut; later writes change it in place.
        let synced = file.sync_all().and_then(|()| sync_directory(self.path.parent()));
        synced.map_err(|error| Put::Unsynced(format!("{}: {error}", self.path.display())))?;
        self.file = Some(file);
        Ok(())
    }
}

/// Why it was not written.
enum Put {
    Failed(io::Error),
    Unsynced(String),
}

#[cfg(unix)]
fn write_at_start(file: &File, text: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, text, 0)
}

#[cfg(not(unix))]
fn write_at_start(mut file: &File, text: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(text))
}

/// Makes the names in a directory durable; one that may not be opened belongs to somebody else.
pub(super) fn sync_directory(directory: Option<&Path>) -> io::Result<()> {
    let Some(directory) = directory else { return Ok(()) };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    match File::open(directory) {
        Ok(directory) if cfg!(unix) => directory.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_what_was_written_or_nothing() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(read(data.path()).unwrap(), Found::Missing);
        let mut watermark = Watermark::new(data.path());
        let mark = Mark { epoch: 0, event: 600, chain: u64::MAX - 1 };
        for mark in [Mark { event: u64::MAX, ..mark }, mark] {
            watermark.write(mark).unwrap();
            assert_eq!(read(data.path()).unwrap(), Found::Mark(mark));
        }
        let path = data.path().join(FILE);
        let bytes = std::fs::read(&path).unwrap();
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, other).unwrap();
            assert_eq!(read(data.path()).unwrap(), Found::Damaged, "bit {bit}");
        }
        for length in 1..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(read(data.path()).unwrap(), Found::Damaged, "length {length}");
        }
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(data.path()).unwrap(), Found::Missing);
    }
}
