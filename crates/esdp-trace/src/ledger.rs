//! The ledger of an import: what became of every row, and why.
//!
//! A row is *clean*, *repaired* (kept, with one thing changed by the rule below), *skipped*, or *set aside*
//! (well formed, but not what is asked for, such as a Slurm job step). Each thing that is wrong with a row is
//! counted by its [`Reason`], so a row may count more than once among the reasons, and once among the rows.
//! Nothing is fatal and nothing is silent. A strict ledger makes the first repair or skip an error.

use crate::error::TraceError;
use std::fmt;

/// What may be wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Fewer columns than the format has.
    FewColumns,
    /// A field that must be a number is none.
    NoNumber,
    /// A number beyond every sensible range.
    OutOfRange,
    /// A field that is no UTF-8, or has a quote that is not closed.
    NoText,
    /// More text than a line may have.
    LongLine,
    /// No time of arrival, or the row says that it never started.
    NoArrival,
    /// No request, or one of nothing.
    NoRequest,
    /// A machine without a capacity.
    NoCapacity,
    /// A speed that is not positive.
    NoSpeed,
    /// A profile that is not there, or has no duration of its own.
    NoProfile,
    /// No end: the task was still running, or the end is not known.
    NoEnd,
    /// It ends before it starts.
    NegativeDuration,
    /// It ends when it starts: less than the clock's resolution.
    ZeroDuration,
    /// No number of instances.
    NoCount,
    /// It arrived before the row above it, in a format that is sorted.
    OutOfOrder,
    /// The same, in a format that does not promise an order.
    Unsorted,
    /// A machine's failure domain is not told.
    NoDomain,
    /// A step of a job, which is counted with its job.
    JobStep,
    /// A record that holds no job.
    NoJob,
    /// The whole file tells no times.
    NoTimes,
    /// A job that waits, or was cancelled before it ran.
    NeverRan,
    /// A job that failed, was cancelled or ran out of time.
    NotCompleted,
    /// A machine that is down, drained or closed.
    OutOfService,
}

/// What becomes of a row that has something wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Kept as it is.
    Noted,
    /// Kept, with one thing changed.
    Repaired,
    /// Left out.
    Skipped,
    /// Left out, as it should be.
    Aside,
}

/// All reasons, in the order in which they are shown.
pub const REASONS: [Reason; 23] = [
    Reason::FewColumns,
    Reason::NoNumber,
    Reason::OutOfRange,
    Reason::NoText,
    Reason::LongLine,
    Reason::NoArrival,
    Reason::NoRequest,
    Reason::NoCapacity,
    Reason::NoSpeed,
    Reason::NoProfile,
    Reason::NoEnd,
    Reason::NegativeDuration,
    Reason::ZeroDuration,
    Reason::NoCount,
    Reason::OutOfOrder,
    Reason::Unsorted,
    Reason::NoDomain,
    Reason::JobStep,
    Reason::NoJob,
    Reason::NoTimes,
    Reason::NeverRan,
    Reason::NotCompleted,
    Reason::OutOfService,
];

