//! `oracle`: knows the true means and solves the linear problem on them, slot by slot.
//!
//! The paper's *x\*(t)*: the yardstick of regret. It gets the means from a [`Truth`], which
//! only a simulation can supply; nothing else in a [`SlotView`] tells them.

use super::kit::{Scope, SlotProblem};
use super::{Choice, Policy, PolicyError};
use crate::model::{Slot, SlotView};
use crate::solver::{Exact, Solver};

/// The true mean net utilities. Supplied by a simulation, seen by the oracle only.
pub trait Truth: Send {
    /// The mean of every channel in a slot, in the order of their ids.
    fn means(&mut self, slot: Slot) -> &[f64];
}

/// Chooses the best set by the true means.
pub struct Oracle {
    truth: Box<dyn Truth>,
    problem: SlotProblem,
}

impl Oracle {
    pub(super) const NAME: &'static str = "oracle";

    /// An oracle that reads this truth.
    pub fn new(truth: Box<dyn Truth>) -> Self {
        Self { truth, problem: SlotProblem::new(Box::new(Exact::default())) }
    }

    /// Uses another solver.
    #[must_use]
    pub fn with_solver(mut self, solver: Box<dyn Solver>) -> Self {
        self.problem.set_solver(solver);
        self
    }
}

impl Policy for Oracle {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.problem.limit_work(visits);
    }

    fn believed(&mut self, slot: Slot, _channels: usize, means: &mut Vec<f64>) -> bool {
        means.clear();
        means.extend_from_slice(self.truth.means(slot));
        true
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        let means = self.truth.means(view.slot);
        self.problem.open(view, choice);
        self.problem.solve(view, Scope::Open, choice, |channel| Some(means[channel.index()].into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, ChannelId};
    use crate::policy::testing::{solver, tiny, view};

    struct Fixed([f64; 4]);

    impl Truth for Fixed {
        fn means(&mut self, _slot: Slot) -> &[f64] {
            &self.0
        }
    }

    #[test]
    fn it_takes_the_best_set() {
        let (cluster, arrivals, mut choice) = (tiny(), Arrivals::everywhere(2), Choice::default());
        let mut oracle = Oracle::new(Box::new(Fixed([0.2, 0.2, 0.2, 0.5]))).with_solver(solver());
        oracle.decide(&view(&cluster, 1, &arrivals, cluster.capacity()), &mut choice).unwrap();
        assert_eq!(choice.channels, [2, 3].map(ChannelId));
        assert!((choice.certificate.unwrap().value - 0.7).abs() < 1e-12);
    }
}
