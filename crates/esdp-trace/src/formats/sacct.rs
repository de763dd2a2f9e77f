//! Slurm accounting: `sacct --parsable2`, whose header names the columns.
//!
//! A job asks for `ReqTRES`, and for `AllocTRES` where that says nothing of a device, in total over its
//! nodes; without either, for `ReqCPUS` or `AllocCPUS`. GPUs by type are added up where the total is missing.
//! A job on several nodes (`NodeList`, `NNodes` or `node=`) is a task of as many instances, each with its
//! share. It arrives at `Submit` and lasts `Elapsed`, or from `Start` to `End`. Times have no zone: they are
//! read as they stand, in seconds since 1970.
//!
//! Where there is a `State`, jobs that wait or were cancelled before they ran are set aside, as are steps
//! (`123.batch`, `123.0`) and arrays that wait (`7_[1-1000]`); how long a running job will take is not known;
//! and those that failed, were cancelled or ran out of time are kept, since they held their devices, and
//! counted.

use crate::event::{CPU, GPU, MEMORY, Sink, Task};
use crate::hostlist;
use crate::ledger::{Ledger, Reason};
use crate::number;
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Accounting {
    order: Order,
}

const JOB: usize = 0;
const SUBMIT: usize = 1;
const ELAPSED: usize = 2;
const START: usize = 3;
const END: usize = 4;
const REQUESTED: usize = 5;
const ALLOCATED: usize = 6;
const CPUS: [usize; 3] = [7, 8, 9];
const PARTITION: usize = 10;
const STATE: usize = 11;
const NODES: usize = 12;
const NODE_COUNTS: [usize; 2] = [13, 14];
const NAME: usize = 15;
const USER: usize = 16;

impl Rows for Accounting {
    const COLUMNS: &'static [&'static str] = &[
        "JobID",
        "Submit",
        "Elapsed",
        "Start",
        "End",
        "ReqTRES",
        "AllocTRES",
        "ReqCPUS",
        "AllocCPUS",
        "NCPUS",
        "Partition",
        "State",
        "NodeList",
        "NNodes",
        "AllocNodes",
        "JobName",
        "User",
    ];
    const REQUIRED: usize = 2;
    const SEPARATOR: u8 = b'|';

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, kind) = (row.text(JOB)?, row.text(PARTITION)?);
        if job.contains('.') {
            row.fault(ledger, Reason::JobStep, JOB)?;
            return Ok(());
        }
        if job.is_empty() {
            row.fault(ledger, Reason::NoJob, JOB)?;
            return Ok(());
        }
        let state = State::of(row);
        if state == State::Waiting || job.ends_with(']') {
            row.fault(ledger, Reason::NeverRan, STATE)?;
            return Ok(());
        }
        let duration = match state {
            State::Running => {
                row.fault(ledger, Reason::NoEnd, STATE)?;
                None
            }
            _ => self.duration(row, ledger)?,
        };
        if state == State::Stopped {
            row.fault(ledger, Reason::NotCompleted, STATE)?;
        }
        let nodes = Some(row.text(NODES)?).filter(|nodes| *nodes != "None assigned").unwrap_or_default();
        let (mut request, told) = request(row)?;
        let count = match hostlist::count(nodes) {
            0 => NODE_COUNTS.iter().find_map(|column| row.optional(*column).ok().flatten()).unwrap_or(told),
            nodes => nodes as f64,
        };
        let count = count.clamp(1.0, hostlist::MOST_NODES as f64).floor();
        request.iter_mut().for_each(|(_, amount)| *amount /= count);
        let Some(arrival) = moment(row.bytes(SUBMIT)) else {
            return Err(Stop::Skip(Reason::NoArrival, row.column(SUBMIT), row.bytes(SUBMIT).to_vec()));
        };
        self.order.check(row, ledger, SUBMIT, arrival, Reason::Unsorted)?;
        sink.task(&Task {
            job,
            arrival,
            duration,
            count: count as u64,
            request: &request,
            kind,
            user: row.text(USER)?,
            label: row.text(NAME)?,
            start: moment(row.bytes(START)).filter(|start| *start >= arrival),
            nodes,
            stopped: state == State::Stopped,
            ..Task::default()
        });
        Ok(())
    }
}

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has not run, and perhaps never will.
    Waiting,
    /// It runs.
    Running,
    /// It ran to its end, or nobody says otherwise.
    Completed,
    /// It ran, and something ended it.
    Stopped,
}

