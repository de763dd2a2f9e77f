//! Which format an input has, by its first lines.
//!
//! A header decides at once: its names are those of a format, or the input is refused. Only what is published
//! without a header is told by its rows. Every line votes for the formats it could be a row of: by the number
//! of its columns and by which of them are numbers. The format with most votes wins if at least half of the
//! lines are for it, so a dirty first line does no harm.

use crate::error::TraceError;
use crate::formats::{FORMATS, Format, is_sinfo};
use crate::input::BYTE_ORDER_MARK;
use crate::ledger::shorten;
use crate::number;

/// How much of the start is looked at, in bytes.
pub(crate) const START: usize = 65_536;
/// How many lines vote.
const LINES: usize = 32;

/// What must hold of the fields of a row without a header: a letter per column. `n` is a number, `o` a number
/// or nothing, `t` a text that is not a number, `a` anything. At least one is `n`, so a row of words alone is
/// a header.
const SHAPES: &[(Format, &str)] = &[
    (Format::AlibabaMachines, "tnaoont"),
    (Format::AlibabaTasks, "toaatnnoo"),
    (Format::AlibabaInstances, "aaaatnnaoooooo"),
    (Format::HourTasks, "ntanooo"),
    (Format::HourInstances, "ntatnoo"),
    (Format::Gpu2020Machines, "atnnn"),
];

/// The format of an input that starts like this.
///
/// # Errors
/// When it looks like none, or is empty.
pub fn sniff(start: &[u8]) -> Result<Format, TraceError> {
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let cut = start.len() >= START;
    let mut lines: Vec<&[u8]> = start.split(|&byte| byte == b'\n').collect();
    // The last of a full buffer is not all there.
    if cut && lines.len() > 1 {
        lines.pop();
    }
    let trimmed = lines.into_iter().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let lines: Vec<&[u8]> = trimmed.take(LINES).collect();
    let Some(first) = lines.first() else { return Err(TraceError::Empty) };
    if first.starts_with(b"{") {
        let kubernetes = memchr::memmem::find(start, b"\"apiVersion\"").is_some();
        return Ok(if kubernetes { Format::Kubernetes } else { Format::Batsim });
    }
    if first.starts_with(b"NodeName=") {
        return Ok(Format::Scontrol);
    }
    // The date stands above the header of `sinfo --long`.
    if lines.iter().take(2).any(|line| is_sinfo(line)) {
        return Ok(Format::Sinfo);
    }
    let unknown = || TraceError::Unknown { start: shorten(first), accepted: Format::names() };
    if let Some(format) = by_header(first) {
        return Ok(format);
    }
    if is_aligned_accounting(first) {
        return Err(TraceError::AlignedAccounting);
    }
    if is_header(first) {
        return Err(TraceError::UnknownHeader { header: shorten(first), accepted: Format::names() });
    }
    by_rows(&lines).ok_or_else(unknown)
}

fn by_header(line: &[u8]) -> Option<Format> {
    let separator = if memchr::memchr(b'|', line).is_some() { b'|' } else { b',' };
    let fields: Vec<&[u8]> = line.split(|&byte| byte == separator).map(<[u8]>::trim_ascii).collect();
    let found = |columns: &[&str]| {
        let has = |name: &&&str| fields.iter().any(|field| field.eq_ignore_ascii_case(name.as_bytes()));
        columns.iter().filter(has).count()
    };
    if separator == b'|' {
        return (found(Format::Sacct.columns()) >= 2).then_some(Format::Sacct);
    }
    // One that has all it needs comes first; one that lacks little is taken all the same, and says what it
    // lacks.
    let rank = |format: Format| {
        let (columns, required) = format.layout();
        let (named, all) = (found(columns), columns.len());
        let whole = required > 0 && found(&columns[..required]) == required;
        (whole || named >= 3 && 2 * named >= all).then(|| (whole, named * 1000 / all + named))
    };
    let known = FORMATS.into_iter().filter(|format| *format != Format::Sacct);
    known
        .filter_map(|format| Some((rank(format)?, format)))
        .max_by_key(|(rank, _)| *rank)
        .map(|(_, format)| format)
}

/// Names of columns, whatever they are: several words, and not one number.
fn is_header(line: &[u8]) -> bool {
    let is_word = |field: &[u8]| !field.is_empty() && number::parse(field).is_none();
    let separator = if memchr::memchr(b'|', line).is_some() { b'|' } else { b',' };
    let mut fields = line.split(|&byte| byte == separator).map(<[u8]>::trim_ascii);
    fields.clone().count() >= 2 && fields.all(is_word)
}

/// What `sacct` prints for people: columns of a fixed width, cut off.
fn is_aligned_accounting(line: &[u8]) -> bool {
    let columns = Format::Sacct.columns();
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let known = |field: &[u8]| columns.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()));
    fields.next().is_some_and(|first| first.eq_ignore_ascii_case(b"JobID")) && fields.any(known)
}

fn by_rows(lines: &[&[u8]]) -> Option<Format> {
    let rows: Vec<&&[u8]> = lines.iter().filter(|line| !line.starts_with(b";")).collect();
    let is_job = |line: &[u8]| {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        fields.clone().count() == 18 && fields.all(|field| number::parse(field).is_some())
    };
    let comments = lines.len() - rows.len();
    let jobs = rows.iter().filter(|line| is_job(line)).count();
    if 2 * (comments + jobs) > lines.len() {
        return Some(Format::Swf);
    }
    let votes =
        SHAPES.iter().map(|(format, shape)| (rows.iter().filter(|line| fits(line, shape)).count(), format));
    // The first of equals: shapes are ordered from the narrow to the wide.
    let best = votes.rev().max_by_key(|(votes, _)| *votes)?;
    (best.0 > 0 && 2 * best.0 >= rows.len()).then_some(*best.1)
}

fn fits(line: &[u8], shape: &str) -> bool {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    fields.len() == shape.len()
        && fields.iter().zip(shape.bytes()).all(|(field, kind)| {
            let is_number = number::parse(field).is_some();
            match kind {
                b'n' => is_number,
                b'o' => is_number || field.is_empty(),
                b't' => !is_number && !field.is_empty(),
                _ => true,
            }
        })
}
