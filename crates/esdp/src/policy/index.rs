//! From an index to a choice: what all policies that solve a problem share.
//!
//! A slot goes in four steps:
//!
//! 1. the room is what is free;
//! 2. *cover*: open channels that were never tried have infinite width, which no solver
//!    can weigh. They are taken first, lightest first, as many as fit. A large constant
//!    instead of infinity would make mass ties and slow decisions. A port of gangs starts one
//!    job, which prefers channels that were never tried;
//! 3. *solve*: the remaining open channels, each with its index, on the room that is left.
//!    With several jobs at a port a channel comes once a job, but never more often than it fits;
//!    where jobs are gangs or only servers limit it comes once, and the problem knows the jobs;
//! 4. *commit*, once the choice was sealed and accepted: what will run counts as pending.
//!
//! Cost: *O(channels)* and one solve. All buffers are kept: no allocation once they have grown.

use super::room::Room;
use super::whole::WholeJobs;
use super::{Certificate, Choice, PolicyError};
use crate::model::{Amount, ChannelId, PortId, Slot, SlotView, TaskGroup};
use crate::solver::{Gang, Group, Guarantee, Instance, Solution, Solver, Stopped};
use crate::stats::Statistics;

/// A channel's place in the objective: its mean and its width.
pub(super) type Score = (f64, f64);

/// Which channels enter the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The paper's *Omega(t)*: channels of ports that have a job, once a job.
    Open,
    /// The paper's *Phi(t)*: all channels, once each; what is chosen for absent ports is dropped.
    All,
}

/// Builds a slot's problem, solves it and reads the answer back.
pub(super) struct Index {
    solver: Box<dyn Solver>,
    room: Room,
    untried: Vec<(f64, ChannelId)>,
    whole: WholeJobs,
    preferred: Vec<ChannelId>,
    /// The jobs of each port that the cover has started, for gangs.
    started: Vec<u32>,
    instance: Instance,
    /// The channel behind each position of the instance.
    channels: Vec<ChannelId>,
    solution: Solution,
}

impl Index {
    pub(super) fn new(solver: Box<dyn Solver>) -> Self {
        Self {
            solver,
            room: Room::default(),
            untried: Vec::new(),
            whole: WholeJobs::default(),
            preferred: Vec::new(),
            started: Vec::new(),
            instance: Instance::default(),
            channels: Vec::new(),
            solution: Solution::default(),
        }
    }

    /// Step 1.
    pub(super) fn open(&mut self, view: &SlotView<'_>, choice: &mut Choice) {
        choice.clear();
        self.room.reset(view);
        self.started.clear();
        self.started.resize(view.cluster.ports().len(), 0);
    }

    /// Step 2.
    pub(super) fn cover(&mut self, view: &SlotView<'_>, statistics: &dyn Statistics, choice: &mut Choice) {
        let cluster = view.cluster;
        self.untried.clear();
        for port in (0..cluster.ports().len()).map(PortId::at) {
            if view.arrivals.jobs(port) == 0 {
                continue;
            }
            for &channel in cluster.channels_of(port) {
                if statistics.variance(channel).is_infinite() && self.room.copies(cluster, channel, 1) > 0 {
                    self.untried.push((self.room.weight(cluster, channel), channel));
                }
            }
        }
        self.untried.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for position in 0..self.untried.len() {
            let channel = self.untried[position].1;
            let port = cluster.channel(channel).port;
            if cluster.is_gang(port) {
                self.cover_gang(view, port, statistics, choice);
            } else if self.room.take(cluster, channel) {
                choice.channels.push(channel);
            }
        }
    }

    /// Starts a job of a port that has not started one yet, if that tries a channel never tried.
    fn cover_gang(&mut self, view: &SlotView<'_>, port: PortId, statistics: &dyn Statistics, choice: &mut Choice) {
        let Self { room, untried, whole, preferred, started, .. } = self;
        if started[port.index()] > 0 {
            return;
        }
        let cluster = view.cluster;
        preferred.clear();
        preferred.extend(untried.iter().map(|entry| entry.1).filter(|&id| cluster.channel(id).port == port));
        let tried = cluster.channels_of(port).iter().filter(|&&channel| statistics.variance(channel).is_finite());
        preferred.extend(tried);
        let before = choice.channels.len();
        let jobs = whole.place(cluster, (port, 1), preferred, room, choice);
        let tries_something =
            choice.channels[before..].iter().any(|&channel| statistics.variance(channel).is_infinite());
        if !tries_something {
            choice.channels.drain(before..).for_each(|channel| room.give(cluster, channel));
        }
        started[port.index()] = if tries_something { jobs } else { 0 };
    }

    /// Step 3. Channels without a score stay out.
    pub(super) fn solve(
        &mut self,
        view: &SlotView<'_>,
        scope: Scope,
        choice: &mut Choice,
        score: impl FnMut(ChannelId) -> Option<Score>,
    ) -> Result<(), PolicyError> {
        self.fill(view, scope, score);
        let Self { solver, instance, channels, solution, .. } = self;
        if channels.is_empty() {
            let (guarantee, stopped) = (Guarantee::Optimal, Stopped::Proved);
            choice.certificate = Some(Certificate { value: 0.0, bound: 0.0, guarantee, stopped });
            return Ok(());
        }
        solver.solve_into(&instance.problem()?, solution)?;
        let chosen = solution.chosen.each().map(|position| channels[position as usize]);
        choice.channels.extend(chosen.filter(|&channel| view.arrivals.jobs(view.cluster.channel(channel).port) > 0));
        let Solution { value, bound, guarantee, stopped, .. } = *solution;
        choice.certificate = Some(Certificate { value, bound, guarantee, stopped });
        Ok(())
    }

