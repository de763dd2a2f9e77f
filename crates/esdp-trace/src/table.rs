//! Rows of comma-separated values: fields as slices of the line, columns by name.
//!
//! No row is copied and nothing is allocated for one. A field in quotes may hold separators; a doubled
//! quote inside of one is refused, since no known trace has it and it would need a copy
//! (`docs/decisions/0007-own-line-splitter.md`).

use crate::error::TraceError;
use crate::event::Sink;
use crate::input::{self, Line};
use crate::ledger::{Ledger, Reason};
use crate::number;
use memchr::memchr;
use std::io::BufRead;

/// The most fields of a row that are looked at; what follows is ignored.
pub(crate) const MOST_FIELDS: usize = 64;

/// Where the fields of a line are; used again for every line.
#[derive(Default)]
pub(crate) struct Fields {
    ranges: Vec<(u32, u32)>,
}

impl Fields {
    /// Splits a line; false where a quote is not closed.
    #[inline]
    pub(crate) fn split(&mut self, line: &[u8], separator: u8) -> bool {
        self.ranges.clear();
        if memchr(b'"', line).is_some() {
            return self.quoted(line, separator);
        }
        let mut start = 0;
        // Fields are a few bytes: a plain loop is faster than a search that has to be set up for each.
        for (at, &byte) in line.iter().enumerate() {
            if byte == separator {
                self.ranges.push((start, at as u32));
                start = at as u32 + 1;
                if self.ranges.len() == MOST_FIELDS {
                    return true;
                }
            }
        }
        self.ranges.push((start, line.len() as u32));
        true
    }

    /// Splits a line into the first so many words between blanks.
    pub(crate) fn split_words(&mut self, line: &[u8], most: usize) {
        self.ranges.clear();
        let mut start = None;
        for (at, byte) in line.iter().chain(b" ").enumerate() {
            match (byte.is_ascii_whitespace(), start) {
                (false, None) => start = Some(at as u32),
                (true, Some(from)) => {
                    self.ranges.push((from, at as u32));
                    start = None;
                    if self.ranges.len() == most {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn quoted(&mut self, line: &[u8], separator: u8) -> bool {
        let mut start = 0;
        while self.ranges.len() < MOST_FIELDS {
            let rest = &line[start..];
            let (from, to, after) = match rest {
                [b'"', inner @ ..] => match memchr(b'"', inner) {
                    Some(end) => (start + 1, start + 1 + end, start + end + 2),
                    None => return false,
                },
                _ => {
                    let end = start + memchr(separator, rest).unwrap_or(rest.len());
                    (start, end, end)
                }
            };
            self.ranges.push((from as u32, to as u32));
            match line.get(after) {
                None => break,
                Some(next) if *next == separator => start = after + 1,
                // A doubled quote, or text after a closing one.
                Some(_) => return false,
            }
        }
        true
    }

    /// How many fields there are.
    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The fields of a line.
    pub(crate) fn of<'l>(&self, line: &'l [u8]) -> impl Iterator<Item = &'l [u8]> {
        self.ranges.iter().map(|&(from, to)| &line[from as usize..to as usize])
    }
}

/// Why a row goes no further.
pub(crate) enum Stop {
    /// It is none, but a header or a comment.
    NoRow,
    /// It is left out.
    Skip(Reason, u64, Vec<u8>),
    /// Reading ends.
    Fatal(TraceError),
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Self {
        Self::Fatal(error)
    }
}

/// A row: its fields by the format's columns.
pub(crate) struct Row<'l> {
    line: &'l [u8],
    fields: &'l Fields,
    /// Where each column of the format is in this file.
    places: &'l [Option<usize>],
}

impl<'l> Row<'l> {
    pub(crate) fn new(line: &'l [u8], fields: &'l Fields, places: &'l [Option<usize>]) -> Self {
        Self { line, fields, places }
    }

    /// A field without the blanks around it; empty where the row or the file has no such column.
    #[inline]
    pub(crate) fn bytes(&self, column: usize) -> &'l [u8] {
        self.range(column).map_or(&[], |(from, to)| self.line[from as usize..to as usize].trim_ascii())
    }

    /// Whether the file has a column.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// A column's place in the line, from 1.
    pub(crate) fn column(&self, column: usize) -> u64 {
        self.range(column).map_or(self.line.len() as u64, |(from, _)| u64::from(from)) + 1
    }

    #[inline]
    fn range(&self, column: usize) -> Option<(u32, u32)> {
        self.fields.ranges.get(self.places[column]?).copied()
    }

    fn skip(&self, reason: Reason, column: usize) -> Stop {
        Stop::Skip(reason, self.column(column), self.bytes(column).to_vec())
    }

    /// A text.
    #[inline]
    pub(crate) fn text(&self, column: usize) -> Result<&'l str, Stop> {
        std::str::from_utf8(self.bytes(column)).map_err(|_| self.skip(Reason::NoText, column))
    }

