//! What a trace says, one event at a time: machines, tasks, instances, speeds.
//!
//! Events borrow from the row they were read from and are gone after the call, so a trace of any length
//! needs no more memory than one row. Amounts carry their device's name, and the name stands for a unit:
//!
//! | device | unit |
//! |---|---|
//! | `cpu` | cores (or processors, where a trace counts those) |
//! | `mem` | GiB |
//! | `mem-share` | hundredths of one machine's memory: what Alibaba v2018 publishes |
//! | `gpu` | whole GPUs; fractions where GPUs are shared |
//! | `host` | whole hosts, where a trace counts nothing smaller |
//!
//! Different units have different names, so that a trace that asks for shares of memory cannot be
//! scheduled by accident on machines whose memory is known in GiB.

/// Cores.
pub const CPU: &str = "cpu";
/// Memory in GiB.
pub const MEMORY: &str = "mem";
/// Memory in hundredths of one machine's.
pub const MEMORY_SHARE: &str = "mem-share";
/// GPUs.
pub const GPU: &str = "gpu";
/// Whole hosts.
pub const HOST: &str = "host";

/// The most devices that one request or machine may name.
pub const MOST_DEVICES: usize = 8;

/// In which unit a device is counted.
pub fn unit(device: &str) -> &'static str {
    match device {
        CPU => "cores",
        MEMORY => "GiB",
        MEMORY_SHARE => "% of a machine",
        GPU => "GPUs",
        HOST => "hosts",
        _ => "units",
    }
}

/// How much of each device, at most [`MOST_DEVICES`] of them, each named once.
pub type DeviceAmounts<'a> = &'a [(&'a str, f64)];

/// A machine. A table may name one more than once: as it was at different times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it has.
    pub capacity: DeviceAmounts<'a>,
    /// What fails together with it: a rack, a room; empty where that is not told.
    pub domain: &'a str,
    /// Its sort, such as the model of its GPUs; empty where that is not told.
    pub kind: &'a str,
}

/// A task: so many like instances that start together. A job has one task or more.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Task<'a> {
    /// The job it belongs to.
    pub job: &'a str,
    /// Its name within the job; empty where jobs have one task.
    pub name: &'a str,
    /// When it arrived, in seconds of the trace's own clock.
    pub arrival: f64,
    /// How long it ran, in seconds; `None` where that is not known.
    pub duration: Option<f64>,
    /// How many instances it has, at least 1.
    pub count: u64,
    /// What each instance asks for.
    pub request: DeviceAmounts<'a>,
    /// Where it may run, such as a GPU model or a partition; empty where anything will do.
    pub kind: &'a str,
    /// Who runs it; empty where that is not told.
    pub user: &'a str,
    /// What the user calls it, the same for jobs that do the same; empty where that is not told.
    pub label: &'a str,
    /// When it started, in seconds of the trace's own clock, where that is told.
    pub start: Option<f64>,
    /// Where it ran, as Slurm writes a list of nodes (`gpu[01-03,07]`); empty where that is not told.
    pub nodes: &'a str,
    /// Whether something ended it before it was done.
    pub stopped: bool,
}

/// One instance of a task that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskInstance<'a> {
    /// The job.
    pub job: &'a str,
    /// The task within the job.
    pub task: &'a str,
    /// When it started, in seconds of the trace's own clock.
    pub arrival: f64,
    /// How long it ran, in seconds; `None` where that is not known.
    pub duration: Option<f64>,
    /// Where it ran; empty where that is not told.
    pub machine: &'a str,
}

/// A measured speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed<'a> {
    /// What ran: the job type, or the benchmark.
    pub job: &'a str,
    /// What it ran on: a GPU kind, a virtual machine, a worker.
    pub server: &'a str,
    /// The sort of that server, such as the size of a virtual machine; the server itself where there is none.
    pub kind: &'a str,
    /// On how many devices at once, at least 1.
    pub devices: u64,
    /// The job it shared them with; empty where it was alone.
    pub beside: &'a str,
    /// When, in seconds of the trace's own clock, where that is told.
    pub at: Option<f64>,
    /// How fast: higher is faster, in the trace's own unit; 0 means that it could not run so.
    pub value: f64,
}

/// Takes the events of a trace as they come. By default everything is ignored.
pub trait Sink {
    /// A machine.
    fn machine(&mut self, _machine: &Machine<'_>) {}
    /// A task.
    fn task(&mut self, _task: &Task<'_>) {}
    /// An instance.
    fn instance(&mut self, _instance: &TaskInstance<'_>) {}
    /// A speed.
    fn speed(&mut self, _speed: &Speed<'_>) {}
}

/// Takes everything and keeps nothing: to count rows, or to measure a reader.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Sink for Ignore {}
