//! Servers drawn from a machine table.

use super::ReplayPlan;
use crate::event::{CPU, GPU, MEMORY_SHARE};
use crate::summary::Machines;
use esdp::rng::{Purpose, stream};
use rand::RngExt;

/// A machine of the replay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Server {
    capacity: Vec<(String, f64)>,
    /// Its kind, such as its GPU model; empty where that is not told.
    pub(super) kind: String,
}

impl Server {
    /// How much it has of a device.
    pub(super) fn amount(&self, device: &str) -> f64 {
        self.capacity.iter().find(|(name, _)| name == device).map_or(0.0, |(_, amount)| *amount)
    }
}

/// Machines drawn without replacement while there are any, then again from all. Where some have GPUs, only those are
/// drawn. Without a machine table: the processors and memory of the published v2018 machines, with 4 or 8 GPUs.
pub(super) fn draw_servers(plan: &ReplayPlan, machines: &Machines) -> Vec<Server> {
    let server = |position: usize| {
        let known = machines.known[position];
        let capacity = machines.devices.names().iter().cloned().zip(machines.capacity(known)).collect();
        Server { capacity, kind: machines.kinds.name(known.kind).to_owned() }
    };
    let all: Vec<Server> = (0..machines.known.len()).map(server).collect();
    let with_gpus: Vec<Server> = all.iter().filter(|server| server.amount(GPU) > 0.0).cloned().collect();
    let pool = if with_gpus.is_empty() { all } else { with_gpus };
    let mut rng = stream(plan.seed, Purpose::Cluster, 0, 0);
    if pool.is_empty() {
        let mut server = |_| {
            let gpus = if rng.random_bool(0.5) { 8.0 } else { 4.0 };
            let capacity = [(CPU, 96.0), (MEMORY_SHARE, 100.0), (GPU, gpus)];
            Server { capacity: capacity.map(|(name, amount)| (name.to_owned(), amount)).to_vec(), kind: String::new() }
        };
        return (0..plan.servers).map(&mut server).collect();
    }
    let mut left: Vec<usize> = Vec::new();
    let mut draw = |_| {
        if left.is_empty() {
            left = (0..pool.len()).collect();
        }
        pool[left.swap_remove(rng.random_range(0..left.len()))].clone()
    };
    (0..plan.servers).map(&mut draw).collect()
}
