//! Servers drawn from a machine table.

use super::Window;
use crate::event::{CPU, GPU, MEMORY_SHARE};
use crate::summary::{Known, Machines};
use esdp::rng::{Purpose, Stream, stream};
use rand::RngExt;

/// A machine as a server.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Server {
    /// What it has, by device; empty where no table tells.
    capacity: Vec<(String, f64)>,
    /// Its failure domain; empty where that is not told.
    pub(crate) domain: String,
    /// Its kind, such as its GPU model; empty where that is not told.
    pub(crate) kind: String,
}

impl Server {
    fn of(machines: &Machines, known: Known) -> Self {
        Self {
            capacity: machines.devices.names().iter().cloned().zip(machines.capacity(known)).collect(),
            domain: machines.domains.name(known.domain).to_owned(),
            kind: machines.kinds.name(known.kind).to_owned(),
        }
    }

    /// How much it has of a device.
    pub(crate) fn amount(&self, device: &str) -> f64 {
        self.capacity.iter().find(|(name, _)| name == device).map_or(0.0, |(_, amount)| *amount)
    }
}

fn draws(window: &Window) -> Stream {
    stream(window.seed, Purpose::Cluster, 0, 0)
}

/// Machines drawn without repetition: as many as are wanted, or all there are.
pub(crate) fn some(window: &Window, machines: &Machines) -> Vec<Server> {
    let mut rng = draws(window);
    let mut order: Vec<usize> = (0..machines.known.len()).collect();
    let wanted = window.servers.min(order.len());
    for at in 0..wanted {
        let other = rng.random_range(at..order.len());
        order.swap(at, other);
    }
    order[..wanted].iter().map(|at| Server::of(machines, machines.known[*at])).collect()
}

/// As many machines as are wanted: drawn without repetition while there are any, then again from all. Where some have
/// GPUs, only those are drawn. Without a machine table: the processors and memory of the published v2018 machines, with
/// 4 or 8 GPUs.
pub(crate) fn enough(window: &Window, machines: &Machines) -> Vec<Server> {
    let all: Vec<Server> = machines.known.iter().map(|known| Server::of(machines, *known)).collect();
    let with_gpus: Vec<Server> = all.iter().filter(|server| server.amount(GPU) > 0.0).cloned().collect();
    let pool = if with_gpus.is_empty() { all } else { with_gpus };
    let mut rng = draws(window);
    if pool.is_empty() {
        let mut server = |_| {
            let gpus = if rng.random_bool(0.5) { 8.0 } else { 4.0 };
            let capacity = [(CPU, 96.0), (MEMORY_SHARE, 100.0), (GPU, gpus)];
            let capacity = capacity.map(|(name, amount)| (name.to_owned(), amount)).to_vec();
            Server { capacity, ..Server::default() }
        };
        return (0..window.servers).map(&mut server).collect();
    }
    let mut left: Vec<usize> = Vec::new();
    let mut draw = |_| {
        if left.is_empty() {
            left = (0..pool.len()).collect();
        }
        pool[left.swap_remove(rng.random_range(0..left.len()))].clone()
    };
    (0..window.servers).map(&mut draw).collect()
}
