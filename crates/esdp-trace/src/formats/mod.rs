//! The formats, one per file.
//!
//! | file | format |
//! |---|---|
//! | `alibaba_machine`, `alibaba_task`, `alibaba_instance` | Alibaba v2018 as published |
//! | `hour` | the hour sample of v2018: tasks and instances |
//! | `gpu2020`, `minibatch` | Alibaba GPU 2020: machines, mini-batch times |
//! | `gpu2023` | Alibaba GPU 2023 (`openb`): nodes and pods |
//! | `swf` | Standard Workload Format |
//! | `batsim` | Batsim workloads |
//! | `sacct` | Slurm accounting |
//! | `sinfo`, `scontrol`, `kubernetes`, `node_table` | machines as Slurm, Kubernetes or a table tell them |
//! | `philly` | Microsoft's Philly trace, as a table |
//! | `gavel`, `azure`, `speed_table` | speeds |

mod alibaba_instance;
mod alibaba_machine;
mod alibaba_task;
mod azure;
mod batsim;
mod gavel;
mod gpu2020;
mod gpu2023;
mod gres;
mod hour;
mod kubernetes;
mod minibatch;
mod node_table;
mod philly;
mod sacct;
mod scontrol;
mod sinfo;
mod speed_table;
mod swf;

use crate::error::TraceError;
use crate::event::Sink;
use crate::ledger::Ledger;
use crate::table::{self, Rows};
use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

pub(crate) use sinfo::is_header as is_sinfo;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Alibaba v2018, `machine_meta`.
    AlibabaMachines,
    /// Alibaba v2018, `batch_task`.
    AlibabaTasks,
    /// Alibaba v2018, `batch_instance`.
    AlibabaInstances,
    /// The tasks of an hour of v2018, sorted by arrival.
    HourTasks,
    /// The instances of an hour of v2018, sorted by arrival.
    HourInstances,
    /// Alibaba GPU 2020, `pai_machine_spec`.
    Gpu2020Machines,
    /// Alibaba GPU 2020, mini-batch times of the workers of a job.
    Gpu2020Minibatch,
    /// Alibaba GPU 2023, `openb_node_list`.
    Gpu2023Nodes,
    /// Alibaba GPU 2023, `openb_pod_list`.
    Gpu2023Pods,
    /// Standard Workload Format.
    Swf,
    /// Batsim workload, JSON.
    Batsim,
    /// Slurm, `sacct --parsable2`.
    Sacct,
    /// Slurm, `sinfo` with any columns that name nodes and processors.
    Sinfo,
    /// Slurm, `scontrol show node`.
    Scontrol,
    /// Kubernetes, `kubectl get nodes -o json`.
    Kubernetes,
    /// A table of machines: name, cpu, mem, gpu, kind, labels.
    NodeTable,
    /// Microsoft's Philly trace, as a table.
    Philly,
    /// Gavel throughputs of jobs that run alone.
    GavelIsolated,
    /// Gavel throughputs of pairs that share GPUs.
    GavelColocated,
    /// Benchmarks on Azure virtual machines.
    AzureNoise,
    /// A table of job type, server and speed.
    SpeedTable,
}

/// All formats.
pub const FORMATS: [Format; 21] = [
    Format::AlibabaMachines,
    Format::AlibabaTasks,
    Format::AlibabaInstances,
    Format::HourTasks,
    Format::HourInstances,
    Format::Gpu2020Machines,
    Format::Gpu2020Minibatch,
    Format::Gpu2023Nodes,
    Format::Gpu2023Pods,
    Format::Swf,
    Format::Batsim,
    Format::Sacct,
    Format::Sinfo,
    Format::Scontrol,
    Format::Kubernetes,
    Format::NodeTable,
    Format::Philly,
    Format::GavelIsolated,
    Format::GavelColocated,
    Format::AzureNoise,
    Format::SpeedTable,
];

