//! A scenario for `esdp run` from a trace, the way the paper makes its own.
//!
//! | the paper's | from the trace |
//! |---|---|
//! | ports | the most frequent request vectors |
//! | arrivals | which ports have a task in each slot of `slot` seconds, in the real order; thinned by *rho* |
//! | requests | the vectors, in whole units, rounded up |
//! | servers | machines drawn from the machine table |
//! | capacities | what those machines have together, times one factor for all devices |
//! | channels | where a request fits the machine, by failure domain, by kind, or by probability |
//!
//! The factor makes mean demand a given multiple of the capacity of the scarcest device: real clusters of
//! thousands of cores would never be full of eight jobs, and the paper normalises its capacities for that
//! reason. A factor of one's own may be given instead.
//!
//! Two passes over the trace: a [`TraceSummary`] first, for the vectors and the machines; then a [`Draft`],
//! which counts arrivals. Memory: slots times ports.

mod edges;
mod servers;
mod text;

pub use edges::Edges;

use crate::event::{Sink, Task};
use crate::plan::{Column, PlanError, Units, Window, check};
use crate::summary::{Devices, Key, TraceSummary};
use esdp::rng::{Purpose, stream};
use esdp::scenario::{DeviceTable, GraphTable, NumberedChannel, Scenario, ScenarioError, Spec};
use esdp::sim::{ArrivalSpec, SpeedLaw, SpeedSpec};
use rand::RngExt;
use servers::Servers;
use thiserror::Error;

/// The most servers.
pub const MOST_SERVERS: usize = 100_000;

/// Why there is no scenario. Fatal: the trace or the plan is at fault.
#[derive(Debug, Error)]
pub enum DraftError {
    /// There are no tasks.
    #[error("there are no tasks in it, expected a trace with arrivals and requests")]
    NoTasks,
    /// A number of the plan is out of range.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The machines lack a device that is asked for.
    #[error(
        "the tasks ask for `{device}`, the machines have {known}: give the machine table of the same trace, \
         or choose devices"
    )]
    Device {
        /// The device.
        device: String,
        /// What the machines have.
        known: String,
    },
    /// A port has no server.
    #[error(
        "the request of port {port} ({request}) fits none of the {servers} servers, expected more servers \
         or fewer ports"
    )]
    NoServer {
        /// The port.
        port: usize,
        /// Its request.
        request: String,
        /// How many servers there are.
        servers: usize,
    },
    /// Servers are to be grouped by something that the machine table does not tell.
    #[error("edges by {by}: the machine table tells no {by}, expected one that does, or another rule")]
    NoGroups {
        /// By what.
        by: &'static str,
    },
    /// The scenario that was built was rejected.
    #[error("the scenario cannot be run: {0}")]
    Scenario(#[from] ScenarioError),
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Which part of the trace, and how large the cluster is.
    pub window: Window,
    /// The probability with which an arrival is kept.
    pub rho: f64,
    /// The most jobs of a port in a slot.
    pub most: u32,
    /// Which server may run which port.
    pub edges: Edges,
    /// The devices that count; all that are asked for where none is named.
    pub devices: Vec<String>,
    /// The size of a unit, by device; the smallest request where none is told.
    pub units: Vec<(String, f64)>,
    /// Mean demand as a multiple of the scarcest capacity.
    pub contention: f64,
    /// Capacities as a multiple of the servers' own, in place of `contention`.
    pub scale: Option<f64>,
    /// The name of the scenario.
    pub name: String,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            window: Window::default(),
            rho: 1.0,
            most: 1,
            edges: Edges::Probability(0.1),
            devices: Vec::new(),
            units: Vec::new(),
            contention: 2.0,
            scale: None,
            name: "trace".to_owned(),
        }
    }
}

impl Plan {
    fn check(&self) -> Result<(), PlanError> {
        self.window.check(MOST_SERVERS)?;
        check("rho", self.rho, 0.0, 1.0)?;
        check("most", f64::from(self.most), 1.0, 1000.0)?;
        check("contention", self.contention, 1e-3, 1e6)?;
        check("scale", self.scale.unwrap_or(1.0), 1e-9, 1e9)?;
        if let Edges::Probability(probability) = self.edges {
            check("probability", probability, 0.0, 1.0)?;
        }
        for (_, unit) in &self.units {
            check("units", *unit, 1e-6, 1e12)?;
        }
        Ok(())
    }
}

