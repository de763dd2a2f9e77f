//! Gangs whose tasks wait for each other: what the decision makes of them, in three ways.
//!
//! `cargo run --release -p esdp-core --example pace -- FIRST COUNT` plays 16 servers of 4 GPUs and six job
//! types of 2 to 8 tasks for 400 slots; 12 % of the servers have .35 of their speed. A job runs as fast as
//! its slowest task. On each of COUNT seeds, from FIRST on, three decisions play the same arrivals:
//!
//! - `sum`: speeds add up, and the uses of a port are dealt in turn (`pace = "sum"`);
//! - `dealt`: the same uses, sorted by speed and dealt job after job;
//! - `slowest`: `pace = "slowest"`.
//!
//! Printed are ratios to `sum`, seed by seed: their mean and its standard error.

use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, GangSpec, Outcome, Pace, PortId, Slot,
};
use esdp::policy::PolicySpec;
use esdp::policy::kit::deal;
use esdp::rng::{Purpose, Stream, stream};
use esdp::scheduler::{Scheduler, SlotInput};
use esdp::sim::FixedTruth;
use rand::RngExt;
use rand_distr::{Distribution, Poisson, StandardNormal};
use std::collections::VecDeque;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;

const SERVERS: usize = 16;
const GPUS: u64 = 4;
const TASKS: [u32; 6] = [2, 4, 8, 2, 4, 6];
const SLOTS: u64 = 400;

/// A job: when it came, its work, and how much faster it is than others of its type.
type Job = (u64, f64, f64);

struct World {
    /// By type and server.
    speeds: Vec<Vec<f64>>,
    kinds: Vec<usize>,
    /// By slot, type and job.
    jobs: Vec<Vec<(usize, Job)>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Sum,
    Dealt,
    Slowest,
}

#[derive(Clone, Copy, PartialEq)]
enum Speeds {
    Learned,
    Known,
}

/// The mean completion time, the work done in a slot, and the servers of a job.
struct Played {
    completion: f64,
    goodput: f64,
    nodes: f64,
}

impl World {
    fn new(load: f64, seed: u64, equal: bool) -> Self {
        let mut rng = stream(seed, Purpose::Instances, 901, 0);
        let normal = |rng: &mut Stream| -> f64 { StandardNormal.sample(rng) };
        let kinds: Vec<usize> = (0..SERVERS).map(|_| rng.random_range(0..3)).collect();
        let mut factor = |_| {
            let own = (0.2 * normal(&mut rng)).exp();
            own * if rng.random::<f64>() < 0.12 { 0.35 } else { 1.0 }
        };
        let factors: Vec<f64> = (0..SERVERS).map(&mut factor).collect();
        let mut of_type = |_| {
            let size = 0.7 + 0.3 * rng.random::<f64>();
            let mut speed = |server: usize| {
                let kind = [0.45, 0.65, 0.9][kinds[server]];
                (size * kind * factors[server] * (0.1 * normal(&mut rng)).exp()).clamp(0.03, 1.0)
            };
            (0..SERVERS).map(|server| if equal { 0.7 } else { speed(server) }).collect()
        };
        let speeds: Vec<Vec<f64>> = (0..TASKS.len()).map(&mut of_type).collect();
        let work: Vec<f64> = TASKS.iter().map(|_| 4.0 + 10.0 * rng.random::<f64>()).collect();
        let mut all: Vec<f64> = speeds.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let asked: f64 = TASKS.iter().zip(&work).map(|(&tasks, work)| f64::from(tasks) * work).sum();
        let rate = load * (SERVERS as u64 * GPUS) as f64 * all[all.len() / 2] / asked;
        let arrivals = Poisson::new(rate).expect("a positive rate");
        let mut jobs = vec![Vec::new(); SLOTS as usize + 1];
        for (slot, jobs) in jobs.iter_mut().enumerate().skip(1) {
            for (port, work) in work.iter().enumerate() {
                for _ in 0..arrivals.sample(&mut rng).min(9.0) as u32 {
                    let work = work * (0.6 * normal(&mut rng) - 0.18).exp();
                    jobs.push((port, (slot as u64, work, (0.08 * normal(&mut rng)).exp())));
                }
            }
        }
        Self { speeds, kinds, jobs }
    }

    fn cluster(&self, pace: Pace) -> Result<Arc<Cluster>, Box<dyn Error>> {
        let channel = |id| ChannelSpec::new((id / SERVERS) as u32, (id % SERVERS) as u32, vec![1]);
        let gang = |(port, &tasks)| GangSpec { pace, ..GangSpec::new(port, tasks, &[tasks]) };
        Ok(Arc::new(Cluster::new(ClusterSpec {
            devices: vec!["gpu".into()],
            servers: (0..SERVERS).map(|server| format!("s{server}")).collect(),
            ports: (0..TASKS.len()).map(|port| format!("p{port}")).collect(),
            channels: (0..TASKS.len() * SERVERS).map(channel).collect(),
            capacity: Capacity::per_server(vec![vec![GPUS]; SERVERS]),
            gangs: (0..).zip(&TASKS).map(gang).collect(),
            labels: self.kinds.iter().map(|kind| vec![format!("k{kind}")]).collect(),
            ..ClusterSpec::default()
        })?))
    }

