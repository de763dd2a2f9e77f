//! Jobs that hold their devices until they are done, and the queue of those that wait.
//!
//! The paper's jobs last one slot and are gone, placed or not. Here a job waits at its port until it is
//! started, oldest first, and keeps its devices until its work is done: who waits and what is held is in the
//! scheduler's own [`Book`], and only the work that jobs do is simulated here. In every slot each of its
//! tasks does as much work as its net utility in that slot. The scheduler sees what waits and what is free,
//! and learns when a job is done: for each task the mean of its net utilities, times the job's own [`luck`].
//!
//! Memory: the jobs that wait or run. With more work than the cluster can do the queue grows.

use super::paced::{Report, worth};
use super::parameter::{ParameterError, check_number};
use super::queue::{Ending, QueueRule, Queued};
use super::speeds::SpeedLaw;
use crate::model::{
    Arrivals, Capacity, ChannelId, Cluster, JobId, Observation, Outcome, PlacedJob, PortId, ServerId, Slot,
    Ticket,
};
use crate::rng::{Purpose, stream};
use crate::scheduler::{Book, BookedStart, Decision};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much work jobs have: the slots that a job would take with all its tasks, or with one channel where
/// jobs are no gangs, at a net utility of 1.
#[derive(Debug, Clone, PartialEq)]
pub enum HeldSpec {
    /// Drawn uniformly from a range, once for every job.
    Drawn(f64, f64),
    /// For each port the work of its jobs in the order in which they come; from the start again after the
    /// last.
    Listed(Arc<Vec<Vec<f64>>>),
}

/// The least and the most work of a job.
const LEAST_WORK: f64 = 1e-9;
const MOST_WORK: f64 = 1e9;

impl HeldSpec {
    /// Checks the numbers.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::Drawn(from, to) => {
                check_number("work[0]", *from, LEAST_WORK..=MOST_WORK)?;
                check_number("work[1]", *to, LEAST_WORK..=MOST_WORK)?;
                if from > to {
                    return Err(ParameterError::new(
                        "work",
                        format!("[{from}, {to}]"),
                        "two ascending numbers",
                    ));
                }
            }
            Self::Listed(ports) => {
                for (port, jobs) in ports.iter().enumerate() {
                    if jobs.is_empty() {
                        return Err(ParameterError::new(
                            format!("list[{port}]"),
                            "empty",
                            "the work of at least one job",
                        ));
                    }
                    for (job, &work) in jobs.iter().enumerate() {
                        check_number(format!("list[{port}][{job}]"), work, LEAST_WORK..=MOST_WORK)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The work of a port's job, by the order in which they come.
    pub(super) fn work(&self, seed: u64, port: PortId, number: u64) -> f64 {
        match self {
            Self::Drawn(from, to) if from == to => *from,
            Self::Drawn(from, to) => {
                stream(seed, Purpose::Work, number, u64::from(port.0)).random_range(*from..*to)
            }
            Self::Listed(ports) => {
                let jobs = &ports[port.index()];
                jobs[(number % jobs.len() as u64) as usize]
            }
        }
    }
}

/// Checks the coefficient of variation of the factors that jobs report by.
pub(crate) fn check_luck(deviation: f64) -> Result<(), ParameterError> {
    check_number("luck", deviation, 0.0..=5.0)
}

/// The factor between how fast a job's tasks ran and what it reports. A job that has more to do than others
/// of its kind seems slow, wherever it runs: that is the job's luck, and says nothing of the server.
pub(super) fn luck(deviation: f64, seed: u64, port: PortId, number: u64) -> f64 {
    if deviation == 0.0 {
        return 1.0;
    }
    // Beside the stream of its work.
    let mut rng = stream(seed, Purpose::Work, number, (1 << 32) + u64::from(port.0));
    SpeedLaw::LogNormal.speed(1.0, deviation, StandardNormal.sample(&mut rng))
}

/// A job that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedJob {
    /// Its port.
    pub port: PortId,
    /// Its number among the port's jobs, from 0.
    pub number: u64,
    /// The slot in which it came.
    pub arrived: Slot,
    /// The slot in which it started.
    pub started: Slot,
    /// The last slot in which it ran.
    pub finished: Slot,
    /// A channel for each task it ran with.
    pub channels: Vec<ChannelId>,
    /// The part of its last slot that was left when it was done; its devices are free after the slot.
    pub spare: f64,
}

impl FinishedJob {
    /// The slots it waited.
    pub fn waited(&self) -> u64 {
        self.started.0 - self.arrived.0
    }

    /// The slots from its arrival to its end, both counted.
    pub fn completion(&self) -> u64 {
        self.finished.0 - self.arrived.0 + 1
    }
}

/// A job that is not done when a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfinishedJob {
    /// Its port.
    pub port: PortId,
    /// The slot in which it came.
    pub arrived: Slot,
    /// The slot in which it started; none if it still waits.
    pub started: Option<Slot>,
}

