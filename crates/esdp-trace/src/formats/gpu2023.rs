//! Alibaba GPU 2023 (`openb`): nodes with their GPU models, pods with whole or shared GPUs.
//!
//! Thousandths of a core become cores, MiB become GiB. A pod asks for `num_gpu` GPUs of `gpu_milli`
//! thousandths each; `gpu_spec` lists the models it accepts, separated by `|`. A pod's duration is what lies
//! between its creation and its deletion. Some of the published lists have no times: their pods all arrive at
//! 0, for an unknown time.

use crate::event::{CPU, GPU, MEMORY, Machine, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::table::{Order, Row, Rows, Stop};

pub(crate) struct Nodes;

impl Rows for Nodes {
    const COLUMNS: &'static [&'static str] = &["sn", "cpu_milli", "memory_mib", "gpu", "model"];
    const REQUIRED: usize = 4;

    fn row(&mut self, row: &Row<'_>, _: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (name, kind) = (row.text(0)?, row.text(4)?);
        let (cpu, memory) = (row.positive(1, Reason::NoCapacity)?, row.positive(2, Reason::NoCapacity)?);
        let gpu = row.time(3, Reason::NoCapacity)?;
        let capacity = [(CPU, cpu / 1000.0), (MEMORY, memory / 1024.0), (GPU, gpu)];
        sink.machine(&Machine { name, capacity: &capacity, domain: "", kind });
        Ok(())
    }
}

const CREATED: usize = 8;
const DELETED: usize = 9;

#[derive(Default)]
pub(crate) struct Pods {
    order: Order,
}

impl Rows for Pods {
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "cpu_milli",
        "memory_mib",
        "num_gpu",
        "gpu_milli",
        "gpu_spec",
        "qos",
        "pod_phase",
        "creation_time",
        "deletion_time",
        "scheduled_time",
    ];
    const REQUIRED: usize = 5;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (job, kind) = (row.text(0)?, row.text(5)?);
        let (arrival, duration) = if row.has(CREATED) {
            let arrival = row.time(CREATED, Reason::NoArrival)?;
            self.order.check(row, ledger, CREATED, arrival, Reason::OutOfOrder)?;
            (arrival, row.between(ledger, arrival, DELETED)?)
        } else {
            row.fault(ledger, Reason::NoTimes, 0)?;
            (0.0, None)
        };
        let (cpu, memory) = (row.positive(1, Reason::NoRequest)?, row.time(2, Reason::NoRequest)?);
        let gpus = row.time(3, Reason::NoRequest)? * row.time(4, Reason::NoRequest)? / 1000.0;
        let request = [(CPU, cpu / 1000.0), (MEMORY, memory / 1024.0), (GPU, gpus)];
        sink.task(&Task { job, arrival, duration, count: 1, request: &request, kind, ..Task::default() });
        Ok(())
    }
}
