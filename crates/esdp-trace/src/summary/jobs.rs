//! Jobs from their tasks: when each arrived, how many tasks and instances it has.
//!
//! The tasks of a job may be anywhere in a file, though they commonly stand together. A job stays open until
//! [`WINDOW`] younger ones are; so counts are exact for traces of so many jobs, and for longer ones
//! whose jobs' tasks are not further apart than that. About 20 MB when full.

use super::bins::{Bins, Dispersion};
use super::histogram::{Quantiles, ValueHistogram};
use crate::event::Task;
use esdp::model::Fnv;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};

/// How many jobs are open at once.
pub const WINDOW: usize = 1 << 18;

/// A name as a number, the same in every version of the standard library. Two of 2^32 names that differ would
/// be needed for a likely mistake.
pub(crate) fn fingerprint(parts: &[&str]) -> u64 {
    let mut hash = Fnv::default();
    parts.iter().for_each(|part| hash.text(part));
    hash.finish()
}

#[derive(Debug, Clone, Copy)]
struct Open {
    arrival: f64,
    tasks: u32,
    instances: u64,
}

/// The jobs of a trace.
#[derive(Debug, Clone)]
pub struct Jobs {
    open: HashMap<u64, Open>,
    order: VecDeque<u64>,
    count: u64,
    second: Bins,
    minute: Bins,
    tasks: ValueHistogram,
    instances: ValueHistogram,
}

/// What is known of the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobSummary {
    /// How many.
    pub count: u64,
    /// Arrivals a minute.
    pub per_minute: Option<Dispersion>,
    /// Arrivals a second.
    pub per_second: Option<Dispersion>,
    /// Tasks a job.
    pub tasks: Option<Quantiles>,
    /// Instances a job.
    pub instances: Option<Quantiles>,
    /// Arrivals a minute over time, for a figure: seconds since the first, jobs.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            order: VecDeque::new(),
            count: 0,
            second: Bins::new(1.0),
            minute: Bins::new(60.0),
            tasks: ValueHistogram::default(),
            instances: ValueHistogram::default(),
        }
    }
}

impl Jobs {
    /// Counts a task with its job.
    pub fn add(&mut self, task: &Task<'_>) {
        let name = fingerprint(&[task.job]);
        let order = &mut self.order;
        let job = self.open.entry(name).or_insert_with(|| {
            order.push_back(name);
            Open { arrival: task.arrival, tasks: 0, instances: 0 }
        });
        job.arrival = job.arrival.min(task.arrival);
        job.tasks = job.tasks.saturating_add(1);
        job.instances = job.instances.saturating_add(task.count);
        if self.order.len() > WINDOW {
            self.close();
        }
    }

    /// How many jobs are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    fn close(&mut self) {
        let Some(job) = self.order.pop_front().and_then(|name| self.open.remove(&name)) else { return };
        self.count += 1;
        self.second.add(job.arrival);
        self.minute.add(job.arrival);
        self.tasks.add(f64::from(job.tasks));
        self.instances.add(job.instances as f64);
    }

    /// Closes all jobs and tells what is known of them.
    pub fn finish(&mut self) -> JobSummary {
        while !self.order.is_empty() {
            self.close();
        }
        JobSummary {
            count: self.count,
            per_minute: self.minute.dispersion(),
            per_second: self.second.dispersion(),
            tasks: self.tasks.quantiles(),
            instances: self.instances.quantiles(),
            curve: self.minute.curve(720),
        }
    }
}
