//! Speeds that jobs report themselves.
//!
//! Slurm's own times are whole seconds. So a job script calls, on each of its nodes,
//!
//! ```sh
//! esdp report start --dir SPOOL            # or ESDP_REPORTS=SPOOL
//! ...                                      # the work
//! esdp report end --work 1000 --dir SPOOL
//! ```
//!
//! which append one line each to a file of their own, `SPOOL/JOB.NODE.report`, the job and the node being
//! those of `SLURM_JOB_ID` and `SLURMD_NODENAME`:
//!
//! ```text
//! start 1794887000.123456789
//! end 1794887009.623456789 1000
//! ```
//!
//! Words are separated by one space, times are seconds since 1970 with nanoseconds, and the last word is the
//! work in any unit that is the same for all jobs of a type. A script may write the lines itself, with
//! `$EPOCHREALTIME` for example. A line without its newline is not yet written and is read later; further
//! lines after the first `end` are ignored. How they are read: [`spool`](super::spool).

use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment's name for the directory of reports.
pub const DIRECTORY: &str = "ESDP_REPORTS";

/// What a job's node has reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeReport {
    /// When it began, in seconds since 1970 by the node's clock.
    pub started: f64,
    /// The seconds it took.
    pub seconds: f64,
    /// The work done.
    pub work: f64,
}

/// A line to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Line {
    /// The work begins.
    Start,
    /// The work is done, and how much it was.
    End(f64),
}

/// The file of a job on a node.
pub fn file(directory: &Path, job: &str, node: &str) -> PathBuf {
    directory.join(format!("{job}.{node}.report"))
}

/// Appends a line to the file of a job on a node, with the time of now. Everybody may write to the directory:
/// a link is not followed, a pipe is not waited for, and a file of somebody else is left alone.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Path, job: &str, node: &str, line: Line) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = format!("{}.{:09}", now.as_secs(), now.subsec_nanos());
    let text = match line {
        Line::Start => format!("start {time}\n"),
        Line::End(work) => format!("end {time} {work}\n"),
    };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o644).custom_flags(flags);
    let mut file = options.open(file(directory, job, node))?;
    let state = file.metadata()?;
    if !state.is_file() || state.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is not a regular file of the job's user"));
    }
    // One call, so that no reader sees half of a line from a local disk.
    file.write_all(text.as_bytes())
}

/// What a file says; none before its `end`, or if that cannot be used.
pub(super) fn parse(text: &str) -> Option<NodeReport> {
    let whole = &text[..text.rfind('\n')? + 1];
    let mut started = None;
    for line in whole.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            // A job that was started again tells its start again.
            ["start", time] => started = time.parse::<f64>().ok(),
            ["end", time, work] => {
                let (time, work): (f64, f64) = (time.parse().ok()?, work.parse().ok()?);
                let started = started?;
                let seconds = time - started;
                let sound = seconds.is_finite() && seconds > 0.0 && work.is_finite() && work >= 0.0;
                return sound.then_some(NodeReport { started, seconds, work });
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let read = || parse(&std::fs::read_to_string(file(directory.path(), "17", "n3")).unwrap());
        write(directory.path(), "17", "n3", Line::Start).unwrap();
        assert_eq!(read(), None);
        write(directory.path(), "17", "n3", Line::End(1000.0)).unwrap();
        let report = read().unwrap();
        assert!(report.work == 1000.0 && report.seconds > 0.0 && report.seconds < 60.0, "{report:?}");
    }

    #[test]
    fn what_cannot_be_used_is_no_report() {
        assert_eq!(
            parse("start 10.5\nend 12.5 100\n"),
            Some(NodeReport { started: 10.5, seconds: 2.0, work: 100.0 })
        );
        assert_eq!(
            parse("start 1\nstart 10.5\nend 12.5 100\nend 99 1\n"),
            Some(NodeReport { started: 10.5, seconds: 2.0, work: 100.0 })
        );
        for text in [
            "",
            "start 10.5\nend 12.5 100",
            "end 12.5 100\n",
            "start 12\nend 11 5\n",
            "start 1\nend 2 NaN\n",
            "x\n",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
