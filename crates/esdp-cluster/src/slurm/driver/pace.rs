//! When to look: once per slot, more often while jobs wait for nodes, and as soon as a job was submitted.
//!
//! Slurm tells nobody of new jobs. But `job_submit.lua` sees each of them, and appends a byte to a file, if
//! it was given one. The driver looks at that file's size every few milliseconds, which costs Slurm nothing.

use esdp_serve::engine::Client;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the file is looked at.
const GLANCE: Duration = Duration::from_millis(5);
/// While jobs wait for nodes to become free, of which nobody tells either, turns are so much more frequent.
const HURRY: u32 = 4;
/// A burst of jobs does not make more turns than this per slot.
const MOST_TURNS: u32 = 20;

#[derive(Debug)]
pub(super) struct Pace {
    slot: Duration,
    file: Option<PathBuf>,
    /// The file's size when the last turn began, and whether it had grown.
    size: u64,
    woken: bool,
    /// The highest number of a job that the last turn saw.
    newest: u64,
    /// Whether it saw none, though there must be one.
    missed: bool,
    began: Instant,
}

impl Pace {
    /// With a file that is made if there is none, empty, and given to the user who runs the controller.
    pub(super) fn new(slot: Duration, file: Option<&Path>, owner: Option<u32>) -> io::Result<Self> {
        if let Some(path) = file {
            // Its size is all that counts, and starts again with the driver.
            std::fs::File::options().create(true).write(true).truncate(true).open(path)?;
            if let Some(owner) = owner.filter(|_| rustix::process::geteuid().is_root()) {
                std::os::unix::fs::chown(path, Some(owner), None)?;
            }
        }
        Ok(Self {
            slot,
            file: file.map(Path::to_owned),
            size: 0,
            woken: false,
            newest: 0,
            missed: false,
            began: Instant::now(),
        })
    }

    /// A turn begins: what is submitted from now on asks for another.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
        let size = self.measure();
        self.woken = size != self.size;
        self.size = size;
    }

    /// A turn has seen jobs up to this number. The script is run a moment before the job is there, so a turn
    /// may come too early; once more is enough, because a job may also be refused after the script saw it.
    pub(super) fn saw(&mut self, newest: u64) {
        self.missed = self.woken && newest == self.newest && !self.missed;
        self.newest = newest;
    }

    /// Waits until the next turn is due, or the service is told to stop. `queued`: jobs wait for nodes.
    pub(super) fn wait(&self, client: &Client, queued: bool) {
        let due = self.began + if queued { self.slot / HURRY } else { self.slot };
        if self.file.is_none() {
            return client.pause_until(due);
        }
        client.pause_until(self.began + self.slot / MOST_TURNS);
        while !client.is_stopped() && !self.missed && Instant::now() < due && self.measure() == self.size {
            client.pause_until(due.min(Instant::now() + GLANCE));
        }
    }

    fn measure(&self) -> u64 {
        // If it was removed, slots go on by the clock.
        self.file.as_ref().and_then(|path| path.metadata().ok()).map_or(self.size, |file| file.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_was_submitted_asks_for_a_turn() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("wake");
        let mut pace = Pace::new(Duration::from_secs(1000), Some(&file), None).unwrap();
        let submit = || std::fs::write(&file, ".".repeat(pace_size(&file) + 1)).unwrap();
        pace.begin();
        pace.saw(0);
        assert!(!pace.woken && !pace.missed);
        submit();
        assert_ne!(pace.measure(), pace.size, "the wait ends");
        pace.begin();
        pace.saw(7);
        assert!(pace.woken && !pace.missed, "job 7 was seen");
        submit();
        pace.begin();
        pace.saw(7);
        assert!(pace.missed, "there must be another one");
        pace.begin();
        pace.saw(7);
        assert!(!pace.missed, "it was refused");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(pace.measure(), pace.size, "by the clock");
    }

    fn pace_size(file: &Path) -> usize {
        file.metadata().unwrap().len() as usize
    }
}
