//! A scenario of a played trace, for any speeds.

use super::{JobType, Played, PlayedJob, ReplayError};
use esdp::model::SupplyCost;
use esdp::rng::{Purpose, stream};
use esdp::scenario::{
    CostTable, DeviceTable, GangTable, GraphTable, JobTable, LabelledPolicy, ListedGang, ListedTasks,
    NumberedChannel, Scenario, ServerTable, Spec,
};
use esdp::sim::{ArrivalSpec, MOST_JOBS as MOST_AT_ONCE, MeasuredSpec, SpeedSpec};
use rand::RngExt;

/// The mean net utility of a job type on its fastest server: a speed may rise by two thirds before it is
/// clipped at 1.
const FASTEST: f64 = 0.6;

/// What differs from run to run.
#[derive(Debug, Clone, PartialEq)]
pub enum Noise {
    /// Nothing.
    None,
    /// The speeds of servers, as was measured, in blocks of so many slots.
    Measured(Vec<Vec<f64>>, u64),
    /// The jobs: a policy sees speeds times a log-normal factor of the job, with this coefficient of
    /// variation. The durations of the trace have that luck in them already.
    OfJobs(f64),
}

/// Relative speeds: one row per job type, one number per server.
#[derive(Debug, Clone, PartialEq)]
pub struct RelativeSpeeds(pub Vec<Vec<f64>>);

impl RelativeSpeeds {
    /// The same for every job type: one speed per server.
    pub fn of_servers(played: &Played, speeds: &[f64]) -> Self {
        Self(vec![speeds.to_vec(); played.types.len()])
    }

    /// The fastest server is `ratio` times as fast as the slowest; the others lie evenly between them, in
    /// drawn order.
    pub fn spread(played: &Played, ratio: f64, seed: u64) -> Self {
        let count = played.servers.len();
        let mut order: Vec<usize> = (0..count).collect();
        let mut rng = stream(seed, Purpose::Laws, 0, 0);
        for at in (1..count).rev() {
            order.swap(at, rng.random_range(0..=at));
        }
        let speed = |at: &usize| libm::pow(ratio, *at as f64 / (count.max(2) - 1) as f64 - 0.5);
        Self::of_servers(played, &order.iter().map(speed).collect::<Vec<_>>())
    }
}

impl Played {
    /// The slot of every job's arrival, from 0; later jobs of a crowd come a slot later. Jobs are in the
    /// order of their arrival, so the last slot of a type is the only one that may be full.
    fn slots(&self) -> Vec<usize> {
        let mut crowds: Vec<(usize, u32)> = vec![(0, 0); self.types.len()];
        let last = self.window.slots as usize - 1;
        let slot = |job: &PlayedJob| {
            let (at, jobs) = &mut crowds[job.kind];
            let due = ((job.arrival / self.window.slot) as usize).min(last).max(*at);
            (*at, *jobs) = match (due > *at, *jobs >= MOST_AT_ONCE && *at < last) {
                (true, _) => (due, 1),
                (false, true) => (*at + 1, 1),
                (false, false) => (*at, *jobs + 1),
            };
            *at
        };
        self.jobs.iter().map(slot).collect()
    }

