//! The runs: every contender under every answer and seed, and what became of every job.

use super::speeds::Answers;
use crate::exit::End;
use crate::interrupt;
use crate::progress::Progress;
use crate::run::CommonArgs;
use anyhow::Context;
use esdp::model::{Cluster, PortId, ServerId};
use esdp::scenario::{LabelledPolicy, Scenario};
use esdp::scheduler::Objective;
use esdp::sim::{Recorder, SlotRecord};
use esdp_engine::{self as engine, Contender, Failure, Options, SlotSink, Thinning, Unit};
use esdp_trace::replay::{Played, PlayedServer};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// How many points the curves over time have, at most.
const POINTS: usize = 240;
const DEFAULT: [&str; 8] = ["esdp", "oracle", "easy", "conservative", "first-fit", "lwtf", "hauf", "random"];

/// Who takes part: policies of the library and queues.
pub(super) struct Contenders {
    list: Vec<Contender>,
    policies: Vec<LabelledPolicy>,
}

impl Contenders {
    pub(super) fn new(names: &[String]) -> anyhow::Result<Self> {
        let names: Vec<&str> =
            if names.is_empty() { DEFAULT.to_vec() } else { names.iter().map(|name| name.trim()).collect() };
        let (mut list, mut policies): (Vec<Contender>, Vec<LabelledPolicy>) = (Vec::new(), Vec::new());
        for name in names {
            if list.iter().any(|known| known.label() == name) {
                anyhow::bail!("--policies: `{name}` is there twice");
            }
            let policy = LabelledPolicy::named(name).context("--policies")?;
            list.push(Contender::from(&policy));
            policies.push(policy);
        }
        Ok(Self { list, policies })
    }

    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(Contender::label)
    }
}

/// What became of a job, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Done {
    /// When it started, after the start of the window.
    pub(super) start: f64,
    pub(super) waited: f64,
    pub(super) ran: f64,
    pub(super) servers: Vec<u32>,
}

impl Done {
    pub(super) fn completion(&self) -> f64 {
        self.waited + self.ran
    }
}

/// One contender under one answer and seed.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    /// By job; none for one that was not done.
    pub(super) done: Vec<Option<Done>>,
    /// Over time: the jobs that wait.
    pub(super) queue: Vec<f64>,
    /// Over time, by kind of server: the busy share of its scarcest device.
    pub(super) busy: Vec<Vec<f64>>,
    /// The busy share of the scarcest device while jobs arrive.
    pub(super) utilisation: f64,
}

/// All runs.
pub(super) struct Runs {
    pub(super) labels: Vec<String>,
    /// The seeds that are complete for all answers.
    pub(super) seeds: Vec<u64>,
    /// By answer, seed and contender.
    pub(super) runs: Vec<Vec<Vec<Run>>>,
    /// The kinds of servers, as `busy` has them.
    pub(super) kinds: Vec<String>,
    pub(super) first_scenario: Scenario,
}

