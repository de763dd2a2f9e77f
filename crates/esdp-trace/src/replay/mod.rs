//! A real trace played again: its jobs, its machines, its speeds.
//!
//! | of the replay | from |
//! |---|---|
//! | jobs | tasks in their real order, with their ids; those of unknown length are counted and left out |
//! | job types | request of a task, number of tasks, and where it may run (`types.rs`) |
//! | servers | the machine table, whole; without one the nodes that accounting names (`servers.rs`) |
//! | slot and window | from the trace, unless they are told (`window.rs`) |
//! | speeds | a speed table (`speeds.rs`), accounting ([`crate::relative`]), or assumed spreads |
//! | work | a job's duration times the speed of where it ran; of an average server where that is not told |
//!
//! Two passes: a [`TraceSummary`] first, then a [`Replay`], which becomes a [`Played`] trace.
//! [`Played::scenario`] makes a scenario of it for any speeds. Memory: the jobs of the window, at most
//! [`MOST_JOBS`].

mod build;
mod scenario;
mod servers;
mod speeds;
mod types;
mod window;

pub use build::{Logged, Played, PlayedJob, Today};
pub use scenario::{Noise, RelativeSpeeds};
pub use servers::{MOST_SERVERS, MachineSource, PlayedServer, in_words};
pub use speeds::Mapping;
pub use types::JobType;
pub use window::{Chosen, time};

use crate::event::{GPU, Machine, Sink, Speed, Task};
use crate::hostlist;
use crate::plan::{PlanError, check};
use crate::relative::Cells;
use crate::summary::{Devices, Key, TraceSummary};
use esdp::scenario::ScenarioError;
use servers::Table;
use speeds::Speeds;
use std::collections::{BTreeSet, HashMap};
use thiserror::Error;

/// The most jobs of a window.
pub const MOST_JOBS: usize = 1_000_000;
/// The most nodes that all lists of jobs name, and the most entries of all lists; what is beyond is not told.
const MOST_NAMES: usize = 1 << 20;
const MOST_LISTED: usize = 1 << 24;
/// The most tasks of a job where a trace counts instances, and not nodes.
const MOST_INSTANCES: u32 = 4;

/// What is wanted; what is not said is chosen from the trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplayPlan {
    /// The length of a slot, in seconds.
    pub slot: Option<f64>,
    /// How many slots have arrivals.
    pub slots: Option<u64>,
    /// Where in the trace to start, in seconds after the first arrival.
    pub start: Option<f64>,
    /// How many job types.
    pub types: Option<usize>,
    /// How many servers.
    pub servers: Option<usize>,
    /// How busy the scarcest device shall be, as a share: jobs are left out by coin until it is.
    pub load: Option<f64>,
    /// The most tasks of a job.
    pub most_tasks: Option<u32>,
    /// Whether every task gets a GPU, also those that ask for none.
    pub gpu_each: bool,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

