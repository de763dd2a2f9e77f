//! Servers: machines drawn from the table without repetition, or nameless ones where there is no table.
//!
//! A table of one row stands for a whole system (SWF, Batsim): its capacity counts, and the servers are nameless.

use super::units::Units;
use super::{DraftError, Plan};
use crate::summary::{Known, Machines};
use esdp::rng::{Purpose, stream};
use rand::RngExt;

/// One server.
#[derive(Debug, Clone)]
pub(super) struct Server {
    /// What it has, by the devices that count; empty without a table.
    pub(super) capacity: Vec<f64>,
    pub(super) domain: String,
    pub(super) kind: String,
}

/// The servers.
#[derive(Debug, Clone)]
pub(super) struct Servers {
    pub(super) list: Vec<Server>,
    /// What they have together, in units; empty without a table.
    total: Vec<f64>,
}

impl Servers {
    pub(super) fn draw(plan: &Plan, machines: &Machines, units: &Units) -> Result<Self, DraftError> {
        let nameless = || {
            let server = Server { capacity: Vec::new(), domain: String::new(), kind: String::new() };
            vec![server; plan.servers]
        };
        if machines.count() == 0 {
            return Ok(Self { list: nameless(), total: Vec::new() });
        }
        let known = machines.devices.names();
        let place = |name: &str| {
            known
                .iter()
                .position(|known| known == name)
                .ok_or_else(|| DraftError::Device { device: name.to_owned(), known: known.join(", ") })
        };
        let places = units.names().map(place).collect::<Result<Vec<_>, _>>()?;
        if let ([system], true) = (machines.known.as_slice(), plan.servers > 1) {
            let all = machines.capacity(*system);
            let total = places.iter().enumerate().map(|(device, at)| all[*at] / units.size(device)).collect();
            return Ok(Self { list: nameless(), total });
        }
        let list: Vec<Server> = sample(&machines.known, plan)
            .into_iter()
            .map(|machine| {
                let all = machines.capacity(machine);
                Server {
                    capacity: places.iter().map(|at| all[*at]).collect(),
                    domain: machines.domains.name(machine.domain).to_owned(),
                    kind: machines.kinds.name(machine.kind).to_owned(),
                }
            })
            .collect();
        let total = |device: usize| list.iter().map(|server| server.capacity[device] / units.size(device)).sum();
        let total = (0..units.count()).map(total).collect();
        Ok(Self { list, total })
    }

    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// What they have together, in units; empty without a table.
    pub(super) fn total(&self) -> Vec<f64> {
        self.total.clone()
    }
}

/// So many machines as servers are wanted, in a drawn order.
fn sample(known: &[Known], plan: &Plan) -> Vec<Known> {
    let mut rng = stream(plan.seed, Purpose::Cluster, 0, 0);
    let mut order: Vec<usize> = (0..known.len()).collect();
    let wanted = plan.servers.min(known.len());
    for at in 0..wanted {
        let other = rng.random_range(at..order.len());
        order.swap(at, other);
    }
    order[..wanted].iter().map(|at| known[*at]).collect()
}
