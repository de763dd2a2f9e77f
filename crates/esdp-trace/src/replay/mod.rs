//! A scenario that plays a real trace again: real arrivals and durations, real machines, measured speeds and
//! their measured fluctuation.
//!
//! | of the scenario | from |
//! |---|---|
//! | ports | the most frequent request vectors of the tasks |
//! | jobs | tasks in their real order; each is a gang of as many tasks as the port's tasks have at the median, at most `most_tasks` |
//! | work | the task's duration, times the port's mean speed over the servers: on an average server it takes as long as it did |
//! | servers | machines drawn from the machine table, each with its own devices and, as its label, its kind |
//! | mean speeds | a speed table (`speeds.rs`): job types spread over the ports, kinds matched by name |
//! | fluctuation | measured series, in blocks ([`esdp::sim::MeasuredSpec`]) |
//!
//! Jobs are thinned, by coin, until they keep the scarcest device busy to the given `load`. What a trace does not
//! tell (no machines, no speeds, no noise) comes from the generator and from preset `fleet-real`.
//!
//! Two passes: a [`TraceSummary`] first, then a [`Replay`]. Memory: the jobs of the window, at most [`MOST_JOBS`].

mod speeds;
mod tables;

use crate::event::{GPU, Sink, Speed, Task};
use crate::plan::{Column, PlanError, Server, Units, Window, check, enough};
use crate::summary::{Devices, Key, TraceSummary};
use esdp::rng::{Purpose, stream};
use esdp::scenario::{DeviceTable, LabelledPolicy, Scenario, ScenarioError, ServerTable, Spec};
use esdp::sim::ArrivalSpec;
use rand::RngExt;
use speeds::{Fluctuation, SpeedTable, Speeds};
use thiserror::Error;

/// The most servers.
const MOST_SERVERS: usize = 20_000;
/// The most jobs of a window, before thinning.
pub const MOST_JOBS: usize = 4_000_000;

/// What is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayPlan {
    /// Which part of the trace, and how large the cluster is.
    pub window: Window,
    /// The target utilisation of the scarcest device, as a share.
    pub load: f64,
    /// The most tasks of a job.
    pub most_tasks: u32,
    /// Length of a resampled fluctuation block, in slots.
    pub block: u64,
}

impl Default for ReplayPlan {
    fn default() -> Self {
        Self { window: Window { slot: 5.0, ..Window::default() }, load: 0.8, most_tasks: 4, block: 20 }
    }
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
    /// No task of the window can be played.
    #[error(
        "no task between {from} s and {to} s after the first has a known duration, expected another `start` or more slots"
    )]
    Empty {
        /// The start of the window.
        from: f64,
        /// Its end.
        to: f64,
    },
    /// Too many jobs.
    #[error("more than {MOST_JOBS} tasks in the window, expected fewer slots or shorter ones")]
    TooManyJobs,
    /// No machine has room.
    #[error("none of the machines has room for a task of port {port} ({request})")]
    NoServer {
        /// The port.
        port: usize,
        /// What it asks for.
        request: String,
    },
    /// The scenario that was built was rejected.
    #[error("the replay cannot be run: {0}")]
    Scenario(#[from] ScenarioError),
}

/// A job of the window.
#[derive(Debug, Clone, Copy)]
struct Job {
    arrival: f64,
    duration: f64,
    port: u32,
    count: u32,
}

/// A replay that is being built: the sink of the second pass.
#[derive(Debug)]
pub struct Replay {
    plan: ReplayPlan,
    devices: Devices,
    ports: Vec<Key>,
    servers: Vec<Server>,
    first: f64,
    jobs: Vec<Job>,
    overflow: bool,
    speeds: Speeds,
}

/// A finished replay.
#[derive(Debug, Clone)]
pub struct BuiltReplay {
    /// The scenario, without policies and seeds of one's own.
    pub scenario: Scenario,
    /// The devices, in the order of the scenario.
    pub devices: Vec<String>,
    /// Of how many tasks of the window.
    pub tasks: usize,
    /// How many are played.
    pub jobs: usize,
    /// How busy the scarcest device would be at mean speeds, as a share.
    pub load: f64,
    /// What the speeds and their fluctuation come from, in a sentence.
    pub origin: String,
}

