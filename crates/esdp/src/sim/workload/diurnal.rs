//! Jobs by day and by night: Bernoulli with a probability that waves with time,
//!
//! ```text
//! rho(t) = mean + amplitude sin(2 pi (t / period + phase))
//! ```

use super::Workload;
use crate::model::{Arrivals, PortId, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;
use std::f64::consts::TAU;

/// At most one job a port and slot, more often by day.
#[derive(Debug, Clone, PartialEq)]
pub struct Diurnal {
    pub(super) mean: f64,
    pub(super) amplitude: f64,
    pub(super) period: u64,
    pub(super) phase: f64,
    pub(super) seed: u64,
}

impl Diurnal {
    /// The probability of a job in a slot.
    pub fn rho(&self, slot: Slot) -> f64 {
        // The remainder keeps the angle exact however long a run is.
        let turn = (slot.0 % self.period) as f64 / self.period as f64 + self.phase;
        self.mean + self.amplitude * (TAU * turn).sin()
    }
}

impl Workload for Diurnal {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let mut rng = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        let rho = self.rho(slot);
        for port in (0..arrivals.ports()).map(PortId::at) {
            arrivals.set(port, u32::from(rng.random::<f64>() < rho));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noon_is_busier_than_midnight() {
        let mut workload = Diurnal { mean: 0.5, amplitude: 0.4, period: 100, phase: 0.0, seed: 2 };
        assert!(
            (workload.rho(Slot(25)) - 0.9).abs() < 1e-12 && (workload.rho(Slot(175)) - 0.1).abs() < 1e-12
        );
        let mut arrivals = Arrivals::everywhere(1);
        let mut jobs = vec![0.0; 100];
        let days = 2000;
        for slot in 0..days * 100 {
            workload.arrivals(Slot(slot), &mut arrivals);
            jobs[(slot % 100) as usize] += f64::from(arrivals.jobs(PortId(0)));
        }
        for (hour, jobs) in jobs.into_iter().enumerate() {
            let (rho, found) = (workload.rho(Slot(hour as u64)), jobs / days as f64);
            // A hundred comparisons: five standard errors.
            assert!(
                (found - rho).abs() < 5.0 * (rho * (1.0 - rho) / days as f64).sqrt(),
                "{hour}: {found}, not {rho}"
            );
        }
    }
}
