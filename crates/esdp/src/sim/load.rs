//! The load of a setting whose jobs wait and hold their devices, and how soon they can be done at best.
//!
//! The load is 1 at the edge of what *any* rule can carry in the long run: the least share of the devices
//! that the jobs of the run need, over all ways to divide the time of the servers between the ports. Above 1
//! every rule has a queue that grows. The least completion is the time that jobs spend on devices, without
//! any waiting, under the same limits; no rule has a smaller mean in the long run. Both are linear programs
//! ([`Flow`]).
//!
//! For the load a job lasts whole slots: its work over the mean net utility of the server, rounded up where
//! speeds are constant, half a slot more where they fluctuate. The bound on completion rounds only jobs of
//! one task at constant speeds, because a gang over fast and slow servers may round differently; a job that
//! may use all channels of its port at once counts as if it did, and a gang of several task groups as if all
//! of its tasks had their fastest servers. Outages, speeds after the first slot, and devices that stay free
//! because no job fits into them are left out: they make the true load larger.

use super::parameter::ParameterError;
use super::workload::ArrivalSpec;
use super::{Environment, Rates, Setting, SettingError, Speeds, Workload};
use crate::model::{Amount, Arrivals, ChannelId, Cluster, PortId, ServerId, Slot};
use crate::solver::{Flow, Route};
use std::collections::BTreeMap;

/// The work of so many jobs of a port is enough to know its mean.
const SAMPLE: u64 = 4096;
/// Arrivals are counted over at most so many slots.
const LONGEST: u64 = 1 << 17;
/// Net utilities below this carry nothing.
const LEAST_SPEED: f64 = 1e-9;
/// Rates are scaled to a load up to this error, and in so many steps: one is enough unless ports often have
/// as many jobs in a slot as they may.
const LOAD_ERROR: f64 = 1e-3;
const MOST_STEPS: usize = 50;

/// The load of a setting, and the least mean completion time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemLoad {
    /// The share of the capacity that is needed; infinite if no server may run the jobs of some port.
    pub load: f64,
    /// No rule has a smaller mean completion time in the long run, in slots; none from a load of 1 on.
    pub least_completion: Option<f64>,
}

/// The jobs of a port, or one task group of them.
struct Stream {
    /// Jobs per slot.
    rate: f64,
    /// Tasks per job, and how many of the job's tasks that is.
    tasks: f64,
    share: f64,
    /// The work per task of the jobs that come first.
    work: Vec<f64>,
    channels: Vec<ChannelId>,
    /// The least time of a job on devices, where it does not depend on the server.
    least: Option<f64>,
}

/// Whether a job's time on devices is counted for the load or for the bound.
#[derive(Clone, Copy, PartialEq)]
enum Count {
    Load,
    Bound,
}

impl Setting {
    /// The load over a run of so many slots; none if jobs last one slot, or if the linear program is too
    /// large.
    pub fn load(&self, slots: u64) -> Option<SystemLoad> {
        let slots = slots.clamp(1, LONGEST);
        let mut workload = self.workload();
        let mut arrivals = Arrivals::everywhere(self.cluster().ports().len());
        let mut came = vec![0u64; self.cluster().ports().len()];
        for slot in (1..=slots).map(Slot) {
            workload.arrivals(slot, &mut arrivals);
            came.iter_mut()
                .enumerate()
                .for_each(|(at, sum)| *sum += u64::from(arrivals.jobs(PortId::at(at))));
        }
        let came: Vec<(f64, u64)> =
            came.iter().map(|&came| (came as f64 / slots as f64, came.min(SAMPLE))).collect();
        let mut speeds = self.environment();
        let streams = self.streams(&mut speeds, &came)?;
        if streams.is_empty() {
            return Some(SystemLoad { load: 0.0, least_completion: None });
        }
        let mut flow = |count| flow(self.cluster(), &streams, &mut speeds, count);
        let load = Some(flow(Count::Load)).filter(Flow::is_small)?.load()?;
        let least_completion = if load < 1.0 { flow(Count::Bound).least_cost() } else { None };
        Some(SystemLoad { load, least_completion })
    }

