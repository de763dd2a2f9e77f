//! The hour sample of Alibaba v2018: tasks and instances sorted by arrival, with durations in place of ends.
//!
//! Time starts at 0 with the hour. The tasks' layout is also what [`crate::generate`] writes.

use crate::event::{CPU, MEMORY_SHARE, Sink, Task, TaskInstance};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

#[derive(Default)]
pub(crate) struct Tasks {
    order: Order,
}

impl Rows for Tasks {
    const COLUMNS: &'static [&'static str] =
        &["arrival", "job_name", "task_name", "duration", "plan_cpu", "plan_mem", "instance_num"];
    const REQUIRED: usize = 7;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, name) = (row.text(1)?, row.text(2)?);
        let arrival = row.time(0, Reason::NoArrival)?;
        let count = row.count(ledger, 6)?;
        let duration = row.duration(ledger, 3)?;
        self.order.check(row, ledger, 0, arrival, Reason::OutOfOrder)?;
        let cpu = row.positive(4, Reason::NoRequest)?;
        let memory = row.time(5, Reason::NoRequest)?;
        let request = [(CPU, cpu / 100.0), (MEMORY_SHARE, memory)];
        sink.task(&Task { job, name, arrival, duration, count, request: &request, ..Task::default() });
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Instances {
    order: Order,
}

impl Rows for Instances {
    const COLUMNS: &'static [&'static str] =
        &["arrival", "job_name", "task_name", "instance_name", "duration", "cpu_avg", "mem_avg"];
    const REQUIRED: usize = 5;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, task) = (row.text(1)?, row.text(2)?);
        let arrival = row.time(0, Reason::NoArrival)?;
        let duration = row.duration(ledger, 4)?;
        self.order.check(row, ledger, 0, arrival, Reason::OutOfOrder)?;
        sink.instance(&TaskInstance { job, task, arrival, duration, machine: "" });
        Ok(())
    }
}
