//! A book so simple that it can be trusted, beside the real one.

use esdp::live::{Effect, Event, Live, Start, WhichTasks};
use esdp::model::{Amounts, ClusterDescription, JobShape, ServerId, Ticket};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub struct Model {
    described: ClusterDescription,
    waiting: BTreeSet<String>,
    started: BTreeMap<String, Start>,
    /// What each task of these has asked for when it was started, in order.
    asked: BTreeMap<String, Vec<Amounts>>,
    over: HashSet<String>,
    /// The servers of the tasks of every ticket that was ever handed out, in order.
    tasks: HashMap<Ticket, Vec<String>>,
    /// The tasks whose outcome was taken, or will not be.
    closed: HashSet<(Ticket, usize)>,
    learned: u64,
    events: u64,
}

impl Model {
    pub fn new(described: ClusterDescription) -> Self {
        Self {
            described,
            waiting: BTreeSet::new(),
            started: BTreeMap::new(),
            asked: BTreeMap::new(),
            over: HashSet::new(),
            tasks: HashMap::new(),
            closed: HashSet::new(),
            learned: 0,
            events: 0,
        }
    }

    pub fn check(&mut self, event: &Event, effects: &[Effect], live: &Live) {
        self.events += 1;
        let fits = !effects.iter().any(|e| matches!(e, Effect::Rejected { .. } | Effect::Duplicate { .. }));
        if fits && let Event::Described { cluster } = event {
            self.described = cluster.clone();
        }
        for effect in effects {
            match effect {
                Effect::Started(start) => self.start(start),
                Effect::Requeued { job, ticket } => {
                    let start = self
                        .started
                        .remove(job)
                        .unwrap_or_else(|| panic!("{job} waits again, but did not run"));
                    assert_eq!(start.ticket, *ticket);
                    self.close(*ticket);
                    self.waiting.insert(job.clone());
                }
                Effect::Lost { job, .. } => self.end(job),
                Effect::Learned { uses } => self.learn(event, *uses),
                Effect::Confirmed { uses } => self.learned += *uses as u64,
                Effect::Duplicate { .. }
                | Effect::Rejected { .. }
                | Effect::Merged { .. }
                | Effect::SetAside { .. }
                | Effect::Decided { .. } => {}
            }
        }
        match event {
            Event::Submitted { job, .. } if fits => {
                let known = self.over.contains(job) || self.started.contains_key(job);
                assert!(self.waiting.insert(job.clone()) && !known, "{job} was taken twice");
            }
            Event::Submitted { job, port, weight } if *weight > 0.0 => {
                let known =
                    [self.over.contains(job), self.started.contains_key(job), self.waiting.contains(job)];
                let port = self.described.ports.iter().any(|known| known.name == *port);
                assert!(known.contains(&true) || !port, "{job} was not taken: {effects:?}");
            }
            Event::Cancelled { job } if fits => self.end(job),
            Event::Ended { job } if fits => {
                assert!(self.started.contains_key(job), "{job} has ended, but did not run");
                // Its outcomes may still come.
                self.started.remove(job);
                self.over.insert(job.clone());
            }
            Event::Ended { job } => {
                assert!(!self.started.contains_key(job), "{job} was not ended: {effects:?}")
            }
            Event::Expired { before } => self.expire(before.0, live),
            Event::Moved { ticket, tasks, server } if fits => {
                for (task, on) in
                    self.tasks.get_mut(ticket).expect("it was handed out").iter_mut().enumerate()
                {
                    if is_named(tasks, task, on) {
                        on.clone_from(server);
                    }
                }
            }
            _ => {}
        }
        assert_eq!(live.counts().learned, self.learned, "outcomes were learned");
        if self.events.is_multiple_of(16) {
            self.compare(live);
        }
    }

    fn start(&mut self, start: &Start) {
        let Start { ticket, job, port, placements, .. } = start;
        assert!(self.waiting.remove(job), "{job} starts, but does not wait");
        assert!(!self.over.contains(job), "{job} starts after its end");
        let mut servers = Vec::new();
        placements
            .iter()
            .for_each(|p| servers.extend(std::iter::repeat_n(p.server.clone(), p.count as usize)));
        assert!(self.tasks.insert(*ticket, servers).is_none(), "{ticket} was handed out twice");
        let spec = self.described.ports.iter().find(|known| known.name == *port);
        let spec = spec.unwrap_or_else(|| panic!("{job} starts at {port}, which is not there"));
        if let JobShape::Gang { minimum, groups } = &spec.jobs {
            let all: u32 = placements.iter().map(|place| place.count).sum();
            assert!(all >= *minimum, "{job} starts with {all} tasks, at least {minimum} are needed");
            for group in groups {
                let own: u32 = placements.iter().filter(|p| p.group == group.name).map(|p| p.count).sum();
                let range = group.minimum..=group.count;
                assert!(
                    range.contains(&own),
                    "{job} starts with {own} tasks of {}, expected {range:?}",
                    group.name
                );
            }
        }
        self.asked.insert(job.clone(), asked(&spec.jobs, start));
        assert!(self.started.insert(job.clone(), start.clone()).is_none(), "{job} was started twice");
        for (server, asked) in self.tasks[ticket].iter().zip(&self.asked[job]) {
            self.check_server(server, asked);
        }
    }