/// The simulated work of the jobs of a [`Book`].
#[derive(Debug)]
pub(super) struct JobWork {
    cluster: Arc<Cluster>,
    spec: HeldSpec,
    luck: f64,
    seed: u64,
    book: Book,
    /// The port of every job that waits, its number among the port's jobs, and when it came.
    numbers: BTreeMap<JobId, (PortId, u64, Slot)>,
    /// How many jobs have come to each port.
    came: Vec<u64>,
    running: Vec<Running>,
    /// Every use of this slot: its channel, its job in `running`, its task. Ascending.
    uses: Vec<(ChannelId, u32, u32)>,
    channels: Vec<ChannelId>,
}

#[derive(Debug)]
struct Running {
    ticket: Ticket,
    job: FinishedJob,
    left: f64,
    /// What it did in this slot.
    done: f64,
    /// The sum of each task's utilities.
    sums: Vec<f64>,
    /// The least that a task did in this slot, where they wait for each other.
    slowest: Option<f64>,
}

impl JobWork {
    pub(super) fn new(cluster: &Arc<Cluster>, spec: HeldSpec, luck: f64, seed: u64) -> Self {
        Self {
            cluster: Arc::clone(cluster),
            spec,
            luck,
            seed,
            book: Book::new(cluster),
            numbers: BTreeMap::new(),
            came: vec![0; cluster.ports().len()],
            running: Vec::new(),
            uses: Vec::new(),
            channels: Vec::new(),
        }
    }

    /// What no job holds.
    pub(super) fn free(&self) -> &Capacity {
        self.book.free()
    }

    /// Lets new jobs in; `present` is who waits then.
    pub(super) fn admit(&mut self, slot: Slot, arrived: &Arrivals, present: &mut Arrivals) {
        for (index, came) in self.came.iter_mut().enumerate() {
            let port = PortId::at(index);
            for _ in 0..arrived.jobs(port) {
                let job = self.book.submit(port, 1.0, slot);
                self.numbers.insert(job, (port, *came, slot));
                *came += 1;
            }
        }
        self.book.present(present);
    }

    /// Starts the jobs of a decision, the oldest first; `started` counts them by port.
    pub(super) fn start(&mut self, decision: &Decision, started: &mut [u32]) {
        let tickets = self.book.start(&self.cluster, decision).map(Ticket).collect::<Vec<_>>();
        self.run(&tickets, started);
    }

    /// Starts the jobs that a rule chooses, on servers that are not closed.
    pub(super) fn start_by(
        &mut self,
        rule: &QueueRule,
        slot: Slot,
        means: &[f64],
        closed: &[ServerId],
        started: &mut [u32],
    ) {
        let mut tickets = Vec::new();
        for (job, port, channels) in rule.starts(self, slot, means, closed) {
            let placed = PlacedJob { port, channels };
            tickets.push(self.book.start_job(&self.cluster, slot, job, &placed).expect("it waits"));
        }
        self.run(&tickets, started);
    }

    /// Who waits, and what is held.
    pub(super) fn book(&self) -> &Book {
        &self.book
    }

    /// The jobs that were started in this slot, before they do any work.
    pub(super) fn starts_of(&self, slot: Slot) -> Vec<BookedStart> {
        let now = self.running.iter().rev().take_while(|running| running.job.started == slot);
        let booked = now.map(|running| {
            let started = self.book.started(running.ticket).expect("it runs");
            BookedStart { job: started.job.job, port: running.job.port, waited: running.job.waited() }
        });
        let mut starts: Vec<BookedStart> = booked.collect();
        starts.reverse();
        starts
    }

    /// The jobs that wait, in the order in which they came.
    pub(super) fn waiting(&self, means: &[f64]) -> Vec<Queued> {
        let queued = |(&job, &(port, number, _)): (&JobId, &(PortId, u64, Slot))| {
            let slots = self.expected(port, number, means);
            Queued { job, port, number, slots }
        };
        self.numbers.iter().map(queued).collect()
    }

