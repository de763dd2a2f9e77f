//! Requests in whole units: the library counts devices in whole numbers, as the paper does.
//!
//! A unit is the smallest request above 0 among the ports unless it is told, and requests are rounded up to
//! whole units, so that whatever is decided really fits.

use super::{DraftError, Plan};
use crate::event::unit;
use crate::summary::{Devices, Key};

/// The devices that count, their units, and the ports' requests in them.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// Name, the place among the trace's devices, and the size of a unit.
    devices: Vec<(String, f64)>,
    /// By port, what an instance asks for: amounts, and whole units.
    amounts: Vec<Vec<f64>>,
    requests: Vec<Vec<u64>>,
}

impl Units {
    pub(super) fn choose(plan: &Plan, devices: &Devices, ports: &[Key]) -> Result<Self, DraftError> {
        let all: Vec<Vec<f64>> = ports.iter().map(|key| devices.amounts(key)).collect();
        let place = |name: &String| devices.names().iter().position(|known| known == name);
        for name in plan.devices.iter().chain(plan.units.iter().map(|(name, _)| name)) {
            if place(name).is_none() {
                let accepted = format!("some of {}", devices.names().join(", "));
                return Err(DraftError::Plan { key: "devices", value: name.clone(), accepted });
            }
        }
        let asked = |name: &&String| {
            let at = place(name).unwrap_or(0);
            let wanted = plan.devices.is_empty() || plan.devices.contains(name);
            wanted && all.iter().any(|request| request[at] > 0.0)
        };
        let chosen: Vec<&String> = devices.names().iter().filter(asked).collect();
        if chosen.is_empty() {
            return Err(DraftError::NoTasks);
        }
        let size = |name: &String| {
            let at = place(name).unwrap_or(0);
            let told = plan.units.iter().find(|(told, _)| told == name).map(|(_, unit)| *unit);
            let smallest =
                all.iter().map(|request| request[at]).filter(|amount| *amount > 0.0).fold(f64::MAX, f64::min);
            (name.clone(), told.unwrap_or(smallest))
        };
        let devices: Vec<(String, f64)> = chosen.iter().map(|name| size(name)).collect();
        let places: Vec<usize> = chosen.iter().filter_map(|name| place(name)).collect();
        let amounts: Vec<Vec<f64>> = all.iter().map(|request| places.iter().map(|at| request[*at]).collect()).collect();
        // A hair of slack: 0.6 / 0.2 is 3, not 4.
        let whole = |(amount, (_, size)): (&f64, &(String, f64))| (amount / size - 1e-9).ceil().max(0.0) as u64;
        let requests = amounts.iter().map(|request| request.iter().zip(&devices).map(whole).collect()).collect();
        Ok(Self { devices, amounts, requests })
    }

    pub(super) fn count(&self) -> usize {
        self.devices.len()
    }

    /// How many ports there are.
    pub(super) fn ports(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|(name, _)| name.as_str())
    }

    /// The size of a device's unit.
    pub(super) fn size(&self, device: usize) -> f64 {
        self.devices[device].1
    }

    /// A port's request in whole units.
    pub(super) fn request(&self, port: usize) -> &[u64] {
        &self.requests[port]
    }

    /// A port's request in the trace's own amounts.
    pub(super) fn amounts(&self, port: usize) -> &[f64] {
        &self.amounts[port]
    }

    /// A port's request in words: `cpu 0.5, mem-share 0.2`.
    pub(super) fn words(&self, port: usize) -> String {
        let parts = self.names().zip(self.amounts(port)).map(|(name, amount)| format!("{name} {amount}"));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// A device's unit in words: `0.5 cores`.
    pub(super) fn unit(&self, device: usize) -> String {
        format!("{} {}", self.devices[device].1, unit(&self.devices[device].0))
    }
}
