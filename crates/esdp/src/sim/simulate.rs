//! The loop: one policy, one seed, slot after slot.
//!
//! A slot goes in five steps: arrivals; the decision, timed if there is a clock; the work, with its
//! expected utility from the true means of what runs, and the oracle's; the record; the feedback:
//! outcomes go under way, and those that are due are observed.
//!
//! What runs is what was chosen in the slot, or, where jobs hold their devices until they are done
//! (`held.rs`), also what was chosen before and still runs.
//!
//! Memory does not grow with the number of slots, but for jobs that wait. Two calls of 500 slots
//! are one of 1000.

use super::feedback::Delays;
use super::held::{FinishedJob, JobWork, UnfinishedJob};
use super::oracle::{OracleMeter, OracleTrack};
use super::outage::Windows;
use super::paced::{Report, paced, run, worth};
use super::parameter::ParameterError;
use super::queue::QueueRule;
use super::recorder::{ChannelEstimate, LostTime, Recorder, SlotRecord};
use super::workload::Workload;
use super::{Environment, Setting};
use crate::model::{Arrivals, ChannelId, Cluster, Observation, Outcome, PortId, ServerId, Slot};
use crate::policy::{FirstFit, Policy, PolicySpec, SpecError};
use crate::scheduler::{Decision, Objective, QueueFacts, QueueState, ScheduleError, Scheduler, SlotInput};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The confidence radius above which a channel counts as still unknown.
const UNSURE: f64 = 0.25;

/// A policy in a simulated world.
///
/// ```
/// use esdp::sim::{OracleTrack, RandomCluster, Setting, Simulation, Summary};
///
/// let setting = Setting::new(&RandomCluster::default(), 0.9, 7)?;
/// let oracle = OracleTrack::new(&setting, 300)?; // once for all policies of the seed
/// let mut summary = Summary::new(setting.cluster());
/// let mut simulation = Simulation::new(&setting, &"esdp".parse()?)?.against(&oracle);
/// assert!(simulation.run(300, &mut summary)?.is_continue(), "nobody breaks it off");
/// assert!(summary.oracle_ratio().unwrap() > 0.8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<'a> {
    scheduler: Scheduler,
    workload: Box<dyn Workload>,
    environment: Box<dyn Environment>,
    yardstick: Yardstick<'a>,
    clock: Option<&'a dyn Fn() -> u64>,
    delays: Delays<Report>,
    /// What waits and runs, where jobs hold their devices until they are done.
    held: Option<JobWork>,
    /// What the rule for queues remembers, if slots are decided by it.
    queue: Option<QueueState>,
    windows: Arc<Windows>,
    /// The servers that are out in this slot.
    closed: Vec<ServerId>,
    weights: Vec<f64>,
    /// Who starts jobs in place of the policy, and the mean utility of every port.
    rule: Option<(QueueRule, Vec<f64>)>,
    arrived: Arrivals,
    present: Arrivals,
    started: Vec<u32>,
    utilities: Vec<f64>,
    finished: Vec<FinishedJob>,
    seen: Vec<Report>,
    /// How often each channel was chosen, and the last slot of which an outcome was observed; 0 is none.
    uses: Vec<(u64, u64)>,
}

enum Yardstick<'a> {
    None,
    Track(&'a OracleTrack),
    Live(Box<OracleMeter>),
}

impl<'a> Simulation<'a> {
    /// A policy before its first slot.
    ///
    /// # Errors
    /// When a parameter of the policy is out of range, or it is a rule for queues and jobs do not wait.
    pub fn new(setting: &Setting, policy: &PolicySpec) -> Result<Self, SpecError> {
        let rule = match policy {
            PolicySpec::Easy {} => QueueRule::Easy,
            PolicySpec::Conservative {} => QueueRule::Conservative,
            _ => return Ok(Self::turning(setting, setting.scheduler(policy)?)),
        };
        Self::with_rule(setting, rule).map_err(|_| SpecError::NoQueue { rule: policy.name() })
    }