    /// The jobs that run, and when they will be done if they go on as they did so far.
    pub(super) fn endings(&self, now: Slot) -> Vec<Ending<'_>> {
        let ending = |running: &'_ Running| {
            let rate = running.sums.iter().sum::<f64>() / (now.0 - running.job.started.0).max(1) as f64;
            now.0 + (running.left / rate.max(1e-9)).ceil().clamp(1.0, 1e15) as u64
        };
        self.running
            .iter()
            .map(|running| Ending { end: ending(running), channels: &running.job.channels })
            .collect()
    }

    /// The slots that a job takes at the mean utility of its port.
    fn expected(&self, port: PortId, number: u64, means: &[f64]) -> u64 {
        (self.spec.work(self.seed, port, number) / means[port.index()].max(1e-9)).ceil().clamp(1.0, 1e15)
            as u64
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The jobs that wait or run.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = UnfinishedJob> {
        let waiting = self.numbers.values();
        let waiting = waiting.map(|&(port, _, arrived)| UnfinishedJob { port, arrived, started: None });
        let running = self.running.iter().map(|Running { job, .. }| job);
        waiting.chain(running.map(|job| UnfinishedJob {
            port: job.port,
            arrived: job.arrived,
            started: Some(job.started),
        }))
    }

    /// Whether nobody waits or runs.
    pub(super) fn is_idle(&self) -> bool {
        self.numbers.is_empty() && self.running.is_empty()
    }

    fn run(&mut self, tickets: &[Ticket], started: &mut [u32]) {
        let cluster = Arc::clone(&self.cluster);
        for &ticket in tickets {
            let (slot, channels) = self.book.accept(ticket).expect("it was started now");
            let job = self.book.started(ticket).expect("it was started now");
            let port = job.port.expect("the cluster does not change");
            let (_, number, arrived) = self.numbers.remove(&job.job.job).expect("it has waited");
            started[port.index()] += 1;
            let all: u64 = match cluster.is_gang(port) {
                true => {
                    cluster.task_groups().iter().filter(|g| g.port == port).map(|g| u64::from(g.count)).sum()
                }
                false => 1,
            };
            let left = self.spec.work(self.seed, port, number) * all as f64;
            let sums = vec![0.0; channels.len()];
            let job =
                FinishedJob { port, number, arrived, started: slot, finished: slot, channels, spare: 0.0 };
            let slowest = cluster.crossing(port).map(|_| f64::INFINITY);
            self.running.push(Running { ticket, job, left, done: 0.0, sums, slowest });
        }
        self.uses.clear();
        for (index, running) in self.running.iter().enumerate() {
            let tasks = running.job.channels.iter().enumerate();
            self.uses.extend(tasks.map(|(task, &channel)| (channel, index as u32, task as u32)));
        }
        self.uses.sort_unstable();
        self.channels.clear();
        self.channels.extend(self.uses.iter().map(|&(channel, ..)| channel));
    }

    /// A channel for each task that runs, ascending.
    pub(super) fn channels(&self) -> &[ChannelId] {
        &self.channels
    }

    /// What the running jobs do in a slot, from what each task would do alone.
    pub(super) fn worth(&self, mean: impl FnMut(ChannelId) -> f64) -> f64 {
        let paced = self.running.iter().filter(|running| running.slowest.is_some());
        let placed =
            |running: &Running| PlacedJob { port: running.job.port, channels: running.job.channels.clone() };
        let jobs: Vec<PlacedJob> = paced.map(placed).collect();
        worth(&self.cluster, &self.channels, &jobs, mean)
    }

    /// Lets the running tasks do their work of a slot; those that are done give their devices back. What
    /// they did.
    pub(super) fn advance(
        &mut self,
        slot: Slot,
        utilities: &[f64],
        finished: &mut Vec<FinishedJob>,
        seen: &mut Vec<Report>,
    ) -> f64 {
        for (&(_, job, task), utility) in self.uses.iter().zip(utilities) {
            let running = &mut self.running[job as usize];
            match &mut running.slowest {
                Some(slowest) => *slowest = slowest.min(*utility),
                None => {
                    running.left -= utility;
                    running.done += utility;
                    running.sums[task as usize] += utility;
                }
            }
        }
        for running in &mut self.running {
            let Some(slowest) = &mut running.slowest else { continue };
            let slowest = std::mem::replace(slowest, f64::INFINITY);
            let Running { job, .. } = running;
            running.done = self.cluster.progress(job.port, &job.channels, |_| slowest);
            running.left -= running.done;
            let each = running.done / job.channels.len() as f64;
            running.sums.iter_mut().for_each(|sum| *sum += each);
        }
        let all = self.running.iter().map(|running| running.done).sum();
        let Self { running, book, luck: deviation, seed, .. } = self;
        running.retain_mut(|running| {
            let done = std::mem::take(&mut running.done);
            if running.left > 0.0 {
                return true;
            }
            let job = &mut running.job;
            job.spare = if done > 0.0 { (-running.left / done).clamp(0.0, 1.0) } else { 0.0 };
            job.finished = slot;
            let slots = (slot.0 - job.started.0 + 1) as f64;
            let luck = luck(*deviation, *seed, job.port, job.number);
            let reported = |sum: f64| (luck * sum / slots).clamp(0.0, 1.0);
            for (task, (&channel, &sum)) in job.channels.iter().zip(&running.sums).enumerate() {
                book.report(running.ticket, task).expect("it runs");
                let outcome = Outcome::Ran(reported(sum));
                if running.slowest.is_none() {
                    seen.push(Report::Task(Observation { slot: job.started, channel, outcome }));
                }
            }
            if running.slowest.is_some() {
                seen.push(Report::Job(job.started, job.channels.clone(), reported(running.sums[0])));
            }
            book.end(running.ticket).expect("it runs");
            finished.push(job.clone());
            false
        });
        all
    }
}

#[cfg(test)]
mod tests;
