//! What every policy must keep, whatever it does: one suite, for the policies of this library and for yours.
//!
//! A life of a scheduler is a few hundred slots on a small cluster, with a fixed script of arrivals (none,
//! one or several jobs per port), free capacities (all, part or nothing of the cluster), closed servers,
//! weights and news (in time, late, censored or never). Sealing checks feasibility in every slot; the suite
//! compares lives. It covers limits of the cluster, of servers and of both, gangs and the minima of their
//! groups, and clusters that change.
//!
//! ```
//! use esdp::conformance::Suite;
//! use esdp::policy::FirstFit;
//!
//! Suite::new(&|_cluster| Box::new(FirstFit::default())).run();
//! ```
//!
//! A policy that breaks a rule panics with the rule, for this is meant to be called from a test.

use crate::model::{
    Arrivals, Capacity, ChannelId, ChannelSpec, Cluster, ClusterDescription, ClusterSpec, GangSpec, JobShape,
    Observation, Outcome, PortSpec, ServerId, ServerSpec, Slot, SupplyCost,
};
use crate::policy::Policy;
use crate::rng::{Purpose, Stream, stream};
use crate::scheduler::{Checkpoint, Scheduler, SlotInput};
use rand::RngExt;
use std::sync::Arc;

/// The ports and servers of the suite's clusters.
const PORTS: usize = 4;
const SERVERS: u32 = 6;

/// Builds the policy that is checked, always with the same seed.
pub type Build<'a> = &'a dyn Fn(&Cluster) -> Box<dyn Policy>;

/// The suite, for one policy.
pub struct Suite<'a> {
    build: Build<'a>,
    gangs: bool,
}

impl<'a> Suite<'a> {
    /// The whole suite.
    pub fn new(build: Build<'a>) -> Self {
        Self { build, gangs: true }
    }

    /// Leaves gangs out, for a policy that says it does not support them.
    #[must_use]
    pub fn without_gangs(mut self) -> Self {
        self.gangs = false;
        self
    }

    /// Runs everything.
    ///
    /// # Panics
    /// When the policy breaks a rule.
    pub fn run(&self) {
        for cluster in self.clusters() {
            self.decisions_are_feasible_and_deterministic(&cluster);
            self.nothing_comes_of_nothing(&cluster);
            self.a_checkpoint_continues_with_identical_decisions(&cluster);
            self.a_decision_that_is_dropped_leaves_no_trace(&cluster);
        }
        self.a_changing_cluster_is_followed();
    }

    fn clusters(&self) -> Vec<Arc<Cluster>> {
        let [one, two, three] = capacities();
        let mut all = vec![cluster(one), cluster(two), cluster(three)];
        if self.gangs {
            let [one, two, three] = capacities();
            all.extend([one, two, three].map(gangs));
        }
        all
    }

    fn scheduler(&self, cluster: &Arc<Cluster>) -> Scheduler {
        Scheduler::new(Arc::clone(cluster), (self.build)(cluster))
    }

    fn decisions_are_feasible_and_deterministic(&self, cluster: &Arc<Cluster>) {
        let mut lives = [0, 1].map(|_| Life::new(self.scheduler(cluster)).weighed());
        let mut used = 0;
        for slot in 1..=200 {
            let [first, second] = lives.each_mut().map(Life::step);
            assert_eq!(first, second, "two lives with the same fate differ in slot {slot}");
            used += first.len();
        }
        assert!(used > 100, "{used} channels were used in 200 slots");
    }

    fn nothing_comes_of_nothing(&self, cluster: &Arc<Cluster>) {
        let mut scheduler = self.scheduler(cluster);
        let nobody = Arrivals::new(vec![0; PORTS]);
        let several = Arrivals::new(vec![2; PORTS]);
        let none = shrunk(cluster.capacity(), 0.0);
        let all: Vec<ServerId> = (0..SERVERS).map(ServerId).collect();
        for slot in (1..=12).step_by(3) {
            let inputs = [
                SlotInput::new(&nobody),
                SlotInput { free: Some(&none), ..SlotInput::new(&several) },
                SlotInput { closed: &all, ..SlotInput::new(&several) },
            ];
            for (index, input) in inputs.iter().enumerate() {
                let decision = scheduler.decide_at(Slot(slot + index as u64), input).expect("a decision");
                let why = ["nobody has a job", "nothing is free", "all servers are closed"][index];
                assert!(decision.channels().is_empty(), "something was chosen, but {why}");
            }
        }
        let decision = scheduler.decide(&Arrivals::everywhere(PORTS), None).expect("a decision");
        assert!(!decision.channels().is_empty(), "nothing was chosen of a free cluster");
    }

