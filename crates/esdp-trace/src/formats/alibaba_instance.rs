//! Alibaba v2018, `batch_instance`: one row an instance, with the machine it ran on.

use crate::event::{Sink, TaskInstance};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Instances {
    order: Order,
}

impl Rows for Instances {
    const COLUMNS: &'static [&'static str] = &[
        "instance_name",
        "task_name",
        "job_name",
        "task_type",
        "status",
        "start_time",
        "end_time",
        "machine_id",
        "seq_no",
        "total_seq_no",
        "cpu_avg",
        "cpu_max",
        "mem_avg",
        "mem_max",
    ];
    const REQUIRED: usize = 8;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (task, job, machine) = (row.text(1)?, row.text(2)?, row.text(7)?);
        // A start of 0 is an instance that never ran.
        let arrival = row.positive(5, Reason::NoArrival)?;
        let duration = row.between(ledger, arrival, 6)?;
        self.order.check(row, ledger, 5, arrival, Reason::Unsorted)?;
        sink.instance(&TaskInstance { job, task, arrival, duration, machine });
        Ok(())
    }
}