    /// What is held on a server.
    fn held(&self, server: &str) -> Amounts {
        let mut held = Amounts::new();
        for start in self.started.values() {
            for (on, asked) in self.tasks[&start.ticket].iter().zip(&self.asked[&start.job]) {
                for (device, amount) in asked.iter().filter(|_| on == server) {
                    *held.entry(device.clone()).or_default() += amount;
                }
            }
        }
        held
    }

    /// Adds up what is held on a server, of the devices that a task has just been given there. Of others
    /// more may be held than there is: the cluster may have moved tasks there by itself.
    fn check_server(&self, server: &str, asked: &Amounts) {
        let spec = self.described.servers.iter().find(|known| known.name == server);
        let capacity = spec.unwrap_or_else(|| panic!("{server} is not there")).capacity.as_ref().unwrap();
        for (device, held) in self.held(server) {
            let has = capacity.get(&device).copied().unwrap_or(0);
            let given = asked.get(&device).copied().unwrap_or(0);
            assert!(held <= has || given == 0, "{server} has {has} of {device}, but {held} are held");
        }
    }

    fn end(&mut self, job: &str) {
        self.waiting.remove(job);
        if let Some(start) = self.started.remove(job) {
            self.close(start.ticket);
        }
        self.over.insert(job.to_owned());
    }

    fn close(&mut self, ticket: Ticket) {
        self.closed.extend((0..self.tasks[&ticket].len()).map(|task| (ticket, task)));
    }

    /// What was learned must be what was open.
    fn learn(&mut self, event: &Event, uses: usize) {
        match event {
            Event::Reported { ticket, tasks, .. } => {
                let servers = &self.tasks[ticket];
                let open: Vec<usize> = (0..servers.len())
                    .filter(|&task| is_named(tasks, task, &servers[task]))
                    .filter(|&task| !self.closed.contains(&(*ticket, task)))
                    .collect();
                assert!(!open.is_empty(), "{ticket} counts twice");
                assert!(
                    uses <= open.len(),
                    "{uses} outcomes of {ticket} were learned, {} were open",
                    open.len()
                );
                self.closed.extend(open.into_iter().map(|task| (*ticket, task)));
            }
            Event::Observed { .. } => assert!(uses <= 1),
            other => panic!("{other:?} has taught something"),
        }
        self.learned += uses as u64;
    }

    /// Tickets before a slot that the core has given up on.
    fn expire(&mut self, before: u64, live: &Live) {
        let old = self.started.values().filter(|start| start.slot.0 < before).map(|start| start.ticket);
        let old: Vec<Ticket> = old.collect();
        old.into_iter().for_each(|ticket| self.close(ticket));
        // Jobs that are over, with outcomes that were still expected, are closed as well.
        let open: HashSet<Ticket> = live.book().starts().map(|(ticket, _)| ticket).collect();
        let gone: Vec<Ticket> = self.tasks.keys().copied().filter(|ticket| !open.contains(ticket)).collect();
        gone.into_iter().for_each(|ticket| self.close(ticket));
    }

    fn compare(&self, live: &Live) {
        let jobs: BTreeSet<&str> = live.jobs().map(|(name, _)| name).collect();
        let expected: BTreeSet<&str> =
            self.waiting.iter().chain(self.started.keys()).map(String::as_str).collect();
        assert_eq!(jobs, expected, "jobs are lost, or will not end");
        for (job, start) in &self.started {
            assert_eq!(live.ticket_of(job), Some(start.ticket), "{job}");
        }
        for (index, server) in live.described().servers.iter().enumerate() {
            let (held, has) = (self.held(&server.name), server.capacity.clone().unwrap_or_default());
            let free = live.book().free().server(ServerId::at(index)).expect("servers have capacities");
            for (device, free) in live.described().devices.iter().zip(free) {
                let [has, held] = [&has, &held].map(|amounts| amounts.get(device).copied().unwrap_or(0));
                assert_eq!(
                    *free,
                    has.saturating_sub(held),
                    "{device} of {}: {held} of {has} are held",
                    server.name
                );
            }
        }
        let waiting: BTreeSet<String> = live.held().map(|held| held.job).collect();
        assert_eq!(waiting, self.waiting, "jobs are lost, or wait for ever");
    }

    pub fn check_the_end(&self, live: &Live) {
        self.compare(live);
        assert!(self.waiting.is_empty() && self.started.is_empty());
        assert_eq!(live.book().free(), live.scheduler().cluster().capacity(), "capacity has not come back");
        let pending: u32 = live.beliefs().map(|belief| belief.pending).sum();
        assert_eq!(pending, 0, "uses are pending for ever");
        assert_eq!(live.book().starts().count(), 0, "tickets are open for ever");
    }
}

/// Whether a task is meant.
fn is_named(tasks: &WhichTasks, task: usize, on: &str) -> bool {
    match tasks {
        WhichTasks::All => true,
        WhichTasks::One(one) => *one as usize == task,
        WhichTasks::On(server) => on == *server,
    }
}

/// What each task of a start asks for.
fn asked(jobs: &JobShape, start: &Start) -> Vec<Amounts> {
    let JobShape::Gang { groups, .. } = jobs else { panic!("the world has gangs alone") };
    let mut asked = Vec::new();
    for place in &start.placements {
        let group = groups.iter().find(|group| group.name == place.group);
        let request = &group.unwrap_or_else(|| panic!("there is no group {}", place.group)).request;
        asked.extend(std::iter::repeat_n(request.clone(), place.count as usize));
    }
    asked
}
