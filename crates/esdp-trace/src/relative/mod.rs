//! How fast nodes are relative to each other, from accounting alone.
//!
//! Jobs repeat: the same user runs the same name with the same request again, on other nodes. The logarithm
//! of the duration of job *i*, of key *k* on node *s*, is taken for
//!
//! ```text
//! y_i = key_k - node_s + cell_ks + noise_i
//! ```
//!
//! with any level for a key, `node ~ N(0, tau^2)`, `cell ~ N(0, omega^2)` for keys that like one node better
//! than others do, and noise with a variance of its own for each key, drawn towards that of all. *tau* and
//! *omega* maximise the restricted likelihood. A node's speed is `exp(node)` relative to the geometric mean
//! of the nodes that it can be compared with, shrunk towards 1 as far as its jobs tell little, with the 95 %
//! interval of its posterior.
//!
//! Nodes are comparable if keys join them. Left out: jobs on several nodes, without a name, that did not
//! complete or took less than [`SHORTEST`] seconds. Memory: one cell for each key and node, at most
//! [`MOST_CELLS`].

mod fit;
mod matrix;
mod trial;

pub use fit::{NodeSpeed, NodeSpeeds};
pub use trial::SpeedTrial;

use crate::event::{Sink, Task};
use crate::summary::fingerprint;
use std::collections::{BTreeMap, HashMap};

/// Shorter jobs tell of their start, not of the node.
pub const SHORTEST: f64 = 10.0;
/// The most pairs of key and node.
pub const MOST_CELLS: usize = 1 << 20;

/// Durations by key and node, as they come.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    cells: HashMap<(u64, u32), Cell>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Jobs that tell of a node, and all.
    used: u64,
    seen: u64,
}

/// Durations of one key on one node: number, mean and squares of their logarithms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell {
    jobs: f64,
    mean: f64,
    squares: f64,
}

impl Cell {
    fn add(&mut self, value: f64) {
        self.jobs += 1.0;
        let off = value - self.mean;
        self.mean += off / self.jobs;
        self.squares += off * (value - self.mean);
    }
}

impl Sink for Cells {
    fn task(&mut self, task: &Task<'_>) {
        let _ = self.add(task);
    }
}

impl Cells {
    /// Counts a job; whether it tells of a node.
    pub fn add(&mut self, task: &Task<'_>) -> bool {
        self.seen += 1;
        let Some(duration) = task.duration.filter(|duration| *duration >= SHORTEST) else { return false };
        if task.count != 1
            || task.nodes.is_empty()
            || task.stopped
            || task.label.is_empty()
            || task.nodes.contains('[')
        {
            return false;
        }
        let request: String = task.request.iter().map(|(name, amount)| format!("{name}{amount};")).collect();
        let key = fingerprint(&[task.user, task.label, &request, task.kind]);
        let known = self.numbers.get(task.nodes).copied();
        let is_full = self.cells.len() >= MOST_CELLS;
        if is_full && !known.is_some_and(|node| self.cells.contains_key(&(key, node))) {
            return false;
        }
        let node = known.unwrap_or_else(|| {
            let node = self.names.len() as u32;
            self.names.push(task.nodes.to_owned());
            self.numbers.insert(task.nodes.to_owned(), node);
            node
        });
        self.used += 1;
        self.cells.entry((key, node)).or_default().add(libm::log(duration));
        true
    }

    /// The speeds; none where no job ran on two nodes.
    pub fn estimate(&self) -> Option<NodeSpeeds> {
        fit::fit(self.by_key().into_values().collect(), &self.names, self.used, self.seen)
    }

    /// The cells of every key, in a fixed order: sums do not depend on the table's.
    fn by_key(&self) -> BTreeMap<u64, Vec<(u32, Cell)>> {
        let mut keys: BTreeMap<u64, Vec<(u32, Cell)>> = BTreeMap::new();
        let mut cells: Vec<(&(u64, u32), &Cell)> = self.cells.iter().collect();
        cells.sort_unstable_by_key(|(place, _)| **place);
        for (&(key, node), cell) in cells {
            keys.entry(key).or_default().push((node, *cell));
        }
        keys
    }
}
