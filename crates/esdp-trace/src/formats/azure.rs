//! Benchmarks on Azure virtual machines: a value (higher is faster), a time, a machine.
//!
//! The published files hold one benchmark and size each, told by their path and not by a column; `test` and
//! `sku` are read where somebody has added them. Rows are grouped by benchmark and not sorted in time;
//! [`crate::series`] sorts them. Time is in seconds since 1970, as the file has no other zero.

use super::sacct::moment;
use crate::event::{Sink, Speed};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Noise {
    order: Order,
    server: String,
}

const VALUE: usize = 0;
const TIME: usize = 2;
const MACHINE: usize = 3;
const TEST: usize = 4;
const SIZE: usize = 5;

impl Rows for Noise {
    const COLUMNS: &'static [&'static str] = &["value", "runtime", "starttime", "VM_id", "test", "sku"];
    const REQUIRED: usize = 4;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (machine, job, kind) = (row.text(MACHINE)?, row.text(TEST)?, row.text(SIZE)?);
        let (job, kind) =
            (if job.is_empty() { "benchmark" } else { job }, if kind.is_empty() { "vm" } else { kind });
        let value = row.positive(VALUE, Reason::NoSpeed)?;
        let Some(at) = moment(row.bytes(TIME)) else {
            return Err(Stop::Skip(Reason::NoArrival, row.column(TIME), row.bytes(TIME).to_vec()));
        };
        self.order.check(row, ledger, TIME, at, Reason::Unsorted)?;
        // Machines are numbered anew for every size.
        self.server.clear();
        self.server.extend([kind, "/", machine]);
        sink.speed(&Speed { job, server: &self.server, kind, devices: 1, beside: "", at: Some(at), value });
        Ok(())
    }
}
