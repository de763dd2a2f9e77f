//! Alibaba v2018, `batch_task`: one row per task, in no order.
//!
//! `plan_cpu` counts hundredths of a core, `plan_mem` hundredths of a machine's memory. A task that waits
//! has a start of 0; one that still runs has an end of 0, or an end before its start.

use crate::event::{CPU, MEMORY_SHARE, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Tasks {
    order: Order,
}

impl Rows for Tasks {
    const COLUMNS: &'static [&'static str] = &[
        "task_name",
        "instance_num",
        "job_name",
        "task_type",
        "status",
        "start_time",
        "end_time",
        "plan_cpu",
        "plan_mem",
    ];
    const REQUIRED: usize = 9;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (name, job) = (row.text(0)?, row.text(2)?);
        // Everything that is wrong is counted before the row is left out for one of it.
        let count = row.count(ledger, 1)?;
        let start = row.optional(5)?.filter(|&start| start > 0.0);
        let duration = row.between(ledger, start.unwrap_or(0.0), 6)?;
        let (cpu, memory) = (row.optional(7)?, row.optional(8)?);
        let request = match (cpu, memory) {
            (Some(cpu), Some(memory)) if cpu > 0.0 && memory >= 0.0 => {
                [(CPU, cpu / 100.0), (MEMORY_SHARE, memory)]
            }
            _ => {
                let column = if cpu.is_some_and(|cpu| cpu > 0.0) { 8 } else { 7 };
                return Err(Stop::Skip(Reason::NoRequest, row.column(column), row.bytes(column).to_vec()));
            }
        };
        let Some(arrival) = start else {
            return Err(Stop::Skip(Reason::NoArrival, row.column(5), row.bytes(5).to_vec()));
        };
        self.order.check(row, ledger, 5, arrival, Reason::Unsorted)?;
        sink.task(&Task { job, name, arrival, duration, count, request: &request, ..Task::default() });
        Ok(())
    }
}
