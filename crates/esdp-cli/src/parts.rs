//! One file from many threads: parts that grow side by side and are joined in a fixed order.
//!
//! Each (seed, policy) pair streams into a file of its own, so that threads do not wait for each
//! other and memory stays flat. At the end the files of complete seeds are joined.

use crate::files::{self, Growing};
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The growing parts of a file. Removed when it is dropped, whatever happened.
pub(crate) struct Parts {
    target: PathBuf,
    directory: PathBuf,
    /// Held as long as they grow.
    _lock: File,
}

impl Parts {
    /// Parts of a file, in a directory beside it.
    pub(crate) fn new(target: PathBuf) -> anyhow::Result<Self> {
        let (directory, lock) = files::directory_beside(&target)?;
        Ok(Self { target, directory, _lock: lock })
    }

    /// The file that they become.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    fn part(&self, seed: u64, policy: usize) -> PathBuf {
        self.directory.join(format!("{seed}-{policy}"))
    }

    /// Opens the part of a seed and a policy, by its position.
    pub(crate) fn create(&self, seed: u64, policy: usize) -> anyhow::Result<BufWriter<File>> {
        let path = self.part(seed, policy);
        Ok(BufWriter::new(File::create(&path).with_context(|| files::cannot(&path))?))
    }

    /// Joins the parts of complete seeds, seed by seed, policy by policy, under a header.
    pub(crate) fn join(&self, header: &str, seeds: &[u64], policies: usize) -> anyhow::Result<()> {
        let append = |all: &Growing| -> io::Result<()> {
            let mut all = BufWriter::new(all.handle()?);
            all.write_all(header.as_bytes())?;
            for &seed in seeds {
                for policy in 0..policies {
                    let part = self.part(seed, policy);
                    io::copy(&mut BufReader::new(File::open(&part)?), &mut all)?;
                    // Not needed any more, and a long run needs the room.
                    std::fs::remove_file(&part)?;
                }
            }
            all.flush()
        };
        let join = || {
            let all = Growing::create(&self.target)?;
            let written = append(&all);
            all.finish(written)
        };
        join().with_context(|| files::cannot(&self.target))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // Nothing of value is in there, and there is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