    fn a_decision_that_is_dropped_leaves_no_trace(&self, cluster: &Arc<Cluster>) {
        let mut life = Life::new(self.scheduler(cluster));
        let none = shrunk(cluster.capacity(), 0.0);
        for _ in 0..40 {
            life.step();
            let mut copy = self.scheduler(cluster);
            copy.restore(life.scheduler.checkpoint()).expect("a state of its own");
            copy.begin(copy.slot().next()).expect("a later slot");
            let before = copy.checkpoint();
            for (jobs, free) in [(0, None), (1, None), (3, Some(&none)), (2, None)] {
                let arrivals = Arrivals::new(vec![jobs; PORTS]);
                copy.choose(&SlotInput { free, ..SlotInput::new(&arrivals) }).expect("a decision");
                assert_eq!(copy.checkpoint(), before, "to decide has changed the state");
            }
        }
    }

    fn a_checkpoint_continues_with_identical_decisions(&self, cluster: &Arc<Cluster>) {
        let mut original = Life::new(self.scheduler(cluster));
        let mut copies: Vec<Life> = Vec::new();
        for slot in 0..120 {
            if [0, 1, 7, 50].contains(&slot) {
                let text = original.scheduler.checkpoint().to_text().expect("a state that can be written");
                let mut copy = self.scheduler(cluster);
                copy.restore(Checkpoint::from_text(&text).expect("a state that can be read"))
                    .expect("a state of its own");
                assert_eq!(
                    copy.checkpoint(),
                    original.scheduler.checkpoint(),
                    "a restored state is another one"
                );
                copies.push(Life { scheduler: copy, waiting: original.waiting.clone(), weighed: false });
            }
            let expected = original.step();
            for copy in &mut copies {
                assert_eq!(copy.step(), expected, "after a restore slot {} is decided differently", slot + 1);
            }
        }
        let end = original.scheduler.checkpoint();
        assert!(
            copies.iter().all(|copy| copy.scheduler.checkpoint() == end),
            "after a restore another state is reached"
        );
    }

    /// Servers and ports come, go, change places and come back; two lives agree, and a state survives each
    /// change.
    fn a_changing_cluster_is_followed(&self) {
        let shape = |port: usize| match self.gangs && port.is_multiple_of(2) {
            true => JobShape::tasks(3, 2, &[("cpu", 1), ("gpu", 1)]),
            false => JobShape::Parts { request: [("cpu".to_owned(), 1)].into() },
        };
        let server = |index: usize| ServerSpec {
            labels: vec![format!("kind-{}", index % 2)],
            ..ServerSpec::new(&format!("server-{index}"), &[("cpu", 4), ("gpu", 2)])
        };
        let mut described = ClusterDescription {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: (0..5).map(server).collect(),
            ports: (0..3).map(|port| PortSpec::new(&format!("port-{port}"), shape(port))).collect(),
            ..ClusterDescription::default()
        };
        let built = |described: &ClusterDescription| Arc::new(described.cluster().expect("a sound cluster"));
        let mut lives = [0, 1].map(|_| self.scheduler(&built(&described)));
        let mut slot = 0;
        for version in 0..8 {
            for _ in 0..20 {
                slot += 1;
                let ports = described.ports.len();
                let mut rng = stream(12, Purpose::Arrivals, slot, 0);
                let arrivals = Arrivals::new((0..ports).map(|_| rng.random_range(0..3)).collect());
                let [first, second] = lives.each_mut().map(|scheduler| {
                    let chosen = scheduler.decide(&arrivals, None).expect("a decision").channels().to_vec();
                    for (copy, &channel) in chosen.iter().enumerate() {
                        let mut rng = stream(13, Purpose::Speeds, slot, copy as u64);
                        let outcome = Outcome::Ran(rng.random());
                        let seen = Observation { slot: Slot(slot), channel, outcome };
                        scheduler.observe(&seen).expect("a sound outcome");
                    }
                    chosen
                });
                assert_eq!(first, second, "two lives differ in slot {slot}, after {version} changes");
            }
            match version {
                0 => described.servers.push(server(7)),
                1 => drop(described.servers.remove(0)),
                2 => described.servers.reverse(),
                3 => described.ports.insert(0, PortSpec::new("port-9", shape(1))),
                4 => drop(described.ports.remove(2)),
                5 => described.servers[1].labels = vec!["kind-9".into()],
                _ => described.servers.insert(0, server(0)),
            }
            described.servers.dedup_by(|a, b| a.name == b.name);
            let next = built(&described);
            lives.iter_mut().for_each(|scheduler| scheduler.change(Arc::clone(&next)));
            let saved = lives[0].checkpoint();
            lives[1] = self.scheduler(&next);
            lives[1].restore(saved).expect("a state of its own");
        }
    }
}