    /// The jobs of every type, in the order in which they come: the numbers of finished jobs.
    pub fn numbers(&self) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        let slots = self.slots();
        order.sort_by_key(|job| slots[*job]);
        let mut numbers = vec![Vec::new(); self.types.len()];
        order.into_iter().for_each(|job| numbers[self.jobs[job].kind].push(job));
        numbers
    }

    /// The scenario with these speeds.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn scenario(
        &self,
        means: &RelativeSpeeds,
        noise: &Noise,
        policies: Vec<LabelledPolicy>,
    ) -> Result<Scenario, ReplayError> {
        let types = self.types.len();
        let scale: Vec<f64> = (0..types)
            .map(|kind| {
                let fastest =
                    self.types[kind].servers.iter().map(|at| means.0[kind][*at as usize]).fold(0.0, f64::max);
                FASTEST / fastest
            })
            .collect();
        let speed = |kind: usize, server: u32| means.0[kind][server as usize] * scale[kind];
        let mut arrivals = vec![vec![0u32; types]; self.window.slots as usize];
        self.jobs.iter().zip(self.slots()).for_each(|(job, slot)| arrivals[slot][job.kind] += 1);
        let work = |(kind, jobs): (usize, &Vec<usize>)| {
            let average = self.types[kind].servers.iter().map(|server| speed(kind, *server)).sum::<f64>()
                / self.types[kind].servers.len() as f64;
            let of = |job: &usize| {
                let job = &self.jobs[*job];
                let ran = job.logged.as_ref().map_or(&[][..], |logged| &logged.servers);
                let mean =
                    ran.iter().map(|server| speed(kind, *server)).sum::<f64>() / ran.len().max(1) as f64;
                let mean = if ran.is_empty() { average } else { mean };
                // Six digits: the rest is noise, and the file stays readable.
                ((job.duration / self.window.slot * mean).clamp(1e-6, 1e8) * 1e6).round() / 1e6
            };
            let list: Vec<f64> = jobs.iter().map(of).collect();
            // A type whose every job was left out by coin has no work to list, and never asks for it.
            if list.is_empty() { vec![1.0] } else { list }
        };
        let work: Vec<Vec<f64>> = self.numbers().iter().enumerate().map(work).collect();
        let mut spec = Spec::new("replay")
            .description(format!("{} jobs of a trace, as they came", self.jobs.len()))
            .slots(self.window.slots)
            .policies(policies);
        let pairs = || (0..types).flat_map(|kind| self.types[kind].servers.iter().map(move |at| (kind, *at)));
        let channel = |(kind, server): (usize, u32)| NumberedChannel {
            port: (kind as u32).into(),
            server: server.into(),
            task: 0,
            request: Some(self.requests[kind].clone()),
        };
        spec.graph = GraphTable {
            ports: (types as u64).into(),
            servers: (self.servers.len() as u64).into(),
            channels: Some(pairs().map(channel).collect()),
            ..GraphTable::default()
        };
        let labels = self.servers.iter().map(|server| vec![server.sort().to_owned()]).collect();
        spec.servers = ServerTable { list: Some(labels), ..ServerTable::default() };
        let count = self.devices.len();
        spec.devices = DeviceTable {
            count: count as u64,
            servers: Some(self.capacities.clone()),
            ..DeviceTable::default()
        };
        let gang = |(port, kind): (u32, &JobType)| ListedGang {
            port: port.into(),
            minimum: kind.tasks,
            tasks: vec![ListedTasks { count: kind.tasks, min: 0 }],
            requests: None,
            pace: None,
            crossing: None,
        };
        spec.gangs = Some(GangTable {
            list: Some((0..).zip(&self.types).map(gang).collect()),
            ..GangTable::default()
        });
        let luck = if let Noise::OfJobs(deviation) = noise { *deviation } else { 0.0 };
        spec.jobs = JobTable { held: true, drain: true, list: Some(work), luck, ..JobTable::default() };
        // A price would slow jobs down: what they take here is what they took.
        let free = vec![SupplyCost::Linear { fixed: 0.0, rate: 0.0 }; count];
        spec.costs = CostTable { devices: Some(free), ..CostTable::default() };
        spec.arrivals = ArrivalSpec::List { jobs: arrivals, repeat: false };
        let table = Some(vec![pairs().map(|(kind, server)| speed(kind, server)).collect()]);
        spec.speeds = match noise {
            Noise::None | Noise::OfJobs(_) => SpeedSpec { table, deviation: 0.0, ..SpeedSpec::default() },
            Noise::Measured(series, block) => SpeedSpec {
                table,
                measured: Some(MeasuredSpec { series: series.clone(), block: *block }),
                ..SpeedSpec::default()
            },
        };
        Ok(spec.build()?)
    }

    /// The number of the channel of a type to one of its servers.
    ///
    /// # Panics
    /// When the type may not use the server.
    pub fn channel(&self, kind: usize, server: u32) -> u32 {
        let before: usize = self.types[..kind].iter().map(|kind| kind.servers.len()).sum();
        let place = self.types[kind]
            .servers
            .iter()
            .position(|at| *at == server)
            .expect("the type may use the server");
        (before + place) as u32
    }
}