impl State {
    fn of(row: &Row<'_>) -> Self {
        // `CANCELLED by 1000`, `RUNNING+`.
        let mut words = row.bytes(STATE).split(|byte| !byte.is_ascii_alphabetic() && *byte != b'_');
        match words.next().unwrap_or_default().to_ascii_uppercase().as_slice() {
            b"PENDING" | b"REQUEUED" | b"REQUEUE_HOLD" | b"CONFIGURING" => Self::Waiting,
            b"RUNNING" | b"SUSPENDED" | b"COMPLETING" | b"RESIZING" | b"STAGE_OUT" => Self::Running,
            b"" | b"COMPLETED" => Self::Completed,
            _ if never_started(row) => Self::Waiting,
            _ => Self::Stopped,
        }
    }
}

/// Whether a job that is over was never started.
fn never_started(row: &Row<'_>) -> bool {
    let none = |column: usize| matches!(row.bytes(column), b"Unknown" | b"None");
    let nothing = span(row.bytes(ELAPSED)).is_some_and(|seconds| seconds == 0.0);
    if row.bytes(START).is_empty() { nothing } else { none(START) }
}

impl Accounting {
    fn duration(&self, row: &Row<'_>, ledger: &mut Ledger) -> Result<Option<f64>, Stop> {
        let elapsed = row.bytes(ELAPSED);
        let seconds = if elapsed.is_empty() {
            moment(row.bytes(START)).zip(moment(row.bytes(END))).map(|(start, end)| end - start)
        } else {
            let seconds = span(elapsed);
            if seconds.is_none() {
                return Err(Stop::Skip(Reason::NoNumber, row.column(ELAPSED), elapsed.to_vec()));
            }
            seconds
        };
        Ok(match seconds {
            Some(seconds) if seconds > 0.0 => Some(seconds),
            Some(seconds) if seconds < 0.0 => {
                row.fault(ledger, Reason::NegativeDuration, END)?;
                None
            }
            Some(_) => {
                row.fault(ledger, Reason::ZeroDuration, ELAPSED)?;
                Some(0.5)
            }
            None => {
                row.fault(ledger, Reason::NoEnd, END)?;
                None
            }
        })
    }
}

