//! Writing events as files that the importers read again: the layouts of v2018.

use crate::event::{DeviceAmounts, Machine, Sink, Task, TaskInstance};
use std::io::{self, Write};

/// How much of a device, by its name.
fn amount(amounts: DeviceAmounts<'_>, device: &str) -> f64 {
    amounts.iter().find(|(name, _)| *name == device).map_or(0.0, |(_, amount)| *amount)
}

/// What every writer is: an output, and the first thing that went wrong with it.
macro_rules! writer {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<W: Write> {
            output: W,
            failed: Option<io::Error>,
            rows: u64,
        }

        impl<W: Write> $name<W> {
            /// Writes to this output; give it a buffer.
            pub fn new(output: W) -> Self {
                Self { output, failed: None, rows: 0 }
            }

            /// Flushes, and tells how many rows were written.
            ///
            /// # Errors
            /// The first one that writing met.
            pub fn finish(mut self) -> io::Result<u64> {
                match self.failed.take() {
                    Some(error) => Err(error),
                    None => self.output.flush().map(|()| self.rows),
                }
            }

            fn put(&mut self, row: std::fmt::Arguments<'_>) {
                if self.failed.is_none() {
                    self.failed = writeln!(self.output, "{row}").err();
                    self.rows += 1;
                }
            }
        }
    };
}

writer!(
    /// Tasks in the layout of the hour sample: arrival, job, task, duration, plan_cpu, plan_mem, instances.
    TaskWriter
);
writer!(
    /// Instances in the layout of the hour sample: arrival, job, task, instance, duration, cpu, mem.
    InstanceWriter
);
writer!(
    /// Machines in the layout of `machine_meta`.
    MachineWriter
);

impl<W: Write> Sink for TaskWriter<W> {
    fn task(&mut self, task: &Task<'_>) {
        let (cpu, memory) =
            (amount(task.request, crate::event::CPU), amount(task.request, crate::event::MEMORY_SHARE));
        let (job, name, count, duration) = (task.job, task.name, task.count, task.duration.unwrap_or(0.0));
        // Hundredths of a core are whole numbers, whatever a double makes of them.
        let cpu = (cpu * 1e8).round() / 1e6;
        self.put(format_args!("{},{job},{name},{duration},{cpu:.1},{memory},{count}", task.arrival));
    }
}

impl<W: Write> Sink for InstanceWriter<W> {
    fn instance(&mut self, instance: &TaskInstance<'_>) {
        let (job, task, duration) = (instance.job, instance.task, instance.duration.unwrap_or(0.0));
        let number = self.rows + 1;
        self.put(format_args!("{},{job},{task},ins_{number},{duration},,", instance.arrival));
    }
}

impl<W: Write> Sink for MachineWriter<W> {
    fn machine(&mut self, machine: &Machine<'_>) {
        let (cpu, memory) = (
            amount(machine.capacity, crate::event::CPU),
            amount(machine.capacity, crate::event::MEMORY_SHARE),
        );
        let (name, domain) = (machine.name, machine.domain);
        self.put(format_args!("{name},0,{domain},{domain},{cpu},{memory},USING"));
    }
}
