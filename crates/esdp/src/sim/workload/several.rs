//! Several jobs per port and slot: Poisson or binomial counts, capped.
//!
//! Each job is its own copy of the port (the paper's footnote): it may use each of the port's
//! channels once, and all copies share the channel's statistics.

use super::{Rates, Workload, poisson};
use crate::model::{Arrivals, PortId, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// Poisson counts with a mean of `rate`, before the cap at `most`.
#[derive(Debug, Clone, PartialEq)]
pub struct Poisson {
    pub(super) rate: Rates,
    pub(super) most: u32,
    pub(super) seed: u64,
}

impl Workload for Poisson {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let mut rng = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        for port in (0..arrivals.ports()).map(PortId::at) {
            arrivals.set(port, poisson(self.rate.of(port), self.most, &mut rng));
        }
    }
}

/// `jobs` users a port, each of whom submits with probability *rho*.
#[derive(Debug, Clone, PartialEq)]
pub struct Binomial {
    pub(super) jobs: u32,
    pub(super) rho: Rates,
    pub(super) seed: u64,
}

impl Workload for Binomial {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let mut rng = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        for port in (0..arrivals.ports()).map(PortId::at) {
            let rho = self.rho.of(port);
            let jobs = (0..self.jobs).filter(|_| rng.random::<f64>() < rho).count();
            arrivals.set(port, jobs as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::workload::testing::moments;

    #[test]
    fn poisson_counts_have_equal_mean_and_variance() {
        for (mean, variance) in moments(&mut Poisson { rate: 1.5.into(), most: 100, seed: 1 }, 4, 20_000) {
            assert!((mean - 1.5).abs() < 4.0 * (1.5f64 / 20_000.0).sqrt(), "{mean}");
            assert!((variance - 1.5).abs() < 4.0 * (6.0f64 / 20_000.0).sqrt(), "{variance}");
        }
    }

    #[test]
    fn the_cap_holds() {
        let mut arrivals = Arrivals::everywhere(1);
        let mut workload = Poisson { rate: 50.0.into(), most: 3, seed: 1 };
        workload.arrivals(Slot(1), &mut arrivals);
        assert_eq!(arrivals.jobs(PortId(0)), 3);
    }

    #[test]
    fn binomial_counts_have_their_moments() {
        for (mean, variance) in moments(&mut Binomial { jobs: 4, rho: 0.3.into(), seed: 1 }, 4, 20_000) {
            assert!((mean - 1.2).abs() < 4.0 * (0.84f64 / 20_000.0).sqrt(), "{mean}");
            assert!((variance - 0.84).abs() < 0.04, "{variance}");
        }
    }
}
