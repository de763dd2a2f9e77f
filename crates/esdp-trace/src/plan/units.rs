//! Requests and capacities in whole units: the library counts devices in whole numbers, as the paper does.
//!
//! A unit is the smallest request above 0 among the ports, or as large as is told. Requests are rounded up to
//! whole units and capacities down, so that whatever is decided really fits.

use super::Server;
use crate::event::unit;

/// A hair of slack: 0.6 / 0.2 is 3, not 4.
const SLACK: f64 = 1e-9;
/// No amount is more units than this.
const MOST_UNITS: f64 = 1e12;

/// A device that counts.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The size of a unit, if it is told.
    pub(crate) size: Option<f64>,
    /// What each port asks for.
    pub(crate) amounts: Vec<f64>,
}

/// The devices that count, their units, and the ports' requests in them.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    /// Name, and the size of a unit.
    devices: Vec<(String, f64)>,
    /// By port, what an instance asks for: amounts, and whole units.
    amounts: Vec<Vec<f64>>,
    requests: Vec<Vec<u64>>,
}

impl Units {
    pub(crate) fn new(ports: usize, columns: &[Column]) -> Self {
        let smallest = |amounts: &[f64]| {
            amounts.iter().copied().filter(|amount| *amount > 0.0).fold(f64::INFINITY, f64::min)
        };
        let size = |column: &Column| column.size.unwrap_or_else(|| smallest(&column.amounts));
        let devices: Vec<(String, f64)> =
            columns.iter().map(|column| (column.name.clone(), size(column))).collect();
        let of_port = |port: usize| columns.iter().map(|column| column.amounts[port]).collect();
        let amounts: Vec<Vec<f64>> = (0..ports).map(of_port).collect();
        let whole = |(amount, (_, size)): (&f64, &(String, f64))| {
            ((amount / size).min(MOST_UNITS) - SLACK).ceil().max(0.0) as u64
        };
        let requests =
            amounts.iter().map(|request| request.iter().zip(&devices).map(whole).collect()).collect();
        Self { devices, amounts, requests }
    }

    /// What a server has, in whole units.
    pub(crate) fn capacity(&self, server: &Server) -> Vec<u64> {
        let whole =
            |(name, size): &(String, f64)| ((server.amount(name) / size).min(MOST_UNITS) + SLACK) as u64;
        self.devices.iter().map(whole).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.devices.len()
    }

    /// How many ports there are.
    pub(crate) fn ports(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|(name, _)| name.as_str())
    }

    /// The size of a device's unit.
    pub(crate) fn size(&self, device: usize) -> f64 {
        self.devices[device].1
    }

    /// Every port's request in whole units.
    pub(crate) fn requests(&self) -> &[Vec<u64>] {
        &self.requests
    }

    /// A port's request in whole units.
    pub(crate) fn request(&self, port: usize) -> &[u64] {
        &self.requests[port]
    }

    /// A port's request in the trace's own amounts.
    pub(crate) fn amounts(&self, port: usize) -> &[f64] {
        &self.amounts[port]
    }

    /// A port's request in words: `cpu 0.5, mem-share 0.2`.
    pub(crate) fn words(&self, port: usize) -> String {
        let parts = self.names().zip(self.amounts(port)).map(|(name, amount)| format!("{name} {amount}"));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// A device's unit in words: `0.5 cores`.
    pub(crate) fn unit(&self, device: usize) -> String {
        format!("{} {}", self.devices[device].1, unit(&self.devices[device].0))
    }
}
