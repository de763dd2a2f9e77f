//! Statuses of Kubeflow Trainer: many for a job, of which the last tells its speed.
//!
//! A job's outcome counts once. So statuses are collected, in memory only, and when the job is at 100 % the
//! speed is learned: that of its own metric, if there is one, or else its progress over the time in which we
//! have watched it. After a restart the watch begins anew.

use super::{Body, Engine, Reply};
use crate::wire::{ApiError, ObservationWire, TrainerWire};
use esdp::live::SpeedReport;
use serde_json::json;
use std::collections::HashMap;
use std::time::Instant;

/// The most jobs that are watched.
const MOST_JOBS: usize = 65_536;

/// By job, the first progress that was seen and when.
#[derive(Debug, Default)]
pub(super) struct Progress(HashMap<String, (f64, Instant)>);

impl Engine {
    /// `POST /v1/trainer-status/{job}`.
    pub(super) fn trainer(&mut self, job: &str, status: &TrainerWire) -> Reply {
        let live = self.core.live()?;
        let Some(start) = live.ticket_of(job).and_then(|ticket| live.start(ticket)) else {
            return match live.is_over(job) {
                true => Ok(answer(0, true)),
                false => Err(ApiError::missing("running job", job)),
            };
        };
        let progress = status.progress();
        let now = Instant::now();
        if let Some(percent) = progress {
            if self.progress.0.len() >= MOST_JOBS {
                // Those that never came to 100 %.
                self.progress.0.retain(|job, _| live.ticket_of(job).is_some());
            }
            if self.progress.0.len() < MOST_JOBS {
                self.progress.0.entry(job.to_owned()).or_insert((percent, now));
            }
        }
        if progress.is_none_or(|percent| percent < 100.0) {
            return Ok(answer(0, false));
        }
        let watched = self.progress.0.remove(job);
        let report = match (status.rate(), watched) {
            (Some(rate), _) => SpeedReport::Rate(rate),
            (None, Some((from, since))) if from < 100.0 && now > since => {
                SpeedReport::Work { work: 100.0 - from, seconds: now.duration_since(since).as_secs_f64() }
            }
            // It was never seen before its end: that tells nothing about its speed.
            _ => SpeedReport::Lost,
        };
        let observation = ObservationWire::default();
        let by = self.source(&observation)?;
        let taken = self.report_start(&start, None, &observation, (report, &by))?;
        self.tally.learned += taken.learned;
        self.tally.duplicates += u64::from(taken.duplicate);
        Ok(answer(taken.learned, taken.duplicate))
    }
}

fn answer(learned: u64, duplicate: bool) -> Body {
    Body { status: 200, text: json!({ "learned": learned, "duplicates": u64::from(duplicate) }).to_string() }
}
