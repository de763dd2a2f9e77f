//! Deciding a slot by the rule for queues: the job with the reservation first, then the slot's problem.

use super::plan::{Plan, QueueView, place};
use super::{QueueFacts, QueueState};
use crate::model::{Arrivals, Capacity, ChannelId, Cluster, JobId, PlacedJob, PortId};
use crate::policy::Choice;
use crate::scheduler::{Book, Decision, ScheduleError, Scheduler, SlotInput};
use std::sync::Arc;

/// Of the work that a slot may take, one part in so many is for the job that goes first.
const WORK_OF_FIRST: u64 = 4;

impl Scheduler {
    /// Decides the slot that [began](Scheduler::begin) last by the rule for queues, and changes nothing but
    /// buffers. The weights of `input` are those of ports times their first jobs; `reserves` says whether
    /// devices may be kept for a job. The facts are to be [booked](QueueState::book) with the decision.
    ///
    /// # Errors
    /// When the input does not fit the cluster, the policy fails, or what it chose may not run.
    pub fn choose_from_queue(
        &mut self,
        state: &QueueState,
        book: &Book,
        input: &SlotInput<'_>,
        reserves: bool,
    ) -> Result<(&Decision, QueueFacts), ScheduleError> {
        self.check(input)?;
        if self.policy.ranks_jobs() {
            self.choose_for(self.slot, input)?;
            return Ok((&self.decision, QueueFacts::default()));
        }
        let cluster = Arc::clone(&self.cluster);
        let mut speeds = std::mem::take(&mut self.speeds);
        let result = self.choose_by_rule(&cluster, state, book, input, reserves, &mut speeds);
        self.speeds = speeds;
        result.map(|facts| (&self.decision, facts))
    }

    fn choose_by_rule(
        &mut self,
        cluster: &Cluster,
        state: &QueueState,
        book: &Book,
        input: &SlotInput<'_>,
        reserves: bool,
        speeds: &mut Vec<f64>,
    ) -> Result<QueueFacts, ScheduleError> {
        let (slot, free) = (self.slot, input.free.unwrap_or(cluster.capacity()));
        if !self.policy.believed(slot, cluster.channels().len(), speeds) {
            speeds.clear();
        }
        self.close(input.closed);
        let closed = std::mem::take(&mut self.closed);
        let view = QueueView { cluster, slot, book, free, closed: &closed, weights: input.weights, speeds };
        let plan = Plan::new(state, &view, reserves);
        let result = self.choose_by_plan(&plan, state, &view, input);
        self.closed = closed;
        result
    }

    fn choose_by_plan(
        &mut self,
        plan: &Plan,
        state: &QueueState,
        view: &QueueView<'_>,
        input: &SlotInput<'_>,
    ) -> Result<QueueFacts, ScheduleError> {
        let (cluster, slot) = (view.cluster, view.slot);
        let mut facts = QueueFacts::default();
        let mut arrivals = input.arrivals.clone();
        let (mut left, mut starts_first, mut work) = (None, None, input.work);
        match plan.first {
            Some(first) => {
                work = input.work.map(|work| work - work / WORK_OF_FIRST);
                let share = input.work.map(|work| work / WORK_OF_FIRST);
                let channels = self.place_first(plan, view, input, (first.port, share))?;
                facts.batch = first.batch;
                if !channels.is_empty() {
                    facts.reserved = Some((first.port, first.job));
                    left = Some(less(view.free, cluster, &channels));
                    arrivals.set(first.port, arrivals.jobs(first.port).saturating_sub(1));
                    starts_first = Some((first.job, PlacedJob { port: first.port, channels }));
                } else if first.is_reserved {
                    facts.reserved = Some((first.port, first.job));
                    let (rest, idle) = plan.withhold(view, first.port);
                    (left, facts.idle) = (Some(rest), idle);
                }
            }
            None => facts.batch = state.open_batch(view.book),
        }
        let free = Some(left.as_ref().unwrap_or(view.free));
        let barred = &plan.barred;
        let rest = SlotInput { arrivals: &arrivals, free, weights: &plan.weights, barred, work, ..*input };
        self.choose_for(slot, &rest)?;
        if let Some((job, placed)) = starts_first {
            self.decision.start_first(job, placed);
        }
        let jobs = self.decision.jobs(cluster);
        facts.paces = jobs.iter().map(|job| plan.pace(view, job.port, &job.channels)).collect();
        let mut started = vec![0; cluster.ports().len()];
        jobs.iter().for_each(|job| started[job.port.index()] += 1);
        if !plan.barred.is_empty() {
            let left = less(left.as_ref().unwrap_or(view.free), cluster, &self.decision.rest());
            (facts.held, facts.idle_held) = plan.held(view, &left, &started);
        }
        Ok(facts)
    }

    /// Places the job that goes first: as the policy would if nobody else were there, else greedily, else as
    /// it would be placed in an empty cluster. Nothing if it does not fit.
    fn place_first(
        &mut self,
        plan: &Plan,
        view: &QueueView<'_>,
        input: &SlotInput<'_>,
        (port, work): (PortId, Option<u64>),
    ) -> Result<Vec<ChannelId>, ScheduleError> {
        let mut alone = Arrivals::new(vec![0; view.cluster.ports().len()]);
        alone.set(port, 1);
        let only = SlotInput { arrivals: &alone, weights: &plan.weights, barred: &[], work, ..*input };
        self.choose_for(view.slot, &only)?;
        if !self.decision.channels().is_empty() {
            return Ok(self.decision.channels().to_vec());
        }
        let in_empty = || {
            let channels = place(view, port, view.cluster.capacity())?;
            fits(view.free, view.cluster, &channels).then_some(channels)
        };
        let Some(channels) = place(view, port, view.free).or_else(in_empty) else { return Ok(Vec::new()) };
        self.seal_for(view.slot, &only, &Choice { channels, ..Choice::default() })?;
        Ok(self.decision.channels().to_vec())
    }
}

impl QueueState {
    /// How many jobs may still follow a gang that was reserved for.
    fn open_batch(&self, book: &Book) -> u32 {
        let left = |batch: super::Batch| batch.left.min(book.waiting(batch.port).len() as u32);
        self.batch.map_or(0, left)
    }
}

/// What is left of some devices after these uses.
fn less(free: &Capacity, cluster: &Cluster, channels: &[ChannelId]) -> Capacity {
    let mut left = free.clone();
    for &channel in channels {
        let (server, request) = (cluster.channel(channel).server, cluster.request(channel));
        let take = |left: &mut [u64]| {
            left.iter_mut().zip(request).for_each(|(left, &asked)| *left = left.saturating_sub(asked));
        };
        left.cluster_mut().map(take);
        left.server_mut(server).map(take);
    }
    left
}

/// Whether these uses fit.
fn fits(free: &Capacity, cluster: &Cluster, channels: &[ChannelId]) -> bool {
    let mut left = free.clone();
    channels.iter().all(|&channel| {
        let (server, request) = (cluster.channel(channel).server, cluster.request(channel));
        let take = |left: &mut [u64]| {
            left.iter_mut()
                .zip(request)
                .all(|(left, &asked)| left.checked_sub(asked).map(|rest| *left = rest).is_some())
        };
        left.cluster_mut().is_none_or(take) && left.server_mut(server).is_none_or(take)
    })
}

/// A job that starts before all others.
pub(in crate::scheduler) type FirstStart = (JobId, PlacedJob);
