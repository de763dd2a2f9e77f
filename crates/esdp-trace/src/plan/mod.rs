//! What `scenario` and `replay` take from a trace in the same way: a window of it, machines as servers, whole
//! units.

mod servers;
mod units;

pub(crate) use servers::{Server, some};
pub(crate) use units::{Column, Units};

use thiserror::Error;

/// The most slots that are written down.
pub const MOST_SLOTS: u64 = 200_000;
/// The most ports.
pub const MOST_PORTS: usize = 1000;

/// Lengths of a slot that people use, in seconds.
pub(crate) const LENGTHS: [f64; 23] = [
    0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0, 600.0, 900.0,
    1200.0, 1800.0, 3600.0, 7200.0, 14_400.0, 43_200.0,
];

/// The shortest usual slot, of a second at least, in which every other port has a job on average.
pub fn slot_for(tasks: u64, span: f64, ports: usize) -> f64 {
    let least = (0.5 * ports as f64 * span / tasks.max(1) as f64).max(1.0);
    LENGTHS.into_iter().find(|length| *length >= least).unwrap_or(43_200.0)
}

/// Which part of a trace is taken, and how large the cluster is.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// How many ports: the most frequent request vectors.
    pub ports: usize,
    /// How many servers.
    pub servers: usize,
    /// The length of a slot, in seconds.
    pub slot: f64,
    /// How many slots, at most.
    pub slots: u64,
    /// Where in the trace to start, in seconds after the first arrival.
    pub start: f64,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { ports: 8, servers: 40, slot: 1.0, slots: 2000, start: 0.0, seed: 0 }
    }
}

/// A number of a plan that is out of range. Fatal: the plan is at fault.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("`{key}` is {value}, expected {accepted}")]
pub struct PlanError {
    /// Which.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is accepted.
    pub accepted: String,
}

/// Checks that a number is in a range.
pub(crate) fn check(key: &'static str, value: f64, from: f64, to: f64) -> Result<(), PlanError> {
    if (from..=to).contains(&value) {
        return Ok(());
    }
    Err(PlanError { key, value: value.to_string(), accepted: format!("a number from {from} to {to}") })
}

impl Window {
    pub(crate) fn check(&self, most_servers: usize) -> Result<(), PlanError> {
        check("ports", self.ports as f64, 1.0, MOST_PORTS as f64)?;
        check("servers", self.servers as f64, 1.0, most_servers as f64)?;
        check("slot", self.slot, 1e-3, 1e9)?;
        check("slots", self.slots as f64, 1.0, MOST_SLOTS as f64)?;
        check("start", self.start, 0.0, 1e12)
    }
}
