//! The plainest of all: job type, server, speed. For measurements of one's own.

use crate::event::{Sink, Speed};
use crate::ledger::{Ledger, Reason};
use crate::table::{Row, Rows, Stop};

pub(crate) struct SpeedTable;

impl Rows for SpeedTable {
    const COLUMNS: &'static [&'static str] = &["job", "server", "speed"];
    const REQUIRED: usize = 3;

    fn row(&mut self, row: &Row<'_>, _: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, server) = (row.text(0)?, row.text(1)?);
        let value = row.positive(2, Reason::NoSpeed)?;
        sink.speed(&Speed { job, server, kind: server, devices: 1, beside: "", at: None, value });
        Ok(())
    }
}