impl Format {
    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlibabaMachines => "alibaba-machines",
            Self::AlibabaTasks => "alibaba-tasks",
            Self::AlibabaInstances => "alibaba-instances",
            Self::HourTasks => "hour-tasks",
            Self::HourInstances => "hour-instances",
            Self::Gpu2020Machines => "gpu2020-machines",
            Self::Gpu2020Minibatch => "gpu2020-minibatch",
            Self::Gpu2023Nodes => "gpu2023-nodes",
            Self::Gpu2023Pods => "gpu2023-pods",
            Self::Swf => "swf",
            Self::Batsim => "batsim",
            Self::Sacct => "sacct",
            Self::Sinfo => "sinfo",
            Self::Scontrol => "scontrol",
            Self::Kubernetes => "kubernetes",
            Self::NodeTable => "node-table",
            Self::Philly => "philly",
            Self::GavelIsolated => "gavel-isolated",
            Self::GavelColocated => "gavel-colocated",
            Self::AzureNoise => "azure-noise",
            Self::SpeedTable => "speed-table",
        }
    }

    /// The names of all formats, with commas.
    pub fn names() -> String {
        FORMATS.map(Self::name).join(", ")
    }

    /// Its columns in the order of a file without a header; none for what is not a table.
    pub fn columns(self) -> &'static [&'static str] {
        self.layout().0
    }

    /// Its columns, and how many of them, from the first, must be there.
    pub(crate) fn layout(self) -> (&'static [&'static str], usize) {
        fn of<R: Rows>() -> (&'static [&'static str], usize) {
            (R::COLUMNS, R::REQUIRED)
        }
        match self {
            Self::AlibabaMachines => of::<alibaba_machine::Machines>(),
            Self::AlibabaTasks => of::<alibaba_task::Tasks>(),
            Self::AlibabaInstances => of::<alibaba_instance::Instances>(),
            Self::HourTasks => of::<hour::Tasks>(),
            Self::HourInstances => of::<hour::Instances>(),
            Self::Gpu2020Machines => of::<gpu2020::Machines>(),
            Self::Gpu2020Minibatch => of::<minibatch::Minibatch>(),
            Self::Gpu2023Nodes => of::<gpu2023::Nodes>(),
            Self::Gpu2023Pods => of::<gpu2023::Pods>(),
            Self::Sacct => of::<sacct::Accounting>(),
            Self::NodeTable => of::<node_table::Nodes>(),
            Self::Philly => of::<philly::Jobs>(),
            Self::GavelIsolated => of::<gavel::Isolated>(),
            Self::GavelColocated => of::<gavel::Colocated>(),
            Self::AzureNoise => of::<azure::Noise>(),
            Self::SpeedTable => of::<speed_table::SpeedTable>(),
            Self::Swf | Self::Batsim | Self::Sinfo | Self::Scontrol | Self::Kubernetes => (&[], 0),
        }
    }

    /// Reads an input in this format.
    pub(crate) fn read(
        self,
        input: &mut dyn BufRead,
        ledger: &mut Ledger,
        sink: &mut dyn Sink,
    ) -> Result<(), TraceError> {
        match self {
            Self::AlibabaMachines => table::read(alibaba_machine::Machines, input, ledger, sink),
            Self::AlibabaTasks => table::read(alibaba_task::Tasks::default(), input, ledger, sink),
            Self::AlibabaInstances => {
                table::read(alibaba_instance::Instances::default(), input, ledger, sink)
            }
            Self::HourTasks => table::read(hour::Tasks::default(), input, ledger, sink),
            Self::HourInstances => table::read(hour::Instances::default(), input, ledger, sink),
            Self::Gpu2020Machines => table::read(gpu2020::Machines, input, ledger, sink),
            Self::Gpu2020Minibatch => table::read(minibatch::Minibatch::default(), input, ledger, sink),
            Self::Gpu2023Nodes => table::read(gpu2023::Nodes, input, ledger, sink),
            Self::Gpu2023Pods => table::read(gpu2023::Pods::default(), input, ledger, sink),
            Self::Swf => swf::read(input, ledger, sink),
            Self::Batsim => batsim::read(input, ledger, sink),
            Self::Sacct => table::read(sacct::Accounting::default(), input, ledger, sink),
            Self::Sinfo => sinfo::read(input, ledger, sink),
            Self::Scontrol => scontrol::read(input, ledger, sink),
            Self::Kubernetes => kubernetes::read(input, ledger, sink),
            Self::NodeTable => table::read(node_table::Nodes, input, ledger, sink),
            Self::Philly => table::read(philly::Jobs::default(), input, ledger, sink),
            Self::GavelIsolated => table::read(gavel::Isolated, input, ledger, sink),
            Self::GavelColocated => table::read(gavel::Colocated, input, ledger, sink),
            Self::AzureNoise => table::read(azure::Noise::default(), input, ledger, sink),
            Self::SpeedTable => table::read(speed_table::SpeedTable, input, ledger, sink),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| format!("unknown format, expected one of {}", Self::names()))
    }
}
