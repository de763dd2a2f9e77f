//! The log played again: jobs start when and where they did, and the model says when they end. How far that
//! is from when they did end is the error of slots, queues and room. It does not try the speeds: a job's work
//! was found from its own duration.

use super::speeds::Answers;
use anyhow::Context;
use esdp::model::{ChannelId, Slot};
use esdp::scenario::LabelledPolicy;
use esdp::sim::{FinishedJob, LoggedStart, QueueRule, Recorder, Simulation, SlotRecord};
use esdp_trace::replay::{Noise, Played, time};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How much of a log must tell where jobs ran.
const ENOUGH: f64 = 0.5;

/// How far off the model is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Check {
    /// Of how many jobs that is known.
    pub(super) jobs: usize,
    /// By how much the mean completion time is longer than in the log, in percent.
    pub(super) mean_off_percent: f64,
    /// The median over jobs of how far completion is off, in percent of that in the log.
    pub(super) median_job_off_percent: f64,
    /// Jobs for which there was no room when they started: the machines or requests are not as they were.
    pub(super) late: usize,
    /// By how much they were late on average, in seconds.
    pub(super) late_by_s: f64,
}

impl Check {
    /// In words.
    pub(super) fn words(&self) -> String {
        let Self { jobs, mean_off_percent, median_job_off_percent, late, late_by_s } = self;
        let late = match late {
            0 => "every job had room when it started".to_owned(),
            late => format!(
                "{late} found no room when they started, and were {} late on average",
                time(*late_by_s)
            ),
        };
        format!(
            "The log played again, {jobs} jobs when and where they ran: mean completion is \
             {mean_off_percent:+.1} % off, \
             the median job {median_job_off_percent:.1} %; {late}."
        )
    }
}

#[derive(Default)]
struct All(Vec<FinishedJob>);

impl Recorder for All {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.extend_from_slice(record.finished);
        ControlFlow::Continue(())
    }
}

/// Plays the log again; none where it does not tell when and where jobs ran.
pub(super) fn check(played: &Played, answers: &Answers, seed: u64) -> anyhow::Result<Option<Check>> {
    let placed = |logged: &Option<esdp_trace::replay::Logged>| {
        logged.as_ref().is_some_and(|log| !log.servers.is_empty())
    };
    let told = played.jobs.iter().filter(|job| placed(&job.logged)).count();
    if (told as f64) < ENOUGH * played.jobs.len() as f64 {
        return Ok(None);
    }
    let slot = played.window.slot;
    let numbers = played.numbers();
    let start = |job: &usize| {
        let job = &played.jobs[*job];
        let logged = job.logged.as_ref();
        let at = logged.map_or(job.arrival, |logged| logged.start.max(0.0));
        let servers = logged.map_or(&[][..], |logged| &logged.servers);
        let channels = servers.iter().map(|server| ChannelId(played.channel(job.kind, *server))).collect();
        LoggedStart { slot: Slot((at / slot) as u64 + 1), channels }
    };
    let log: Vec<Vec<LoggedStart>> = numbers.iter().map(|jobs| jobs.iter().map(start).collect()).collect();
    let means = answers.list[0].likely(played, seed);
    let scenario = played.scenario(&means, &Noise::None, vec![LabelledPolicy::named("first-fit")?])?;
    let setting = scenario.setting(seed)?;
    let mut simulation = Simulation::with_rule(&setting, QueueRule::Logged(Arc::new(log)))?;
    let mut all = All::default();
    let whole = simulation
        .run(scenario.slots(), &mut all)
        .and_then(|_| simulation.drain(20 * scenario.slots(), &mut all));
    let _: ControlFlow<()> = whole.context("the log cannot be played again")?;
    let (mut model, mut truth, mut offs, mut late) = (0.0, 0.0, Vec::new(), Vec::new());
    for done in &all.0 {
        let job = &played.jobs[numbers[done.port.index()][done.number as usize]];
        let Some(logged) = job.logged.as_ref().filter(|log| !log.servers.is_empty()) else { continue };
        let completion = logged.start + job.duration - job.arrival;
        let found =
            done.waited() as f64 * slot + ((done.finished.0 - done.started.0 + 1) as f64 - done.spare) * slot;
        model += found;
        truth += completion;
        offs.push((found / completion.max(1e-9) - 1.0).abs());
        let behind = (done.started.0 - 1) as f64 * slot - logged.start.max(0.0);
        if behind > slot {
            late.push(behind);
        }
    }
    offs.sort_by(f64::total_cmp);
    Ok(Some(Check {
        jobs: offs.len(),
        mean_off_percent: 100.0 * (model / f64::max(truth, 1e-9) - 1.0),
        median_job_off_percent: 100.0 * offs.get(offs.len() / 2).copied().unwrap_or(0.0),
        late: late.len(),
        late_by_s: late.iter().sum::<f64>() / late.len().max(1) as f64,
    }))
}
