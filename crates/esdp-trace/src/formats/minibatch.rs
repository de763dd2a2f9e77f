//! Alibaba GPU 2020, mini-batch times of the ten workers of a training job, one row a worker and step.
//!
//! A speed is one over the time of a mini-batch, times 1000 (the published times are scaled anyway). The job
//! has no name in the file; it is called by its number of GPUs.

use crate::event::{Sink, Speed};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Minibatch {
    order: Order,
}

impl Rows for Minibatch {
    const COLUMNS: &'static [&'static str] = &["", "worker", "gpu", "time", "batch_time_norm"];
    const REQUIRED: usize = 5;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (server, devices) = (row.text(1)?, row.count(ledger, 2)?);
        let at = row.time(3, Reason::NoArrival)?;
        let value = 1000.0 / row.positive(4, Reason::NoSpeed)?;
        self.order.check(row, ledger, 3, at, Reason::Unsorted)?;
        sink.speed(&Speed {
            job: "mini-batch",
            server,
            kind: "worker",
            devices,
            beside: "",
            at: Some(at),
            value,
        });
        Ok(())
    }
}
