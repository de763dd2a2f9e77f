//! A cluster that runs what the core starts, for a test to drive slot by slot.

use super::super::live::cluster::policy;
use esdp::live::{Decided, Effect, Event, Live, SpeedReport, WhichTasks};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// A job type: the tasks of its jobs, its speed, and the unit in which that is reported.
#[derive(Debug, Clone, Copy)]
pub struct Port {
    pub name: &'static str,
    pub tasks: u32,
    pub speed: f64,
    pub unit: f64,
}

/// A server: its name, its devices, its speed.
pub type Server = (&'static str, u32, f64);

pub struct Machine {
    pub live: Live,
    pub described: ClusterDescription,
    pub now: u64,
    /// Every event that was applied.
    pub journal: Vec<Event>,
    /// Every start, as a line.
    pub log: Vec<String>,
    /// How far reports are off, at most.
    pub noise: f64,
    policy: String,
    ports: Vec<Port>,
    servers: BTreeMap<&'static str, f64>,
    seed: u64,
    submitted: BTreeMap<&'static str, u64>,
    work: BTreeMap<String, f64>,
    /// By job: the slot in which it ends, and what it reports.
    running: BTreeMap<String, (u64, Vec<Event>)>,
    starts: BTreeMap<String, u64>,
}

pub fn described(ports: &[Port], servers: &[Server], reference: Option<f64>) -> ClusterDescription {
    let port = |port: &Port| PortSpec {
        reference,
        ..PortSpec::new(port.name, JobShape::tasks(port.tasks, port.tasks, &[("gpu", 1)]))
    };
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: servers
            .iter()
            .map(|&(name, gpus, _)| ServerSpec::new(name, &[("gpu", u64::from(gpus))]))
            .collect(),
        ports: ports.iter().map(port).collect(),
        ..ClusterDescription::default()
    }
}

impl Machine {
    pub fn new(policy: &str, ports: Vec<Port>, servers: &[Server], seed: u64) -> Self {
        Self::with(described(&ports, servers, None), policy, ports, servers, seed)
    }

    pub fn with(
        described: ClusterDescription,
        name: &str,
        ports: Vec<Port>,
        servers: &[Server],
        seed: u64,
    ) -> Self {
        Self {
            live: Live::new(described.clone(), policy(name)).unwrap(),
            described,
            now: 0,
            journal: Vec::new(),
            log: Vec::new(),
            noise: 0.12,
            policy: name.to_owned(),
            ports,
            servers: servers.iter().map(|&(name, _, speed)| (name, speed)).collect(),
            seed,
            submitted: BTreeMap::new(),
            work: BTreeMap::new(),
            running: BTreeMap::new(),
            starts: BTreeMap::new(),
        }
    }

    pub fn apply(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.live.apply(&event);
        self.journal.push(event);
        effects
    }

    pub fn submit(&mut self, port: &'static str, work: f64) {
        let number = self.submitted.entry(port).or_default();
        let job = format!("{port}#{number}");
        *number += 1;
        self.work.insert(job.clone(), work);
        self.apply(Event::Submitted { job, port: port.into(), weight: 1.0 });
    }

    /// Jobs that are done report and end; then a slot is decided, and carried out.
    pub fn slot(&mut self, closed: &[&str]) {
        self.now += 1;
        let done: Vec<String> =
            self.running.iter().filter(|(_, run)| run.0 <= self.now).map(|(job, _)| job.clone()).collect();
        for job in done {
            let (_, reports) = self.running.remove(&job).unwrap();
            reports.into_iter().for_each(|report| drop(self.apply(report)));
            self.apply(Event::Ended { job });
        }
        let closed = closed.iter().map(|&server| server.to_owned()).collect();
        let due = Event::SlotDue { slot: Slot(self.now), free: [].into(), closed, work: None };
        self.apply(due.clone());
        let decided: Decided = self.live.decide(&due).unwrap().expect("a decision");
        for effect in self.apply(Event::Decided(decided)) {
            let Effect::Started(start) = effect else { continue };
            self.apply(Event::Accepted { ticket: start.ticket });
            let port = *self.ports.iter().find(|port| port.name == start.port).unwrap();
            *self.starts.entry(start.port.clone()).or_default() += 1;
            let (mut reports, mut pace) = (Vec::new(), f64::INFINITY);
            for place in &start.placements {
                self.log.push(format!("{} {} {} {}", self.now, start.job, place.server, place.count));
                // A little noise of the job's own, the same in every unit.
                let noise = 1.0 + self.noise * ((start.ticket.0 * 7919 + self.seed) % 13) as f64 / 12.0;
                let speed = port.speed * self.servers[place.server.as_str()];
                pace = pace.min(speed);
                let report = SpeedReport::Rate(speed * noise * port.unit);
                let tasks = WhichTasks::On(place.server.clone());
                let (ticket, source) = (start.ticket, String::new());
                reports.push(Event::Reported { ticket, tasks, report, source });
            }
            let takes = (self.work[&start.job] / pace).ceil().max(1.0) as u64;
            self.running.insert(start.job, (self.now + takes, reports));
        }
    }

    /// The core goes on from a snapshot of its own.
    pub fn restart(&mut self) {
        self.live = Live::restore(&self.live.snapshot().unwrap(), policy(&self.policy)).unwrap();
    }

    /// The core is lost, and goes on from its journal alone.
    pub fn restart_from_journal(&mut self) {
        let mut live = Live::new(self.described.clone(), policy(&self.policy)).unwrap();
        self.journal.iter().for_each(|event| drop(live.apply(event)));
        assert_eq!(live.snapshot().unwrap(), self.live.snapshot().unwrap());
        self.live = live;
    }

    pub fn is_running(&self, job: &str) -> bool {
        self.running.contains_key(job)
    }

    pub fn running_jobs(&self) -> BTreeSet<String> {
        self.running.keys().cloned().collect()
    }

    /// How many jobs of a port were started.
    pub fn started(&self, port: &str) -> u64 {
        self.starts.get(port).copied().unwrap_or(0)
    }

    /// How many jobs of a port wait.
    pub fn waits(&self, port: &str) -> u64 {
        self.submitted.get(port).copied().unwrap_or(0) - self.started(port)
    }
}
