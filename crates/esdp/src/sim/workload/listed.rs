//! Arrivals written down: one row per slot, one number per port.

use super::Workload;
use crate::model::{Arrivals, PortId, Slot};
use std::sync::Arc;

/// Jobs from a list; from the start again after its end, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub(super) rows: Arc<Vec<Vec<u32>>>,
    pub(super) repeat: bool,
}

impl Workload for Listed {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        let position = slot.0.saturating_sub(1);
        let position = if self.repeat { position % self.rows.len().max(1) as u64 } else { position };
        let row = usize::try_from(position).ok().and_then(|position| self.rows.get(position));
        for port in 0..arrivals.ports() {
            let jobs = row.and_then(|row| row.get(port)).copied().unwrap_or_default();
            arrivals.set(PortId::at(port), jobs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_and_again_if_told() {
        let rows = Arc::new(vec![vec![1, 0], vec![0, 3]]);
        let jobs = |repeat, slot| {
            let mut arrivals = Arrivals::everywhere(2);
            Listed { rows: Arc::clone(&rows), repeat }.arrivals(Slot(slot), &mut arrivals);
            [0, 1].map(|port| arrivals.jobs(PortId(port)))
        };
        assert_eq!((jobs(true, 1), jobs(true, 2), jobs(true, 3)), ([1, 0], [0, 3], [1, 0]));
        assert_eq!((jobs(false, 2), jobs(false, 3)), ([0, 3], [0, 0]));
    }
}
