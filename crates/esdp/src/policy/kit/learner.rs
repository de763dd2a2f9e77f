//! Statistics, and the problem of a slot on top of them.

use super::{Scope, Score, SlotProblem};
use crate::model::{ChannelId, Slot, SlotView};
use crate::policy::{Choice, PolicyError};
use crate::solver::Solver;
use crate::stats::Statistics;

/// What has been learned, and the problem of a slot: the body of every policy that learns and solves.
pub struct Learner {
    /// What has been learned of the channels.
    pub statistics: Box<dyn Statistics>,
    /// The slot's problem, with its solver.
    pub problem: SlotProblem,
}

impl Learner {
    /// Nothing learned yet but what the statistics hold.
    pub fn new(statistics: Box<dyn Statistics>, solver: Box<dyn Solver>) -> Self {
        Self { statistics, problem: SlotProblem::new(solver) }
    }

    /// A slot, in which channels never tried go first. `score` is asked for the others: those that were
    /// tried, or are pending.
    ///
    /// # Errors
    /// When the slot's problem cannot be solved.
    pub fn decide<S: Into<Score>>(
        &mut self,
        view: &SlotView<'_>,
        scope: Scope,
        choice: &mut Choice,
        score: impl Fn(&dyn Statistics, ChannelId) -> S,
    ) -> Result<(), PolicyError> {
        self.statistics.advance(view.slot);
        self.problem.open(view, choice);
        let statistics = &*self.statistics;
        self.problem.cover(view, statistics, choice);
        self.problem.solve(view, scope, choice, |channel| {
            statistics.variance(channel).is_finite().then(|| score(statistics, channel).into())
        })
    }

    /// A slot, in which nothing goes first. `score` is asked for every channel, never tried or not.
    ///
    /// # Errors
    /// When the slot's problem cannot be solved.
    pub fn solve<S: Into<Score>>(
        &mut self,
        view: &SlotView<'_>,
        scope: Scope,
        choice: &mut Choice,
        score: impl Fn(&dyn Statistics, ChannelId) -> S,
    ) -> Result<(), PolicyError> {
        self.statistics.advance(view.slot);
        self.problem.open(view, choice);
        let statistics = &*self.statistics;
        self.problem.solve(view, scope, choice, |channel| Some(score(statistics, channel).into()))
    }

    /// A slot by estimates alone. A channel never tried counts next to nothing, but not nothing: a job starts
    /// there rather than wait.
    ///
    /// # Errors
    /// When the slot's problem cannot be solved.
    pub fn exploit(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        const LEAST: f64 = 1e-6;
        self.solve(view, Scope::Open, choice, |statistics, channel| statistics.estimate(channel).max(LEAST))
    }