    /// A number of a sensible size, or nothing for an empty field.
    #[inline]
    pub(crate) fn optional(&self, column: usize) -> Result<Option<f64>, Stop> {
        let bytes = self.bytes(column);
        if bytes.is_empty() {
            return Ok(None);
        }
        match number::parse(bytes) {
            Some(value) if value.abs() <= number::LARGEST => Ok(Some(value)),
            Some(_) => Err(self.skip(Reason::OutOfRange, column)),
            None => Err(self.skip(Reason::NoNumber, column)),
        }
    }

    /// A number that must be there.
    #[inline]
    pub(crate) fn number(&self, column: usize) -> Result<f64, Stop> {
        self.optional(column)?.ok_or_else(|| self.skip(Reason::NoNumber, column))
    }

    /// A time that must be there; `reason` where it is not.
    #[inline]
    pub(crate) fn time(&self, column: usize, reason: Reason) -> Result<f64, Stop> {
        match self.optional(column)? {
            Some(time) if time >= 0.0 => Ok(time),
            _ => Err(self.skip(reason, column)),
        }
    }

    /// A number above 0; `reason` where it is not.
    #[inline]
    pub(crate) fn positive(&self, column: usize, reason: Reason) -> Result<f64, Stop> {
        match self.optional(column)? {
            Some(value) if value > 0.0 => Ok(value),
            _ => Err(self.skip(reason, column)),
        }
    }

    /// Counts a fault that is not the end of the row.
    pub(crate) fn fault(&self, ledger: &mut Ledger, reason: Reason, column: usize) -> Result<(), TraceError> {
        ledger.fault(reason, self.column(column), self.bytes(column))
    }

    /// The number of instances: 1 is assumed where it is missing.
    pub(crate) fn count(&self, ledger: &mut Ledger, column: usize) -> Result<u64, Stop> {
        match self.optional(column)? {
            Some(count) if count >= 1.0 => Ok(count as u64),
            _ => {
                self.fault(ledger, Reason::NoCount, column)?;
                Ok(1)
            }
        }
    }

    /// A duration as it is written: unknown where it is negative, half a second where it is 0.
    pub(crate) fn duration(&self, ledger: &mut Ledger, column: usize) -> Result<Option<f64>, Stop> {
        let Some(duration) = self.optional(column)? else {
            self.fault(ledger, Reason::NoEnd, column)?;
            return Ok(None);
        };
        self.lasting(ledger, duration, column)
    }

    /// A duration from its two ends. An end of 0 is none.
    pub(crate) fn between(&self, ledger: &mut Ledger, start: f64, end: usize) -> Result<Option<f64>, Stop> {
        match self.optional(end)? {
            Some(until) if until != 0.0 => self.lasting(ledger, until - start, end),
            until => {
                self.fault(ledger, Reason::NoEnd, end)?;
                if until.is_some() && start > 0.0 {
                    self.fault(ledger, Reason::NegativeDuration, end)?;
                }
                Ok(None)
            }
        }
    }

    #[inline]
    fn lasting(&self, ledger: &mut Ledger, duration: f64, column: usize) -> Result<Option<f64>, Stop> {
        if duration > 0.0 {
            return Ok(Some(duration));
        }
        if duration < 0.0 {
            self.fault(ledger, Reason::NegativeDuration, column)?;
            return Ok(None);
        }
        // Clocks of whole seconds: somewhere between nothing and one.
        self.fault(ledger, Reason::ZeroDuration, column)?;
        Ok(Some(0.5))
    }
}

/// Whether rows come in the order of their arrival.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Order {
    last: f64,
}