    /// A policy of one's own.
    pub fn with_policy(setting: &Setting, policy: Box<dyn Policy>) -> Self {
        Self::turning(setting, Scheduler::new(Arc::clone(setting.cluster()), policy))
    }

    /// A queue without a policy: jobs hold their devices, and a rule starts them.
    ///
    /// # Errors
    /// When the setting's jobs last one slot: there is no queue then.
    pub fn with_rule(setting: &Setting, rule: QueueRule) -> Result<Self, ParameterError> {
        if setting.held().is_none() {
            return Err(ParameterError::new(
                "jobs.held",
                "false",
                "true, for a rule that starts jobs of a queue",
            ));
        }
        let mut simulation = Self::with_policy(setting, Box::<FirstFit>::default());
        let cluster = setting.cluster();
        let mut mean = |port: usize| {
            let channels = cluster.channels_of(PortId::at(port));
            let sum: f64 =
                channels.iter().map(|channel| simulation.environment.mean(Slot(1), *channel)).sum();
            sum / channels.len().max(1) as f64
        };
        let means = (0..cluster.ports().len()).map(&mut mean).collect();
        (simulation.rule, simulation.queue) = (Some((rule, means)), None);
        Ok(simulation)
    }

    pub(super) fn turning(setting: &Setting, scheduler: Scheduler) -> Self {
        let by_rule = setting.objective() == Objective::Relative && !scheduler.policy().ranks_jobs();
        Self {
            scheduler,
            workload: Box::new(setting.workload()),
            environment: Box::new(setting.environment()),
            yardstick: Yardstick::None,
            clock: None,
            delays: Delays::new(setting.delay(), setting.seed()),
            held: setting
                .held()
                .map(|spec| JobWork::new(setting.cluster(), spec.clone(), setting.luck(), setting.seed())),
            queue: by_rule.then(QueueState::default),
            windows: Arc::clone(setting.windows()),
            closed: Vec::new(),
            weights: setting.weights().to_vec(),
            rule: None,
            arrived: Arrivals::everywhere(setting.cluster().ports().len()),
            present: Arrivals::everywhere(setting.cluster().ports().len()),
            started: vec![0; setting.cluster().ports().len()],
            utilities: Vec::new(),
            finished: Vec::new(),
            seen: Vec::new(),
            uses: vec![(0, 0); setting.cluster().channels().len()],
        }
    }

    /// Measures against an oracle that was run before. Beyond its end records have no oracle.
    #[must_use]
    pub fn against(mut self, oracle: &'a OracleTrack) -> Self {
        self.yardstick = Yardstick::Track(oracle);
        self
    }

    /// Measures against an oracle that runs along, in constant memory.
    #[must_use]
    pub fn against_live_oracle(mut self, setting: &Setting) -> Self {
        self.yardstick = Yardstick::Live(Box::new(OracleMeter::new(setting)));
        self
    }