/// Why there is no replay. Fatal: the trace or the plan is at fault.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// A number of the plan is out of range.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There are no tasks.
    #[error("there are no tasks in it, expected a trace with arrivals, durations and requests")]
    NoTasks,
    /// No task has an end.
    #[error("no task has a known duration, so there is nothing to play again")]
    NoDurations,
    /// There are no machines.
    #[error(
        "the files do not say which machines there are: add a machine table (`sinfo -N -o \
         '%N|%c|%m|%G|%T'`, `scontrol \
         show node`, `kubectl get nodes -o json`, or a CSV of name,cpu,mem,gpu,kind), accounting with \
         NodeList, or \
         --servers N for N equal ones that are made up"
    )]
    NoMachines,
    /// Accounting names nodes, but not when jobs ran there.
    #[error(
        "the files name the nodes that jobs ran on but not when they started, so nobody knows how large the \
         nodes are: add the column Start to `sacct -o`, or a machine table (`sinfo -N -o '%N|%c|%m|%G|%T'`)"
    )]
    NoStarts,
    /// There is one machine.
    #[error(
        "the files know one machine only (`{name}`), so there is nothing to choose: --servers N cuts it \
         into N equal ones"
    )]
    OneMachine {
        /// Its name.
        name: String,
    },
    /// No task of the window can be played.
    #[error("no job of a known duration arrives between {from} and {to} after the first; {elsewhere}")]
    Empty {
        /// The start of the window.
        from: String,
        /// Its end.
        to: String,
        /// Where the jobs are.
        elsewhere: String,
    },
    /// Too many jobs.
    #[error("more than {MOST_JOBS} jobs in the window, expected fewer slots or shorter ones")]
    TooManyJobs,
    /// No machine has room.
    #[error("none of the machines has room for any of the jobs: {0}")]
    NoRoom(String),
    /// All jobs were left out by coin.
    #[error("a load of {load} leaves none of the {jobs} jobs, expected a higher one")]
    NoneLeft {
        /// The load.
        load: f64,
        /// How many jobs there were.
        jobs: usize,
    },
    /// What was built is no scenario.
    #[error("the replay cannot be run: {0}")]
    Scenario(#[from] ScenarioError),
}

/// A job of the window.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    id: Box<str>,
    arrival: f64,
    duration: f64,
    /// No number where it is not told.
    start: f64,
    request: Key,
    count: u32,
    /// The number of its place; then of its type.
    kind: u32,
    label: u32,
    /// The number of its list of nodes.
    nodes: u32,
}

/// Names by number, and lists of them: each is kept once.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    lists: Vec<Vec<u32>>,
    by_text: HashMap<String, u32>,
    /// The entries of all lists.
    listed: usize,
    /// The nodes that ran jobs of a place, such as a partition.
    by_kind: HashMap<u32, BTreeSet<u32>>,
}

impl Nodes {
    /// The number of a list as Slurm writes it.
    fn list(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by_text.get(text) {
            return *number;
        }
        let Self { names, numbers, lists, by_text, listed, .. } = self;
        let mut list = Vec::new();
        hostlist::expand(text, |name| {
            if *listed < MOST_LISTED && (names.len() < MOST_NAMES || numbers.contains_key(name)) {
                list.push(number_of(name, names, numbers));
                *listed += 1;
            }
        });
        by_text.insert(text.to_owned(), lists.len() as u32);
        lists.push(list);
        lists.len() as u32 - 1
    }
}

/// The number of a name, new or known.
fn number_of(name: &str, names: &mut Vec<String>, numbers: &mut HashMap<String, u32>) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = names.len() as u32;
    names.push(name.to_owned());
    numbers.insert(name.to_owned(), number);
    number
}

/// Names by number.
#[derive(Debug, Default)]
struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        number_of(name, &mut self.names, &mut self.numbers)
    }
}

/// A replay that is being built: the sink of the second pass.
#[derive(Debug)]
pub struct Replay {
    plan: ReplayPlan,
    window: Chosen,
    devices: Devices,
    table: Table,
    jobs: Vec<Job>,
    nodes: Nodes,
    kinds: Names,
    labels: Names,
    speeds: Speeds,
    cells: Cells,
    /// Every other job, and the rest: speeds from one half are tried on the other.
    halves: [Cells; 2],
    turn: bool,
    /// Arrivals of every task, by hundredths of the trace: where the jobs are.
    when: Vec<u64>,
    /// Of the window: tasks of unknown length, tasks that something ended, tasks cut to fewer instances.
    unknown: usize,
    stopped: usize,
    cut: usize,
    overflow: bool,
}

