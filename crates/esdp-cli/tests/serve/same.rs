//! What is evaluated is what is deployed: over HTTP, the service makes the decisions of the simulation.

use crate::service::{Client, Service};
use esdp::live::{Driver, Event, Placement, SpeedReport, Start, WhichTasks};
use esdp::model::{ChannelId, Slot, Ticket};
use esdp::scenario::Scenario;
use esdp::sim::{Recorder, Setting, SimulatedCluster, Simulation, SlotRecord};
use esdp_serve::wire::{ClusterWire, TicketName};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::ControlFlow;

const SLOTS: u64 = 2000;
const SEED: u64 = 0;

/// Keeps all decisions.
#[derive(Default)]
struct Decisions(Vec<Vec<ChannelId>>);

impl Recorder for Decisions {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.push(record.decision.channels().to_vec());
        ControlFlow::Continue(())
    }
}

/// Tells the service what a simulated cluster says.
fn tell(client: &mut Client, events: Vec<Event>) -> Vec<Value> {
    let (mut jobs, mut reports) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Reported {
                ticket,
                tasks: WhichTasks::One(task),
                report: SpeedReport::Utility(utility),
                source: _,
            } => {
                let ticket = TicketName { ticket, first: Some(task) }.to_string();
                reports.push(json!({"ticket": ticket, "utility": utility}));
            }
            Event::Ended { job } | Event::Cancelled { job } => {
                client.ok("DELETE", &format!("/v1/jobs/{}", job.replace('#', "%23")), "");
            }
            Event::Submitted { job, port, .. } => jobs.push(json!({"id": job, "port": port})),
            other => panic!("{other:?}"),
        }
    }
    if !reports.is_empty() {
        let answer = client.post("/v1/observations", &Value::Array(reports));
        assert_eq!(answer["refused"], json!([]));
    }
    jobs
}

/// The starts of an answer.
fn starts(answer: &Value, ports: &HashMap<String, String>) -> Vec<Start> {
    let mut starts: Vec<Start> = Vec::new();
    for placement in answer["placements"].as_array().unwrap() {
        let text = |key: &str| placement[key].as_str().unwrap().to_owned();
        let TicketName { ticket, first } = text("ticket").parse().unwrap();
        let place = Placement {
            group: text("group"),
            server: text("server"),
            count: placement["count"].as_u64().unwrap() as u32,
            first: first.unwrap(),
        };
        match starts.last_mut() {
            Some(last) if last.ticket == ticket => last.placements.push(place),
            _ => {
                let (job, slot) = (text("job"), Slot(answer["slot"].as_u64().unwrap()));
                let port = ports[&job].clone();
                starts.push(Start { ticket, job, port, slot, placements: vec![place] });
            }
        }
    }
    starts
}

#[test]
fn preset_default_gets_the_decisions_of_esdp_run() {
    let scenario = Scenario::preset("default").unwrap();
    let setting: Setting = scenario.setting(SEED).unwrap();
    let mut expected = Decisions::default();
    let _ = Simulation::new(&setting, &"esdp".parse().unwrap()).unwrap().run(SLOTS, &mut expected).unwrap();

    let data = tempfile::tempdir().unwrap();
    // What is compared here is decisions and not durability, and 20,000 commits take their time.
    let service = Service::start(data.path(), &["--synchronous", "OFF", "--objective", "sum"]);
    let mut client = service.client();
    let mut driver = SimulatedCluster::new(&setting);
    let described = serde_json::to_string(&ClusterWire::of(&driver.describe())).unwrap();
    client.ok("PUT", "/v1/cluster", &described);
    let cluster = setting.cluster();
    let channels: HashMap<_, _> = (0..cluster.channels().len())
        .map(ChannelId::at)
        .map(|channel| (cluster.channel_key(channel), channel))
        .collect();
    let mut ports = HashMap::new();
    for (index, expected) in expected.0.iter().enumerate() {
        let jobs = tell(&mut client, driver.poll().unwrap());
        for job in &jobs {
            ports.insert(job["id"].as_str().unwrap().to_owned(), job["port"].as_str().unwrap().to_owned());
        }
        let answer = client.post("/v1/slots", &json!({"key": format!("k{index}"), "jobs": jobs}));
        let starts = starts(&answer, &ports);
        let mut chosen: Vec<ChannelId> = Vec::new();
        for start in &starts {
            for place in &start.placements {
                let (port, group, server) = (start.port.clone(), place.group.clone(), place.server.clone());
                chosen.push(channels[&esdp::model::ChannelKey { port, group, server }]);
            }
        }
        chosen.sort_unstable();
        let mut expected = expected.clone();
        expected.sort_unstable();
        assert_eq!(chosen, expected, "slot {}", index + 1);
        let _: Vec<(Ticket, _)> = driver.start(&starts);
    }
    assert_eq!(client.get("/v1/status")["slot"], SLOTS);
}