    /// Times every decision with a clock that tells nanoseconds.
    #[must_use]
    pub fn timed(mut self, clock: &'a dyn Fn() -> u64) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The scheduler, with the policy in it.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// What the policy has learned of every channel, in their order, beside the truth; nothing for policies
    /// that learn nothing.
    pub fn estimates(&mut self) -> Vec<ChannelEstimate> {
        let Self { scheduler, environment, uses, .. } = self;
        let Some(learned) = scheduler.policy().learned() else { return Vec::new() };
        let now = scheduler.slot().max(Slot(1));
        let of = |(at, &(uses, last)): (usize, &(u64, u64))| {
            let channel = ChannelId::at(at);
            let used = (uses, (last > 0).then_some(last));
            ChannelEstimate::new(learned, channel, used, environment.mean(now, channel))
        };
        uses.iter().enumerate().map(of).collect()
    }

    /// The jobs that wait or run now; none where jobs last one slot.
    pub fn unfinished(&self) -> impl Iterator<Item = UnfinishedJob> {
        self.held.iter().flat_map(JobWork::unfinished)
    }

    /// Runs some more slots, or fewer where the recorder breaks off.
    ///
    /// # Errors
    /// When the policy gives no decision.
    ///
    /// # Panics
    /// If the environment makes up outcomes that cannot be observed: a bug in it.
    pub fn run(&mut self, slots: u64, recorder: &mut dyn Recorder) -> Result<ControlFlow<()>, ScheduleError> {
        for _ in 0..slots {
            if self.step(true, recorder)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Runs on until no job waits or runs, at most so many slots more. No job arrives any more.
    ///
    /// # Errors
    /// When the policy gives no decision.
    pub fn drain(
        &mut self,
        most: u64,
        recorder: &mut dyn Recorder,
    ) -> Result<ControlFlow<()>, ScheduleError> {
        for _ in 0..most {
            if self.held.as_ref().is_none_or(JobWork::is_idle) {
                break;
            }
            if self.step(false, recorder)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn step(&mut self, is_open: bool, recorder: &mut dyn Recorder) -> Result<ControlFlow<()>, ScheduleError> {
        let slot = self.scheduler.slot().next();
        match is_open {
            true => self.workload.arrivals(slot, &mut self.arrived),
            false => self.arrived.clear(),
        }
        let oracle = match &mut self.yardstick {
            Yardstick::None => None,
            Yardstick::Track(track) => track.at(slot),
            Yardstick::Live(meter) => Some(meter.utility(slot, &self.arrived)?),
        };
        match &mut self.held {
            Some(held) => held.admit(slot, &self.arrived, &mut self.present),
            None => self.present.clone_from(&self.arrived),
        }
        self.windows.closed(slot, &mut self.closed);
        let started = self.clock.map(|clock| clock());
        let facts = match &self.rule {
            None => self.decide(slot)?,
            Some(_) => self.scheduler.begin(slot).map(|()| QueueFacts::default())?,
        };
        let nanos = started.zip(self.clock).map(|(started, clock)| clock().saturating_sub(started));

        let unsure = self.count_uses(slot);
        let (expected, realised) = self.work(slot, &facts);
        let Self { scheduler, delays, held, queue, arrived, present, started, finished, seen, uses, .. } =
            self;
        let (cluster, decision) = (&**scheduler.cluster(), scheduler.decision());
        let running = held.as_ref().map_or(decision.channels(), JobWork::channels);
        let record = SlotRecord {
            cluster,
            slot,
            arrived,
            present,
            decision,
            started,
            running,
            finished,
            lost: held.as_ref().map(|_| LostTime { reservations: facts.idle, holds: facts.idle_held }),
            expected,
            realised,
            oracle,
            unsure,
            learned: scheduler.policy().learned(),
            queue: queue.as_ref(),
            nanos,
        };
        let flow = recorder.record(&record);
        seen.drain(..).for_each(|seen| delays.send(slot, seen.key(), seen));
        delays.deliver(slot, |seen| {
            for channel in seen.channels() {
                let last = &mut uses[channel.index()].1;
                *last = seen.key().0.0.max(*last);
            }
            seen.tell(scheduler).expect("a simulated outcome is valid");
        });
        Ok(flow)
    }

    fn decide(&mut self, slot: Slot) -> Result<QueueFacts, ScheduleError> {
        let Self { scheduler, present, held, queue, closed, weights, .. } = self;
        if let (Some(queue), Some(held)) = (queue, &*held) {
            let input = SlotInput { free: Some(held.free()), closed, weights, ..SlotInput::new(present) };
            scheduler.begin(slot)?;
            let (decision, facts) = scheduler.choose_from_queue(queue, held.book(), &input, true)?;
            let channels = decision.channels().to_vec();
            scheduler.settle(present);
            scheduler.commit(slot, &channels);
            return Ok(facts);
        }
        let free = held.as_ref().map(JobWork::free);
        if closed.is_empty() && weights.is_empty() {
            scheduler.decide(present, free)?;
            return Ok(QueueFacts::default());
        }
        let input = SlotInput { free, closed, weights, ..SlotInput::new(present) };
        let channels = scheduler.decide_at(slot, &input)?.channels().to_vec();
        scheduler.commit(slot, &channels);
        Ok(QueueFacts::default())
    }

    /// Counts the chosen uses; how many of them went to channels that were still little known.
    fn count_uses(&mut self, slot: Slot) -> u32 {
        let (enough, mut unsure) = (enough_uses(slot), 0);
        for &channel in self.scheduler.decision().channels() {
            let uses = &mut self.uses[channel.index()].0;
            unsure += u32::from((*uses as f64) < enough);
            *uses += 1;
        }
        unsure
    }

    /// Runs what was chosen, and what still runs; the expected and the realised utility.
    fn work(&mut self, slot: Slot, facts: &QueueFacts) -> (f64, f64) {
        let Self {
            scheduler,
            environment,
            held,
            queue,
            rule,
            closed,
            started,
            utilities,
            finished,
            seen,
            ..
        } = self;
        let (cluster, decision) = (scheduler.cluster(), scheduler.decision());
        utilities.clear();
        finished.clear();
        seen.clear();
        started.fill(0);
        match (held.as_mut(), rule) {
            (Some(held), Some((rule, means))) => held.start_by(rule, slot, means, closed, started),
            (Some(held), None) => held.start(decision, started),
            (None, _) => count_jobs(cluster, decision, started),
        }
        if let (Some(queue), Some(held)) = (&mut *queue, &*held) {
            queue.book(slot, facts, &held.starts_of(slot));
        }
        let channels = held.as_ref().map_or(decision.channels(), JobWork::channels);
        let is_paced = cluster.has_slowest();
        let expected = match held.as_ref() {
            _ if !is_paced => channels.iter().map(|&channel| environment.mean(slot, channel)).sum(),
            Some(held) => held.worth(|channel| environment.mean(slot, channel)),
            None => worth(cluster, channels, &paced(cluster, decision), |id| environment.mean(slot, id)),
        };
        environment.run(slot, channels, utilities);
        let mut realised = utilities.iter().sum();
        match held {
            Some(held) => {
                let done = held.advance(slot, utilities, finished, seen);
                realised = if is_paced { done } else { realised };
                if let Some(queue) = queue {
                    finished.iter().for_each(|job| queue.ended(job.port, job.started, slot));
                }
            }
            None if is_paced => realised = run(decision, cluster, utilities, seen),
            None => seen.extend(decision.channels().iter().zip(&*utilities).map(|(&channel, &utility)| {
                Report::Task(Observation { slot, channel, outcome: Outcome::Ran(utility) })
            })),
        }
        (expected, realised)
    }
}

/// How many jobs of each port a decision starts.
fn count_jobs(cluster: &Cluster, decision: &Decision, started: &mut [u32]) {
    if cluster.has_gangs() {
        decision.jobs(cluster).iter().for_each(|job| started[job.port.index()] += 1);
        return;
    }
    // Without gangs a job uses each channel once: the most uses of one channel are the jobs.
    for same in decision.channels().chunk_by(|a, b| a == b) {
        let started = &mut started[cluster.channel(same[0]).port.index()];
        *started = (*started).max(same.len() as u32);
    }
}

/// The uses after which a channel's confidence radius `sqrt(ln(t+1) / (2 n))` is at most [`UNSURE`].
fn enough_uses(slot: Slot) -> f64 {
    (slot.0 as f64).ln_1p() / (2.0 * UNSURE * UNSURE)
}

#[cfg(test)]
mod tests;
