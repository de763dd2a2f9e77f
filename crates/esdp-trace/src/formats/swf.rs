//! Standard Workload Format: 18 numbers a job, -1 for what is not known, comments after `;`.
//!
//! A job asks for the processors it requested, or else for those it got, all at once, and for the
//! memory of a processor (KiB) times their number. It arrives when it was submitted. The header's
//! `MaxProcs` (or `MaxNodes`) is the machine.

use crate::error::TraceError;
use crate::event::{CPU, MEMORY, Machine, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::number;
use crate::table::{self, Fields, Order, Row, Stop};
use std::io::BufRead;

const FIELDS: usize = 18;
const SUBMIT: usize = 1;
const RUN: usize = 3;
const GOT: usize = 4;
const USED_MEMORY: usize = 6;
const REQUESTED: usize = 7;
const REQUESTED_MEMORY: usize = 9;
const PARTITION: usize = 15;

pub(super) fn read(input: &mut dyn BufRead, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError> {
    let places: [Option<usize>; FIELDS] = std::array::from_fn(Some);
    let mut order = Order::default();
    let mut processors: Option<f64> = None;
    let mut jobs = false;
    let mut fields = Fields::default();
    table::rows(input, ledger, |ledger, _, line| {
        if let Some(comment) = line.trim_ascii_start().strip_prefix(b";") {
            processors = header(comment).or(processors);
            return Err(Stop::NoRow);
        }
        if !std::mem::replace(&mut jobs, true) {
            machine(processors, sink);
        }
        split(line, &mut fields);
        if fields.count() < FIELDS {
            return Err(Stop::Skip(Reason::FewColumns, line.len() as u64 + 1, line.to_vec()));
        }
        job(&Row::new(line, &fields, &places), &mut order, ledger, sink)
    })?;
    if !jobs {
        machine(processors, sink);
    }
    Ok(())
}

/// Fields with blanks between them.
fn split(line: &[u8], fields: &mut Fields) {
    fields.clear();
    let mut start = None;
    for (at, byte) in line.iter().chain(b" ").enumerate() {
        match (byte.is_ascii_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                fields.push(from, at);
                start = None;
                if fields.count() == FIELDS {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// The processors that a comment of the header tells.
fn header(comment: &[u8]) -> Option<f64> {
    let text = comment.trim_ascii();
    let value = text.strip_prefix(b"MaxProcs:").or_else(|| text.strip_prefix(b"MaxNodes:"))?;
    number::parse(value.trim_ascii()).filter(|value| *value > 0.0 && *value <= number::LARGEST)
}

fn machine(processors: Option<f64>, sink: &mut dyn Sink) {
    if let Some(processors) = processors {
        sink.machine(&Machine { name: "system", capacity: &[(CPU, processors)], domain: "", kind: "" });
    }
}

fn job(row: &Row<'_>, order: &mut Order, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
    let (job, kind) = (row.text(0)?, row.text(PARTITION)?);
    let arrival = row.time(SUBMIT, Reason::NoArrival)?;
    // -1 is "not known", and not a negative duration.
    let duration = match row.number(RUN)? {
        -1.0 => {
            row.fault(ledger, Reason::NoEnd, RUN)?;
            None
        }
        _ => row.duration(ledger, RUN)?,
    };
    order.check(row, ledger, SUBMIT, arrival, Reason::OutOfOrder)?;
    let either = |first: usize, second: usize| -> Result<Option<f64>, Stop> {
        let first = Some(row.number(first)?).filter(|value| *value > 0.0);
        Ok(first.or(Some(row.number(second)?).filter(|value| *value > 0.0)))
    };
    let Some(processors) = either(REQUESTED, GOT)? else {
        return Err(Stop::Skip(Reason::NoRequest, row.column(GOT), row.bytes(GOT).to_vec()));
    };
    let memory = either(REQUESTED_MEMORY, USED_MEMORY)?;
    let memory = memory.map(|kibibytes| kibibytes * processors / 1_048_576.0);
    let request = [(CPU, processors), (MEMORY, memory.unwrap_or(0.0))];
    let request = if memory.is_some() { &request[..] } else { &request[..1] };
    let kind = if kind == "-1" { "" } else { kind };
    sink.task(&Task { job, name: "", arrival, duration, count: 1, request, kind });
    Ok(())
}
