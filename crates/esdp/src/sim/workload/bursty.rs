//! Calm and bursts: Poisson counts whose rate follows a hidden two-state Markov chain.
//!
//! A calm port enters a burst with probability `enter` a slot and leaves it with probability
//! `leave`, so a burst lasts `1 / leave` slots and a share `enter / (enter + leave)` of all slots is
//! in one. The chain starts from that share. Counts are over-dispersed: their variance exceeds
//! their mean, the more so the longer they are added up. With `together` all ports share one
//! chain, as when a deadline makes everyone submit.
//!
//! The state of a slot depends on the one before, so slots are cheap in ascending order; an
//! earlier slot starts again from the first. Draws are keyed by slot and port.

use super::{Workload, poisson};
use crate::model::{Arrivals, PortId, Slot};
use crate::rng::{Purpose, Stream, stream};
use rand::RngExt;

/// Markov-modulated Poisson counts, capped.
#[derive(Debug, Clone, PartialEq)]
pub struct Bursty {
    pub(super) calm: f64,
    pub(super) burst: f64,
    pub(super) enter: f64,
    pub(super) leave: f64,
    pub(super) together: bool,
    pub(super) most: u32,
    pub(super) seed: u64,
    /// The slot that `bursting` is of; 0 before the first.
    at: Slot,
    bursting: Vec<bool>,
}

impl Bursty {
    pub(super) fn new(rates: [f64; 2], switch: [f64; 2], together: bool, most: u32, seed: u64) -> Self {
        let ([calm, burst], [enter, leave]) = (rates, switch);
        Self { calm, burst, enter, leave, together, most, seed, at: Slot(0), bursting: Vec::new() }
    }

    /// The share of slots in a burst.
    pub fn share(&self) -> f64 {
        let both = self.enter + self.leave;
        if both > 0.0 { self.enter / both } else { 0.0 }
    }

    fn advance(&mut self, slot: Slot, ports: usize) {
        let chains = if self.together { 1 } else { ports };
        if self.at > slot || self.bursting.len() != chains {
            self.at = Slot(0);
            self.bursting = vec![false; chains];
        }
        while self.at < slot {
            let first = self.at == Slot(0);
            self.at = self.at.next();
            let mut rng = stream(self.seed, Purpose::Arrivals, self.at.0, 1);
            let (share, enter, leave) = (self.share(), self.enter, self.leave);
            for bursting in &mut self.bursting {
                let draw: f64 = rng.random();
                *bursting = match (first, *bursting) {
                    (true, _) => draw < share,
                    (_, true) => draw >= leave,
                    (_, false) => draw < enter,
                };
            }
        }
    }
}

impl Workload for Bursty {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        self.advance(slot, arrivals.ports());
        let mut rng: Stream = stream(self.seed, Purpose::Arrivals, slot.0, 0);
        for port in 0..arrivals.ports() {
            let bursting = self.bursting[if self.together { 0 } else { port }];
            let rate = if bursting { self.burst } else { self.calm };
            arrivals.set(PortId::at(port), poisson(rate, self.most, &mut rng));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::workload::testing::moments;

    fn workload(together: bool) -> Bursty {
        Bursty::new([0.2, 2.0], [0.02, 0.08], together, 1000, 6)
    }

    #[test]
    fn counts_are_over_dispersed() {
        let found = moments(&mut workload(false), 8, 40_000);
        // A share of 0.2: mean 0.8 * 0.2 + 0.2 * 2 = 0.56; variance = mean + 0.2 * 0.8 * 1.8^2 = 1.0784.
        let mean = found.iter().map(|(mean, _)| mean).sum::<f64>() / 8.0;
        let variance = found.iter().map(|(_, variance)| variance).sum::<f64>() / 8.0;
        // The chain forgets at a rate of 0.9 a slot: about 17,000 independent draws in all.
        assert!((mean - 0.56).abs() < 4.0 * (1.0784f64 / 17_000.0).sqrt(), "{mean}");
        assert!((variance - 1.0784).abs() < 0.06, "{variance}");
        assert!(variance / mean > 1.8);
    }

    #[test]
    fn together_means_together() {
        let mut arrivals = Arrivals::everywhere(8);
        let mut dispersion = |mut workload: Bursty| {
            let totals: Vec<f64> = (1..=40_000)
                .map(|slot| {
                    workload.arrivals(Slot(slot), &mut arrivals);
                    (0..8).map(|port| f64::from(arrivals.jobs(PortId(port)))).sum()
                })
                .collect();
            let mean = totals.iter().sum::<f64>() / totals.len() as f64;
            totals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / totals.len() as f64 / mean
        };
        let (alone, together) = (dispersion(workload(false)), dispersion(workload(true)));
        // 1.93 and 1 + 8 * 0.5184 / 0.56 = 8.4.
        assert!((1.8..2.05).contains(&alone) && (7.7..9.1).contains(&together), "{alone} {together}");
    }

    #[test]
    fn slots_may_be_asked_for_in_any_order() {
        let (mut ahead, mut back) = (workload(false), workload(false));
        let (mut a, mut b) = (Arrivals::everywhere(3), Arrivals::everywhere(3));
        back.arrivals(Slot(90), &mut b);
        for slot in [40, 41, 90, 7] {
            ahead.arrivals(Slot(slot), &mut a);
            back.arrivals(Slot(slot), &mut b);
            assert_eq!(a, b, "slot {slot}");
        }
    }
}
