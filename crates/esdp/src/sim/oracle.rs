//! The yardstick: what the omniscient oracle gets from the same arrivals.
//!
//! Solving the oracle's problem in every slot and under every policy would cost as much as the
//! policies do. Two savings: an [`OracleTrack`] is computed once a seed and shared by all its
//! policies, and within an epoch of unchanging means the same arrivals are solved once.
//!
//! Where jobs hold their devices, what the oracle can do depends on what it did: it then lives
//! through a simulation of its own.

use super::environment::{Environment, Epoch};
use super::outage::Windows;
use super::paced::worth;
use super::recorder::{Recorder, SlotRecord};
use super::{Setting, Simulation, Workload};
use crate::model::{Arrivals, ChannelId, Cluster, ServerId, Slot, SlotView};
use crate::policy::{Choice, Oracle, Policy};
use crate::scheduler::ScheduleError;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many numbers the remembered arrivals of an epoch may have in all.
const REMEMBERED: usize = 1 << 20;

/// Solves the oracle's problem of a slot and remembers what it has solved.
pub(super) struct OracleMeter {
    cluster: Arc<Cluster>,
    oracle: Oracle,
    environment: Box<dyn Environment>,
    choice: Choice,
    /// The oracle's own simulation, where jobs hold their devices.
    apart: Option<Box<Simulation<'static>>>,
    windows: Arc<Windows>,
    weights: Vec<f64>,
    /// The servers that are out.
    closed: Vec<ServerId>,
    epoch: Option<Epoch>,
    known: HashMap<Arrivals, f64>,
}

impl OracleMeter {
    pub(super) fn new(setting: &Setting) -> Self {
        Self {
            cluster: Arc::clone(setting.cluster()),
            oracle: Oracle::new(setting.truth()),
            environment: Box::new(setting.environment()),
            choice: Choice::default(),
            apart: setting
                .held()
                .map(|_| Box::new(Simulation::with_policy(setting, Box::new(Oracle::new(setting.truth()))))),
            windows: Arc::clone(setting.windows()),
            weights: setting.weights().to_vec(),
            closed: Vec::new(),
            epoch: None,
            known: HashMap::new(),
        }
    }

    /// The oracle's expected utility of a slot.
    pub(super) fn utility(&mut self, slot: Slot, arrivals: &Arrivals) -> Result<f64, ScheduleError> {
        if let Some(apart) = &mut self.apart {
            let mut expected = Expected(0.0);
            let _ = apart.run(1, &mut expected)?;
            return Ok(expected.0);
        }
        let epoch = self.environment.epoch(slot);
        let mut closed = Vec::new();
        self.windows.closed(slot, &mut closed);
        if epoch.is_none() || epoch != self.epoch || closed != self.closed {
            self.known.clear();
            (self.epoch, self.closed) = (epoch, closed);
        }
        if let Some(&utility) = self.known.get(arrivals) {
            return Ok(utility);
        }
        let mut is_closed = Vec::new();
        if !self.closed.is_empty() {
            is_closed.resize(self.cluster.servers().len(), false);
            self.closed.iter().for_each(|server| is_closed[server.index()] = true);
        }
        let view = SlotView {
            closed: &is_closed,
            weights: &self.weights,
            ..SlotView::new(&self.cluster, slot, arrivals, self.cluster.capacity())
        };
        if let Err(cause) = self.oracle.decide(&view, &mut self.choice) {
            return Err(ScheduleError::Policy { policy: self.oracle.name().to_owned(), slot, cause });
        }
        // Added up in the order of a sealed decision, so that the policy `oracle` has a ratio of exactly 1.
        self.choice.channels.sort_unstable();
        let means = self.environment.means(slot);
        let mean = |channel: ChannelId| means[channel.index()];
        let utility = worth(&self.cluster, &self.choice.channels, &self.choice.jobs, mean);
        if epoch.is_some() && self.known.len() * arrivals.ports() < REMEMBERED {
            self.known.insert(arrivals.clone(), utility);
        }
        Ok(utility)
    }
}

/// The expected utility of the last slot.
struct Expected(f64);

impl Recorder for Expected {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0 = record.expected;
        ControlFlow::Continue(())
    }
}

/// The oracle's expected utility in every slot of a run: 8 bytes per slot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OracleTrack {
    utilities: Vec<f64>,
}

impl OracleTrack {
    /// Runs the oracle for some slots.
    ///
    /// # Errors
    /// When a slot cannot be solved.
    pub fn new(setting: &Setting, slots: u64) -> Result<Self, ScheduleError> {
        Ok(Self::unless(setting, slots, &|| false)?.unwrap_or_default())
    }

    /// The same, and nothing where `stopped` says so between two slots.
    ///
    /// # Errors
    /// When a slot cannot be solved.
    pub fn unless(
        setting: &Setting,
        slots: u64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, ScheduleError> {
        let mut meter = OracleMeter::new(setting);
        let mut workload = setting.workload();
        let mut arrivals = Arrivals::everywhere(setting.cluster().ports().len());
        let mut utility = |slot| {
            workload.arrivals(slot, &mut arrivals);
            meter.utility(slot, &arrivals)
        };
        let mut utilities = Vec::new();
        for slot in 1..=slots {
            if stopped() {
                return Ok(None);
            }
            utilities.push(utility(Slot(slot))?);
        }
        Ok(Some(Self { utilities }))
    }

    /// The number of slots it knows.
    pub fn slots(&self) -> u64 {
        self.utilities.len() as u64
    }

    /// The oracle's utility of a slot; none beyond the end.
    pub fn at(&self, slot: Slot) -> Option<f64> {
        let position = usize::try_from(slot.0.checked_sub(1)?).ok()?;
        self.utilities.get(position).copied()
    }
}