    fn play(&self, way: Way, speeds: Speeds, seed: u64) -> Result<Played, Box<dyn Error>> {
        let waits = self.cluster(Pace::Slowest { crossing: 1.0 })?;
        let cluster = if way == Way::Slowest { Arc::clone(&waits) } else { self.cluster(Pace::Sum)? };
        let truth: Vec<f64> = self.speeds.iter().flatten().copied().collect();
        let policy = match speeds {
            Speeds::Learned => "esdp".parse::<PolicySpec>()?.build(&cluster, seed, None)?,
            Speeds::Known => {
                let truth = Box::new(FixedTruth(truth.clone()));
                "oracle".parse::<PolicySpec>()?.build(&cluster, seed, Some(truth))?
            }
        };
        let mut scheduler = Scheduler::new(Arc::clone(&cluster), policy);
        let mut queue: Vec<VecDeque<Job>> = vec![VecDeque::new(); TASKS.len()];
        let mut free = [GPUS; SERVERS];
        let mut running: Vec<(u64, Vec<ChannelId>, Job, f64)> = Vec::new();
        let (mut completion, mut ended, mut work, mut nodes, mut starts) = (0.0, 0, 0.0, 0, 0);
        for slot in 1..=SLOTS {
            self.jobs[slot as usize].iter().for_each(|&(port, job)| queue[port].push_back(job));
            let arrivals = Arrivals::new(queue.iter().map(|jobs| jobs.len() as u32).collect());
            let room = Capacity::per_server(free.iter().map(|&free| vec![free]).collect());
            let input = SlotInput { free: Some(&room), ..SlotInput::new(&arrivals) };
            let decision = scheduler.decide_at(Slot(slot), &input)?.clone();
            scheduler.commit(Slot(slot), decision.channels());
            let believed = |channel: ChannelId| match speeds {
                Speeds::Learned => scheduler.policy().learned().map_or(0.0, |all| all.estimate(channel)),
                Speeds::Known => truth[channel.index()],
            };
            let mut placed: Vec<(PortId, Vec<ChannelId>)> = Vec::new();
            match way {
                Way::Dealt => {
                    let port = |channel: &ChannelId| cluster.channel(*channel).port;
                    let mut uses = decision.channels().to_vec();
                    uses.sort_by_key(port);
                    for uses in uses.chunk_by(|a, b| port(a) == port(b)) {
                        let port = port(&uses[0]);
                        placed.extend(deal(&waits, port, uses, believed).into_iter().map(|job| (port, job)));
                    }
                }
                _ => placed.extend(decision.jobs(&cluster).into_iter().map(|job| (job.port, job.channels))),
            }
            for (port, channels) in placed {
                let job = queue[port.index()].pop_front().ok_or("a job that does not wait has started")?;
                channels.iter().for_each(|&channel| free[cluster.channel(channel).server.index()] -= 1);
                nodes += cluster.nodes(&channels);
                starts += 1;
                let slowest = channels.iter().map(|channel| truth[channel.index()]).fold(1.0, f64::min);
                running.push((slot, channels, job, (slowest * job.2).clamp(0.01, 1.0)));
            }
            let mut over = Vec::new();
            running.retain_mut(|running| {
                let (_, channels, job, speed) = running;
                job.1 -= *speed;
                work += *speed * channels.len() as f64;
                let is_over = job.1 <= 0.0;
                if is_over {
                    over.push(running.clone());
                }
                !is_over
            });
            for (started, channels, job, speed) in over {
                completion += (slot - job.0 + 1) as f64;
                ended += 1;
                channels.iter().for_each(|&channel| free[cluster.channel(channel).server.index()] += 1);
                scheduler.observe_job(Slot(started), &channels, Outcome::Ran(speed))?;
            }
        }
        let left = running.iter().map(|running| running.2.0).chain(queue.iter().flatten().map(|job| job.0));
        let (mut sum, mut count) = (completion, f64::from(ended));
        left.for_each(|came| (sum, count) = (sum + (SLOTS - came) as f64, count + 1.0));
        let (nodes, starts) = (nodes as f64, f64::from(starts.max(1)));
        Ok(Played { completion: sum / count, goodput: work / SLOTS as f64, nodes: nodes / starts })
    }
}

fn told(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    format!("{mean:.3} ± {:.3}", (variance / values.len() as f64).sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<u64> = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [first, count] = given[..] else { return Err("expected FIRST and COUNT, at least 2".into()) };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:24} {:16} {:16} {:16} {:16} nodes",
        "", "completion:dealt", "slowest", "goodput: dealt", "slowest"
    )?;
    for (load, equal) in [(0.7, false), (1.2, false), (0.7, true), (1.2, true)] {
        for speeds in [Speeds::Learned, Speeds::Known] {
            let mut columns = vec![Vec::new(); 7];
            for seed in first..first + count {
                let world = World::new(load, seed, equal);
                // Who learns from a cold start and adds speeds up.
                let sum = world.play(Way::Sum, Speeds::Learned, seed)?;
                columns[4].push(sum.nodes);
                for (at, way) in [Way::Dealt, Way::Slowest].into_iter().enumerate() {
                    let played = world.play(way, speeds, seed)?;
                    columns[at].push(played.completion / sum.completion);
                    columns[2 + at].push(played.goodput / sum.goodput);
                    columns[5 + at].push(played.nodes);
                }
            }
            let what = format!(
                "{load} {} {}",
                if speeds == Speeds::Learned { "learned" } else { "known" },
                if equal { "equal" } else { "" }
            );
            let ratios: Vec<String> = columns[..4].iter().map(|values| told(values)).collect();
            let nodes: Vec<String> = columns[4..].iter().map(|values| told(values)).collect();
            writeln!(out, "{what:24} {}   {}", ratios.join("    "), nodes.join(", "))?;
        }
    }
    Ok(())
}
