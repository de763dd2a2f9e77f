//! How much the instances of one task differ in speed.
//!
//! The instances of a task do like work, so what their durations differ by is the speed of where and when
//! they ran. Tasks of at least [`LEAST_INSTANCES`] instances whose median is at least [`LEAST_MEDIAN`]
//! seconds count: clocks are of whole seconds, and below that their rounding is most of what one sees.
//! Instances of less than a second are left out for the same reason. The relative speed of an instance is its
//! task's median duration over its own, for the first [`KEPT`] instances of a task.
//!
//! A task stays open until [`WINDOW`] younger ones are: 5 MB when full.

use super::histogram::{Quantiles, ValueHistogram};
use super::jobs::fingerprint;
use crate::event::TaskInstance;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};

/// The fewest instances of a task that counts.
pub const LEAST_INSTANCES: u64 = 10;
/// The shortest median duration of a task that counts, in seconds.
pub const LEAST_MEDIAN: f64 = 5.0;
/// How many instances of a task are compared with its median.
pub const KEPT: usize = 64;
/// How many tasks are open at once.
pub const WINDOW: usize = 16_384;

#[derive(Debug, Clone, Default)]
struct Open {
    count: u64,
    mean: f64,
    squares: f64,
    kept: Vec<f32>,
}

/// The spread of the instances of a trace.
#[derive(Debug, Clone, Default)]
pub struct InstanceDurations {
    open: HashMap<u64, Open>,
    order: VecDeque<u64>,
    instances: u64,
    tasks: u64,
    durations: ValueHistogram,
    variation: ValueHistogram,
    relative: ValueHistogram,
}

/// What is known of the instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstanceSummary {
    /// How many.
    pub count: u64,
    /// Of how many tasks.
    pub tasks: u64,
    /// How long they ran, in seconds.
    pub durations: Option<Quantiles>,
    /// The coefficient of variation of the durations within a task.
    pub variation: Option<Quantiles>,
    /// The speed relative to the task's median.
    pub relative_speed: Option<Quantiles>,
    /// The distribution of the relative speed, for a figure.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

impl InstanceDurations {
    /// Counts an instance.
    pub fn add(&mut self, instance: &TaskInstance<'_>) {
        self.instances += 1;
        let Some(duration) = instance.duration else { return };
        self.durations.add(duration);
        if duration < 1.0 {
            return;
        }
        let name = fingerprint(&[instance.job, instance.task]);
        let order = &mut self.order;
        let task = self.open.entry(name).or_insert_with(|| {
            order.push_back(name);
            Open::default()
        });
        task.count += 1;
        let before = duration - task.mean;
        task.mean += before / task.count as f64;
        task.squares += before * (duration - task.mean);
        if task.kept.len() < KEPT {
            task.kept.push(duration as f32);
        }
        if self.order.len() > WINDOW {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(mut task) = self.order.pop_front().and_then(|name| self.open.remove(&name)) else { return };
        self.tasks += 1;
        task.kept.sort_by(f32::total_cmp);
        let median = f64::from(task.kept[task.kept.len() / 2]);
        if task.count < LEAST_INSTANCES || median < LEAST_MEDIAN {
            return;
        }
        // Equal durations vary by nothing, which a histogram of logarithms takes for its smallest.
        self.variation.add(((task.squares / task.count as f64).sqrt() / task.mean).max(1e-6));
        task.kept.iter().for_each(|duration| self.relative.add(median / f64::from(*duration)));
    }

    /// Closes all tasks and tells what is known; `None` where there was no instance.
    pub fn finish(&mut self) -> Option<InstanceSummary> {
        while !self.order.is_empty() {
            self.close();
        }
        (self.instances > 0).then(|| InstanceSummary {
            count: self.instances,
            tasks: self.tasks,
            durations: self.durations.quantiles(),
            variation: self.variation.quantiles(),
            relative_speed: self.relative.quantiles(),
            curve: self.relative.cumulative(300),
        })
    }
}
