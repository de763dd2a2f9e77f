//! The loop: one policy, one seed, slot after slot.
//!
//! A slot goes in five steps: arrivals; the decision, timed if there is a clock; its expected
//! utility, from the true means of what was chosen, and the oracle's; the outcomes, which go
//! under way and of which those that are due are observed; the record.
//!
//! Memory does not grow with the number of slots. Two calls of 500 slots are one of 1000.

use super::feedback::Mail;
use super::oracle::{OracleMeter, OracleTrack};
use super::recorder::{Recorder, SlotRecord};
use super::workload::Workload;
use super::{Environment, Setting};
use crate::model::{Arrivals, Observation, Outcome, Slot};
use crate::policy::{Policy, PolicySpec, SpecError};
use crate::scheduler::{ScheduleError, Scheduler};
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
/// Simulation::new(&setting, &"esdp".parse()?)?.against(&oracle).run(300, &mut summary)?;
/// assert!(summary.oracle_ratio().unwrap() > 0.8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<'a> {
    scheduler: Scheduler,
    workload: Box<dyn Workload>,
    environment: Box<dyn Environment>,
    yardstick: Yardstick<'a>,
    clock: Option<&'a dyn Fn() -> u64>,
    mail: Mail,
    arrivals: Arrivals,
    seen: Vec<Observation>,
    /// How often each channel was used.
    uses: Vec<u64>,
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
    /// When a parameter of the policy is out of range.
    pub fn new(setting: &Setting, policy: &PolicySpec) -> Result<Self, SpecError> {
        Ok(Self::turning(setting, setting.scheduler(policy)?))
    }

    /// A policy of one's own.
    pub fn with_policy(setting: &Setting, policy: Box<dyn Policy>) -> Self {
        Self::turning(setting, Scheduler::new(Arc::clone(setting.cluster()), policy))
    }

    pub(super) fn turning(setting: &Setting, scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            workload: Box::new(setting.workload()),
            environment: Box::new(setting.environment()),
            yardstick: Yardstick::None,
            clock: None,
            mail: Mail::new(setting.delay(), setting.seed()),
            arrivals: Arrivals::everywhere(setting.cluster().ports().len()),
            seen: Vec::new(),
            uses: vec![0; setting.cluster().channels().len()],
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

    /// Runs some more slots, or fewer where the recorder breaks off.
    ///
    /// # Errors
    /// When the policy gives no decision.
    ///
    /// # Panics
    /// If the environment makes up outcomes that cannot be observed: a bug in it.
    pub fn run(&mut self, slots: u64, recorder: &mut dyn Recorder) -> Result<ControlFlow<()>, ScheduleError> {
        for _ in 0..slots {
            if self.step(recorder)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn step(&mut self, recorder: &mut dyn Recorder) -> Result<ControlFlow<()>, ScheduleError> {
        let Self { scheduler, workload, environment, yardstick, clock, mail, arrivals, seen, uses } = self;
        let slot = scheduler.slot().next();
        workload.arrivals(slot, arrivals);
        let oracle = match yardstick {
            Yardstick::None => None,
            Yardstick::Track(track) => track.at(slot),
            Yardstick::Live(meter) => Some(meter.utility(slot, arrivals)?),
        };
        let started = clock.map(|clock| clock());
        let decision = scheduler.decide(arrivals, None)?;
        let nanos = started.zip(*clock).map(|(started, clock)| clock().saturating_sub(started));

        let (mut expected, mut unsure) = (0.0, 0);
        let enough = enough_uses(slot);
        for &channel in decision.channels() {
            expected += environment.mean(slot, channel);
            let uses = &mut uses[channel.index()];
            unsure += u32::from((*uses as f64) < enough);
            *uses += 1;
        }
        seen.clear();
        environment.run(decision, seen);
        let utility = |seen: &Observation| match seen.outcome {
            Outcome::Ran(utility) => utility,
            Outcome::Censored => 0.0,
        };
        let realised = seen.iter().map(utility).sum();
        let (cluster, decision) = (&**scheduler.cluster(), scheduler.decision());
        let record = SlotRecord { cluster, slot, arrivals, decision, expected, realised, oracle, unsure, nanos };
        let flow = recorder.record(&record);
        mail.send(seen);
        mail.deliver(slot, |seen| scheduler.observe(seen).expect("a simulated outcome is valid"));
        Ok(flow)
    }
}

/// The uses after which a channel's confidence radius `sqrt(ln(t+1) / (2 n))` is at most [`UNSURE`].
fn enough_uses(slot: Slot) -> f64 {
    (slot.0 as f64).ln_1p() / (2.0 * UNSURE * UNSURE)
}

#[cfg(test)]
mod tests;
