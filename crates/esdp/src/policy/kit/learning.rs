//! Policies that learn and solve: all that a [`Policy`] must do, but for the rule that makes them different.

use super::{Learner, Scope, Score};
use crate::model::{ChannelId, Cluster, ClusterChange, Observation, Slot, SlotView};
use crate::policy::{Choice, Policy, PolicyError, PolicyState};
use crate::solver::{Exact, Solver};
use crate::stats::{StateError, Statistics};

/// What a channel counts, slot by slot: all that most policies have of their own.
///
/// Every index is a [`Rule`], so a [`Learning`] makes a policy of it.
pub trait Index: Send {
    /// Looks at a slot before its channels are scored, for what is the same for all of them.
    fn prepare(&mut self, _seen: &dyn Statistics, _view: &SlotView<'_>) {}

    /// What a channel counts in this slot. The weight of its port is not in it: it is multiplied in
    /// afterwards.
    fn score(&self, seen: &dyn Statistics, view: &SlotView<'_>, channel: ChannelId) -> Score;

    /// Whether channels that were never tried go first, whatever the others count. Yes by default: an average
    /// over no outcome says nothing. Then only the others are scored.
    fn covers(&self) -> bool {
        true
    }

    /// Whether it ranks jobs that wait, as [`Policy::ranks_jobs`] says. No by default.
    fn ranks_jobs(&self) -> bool {
        false
    }

    /// Which channels enter the problem. [`Scope::Open`] by default.
    fn scope(&self) -> Scope {
        Scope::Open
    }

    /// Goes on in the next version of the cluster. Nothing to do by default.
    fn change(&mut self, _change: &ClusterChange<'_>) {}
}

/// How a policy that learns chooses channels. For most an [`Index`] is enough; a rule may do something else
/// in some slots.
pub trait Rule: Send {
    /// Chooses channels for a slot, overwriting `choice`.
    ///
    /// # Errors
    /// When the slot's problem cannot be solved.
    fn decide(
        &mut self,
        learner: &mut Learner,
        view: &SlotView<'_>,
        choice: &mut Choice,
    ) -> Result<(), PolicyError>;

    /// Whether it ranks jobs that wait, as [`Policy::ranks_jobs`] says. No by default.
    fn ranks_jobs(&self) -> bool {
        false
    }

    /// Goes on in the next version of the cluster. Nothing to do by default.
    fn change(&mut self, _change: &ClusterChange<'_>) {}
}

impl<I: Index> Rule for I {
    fn ranks_jobs(&self) -> bool {
        Index::ranks_jobs(self)
    }

    fn decide(
        &mut self,
        learner: &mut Learner,
        view: &SlotView<'_>,
        choice: &mut Choice,
    ) -> Result<(), PolicyError> {
        self.prepare(&*learner.statistics, view);
        let score = |seen: &dyn Statistics, channel| self.score(seen, view, channel);
        match self.covers() {
            true => learner.decide(view, self.scope(), choice, score),
            false => learner.solve(view, self.scope(), choice, score),
        }
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        Index::change(self, change);
    }
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
    /// A policy of this name, which users choose it by and saved states carry. It solves its problems
    /// exactly.
    pub fn new(name: &'static str, statistics: Box<dyn Statistics>, rule: R) -> Self {
        Self { name, learner: Learner::new(statistics, Box::new(Exact::default())), rule, exploit: false }
    }

    /// Uses another solver.
    #[must_use]
    pub fn with_solver(mut self, solver: Box<dyn Solver>) -> Self {
        self.learner.problem.set_solver(solver);
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

    fn ranks_jobs(&self) -> bool {
        self.rule.ranks_jobs()
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.learner.problem.limit_work(visits);
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