pub(super) fn play(
    played: &Played,
    answers: &Answers,
    (contenders, objective): (&Contenders, Objective),
    seeds: &[u64],
    common: &CommonArgs,
) -> anyhow::Result<Runs> {
    let shared = Arc::new(Shared::new(played));
    let slots = played.window.slots * (contenders.list.len() * seeds.len() * answers.list.len()) as u64;
    let progress = Progress::new(slots, common.quiet);
    progress.message(format!(
        "{} policies, {} seeds, {} answers",
        contenders.list.len(),
        seeds.len(),
        answers.list.len()
    ));
    let advance = |slots| progress.advance(slots);
    let cancel = interrupt::on_ctrl_c();
    let whole: Mutex<Vec<usize>> = Mutex::default();
    let mut first_scenario = None;
    // One answer after another: the scenarios of all of them, with every arrival, may not fit into memory.
    for (number, answer) in answers.list.iter().enumerate() {
        let scenario = |seed: &u64| {
            let means = answer.means(played, *seed);
            let scenario = played.scenario(&means, &answer.noise, contenders.policies.clone())?;
            Ok(match scenario.objective() == objective {
                true => scenario,
                false => scenario.change(|spec| spec.objective = Some(objective))?,
            })
        };
        let mut scenarios: Vec<Scenario> = seeds.iter().map(scenario).collect::<anyhow::Result<_>>()?;
        let unit = |(scenario, seed): (_, &u64)| {
            let scenario: &Scenario = scenario;
            Unit { scenario, policies: &contenders.list, slots: scenario.slots(), seed: *seed }
        };
        let units: Vec<Unit<'_>> = scenarios.iter().zip(seeds).map(unit).collect();
        let place = |unit: usize| number * seeds.len() + unit;
        let record = |unit: usize, policy: usize| -> Result<Box<dyn SlotSink>, Failure> {
            Ok(Box::new(Watching::new(Arc::clone(&shared), (place(unit), policy))))
        };
        let options = Options {
            jobs: common.jobs.unwrap_or(0),
            thinning: Thinning { points: 0, ..Thinning::default() },
            cancel,
            progress: &advance,
            record: Some(&record),
        };
        let finished = |unit: usize, _| {
            whole.lock().unwrap_or_else(PoisonError::into_inner).push(place(unit));
            Ok(())
        };
        let outcome = engine::each(&units, &options, &finished);
        if outcome.is_err() {
            progress.finish();
        }
        outcome?;
        first_scenario = first_scenario.or_else(|| Some(scenarios.swap_remove(0)));
    }
    progress.finish();
    let whole = whole.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = std::mem::take(&mut *shared.runs.lock().unwrap_or_else(PoisonError::into_inner));
    let complete =
        |at: usize| (0..answers.list.len()).all(|answer| whole.contains(&(answer * seeds.len() + at)));
    let done: Vec<usize> = (0..seeds.len()).filter(|at| complete(*at)).collect();
    if done.is_empty() {
        return Err(End::Interrupted("no seed was complete, so nothing was written".to_owned()).into());
    }
    let mut of = |answer: usize, at: usize| -> Vec<Run> {
        let take = |policy| found.remove(&(answer * seeds.len() + at, policy)).unwrap_or_default();
        (0..contenders.list.len()).map(take).collect()
    };
    let runs =
        (0..answers.list.len()).map(|answer| done.iter().map(|at| of(answer, *at)).collect()).collect();
    Ok(Runs {
        labels: contenders.labels().map(str::to_owned).collect(),
        seeds: done.iter().map(|at| seeds[*at]).collect(),
        runs,
        kinds: shared.kinds.clone(),
        first_scenario: first_scenario.context("there is no answer")?,
    })
}

/// What all runs share.
struct Shared {
    numbers: Vec<Vec<usize>>,
    jobs: usize,
    slot: f64,
    slots: u64,
    points: usize,
    kinds: Vec<String>,
    /// By server.
    kind: Vec<usize>,
    runs: Mutex<BTreeMap<(usize, usize), Run>>,
}

impl Shared {
    fn new(played: &Played) -> Self {
        let mut kinds: Vec<String> = played.servers.iter().map(|server| server.sort().to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let kind = |server: &PlayedServer| kinds.iter().position(|kind| kind == server.sort()).unwrap_or(0);
        Self {
            numbers: played.numbers(),
            jobs: played.jobs.len(),
            slot: played.window.slot,
            slots: played.window.slots,
            points: POINTS.min(played.window.slots as usize),
            kind: played.servers.iter().map(kind).collect(),
            kinds,
            runs: Mutex::default(),
        }
    }
}

/// Watches one run.
struct Watching {
    shared: Arc<Shared>,
    place: (usize, usize),
    run: Run,
    /// By point, kind and device: units that ran, in slots.
    used: Vec<f64>,
    waiting: Vec<f64>,
    devices: usize,
    /// By kind and device.
    capacity: Vec<f64>,
}

impl Watching {
    fn new(shared: Arc<Shared>, place: (usize, usize)) -> Self {
        let run = Run { done: vec![None; shared.jobs], ..Run::default() };
        Self { shared, place, run, used: Vec::new(), waiting: Vec::new(), devices: 0, capacity: Vec::new() }
    }