    /// The same with rates that give the load that the arrivals ask for, if they do.
    pub(super) fn scaled_to_load(mut self) -> Result<Self, SettingError> {
        let &ArrivalSpec::Poisson { ref rate, most, load: Some(target) } = self.arrivals() else {
            return Ok(self);
        };
        let refused = |why: &str| {
            SettingError::Arrivals(ParameterError::new("load", target, format!("none, because {why}")))
        };
        let rates: Vec<f64> =
            (0..self.cluster().ports().len()).map(|port| rate.of(PortId::at(port))).collect();
        let mut scale = 1.0;
        for _ in 0..MOST_STEPS {
            let scaled: Vec<f64> = rates.iter().map(|rate| scale * rate).collect();
            let came: Vec<(f64, u64)> =
                scaled.iter().map(|&rate| (poisson_mean(rate, most), SAMPLE)).collect();
            let mut speeds = self.environment();
            let streams = self.streams(&mut speeds, &came).unwrap_or_default();
            let flow = flow(self.cluster(), &streams, &mut speeds, Count::Load);
            let load = Some(flow).filter(Flow::is_small).and_then(|flow| flow.load());
            let load = load.ok_or_else(|| refused("the cluster is too large for the linear program"))?;
            if load <= 0.0 {
                return Err(refused("no jobs come at these rates"));
            }
            if load.is_infinite() {
                return Err(refused("no server runs the jobs of some port"));
            }
            if (load / target - 1.0).abs() <= LOAD_ERROR {
                let arrivals = ArrivalSpec::Poisson { rate: Rates::Each(scaled), most, load: None };
                arrivals.check(rates.len()).map_err(SettingError::Arrivals)?;
                self.set_arrivals(arrivals);
                return Ok(self);
            }
            scale *= target / load;
        }
        Err(refused("ports may not have that many jobs in a slot: raise `most`"))
    }

    /// The jobs of every port with a rate, with the work of so many of them; none where they do not wait.
    fn streams(&self, speeds: &mut Speeds, came: &[(f64, u64)]) -> Option<Vec<Stream>> {
        let held = self.held()?;
        let cluster = self.cluster();
        let mut streams = Vec::new();
        for (port, &(rate, jobs)) in came.iter().enumerate().filter(|(_, came)| came.0 > 0.0) {
            let port = PortId::at(port);
            let work: Vec<f64> = (0..jobs).map(|number| held.work(self.seed(), port, number)).collect();
            let mean = work.iter().sum::<f64>() / work.len() as f64;
            let all = cluster.channels_of(port);
            if !cluster.is_gang(port) {
                // A job may use every channel of its port, once each.
                let fastest: f64 = all.iter().map(|channel| speeds.mean(Slot(1), *channel)).sum();
                let least = (all.len() > 1).then_some(mean / fastest.max(LEAST_SPEED));
                streams.push(Stream { rate, tasks: 1.0, share: 1.0, work, channels: all.to_vec(), least });
                continue;
            }
            let groups = cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == port);
            let groups: Vec<(usize, f64)> = groups.map(|(at, group)| (at, f64::from(group.count))).collect();
            let tasks: f64 = groups.iter().map(|(_, count)| count).sum();
            let of = |group: usize| all.iter().copied().filter(move |id| cluster.task_group(*id) == group);
            let mut fastest =
                |group| of(group).map(|id| speeds.mean(Slot(1), id)).fold(LEAST_SPEED, f64::max);
            let sum: f64 = groups.iter().map(|(group, count)| count * fastest(*group)).sum();
            let least = (groups.len() > 1).then_some(mean * tasks / sum);
            for (group, count) in groups {
                let channels = of(group).collect();
                streams.push(Stream {
                    rate,
                    tasks: count,
                    share: count / tasks,
                    work: work.clone(),
                    channels,
                    least,
                });
            }
        }
        Some(streams)
    }
}