/// The devices that count: those asked for, of those named if any are.
fn columns(plan: &Plan, devices: &Devices, ports: &[Key]) -> Result<Vec<Column>, DraftError> {
    let names = devices.names();
    for name in plan.devices.iter().chain(plan.units.iter().map(|(name, _)| name)) {
        if !names.contains(name) {
            let accepted = format!("some of {}", names.join(", "));
            return Err(PlanError { key: "devices", value: name.clone(), accepted }.into());
        }
    }
    let all: Vec<Vec<f64>> = ports.iter().map(|key| devices.amounts(key)).collect();
    let column = |(at, name): (usize, &String)| {
        let wanted = plan.devices.is_empty() || plan.devices.contains(name);
        let amounts: Vec<f64> = all.iter().map(|request| request[at]).collect();
        let size = plan.units.iter().find(|(told, _)| told == name).map(|(_, unit)| *unit);
        (wanted && amounts.iter().any(|amount| *amount > 0.0)).then(|| Column {
            name: name.clone(),
            size,
            amounts,
        })
    };
    let columns: Vec<Column> = names.iter().enumerate().filter_map(column).collect();
    if columns.is_empty() { Err(DraftError::NoTasks) } else { Ok(columns) }
}

/// A scenario that is being built: a sink for the second pass.
#[derive(Debug)]
pub struct Draft {
    plan: Plan,
    /// All devices of the trace, to recognise vectors.
    devices: Devices,
    ports: Vec<Key>,
    /// The share of tasks that the ports cover.
    covered: f64,
    units: Units,
    servers: Servers,
    channels: Vec<(usize, usize)>,
    first: f64,
    /// Jobs by slot and port, before thinning.
    jobs: Vec<u32>,
    spread: Option<f64>,
}

/// A finished scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The scenario.
    pub scenario: Scenario,
    /// The same as TOML, with what the trace calls things in comments.
    pub toml: String,
    /// How many slots it lists.
    pub slots: u64,
    /// How many ports.
    pub ports: usize,
    /// How many servers.
    pub servers: usize,
    /// How many channels.
    pub channels: usize,
    /// The capacities, in units.
    pub capacities: Vec<(String, u64)>,
    /// The share of all tasks whose vector is a port.
    pub covered: f64,
    /// How many jobs arrive in the slots.
    pub jobs: u64,
    /// For every port, the share of slots with at least one job.
    pub busy: Vec<f64>,
}

impl Draft {
    /// Chooses ports, units, servers and channels from what the first pass saw.
    ///
    /// # Errors
    /// When the plan is out of range, or asks for what the trace does not have.
    pub fn new(plan: Plan, summary: &mut TraceSummary) -> Result<Self, DraftError> {
        plan.check()?;
        let Some((first, last)) = summary.arrivals() else { return Err(DraftError::NoTasks) };
        let requests = summary.requests();
        let (devices, ranked) = (requests.devices.clone(), requests.ranked(plan.window.ports));
        let covered = ranked.iter().map(|(_, asked)| asked.tasks).sum::<u64>() as f64 / requests.tasks as f64;
        let ports: Vec<Key> = ranked.into_iter().map(|(key, _)| key).collect();
        let units = Units::new(ports.len(), &columns(&plan, &devices, &ports)?);
        let servers = Servers::draw(&plan.window, summary.machines(), &units)?;
        let channels = edges::draw(&plan, &servers, &units)?;
        let Window { slot, slots, start, .. } = plan.window;
        let length = ((last - first - start).max(0.0) / slot).floor() as u64 + 1;
        let slots = length.min(slots);
        let jobs = vec![0; slots as usize * ports.len()];
        let spread =
            summary.finish().instances.and_then(|instances| instances.variation).map(|found| found.p50);
        let first = first + start;
        Ok(Self { plan, devices, ports, covered, units, servers, channels, first, jobs, spread })
    }

