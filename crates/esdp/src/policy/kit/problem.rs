//! From scores to a choice: the problem of a slot.
//!
//! A slot goes in four steps:
//!
//! 1. the room is what is free;
//! 2. *cover*: open channels that were never tried have infinite width, which no solver
//!    can weigh. They are taken first, lightest first, as many as fit. A large constant
//!    instead of infinity would make mass ties and slow decisions. A port of gangs starts one
//!    job, which prefers channels that were never tried;
//! 3. *solve*: the remaining open channels, each with its index, on the room that is left. With several jobs
//!    at a port a channel comes once a job, but never more often than it fits; where jobs are gangs, or the
//!    solver would rather count uses, it comes once, and the problem knows the jobs;
//! 4. *commit*, once the choice was sealed and accepted: what will run counts as pending.
//!
//! Cost: *O(channels)* and one solve. All buffers are kept: no allocation once they have grown.

use super::pace::Paced;
use super::{Room, WholeJobs};
use crate::model::{Amount, ChannelId, PlacedJob, PortId, SlotView, TaskGroup};
use crate::policy::{Certificate, Choice, PolicyError};
use crate::solver::{Gang, Group, Guarantee, Instance, LimitedBy, Solution, Solver, Stopped};
use crate::stats::Statistics;

/// What a channel counts in the objective of a slot.
///
/// The solver maximises the sum of the chosen channels' means plus the root of the sum of their widths. An
/// index that is one number has no width: `Score::from(0.7)`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Its mean, *v*.
    pub mean: f64,
    /// Its squared width, *w*: how far the mean may be too low. At least 0.
    pub width: f64,
}

impl From<f64> for Score {
    fn from(mean: f64) -> Self {
        Self { mean, width: 0.0 }
    }
}

impl From<(f64, f64)> for Score {
    fn from((mean, width): (f64, f64)) -> Self {
        Self { mean, width }
    }
}

/// A choice that reaches its bound to so much is optimal.
const EXACT: f64 = 1e-9;

/// Which channels enter the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The paper's *Omega(t)*: channels of ports that have a job, once a job.
    Open,
    /// The paper's *Phi(t)*: all channels, once each; what is chosen for absent ports is dropped.
    All,
}

/// Builds a slot's problem, solves it and reads the answer back: the first three of the steps above.
pub struct SlotProblem {
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
    /// The search for jobs that run at the speed of their slowest task.
    paced: Paced,
}