impl Replay {
    /// Chooses the window from what the first pass saw.
    ///
    /// # Errors
    /// When the plan is out of range or the trace has no tasks.
    pub fn new(plan: ReplayPlan, summary: &TraceSummary) -> Result<Self, ReplayError> {
        if let Some(load) = plan.load {
            check("load", load, 1e-3, 100.0)?;
        }
        if let Some(types) = plan.types {
            check("types", types as f64, 1.0, 1000.0)?;
        }
        if let Some(tasks) = plan.most_tasks {
            check("tasks", f64::from(tasks), 1.0, 1000.0)?;
        }
        let window = Chosen::new(&plan, summary)?;
        Ok(Self {
            devices: summary.requests().devices.clone(),
            plan,
            window,
            table: Table::default(),
            jobs: Vec::new(),
            nodes: Nodes::default(),
            kinds: Names::default(),
            labels: Names::default(),
            speeds: Speeds::default(),
            cells: Cells::default(),
            halves: Default::default(),
            turn: false,
            when: vec![0; 101],
            unknown: 0,
            stopped: 0,
            cut: 0,
            overflow: false,
        })
    }

    /// Where in the trace jobs are, in words.
    fn elsewhere(&self) -> String {
        let all: u64 = self.when.iter().sum();
        let most = self.when.iter().enumerate().max_by_key(|(_, count)| **count).map_or(0, |(at, _)| at);
        let at = |hundredth: usize| self.window.span * hundredth as f64 / 100.0;
        format!(
            "{all} arrive in all, most of them {} to {} after the first: try --start {:.0}",
            time(at(most)),
            time(at(most + 1)),
            at(most)
        )
    }

    /// The error of a window without jobs: it says where there are some.
    fn empty(&self) -> ReplayError {
        let Chosen { start, .. } = &self.window;
        let (from, to) = (time(*start), time(start + self.window.length()));
        ReplayError::Empty { from, to, elsewhere: self.elsewhere() }
    }
}

impl Sink for Replay {
    fn machine(&mut self, machine: &Machine<'_>) {
        self.table.add(machine);
    }

    fn task(&mut self, task: &Task<'_>) {
        if self.cells.add(task) {
            self.turn = !self.turn;
            self.halves[usize::from(self.turn)].add(task);
        }
        let after = task.arrival - self.window.first;
        if task.duration.is_some() {
            let place = (100.0 * after / self.window.span.max(1e-9)).clamp(0.0, 100.0);
            self.when[place as usize] += 1;
        }
        let at = after - self.window.start;
        if !(at >= 0.0 && at < self.window.length()) {
            return;
        }
        let Some(duration) = task.duration.filter(|duration| *duration > 0.0) else {
            self.unknown += 1;
            return;
        };
        if self.jobs.len() >= MOST_JOBS {
            self.overflow = true;
            return;
        }
        let (list, kind) = (self.nodes.list(task.nodes), self.kinds.number(task.kind));
        if !task.nodes.is_empty() {
            self.nodes.by_kind.entry(kind).or_default().extend(&self.nodes.lists[list as usize]);
        }
        // Where nodes are counted, the number is real; instances are thousands of like things.
        let real = !task.nodes.is_empty() || task.start.is_some();
        let most = self.plan.most_tasks.unwrap_or(if real { 1 << 12 } else { MOST_INSTANCES });
        let count = u32::try_from(task.count).unwrap_or(u32::MAX).max(1);
        self.cut += usize::from(count > most);
        self.stopped += usize::from(task.stopped);
        self.jobs.push(Job {
            id: if task.name.is_empty() {
                task.job.into()
            } else {
                format!("{}.{}", task.job, task.name).into()
            },
            arrival: at,
            duration,
            start: task.start.map_or(f64::NAN, |start| start - self.window.first - self.window.start),
            request: self.devices.key(task.request),
            count: count.min(most),
            kind,
            label: self.labels.number(task.label),
            nodes: list,
        });
    }

    fn speed(&mut self, speed: &Speed<'_>) {
        self.speeds.add(speed);
    }
}

impl Replay {
    /// Where GPUs are among the devices; they are added where every task gets one.
    fn gpu(&mut self) -> usize {
        self.devices.key(&[(GPU, 0.0)]);
        self.devices.names().iter().position(|name| name == GPU).unwrap_or(0)
    }
}
