//! Ports that appear later: at most one job per port and slot with probability *rho*, from a slot of its own
//! on.

use super::{Bernoulli, Rates, Workload};
use crate::model::{Arrivals, PortId, Slot};

/// [`Bernoulli`] arrivals that start in a slot of each port's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Late {
    all: Bernoulli,
    from: Vec<u64>,
}

impl Late {
    /// Jobs with probability `rho`, at port *l* from slot `from[l]` on.
    pub fn new(rho: impl Into<Rates>, from: Vec<u64>, seed: u64) -> Self {
        Self { all: Bernoulli::new(rho, seed), from }
    }
}

impl Workload for Late {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        self.all.arrivals(slot, arrivals);
        for (port, _) in self.from.iter().enumerate().filter(|(_, from)| slot.0 < **from) {
            arrivals.set(PortId::at(port), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_appears_in_its_slot_and_changes_nothing_for_others() {
        let (mut late, mut all) = (Late::new(0.9, vec![0, 50, 0], 4), Bernoulli::new(0.9, 4));
        let [mut found, mut expected] = [Arrivals::everywhere(3), Arrivals::everywhere(3)];
        for slot in (1..=100).map(Slot) {
            late.arrivals(slot, &mut found);
            all.arrivals(slot, &mut expected);
            if slot.0 < 50 {
                assert_eq!(found.jobs(PortId(1)), 0, "{slot}");
                expected.set(PortId(1), 0);
            }
            assert_eq!(found, expected, "{slot}");
        }
    }
}