impl SlotProblem {
    /// Problems for this solver.
    pub fn new(solver: Box<dyn Solver>) -> Self {
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
            paced: Paced::default(),
        }
    }

    /// Step 1: the room is what is free, and nothing is chosen.
    pub fn open(&mut self, view: &SlotView<'_>, choice: &mut Choice) {
        choice.clear();
        self.room.reset(view);
        self.started.clear();
        self.started.resize(view.cluster.ports().len(), 0);
    }

    /// Step 2: channels never tried, as many as fit.
    pub fn cover(&mut self, view: &SlotView<'_>, statistics: &dyn Statistics, choice: &mut Choice) {
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
    fn cover_gang(
        &mut self,
        view: &SlotView<'_>,
        port: PortId,
        statistics: &dyn Statistics,
        choice: &mut Choice,
    ) {
        let Self { room, untried, whole, preferred, started, .. } = self;
        if started[port.index()] > 0 {
            return;
        }
        let cluster = view.cluster;
        preferred.clear();
        preferred.extend(untried.iter().map(|entry| entry.1).filter(|&id| cluster.channel(id).port == port));
        let tried =
            cluster.channels_of(port).iter().filter(|&&channel| statistics.variance(channel).is_finite());
        preferred.extend(tried);
        let before = choice.channels.len();
        let jobs = whole.place(cluster, (port, 1), preferred, room, choice);
        let tries_something =
            choice.channels[before..].iter().any(|&channel| statistics.variance(channel).is_infinite());
        if !tries_something {
            choice.channels.drain(before..).for_each(|channel| room.give(cluster, channel));
        }
        started[port.index()] = if tries_something { jobs } else { 0 };
        if cluster.crossing(port).is_some() && tries_something {
            choice.jobs.push(PlacedJob { port, channels: choice.channels[before..].to_vec() });
        }
    }

    /// Step 3: the best of what is left. Channels without a score stay out.
    ///
    /// # Errors
    /// When the solver gives no answer, or a score is not a number.
    pub fn solve(
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
        if view.cluster.has_slowest() {
            self.keep_pace(view, choice);
            return Ok(());
        }
        let chosen = solution.chosen.each().map(|position| channels[position as usize]);
        choice
            .channels
            .extend(chosen.filter(|&channel| view.arrivals.jobs(view.cluster.channel(channel).port) > 0));
        let Solution { value, bound, guarantee, stopped, .. } = *solution;
        choice.certificate = Some(Certificate { value, bound, guarantee, stopped });
        Ok(())
    }

    /// From what the solver chose to jobs, some of which run at the speed of their slowest task: what it
    /// adds up is a relaxation of that, and its bound holds.
    fn keep_pace(&mut self, view: &SlotView<'_>, choice: &mut Choice) {
        let Self { room, instance, channels, solution, paced, started, .. } = self;
        let is_open = |channel: &ChannelId| view.arrivals.jobs(view.cluster.channel(*channel).port) > 0;
        let chosen: Vec<ChannelId> =
            solution.chosen.each().map(|position| channels[position as usize]).filter(is_open).collect();
        let scored = channels.iter().copied().zip(instance.mean.iter().copied());
        let scored: Vec<(ChannelId, f64)> = scored.filter(|(channel, _)| is_open(channel)).collect();
        let outcome = paced.improve(view, room, &scored, (&chosen, started), solution.bound);
        choice.channels.extend(&outcome.others);
        outcome.jobs.iter().for_each(|job| choice.channels.extend(&job.channels));
        choice.jobs.extend(outcome.jobs);
        let bound = solution.bound.max(outcome.value);
        let guarantee = match outcome.value >= bound * (1.0 - EXACT) {
            true => Guarantee::Optimal,
            false => Guarantee::Bounded,
        };
        let stopped = Stopped::new(guarantee, solution.stopped == Stopped::Budget);
        choice.certificate = Some(Certificate { value: outcome.value, bound, guarantee, stopped });
    }

    /// Writes the slot's problem.
    fn fill(&mut self, view: &SlotView<'_>, scope: Scope, mut score: impl FnMut(ChannelId) -> Option<Score>) {
        let Self { solver, room, instance, channels, started, .. } = self;
        let cluster = view.cluster;
        instance.clear();
        channels.clear();
        match room.cluster() {
            Some(rest) => instance.capacity.extend_from_slice(rest),
            None => instance.capacity.resize(cluster.devices().len(), Amount::MAX),
        }
        instance.server_capacity.extend_from_slice(room.servers());
        let per_server = !room.servers().is_empty();
        let limits = LimitedBy { cluster: room.cluster().is_some(), servers: per_server };
        let (whole, paced) = (cluster.has_gangs() || solver.counts_uses(limits), cluster.has_slowest());
        if whole {
            // All ports and groups are there, so that positions are ids.
            let group =
                |group: &TaskGroup| Group { job: group.port.0, count: group.count, minimum: group.minimum };
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
                let Some(Score { mut mean, mut width }) = score(channel) else { continue };
                if paced {
                    // The minimum of a job's tasks is one number for each: optimism counts by itself.
                    (mean, width) = (mean + width.sqrt(), 0.0);
                }
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

    /// Limits the work of every decision from now on; none lifts the limit.
    pub fn limit_work(&mut self, visits: Option<u64>) {
        self.solver.limit_work(visits);
        self.paced.limit_work(visits);
    }

    /// Uses another solver.
    pub fn set_solver(&mut self, solver: Box<dyn Solver>) {
        self.solver = solver;
    }
}