/// The mean of a Poisson count that is cut off at a most.
fn poisson_mean(rate: f64, most: u32) -> f64 {
    let mut term = (-rate).exp();
    let (mut below, mut mean) = (term, 0.0);
    for count in 1..most {
        term *= rate / f64::from(count);
        below += term;
        mean += f64::from(count) * term;
    }
    mean + f64::from(most) * (1.0 - below).max(0.0)
}

/// The slots that a task takes on average at a mean net utility.
fn slots(stream: &Stream, speed: f64, constant: bool, count: Count) -> f64 {
    let mean = |value: &dyn Fn(f64) -> f64| {
        stream.work.iter().map(|work| value(work / speed)).sum::<f64>() / stream.work.len() as f64
    };
    match (constant, count) {
        (true, Count::Load) => mean(&|slots| (slots - 1e-9).ceil()),
        (true, Count::Bound) if stream.tasks == 1.0 && stream.share == 1.0 && stream.least.is_none() => {
            mean(&|slots| (slots - 1e-9).ceil())
        }
        (false, Count::Load) => mean(&|slots| (slots + 0.5).max(1.0)),
        (_, Count::Bound) => mean(&|slots| slots),
    }
}

/// What a server offers and which streams it takes how fast: servers for which that is the same are one.
type Offer = (Option<Vec<Amount>>, Vec<(u32, u64, Vec<Amount>)>);

fn flow(cluster: &Cluster, streams: &[Stream], speeds: &mut Speeds, count: Count) -> Flow {
    let constant = speeds.are_constant();
    let mut servers: Vec<Offer> = (0..cluster.servers().len())
        .map(|server| (cluster.capacity().server(ServerId::at(server)).map(<[Amount]>::to_vec), Vec::new()))
        .collect();
    for (number, stream) in streams.iter().enumerate() {
        for &channel in &stream.channels {
            let speed = speeds.mean(Slot(1), channel);
            let (server, request) = (cluster.channel(channel).server.index(), cluster.request(channel));
            let fits = |capacity: &Option<Vec<Amount>>| {
                capacity.as_ref().is_none_or(|all| all.iter().zip(request).all(|(has, asked)| has >= asked))
            };
            if speed > LEAST_SPEED && fits(&servers[server].0) {
                servers[server].1.push((number as u32, speed.to_bits(), request.to_vec()));
            }
        }
    }
    let mut alike: BTreeMap<Offer, f64> = BTreeMap::new();
    servers.into_iter().for_each(|offer| *alike.entry(offer).or_default() += 1.0);
    let jobs: f64 = streams.iter().map(|stream| stream.rate * stream.share).sum();
    let mut flow = Flow { streams: streams.len(), ..Flow::default() };
    let mut limits: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (kind, ((capacity, offers), servers)) in alike.iter().enumerate() {
        for (number, speed, request) in offers {
            let stream = &streams[*number as usize];
            let slots = slots(stream, f64::from_bits(*speed), constant, count);
            let busy = stream.rate * stream.tasks * slots;
            let mut takes = Vec::new();
            for (device, &asked) in request.iter().enumerate().filter(|(_, asked)| **asked > 0) {
                let of_servers = capacity.as_ref().map(|all| (kind + 1, all[device] as f64 * servers));
                let of_cluster = cluster.capacity().cluster().map(|all| (0, all[device] as f64));
                for (owner, available) in of_servers.into_iter().chain(of_cluster) {
                    let next = limits.len() as u32;
                    let limit = *limits.entry((owner, device)).or_insert(next);
                    takes.push((limit, busy * asked as f64 / available.max(f64::MIN_POSITIVE)));
                }
            }
            let cost = stream.rate * stream.share / jobs * stream.least.unwrap_or(slots);
            flow.routes.push(Route { stream: *number, cost, takes });
        }
    }
    flow.limits = limits.len();
    flow
}
