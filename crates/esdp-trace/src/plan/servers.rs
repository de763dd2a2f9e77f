//! Servers drawn from a machine table.

use super::Window;
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

    /// A server of which nothing but its devices is known.
    pub(crate) fn having(capacity: Vec<(String, f64)>) -> Self {
        Self { capacity, ..Self::default() }
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
