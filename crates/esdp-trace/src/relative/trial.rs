//! Speeds tried on jobs that they were not estimated from.
//!
//! Speeds and the levels of keys are estimated from one half of the jobs, and foretell the durations of the
//! other half; then the other way round. How far off that is, with the speeds and as if all nodes were alike,
//! says what the speeds are worth.

use super::{Cell, Cells, NodeSpeeds};
use serde::Serialize;
use std::collections::HashMap;

/// How well durations were foretold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeedTrial {
    /// Of how many jobs.
    pub jobs: u64,
    /// The root of the mean square by which the logarithm of a duration was off.
    pub with_speeds: f64,
    /// The same if all nodes were alike.
    pub alike: f64,
    /// The same of durations around the mean of their own key and node: the luck of jobs, and the least that
    /// is to be expected.
    pub luck: f64,
}

/// Sums of squares, and of how many jobs.
#[derive(Default)]
struct Sums {
    jobs: f64,
    with_speeds: f64,
    alike: f64,
    /// Of keys that ran on some node more than once.
    luck: f64,
    lucky: f64,
}

impl SpeedTrial {
    /// Tries each half on the other; none where a half tells no speeds, or no job of the other could be
    /// foretold.
    pub fn new(halves: &[Cells; 2]) -> Option<Self> {
        let mut sums = Sums::default();
        for (from, on) in [(0, 1), (1, 0)] {
            sums.add(&halves[from], &halves[from].estimate()?, &halves[on]);
        }
        let mean = |squares: f64, jobs: f64| (squares / jobs.max(1.0)).sqrt();
        (sums.jobs > 0.0).then(|| Self {
            jobs: sums.jobs as u64,
            with_speeds: mean(sums.with_speeds, sums.jobs),
            alike: mean(sums.alike, sums.jobs),
            luck: mean(sums.luck, sums.lucky),
        })
    }
}

impl Sums {
    fn add(&mut self, from: &Cells, speeds: &NodeSpeeds, on: &Cells) {
        let known: HashMap<&str, (f64, usize)> = speeds
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), (libm::log(node.speed), node.group)))
            .collect();
        let of = |cells: &Cells, (node, cell): &(u32, Cell)| {
            let (speed, group) = *known.get(cells.names[*node as usize].as_str())?;
            Some((speed, group, *cell))
        };
        let levels = from.by_key();
        for (key, cells) in on.by_key() {
            let Some(before) = levels.get(&key) else { continue };
            let before: Vec<(f64, usize, Cell)> = before.iter().filter_map(|cell| of(from, cell)).collect();
            let Some(&(_, group, _)) = before.first() else { continue };
            let jobs: f64 = before.iter().map(|(.., cell)| cell.jobs).sum();
            let level = |with: f64| {
                let work = |(speed, _, cell): &(f64, usize, Cell)| cell.jobs * (cell.mean + with * speed);
                before.iter().map(work).sum::<f64>() / jobs
            };
            let (work, usual) = (level(1.0), level(0.0));
            let (mut own, mut squares, mut freedom) = (0.0, 0.0, 0.0);
            // A speed says nothing about a node of another group.
            for (speed, _, cell) in
                cells.iter().filter_map(|cell| of(on, cell)).filter(|(_, own, _)| *own == group)
            {
                let off = |told: f64| cell.squares + cell.jobs * (cell.mean - told).powi(2);
                own += cell.jobs;
                self.with_speeds += off(work - speed);
                self.alike += off(usual);
                squares += cell.squares;
                freedom += cell.jobs - 1.0;
            }
            self.jobs += own;
            if freedom > 0.0 {
                self.luck += own * squares / freedom;
                self.lucky += own;
            }
        }
    }
}