/// Four ports, six servers, two devices, 14 channels.
pub fn cluster(capacity: Capacity) -> Arc<Cluster> {
    Arc::new(Cluster::new(spec(capacity)).expect("a sound cluster"))
}

fn spec(capacity: Capacity) -> ClusterSpec {
    let channels = (0..PORTS as u32 * SERVERS).filter(|pair| pair % 5 < 3).map(|pair| {
        ChannelSpec::new(pair / 6, pair % 6, vec![u64::from(1 + pair % 2), u64::from(1 + pair % 3)])
    });
    let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
    ClusterSpec {
        devices: names("device", 2),
        servers: names("server", SERVERS as usize),
        ports: names("port", PORTS),
        channels: channels.collect(),
        capacity,
        costs: vec![SupplyCost::Linear { fixed: 0.01, rate: 0.02 }; 2],
        ..ClusterSpec::default()
    }
}

/// The same with jobs of two groups of tasks at two of the ports.
fn gangs(capacity: Capacity) -> Arc<Cluster> {
    let mut spec = spec(capacity);
    for (port, minimum, tasks) in [(0, 2, [2, 1]), (2, 1, [1, 2])] {
        let own: Vec<ChannelSpec> =
            spec.channels.iter().filter(|channel| channel.port == port).cloned().collect();
        spec.channels.extend(own.into_iter().map(|channel| ChannelSpec { task: 1, ..channel }));
        let mut gang = GangSpec::new(port, minimum, &tasks);
        if port == 0 {
            // The second group is one that the job cannot do without.
            gang.tasks[1].minimum = 1;
        }
        spec.gangs.push(gang);
    }
    Arc::new(Cluster::new(spec).expect("a sound cluster"))
}

/// The levels at which a capacity can limit.
pub fn capacities() -> [Capacity; 3] {
    let servers = || (0..u64::from(SERVERS)).map(|server| vec![1 + server % 3, 4]).collect::<Vec<_>>();
    let both = Capacity::cluster_wide(vec![7, 9]).with_servers(servers());
    [
        Capacity::cluster_wide(vec![7, 9]),
        Capacity::per_server(servers()),
        both.expect("as many devices for servers as for the cluster"),
    ]
}

/// The mean net utility of a channel of the suite's clusters.
pub fn mean(channel: ChannelId) -> f64 {
    0.1 + 0.8 * f64::from(channel.0 * 7 % 14) / 13.0
}

fn shrunk(all: &Capacity, share: f64) -> Capacity {
    let mut free = all.clone();
    let shrink = |amounts: &mut [u64]| amounts.iter_mut().for_each(|a| *a = (*a as f64 * share) as u64);
    if let Some(amounts) = free.cluster_mut() {
        shrink(amounts);
    }
    for server in (0..SERVERS).map(ServerId) {
        if let Some(amounts) = free.server_mut(server) {
            shrink(amounts);
        }
    }
    free
}

