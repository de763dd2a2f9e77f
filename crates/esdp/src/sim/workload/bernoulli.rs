//! At most one job a port and slot, independently, with probability *rho*: the paper's workload.

use super::{Rates, Workload};
use crate::model::{Arrivals, PortId, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// A job with probability *rho*, one for all ports or one for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Bernoulli {
    rho: Rates,
    seed: u64,
}

impl Bernoulli {
    /// Jobs with probability `rho`; not above 0 means never, not below 1 means always.
    pub fn new(rho: impl Into<Rates>, seed: u64) -> Self {
        Self { rho: rho.into(), seed }
    }
}

impl Workload for Bernoulli {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let mut rng = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        for port in (0..arrivals.ports()).map(PortId::at) {
            arrivals.set(port, u32::from(rng.random::<f64>() < self.rho.of(port)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::workload::testing::moments;

    #[test]
    fn the_rate_is_rho() {
        let found = moments(&mut Bernoulli::new(0.9, 4), 8, 4000);
        for (mean, variance) in found {
            assert!((mean - 0.9).abs() < 4.0 * (0.09f64 / 4000.0).sqrt(), "{mean}");
            assert!((variance - 0.09).abs() < 0.012, "{variance}");
        }
    }

    #[test]
    fn every_port_may_have_its_own() {
        let found = moments(&mut Bernoulli::new(vec![0.0, 0.3, 1.0], 4), 3, 4000);
        assert_eq!((found[0].0, found[2].0), (0.0, 1.0));
        assert!((found[1].0 - 0.3).abs() < 4.0 * (0.21f64 / 4000.0).sqrt(), "{found:?}");
    }
}
