//! The world outside, as a driver of the core: users, operators, and servers that run jobs or die.
//!
//! Nothing here looks into the core. What the world knows of a job it knows from the starts that it was
//! given.

use super::described::Described;
use super::network::Network;
use esdp::live::{
    Driver, DriverError, Due, Event, Feature, JobTraits, Live, Refusal, SpeedReport, Start, WhichTasks,
};
use esdp::model::{ClusterDescription, Slot, Ticket};
use esdp::policy::PolicySpec;
use esdp::rng::{Purpose, Stream, stream};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};

const POLICIES: [&str; 10] = [
    "esdp",
    "esdp-index",
    "hauf",
    "esdp-drift",
    "cts",
    "esdp-pooled",
    "lwtf",
    "first-fit",
    "cucb",
    "epsilon-greedy",
];

pub struct World {
    rng: Stream,
    policy: PolicySpec,
    described: Described,
    network: Network,
    now: u64,
    slot: u64,
    jobs: u64,
    reports: u64,
    last_ticket: u64,
    /// By job.
    running: BTreeMap<String, Run>,
    /// Jobs that do not run any more, for all that the core has heard.
    gone: BTreeSet<String>,
    /// What was answered to the last starts, as the core should take it.
    answered: Vec<Event>,
}

/// A job that runs.
struct Run {
    start: Start,
    until: u64,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Cluster, 7, 7);
        Self {
            policy: POLICIES[rng.random_range(0..POLICIES.len())].parse().unwrap(),
            described: Described::new(&mut rng),
            rng,
            network: Network::default(),
            now: 0,
            slot: 0,
            jobs: 0,
            reports: 0,
            last_ticket: 0,
            running: BTreeMap::new(),
            gone: BTreeSet::new(),
            answered: Vec::new(),
        }
    }

    /// What was answered to the starts of the last turn.
    pub fn answered(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.answered)
    }

    pub fn described(&self) -> &ClusterDescription {
        &self.described.cluster
    }

    pub fn policy(&self) -> PolicySpec {
        self.policy.clone()
    }

    /// The slot of the next turn, which now and then is none that can be decided.
    pub fn next_slot(&mut self) -> Slot {
        match self.rng.random_range(0..40) {
            0 => Slot(self.slot / 2),
            1 | 2 => {
                self.slot += 20;
                Slot(self.slot)
            }
            _ => {
                self.slot += 1;
                Slot(self.slot)
            }
        }
    }

    /// When the core dies in the next turn, if so: after how many events, and whether the last of them is in
    /// the journal.
    pub fn crash(&mut self) -> Option<(usize, bool)> {
        (self.rng.random_range(0..40) == 0).then(|| (self.rng.random_range(0..12), self.rng.random_bool(0.5)))
    }

    /// Whether the core is restarted after this turn.
    pub fn restarts(&mut self) -> bool {
        self.rng.random_range(0..100) == 0
    }

    /// A core that comes back asks again for what nobody has answered; the cluster may have heard it before.
    pub fn resume(&mut self, live: &Live) {
        let unanswered = live.book().starts().filter(|(_, started)| !started.accepted && !started.over);
        let tickets: BTreeSet<Ticket> = unanswered.map(|(ticket, _)| ticket).collect();
        let starts: Vec<Start> = live.starts().filter(|start| tickets.contains(&start.ticket)).collect();
        if self.rng.random_bool(0.7) {
            self.start(&starts);
            for event in self.answered() {
                self.network.send(&mut self.rng, event, 0);
            }
        }
    }

    /// Users and operators.
    fn happening(&mut self) -> Event {
        match self.rng.random_range(0..62) {
            60..62 => self.amended(),
            0..32 => {
                self.jobs += 1;
                let weight = if self.rng.random_bool(0.1) { self.rng.random_range(0.5..9.0) } else { 1.0 };
                let (job, port) = (format!("j{}", self.jobs), self.described.some_port(&mut self.rng));
                let event = Event::Submitted { job, port, weight };
                // Some are told again.
                if self.rng.random_bool(0.1) {
                    self.network.send(&mut self.rng, event.clone(), 0);
                }
                event
            }
            32..36 => Event::Cancelled { job: self.some_job() },
            36..38 => Event::Expired { before: Slot(self.slot.saturating_sub(self.rng.random_range(0..40))) },
            38..40 => self.kill_or_drain(),
            40..42 => Event::Described { cluster: self.described.change(&mut self.rng) },
            42 => {
                let on = self.rng.random_bool(0.5).then(|| self.described.some_server(&mut self.rng));
                Event::Reset { port: None, server: on }
            }
            43 => Event::Forgotten { server: self.described.some_server(&mut self.rng) },
            44..50 => self.observed(),
            50..54 => self.nonsense(),
            _ => match self.gone.first().cloned() {
                // What may have been lost is said again until it must have been heard.
                Some(job) if self.rng.random_bool(0.5) => {
                    self.gone.remove(&job);
                    Event::Ended { job }
                }
                _ => Event::Ended { job: self.some_job() },
            },
        }
    }

    fn amended(&mut self) -> Event {
        let weight = self.rng.random_bool(0.8).then(|| self.rng.random_range(0.0..9.0));
        let features = vec![Feature::Number(f64::from(self.rng.random_range(0..3u32)))];
        let traits = self.rng.random_bool(0.5).then(|| JobTraits { features, ..JobTraits::default() });
        Event::Amended { job: self.some_job(), weight, traits }
    }

    fn kill_or_drain(&mut self) -> Event {
        let server = self.described.some_server(&mut self.rng);
        self.network.send(&mut self.rng, Event::Opened { server: server.clone() }, 10);
        if self.rng.random_bool(0.5) {
            return Event::Drained { server };
        }
        // What ran there is gone; that it is may become known before or after the server's loss, or by the
        // jobs alone.
        let dead = |run: &Run| run.start.placements.iter().any(|place| place.server == server);
        let jobs: Vec<String> =
            self.running.iter().filter(|(_, run)| dead(run)).map(|(job, _)| job.clone()).collect();
        for job in jobs {
            self.running.remove(&job);
            self.gone.insert(job);
        }
        self.network.send(&mut self.rng, Event::ServerLost { server: server.clone() }, 0);
        Event::ServerLost { server }
    }

    fn observed(&mut self) -> Event {
        self.reports += 1;
        let id = format!("o{}", self.rng.random_range(0..self.reports));
        let (port, server) =
            (self.described.some_port(&mut self.rng), self.described.some_server(&mut self.rng));
        Event::Observed {
            id,
            port,
            group: "g0".into(),
            server,
            report: self.some_report(),
            source: String::new(),
        }
    }

    fn nonsense(&mut self) -> Event {
        let ticket = Ticket(self.rng.random_range(0..self.last_ticket * 2 + 2));
        let job = format!("x{}", self.now);
        match self.rng.random_range(0..6) {
            0 => Event::Reported {
                ticket,
                tasks: WhichTasks::One(9),
                report: SpeedReport::Utility(0.5),
                source: String::new(),
            },
            1 => Event::Reported {
                ticket,
                tasks: WhichTasks::All,
                report: SpeedReport::Rate(f64::NAN),
                source: String::new(),
            },
            2 => Event::Submitted { job, port: "nowhere".into(), weight: 1.0 },
            3 => Event::Ended { job },
            4 => {
                let Due { free, closed, work } = self.due();
                self.slot += u64::from(self.rng.random_bool(0.5));
                Event::SlotDue { slot: Slot(self.slot), free, closed, work }
            }
            _ => Event::Drained { server: "nowhere".into() },
        }
    }

    fn some_job(&mut self) -> String {
        format!("j{}", self.rng.random_range(self.jobs.saturating_sub(20)..=self.jobs))
    }

    fn some_report(&mut self) -> SpeedReport {
        match self.rng.random_range(0..10) {
            0 => SpeedReport::Lost,
            1..4 => SpeedReport::Utility(self.rng.random()),
            4..9 => SpeedReport::Rate(self.rng.random_range(0.0..50.0)),
            _ => SpeedReport::Work {
                work: 1e6 * self.rng.random::<f64>(),
                seconds: self.rng.random_range(0.1..9.0),
            },
        }
    }

    /// Runs what was started, from now on; a run of the same job under another ticket is killed for it.
    fn run(&mut self, start: &Start) {
        let until = self.now + self.rng.random_range(1..14);
        let same = |run: &Run| run.start.ticket == start.ticket;
        if !self.running.get(&start.job).is_some_and(same) {
            self.gone.remove(&start.job);
            self.running.insert(start.job.clone(), Run { start: start.clone(), until });
        }
    }

    /// Runs what was started, some of it on another server; that is the answer, and it may be lost.
    fn run_elsewhere(&mut self, start: &Start) {
        self.run(start);
        let server = self.described.some_server(&mut self.rng);
        let tasks = match self.rng.random_range(0..3) {
            0 => WhichTasks::All,
            1 => WhichTasks::One(self.rng.random_range(0..3)),
            // A port that has left has no placements that can be named.
            _ => {
                start.placements.first().map_or(WhichTasks::All, |place| WhichTasks::On(place.server.clone()))
            }
        };
        self.network.send(&mut self.rng, Event::Moved { ticket: start.ticket, tasks, server }, 0);
    }

    /// A run is done: what is told of it, in any order.
    fn done(&mut self, Run { start, .. }: Run) {
        let ticket = start.ticket;
        let tasks: u32 = start.placements.iter().map(|place| place.count).sum();
        let which: Vec<WhichTasks> = match self.rng.random_range(0..10) {
            0 => Vec::new(), // nothing is ever heard of its speed
            1..4 => (0..tasks).map(WhichTasks::One).collect(),
            4..6 => start.placements.iter().map(|place| WhichTasks::On(place.server.clone())).collect(),
            _ => vec![WhichTasks::All],
        };
        for tasks in which {
            let report = self.some_report();
            self.network.send(
                &mut self.rng,
                Event::Reported { ticket, tasks, report, source: String::new() },
                0,
            );
        }
        let end = match self.rng.random_range(0..12) {
            0 => Event::Refused { ticket, why: "it broke".into() },
            _ => Event::Ended { job: start.job.clone() },
        };
        if let Event::Ended { job } = &end {
            self.gone.insert(job.clone());
        }
        self.network.send(&mut self.rng, end, 0);
    }

    /// All messages arrive, all jobs end, and nothing more is expected.
    pub fn the_end(&mut self, live: &Live) -> Vec<Event> {
        let mut events = self.network.drain();
        // Late submissions must not start anything new.
        events.retain(|event| !matches!(event, Event::Submitted { .. } | Event::SlotDue { .. }));
        events.extend(live.jobs().map(|(job, _)| Event::Cancelled { job: job.to_owned() }));
        events.push(Event::Expired { before: Slot(u64::MAX) });
        events
    }
}

