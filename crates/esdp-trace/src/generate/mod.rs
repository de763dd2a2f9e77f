//! A trace of our own: seeded, of any length, with the statistics of a real one.
//!
//! The real traces may not be shipped; this one needs no file. Jobs arrive as a Poisson process whose rate is
//! a product of the hour of the day and a log-normal noise that forgets in seconds (`exp` of a first-order
//! autoregression), which gives the over-dispersion that was measured at one second and at sixty. A job
//! either asks for one vector in all its tasks, or for several, each task likely for that of the one before.
//! Durations and numbers of instances are log-normal with the median and the 90th percentile of their vector.
//! The instances of a task differ in speed by a coefficient of variation of its own, and some tasks have
//! quick and slow ones.
//!
//! What it does not have: the tasks of a job do not wait for each other, durations within a job are
//! independent, machines do not matter, and the day is that of the processors' load, since only that was
//! measured over days. `facts.rs` holds the numbers; `tests/generator.rs` holds the trace against them.
//!
//! Every job's draws are keyed by (seed, second, number), so a longer trace starts with a shorter one.

mod facts;
mod week;
mod write;

pub use week::{MadeWeek, Week, WeekNode};
pub use write::{InstanceWriter, MachineWriter, TaskWriter};

use crate::error::TraceError;
use crate::event::{CPU, MEMORY_SHARE, Machine, Sink, Task, TaskInstance};
use crate::ledger::Ledger;
use crate::source::Source;
use esdp::rng::{Purpose, Stream, stream};
use facts::{HOURS, TYPES, Type};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// The most seconds that are generated.
pub const MOST_SECONDS: u64 = 366 * 86_400;
/// The standard normal number that 90 % are below.
const NINETY: f64 = 1.281_551_565_544_8;

/// The generator: what it makes depends on these numbers and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generator {
    /// The seed.
    pub seed: u64,
    /// How long the trace is, in seconds; at most [`MOST_SECONDS`].
    pub seconds: u64,
    /// How many machines there are.
    pub machines: u64,
    /// How many instances of a task are told, at most; its `count` tells all.
    pub instances: u64,
}

impl Generator {
    /// An hour of jobs on 400 machines, without instances.
    pub fn new(seed: u64) -> Self {
        Self { seed, seconds: 3600, machines: 400, instances: 0 }
    }

    fn machine(&self, number: u64, sink: &mut dyn Sink) {
        let mut rng = stream(self.seed, Purpose::Cluster, 0, number);
        let domain = (rng.random_range(0..facts::DOMAINS) + 1).to_string();
        let (name, capacity) = (format!("m_{}", number + 1), [(CPU, facts::CORES), (MEMORY_SHARE, 100.0)]);
        sink.machine(&Machine { name: &name, capacity: &capacity, domain: &domain, kind: "" });
    }

    fn job(&self, second: u64, index: u64, number: u64, sink: &mut dyn Sink) -> u64 {
        let mut rng = stream(self.seed, Purpose::Laws, second, index);
        let job = format!("j_{}", number + 1);
        let alone = pick(&mut rng, |kind| kind.alone, 1.0);
        let tasks = match alone {
            Some(0) => quantile(facts::TASKS_FIRST, rng.random()),
            Some(_) => quantile(facts::TASKS_OTHER, rng.random()),
            None => quantile(facts::TASKS_MIXED, rng.random()),
        };
        let total = TYPES.iter().map(|kind| kind.mixed).sum();
        let draw = |rng: &mut Stream| pick(rng, |kind| kind.mixed, total).unwrap_or(0);
        let mut kind = alone.unwrap_or_else(|| draw(&mut rng));
        for at in 0..tasks {
            if alone.is_none() && at > 0 && rng.random::<f64>() >= facts::STICKY {
                kind = draw(&mut rng);
            }
            self.task(&job, at, second, &TYPES[kind], &mut rng, sink);
        }
        tasks
    }

    fn task(&self, job: &str, at: u64, second: u64, kind: &Type, rng: &mut Stream, sink: &mut dyn Sink) {
        let duration = log_normal(kind.duration, rng).round().clamp(1.0, 86_400.0);
        let count = log_normal(kind.instances, rng).round().clamp(1.0, 25_000.0);
        let name = format!("M{}", at + 1);
        // As in the published files: 0.5 and not 0.50000001.
        let request = [(CPU, kind.cpu / 100.0), (MEMORY_SHARE, kind.memory)];
        let arrival = second as f64;
        let task = Task {
            job,
            name: &name,
            arrival,
            duration: Some(duration),
            count: count as u64,
            request: &request,
            ..Task::default()
        };
        sink.task(&task);
        // Drawn in any case: how many instances are told changes nothing else.
        let seed = rng.random();
        if self.instances > 0 {
            self.spread(&task, duration, seed, sink);
        }
    }