impl Replay {
    /// Chooses ports and servers from what the first pass saw.
    ///
    /// # Errors
    /// When the plan is out of range or the trace has no tasks.
    pub fn new(plan: ReplayPlan, summary: &TraceSummary) -> Result<Self, ReplayError> {
        plan.window.check(MOST_SERVERS)?;
        check("load", plan.load, 1e-3, 100.0)?;
        check("tasks", f64::from(plan.most_tasks), 1.0, 1000.0)?;
        check("block", plan.block as f64, 1.0, 1e9)?;
        let Some((first, _)) = summary.arrivals() else { return Err(ReplayError::NoTasks) };
        let requests = summary.requests();
        let ports: Vec<Key> = requests.ranked(plan.window.ports).into_iter().map(|(key, _)| key).collect();
        let servers = enough(&plan.window, summary.machines());
        let first = first + plan.window.start;
        Ok(Self {
            devices: requests.devices.clone(),
            ports,
            servers,
            first,
            jobs: Vec::new(),
            overflow: false,
            speeds: Speeds::default(),
            plan,
        })
    }

    /// Thins the jobs and writes the scenario.
    ///
    /// # Errors
    /// When there is nothing to play, or no room for it.
    pub fn finish(mut self) -> Result<BuiltReplay, ReplayError> {
        if self.overflow {
            return Err(ReplayError::TooManyJobs);
        }
        if self.jobs.is_empty() {
            let from = self.plan.window.start;
            return Err(ReplayError::Empty { from, to: from + self.length() });
        }
        self.jobs.sort_by(|a, b| a.arrival.total_cmp(&b.arrival));
        // Ports that nobody asked for in the window would only be in the way.
        let used: Vec<bool> =
            (0..self.ports.len()).map(|port| self.jobs.iter().any(|job| job.port as usize == port)).collect();
        let number: Vec<u32> = used
            .iter()
            .scan(0, |next, &used| {
                let at = *next;
                *next += u32::from(used);
                Some(at)
            })
            .collect();
        self.ports = self.ports.iter().zip(&used).filter(|(_, used)| **used).map(|(key, _)| *key).collect();
        self.jobs.iter_mut().for_each(|job| job.port = number[job.port as usize]);

        let (table, fluctuation) = (SpeedTable::of(&self.speeds), Fluctuation::of(&self.speeds));
        let units = Units::new(self.ports.len(), &self.columns());
        let requests = units.requests();
        let capacities: Vec<Vec<u64>> = self.servers.iter().map(|server| units.capacity(server)).collect();
        let kinds: Vec<usize> = table.kinds(&self.servers, self.plan.window.seed);
        let fits = |port: usize, server: usize| requests[port].iter().zip(&capacities[server]).all(|(a, c)| a <= c);
        let mut channels = Vec::new();
        let mut means = Vec::new();
        for (port, request) in requests.iter().enumerate() {
            let before = channels.len();
            for server in (0..self.servers.len()).filter(|&server| fits(port, server)) {
                channels.push((port, server));
                means.push(table.mean(port, self.ports.len(), kinds[server]));
            }
            if channels.len() == before {
                let request = units.names().zip(request).map(|(name, units)| format!("{units} {name}"));
                return Err(ReplayError::NoServer { port, request: request.collect::<Vec<_>>().join(", ") });
            }
        }
        let mean_speed = |port: usize| {
            let of = channels.iter().zip(&means).filter(|((at, _), _)| *at == port).map(|(_, mean)| *mean);
            let (sum, count) = of.fold((0.0, 0.0), |(sum, count), mean| (sum + mean, count + 1.0));
            sum / count
        };
        let speeds: Vec<f64> = (0..self.ports.len()).map(mean_speed).collect();
        let tasks: Vec<u32> = (0..self.ports.len()).map(|port| self.tasks(port)).collect();
        let Window { slot, slots, .. } = self.plan.window;
        let (kept, load) = self.thin(requests, &capacities, &tasks);
        let (mut arrivals, mut work) =
            (vec![vec![0u32; self.ports.len()]; slots as usize], vec![Vec::new(); self.ports.len()]);
        for job in &kept {
            let at = (((job.arrival - self.first) / slot) as usize).min(slots as usize - 1);
            arrivals[at][job.port as usize] += 1;
            work[job.port as usize].push((job.duration / slot * speeds[job.port as usize]).clamp(1e-6, 1e8));
        }
        // A port whose every job was thinned away has no work to list, and never asks for it.
        work.iter_mut().filter(|jobs| jobs.is_empty()).for_each(|jobs| jobs.push(1.0));

        let labels = kinds.iter().map(|&kind| vec![table.kind_name(kind)]).collect();
        let mut spec = Spec::new("replay")
            .description(format!("{} jobs of a trace, as they came", kept.len()))
            .slots(slots)
            .policies(POLICIES.map(|name| LabelledPolicy::named(name).expect("a policy of the library")));
        spec.graph = tables::graph(self.servers.len(), &channels, requests);
        spec.servers = ServerTable { list: Some(labels), ..ServerTable::default() };
        spec.devices = DeviceTable { count: units.count() as u64, servers: Some(capacities), ..DeviceTable::default() };
        spec.gangs = Some(tables::gangs(&tasks));
        spec.jobs = tables::jobs(work);
        spec.costs = tables::costs(requests);
        spec.arrivals = ArrivalSpec::List { jobs: arrivals, repeat: false };
        spec.speeds = fluctuation.speeds(means, self.plan.block);
        let scenario = spec.build()?;
        let origin = format!("{}; {}", table.origin(), fluctuation.origin());
        let devices = units.names().map(str::to_owned).collect();
        Ok(BuiltReplay { scenario, devices, tasks: self.jobs.len(), jobs: kept.len(), load, origin })
    }