impl Reason {
    /// A short name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::FewColumns => "few-columns",
            Self::NoNumber => "no-number",
            Self::OutOfRange => "out-of-range",
            Self::NoText => "no-text",
            Self::LongLine => "long-line",
            Self::NoArrival => "no-arrival",
            Self::NoRequest => "no-request",
            Self::NoCapacity => "no-capacity",
            Self::NoSpeed => "no-speed",
            Self::NoProfile => "no-profile",
            Self::NoEnd => "no-end",
            Self::NegativeDuration => "negative-duration",
            Self::ZeroDuration => "zero-duration",
            Self::NoCount => "no-count",
            Self::OutOfOrder => "out-of-order",
            Self::Unsorted => "unsorted",
            Self::NoDomain => "no-domain",
            Self::JobStep => "job-step",
            Self::NoJob => "no-job",
            Self::NoTimes => "no-times",
            Self::NeverRan => "never-ran",
            Self::NotCompleted => "not-completed",
            Self::OutOfService => "out-of-service",
        }
    }

    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::FewColumns => "too few columns",
            Self::NoNumber => "not a number",
            Self::OutOfRange => "the number is out of range",
            Self::NoText => "not UTF-8 text, or a quote that is not closed",
            Self::LongLine => "the line is too long",
            Self::NoArrival => "it has no time of arrival",
            Self::NoRequest => "it requests nothing",
            Self::NoCapacity => "the machine has no capacity",
            Self::NoSpeed => "the speed is not positive",
            Self::NoProfile => "the profile is missing or has no delay",
            Self::NoEnd => "it has no end",
            Self::NegativeDuration => "it ends before it starts",
            Self::ZeroDuration => "it ends when it starts",
            Self::NoCount => "the number of instances is missing",
            Self::OutOfOrder => "it arrives before the row above it",
            Self::Unsorted => "it arrives before the row above it",
            Self::NoDomain => "the failure domain is missing",
            Self::JobStep => "it is a step of a job",
            Self::NoJob => "it holds no job",
            Self::NoTimes => "the file has no times",
            Self::NeverRan => "it never ran: it waits, or was cancelled before its start",
            Self::NotCompleted => "it failed, was cancelled or ran out of time",
            Self::OutOfService => "the machine is down, drained or closed",
        }
    }

    /// What would have been fine.
    pub fn accepted(self) -> &'static str {
        match self {
            Self::FewColumns => "every column of the format",
            Self::NoNumber => "a number",
            Self::OutOfRange => "a number from 0 to 1e12",
            Self::NoText => "UTF-8 text with closed quotes",
            Self::LongLine => "at most 65536 bytes",
            Self::NoArrival => "a time of arrival",
            Self::NoRequest => "a request above 0",
            Self::NoCapacity => "a capacity above 0",
            Self::NoSpeed => "a speed above 0",
            Self::NoProfile => "a profile with a delay",
            Self::NoEnd => "the time of its end",
            Self::NegativeDuration | Self::ZeroDuration => "an end after the start",
            Self::NoCount => "a whole number from 1",
            Self::OutOfOrder | Self::Unsorted => "rows in the order of their arrival",
            Self::NoDomain => "the name of the failure domain",
            Self::JobStep | Self::NoJob => "a job",
            Self::NoTimes => "times of arrival and end",
            Self::NeverRan => "a job that ran",
            Self::NotCompleted => "a job that completed",
            Self::OutOfService => "a machine in service",
        }
    }

    /// What becomes of the row.
    pub fn fate(self) -> Fate {
        match self {
            Self::FewColumns
            | Self::NoNumber
            | Self::OutOfRange
            | Self::NoText
            | Self::LongLine
            | Self::NoArrival
            | Self::NoRequest
            | Self::NoCapacity
            | Self::NoSpeed => Fate::Skipped,
            Self::NoProfile
            | Self::NoEnd
            | Self::NegativeDuration
            | Self::ZeroDuration
            | Self::NoCount
            | Self::NoTimes
            | Self::OutOfOrder => Fate::Repaired,
            Self::Unsorted | Self::NoDomain | Self::NotCompleted => Fate::Noted,
            Self::JobStep | Self::NoJob | Self::NeverRan | Self::OutOfService => Fate::Aside,
        }
    }

    /// The rule by which the row is kept or left out.
    pub fn rule(self) -> &'static str {
        match self.fate() {
            Fate::Skipped => "the row is left out",
            Fate::Aside => "left out, as it should be",
            Fate::Noted => "kept as it is",
            Fate::Repaired => match self {
                Self::ZeroDuration => "the duration becomes half a second",
                Self::NoCount => "one instance is assumed",
                Self::NoTimes => "kept, arriving at 0 for an unknown time",
                Self::OutOfOrder => "kept at its own time",
                _ => "kept, with an unknown duration",
            },
        }
    }
}

/// A place in the input and what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
    /// What stands there, shortened.
    pub value: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: `{}`", self.line, self.column, self.value)
    }
}

/// How often a reason came, and where it came first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first of them.
    pub first: Option<Place>,
}