/// Cores, GiB and GPUs.
type Request = [(&'static str, f64); 3];

/// What a job asks for, in cores, GiB and GPUs; and on how many nodes, or 0.
fn request(row: &Row<'_>) -> Result<(Request, f64), Stop> {
    let (requested, allocated) = (resources(row, REQUESTED)?, resources(row, ALLOCATED)?);
    let amount = |device: usize| if requested[device] > 0.0 { requested[device] } else { allocated[device] };
    let mut amounts = [(CPU, amount(0)), (MEMORY, amount(1)), (GPU, amount(2))];
    for column in CPUS {
        if amounts[0].1 == 0.0 {
            amounts[0].1 = row.optional(column)?.unwrap_or(0.0).max(0.0);
        }
    }
    if amounts.iter().all(|(_, amount)| *amount == 0.0) {
        return Err(Stop::Skip(Reason::NoRequest, row.column(REQUESTED), row.bytes(REQUESTED).to_vec()));
    }
    Ok((amounts, amount(3)))
}

/// `cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=1`: cores, GiB, GPUs and nodes.
fn resources(row: &Row<'_>, column: usize) -> Result<[f64; 4], Stop> {
    let text = row.bytes(column);
    let bad = || Stop::Skip(Reason::NoNumber, row.column(column), text.to_vec());
    let (mut amounts, mut typed) = ([0.0; 4], 0.0);
    for part in text.split(|&byte| byte == b',').filter(|part| !part.is_empty()) {
        let equals = memchr::memchr(b'=', part).ok_or_else(bad)?;
        let (name, value) = (&part[..equals], &part[equals + 1..]);
        let amount = match name {
            b"cpu" => &mut amounts[0],
            b"mem" => &mut amounts[1],
            b"gres/gpu" => &mut amounts[2],
            b"node" => &mut amounts[3],
            _ if name.starts_with(b"gres/gpu:") => &mut typed,
            _ => continue,
        };
        let value = if name == b"mem" { gibibytes(value) } else { number::parse(value) };
        *amount += value.filter(|value| (0.0..=number::LARGEST).contains(value)).ok_or_else(bad)?;
    }
    // `gres/gpu:a100` repeats a part of `gres/gpu`, if that is there.
    amounts[2] = f64::max(amounts[2], typed);
    Ok(amounts)
}

/// `16G`, `4096M`, `1.5T`; without a letter, MiB.
pub(super) fn gibibytes(text: &[u8]) -> Option<f64> {
    let (digits, scale) = match text {
        [digits @ .., b'K'] => (digits, 1.0 / 1_048_576.0),
        [digits @ .., b'M'] => (digits, 1.0 / 1024.0),
        [digits @ .., b'G'] => (digits, 1.0),
        [digits @ .., b'T'] => (digits, 1024.0),
        [digits @ .., b'P'] => (digits, 1_048_576.0),
        digits => (digits, 1.0 / 1024.0),
    };
    number::parse(digits).map(|value| value * scale)
}

/// `1-02:03:04`, `02:03:04`, `03:04` or `03:04.567`, in seconds.
pub(super) fn span(text: &[u8]) -> Option<f64> {
    let (days, clock) = match memchr::memchr(b'-', text) {
        Some(at) => (number::parse(&text[..at])?, &text[at + 1..]),
        None => (0.0, text),
    };
    let mut parts =
        clock.split(|&byte| byte == b':').map(|part| number::parse(part).filter(|part| *part >= 0.0));
    let (first, second, third) = (parts.next()??, parts.next()??, parts.next());
    if parts.next().is_some() || days < 0.0 {
        return None;
    }
    let (hours, minutes, seconds) = match third {
        Some(third) => (first, second, third?),
        None => (0.0, first, second),
    };
    let total = days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds;
    (total <= number::LARGEST).then_some(total)
}

/// `2024-01-02T03:04:05`, or with a blank, or with a fraction, in seconds since 1970.
pub(super) fn moment(text: &[u8]) -> Option<f64> {
    if text.len() < 19
        || text.len() > 30
        || text[4] != b'-'
        || text[7] != b'-'
        || !matches!(text[10], b'T' | b' ')
    {
        return None;
    }
    let whole = |bytes: &[u8]| {
        let digits = bytes.iter().all(u8::is_ascii_digit);
        digits.then(|| bytes.iter().fold(0i64, |sum, byte| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (whole(&text[..4])?, whole(&text[5..7])?, whole(&text[8..10])?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !(1..=longest[month as usize - 1]).contains(&day) {
        return None;
    }
    // Days from the civil calendar, with years that start in March (H. Hinnant's formula).
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (y.div_euclid(400), y.rem_euclid(400));
    let of_year = (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(days as f64 * 86_400.0 + span(&text[11..]).filter(|clock| *clock < 86_401.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        assert_eq!(span(b"1-02:03:04"), Some(93_784.0));
        assert_eq!(span(b"00:00:07"), Some(7.0));
        assert_eq!(span(b"03:04.5"), Some(184.5));
        for bad in ["", "7", "x:1", "1:2:3:4", "-1:00:00", "1-", "INVALID", "UNLIMITED"] {
            assert_eq!(span(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn moments() {
        assert_eq!(moment(b"1970-01-01T00:00:00"), Some(0.0));
        assert_eq!(moment(b"2000-03-01T00:00:00"), Some(951_868_800.0));
        assert_eq!(moment(b"2023-05-29 06:00:46.920"), Some(1_685_340_046.92));
        assert_eq!(moment(b"2024-02-29T00:00:00"), Some(1_709_164_800.0));
        for bad in ["2024-02-31T00:00:00", "2023-02-29T00:00:00", "2024-04-31T00:00:00"] {
            assert_eq!(moment(bad.as_bytes()), None, "{bad}");
        }
        for bad in
            ["Unknown", "None", "2024-13-01T00:00:00", "2024-01-01X00:00:00", "2024-01-01T99:00:00", "1-2"]
        {
            assert_eq!(moment(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(gibibytes(b"16G"), Some(16.0));
        assert_eq!(gibibytes(b"512M"), Some(0.5));
        assert_eq!(gibibytes(b"2048"), Some(2.0));
        assert_eq!(gibibytes(b"G"), None);
    }
}
