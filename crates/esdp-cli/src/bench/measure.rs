//! Times the exact solver while it decides for a learner.

use super::memory;
use super::plan::{Case, Size, edges};
use super::summary::{percentile, sorted};
use anyhow::Context;
use esdp::scenario::{GraphTable, Scenario};
use esdp::sim::{ChannelCount, RandomCluster, Setting, trajectory};
use esdp::solver::{Exact, Guarantee, Instance, Problem, Solution, SolveError, Solver};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The share of slots in which a port has a job.
const RHO: f64 = 0.9;
/// How many problems of a case the rivals may see, if their time suffices.
const SAMPLE: usize = 50;
/// How many channels they may have in all: the copies count as memory of the exact solver.
const SAMPLED_CHANNELS: usize = 500_000;

/// What the exact solver did, as it is reported.
#[derive(Debug, Serialize)]
pub(super) struct ExactFigures {
    pub(super) decisions: usize,
    pub(super) p50_us: f64,
    pub(super) p95_us: f64,
    pub(super) p99_us: f64,
    pub(super) max_us: f64,
    /// The share of decisions proved optimal.
    pub(super) proved_share: f64,
    /// The mean, the median and the largest relative distance of a value to its bound.
    pub(super) mean_gap: f64,
    pub(super) median_gap: f64,
    pub(super) largest_gap: f64,
    pub(super) peak_memory_bytes: Option<u64>,
}

/// A problem that rivals get too, and how the exact solver fared on it.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) instance: Instance,
    pub(super) micros: f64,
    pub(super) value: f64,
}

/// A measured case.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) exact: ExactFigures,
    pub(super) sample: Vec<Sampled>,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    micros: f64,
    value: f64,
    gap: f64,
    proved: bool,
}

/// A solver that notes how long each call takes. The policy owns it, so the notes are shared.
struct Timed {
    inner: Exact,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Solver for Timed {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let started = Instant::now();
        self.inner.solve_into(problem, solution)?;
        let micros = started.elapsed().as_nanos() as f64 / 1e3;
        let proved = solution.guarantee == Guarantee::Optimal;
        let call = Call { micros, value: solution.value, gap: solution.gap(), proved };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        Ok(())
    }
}

/// The paper's cluster, grown evenly in both directions to the number of channels; of gangs the
/// preset `gang`, with other numbers of ports and servers.
fn setting(size: Size, seed: u64) -> anyhow::Result<Setting> {
    let (channels, capacity) = match size {
        Size::Channels { channels, capacity } => (channels, capacity),
        Size::Gangs { ports, servers } => {
            let scenario = Scenario::preset("gang").context("there is no preset `gang`")?;
            let drawn = GraphTable {
                ports: (ports as u64).into(),
                servers: (servers as u64).into(),
                probability: Some(edges(servers)),
                ..GraphTable::default()
            };
            return Ok(scenario.change(|spec| spec.graph = drawn)?.setting(seed)?);
        }
    };
    let paper = RandomCluster::default();
    let growth = (channels as f64 / 32.0).sqrt();
    let scaled = |count: usize| ((count as f64 * growth).round() as usize).max(1);
    let recipe = RandomCluster {
        ports: scaled(paper.ports).min(channels),
        servers: scaled(paper.servers),
        channels: ChannelCount::Exactly(channels),
        capacity: (capacity, capacity),
        ..paper
    };
    Ok(Setting::new(&recipe, RHO, seed)?)
}

/// Runs a case; `tick` is called after every slot that had a problem.
pub(super) fn measure(case: &Case, seed: u64, mut tick: impl FnMut()) -> anyhow::Result<Measured> {
    memory::reset_peak();
    let setting = setting(case.size, seed).with_context(|| case.to_string())?;
    let policy = case.index.policy(case.size);
    let calls = Arc::new(Mutex::new(Vec::new()));
    let solver = Timed { inner: Exact::default(), calls: Arc::clone(&calls) };
    let stride =
        case.slots.div_ceil((SAMPLED_CHANNELS / case.size.channels().max(1)).clamp(1, SAMPLE) as u64);
    let mut sample = Vec::new();
    trajectory(&setting, &policy, Box::new(solver), case.slots, |slot, problem| {
        tick();
        // From the middle of each stride: neither the first slot nor only the last ones.
        if slot.0 % stride == stride / 2 {
            let last = calls.lock().unwrap_or_else(PoisonError::into_inner).last().copied();
            if let Some(Call { micros, value, .. }) = last {
                sample.push(Sampled { instance: Instance::from(problem), micros, value });
            }
        }
    })
    .with_context(|| case.to_string())?;
    let peak_memory_bytes = memory::peak_bytes();
    let calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
    let exact = figures(&calls, peak_memory_bytes);
    Ok(Measured { exact, sample })
}

fn figures(calls: &[Call], peak_memory_bytes: Option<u64>) -> ExactFigures {
    let times = sorted(calls.iter().map(|call| call.micros));
    let gaps = sorted(calls.iter().map(|call| call.gap));
    let [p50_us, p95_us, p99_us, max_us] = [0.5, 0.95, 0.99, 1.0].map(|share| percentile(&times, share));
    ExactFigures {
        decisions: calls.len(),
        p50_us,
        p95_us,
        p99_us,
        max_us,
        proved_share: calls.iter().filter(|call| call.proved).count() as f64 / calls.len().max(1) as f64,
        mean_gap: calls.iter().map(|call| call.gap).sum::<f64>() / calls.len().max(1) as f64,
        median_gap: percentile(&gaps, 0.5),
        largest_gap: percentile(&gaps, 1.0),
        peak_memory_bytes,
    }
}
