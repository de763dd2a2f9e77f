//! Alibaba v2018, `machine_meta`: one row a machine and time stamp.
//!
//! Memory is a share of a machine's, 100 for all of it. Of the two failure domains the coarser, the second
//! (21 values against 292), is kept. A machine stands there once for every change of its state.

use crate::event::{CPU, MEMORY_SHARE, Machine, Sink};
use crate::ledger::{Ledger, Reason};
use crate::table::{Row, Rows, Stop};

pub(crate) struct Machines;

impl Rows for Machines {
    const COLUMNS: &'static [&'static str] = &[
        "machine_id",
        "time_stamp",
        "failure_domain_1",
        "failure_domain_2",
        "cpu_num",
        "mem_size",
        "status",
    ];
    const REQUIRED: usize = 6;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (name, domain) = (row.text(0)?, row.text(3)?);
        if domain.is_empty() {
            row.fault(ledger, Reason::NoDomain, 3)?;
        }
        let capacity = [
            (CPU, row.positive(4, Reason::NoCapacity)?),
            (MEMORY_SHARE, row.positive(5, Reason::NoCapacity)?),
        ];
        sink.machine(&Machine { name, capacity: &capacity, domain, kind: "" });
        Ok(())
    }
}