    /// The instances of a task: like work at different speeds.
    fn spread(&self, task: &Task<'_>, duration: f64, seed: u64, sink: &mut dyn Sink) {
        let mut rng = stream(seed, Purpose::Speeds, 0, 0);
        let variation = log_normal(facts::VARIATION, &mut rng);
        let deviation = libm::sqrt(libm::log1p(variation * variation));
        let odd = rng.random::<f64>() < facts::ODD_TASKS;
        for _ in 0..task.count.min(self.instances) {
            let mut factor = libm::exp(deviation * normal(&mut rng));
            if odd {
                let (share, which) = (rng.random::<f64>(), rng.random::<f64>());
                if let Some((_, (from, to))) = facts::ODD.iter().find(|(until, _)| share < *until) {
                    factor *= from + (to - from) * which;
                }
            }
            let duration = Some((duration * factor).round().max(1.0));
            sink.instance(&TaskInstance {
                job: task.job,
                task: task.name,
                arrival: task.arrival,
                duration,
                machine: "",
            });
        }
    }
}

impl Source for Generator {
    /// Machines first, then tasks in the order of their arrival, each followed by its instances.
    fn stream(&mut self, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError> {
        (0..self.machines).for_each(|number| self.machine(number, sink));
        let spread = libm::sqrt(libm::log1p(facts::RATE_VARIANCE));
        let keep = libm::exp(-1.0 / facts::RATE_MEMORY);
        let (mut noise, mut jobs, mut rows) = (0.0, 0, self.machines);
        for second in 0..self.seconds.min(MOST_SECONDS) {
            let mut rng = stream(self.seed, Purpose::Arrivals, second, 0);
            let fresh = normal(&mut rng);
            noise = if second == 0 { fresh } else { keep * noise + libm::sqrt(1.0 - keep * keep) * fresh };
            let wave = libm::exp(spread * noise - 0.5 * spread * spread);
            let arrived = poisson(facts::JOBS_PER_SECOND * by_hour(second) * wave, &mut rng);
            for index in 0..arrived {
                rows += self.job(second, index, jobs, sink);
                jobs += 1;
            }
        }
        for row in 0..rows {
            ledger.open_row(row + 1);
            ledger.close_row();
        }
        Ok(())
    }
}

/// The load of the hour, with a straight line from one hour's middle to the next.
fn by_hour(second: u64) -> f64 {
    let hours = second as f64 / 3600.0 + facts::START_HOUR as f64 - 0.5;
    let (hour, part) = (hours.floor(), hours - hours.floor());
    let at = |hour: f64| HOURS[hour.rem_euclid(24.0) as usize];
    let mean = HOURS.iter().sum::<f64>() / 24.0;
    (at(hour) * (1.0 - part) + at(hour + 1.0) * part) / mean
}

/// A type by weight; `None` for the part of `total` that no type has.
fn pick(rng: &mut Stream, weight: fn(&Type) -> f64, total: f64) -> Option<usize> {
    let mut left = rng.random::<f64>() * total;
    TYPES.iter().position(|kind| {
        left -= weight(kind);
        left < 0.0
    })
}

/// The value at a share of a distribution that is given by some of its quantiles, rounded.
fn quantile(table: &[(f64, f64)], share: f64) -> u64 {
    let pair = table.windows(2).find(|pair| share < pair[1].0).unwrap_or(&table[table.len() - 2..]);
    let ((from, low), (to, high)) = (pair[0], pair[1]);
    // Between two quantiles the logarithm grows evenly.
    let part = (share - from) / (to - from);
    (low * libm::pow(high / low, part)).round() as u64
}

/// A log-normal number with this median and 90th percentile.
fn log_normal((median, ninety): (f64, f64), rng: &mut Stream) -> f64 {
    median * libm::exp(libm::log(ninety / median) / NINETY * normal(rng))
}

fn normal(rng: &mut Stream) -> f64 {
    StandardNormal.sample(rng)
}

/// A Poisson count by inversion, in pieces so that `exp` does not underflow.
fn poisson(mut rate: f64, rng: &mut Stream) -> u64 {
    let mut count = 0;
    while rate > 0.0 {
        let piece = rate.min(200.0);
        rate -= piece;
        let (draw, mut term, mut here) = (rng.random::<f64>(), libm::exp(-piece), 0);
        let mut sum = term;
        while draw >= sum && here < 2000 {
            here += 1;
            term *= piece / here as f64;
            sum += term;
        }
        count += here;
    }
    count
}
