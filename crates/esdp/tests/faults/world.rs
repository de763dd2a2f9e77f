//! The world outside: users, servers, and a network that cannot be trusted.

use esdp::live::{Effect, Event, Live, SpeedReport, Start, WhichTasks};
use esdp::model::{ChannelRule, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot, TaskGroupSpec, Ticket};
use esdp::policy::PolicySpec;
use esdp::rng::{Purpose, Stream, stream};
use rand::RngExt;
use std::collections::BTreeMap;

const POLICIES: [&str; 9] =
    ["esdp", "hauf", "esdp-drift", "cts", "esdp-pooled", "lwtf", "first-fit", "cucb", "epsilon-greedy"];

pub struct World {
    rng: Stream,
    policy: PolicySpec,
    described: ClusterDescription,
    /// Messages under way, with the time at which they arrive.
    network: BTreeMap<(u64, u64), Event>,
    now: u64,
    sent: u64,
    slot: u64,
    jobs: u64,
    servers: u64,
    known: Vec<String>,
    tickets: u64,
    events: u64,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Cluster, 7, 7);
        let policy = POLICIES[rng.random_range(0..POLICIES.len())].parse().unwrap();
        let mut world = Self {
            rng,
            policy,
            described: ClusterDescription { devices: vec!["cpu".into(), "gpu".into()], ..Default::default() },
            network: BTreeMap::new(),
            now: 0,
            sent: 0,
            slot: 0,
            jobs: 0,
            servers: 0,
            known: Vec::new(),
            tickets: 0,
            events: 0,
        };
        for _ in 0..world.rng.random_range(2..6) {
            let server = world.server();
            world.described.servers.push(server);
        }
        for index in 0..world.rng.random_range(1..4) {
            let port = world.port(index);
            world.described.ports.push(port);
        }
        if world.described.cluster().is_err() {
            world.described.ports[0].channels = ChannelRule::All;
        }
        world
    }

    pub fn described(&self) -> &ClusterDescription {
        &self.described
    }

    pub fn policy(&self) -> PolicySpec {
        self.policy.clone()
    }

    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether the core is restarted now.
    pub fn restarts(&mut self) -> bool {
        self.rng.random_range(0..300) == 0
    }

    fn server(&mut self) -> ServerSpec {
        self.servers += 1;
        let label = ["old", "new"][self.rng.random_range(0..2)];
        let (cpu, gpu) = (self.rng.random_range(2..9), self.rng.random_range(0..5));
        ServerSpec {
            labels: vec![label.into()],
            ..ServerSpec::new(&format!("n{}", self.servers), &[("cpu", cpu), ("gpu", gpu)])
        }
    }

    fn port(&mut self, index: u64) -> PortSpec {
        let groups = self.rng.random_range(1..3);
        let mut groups: Vec<TaskGroupSpec> = (0..groups)
            .map(|group| TaskGroupSpec {
                name: format!("g{group}"),
                count: self.rng.random_range(1..4),
                minimum: 0,
                request: [("cpu".into(), self.rng.random_range(1..3)), ("gpu".into(), self.rng.random_range(0..2))]
                    .into(),
            })
            .collect();
        // At most as many as fit one task for each device unit: small, so that jobs do start.
        groups.truncate(2);
        let all: u32 = groups.iter().map(|group| group.count).sum();
        let minimum = self.rng.random_range(1..=all);
        let mut port = PortSpec::new(&format!("p{index}"), JobShape::Gang { minimum, groups });
        if self.rng.random_bool(0.2) {
            port.weight = self.rng.random_range(0.5..4.0);
        }
        if self.rng.random_bool(0.2) {
            port.channels = ChannelRule::Labels(vec!["new".into()]);
        }
        if self.rng.random_bool(0.2) {
            port.reference = Some(self.rng.random_range(0.1..100.0));
        }
        port
    }

    /// Sends a message: it arrives later, perhaps twice, and what is sent after it may overtake it.
    fn send(&mut self, event: Event, after: u64) {
        let copies = if self.rng.random_bool(0.1) { 2 } else { 1 };
        for _ in 0..copies {
            let late = if self.rng.random_bool(0.05) { 400 } else { 12 };
            let delay = after + self.rng.random_range(1..late);
            self.sent += 1;
            self.network.insert((self.now + delay, self.sent), event.clone());
        }
    }

    /// What happens next.
    pub fn next(&mut self, live: &Live) -> Event {
        self.events += 1;
        self.now += 1;
        if let Some(entry) = self.network.first_entry().filter(|entry| entry.key().0 <= self.now) {
            return entry.remove();
        }
        match self.rng.random_range(0..100) {
            0..30 => {
                self.jobs += 1;
                let job = format!("j{}", self.jobs);
                let ports = self.described.ports.len();
                let port = self.described.ports[self.rng.random_range(0..ports)].name.clone();
                let weight = if self.rng.random_bool(0.1) { self.rng.random_range(0.5..9.0) } else { 1.0 };
                self.known.push(job.clone());
                let event = Event::Submitted { job, port, weight };
                // Some are told late, all may be told again.
                if self.rng.random_bool(0.1) {
                    self.send(event.clone(), 0);
                }
                event
            }
            30..70 => self.slot_due(),
            70..74 => Event::Cancelled { job: self.some_job() },
            74..76 => Event::Expired { before: Slot(self.slot.saturating_sub(self.rng.random_range(0..40))) },
            76..78 => match self.some_server() {
                server if self.rng.random_bool(0.3) => {
                    self.send(Event::Opened { server: server.clone() }, 30);
                    Event::ServerLost { server }
                }
                server => {
                    self.send(Event::Opened { server: server.clone() }, 30);
                    Event::Drained { server }
                }
            },
            78..80 => self.change(),
            80..82 => {
                let on = self.rng.random_bool(0.5).then(|| self.some_server());
                Event::Reset { port: None, server: on }
            }
            82..84 => Event::Forgotten { server: self.some_server() },
            84..90 => self.observed(),
            90..94 => self.nonsense(),
            _ => match live.starts().next() {
                // The oldest start is told of at last.
                Some(start) => Event::Ended { job: start.job },
                None => self.slot_due(),
            },
        }
    }

    fn slot_due(&mut self) -> Event {
        self.slot += if self.rng.random_bool(0.05) { 20 } else { 1 };
        let mut free = BTreeMap::new();
        if self.rng.random_bool(0.1) {
            let amounts = [("cpu".to_owned(), self.rng.random_range(0..9)), ("gpu".to_owned(), 1)];
            free.insert(self.some_server(), amounts.into());
        }
        let closed = if self.rng.random_bool(0.05) { vec![self.some_server()] } else { vec![] };
        let work = self.rng.random_bool(0.1).then_some(1000);
        Event::SlotDue { slot: Slot(self.slot), free, closed, work }
    }

    fn change(&mut self) -> Event {
        let mut next = self.described.clone();
        match self.rng.random_range(0..7) {
            0 => next.servers.push(self.server()),
            1 if next.servers.len() > 1 => {
                let gone = self.rng.random_range(0..next.servers.len());
                next.servers.remove(gone);
            }
            2 => {
                // Replaced by another of the same shape.
                let at = self.rng.random_range(0..next.servers.len());
                let name = self.server().name;
                next.servers[at].name = name;
            }
            3 => {
                let at = self.rng.random_range(0..next.servers.len());
                let amount = self.rng.random_range(1..9);
                next.servers[at].capacity.as_mut().unwrap().insert("cpu".into(), amount);
            }
            4 => {
                let at = self.rng.random_range(0..next.servers.len());
                next.servers[at].labels = vec!["new".into()];
            }
            5 if next.ports.len() < 4 => {
                let index = 100 + self.jobs;
                next.ports.push(self.port(index));
            }
            _ if next.ports.len() > 1 => {
                let gone = self.rng.random_range(0..next.ports.len());
                next.ports.remove(gone);
            }
            _ => next.servers.reverse(),
        }
        // A cluster without a single channel is refused; the world then stays as it is.
        if next.cluster().is_ok() {
            self.described = next.clone();
        }
        Event::Described { cluster: next }
    }

    fn observed(&mut self) -> Event {
        let (ports, id) = (self.described.ports.len(), self.rng.random_range(0..self.events / 2 + 1));
        let port = self.described.ports[self.rng.random_range(0..ports)].name.clone();
        let (server, report) = (self.some_server(), self.some_report());
        Event::Observed { id: format!("o{id}"), port, group: "g0".into(), server, report }
    }

    fn nonsense(&mut self) -> Event {
        let ticket = Ticket(self.rng.random_range(0..self.tickets * 2 + 2));
        match self.rng.random_range(0..6) {
            0 => Event::Reported { ticket, tasks: WhichTasks::One(9), report: SpeedReport::Utility(0.5) },
            1 => Event::Reported { ticket, tasks: WhichTasks::All, report: SpeedReport::Rate(f64::NAN) },
            2 => Event::Submitted { job: format!("x{}", self.events), port: "nowhere".into(), weight: 1.0 },
            3 => Event::Ended { job: format!("x{}", self.events) },
            4 => Event::SlotDue { slot: Slot(self.slot / 2), free: BTreeMap::new(), closed: vec![], work: None },
            _ => Event::Drained { server: "nowhere".into() },
        }
    }

    fn some_job(&mut self) -> String {
        match self.known.is_empty() {
            true => "j0".into(),
            false => {
                let recent = self.known.len().saturating_sub(20);
                self.known[self.rng.random_range(recent..self.known.len())].clone()
            }
        }
    }

    fn some_server(&mut self) -> String {
        let at = self.rng.random_range(0..self.described.servers.len());
        self.described.servers[at].name.clone()
    }

    fn some_report(&mut self) -> SpeedReport {
        match self.rng.random_range(0..10) {
            0 => SpeedReport::Lost,
            1..4 => SpeedReport::Utility(self.rng.random()),
            4..9 => SpeedReport::Rate(self.rng.random_range(0.0..50.0)),
            _ => SpeedReport::Work { work: 1e6 * self.rng.random::<f64>(), seconds: self.rng.random_range(0.1..9.0) },
        }
    }

    /// The cluster hears of starts, and answers.
    pub fn hear(&mut self, _event: &Event, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Started(start) = effect {
                self.tickets = self.tickets.max(start.ticket.0);
                self.answer(start);
            }
        }
    }

    fn answer(&mut self, start: &Start) {
        let ticket = start.ticket;
        match self.rng.random_range(0..20) {
            0 | 1 => return self.send(Event::Refused { ticket, why: "no".into() }, 0),
            2 => return, // the start was never heard of
            3 => {}      // it runs, but its acceptance is lost
            _ => self.send(Event::Accepted { ticket }, 0),
        }
        let lasts = self.rng.random_range(1..40);
        let tasks: u32 = start.placements.iter().map(|place| place.count).sum();
        match self.rng.random_range(0..10) {
            0 => {} // nothing is ever heard of its speed
            1..4 => {
                for task in 0..tasks {
                    let report = self.some_report();
                    self.send(Event::Reported { ticket, tasks: WhichTasks::One(task), report }, lasts);
                }
            }
            4..6 => {
                for place in &start.placements {
                    let report = self.some_report();
                    self.send(Event::Reported { ticket, tasks: WhichTasks::On(place.server.clone()), report }, lasts);
                }
            }
            _ => {
                let report = self.some_report();
                self.send(Event::Reported { ticket, tasks: WhichTasks::All, report }, lasts);
            }
        }
        match self.rng.random_range(0..12) {
            0 => self.send(Event::Refused { ticket, why: "it broke".into() }, lasts),
            1 => {} // its end is told of only when somebody asks
            _ => self.send(Event::Ended { job: start.job.clone() }, lasts),
        }
    }

    /// All messages arrive, all jobs end, and nothing more is expected.
    pub fn the_end(&mut self, live: &Live) -> Vec<Event> {
        let mut events: Vec<Event> = std::mem::take(&mut self.network).into_values().collect();
        // Late submissions must not start anything new.
        events.retain(|event| !matches!(event, Event::Submitted { .. } | Event::SlotDue { .. }));
        events.extend(live.jobs().map(|(job, _)| Event::Cancelled { job: job.to_owned() }));
        events.push(Event::Expired { before: Slot(u64::MAX) });
        events
    }
}
