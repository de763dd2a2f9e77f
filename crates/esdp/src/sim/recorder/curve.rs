//! A run as a curve: cumulative values at a few slots.

use super::{Recorder, SlotRecord};
use crate::model::PortId;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The cumulative values after a slot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The slot.
    pub slot: u64,
    /// The AOU so far, by true means.
    pub aou: f64,
    /// The same of the utilities that came out.
    pub realised: f64,
    /// The oracle's AOU so far; none without an oracle.
    pub oracle: Option<f64>,
    /// The jobs that waited, added up over the slots so far.
    #[serde(default)]
    pub waited: u64,
}

impl CurvePoint {
    /// The AOU a slot so far.
    pub fn average(&self) -> f64 {
        self.aou / self.slot as f64
    }

    /// The AOU so far as a share of the oracle's; 1 where there was nothing to get.
    pub fn oracle_ratio(&self) -> Option<f64> {
        self.oracle.map(|oracle| if oracle > 0.0 { self.aou / oracle } else { 1.0 })
    }

    /// What was lost against the oracle so far.
    pub fn regret(&self) -> Option<f64> {
        self.oracle.map(|oracle| oracle - self.aou)
    }
}

/// How the slots of a curve are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly on a logarithmic axis: dense at the start.
    Log,
}

impl Spacing {
    /// At most `points` slots from 1 to `slots`, ascending, the last among them.
    pub fn slots(self, slots: u64, points: usize) -> Vec<u64> {
        let points = points.max(1);
        let at = |index: usize| {
            let share = index as f64 / points as f64;
            match self {
                Spacing::Linear => (slots as f64 * share).round() as u64,
                Spacing::Log => (slots as f64).powf(share).round() as u64,
            }
        };
        let mut found: Vec<u64> =
            (1..points).map(at).chain([slots]).filter(|slot| (1..=slots).contains(slot)).collect();
        found.dedup();
        found
    }
}

/// Cumulative values at chosen slots; memory by their number, not by the length of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    at: Vec<u64>,
    points: Vec<CurvePoint>,
    now: CurvePoint,
}

impl Curve {
    /// At most `points` points over a run of `slots` slots.
    pub fn new(slots: u64, points: usize, spacing: Spacing) -> Self {
        Self::at(spacing.slots(slots, points))
    }

    /// Points after these slots, ascending.
    pub fn at(slots: Vec<u64>) -> Self {
        let now = CurvePoint { slot: 0, aou: 0.0, realised: 0.0, oracle: Some(0.0), waited: 0 };
        Self { points: Vec::with_capacity(slots.len()), at: slots, now }
    }

    /// The points so far.
    pub fn points(&self) -> &[CurvePoint] {
        &self.points
    }

    /// The points so far.
    pub fn into_points(self) -> Vec<CurvePoint> {
        self.points
    }
}

impl Recorder for Curve {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.now.slot = record.slot.0;
        self.now.aou += record.expected;
        self.now.realised += record.realised;
        let present = (0..record.started.len()).map(|port| u64::from(record.present.jobs(PortId::at(port))));
        let started = record.started.iter().copied().map(u64::from);
        self.now.waited += present.zip(started).map(|(there, gone)| there.saturating_sub(gone)).sum::<u64>();
        self.now.oracle = self.now.oracle.zip(record.oracle).map(|(sum, oracle)| sum + oracle);
        if self.at.get(self.points.len()).is_some_and(|&next| next <= record.slot.0) {
            self.points.push(self.now);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_spread_and_end_with_the_last() {
        assert_eq!(Spacing::Linear.slots(10, 5), [2, 4, 6, 8, 10]);
        assert_eq!(Spacing::Linear.slots(3, 200), [1, 2, 3]);
        assert_eq!(Spacing::Log.slots(10_000, 4), [10, 100, 1000, 10_000]);
        for slots in [1, 2, 17, 8000] {
            for spacing in [Spacing::Linear, Spacing::Log] {
                let found = spacing.slots(slots, 200);
                assert!(found.len() <= 200 && found.last() == Some(&slots), "{found:?}");
                assert!(found.windows(2).all(|w| w[0] < w[1]), "{found:?}");
            }
        }
    }
}
