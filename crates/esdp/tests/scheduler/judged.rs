//! What the judge costs where nobody lies: the scenarios of the suite behind the live core, each played
//! twice. Once jobs report net utilities, which have no unit and are learned as they are; once they report
//! speeds, which are judged. Ports have a reference of 1, so both say the same, and every difference is the
//! judge's.
//!
//! `cargo xtask judged` sets `ESDP_JUDGED`, the number of seeds, and plays all of them at full length.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

use esdp::live::{
    Driver, DriverError, Due, Effect, Event, Live, Refusal, SpeedReport, Start, TurnReport, turn,
};
use esdp::live::{Mode, WhichTasks};
use esdp::model::{ChannelId, ChannelKey, Cluster, Slot, Ticket};
use esdp::policy::{PolicySpec, Truth};
use esdp::scenario::{SUITE, Scenario};
use esdp::sim::{Setting, SimulatedCluster};
use std::collections::HashMap;
use std::sync::Arc;

/// How jobs report.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Utilities,
    Speeds,
}

/// A simulated cluster that reports in one way or the other.
struct Reporting {
    cluster: Arc<Cluster>,
    inner: SimulatedCluster,
    told: Told,
    channels: HashMap<ChannelKey, ChannelId>,
    /// The channels of a start, task by task.
    tasks: HashMap<Ticket, Vec<ChannelId>>,
    slot: u64,
    /// When jobs were submitted that have not ended.
    waiting: HashMap<String, u64>,
    /// The slots that jobs took from submission to end.
    completions: f64,
    ended: f64,
}

impl Reporting {
    fn new(setting: &Setting, told: Told) -> Self {
        let cluster = Arc::clone(setting.cluster());
        let all = (0..cluster.channels().len()).map(ChannelId::at);
        Self {
            channels: all.map(|channel| (cluster.channel_key(channel), channel)).collect(),
            inner: SimulatedCluster::new(setting),
            told,
            tasks: HashMap::new(),
            slot: 0,
            waiting: HashMap::new(),
            completions: 0.0,
            ended: 0.0,
            cluster,
        }
    }

    fn channels_of(&self, start: &Start) -> Vec<ChannelId> {
        let mut all = Vec::new();
        for place in &start.placements {
            let (port, group, server) = (start.port.clone(), place.group.clone(), place.server.clone());
            let channel = self.channels[&ChannelKey { port, group, server }];
            all.extend(std::iter::repeat_n(channel, place.count as usize));
        }
        all
    }

    /// The same outcome, as a net utility or as a speed.
    fn translate(&self, event: Event) -> Event {
        let Event::Reported { ticket, tasks, report: SpeedReport::Utility(utility), source } = event else {
            return event;
        };
        let task = match tasks {
            WhichTasks::One(task) => task,
            // A job that runs as fast as its slowest task reports as a whole.
            _ => 0,
        };
        let channel = self.tasks[&ticket][task as usize];
        let speed = (utility + self.cluster.cost(channel)).min(1.0);
        let report = match self.told {
            // Rounded alike.
            Told::Utilities => SpeedReport::Utility(self.cluster.net_utility(channel, speed)),
            Told::Speeds => SpeedReport::Rate(speed),
        };
        Event::Reported { ticket, tasks, report, source }
    }
}

impl Driver for Reporting {
    fn poll(&mut self) -> Result<Vec<Event>, DriverError> {
        self.slot += 1;
        let events = self.inner.poll()?;
        for event in &events {
            match event {
                Event::Submitted { job, .. } => drop(self.waiting.insert(job.clone(), self.slot)),
                Event::Cancelled { job } => drop(self.waiting.remove(job)),
                Event::Ended { job } => {
                    let since = self.waiting.remove(job).expect("it was submitted");
                    self.completions += (self.slot - since) as f64;
                    self.ended += 1.0;
                }
                _ => {}
            }
        }
        Ok(events.into_iter().map(|event| self.translate(event)).collect())
    }

    fn due(&mut self) -> Due {
        self.inner.due()
    }

    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)> {
        for start in starts {
            let channels = self.channels_of(start);
            self.tasks.insert(start.ticket, channels);
        }
        self.inner.start(starts)
    }
}

