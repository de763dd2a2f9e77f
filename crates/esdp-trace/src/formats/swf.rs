//! Standard Workload Format: 18 numbers per job, -1 for what is not known, comments after `;`.
//!
//! A job asks for the processors it requested, or else for those it got, all at once, and for the
//! memory of a processor (KiB) times their number. It arrives when it was submitted. The header's
//! `MaxProcs`, or `MaxNodes` where that is missing, is the machine.

use crate::error::TraceError;
use crate::event::{CPU, MEMORY, Machine, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::number;
use crate::table::{self, Fields, Order, Row, Stop};
use std::io::BufRead;

const FIELDS: usize = 18;
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const GOT: usize = 4;
const USED_MEMORY: usize = 6;
const REQUESTED: usize = 7;
const REQUESTED_MEMORY: usize = 9;
const PARTITION: usize = 15;

pub(super) fn read(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let places: [Option<usize>; FIELDS] = std::array::from_fn(Some);
    let mut order = Order::default();
    let mut machine = System::default();
    let mut jobs = false;
    let mut fields = Fields::default();
    table::rows(input, ledger, |ledger, _, line| {
        if let Some(comment) = line.trim_ascii_start().strip_prefix(b";") {
            machine.header(comment);
            return Err(Stop::NoRow);
        }
        if !std::mem::replace(&mut jobs, true) {
            machine.tell(sink);
        }
        fields.split_words(line, FIELDS);
        if fields.count() < FIELDS {
            return Err(Stop::Skip(Reason::FewColumns, line.len() as u64 + 1, line.to_vec()));
        }
        job(&Row::new(line, &fields, &places), &mut order, ledger, sink)
    })?;
    if !jobs {
        machine.tell(sink);
    }
    Ok(())
}

/// The machine, as the header's comments tell it.
#[derive(Default)]
struct System {
    processors: Option<f64>,
    nodes: Option<f64>,
}

impl System {
    fn header(&mut self, comment: &[u8]) {
        let of = |name: &[u8]| {
            let value = number::parse(comment.trim_ascii().strip_prefix(name)?.trim_ascii());
            value.filter(|value| *value > 0.0 && *value <= number::LARGEST)
        };
        self.processors = of(b"MaxProcs:").or(self.processors);
        self.nodes = of(b"MaxNodes:").or(self.nodes);
    }

    fn tell(&self, sink: &mut dyn Sink) {
        if let Some(processors) = self.processors.or(self.nodes) {
            sink.machine(&Machine { name: "system", capacity: &[(CPU, processors)], domain: "", kind: "" });
        }
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
    let start = Some(row.number(WAIT)?).filter(|wait| *wait >= 0.0).map(|wait| arrival + wait);
    sink.task(&Task { job, arrival, duration, count: 1, request, kind, start, ..Task::default() });
    Ok(())
}