/// What became of the rows of one input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    strict: bool,
    /// Rows without a fault.
    pub clean: u64,
    /// Rows that were kept with something changed.
    pub repaired: u64,
    /// Rows that were left out.
    pub skipped: u64,
    /// Rows that were set aside: not dirty, not of use.
    pub aside: u64,
    tallies: [Tally; REASONS.len()],
    /// The row that is being read.
    line: u64,
    fate: Option<Fate>,
}

impl Ledger {
    /// An empty ledger; a strict one makes the first dirty row an error.
    pub fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.clean + self.repaired + self.skipped + self.aside
    }

    /// How often a reason came.
    pub fn count(&self, reason: Reason) -> u64 {
        self.tallies[reason as usize].count
    }

    /// The reasons that came, in the order of [`REASONS`].
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, &Tally)> {
        REASONS
            .into_iter()
            .map(|reason| (reason, &self.tallies[reason as usize]))
            .filter(|(_, tally)| tally.count > 0)
    }

    pub(crate) fn open_row(&mut self, line: u64) {
        self.line = line;
        self.fate = None;
    }

    pub(crate) fn close_row(&mut self) {
        match self.fate.take() {
            None | Some(Fate::Noted) => self.clean += 1,
            Some(Fate::Repaired) => self.repaired += 1,
            Some(Fate::Skipped) => self.skipped += 1,
            Some(Fate::Aside) => self.aside += 1,
        }
    }

    /// Counts something that is wrong with the row that is open; an error if that is not tolerated.
    pub(crate) fn fault(&mut self, reason: Reason, column: u64, value: &[u8]) -> Result<(), TraceError> {
        let tally = &mut self.tallies[reason as usize];
        tally.count += 1;
        let line = self.line;
        let place = || Place { line, column, value: shorten(value) };
        if tally.first.is_none() {
            tally.first = Some(place());
        }
        let fate = reason.fate();
        if self.strict && matches!(fate, Fate::Repaired | Fate::Skipped) {
            return Err(TraceError::Dirty { reason, place: place() });
        }
        let rank = |fate: Fate| match fate {
            Fate::Noted => 0,
            Fate::Repaired => 1,
            Fate::Skipped => 2,
            Fate::Aside => 3,
        };
        if self.fate.is_none_or(|so_far| rank(fate) > rank(so_far)) {
            self.fate = Some(fate);
        }
        Ok(())
    }
}

/// Bytes as a short text that may be printed anywhere.
pub(crate) fn shorten(value: &[u8]) -> String {
    const MOST: usize = 60;
    let text = String::from_utf8_lossy(&value[..value.len().min(4 * MOST)]);
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].chars().map(clean).chain("...".chars()).collect(),
        None => text.chars().map(clean).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_in_order_and_named_once() {
        assert!(REASONS.iter().enumerate().all(|(at, reason)| *reason as usize == at));
        let mut names = REASONS.map(Reason::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REASONS.len());
    }

    #[test]
    fn a_row_counts_once_with_its_worst_fate() {
        let mut ledger = Ledger::new(false);
        ledger.open_row(1);
        ledger.fault(Reason::NoRequest, 3, b"").unwrap();
        ledger.fault(Reason::NoEnd, 9, b"0").unwrap();
        ledger.close_row();
        ledger.open_row(2);
        ledger.fault(Reason::Unsorted, 1, b"7").unwrap();
        ledger.close_row();
        assert_eq!((ledger.clean, ledger.repaired, ledger.skipped, ledger.rows()), (1, 0, 1, 2));
        assert_eq!((ledger.count(Reason::NoRequest), ledger.count(Reason::NoEnd)), (1, 1));
    }

    #[test]
    fn a_strict_ledger_names_line_column_and_value() {
        let mut ledger = Ledger::new(true);
        ledger.open_row(7);
        ledger.fault(Reason::Unsorted, 1, b"7").unwrap();
        let error = ledger.fault(Reason::NoNumber, 12, b"abc").unwrap_err().to_string();
        assert_eq!(error, "line 7, column 12: `abc`: not a number, expected a number");
    }
}
