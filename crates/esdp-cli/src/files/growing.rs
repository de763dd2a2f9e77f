//! A result file while it grows.
//!
//! It grows beside its place and is renamed when it is whole, so that nobody ever sees half of it. Three
//! kinds of places are written through instead, as a rename would replace the very thing the user named:
//! standard output (`-`), other open descriptors, and whatever exists and is not a regular file, such as a
//! device or a fifo. A symbolic link stays: what it leads to is replaced.
//!
//! A file that grows is locked by its process, so one that a killed process left behind can be told from one
//! that is still written: [`tidy`] removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How names of files and directories end that grow beside their place.
const SUFFIX: &str = ".esdp-part";

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// A file that is being written. Dropped before [`finish`](Growing::finish), it leaves nothing behind.
pub(crate) struct Growing {
    file: File,
    place: Place,
}

enum Place {
    /// Standard output.
    Stdout,
    /// Something that is written as it is.
    Through,
    /// A file that grows beside its target.
    Beside { growing: PathBuf, target: PathBuf },
    /// One that is at its target.
    Done,
}

impl Growing {
    /// Opens what the path stands for.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if is_stdout(path) {
            return Ok(Self {
                file: io::stdout().as_fd().try_clone_to_owned()?.into(),
                place: Place::Stdout,
            });
        }
        let special = fs::metadata(path).is_ok_and(|there| !there.is_file());
        if special || is_descriptor(path) {
            return Ok(Self { file: OpenOptions::new().append(true).open(path)?, place: Place::Through });
        }
        let target = followed(path)?;
        let growing = beside(&target);
        let file = create_locked(&growing)?;
        Ok(Self { file, place: Place::Beside { growing, target } })
    }

    /// Another handle of the file, for writers that want one of their own.
    pub(crate) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Puts the file in its place, if all of it was written.
    pub(crate) fn finish(mut self, written: io::Result<()>) -> io::Result<()> {
        match &self.place {
            // A reader that has seen enough (`| head`) is no failure.
            Place::Stdout => written.or_else(|error| match error.kind() {
                ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            }),
            Place::Through | Place::Done => written,
            Place::Beside { growing, target } => {
                written.and_then(|()| self.file.sync_all()).and_then(|()| fs::rename(growing, target))?;
                self.place = Place::Done;
                Ok(())
            }
        }
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if let Place::Beside { growing, .. } = &self.place {
            // Whoever drops it has an error to tell; the rest is tidiness.
            let _ = fs::remove_file(growing);
        }
    }
}

/// Whether a path stands for standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Whether a path stands for a file that this process has open already.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// Where symbolic links lead in the end, be there a file or not.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        // What is no link is where the path leads.
        let Ok(link) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "too many symbolic links"))
}

/// Where something grows before it is renamed. The process is in the name: two of them may share a directory.
pub(super) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{SUFFIX}", std::process::id()))
}

/// Creates a file and locks it as long as it is open.
fn create_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = File::create(path)?;
        // Where the file system knows no locks, nobody else can lock it either.
        let _ = file.try_lock();
        // Another process may have found it before it was locked, and removed it.
        if path.exists() {
            return Ok(file);
        }
    }
}

/// Creates a directory and locks it as long as the handle is open.
pub(super) fn directory_locked(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path)?;
    let handle = File::open(path)?;
    let _ = handle.try_lock();
    Ok(handle)
}

/// Removes what killed processes have left growing in a directory.
pub(super) fn tidy(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(b".") || !name.as_encoded_bytes().ends_with(SUFFIX.as_bytes())
        {
            continue;
        }
        let path = entry.path();
        // A lock that cannot be had belongs to a process that lives.
        if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;

    fn put(path: &Path, text: &str) -> io::Result<()> {
        let mut growing = Growing::create(path)?;
        let written = growing.write_all(text.as_bytes());
        growing.finish(written)
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("far")).unwrap();
        symlink("far/real", at("inner")).unwrap();
        symlink(at("inner"), at("link")).unwrap();
        for text in ["made", "replaced"] {
            put(&at("link"), text).unwrap();
            assert_eq!(fs::read_to_string(at("far/real")).unwrap(), text);
            assert!(at("link").is_symlink() && at("inner").is_symlink());
        }
        symlink(at("loop"), at("loop")).unwrap();
        assert!(put(&at("loop"), "x").unwrap_err().to_string().contains("too many symbolic links"));
        assert_eq!(fs::read_dir(at("far")).unwrap().count(), 1);
    }

    #[test]
    fn a_fifo_is_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                let mut text = String::new();
                File::open(path).unwrap().read_to_string(&mut text).map(|_| text)
            }
        });
        put(&path, "through").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), "through");
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_device_stays_a_device() {
        put(Path::new("/dev/null"), "gone").unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        // Behind a link too.
        let dir = tempfile::tempdir().unwrap();
        symlink("/dev/full", dir.path().join("full")).unwrap();
        assert!(put(&dir.path().join("full"), "x").is_err());
        assert!(dir.path().join("full").is_symlink());
    }

    #[test]
    fn what_is_not_finished_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        put(&path, "old").unwrap();
        drop(Growing::create(&path).unwrap());
        let failed = Growing::create(&path).unwrap().finish(Err(io::Error::other("full")));
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_what_grows_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at(".a.csv.1.esdp-part"), "half").unwrap();
        fs::create_dir(at(".slots.csv.1.esdp-part")).unwrap();
        fs::write(at(".slots.csv.1.esdp-part/0-0"), "half").unwrap();
        fs::write(at(".b.csv.1.part"), "of another program").unwrap();
        let growing = Growing::create(&at("a.csv")).unwrap();
        let folder = beside(&at("slots.csv"));
        let handle = directory_locked(&folder).unwrap();
        tidy(dir.path());
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [beside(&at("a.csv")), at(".b.csv.1.part"), folder]);
        growing.finish(Ok(())).unwrap();
        drop(handle);
        tidy(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
