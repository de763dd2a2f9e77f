//! Alibaba GPU 2020, `pai_machine_spec`: one row a machine, memory in GB.

use crate::event::{CPU, GPU, MEMORY, Machine, Sink};
use crate::ledger::{Ledger, Reason};
use crate::table::{Row, Rows, Stop};

pub(crate) struct Machines;

impl Rows for Machines {
    const COLUMNS: &'static [&'static str] = &["machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"];
    const REQUIRED: usize = 5;

    fn row(&mut self, row: &Row<'_>, _: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (name, kind) = (row.text(0)?, row.text(1)?);
        let (cpu, memory) = (row.positive(2, Reason::NoCapacity)?, row.positive(3, Reason::NoCapacity)?);
        let gpu = row.time(4, Reason::NoCapacity)?;
        let capacity = [(CPU, cpu), (MEMORY, memory), (GPU, gpu)];
        sink.machine(&Machine { name, capacity: &capacity, domain: "", kind });
        Ok(())
    }
}