impl Driver for World {
    fn poll(&mut self) -> Result<Vec<Event>, DriverError> {
        if self.rng.random_range(0..50) == 0 {
            return Err(DriverError { cause: "the cluster does not answer".into() });
        }
        self.now += 1;
        let done: Vec<String> = self
            .running
            .iter()
            .filter(|(_, run)| run.until <= self.now)
            .map(|(job, _)| job.clone())
            .collect();
        for job in done {
            let run = self.running.remove(&job).unwrap();
            self.done(run);
        }
        let mut events = self.network.tick();
        for _ in 0..self.rng.random_range(0..4) {
            let at = self.rng.random_range(0..=events.len());
            let event = self.happening();
            events.insert(at, event);
        }
        Ok(events)
    }

    fn due(&mut self) -> Due {
        let mut due = Due::default();
        if self.rng.random_bool(0.1) {
            let amounts = [("cpu".to_owned(), self.rng.random_range(0..9)), ("gpu".to_owned(), 1)];
            due.free.insert(self.described.some_server(&mut self.rng), amounts.into());
        }
        if self.rng.random_bool(0.05) {
            due.closed.push(self.described.some_server(&mut self.rng));
        }
        due.work = self.rng.random_bool(0.1).then_some(1000);
        due
    }

    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)> {
        let mut answers = Vec::new();
        for start in starts {
            let ticket = start.ticket;
            self.last_ticket = self.last_ticket.max(ticket.0);
            let refusal = || Refusal { why: "no".into() };
            match self.rng.random_range(0..20) {
                0 => {} // it was never heard of
                1 => answers.push((ticket, Err(refusal()))),
                2 => self.network.send(&mut self.rng, Event::Refused { ticket, why: "no".into() }, 0),
                3 => self.run(start), // its acceptance is lost
                4 | 5 => {
                    self.run(start);
                    self.network.send(&mut self.rng, Event::Accepted { ticket }, 0);
                }
                6 => {
                    self.run(start);
                    answers.extend([(ticket, Ok(())), (ticket, Ok(()))]);
                }
                7 | 8 => self.run_elsewhere(start),
                _ => {
                    self.run(start);
                    answers.push((ticket, Ok(())));
                }
            }
        }
        // Answers in another order than the starts.
        if self.rng.random_bool(0.3) {
            answers.reverse();
        }
        let event = |(ticket, answer): &(Ticket, Result<(), Refusal>)| match answer {
            Ok(()) => Event::Accepted { ticket: *ticket },
            Err(refusal) => Event::Refused { ticket: *ticket, why: refusal.why.clone() },
        };
        self.answered = answers.iter().map(event).collect();
        answers
    }
}
