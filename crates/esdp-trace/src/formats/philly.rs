//! Microsoft's Philly trace as a table: when a job came, how long it ran, on how many GPUs, in which virtual
//! cluster.
//!
//! The table names no jobs, so they are numbered by their rows. Times are seconds, or dates.

use super::sacct::moment;
use crate::event::{GPU, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Jobs {
    order: Order,
    number: u64,
}

const TIME: usize = 0;
const DURATION: usize = 1;
const GPUS: usize = 2;
const CLUSTER: usize = 4;

impl Rows for Jobs {
    const COLUMNS: &'static [&'static str] = &["timestamp", "duration", "num_gpus", "gpu_time", "cluster"];
    const REQUIRED: usize = 3;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.number += 1;
        let kind = row.text(CLUSTER)?;
        let arrival = match moment(row.bytes(TIME)) {
            Some(seconds) => seconds,
            None => row.time(TIME, Reason::NoArrival)?,
        };
        let gpus = row.positive(GPUS, Reason::NoRequest)?;
        let duration = row.duration(ledger, DURATION)?;
        self.order.check(row, ledger, TIME, arrival, Reason::Unsorted)?;
        let job = self.number.to_string();
        sink.task(&Task {
            job: &job,
            arrival,
            duration,
            count: 1,
            request: &[(GPU, gpus)],
            kind,
            ..Task::default()
        });
        Ok(())
    }
}
