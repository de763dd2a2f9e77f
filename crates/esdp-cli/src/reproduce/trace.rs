//! The paper's experiment on a trace: capacities, requests and arrivals from it, a probability on top.
//!
//! One scenario a seed: the seed draws the built-in trace, the servers, the channels and which arrivals are
//! kept. Files are the same for all seeds. Capacities are the trace's own, whatever the probability, so that
//! a higher one means more contention.

use super::contenders::figured;
use crate::trace::input::InputArgs;
use anyhow::{Context, bail};
use esdp::scenario::{Scenario, SeedTable};
use esdp_trace::generate::Generator;
use esdp_trace::plan::{Window, slot_for};
use esdp_trace::scenario::{Built, Draft, Plan};
use esdp_trace::summary::TraceSummary;
use esdp_trace::{Ledger, Sink, Source, Task};
use std::path::PathBuf;

/// What stands between the source's name and the probability in a scenario's name.
const MARK: &str = "-rho";

/// The scenarios of every probability and seed.
pub(super) fn scenarios(
    files: &[PathBuf],
    name: &str,
    (seeds, slots): (u64, u64),
    rhos: &[f64],
) -> anyhow::Result<Vec<Scenario>> {
    let own = built(files, seeds, slots, 1.0)?;
    let mut all = Vec::new();
    for &rho in rhos {
        for (seed, (built, own)) in built(files, seeds, slots, rho)?.into_iter().zip(&own).enumerate() {
            let amounts = own.scenario.spec().devices.amounts.clone();
            let scenario = built.scenario.with_slots(slots)?.with_policies(figured()?)?;
            all.push(scenario.change(|spec| {
                spec.name = format!("{name}{MARK}{rho}-{seed}");
                spec.seeds = SeedTable::list([seed as u64]);
                spec.devices.amounts = amounts;
            })?);
        }
    }
    Ok(all)
}

/// The probability of a scenario.
pub(super) fn rho(scenario: &Scenario) -> Option<f64> {
    scenario.name().rsplit_once(MARK)?.1.split('-').next()?.parse().ok()
}

fn built(files: &[PathBuf], seeds: u64, slots: u64, rho: f64) -> anyhow::Result<Vec<Built>> {
    match files {
        [] => (0..seeds).map(|seed| generated(seed, slots, rho)).collect(),
        files => from_files(&InputArgs::of(files, false, true), seeds, slots, rho),
    }
}

fn plan(slot: f64, slots: u64, rho: f64, seed: u64) -> Plan {
    let window = Window { slot, slots, seed, ..Window::default() };
    Plan { window, rho, name: "trace".to_owned(), ..Plan::default() }
}

fn slot_of(summary: &TraceSummary) -> f64 {
    let (first, last) = summary.arrivals().unwrap_or_default();
    slot_for(summary.count(), last - first, Window::default().ports)
}

/// From the built-in trace.
fn generated(seed: u64, slots: u64, rho: f64) -> anyhow::Result<Built> {
    // A slot is a second of it; a minute at least, so that all its vectors are there.
    let mut trace = Generator { seconds: slots.max(60), ..Generator::new(seed) };
    let mut summary = TraceSummary::default();
    trace.stream(&mut Ledger::new(true), &mut summary)?;
    let mut draft = Draft::new(plan(slot_of(&summary), slots, rho, seed), &mut summary)?;
    trace.stream(&mut Ledger::new(true), &mut draft)?;
    Ok(draft.finish()?)
}

/// From files, which are read once for what is in them and once for all seeds.
fn from_files(input: &InputArgs, seeds: u64, slots: u64, rho: f64) -> anyhow::Result<Vec<Built>> {
    let mut summary = TraceSummary::default();
    input.read(&mut summary)?;
    let slot = slot_of(&summary);
    let draft = |seed| Draft::new(plan(slot, slots, rho, seed), &mut summary).with_context(|| input.names());
    let mut drafts = Drafts((0..seeds).map(draft).collect::<anyhow::Result<_>>()?);
    input.read(&mut drafts)?;
    let finish = |draft: Draft| {
        let built = draft.finish().with_context(|| input.names())?;
        if built.jobs == 0 && rho > 0.0 {
            bail!(
                "{}: no task of its most frequent requests arrives in {slots} slots of {slot} s",
                input.names()
            );
        }
        Ok(built)
    };
    drafts.0.into_iter().map(finish).collect()
}

/// Several scenarios that are built in one pass.
struct Drafts(Vec<Draft>);

impl Sink for Drafts {
    fn task(&mut self, task: &Task<'_>) {
        self.0.iter_mut().for_each(|draft| draft.task(task));
    }
}
