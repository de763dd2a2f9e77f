//! Who has a job in which slot.

use crate::model::{Arrivals, PortId, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// A source of arrivals. The same slot always gives the same arrivals.
pub trait Workload: Send {
    /// Writes the arrivals of a slot over what is there.
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals);
}

/// At most one job a port and slot, independently, with probability *rho* (the paper's workload).
#[derive(Debug, Clone, PartialEq)]
pub struct Bernoulli {
    rho: f64,
    seed: u64,
}

impl Bernoulli {
    /// Jobs with probability `rho`; not above 0 means never, not below 1 means always.
    pub fn new(rho: f64, seed: u64) -> Self {
        Self { rho, seed }
    }
}

impl Workload for Bernoulli {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let mut rng = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        for port in (0..arrivals.ports()).map(PortId::at) {
            arrivals.set(port, u32::from(rng.random::<f64>() < self.rho));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_rho_and_slots_repeat() {
        let mut workload = Bernoulli::new(0.9, 4);
        let (mut arrivals, mut again) = (Arrivals::everywhere(8), Arrivals::new(vec![7; 8]));
        let mut jobs = 0;
        for slot in (1..=2000).map(Slot) {
            workload.arrivals(slot, &mut arrivals);
            workload.arrivals(slot, &mut again);
            assert_eq!(arrivals, again);
            jobs += (0..8).map(|port| arrivals.jobs(PortId(port))).sum::<u32>();
        }
        let rate = f64::from(jobs) / 16_000.0;
        assert!((rate - 0.9).abs() < 0.01, "{rate}");
    }
}
