//! Drivers: a moody one, and the simulated cluster.

use super::cluster::live;
use esdp::live::{Driver, DriverError, Due, Effect, Event, Live, Mode, Refusal, Start, turn};
use esdp::model::{ChannelId, Cluster, Slot, Ticket};
use esdp::policy::PolicySpec;
use esdp::scenario::Scenario;
use esdp::sim::{Recorder, Setting, SimulatedCluster, Simulation, SlotRecord};
use std::ops::ControlFlow;

/// Loses, refuses and answers late; keeps no state that the core could not lose as well.
struct Moody {
    events: Vec<Event>,
    calls: u32,
}

impl Driver for Moody {
    fn poll(&mut self) -> Result<Vec<Event>, DriverError> {
        self.calls += 1;
        match self.calls % 3 {
            0 => Err(DriverError { cause: "no answer".into() }),
            _ => Ok(std::mem::take(&mut self.events)),
        }
    }

    fn due(&mut self) -> Due {
        Due { closed: vec!["n1".into()], work: Some(1000), ..Due::default() }
    }

    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)> {
        assert!(starts.iter().all(|start| start.placements[0].server == "n0"));
        let refuse = |start: &Start| (start.ticket, Err(Refusal { why: "not today".into() }));
        starts.iter().map(refuse).collect()
    }
}

#[test]
fn a_turn_asks_decides_starts_and_takes_the_answers() {
    let (mut live, mut journal) = (live(), Vec::new());
    let submitted = Event::Submitted { job: "j1".into(), port: "train".into(), weight: 1.0 };
    let mut driver = Moody { events: vec![submitted], calls: 0 };
    for at in 1..=2 {
        let report = turn(&mut live, &mut driver, &mut journal, Slot(at)).unwrap();
        assert_eq!(report.starts.len(), 1);
        assert!(matches!(&report.effects[..], [Effect::Decided { .. }, Effect::Requeued { .. }]));
    }
    let error = turn(&mut live, &mut driver, &mut journal, Slot(3)).unwrap_err();
    assert_eq!(error.to_string(), "the cluster cannot be asked: no answer");
    let mut twin = self::live();
    journal.iter().for_each(|event| drop(twin.apply(event)));
    assert_eq!(twin.snapshot().unwrap(), live.snapshot().unwrap());
}

/// A driver may have a slot of its own in mind: what that starts is carried out as well.
#[test]
fn a_turn_carries_out_every_start() {
    let mut live = live();
    let submitted = |job: &str| Event::Submitted { job: job.into(), port: "train".into(), weight: 1.0 };
    let due = Event::SlotDue { slot: Slot(4), free: [].into(), closed: vec!["n1".into()], work: None };
    let mut driver = Moody { events: vec![submitted("j1"), due, submitted("j2")], calls: 0 };
    let report = turn(&mut live, &mut driver, &mut (), Slot(5)).unwrap();
    let jobs: Vec<&str> = report.starts.iter().map(|start| start.job.as_str()).collect();
    assert_eq!(jobs, ["j1", "j2"]);
    assert_eq!(live.starts().count(), 0, "both were refused");
}

#[derive(Default)]
struct Decisions(Vec<Vec<ChannelId>>);

impl Recorder for Decisions {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.push(record.decision.channels().to_vec());
        ControlFlow::Continue(())
    }
}

/// The decisions of a live scheduler that drives the same cluster.
fn live_decisions(setting: &Setting, spec: &PolicySpec, slots: u64) -> (Vec<Vec<ChannelId>>, Live) {
    let mut driver = SimulatedCluster::new(setting);
    let build = |cluster: &Cluster| spec.build(cluster, setting.seed(), None).unwrap();
    let mut live = Live::new(driver.describe(), build).unwrap();
    let objective = Some(setting.objective());
    live.apply(&Event::Directed { mode: Mode::Place, most_exploration: None, objective });
    let cluster = setting.cluster();
    let find = |start: &Start, server: &str, group: &str| {
        let named = |id: &ChannelId| {
            let key = cluster.channel_key(*id);
            key.port == start.port && key.server == server && key.group == group
        };
        (0..cluster.channels().len()).map(ChannelId::at).find(named).unwrap()
    };
    let mut decisions = Vec::new();
    for at in 1..=slots {
        let report = turn(&mut live, &mut driver, &mut (), Slot(at)).unwrap();
        let mut chosen = Vec::new();
        for start in &report.starts {
            for place in &start.placements {
                let channel = find(start, &place.server, &place.group);
                chosen.extend(std::iter::repeat_n(channel, place.count as usize));
            }
        }
        chosen.sort_unstable();
        decisions.push(chosen);
    }
    (decisions, live)
}

/// What is evaluated is what is deployed: on presets with and without queues (whose jobs have luck),
/// delays, gangs and costs.
#[test]
fn a_simulated_cluster_gets_the_decisions_of_the_simulation() {
    for (preset, policies, slots) in [
        ("default", &["esdp", "esdp-index", "cts", "hauf", "esdp-pooled"][..], 300),
        ("drift-switch", &["esdp-drift"], 200),
        ("gang-queue", &["esdp", "lwtf"], 40),
        ("gang-sync", &["esdp", "random"], 60),
        ("gang-sync-queue", &["esdp", "esdp-index"], 60),
        ("fleet-200", &["esdp", "esdp-pooled"], 12),
    ] {
        let scenario = Scenario::preset(preset).unwrap();
        let setting = scenario.setting(3).unwrap().with_luck(0.1).unwrap();
        for name in policies {
            let spec: PolicySpec = name.parse().unwrap();
            let mut recorded = Decisions::default();
            let mut simulation = Simulation::new(&setting, &spec).unwrap();
            assert!(simulation.run(slots, &mut recorded).unwrap().is_continue());
            let (decisions, live) = live_decisions(&setting, &spec, slots);
            for (at, (live, simulated)) in decisions.iter().zip(&recorded.0).enumerate() {
                assert_eq!(live, simulated, "{preset}, {name}, slot {}", at + 1);
            }
            assert_eq!((live.counts().rejected, live.counts().duplicates), (0, 0), "{preset}, {name}");
        }
    }
}
