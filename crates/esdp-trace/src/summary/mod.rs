//! What is in a trace, told in bounded memory.
//!
//! A [`TraceSummary`] is a sink. It holds counts by request vector, by second and minute, by machine and by
//! job type, and logarithmic histograms; none of it grows with the number of rows, and each part has a stated
//! bound.
//!
//! | file | subject |
//! |---|---|
//! | `histogram` | quantiles |
//! | `bins` | arrivals by time, and their dispersion |
//! | `requests` | request vectors |
//! | `jobs` | jobs from their tasks |
//! | `machines` | machines and their shapes |
//! | `spread` | how the instances of a task differ |
//! | `speeds` | measured speeds |

mod bins;
mod histogram;
mod instances;
mod jobs;
mod machines;
mod requests;
mod speeds;

pub use bins::{Bins, Dispersion, MOST_PAGES};
pub use histogram::{Quantiles, ValueHistogram};
pub use instances::{InstanceDurations, InstanceSummary};
pub use jobs::{JobSummary, Jobs, WINDOW};
pub use machines::{MOST_MACHINES, MachineShape, MachineSummary, Machines};
pub use requests::{Devices, MOST_VECTORS, Requests, Vector};
pub use speeds::{JobOnKind, KindRatio, MOST_CELLS, Sharing, SpeedCells, SpeedSummary};

pub(crate) use jobs::fingerprint;
pub(crate) use machines::Known;
pub(crate) use requests::Key;

use crate::event::{Machine, Sink, Speed, Task, TaskInstance};
use serde::Serialize;

/// How many request vectors are told.
const TOLD: usize = 24;

/// Takes a trace and tells what is in it.
#[derive(Debug, Clone, Default)]
pub struct TraceSummary {
    machines: Machines,
    requests: Requests,
    jobs: Jobs,
    tasks: Tasks,
    spread: InstanceDurations,
    speeds: SpeedCells,
}

#[derive(Debug, Clone)]
struct Tasks {
    first: f64,
    last: f64,
    durations: ValueHistogram,
    waits: ValueHistogram,
    counts: ValueHistogram,
    unknown: u64,
    second: Bins,
    minute: Bins,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            first: f64::INFINITY,
            last: 0.0,
            durations: ValueHistogram::default(),
            waits: ValueHistogram::default(),
            counts: ValueHistogram::default(),
            unknown: 0,
            second: Bins::new(1.0),
            minute: Bins::new(60.0),
        }
    }
}

/// What is in a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceDescription {
    /// The machines.
    pub machines: Option<MachineSummary>,
    /// The tasks and their jobs.
    pub tasks: Option<TaskSummary>,
    /// The instances.
    pub instances: Option<InstanceSummary>,
    /// The speeds.
    pub speeds: Option<SpeedSummary>,
}

/// What is known of the tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskSummary {
    /// How many.
    pub count: u64,
    /// The first arrival, in seconds of the trace's clock.
    pub first_arrival: f64,
    /// The last.
    pub last_arrival: f64,
    /// Their jobs.
    pub jobs: JobSummary,
    /// Tasks a minute.
    pub per_minute: Option<Dispersion>,
    /// Tasks a second.
    pub per_second: Option<Dispersion>,
    /// How long they ran, in seconds.
    pub durations: Option<Quantiles>,
    /// How long they waited from their arrival to their start, in seconds, where that is told.
    pub waits: Option<Quantiles>,
    /// Tasks whose duration is not known.
    pub unknown_durations: u64,
    /// Instances a task.
    pub instances: Option<Quantiles>,
    /// The devices, in the order of the requests.
    pub devices: Vec<String>,
    /// How many different request vectors there are.
    pub distinct_requests: usize,
    /// The most frequent request vectors.
    pub requests: Vec<Vector>,
    /// The distribution of the durations, for a figure.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

impl TraceSummary {
    /// The request vectors.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The machines.
    pub fn machines(&self) -> &Machines {
        &self.machines
    }

    /// The first and the last arrival of a task; `None` where there was none.
    pub fn arrivals(&self) -> Option<(f64, f64)> {
        (self.requests.tasks > 0).then_some((self.tasks.first, self.tasks.last))
    }

    /// How many tasks there are.
    pub fn count(&self) -> u64 {
        self.requests.tasks
    }

    /// How long tasks ran; `None` where none has a known duration.
    pub fn durations(&self) -> Option<Quantiles> {
        self.tasks.durations.quantiles()
    }

    /// How many things are held in memory: what must stay bounded.
    pub fn held(&self) -> usize {
        self.requests.distinct()
            + self.jobs.open()
            + self.machines.count()
            + 256 * (self.tasks.second.pages() + self.tasks.minute.pages())
    }

    /// What is in the trace.
    pub fn finish(&mut self) -> TraceDescription {
        TraceDescription {
            machines: self.machines.finish(),
            tasks: self.tell_tasks(),
            instances: self.spread.finish(),
            speeds: self.speeds.finish(),
        }
    }

    fn tell_tasks(&mut self) -> Option<TaskSummary> {
        let (first_arrival, last_arrival) = self.arrivals()?;
        let tasks = &self.tasks;
        Some(TaskSummary {
            count: self.requests.tasks,
            first_arrival,
            last_arrival,
            jobs: self.jobs.finish(),
            per_minute: tasks.minute.dispersion(),
            per_second: tasks.second.dispersion(),
            durations: tasks.durations.quantiles(),
            waits: tasks.waits.quantiles(),
            unknown_durations: tasks.unknown,
            instances: tasks.counts.quantiles(),
            devices: self.requests.devices.names().to_vec(),
            distinct_requests: self.requests.distinct(),
            requests: self.requests.most_frequent(TOLD),
            curve: tasks.durations.cumulative(300),
        })
    }
}

impl Sink for TraceSummary {
    fn machine(&mut self, machine: &Machine<'_>) {
        self.machines.add(machine);
    }

    fn task(&mut self, task: &Task<'_>) {
        let tasks = &mut self.tasks;
        tasks.first = tasks.first.min(task.arrival);
        tasks.last = tasks.last.max(task.arrival);
        match task.duration {
            Some(duration) => tasks.durations.add(duration),
            None => tasks.unknown += 1,
        }
        if let Some(start) = task.start {
            tasks.waits.add((start - task.arrival).max(0.0));
        }
        tasks.counts.add(task.count as f64);
        tasks.second.add(task.arrival);
        tasks.minute.add(task.arrival);
        self.requests.add(task.request, task.count);
        self.jobs.add(task);
    }

    fn instance(&mut self, instance: &TaskInstance<'_>) {
        self.spread.add(instance);
    }

    fn speed(&mut self, speed: &Speed<'_>) {
        self.speeds.add(speed);
    }
}
