//! One policy under one seed: a task, and what the tasks of a unit share.

use super::{Options, Unit};
use crate::{Failure, RunError};
use esdp::sim::{
    ChannelEstimate, Curve, CurvePoint, InsightPoint, Insights, OracleTrack, Recorder, Setting, SlotRecord,
    Summary,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Above so many slots the oracle runs along with every policy instead of being kept: that
/// costs time, but memory must not grow with the horizon. A track has 8 bytes per slot.
const LONGEST_TRACK: u64 = 1 << 17;

/// A queue that is not empty after so many times the horizon is given up.
const LONGEST_DRAIN: u64 = 20;

/// At most so many times during a run it is noted what a policy has found out.
const INSIGHTS: usize = 24;

/// What was learned is kept of the first seeds only, until they have so many channels; of one at least.
pub const MOST_ESTIMATES: usize = 200_000;

/// Progress is told, at most, after so many slots.
const BATCH: u64 = 64;

/// What a policy did under one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyRun {
    /// The whole run in a few numbers. Its times are the only thing that differs from run to run.
    pub summary: Summary,
    /// Its curve.
    pub series: Vec<CurvePoint>,
    /// What it found out beside the speeds, over time.
    #[serde(default)]
    pub insights: Vec<InsightPoint>,
    /// What it has learned of every channel by the end, in their order. Nothing for policies that learn
    /// nothing, where no curve is kept, and of seeds beyond the first [`MOST_ESTIMATES`] channels.
    #[serde(default)]
    pub estimates: Vec<ChannelEstimate>,
}

/// A per-slot record that is streamed somewhere.
pub trait SlotSink: Recorder + Send {
    /// The run is complete.
    ///
    /// # Errors
    /// When anything could not be written.
    fn finish(self: Box<Self>) -> Result<(), Failure>;
}

/// What the policies of a unit share, and what they have done.
pub(super) struct UnitState {
    world: Mutex<Option<Arc<World>>>,
    runs: Mutex<Vec<Option<PolicyRun>>>,
}

/// A setting with its oracle.
struct World {
    setting: Setting,
    oracle: Option<OracleTrack>,
}

impl UnitState {
    pub(super) fn new(policies: usize) -> Self {
        Self { world: Mutex::new(None), runs: Mutex::new(vec![None; policies]) }
    }

    /// Runs one policy; the last one of the unit tells `finished`.
    pub(super) fn run(
        &self,
        unit: &Unit<'_>,
        (index, policy): (usize, usize),
        options: &Options<'_>,
        stopped: &dyn Fn() -> bool,
        finished: &dyn Fn(usize, Vec<PolicyRun>) -> Result<(), Failure>,
    ) -> Result<(), RunError> {
        let Some(world) = self.world(unit, stopped)? else { return Ok(()) };
        let sink = options.record.map(|make| make(index, policy)).transpose()?;
        let Some(run) = simulate(unit, &world, (index, policy), options, stopped, sink)? else {
            return Ok(());
        };
        drop(world);
        let mut runs = lock(&self.runs);
        runs[policy] = Some(run);
        if runs.iter().any(Option::is_none) {
            return Ok(());
        }
        let complete = std::mem::take(&mut *runs).into_iter().flatten().collect();
        drop(runs);
        *lock(&self.world) = None;
        Ok(finished(index, complete)?)
    }

    /// Builds the world, or waits while another policy of the unit does; none where that was stopped.
    fn world(&self, unit: &Unit<'_>, stopped: &dyn Fn() -> bool) -> Result<Option<Arc<World>>, RunError> {
        let mut world = lock(&self.world);
        if let Some(world) = &*world {
            return Ok(Some(Arc::clone(world)));
        }
        let setting = unit.scenario.setting(unit.seed)?;
        let mut oracle = None;
        if unit.slots <= LONGEST_TRACK && !unit.scenario.holds_devices() {
            oracle = OracleTrack::unless(&setting, unit.slots, stopped).map_err(RunError::Oracle)?;
            if oracle.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(Arc::clone(world.insert(Arc::new(World { setting, oracle })))))
    }
}

/// A thread that failed holding the lock has left nothing half done here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn simulate(
    unit: &Unit<'_>,
    world: &World,
    (index, policy): (usize, usize),
    options: &Options<'_>,
    stopped: &dyn Fn() -> bool,
    mut sink: Option<Box<dyn SlotSink>>,
) -> Result<Option<PolicyRun>, RunError> {
    let started = Instant::now();
    let clock = || u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let simulation = unit.policies[policy].simulation(&world.setting)?.timed(&clock);
    let mut simulation = match &world.oracle {
        // Where jobs wait and hold their devices, they are measured by when they are done.
        None if unit.scenario.holds_devices() => simulation,
        Some(track) => simulation.against(track),
        None => simulation.against_live_oracle(&world.setting),
    };
    let points = if options.thinning.points == 0 {
        Vec::new()
    } else {
        options.thinning.spacing.slots(unit.slots, options.thinning.points)
    };
    let mut summary = Summary::new(world.setting.cluster());
    let every = points.len().div_ceil(INSIGHTS).max(1);
    let mut insights = Insights::at(points.iter().rev().step_by(every).rev().copied().collect());
    let mut series = Curve::at(points);
    let mut watch = ProgressRecorder { stopped, progress: options.progress, since: 0 };
    let mut recorder =
        ((&mut summary, (&mut series, &mut insights)), (Optional(sink.as_deref_mut()), &mut watch));
    let failed = |cause| RunError::Slot { seed: unit.seed, cause };
    let mut flow = simulation.run(unit.slots, &mut recorder).map_err(failed)?;
    recorder.0.0.jobs.end_of_arrivals();
    if flow.is_continue() && unit.scenario.drains() {
        flow = simulation.drain(unit.slots.saturating_mul(LONGEST_DRAIN), &mut recorder).map_err(failed)?;
    }
    summary.jobs.close(simulation.scheduler().slot(), simulation.unfinished());
    (options.progress)(watch.since);
    let complete = flow.is_continue();
    // A sink that cannot write breaks the run off too, and says why when it is closed.
    if let Some(sink) = sink
        && (complete || !stopped())
    {
        sink.finish()?;
    }
    let series = series.into_points();
    let kept = !series.is_empty() && keeps_estimates(index, world.setting.cluster().channels().len());
    let estimates = if kept { simulation.estimates() } else { Vec::new() };
    Ok(complete.then(|| PolicyRun { summary, series, insights: insights.into_points(), estimates }))
}

/// Whether what was learned under the seed at this position is kept.
pub(crate) fn keeps_estimates(position: usize, channels: usize) -> bool {
    position == 0 || (position + 1).saturating_mul(channels) <= MOST_ESTIMATES
}

/// Tells how far the run is and breaks it off when asked to.
struct ProgressRecorder<'a> {
    stopped: &'a dyn Fn() -> bool,
    progress: &'a (dyn Fn(u64) + Sync),
    since: u64,
}

impl Recorder for ProgressRecorder<'_> {
    fn record(&mut self, _record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.since += 1;
        if self.since == BATCH {
            (self.progress)(BATCH);
            self.since = 0;
        }
        if (self.stopped)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A record that may be unwanted.
struct Optional<'a>(Option<&'a mut (dyn SlotSink + 'static)>);

impl Recorder for Optional<'_> {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.as_mut().map_or(ControlFlow::Continue(()), |sink| sink.record(record))
    }
}
