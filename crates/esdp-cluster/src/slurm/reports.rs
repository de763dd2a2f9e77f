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
//! lines after the first `end` are ignored.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment's name for the directory of reports.
pub const DIRECTORY: &str = "ESDP_REPORTS";

/// By how many seconds the clocks of nodes may differ.
const SKEW: f64 = 30.0;

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

/// Appends a line to the file of a job on a node, with the time of now.
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
    let mut file = OpenOptions::new().create(true).append(true).open(file(directory, job, node))?;
    // One call, so that no reader sees half of a line from a local disk.
    file.write_all(text.as_bytes())
}

/// What a job's node has reported; none before it has told its end, or if what it told cannot be used. What
/// began before the job was submitted is from another job of the same number.
pub fn read(directory: &Path, job: &str, node: &str, submitted: u64) -> Option<NodeReport> {
    let report = parse(&std::fs::read_to_string(file(directory, job, node)).ok()?)?;
    Some(report).filter(|report| report.started + SKEW >= submitted as f64)
}

fn parse(text: &str) -> Option<NodeReport> {
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
        let read = || read(directory.path(), "17", "n3", 1_000_000_000);
        assert_eq!(read(), None);
        write(directory.path(), "17", "n3", Line::Start).unwrap();
        assert_eq!(read(), None);
        write(directory.path(), "17", "n3", Line::End(1000.0)).unwrap();
        let report = read().unwrap();
        assert_eq!(super::read(directory.path(), "17", "n3", 4_000_000_000), None, "of a job before it");
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
