//! Servers: machines drawn from the table without repetition, or nameless ones where there is no table.
//!
//! A table of one row stands for a whole system (SWF, Batsim): its capacity counts, and the servers are
//! nameless.

use super::DraftError;
use crate::plan::{Server, Units, Window, some};
use crate::summary::Machines;

/// The servers.
#[derive(Debug, Clone)]
pub(super) struct Servers {
    pub(super) list: Vec<Server>,
    /// What each has of the devices that count; empty without a table.
    amounts: Vec<Vec<f64>>,
    /// What they have together, in units; empty without a table.
    total: Vec<f64>,
}

impl Servers {
    pub(super) fn draw(window: &Window, machines: &Machines, units: &Units) -> Result<Self, DraftError> {
        let nameless = |total: Vec<f64>| {
            let amounts = vec![Vec::new(); window.servers];
            Self { list: vec![Server::default(); window.servers], amounts, total }
        };
        if machines.count() == 0 {
            return Ok(nameless(Vec::new()));
        }
        let known = machines.devices.names();
        let place = |name: &str| {
            known
                .iter()
                .position(|known| known == name)
                .ok_or_else(|| DraftError::Device { device: name.to_owned(), known: known.join(", ") })
        };
        let places = units.names().map(place).collect::<Result<Vec<_>, _>>()?;
        if let ([system], true) = (machines.known.as_slice(), window.servers > 1) {
            let all = machines.capacity(*system);
            return Ok(nameless(
                places.iter().enumerate().map(|(device, at)| all[*at] / units.size(device)).collect(),
            ));
        }
        let list = some(window, machines);
        let of = |server: &Server| units.names().map(|name| server.amount(name)).collect();
        let amounts: Vec<Vec<f64>> = list.iter().map(of).collect();
        let total = |device: usize| amounts.iter().map(|own| own[device] / units.size(device)).sum();
        let total = (0..units.count()).map(total).collect();
        Ok(Self { list, amounts, total })
    }

    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// Whether a server has what is asked for; one of which nothing is known has everything.
    pub(super) fn fits(&self, server: usize, asked: &[f64]) -> bool {
        self.amounts[server].iter().zip(asked).all(|(own, asked)| asked <= own)
    }

    /// What they have together, in units; empty without a table.
    pub(super) fn total(&self) -> Vec<f64> {
        self.total.clone()
    }
}