/// What a run is worth: the sum of the true mean net utilities of all that was started, or, where jobs hold
/// what they have, the inverse of their mean time to completion. And how many outcomes were set aside.
fn worth(scenario: &Scenario, policy: &str, (slots, seed): (u64, u64), told: Told) -> (f64, u64) {
    let setting = scenario.setting(seed).unwrap();
    let mut driver = Reporting::new(&setting, told);
    let mut described = driver.inner.describe();
    described.ports.iter_mut().for_each(|port| port.reference = Some(1.0));
    let spec: PolicySpec = policy.parse().unwrap();
    let mut live = Live::new(described, |cluster| spec.build(cluster, seed, None).unwrap()).unwrap();
    let objective = Some(setting.objective());
    live.apply(&Event::Directed { mode: Mode::Place, most_exploration: None, objective });
    let mut truth: Box<dyn Truth> = setting.truth();
    let mut utility = 0.0;
    for slot in (1..=slots).map(Slot) {
        let TurnReport { starts, effects } = turn(&mut live, &mut driver, &mut (), slot).unwrap();
        let rejected = effects.iter().find(|effect| matches!(effect, Effect::Rejected { .. }));
        assert_eq!(rejected, None);
        let means = truth.means(slot);
        let started = starts.iter().flat_map(|start| &driver.tasks[&start.ticket]);
        utility += started.map(|channel| means[channel.index()]).sum::<f64>();
    }
    let Reporting { waiting, completions, ended, .. } = &driver;
    let open: u64 = waiting.values().map(|since| slots + 1 - since).sum();
    let held = setting.held().is_some();
    let worth = if held { (ended + waiting.len() as f64) / (completions + open as f64) } else { utility };
    (worth, live.set_aside_count())
}

/// By how much the worth differs if speeds are judged, as a share of it, seed by seed; and what was set
/// aside.
fn differences(scenario: &Scenario, policy: &str, slots: u64, seeds: &[u64]) -> Vec<(f64, u64)> {
    let one = |seed: u64| {
        let [(plain, none), (judged, aside)] =
            [Told::Utilities, Told::Speeds].map(|told| worth(scenario, policy, (slots, seed), told));
        assert_eq!(none, 0, "a net utility of the only source is never doubted");
        (judged / plain - 1.0, aside)
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = seeds.chunks(seeds.len().div_ceil(2)).collect();
        let all: Vec<_> =
            all.into_iter().map(|part| scope.spawn(move || part.iter().map(|&s| one(s)).collect())).collect();
        all.into_iter().flat_map(|part| -> Vec<(f64, u64)> { part.join().unwrap() }).collect()
    })
}

/// The mean of some differences, and its standard error.
fn mean(differences: &[(f64, u64)]) -> (f64, f64) {
    let count = differences.len() as f64;
    let mean = differences.iter().map(|(difference, _)| difference).sum::<f64>() / count;
    let squares = differences.iter().map(|(difference, _)| (difference - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn the_judge_costs_an_honest_cluster_next_to_nothing() {
    let long =
        std::env::var("ESDP_JUDGED").ok().map(|count| count.parse::<u64>().expect("a number of seeds"));
    let seeds: Vec<u64> = (16_000..16_000 + long.unwrap_or(4)).collect();
    let only = std::env::var("ESDP_JUDGED_ONLY").unwrap_or_default();
    let (mut worse, mut everything) = (Vec::new(), Vec::new());
    for (preset, slots) in SUITE {
        let slots = if long.is_some() { slots.min(2000) } else { slots.min(200) };
        if (long.is_none() && preset.starts_with("fleet")) || !preset.contains(&only) {
            continue;
        }
        let scenario = Scenario::preset(preset).unwrap();
        let all = differences(&scenario, "esdp", slots, &seeds);
        let (mean, error) = mean(&all);
        everything.extend(all.iter().copied());
        let aside: u64 = all.iter().map(|(_, aside)| aside).sum();
        println!("{preset:16} {slots:5} slots: {mean:+.5} ± {error:.5}, {aside} set aside");
        if mean + 2.0 * error < -0.001 {
            worse.push(format!("{preset}: {mean:+.5} ± {error:.5}"));
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
    // A short run says little of one scenario, and enough of all of them.
    let (mean, error) = mean(&everything);
    assert!(mean > -0.01, "all: {mean} ± {error}");
}