    /// Writes the slot's problem.
    fn fill(&mut self, view: &SlotView<'_>, scope: Scope, mut score: impl FnMut(ChannelId) -> Option<Score>) {
        let Self { room, instance, channels, started, .. } = self;
        let cluster = view.cluster;
        instance.clear();
        channels.clear();
        match room.cluster() {
            Some(rest) => instance.capacity.extend_from_slice(rest),
            None => instance.capacity.resize(cluster.devices().len(), Amount::MAX),
        }
        instance.server_capacity.extend_from_slice(room.servers());
        let per_server = !room.servers().is_empty();
        // With a limit of the whole cluster a set of channels is easier to search than numbers of uses.
        let whole = cluster.has_gangs() || (per_server && room.cluster().is_none());
        if whole {
            // All ports and groups are there, so that positions are ids.
            let group = |group: &TaskGroup| Group { job: group.port.0, count: group.count, minimum: group.minimum };
            let groups = cluster.task_groups().iter().map(group);
            instance.groups.extend(groups);
        }
        for port in (0..cluster.ports().len()).map(PortId::at) {
            let jobs = match scope {
                Scope::Open => view.arrivals.jobs(port),
                Scope::All => 1,
            };
            let jobs = jobs.saturating_sub(started[port.index()]);
            if whole {
                instance.jobs.push(Gang { minimum: cluster.minimum(port), copies: jobs });
            }
            if jobs == 0 {
                continue;
            }
            let weight = view.weight(port);
            for &channel in cluster.channels_of(port) {
                let copies = room.copies(cluster, channel, if whole { 1 } else { jobs });
                if copies == 0 {
                    continue;
                }
                let Some((mut mean, mut width)) = score(channel) else { continue };
                if weight != 1.0 {
                    (mean, width) = (weight * mean, weight * weight * width);
                }
                for _ in 0..copies {
                    instance.push(cluster.request(channel), mean, width);
                    channels.push(channel);
                    if per_server {
                        instance.server.push(cluster.channel(channel).server.0);
                    }
                    if whole {
                        instance.group.push(cluster.task_group(channel) as u32);
                    }
                }
            }
        }
    }

    pub(super) fn limit_work(&mut self, visits: Option<u64>) {
        self.solver.limit_work(visits);
    }

    pub(super) fn set_solver(&mut self, solver: Box<dyn Solver>) {
        self.solver = solver;
    }
}

/// Statistics and an index on top of them: the body of every policy that learns and solves.
pub(super) struct Learner {
    pub(super) statistics: Box<dyn Statistics>,
    pub(super) index: Index,
}

impl Learner {
    pub(super) fn new(statistics: Box<dyn Statistics>, solver: Box<dyn Solver>) -> Self {
        Self { statistics, index: Index::new(solver) }
    }

    /// The first three steps. `score` is asked for channels that were tried, or are pending.
    pub(super) fn decide(
        &mut self,
        view: &SlotView<'_>,
        scope: Scope,
        choice: &mut Choice,
        score: impl Fn(&dyn Statistics, ChannelId) -> Score,
    ) -> Result<(), PolicyError> {
        self.statistics.advance(view.slot);
        self.index.open(view, choice);
        let statistics = &*self.statistics;
        self.index.cover(view, statistics, choice);
        self.index.solve(view, scope, choice, |channel| {
            statistics.variance(channel).is_finite().then(|| score(statistics, channel))
        })
    }

    /// The first and the third step, by estimates alone. A channel never tried counts next to nothing, but not nothing:
    /// a job starts there rather than wait.
    pub(super) fn exploit(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        const LEAST: f64 = 1e-6;
        self.statistics.advance(view.slot);
        self.index.open(view, choice);
        let statistics = &*self.statistics;
        self.index.solve(view, Scope::Open, choice, |channel| Some((statistics.estimate(channel).max(LEAST), 0.0)))
    }

    /// Step 4.
    pub(super) fn commit(&mut self, slot: Slot, channels: &[ChannelId]) {
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
        let linear = |statistics: &dyn Statistics, channel| (statistics.estimate(channel), 0.0);
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
        assert!(decide(&mut learner, 4, &both, &free).is_empty(), "nothing is new, nothing is known to be worth it");
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
        let linear = |statistics: &dyn Statistics, channel| (statistics.estimate(channel), 0.0);
        learner.decide(&view(&cluster, 1, &arrivals, cluster.capacity()), Scope::Open, &mut choice, linear).unwrap();
        assert_eq!(choice.channels, [0, 0, 0, 2].map(ChannelId));
        assert!(choice.certificate.is_some_and(|certificate| certificate.value == 2.0), "the solver did it");
    }

    #[test]
    fn a_gang_covers_with_whole_jobs_and_solves_the_rest() {
        let cluster = gang(vec![vec![4], vec![4]]);
        let mut learner = learner();
        let decide = |learner: &mut Learner, slot, jobs| {
            let (arrivals, mut choice) = (Arrivals::new(vec![jobs]), Choice::default());
            let linear = |statistics: &dyn Statistics, channel| (statistics.estimate(channel), 0.0);
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
