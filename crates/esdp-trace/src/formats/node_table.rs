//! Machines in a plain table: name, cores, GiB, GPUs, kind, labels. For those of one's own.

use crate::event::{CPU, GPU, MEMORY, Machine, Sink};
use crate::ledger::{Ledger, Reason};
use crate::table::{Row, Rows, Stop};

pub(crate) struct Nodes;

impl Rows for Nodes {
    const COLUMNS: &'static [&'static str] = &["name", "cpu", "mem", "gpu", "kind", "labels"];
    const REQUIRED: usize = 2;

    fn row(&mut self, row: &Row<'_>, _: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (name, kind, labels) = (row.text(0)?, row.text(4)?, row.text(5)?);
        let cpu = row.positive(1, Reason::NoCapacity)?;
        let amount = |column: usize| row.optional(column).map(|amount| amount.unwrap_or(0.0).max(0.0));
        let all = [(CPU, cpu), (MEMORY, amount(2)?), (GPU, amount(3)?)];
        // What the table has no column for is not known, which is not the same as none.
        let told: Vec<(&str, f64)> = all
            .into_iter()
            .zip([true, row.has(2), row.has(3)])
            .filter(|(_, told)| *told)
            .map(|(own, _)| own)
            .collect();
        sink.machine(&Machine {
            name,
            capacity: &told,
            domain: "",
            kind: if kind.is_empty() { labels } else { kind },
        });
        Ok(())
    }
}