    /// How long the window is, in seconds.
    fn length(&self) -> f64 {
        self.plan.window.slot * self.plan.window.slots as f64
    }

    /// The devices that count: those that some port asks for and some server has.
    fn columns(&self) -> Vec<Column> {
        let asked: Vec<Vec<f64>> = self.ports.iter().map(|key| self.devices.amounts(key)).collect();
        let has = |name: &str| self.servers.iter().any(|server| server.amount(name) > 0.0);
        let mut columns: Vec<Column> = Vec::new();
        for (at, name) in self.devices.names().iter().enumerate() {
            let amounts: Vec<f64> = asked.iter().map(|amounts| amounts[at]).collect();
            if has(name) && amounts.iter().any(|amount| *amount > 0.0) {
                columns.push(Column { name: name.clone(), size: None, amounts });
            }
        }
        if columns.iter().all(|column| column.name != GPU) && has(GPU) {
            // The tasks ask for none, but speeds are measured on GPUs: a task has one.
            columns.push(Column { name: GPU.to_owned(), size: None, amounts: vec![1.0; self.ports.len()] });
        }
        columns
    }

    /// How many tasks a job of a port has: the median of its tasks' instances, within the plan's limit.
    fn tasks(&self, port: usize) -> u32 {
        let mut counts: Vec<u32> =
            self.jobs.iter().filter(|job| job.port as usize == port).map(|job| job.count).collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied().unwrap_or(1).clamp(1, self.plan.most_tasks)
    }

    /// Keeps jobs by coin, so that they ask for `load` of the scarcest device; the jobs, and the load they make.
    fn thin(&self, requests: &[Vec<u64>], capacities: &[Vec<u64>], tasks: &[u32]) -> (Vec<Job>, f64) {
        let load = |jobs: &[Job]| {
            let mut asked = vec![0.0; requests[0].len()];
            for job in jobs {
                let port = job.port as usize;
                let slots = (job.duration / self.plan.window.slot).max(1.0) * f64::from(tasks[port]);
                asked.iter_mut().zip(&requests[port]).for_each(|(sum, &units)| *sum += units as f64 * slots);
            }
            let there = |device: usize| capacities.iter().map(|server| server[device] as f64).sum::<f64>();
            let share = |(device, asked): (usize, &f64)| asked / there(device).max(1.0) / self.plan.window.slots as f64;
            asked.iter().enumerate().map(share).fold(0.0, f64::max)
        };
        let keep = (self.plan.load / load(&self.jobs)).min(1.0);
        let coin = |at: usize| stream(self.plan.window.seed, Purpose::Arrivals, at as u64, 1).random::<f64>() < keep;
        let kept: Vec<Job> = self.jobs.iter().enumerate().filter(|(at, _)| coin(*at)).map(|(_, job)| *job).collect();
        let reached = load(&kept);
        (kept, reached)
    }
}

/// Who is compared by default.
const POLICIES: [&str; 11] =
    ["esdp", "oracle", "esdp-pooled", "esdp-index", "esdp-drift", "cts", "hauf", "lcf", "lwtf", "random", "first-fit"];

impl Sink for Replay {
    fn task(&mut self, task: &Task<'_>) {
        let at = task.arrival - self.first;
        let Some(duration) = task.duration else { return };
        if !(at >= 0.0 && at < self.length() && duration > 0.0) {
            return;
        }
        let key = self.devices.key(task.request);
        let Some(port) = self.ports.iter().position(|known| *known == key) else { return };
        if self.jobs.len() >= MOST_JOBS {
            self.overflow = true;
            return;
        }
        let count = u32::try_from(task.count).unwrap_or(u32::MAX);
        self.jobs.push(Job { arrival: task.arrival, duration, port: port as u32, count });
    }

    fn speed(&mut self, speed: &Speed<'_>) {
        self.speeds.add(speed);
    }
}