    /// Notes what will run.
    pub fn commit(&mut self, slot: Slot, channels: &[ChannelId]) {
        for &channel in channels {
            self.statistics.commit(slot, channel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Capacity, Observation, Outcome};
    use crate::policy::testing::{gang, solver, tiny, view};
    use crate::stats::Means;

    fn learner() -> Learner {
        Learner::new(Box::new(Means::new(4)), solver())
    }

    fn decide(learner: &mut Learner, slot: u64, arrivals: &Arrivals, free: &Capacity) -> Vec<u32> {
        let cluster = tiny();
        let mut choice = Choice::default();
        let linear = |statistics: &dyn Statistics, channel| statistics.estimate(channel);
        learner.decide(&view(&cluster, slot, arrivals, free), Scope::Open, &mut choice, linear).unwrap();
        learner.commit(Slot(slot), &choice.channels);
        let mut chosen: Vec<u32> = choice.channels.iter().map(|channel| channel.0).collect();
        chosen.sort_unstable();
        chosen
    }

    #[test]
    fn never_tried_channels_come_first_lightest_first() {
        let mut learner = learner();
        let (both, free) = (Arrivals::everywhere(2), Capacity::cluster_wide(vec![3, 3]));
        // Requests: (1,2), (2,1), (1,1), (3,3). The lightest, 2, goes first; then 0 fits, 1 does not.
        assert_eq!(decide(&mut learner, 1, &both, &free), [0, 2]);
        assert_eq!(decide(&mut learner, 2, &both, &free), [1]); // the others are pending, with estimate 0
        assert_eq!(decide(&mut learner, 3, &both, &free), [3]);
        assert!(
            decide(&mut learner, 4, &both, &free).is_empty(),
            "nothing is new, nothing is known to be worth it"
        );
    }

    #[test]
    fn a_gang_that_cannot_try_anything_new_is_left_to_the_solver() {
        // Server 1 has no room, so its channels stay untried for ever; the first server's are known.
        let cluster = gang(vec![vec![4], vec![0]]);
        let mut learner = learner();
        for channel in [ChannelId(0), ChannelId(2)] {
            learner.statistics.observe(&Observation { slot: Slot(1), channel, outcome: Outcome::Ran(0.5) });
        }
        let (arrivals, mut choice) = (Arrivals::new(vec![1]), Choice::default());
        let linear = |statistics: &dyn Statistics, channel| statistics.estimate(channel);
        learner
            .decide(&view(&cluster, 1, &arrivals, cluster.capacity()), Scope::Open, &mut choice, linear)
            .unwrap();
        assert_eq!(choice.channels, [0, 0, 0, 2].map(ChannelId));
        assert!(choice.certificate.is_some_and(|certificate| certificate.value == 2.0), "the solver did it");
    }

    #[test]
    fn a_gang_covers_with_whole_jobs_and_solves_the_rest() {
        let cluster = gang(vec![vec![4], vec![4]]);
        let mut learner = learner();
        let decide = |learner: &mut Learner, slot, jobs| {
            let (arrivals, mut choice) = (Arrivals::new(vec![jobs]), Choice::default());
            let linear = |statistics: &dyn Statistics, channel| statistics.estimate(channel);
            let view = view(&cluster, slot, &arrivals, cluster.capacity());
            learner.decide(&view, Scope::Open, &mut choice, linear).unwrap();
            learner.commit(Slot(slot), &choice.channels);
            choice.channels
        };
        // All four are new; of the first group the first channel takes all tasks.
        assert_eq!(decide(&mut learner, 1, 1), [0, 0, 0, 2].map(ChannelId));
        // 1 and 3 are still new and come first.
        assert_eq!(decide(&mut learner, 2, 1), [1, 1, 1, 3].map(ChannelId));
        for (channel, utility) in [0.2, 0.9, 0.1, 0.7].into_iter().enumerate() {
            let (channel, outcome) = (ChannelId::at(channel), Outcome::Ran(utility));
            learner.statistics.observe(&Observation { slot: Slot(1), channel, outcome });
        }
        // The second server is better but holds four tasks; for the larger group it is better by more.
        let mut chosen = decide(&mut learner, 3, 5);
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 0, 1, 1, 1, 1, 2, 2].map(ChannelId));
    }

    #[test]
    fn a_channel_may_serve_several_jobs() {
        let mut learner = learner();
        for channel in (0..4).map(ChannelId) {
            let outcome = Outcome::Ran(if channel.0 == 2 { 0.9 } else { 0.1 });
            learner.statistics.observe(&Observation { slot: Slot(1), channel, outcome });
        }
        let free = Capacity::cluster_wide(vec![2, 2]);
        assert_eq!(decide(&mut learner, 2, &Arrivals::new(vec![0, 5]), &free), [2, 2]);
        assert_eq!(decide(&mut learner, 3, &Arrivals::new(vec![0, 1]), &free), [2]);
        assert_eq!(learner.statistics.pending(ChannelId(2)), 3);
        assert!(decide(&mut learner, 4, &Arrivals::new(vec![0, 0]), &free).is_empty());
    }
}