    /// Thins the arrivals, sets the capacities and writes the scenario.
    ///
    /// # Errors
    /// When the scenario that was built is rejected.
    pub fn finish(mut self) -> Result<Built, DraftError> {
        let ports = self.ports.len();
        let slots = self.jobs.len() / ports;
        for slot in 0..slots {
            let mut rng = stream(self.plan.window.seed, Purpose::Arrivals, slot as u64 + 1, 0);
            for port in 0..ports {
                let jobs = &mut self.jobs[slot * ports + port];
                let kept = (0..*jobs).filter(|_| rng.random::<f64>() < self.plan.rho).count();
                *jobs = kept as u32;
            }
        }
        let busy = |port: usize| {
            let busy = (0..slots).filter(|slot| self.jobs[slot * ports + port] > 0).count();
            busy as f64 / slots as f64
        };
        let busy = (0..ports).map(busy).collect();
        let capacities = self.capacities(slots);
        let scenario = self.spec(&capacities, slots).build()?;
        let toml = text::write(&self, scenario.spec());
        let names = self.units.names().map(str::to_owned);
        Ok(Built {
            slots: slots as u64,
            ports,
            servers: self.servers.count(),
            channels: self.channels.len(),
            capacities: names.zip(capacities).collect(),
            covered: self.covered,
            jobs: self.jobs.iter().map(|jobs| u64::from(*jobs)).sum(),
            busy,
            toml,
            scenario,
        })
    }

    /// The scenario, before it is checked.
    fn spec(&self, capacities: &[u64], slots: usize) -> Spec {
        let Self { plan, units, .. } = self;
        // A name that needs no escapes in TOML.
        let plain = |c: char| if c.is_control() || matches!(c, '"' | '\\') { '-' } else { c };
        let name: String = plan.name.chars().map(plain).collect();
        let mut spec = Spec::new(name)
            .description(format!("{slots} slots of {} s of a trace", plan.window.slot))
            .slots(slots as u64);
        let channel = |&(port, server): &(usize, usize)| NumberedChannel {
            port: (port as u32).into(),
            server: (server as u32).into(),
            task: 0,
            request: Some(units.request(port).to_vec()),
        };
        spec.graph = GraphTable {
            ports: (self.ports.len() as u64).into(),
            servers: (self.servers.count() as u64).into(),
            channels: Some(self.channels.iter().map(channel).collect()),
            ..GraphTable::default()
        };
        let all = units.requests().iter().flatten().copied();
        let request = (all.clone().min().unwrap_or(0), all.max().unwrap_or(1));
        let amounts = Some(capacities.to_vec());
        spec.devices =
            DeviceTable { count: units.count() as u64, request, amounts, ..DeviceTable::default() };
        if let Some(variation) = self.spread {
            // Four digits: a measurement has no more.
            let deviation = (variation * 1e4).round() / 1e4;
            spec.speeds = SpeedSpec { law: SpeedLaw::LogNormal, deviation, ..SpeedSpec::default() };
        }
        let jobs = self.jobs.chunks(self.ports.len()).map(<[u32]>::to_vec).collect();
        spec.arrivals = ArrivalSpec::List { jobs, repeat: true };
        spec
    }

    /// What there is of every device, in units: at least the largest request.
    fn capacities(&self, slots: usize) -> Vec<u64> {
        let ports = self.ports.len();
        let count = self.units.count();
        let mut demand = vec![0.0; count];
        for (at, &jobs) in self.jobs.iter().enumerate() {
            let request = self.units.request(at % ports);
            demand.iter_mut().zip(request).for_each(|(sum, units)| *sum += (*units * u64::from(jobs)) as f64);
        }
        demand.iter_mut().for_each(|sum| *sum /= slots as f64);
        let owned = self.servers.total();
        // Without a machine table the demand itself gives the proportions.
        let owned = if owned.is_empty() { demand.clone() } else { owned };
        let needed = demand.iter().zip(&owned).map(|(demand, owned)| demand / owned / self.plan.contention);
        let scale =
            self.plan.scale.unwrap_or_else(|| needed.filter(|scale| scale.is_finite()).fold(0.0, f64::max));
        let largest =
            |device: usize| (0..ports).map(|port| self.units.request(port)[device]).max().unwrap_or(1);
        owned
            .iter()
            .enumerate()
            .map(|(device, owned)| ((owned * scale) as u64).max(largest(device)).max(1))
            .collect()
    }
}

impl Sink for Draft {
    fn task(&mut self, task: &Task<'_>) {
        let slot = ((task.arrival - self.first) / self.plan.window.slot).floor();
        let slots = self.jobs.len() / self.ports.len();
        if !(slot >= 0.0 && slot < slots as f64) {
            return;
        }
        let key = self.devices.key(task.request);
        if let Some(port) = self.ports.iter().position(|known| *known == key) {
            let jobs = &mut self.jobs[slot as usize * self.ports.len() + port];
            *jobs = (*jobs + 1).min(self.plan.most);
        }
    }
}
