//! The driver's ledger: a line for everything that became of a job, appended and never changed.
//!
//! ```text
//! time,job,number,event,nodes,detail
//! 1794887240.120,17@1794887227,17,decided,n1+n2,t5
//! 1794887241.034,17@1794887227,17,running,n1+n2,
//! 1794887249.071,17@1794887227,17,ended,n1+n2,COMPLETED
//! 1794887249.090,17@1794887227,17,learned,n1+n2,2 of 2
//! ```
//!
//! `ended` is there once for every job of the partition, with the nodes and the state that Slurm's own
//! records have, so that both can be compared line by line. The ledger is also what the driver remembers of
//! finished jobs after a restart.

use super::job::SlurmJob;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first line.
pub const HEADER: &str = "time,job,number,event,nodes,detail";

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LedgerEvent {
    /// The core has decided where it runs.
    Decided,
    /// It runs on exactly the nodes decided.
    Running,
    /// It was taken back: it did not start in time, or Slurm refused the nodes.
    Retracted,
    /// It runs or waits elsewhere, as its owner or an operator wants; it is not ours any more.
    Left,
    /// It is over.
    Ended,
    /// What it told about speeds was learned, or told nothing.
    Learned,
    /// Slurm does not know it any more, and nobody has seen its end.
    Gone,
}

impl LedgerEvent {
    const ALL: [Self; 7] =
        [Self::Decided, Self::Running, Self::Retracted, Self::Left, Self::Ended, Self::Learned, Self::Gone];

    fn word(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Running => "running",
            Self::Retracted => "retracted",
            Self::Left => "left",
            Self::Ended => "ended",
            Self::Learned => "learned",
            Self::Gone => "gone",
        }
    }

    /// Whether it is said of a job once at most.
    fn is_once(self) -> bool {
        !matches!(self, Self::Decided | Self::Retracted)
    }
}

/// The file, and what it says once of a job.
#[derive(Debug)]
pub struct JobLedger {
    file: File,
    said: HashSet<(LedgerEvent, String)>,
}

impl JobLedger {
    /// Opens the file and reads what it says.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        // It tells of the jobs of all users.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let (mut said, mut empty, mut whole) = (HashSet::new(), true, true);
        let mut reader = BufReader::new(&file);
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 {
            (empty, whole) = (false, line.ends_with('\n'));
            let fields: Vec<&str> = line.split(',').collect();
            let entry = fields
                .get(3)
                .and_then(|word| LedgerEvent::ALL.into_iter().find(|entry| entry.word() == *word));
            if let (Some(entry), Some(job), true) =
                (entry.filter(|entry| entry.is_once()), fields.get(1), whole)
            {
                said.insert((entry, (*job).to_owned()));
            }
            line.clear();
        }
        if empty {
            writeln!(file, "{HEADER}")?;
        } else if !whole {
            // The machine went down in the middle of a line; it was not acted upon.
            writeln!(file)?;
        }
        Ok(Self { file, said })
    }

    /// Appends a line; one that is said once is not said again. Whether it is news.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &mut self,
        job: &SlurmJob,
        entry: LedgerEvent,
        nodes: &[String],
        detail: &str,
    ) -> io::Result<bool> {
        let key = job.key();
        if entry.is_once() && !self.said.insert((entry, key.clone())) {
            return Ok(false);
        }
        let mut nodes = nodes.to_vec();
        nodes.sort();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let detail: String =
            detail.chars().map(|c| if c == ',' || c.is_control() { ' ' } else { c }).collect();
        let (time, word, nodes) = (now.as_secs_f64(), entry.word(), nodes.join("+"));
        let line = format!("{time:.3},{key},{},{word},{nodes},{detail}\n", job.number);
        self.file.write_all(line.as_bytes())?;
        Ok(true)
    }

    /// Whether it was said of a job.
    pub fn says(&self, entry: LedgerEvent, job: &str) -> bool {
        // A tuple of references cannot be looked up in a set of owned ones.
        self.said.contains(&(entry, job.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_once_is_said_once_after_a_restart_too() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.csv");
        let job = SlurmJob { id: "17".to_owned(), number: 17, submitted: 5, ..SlurmJob::default() };
        let nodes = ["n2".to_owned(), "n1".to_owned()];
        let mut ledger = JobLedger::open(&path).unwrap();
        assert!(ledger.write(&job, LedgerEvent::Decided, &nodes, "t1").unwrap());
        assert!(ledger.write(&job, LedgerEvent::Ended, &nodes, "COMPLETED, well").unwrap());
        drop(ledger);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"1.0,17@5,17,lear").unwrap();
        let mut ledger = JobLedger::open(&path).unwrap();
        assert!(ledger.says(LedgerEvent::Ended, "17@5") && !ledger.says(LedgerEvent::Learned, "17@5"));
        assert!(!ledger.write(&job, LedgerEvent::Ended, &nodes, "COMPLETED").unwrap());
        assert!(ledger.write(&job, LedgerEvent::Decided, &nodes, "t2").unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (5, HEADER));
        assert!(lines[2].ends_with(",17@5,17,ended,n1+n2,COMPLETED  well"), "{text}");
        assert!(lines[4].ends_with(",17@5,17,decided,n1+n2,t2"), "{text}");
    }
}
