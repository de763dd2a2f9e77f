//! Benchmarks on Azure virtual machines: a value (higher is faster), a time, a machine.
//!
//! Rows are grouped by benchmark and not sorted in time; [`crate::series`] sorts them. Time is in seconds since
//! 1970, as the file has no other zero.

use super::sacct::moment;
use crate::event::{Sink, Speed};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Noise {
    order: Order,
    server: String,
}

impl Rows for Noise {
    const COLUMNS: &'static [&'static str] = &["test", "sku", "value", "runtime", "starttime", "VM_id"];
    const REQUIRED: usize = 6;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, kind, machine) = (row.text(0)?, row.text(1)?, row.text(5)?);
        let value = row.positive(2, Reason::NoSpeed)?;
        let Some(at) = moment(row.bytes(4)) else {
            return Err(Stop::Skip(Reason::NoArrival, row.column(4), row.bytes(4).to_vec()));
        };
        self.order.check(row, ledger, 4, at, Reason::Unsorted)?;
        // Machines are numbered anew for every size.
        self.server.clear();
        self.server.extend([kind, "/", machine]);
        sink.speed(&Speed { job, server: &self.server, kind, devices: 1, beside: "", at: Some(at), value });
        Ok(())
    }
}
