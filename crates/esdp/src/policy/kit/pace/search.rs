//! Which jobs run where: takes a few of them out and places them anew, with those that wait, as long as that
//! pays.

use super::place::{Column, Placed, Port};
use crate::model::{Cluster, Room, ServerId};
use crate::rng::{Purpose, Stream, stream};
use rand::RngExt;

/// What others would make of a device, as a share of it: what is tried.
const PRICES: [f64; 4] = [0.9, 0.0, 0.6, 1.0];

/// After so many attempts in a row that found nothing better, for each job, it ends.
const PATIENCE: usize = 12;
/// How much better, as a share, a choice is that is kept.
const GAIN: f64 = 1e-9;
/// The first candidates may be as good: the solver does not care which servers are left over, they do.
const LOSS: f64 = -1e-12;
/// And at least after so many.
const LEAST: usize = 24;

/// A search.
pub(super) struct Search<'a> {
    cluster: &'a Cluster,
    ports: &'a [Port],
    room: &'a mut Room,
    jobs: Vec<Placed>,
    /// The jobs of each port that still wait.
    waiting: Vec<u32>,
    /// By server, what a share of it is worth on average to the jobs of the slot.
    worth: Vec<f64>,
    rng: Stream,
    work: u64,
}

impl<'a> Search<'a> {
    /// A search that begins with these jobs; it takes their devices.
    pub fn new(
        cluster: &'a Cluster,
        ports: &'a [Port],
        room: &'a mut Room,
        jobs: Vec<Placed>,
        work: u64,
    ) -> Self {
        let mut waiting: Vec<u32> = ports.iter().map(|port| port.jobs).collect();
        for job in &jobs {
            waiting[job.port] = waiting[job.port].saturating_sub(1);
            for &column in &job.columns {
                room.take(cluster, ports[job.port].columns[column].channel);
            }
        }
        let (mut sum, mut count) = (vec![0.0; cluster.servers().len()], vec![0.0; cluster.servers().len()]);
        for port in ports.iter().filter(|port| port.jobs > 0) {
            for column in port.columns.iter().filter(|column| column.share > 0.0) {
                sum[column.server.index()] += f64::from(port.jobs) * column.index.max(0.0) / column.share;
                count[column.server.index()] += f64::from(port.jobs);
            }
        }
        let worth = sum.iter().zip(&count).map(|(sum, count)| sum / f64::max(*count, 1.0)).collect();
        // The same problem has the same answer, in whatever slot it comes up.
        let rng = stream(0, Purpose::Policy, 0, u64::MAX);
        Self { cluster, ports, room, jobs, waiting, worth, rng, work }
    }

    /// Searches until nothing better is found, the bound is reached, or the work is done.
    pub fn run(&mut self, bound: f64) {
        if self.jobs.is_empty() && self.waiting.iter().all(|&waiting| waiting == 0) {
            return;
        }
        for price in PRICES {
            self.attempt(&|_, _| true, price, LOSS);
        }
        let mut idle = 0;
        while self.work > 0 && idle < LEAST.max(PATIENCE * self.jobs.len()) {
            if self.value() >= bound * (1.0 - 1e-12) && self.jobs.iter().all(|job| job.score == job.value) {
                break;
            }
            idle = if self.step() { 0 } else { idle + 1 };
        }
    }

    /// What the jobs count.
    pub fn value(&self) -> f64 {
        self.jobs.iter().map(|job| job.value).sum()
    }

    pub fn into_jobs(self) -> Vec<Placed> {
        self.jobs
    }

    /// Takes some jobs out: those of a server or two, or a few at random, and one at least.
    fn step(&mut self) -> bool {
        let price = PRICES[self.rng.random_range(0..PRICES.len())];
        if self.jobs.is_empty() {
            return self.attempt(&|_, _| true, price, GAIN);
        }
        let job = &self.jobs[self.rng.random_range(0..self.jobs.len())];
        let of = &self.ports[job.port];
        let on = of.columns[job.columns[self.rng.random_range(0..job.columns.len())]].server;
        let other = ServerId::at(self.rng.random_range(0..self.cluster.servers().len()));
        let (random, ports) = (self.rng.random_range(0..self.jobs.len()), self.ports);
        let near = self.rng.random_range(0..3) > 0;
        let runs_on = |job: &Placed, server: ServerId| {
            job.columns.iter().any(|&column| ports[job.port].columns[column].server == server)
        };
        self.attempt(
            &|at, job| at == random || runs_on(job, on) || (near && runs_on(job, other)),
            price,
            GAIN,
        )
    }

