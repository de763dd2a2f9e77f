//! Policies that learn and solve: all that a [`Policy`] must do, but for the rule that makes them different.
//!
//! A policy is a [`Learning`] with a [`Rule`] of its own. The statistics, the solver, the name, outcomes and saved
//! states are here, the steps of a slot in `index.rs`, and a rule's file has nothing but its index.

use super::index::Learner;
use super::{Choice, Policy, PolicyError, PolicyState};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Slot, SlotView};
use crate::solver::{Exact, Solver};
use crate::stats::{StateError, Statistics};

/// How a policy that learns chooses channels.
pub(super) trait Rule: Send {
    /// Chooses channels for a slot, overwriting `choice`.
    fn decide(&mut self, learner: &mut Learner, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError>;

    /// Goes on in the next version of the cluster.
    fn change(&mut self, _change: &ClusterChange<'_>) {}
}

/// A policy that learns its channels' speeds and solves a problem in every slot; `R` is its rule.
pub struct Learning<R> {
    name: &'static str,
    learner: Learner,
    rule: R,
    /// Whether decisions go by estimates alone.
    exploit: bool,
}

impl<R> Learning<R> {
    /// A policy that solves its problems exactly.
    pub(super) fn new(name: &'static str, statistics: Box<dyn Statistics>, rule: R) -> Self {
        Self { name, learner: Learner::new(statistics, Box::new(Exact::default())), rule, exploit: false }
    }

    /// Uses another solver.
    #[must_use]
    pub fn with_solver(mut self, solver: Box<dyn Solver>) -> Self {
        self.learner.index.set_solver(solver);
        self
    }

    /// What has been learned so far.
    pub fn statistics(&self) -> &dyn Statistics {
        &*self.learner.statistics
    }
}

impl<R: Rule> Policy for Learning<R> {
    fn name(&self) -> &str {
        self.name
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.learner.index.limit_work(visits);
    }

    fn limit_exploration(&mut self, exploit: bool) {
        self.exploit = exploit;
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        match self.exploit {
            true => self.learner.exploit(view, choice),
            false => self.rule.decide(&mut self.learner, view, choice),
        }
    }

    fn commit(&mut self, _cluster: &Cluster, slot: Slot, channels: &[ChannelId]) {
        self.learner.commit(slot, channels);
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.learner.statistics.change(change);
        self.rule.change(change);
    }

    fn learned(&self) -> Option<&dyn Statistics> {
        Some(&*self.learner.statistics)
    }

    fn learned_mut(&mut self) -> Option<&mut dyn Statistics> {
        Some(&mut *self.learner.statistics)
    }

    fn learn(&mut self, seen: &Observation) {
        self.learner.statistics.observe(seen);
    }

    fn state(&self) -> PolicyState {
        PolicyState { statistics: Some(self.statistics().state()), ..PolicyState::empty(self.name) }
    }

    fn restore(&mut self, state: PolicyState) -> Result<(), StateError> {
        state.check(self.name)?;
        let expected = self.statistics().state().learned.kind();
        let statistics = state.statistics.ok_or(StateError::Kind { found: "none", expected })?;
        self.learner.statistics.restore(statistics)
    }
}