    fn prepare(&mut self, cluster: &Cluster) {
        if self.devices > 0 {
            return;
        }
        self.devices = cluster.devices().len();
        let kinds = self.shared.kinds.len();
        self.capacity = vec![0.0; kinds * self.devices];
        for server in 0..cluster.servers().len() {
            let own = cluster.capacity().server(ServerId::at(server)).unwrap_or_default();
            for (device, amount) in own.iter().enumerate() {
                self.capacity[self.shared.kind[server] * self.devices + device] += *amount as f64;
            }
        }
        self.waiting = vec![0.0; self.shared.points];
        self.used = vec![0.0; self.shared.points * kinds * self.devices];
    }

    fn point(&self, slot: u64) -> Option<usize> {
        let at = (slot - 1) as usize * self.shared.points / self.shared.slots.max(1) as usize;
        (at < self.shared.points).then_some(at)
    }
}

impl Recorder for Watching {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.prepare(record.cluster);
        let row = self.shared.kinds.len() * self.devices;
        if let Some(point) = self.point(record.slot.0) {
            for channel in record.running {
                let kind = self.shared.kind[record.cluster.channel(*channel).server.index()];
                let from = point * row + kind * self.devices;
                let used = &mut self.used[from..from + self.devices];
                used.iter_mut()
                    .zip(record.cluster.request(*channel))
                    .for_each(|(used, units)| *used += *units as f64);
            }
            let ports = 0..record.present.ports();
            let waits =
                |port: usize| record.present.jobs(PortId::at(port)).saturating_sub(record.started[port]);
            self.waiting[point] += ports.map(waits).map(f64::from).sum::<f64>();
        }
        let slot = self.shared.slot;
        for job in record.finished {
            let Some(number) = self.shared.numbers[job.port.index()].get(job.number as usize) else {
                continue;
            };
            let servers =
                job.channels.iter().map(|channel| record.cluster.channel(*channel).server.0).collect();
            self.run.done[*number] = Some(Done {
                start: (job.started.0 - 1) as f64 * slot,
                waited: job.waited() as f64 * slot,
                ran: ((job.finished.0 - job.started.0 + 1) as f64 - job.spare) * slot,
                servers,
            });
        }
        ControlFlow::Continue(())
    }
}

impl SlotSink for Watching {
    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        let (kinds, devices, slots) = (self.shared.kinds.len(), self.devices, self.shared.slots as usize);
        let points = self.shared.points;
        // How many slots a point stands for.
        let mut lengths = vec![0.0; points];
        (1..=slots as u64).filter_map(|slot| self.point(slot)).for_each(|point| lengths[point] += 1.0);
        let share = |used: f64, there: f64| if there > 0.0 { used / there } else { 0.0 };
        let busiest = |point: usize, kind: usize| {
            let of = |device: usize| {
                let used = self.used[(point * kinds + kind) * devices + device];
                share(used, self.capacity[kind * devices + device] * lengths[point])
            };
            (0..devices).map(of).fold(0.0, f64::max)
        };
        let whole = |device: usize| {
            let used: f64 = (0..points * kinds).map(|row| self.used[row * devices + device]).sum();
            let there: f64 = (0..kinds).map(|kind| self.capacity[kind * devices + device]).sum();
            share(used, there * slots as f64)
        };
        self.run.busy =
            (0..points).map(|point| (0..kinds).map(|kind| busiest(point, kind)).collect()).collect();
        self.run.queue = self.waiting.iter().zip(&lengths).map(|(sum, slots)| share(*sum, *slots)).collect();
        self.run.utilisation = (0..devices).map(whole).fold(0.0, f64::max);
        let mut runs = self.shared.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.insert(self.place, std::mem::take(&mut self.run));
        Ok(())
    }
}