    /// Takes jobs out and places them anew with those that wait; keeps what is better. Whether it is.
    fn attempt(&mut self, is_out: &dyn Fn(usize, &Placed) -> bool, price: f64, least: f64) -> bool {
        let score = |jobs: &[Placed]| jobs.iter().map(|job| job.score).sum::<f64>();
        let before = self.jobs.clone();
        let mut kept = Vec::with_capacity(before.len());
        for (at, job) in std::mem::take(&mut self.jobs).into_iter().enumerate() {
            if is_out(at, &job) {
                self.give(&job);
            } else {
                kept.push(job);
            }
        }
        let from = kept.len();
        self.jobs = kept;
        self.fill(price);
        let (was, is) = (score(&before), score(&self.jobs));
        if is > was + least * was.abs() {
            return true;
        }
        let placed: Vec<Placed> = self.jobs.drain(from..).collect();
        placed.iter().for_each(|job| self.give(job));
        for (at, job) in before.iter().enumerate() {
            if is_out(at, job) {
                self.take(job);
            }
        }
        self.jobs = before;
        false
    }

    /// Places jobs that wait as long as one can start: the one first that gains most for its devices, or
    /// ports in a random order.
    fn fill(&mut self, price: f64) {
        let in_order = self.rng.random_range(0..2) == 0;
        let mut best: Vec<Option<Option<(Placed, f64)>>> = vec![None; self.ports.len()];
        loop {
            let mut ports: Vec<usize> =
                (0..self.ports.len()).filter(|&port| self.waiting[port] > 0).collect();
            if in_order && !ports.is_empty() {
                let from = self.rng.random_range(0..ports.len());
                ports.swap(0, from);
            }
            let mut next: Option<(Placed, f64)> = None;
            for port in ports {
                let known = &mut best[port];
                if known.is_none() {
                    let Self { cluster, ports, room, worth, work, .. } = self;
                    let cost = |column: &Column| price * column.share * worth[column.server.index()];
                    *known = Some(ports[port].best(cluster, port, room, &cost, work));
                }
                let Some((placed, net)) = best[port].clone().flatten() else { continue };
                let columns = &self.ports[port].columns;
                let size: f64 = placed.columns.iter().map(|&column| columns[column].share).sum();
                let gain = if price == 0.0 { net / size.max(1e-9) } else { net };
                if next.as_ref().is_none_or(|(_, most)| gain > *most) {
                    next = Some((placed, gain));
                }
                if in_order {
                    break;
                }
            }
            let Some((placed, _)) = next else { return };
            let columns = &self.ports[placed.port].columns;
            let touched: Vec<ServerId> =
                placed.columns.iter().map(|&column| columns[column].server).collect();
            self.take(&placed);
            let limited = self.room.cluster().is_some();
            for (port, known) in best.iter_mut().enumerate() {
                let stale = |placed: &Placed| {
                    let own = &self.ports[port].columns;
                    limited || placed.columns.iter().any(|&column| touched.contains(&own[column].server))
                };
                if known.as_ref().is_some_and(|known| known.as_ref().is_some_and(|(placed, _)| stale(placed)))
                {
                    *known = None;
                }
            }
            self.jobs.push(placed);
        }
    }

    fn take(&mut self, job: &Placed) {
        self.waiting[job.port] -= 1;
        for &column in &job.columns {
            self.room.take(self.cluster, self.ports[job.port].columns[column].channel);
        }
    }

    fn give(&mut self, job: &Placed) {
        self.waiting[job.port] += 1;
        for &column in &job.columns {
            self.room.give(self.cluster, self.ports[job.port].columns[column].channel);
        }
    }
}