/// The script of a slot; the same for every policy and every life.
struct Script;

impl Script {
    fn rng(slot: u64, subject: u64) -> Stream {
        stream(11, Purpose::Arrivals, slot, subject)
    }

    fn arrivals(slot: u64) -> Arrivals {
        let mut rng = Self::rng(slot, 0);
        let busy = !slot.is_multiple_of(17);
        Arrivals::new(
            (0..PORTS).map(|_| if busy { [0, 1, 1, 1, 2, 3][rng.random_range(0..6)] } else { 0 }).collect(),
        )
    }

    /// All of the cluster, or what a random share leaves of each entry, or nothing.
    fn free(slot: u64, all: &Capacity) -> Option<Capacity> {
        let mut rng = Self::rng(slot, 1);
        let share: f64 = match slot % 5 {
            0 => rng.random(),
            1 if slot.is_multiple_of(3) => 0.0,
            _ => return None,
        };
        Some(shrunk(all, share))
    }

    /// When and how a use is heard of: its outcome and the slot in which it comes, or never.
    fn news(slot: Slot, channel: ChannelId, copy: u64) -> Option<(u64, Observation)> {
        let mut rng = Self::rng(slot.0, 2 + 1000 * copy + u64::from(channel.0));
        let (delay, outcome) = match rng.random_range(0..10) {
            0 => return None,
            1 => (0, Outcome::Censored),
            2 | 3 => (rng.random_range(1..9), Outcome::Ran(rng.random())),
            _ => (0, Outcome::Ran((mean(channel) + 0.3 * (rng.random::<f64>() - 0.5)).clamp(0.0, 1.0))),
        };
        Some((slot.0 + delay, Observation { slot, channel, outcome }))
    }
}

/// A scheduler on its way through the script.
pub struct Life {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Outcomes under way, each with the slot in which it comes.
    pub waiting: Vec<(u64, Observation)>,
    weighed: bool,
}

impl Life {
    /// A life before its first slot.
    pub fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, waiting: Vec::new(), weighed: false }
    }

    /// A life of another scheduler that hears the same news from now on.
    #[must_use]
    pub fn beside(&self, scheduler: Scheduler) -> Self {
        Self { scheduler, waiting: self.waiting.clone(), weighed: self.weighed }
    }

    /// The same with ports that count differently from slot to slot, and servers that are closed now and
    /// then.
    fn weighed(mut self) -> Self {
        self.weighed = true;
        self
    }

    /// Runs one slot and returns what was chosen. An infeasible choice would not be sealed.
    ///
    /// # Panics
    /// When there is no decision.
    pub fn step(&mut self) -> Vec<ChannelId> {
        let slot = self.scheduler.slot().next();
        let (arrivals, free) =
            (Script::arrivals(slot.0), Script::free(slot.0, self.scheduler.cluster().capacity()));
        let (mut closed, mut weights) = (Vec::new(), Vec::new());
        if self.weighed {
            let mut rng = Script::rng(slot.0, 1 << 40);
            closed.extend((0..SERVERS).map(ServerId).filter(|_| rng.random_bool(0.1)));
            weights.extend((0..PORTS).map(|_| rng.random_range(0.2..5.0)));
        }
        let input = SlotInput {
            free: free.as_ref(),
            closed: &closed,
            weights: &weights,
            ..SlotInput::new(&arrivals)
        };
        let decision = self.scheduler.decide_at(slot, &input);
        let chosen = decision.unwrap_or_else(|error| panic!("no decision: {error}")).channels().to_vec();
        self.scheduler.commit(slot, &chosen);
        for same in chosen.chunk_by(|a, b| a == b) {
            let news = (0..same.len() as u64).filter_map(|copy| Script::news(slot, same[0], copy));
            self.waiting.extend(news);
        }
        let due = self.waiting.extract_if(.., |(when, _)| *when <= slot.0);
        for (_, seen) in due {
            self.scheduler.observe(&seen).expect("a sound outcome");
        }
        chosen
    }
}