impl Order {
    /// Compares an arrival with the one before.
    #[inline]
    pub(crate) fn check(
        &mut self,
        row: &Row<'_>,
        ledger: &mut Ledger,
        column: usize,
        arrival: f64,
        reason: Reason,
    ) -> Result<(), TraceError> {
        let before = std::mem::replace(&mut self.last, arrival);
        if arrival < before { row.fault(ledger, reason, column) } else { Ok(()) }
    }
}

/// A format of one row a line.
pub(crate) trait Rows {
    /// Its columns in the order of a file without a header.
    const COLUMNS: &'static [&'static str];
    /// How many of them, from the first, must be there.
    const REQUIRED: usize;
    /// What lies between two fields.
    const SEPARATOR: u8 = b',';

    /// Reads one row.
    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop>;
}

/// Calls `each` with the number of every line and the line; enters rows in the ledger, those left out with
/// the reason.
pub(crate) fn rows(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    mut each: impl FnMut(&mut Ledger, u64, &[u8]) -> Result<(), Stop>,
) -> Result<(), TraceError> {
    input::lines(input, |number, line| {
        ledger.open_row(number);
        let outcome = match line {
            Line::Whole(line) => each(ledger, number, line),
            Line::Long(start) => Err(Stop::Skip(Reason::LongLine, 1, start.to_vec())),
        };
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(Stop::NoRow) => return Ok(()),
            Err(Stop::Skip(reason, column, value)) => ledger.fault(reason, column, &value),
            Err(Stop::Fatal(error)) => Err(error),
        };
        ledger.close_row();
        outcome
    })
}

/// Reads a whole table, with a header or without.
pub(crate) fn read<R: Rows>(
    mut format: R,
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let mut places: Option<Vec<Option<usize>>> = None;
    let mut needed = R::REQUIRED;
    let mut fields = Fields::default();
    rows(input, ledger, |ledger, number, line| {
        let whole = fields.split(line, R::SEPARATOR);
        if places.is_none()
            && whole
            && let Some(found) = header::<R>(&fields, number, line)?
        {
            needed = 1 + found[..R::REQUIRED].iter().flatten().max().copied().unwrap_or(0);
            places = Some(found);
            return Err(Stop::NoRow);
        }
        let places = places.get_or_insert_with(|| (0..R::COLUMNS.len()).map(Some).collect());
        if !whole {
            return Err(Stop::Skip(Reason::NoText, 1, line.to_vec()));
        }
        if fields.count() < needed {
            return Err(Stop::Skip(Reason::FewColumns, line.len() as u64 + 1, line.to_vec()));
        }
        format.row(&Row::new(line, &fields, places), ledger, sink)
    })
}

/// The places of the columns, if these fields are their names.
fn header<R: Rows>(
    fields: &Fields,
    number: u64,
    line: &[u8],
) -> Result<Option<Vec<Option<usize>>>, TraceError> {
    let found = |name: &&str| {
        fields.of(line).position(|field| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
    };
    let places: Vec<Option<usize>> = R::COLUMNS.iter().map(found).collect();
    let named = places.iter().flatten().count();
    if named < 2.max(R::REQUIRED.div_ceil(2)) {
        return Ok(None);
    }
    match places[..R::REQUIRED].iter().position(Option::is_none) {
        None => Ok(Some(places)),
        Some(missing) => Err(TraceError::Header {
            line: number,
            column: line.len() as u64 + 1,
            missing: R::COLUMNS[missing],
            expected: R::COLUMNS[..R::REQUIRED].join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Option<Vec<String>> {
        let mut fields = Fields::default();
        let whole = fields.split(line.as_bytes(), b',');
        whole.then(|| {
            fields.of(line.as_bytes()).map(|field| String::from_utf8_lossy(field).into_owned()).collect()
        })
    }

    #[test]
    fn fields_are_split_at_commas_outside_of_quotes() {
        assert_eq!(split("a,b,,d").unwrap(), ["a", "b", "", "d"]);
        assert_eq!(split("").unwrap(), [""]);
        assert_eq!(split(",").unwrap(), ["", ""]);
        assert_eq!(split("\"a,b\",c,\"\"").unwrap(), ["a,b", "c", ""]);
        assert_eq!(split("\"a,b"), None);
        assert_eq!(split("\"a\"\"b\",c"), None);
        assert_eq!(split("\"a\"b,c"), None);
        assert_eq!(split(&"x,".repeat(200)).unwrap().len(), MOST_FIELDS);
    }
}
