//! Which part of a trace is played, in slots of which length, where nobody says it.
//!
//! A slot is a twentieth of the median duration, rounded down to a length that people use; the window is the
//! whole trace. Where that would be more than [`MOST_CHOSEN`] slots, slots grow to a quarter of the mean
//! duration, and then the window ends early.

use super::{ReplayError, ReplayPlan};
use crate::plan::{LENGTHS, MOST_SLOTS, check};
use crate::summary::TraceSummary;

/// The most slots that are chosen.
pub const MOST_CHOSEN: u64 = 20_000;
/// How many slots the median job lasts.
const PER_JOB: f64 = 20.0;
/// And the mean job, where slots grow.
const PER_MEAN_JOB: f64 = 4.0;

/// The part of a trace that is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The length of a slot, in seconds.
    pub slot: f64,
    /// How many slots have arrivals.
    pub slots: u64,
    /// The first arrival of the trace, in seconds of its own clock.
    pub first: f64,
    /// Where the window starts, in seconds after the first arrival.
    pub start: f64,
    /// The last arrival of the trace, in seconds after the first.
    pub span: f64,
    /// How the slot and the window came about, in words.
    pub words: String,
}

impl Chosen {
    pub(super) fn new(plan: &ReplayPlan, summary: &TraceSummary) -> Result<Self, ReplayError> {
        let Some((first, last)) = summary.arrivals() else { return Err(ReplayError::NoTasks) };
        let Some(durations) = summary.durations() else { return Err(ReplayError::NoDurations) };
        let start = plan.start.unwrap_or(0.0);
        check("start", start, 0.0, 1e12)?;
        let span = last - first;
        let left = (span - start).max(0.0);
        let wanted = |length: f64| (left / length).floor() as u64 + 1;
        let (slot, how) = match plan.slot {
            Some(slot) => (slot, "as asked".to_owned()),
            None => {
                let (fine, coarse) = (length(durations.p50 / PER_JOB), length(durations.mean / PER_MEAN_JOB));
                let least = plan.slots.map_or(left / MOST_CHOSEN as f64, |slots| left / slots.max(1) as f64);
                let fits = LENGTHS.iter().copied().find(|length| *length >= least).unwrap_or(43_200.0);
                let slot = fine.max(fits.min(coarse));
                let why = if slot > fine {
                    "longer, so that 20,000 hold more of the trace"
                } else {
                    "about a twentieth of that"
                };
                (slot, format!("the median job lasts {}, a slot is {why}", time(durations.p50)))
            }
        };
        check("slot", slot, 1e-3, 1e9)?;
        let slots = plan.slots.unwrap_or_else(|| wanted(slot).min(MOST_CHOSEN));
        check("slots", slots as f64, 1.0, MOST_SLOTS as f64)?;
        let part = match slots as f64 * slot > left {
            true if start == 0.0 => "the whole trace".to_owned(),
            true => format!("the trace from {} on", time(start)),
            false => format!("{} of {} from {} on", time(slots as f64 * slot), time(span), time(start)),
        };
        let words = format!(
            "Played is {part}, in {slots} slots of {} ({how}), and then until nothing waits or runs",
            time(slot)
        );
        Ok(Self { slot, slots, first, start, span, words })
    }

    /// How long the window is, in seconds.
    pub fn length(&self) -> f64 {
        self.slot * self.slots as f64
    }
}

/// The longest of the usual lengths that is no longer than this.
fn length(most: f64) -> f64 {
    LENGTHS.iter().copied().rev().find(|length| *length <= most).unwrap_or(LENGTHS[0])
}

/// A time for people: `45 s`, `3.5 min`, `2.1 h`, `6.9 days`.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        s if s < 99.5 => (seconds, "s"),
        s if s < 99.5 * 60.0 => (seconds / 60.0, "min"),
        s if s < 48.0 * 3600.0 => (seconds / 3600.0, "h"),
        _ => (seconds / 86_400.0, "days"),
    };
    let digits = if value.abs() >= 9.95 || value == value.round() { 0 } else { 1 };
    let digits = if value.abs() < 0.95 && value != 0.0 { 2 } else { digits };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        let shown = [0.0, 0.5, 7.0, 45.4, 120.0, 210.0, 7560.0, 600_000.0].map(time);
        assert_eq!(shown, ["0 s", "0.50 s", "7 s", "45 s", "2 min", "3.5 min", "2.1 h", "6.9 days"]);
        assert_eq!((length(190.0), length(0.01), length(1e9)), (180.0, 0.05, 43_200.0));
    }
}
