//! Slurm accounting: `sacct --parsable2`, whose header names the columns.
//!
//! A job asks for `ReqTRES`, or for `AllocTRES` where that is empty, in total over its nodes; without either,
//! for `ReqCPUS` or `AllocCPUS`. It arrives at `Submit` and lasts `Elapsed`, or from `Start` to `End`. Times
//! have no zone: they are read as they stand, in seconds since 1970. Steps (`123.batch`, `123.0`) are set aside.

use crate::event::{CPU, GPU, MEMORY, Sink, Task};
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
        let duration = self.duration(row, ledger)?;
        let request = request(row)?;
        let Some(arrival) = moment(row.bytes(SUBMIT)) else {
            return Err(Stop::Skip(Reason::NoArrival, row.column(SUBMIT), row.bytes(SUBMIT).to_vec()));
        };
        self.order.check(row, ledger, SUBMIT, arrival, Reason::Unsorted)?;
        sink.task(&Task { job, name: "", arrival, duration, count: 1, request: &request, kind });
        Ok(())
    }
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

/// What a job asks for, in cores, GiB and GPUs.
fn request<'a>(row: &Row<'_>) -> Result<[(&'a str, f64); 3], Stop> {
    let column = if row.bytes(REQUESTED).is_empty() { ALLOCATED } else { REQUESTED };
    let text = row.bytes(column);
    let mut amounts = [(CPU, 0.0), (MEMORY, 0.0), (GPU, 0.0)];
    let bad = || Stop::Skip(Reason::NoNumber, row.column(column), text.to_vec());
    for part in text.split(|&byte| byte == b',').filter(|part| !part.is_empty()) {
        let equals = memchr::memchr(b'=', part).ok_or_else(bad)?;
        let (name, value) = (&part[..equals], &part[equals + 1..]);
        // `gres/gpu:a100` repeats a part of `gres/gpu`.
        let device = match name {
            b"cpu" => 0,
            b"mem" => 1,
            b"gres/gpu" => 2,
            _ => continue,
        };
        let value = if device == 1 { gibibytes(value) } else { number::parse(value) };
        amounts[device].1 = value.filter(|value| (0.0..=number::LARGEST).contains(value)).ok_or_else(bad)?;
    }
    for column in CPUS {
        if amounts[0].1 == 0.0 {
            amounts[0].1 = row.optional(column)?.unwrap_or(0.0).max(0.0);
        }
    }
    if amounts.iter().all(|(_, amount)| *amount == 0.0) {
        return Err(Stop::Skip(Reason::NoRequest, row.column(column), text.to_vec()));
    }
    Ok(amounts)
}

/// `16G`, `4096M`, `1.5T`; without a letter, MiB.
fn gibibytes(text: &[u8]) -> Option<f64> {
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
    let mut parts = clock.split(|&byte| byte == b':').map(|part| number::parse(part).filter(|part| *part >= 0.0));
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
    if text.len() < 19 || text.len() > 30 || text[4] != b'-' || text[7] != b'-' || !matches!(text[10], b'T' | b' ') {
        return None;
    }
    let whole = |bytes: &[u8]| {
        let digits = bytes.iter().all(u8::is_ascii_digit);
        digits.then(|| bytes.iter().fold(0i64, |sum, byte| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (whole(&text[..4])?, whole(&text[5..7])?, whole(&text[8..10])?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
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
        for bad in ["Unknown", "None", "2024-13-01T00:00:00", "2024-01-01X00:00:00", "2024-01-01T99:00:00", "1-2"] {
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
