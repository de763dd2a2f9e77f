//! Why a start was made where it was, and why jobs wait, as it is kept and shown.

use esdp::live::{HeldReason, Live, Start, StartReason};
use serde::Serialize;

/// Why tasks of a job run on a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StartWhy<'a> {
    job: &'a str,
    port: &'a str,
    group: String,
    server: String,
    count: u32,
    estimate: f64,
    /// The confidence radius.
    bonus: Option<f64>,
    cost: f64,
    outcomes: f64,
    pending: u32,
    /// The device that limits what else the server could take.
    binding: Option<String>,
    runner_up: Option<RunnerUp>,
    sentence: String,
}

/// The best other server.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct RunnerUp {
    server: String,
    estimate: f64,
}

impl<'a> StartWhy<'a> {
    /// The reasons of a start, one for each server and group of tasks.
    pub(super) fn all(live: &Live, start: &'a Start) -> Vec<Self> {
        live.why_start(start).into_iter().map(|reason| Self::new(start, reason)).collect()
    }

    fn new(start: &'a Start, reason: StartReason) -> Self {
        let belief = reason.belief;
        Self {
            job: &start.job,
            port: &start.port,
            group: belief.channel.group,
            server: belief.channel.server,
            count: reason.tasks,
            estimate: belief.estimate,
            bonus: belief.radius,
            cost: belief.cost,
            outcomes: belief.count,
            pending: belief.pending,
            binding: reason.binding,
            runner_up: reason.runner_up.map(|(server, estimate)| RunnerUp { server, estimate }),
            sentence: reason.sentence,
        }
    }

    /// By how much the estimate is below that of the best other server: what exploring, or a lack of room,
    /// may have cost.
    pub(super) fn regret(&self) -> Option<f64> {
        let missed = self.runner_up.as_ref()?.estimate - self.estimate;
        Some(missed.max(0.0) * f64::from(self.count))
    }
}

/// The name of a reason on the wire.
pub(crate) fn reason_name(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::NotDecided => "not-decided",
        HeldReason::NoServer => "no-server",
        HeldReason::Closed => "closed",
        HeldReason::Capacity => "capacity",
        HeldReason::Reserved => "reserved",
        HeldReason::Faster => "faster",
        HeldReason::Passed => "passed",
    }
}
