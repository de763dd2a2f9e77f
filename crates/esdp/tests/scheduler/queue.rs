//! The rule for queues, on the live core: units, starvation, reservations, and decisions as facts.

mod machine;

use super::live::cluster::policy;
use esdp::live::{Event, Live, Mode};
use esdp::model::{Amounts, ChannelRule, ClusterDescription, JobShape, PortId, Slot, TaskGroupSpec};
use esdp::rng::{Purpose, stream};
use esdp::scenario::Scenario;
use esdp::scheduler::{IdleTime, Objective};
use esdp::sim::{Recorder, Simulation, SlotRecord, Summary};
use machine::{Machine, Port, described};
use rand::RngExt;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Three job types on two kinds of servers, at about the load that they carry.
fn mixed(units: [f64; 3]) -> Machine {
    let ports = [("a", 1, 1.0), ("b", 1, 0.7), ("c", 2, 0.9)];
    let ports =
        ports.iter().zip(units).map(|(&(name, tasks, speed), unit)| Port { name, tasks, speed, unit });
    let servers = [("n0", 3, 1.0), ("n1", 2, 0.55), ("n2", 2, 0.5)];
    Machine::new("esdp", ports.collect(), &servers, 5)
}

fn starts_of(units: [f64; 3], slots: u64) -> Vec<String> {
    let mut machine = mixed(units);
    let mut rng = stream(3, Purpose::Arrivals, 0, 0);
    for _ in 0..slots {
        for (port, rate) in [("a", 0.35), ("b", 0.3), ("c", 0.12)] {
            if rng.random_bool(rate) {
                machine.submit(port, 6.0);
            }
        }
        machine.slot(&[]);
    }
    assert_eq!(machine.live.counts().rejected, 0);
    machine.log
}

/// What unit a port reports its speeds in changes nothing, start by start.
#[test]
fn the_unit_of_speed_changes_nothing() {
    let plain = starts_of([1.0; 3], 500);
    assert!(plain.len() > 250, "{}", plain.len());
    for unit in [2.0, 1.0 / 1_048_576.0, 1e-6, 1.03, 1000.0] {
        for port in 0..3 {
            let mut units = [1.0; 3];
            units[port] = unit;
            let other = starts_of(units, 500);
            let first = plain.iter().zip(&other).position(|(a, b)| a != b);
            assert_eq!((first, plain.len()), (None, other.len()), "unit {unit} of port {port}");
        }
    }
}

/// Two alike servers, three types of which a job always waits: each gets its third, whatever its numbers are.
#[test]
fn ports_that_are_alike_start_equally_often() {
    for units in [[1000.0, 1030.0, 1500.0], [990.0, 1010.0, 995.0], [990.0, 940.0, 995.0]] {
        for reference in [None, Some(1000.0)] {
            let names = ["a", "b", "c"];
            let port = |(name, unit)| Port { name, tasks: 1, speed: 1.0, unit };
            let ports: Vec<Port> = names.into_iter().zip(units).map(port).collect();
            let servers = [("n0", 1, 1.0), ("n1", 1, 1.0)];
            let mut machine =
                Machine::with(described(&ports, &servers, reference), "esdp", ports, &servers, 1);
            machine.noise = 0.0;
            for _ in 0..200 {
                for name in names {
                    if machine.waits(name) == 0 {
                        machine.submit(name, 1.0);
                    }
                }
                machine.slot(&[]);
            }
            let counts = names.map(|name| machine.started(name) as f64);
            let mean = counts.iter().sum::<f64>() / 3.0;
            assert!(mean > 120.0, "{counts:?}");
            assert!(counts.iter().all(|count| (count - mean).abs() <= 0.05 * mean), "{units:?}: {counts:?}");
        }
    }
}

/// A gang that needs the whole cluster starts although small jobs never stop coming: at the latest when it
/// has waited its patience and what ran then has ended.
#[test]
fn a_gang_as_large_as_the_cluster_starts() {
    for name in ["esdp", "first-fit", "cts"] {
        let port = |name, tasks| Port { name, tasks, speed: 1.0, unit: 1.0 };
        let mut machine =
            Machine::new(name, vec![port("small", 1), port("gang", 8)], &[("n0", 4, 1.0), ("n1", 4, 1.0)], 1);
        let mut rng = stream(1, Purpose::Arrivals, 0, 1);
        let mut reserved = None;
        for at in 1..600_u64 {
            for _ in 0..[1, 2, 2, 3][rng.random_range(0..4)] {
                machine.submit("small", f64::from(rng.random_range(2..6)));
            }
            if at == 20 {
                machine.submit("gang", 5.0);
            }
            machine.slot(&[]);
            let standing = machine.live.waiting("gang#0");
            reserved = reserved.or(standing.and_then(|standing| standing.reserved));
            if machine.started("gang") > 0 {
                break;
            }
        }
        let reserved = reserved.expect("the gang was reserved for").0;
        assert!(machine.started("gang") == 1, "{name}");
        let now = machine.now;
        assert!(now <= reserved + 6, "{name}: reserved in {reserved}, started in {now}");
        assert!(machine.live.idle().reserved > 0.0 && machine.live.reserved().is_none());
    }
}

/// Random clusters and loads, above what they carry too; gangs that are elastic, or of two groups, or bound
/// to some servers; licences of the cluster as a whole; servers that close and come back; restarts from a
/// snapshot and from the journal. The job with the reservation starts at the latest when what ran at that
/// moment has ended.
#[test]
fn the_reserved_job_starts_when_what_ran_has_ended() {
    let (mut kept, mut licensed) = (0, 0);
    for seed in 0..240 {
        let (looked, has_licences) = reserved_jobs_start(seed);
        kept += looked;
        licensed += if has_licences { looked } else { 0 };
    }
    assert!(kept > 80 && licensed > 20, "only {kept} reservations were looked at, {licensed} with licences");
}

/// A cluster, its ports and servers, and whether it has licences.
fn random_cluster(seed: u64) -> (ClusterDescription, Vec<Port>, Vec<machine::Server>, bool) {
    let mut rng = stream(seed, Purpose::Cluster, 9, 9);
    let mut draw = |from: u32, to: u32| rng.random_range(from..=to);
    let names = ["p0", "p1", "p2", "p3"];
    let servers: Vec<machine::Server> = ["n0", "n1", "n2", "n3"][..draw(1, 4) as usize]
        .iter()
        .map(|&name| (name, draw(1, 4), f64::from(draw(3, 10)) / 10.0))
        .collect();
    let all: u32 = servers.iter().map(|server| server.1).sum();
    let mut ports: Vec<Port> = names[..draw(2, 4) as usize]
        .iter()
        .map(|&name| Port { name, tasks: draw(1, all), speed: f64::from(draw(5, 10)) / 10.0, unit: 1.0 })
        .collect();
    // Some jobs of one task, and some that need the whole cluster.
    (ports[0].tasks, ports[1].tasks) = (1, all);
    let mut described = described(&ports, &servers, None);
    let licences = (draw(0, 2) == 0).then(|| draw(1, all));
    if let Some(licences) = licences {
        described.devices.push("licence".into());
        for capacity in described.servers.iter_mut().filter_map(|server| server.capacity.as_mut()) {
            capacity.insert("licence".into(), 1000);
        }
        described.capacity =
            Some([("gpu".into(), u64::from(all)), ("licence".into(), u64::from(licences))].into());
    }
    for (port, spec) in ports.iter_mut().zip(&mut described.ports) {
        let first = servers[..draw(1, servers.len() as u32) as usize].iter();
        let (bound, room) = (port.name > "p1" && draw(0, 1) == 0, first.clone().map(|server| server.1).sum());
        if bound {
            port.tasks = port.tasks.min(room);
            spec.channels = ChannelRule::Servers(first.map(|server| server.0.to_owned()).collect());
        }
        let mut request = vec![("gpu", 1)];
        if let Some(licences) = licences.filter(|_| port.name != "p1" && draw(0, 1) == 0) {
            port.tasks = port.tasks.min(licences);
            request.push(("licence", 1));
        }
        let least = if draw(0, 2) == 0 { port.tasks.div_ceil(2) } else { port.tasks };
        spec.jobs = JobShape::tasks(port.tasks, least, &request);
        if port.tasks > 1 && draw(0, 2) == 0 {
            let request: Amounts =
                request.iter().map(|&(device, count)| (device.to_owned(), count)).collect();
            let group = |name: &str, count| TaskGroupSpec {
                name: name.to_owned(),
                count,
                minimum: count,
                request: request.clone(),
            };
            let groups = vec![group("chief", 1), group("worker", port.tasks - 1)];
            spec.jobs = JobShape::Gang { minimum: port.tasks, groups };
        }
    }
    (described, ports, servers, licences.is_some())
}

/// How many reservations were seen to be kept, and whether there are licences.
fn reserved_jobs_start(seed: u64) -> (u64, bool) {
    let (described, ports, servers, licences) = random_cluster(seed);
    let mut rng = stream(seed, Purpose::Arrivals, 9, 9);
    let policy = ["esdp", "esdp-index", "cts", "first-fit", "random", "hauf"][rng.random_range(0..6)];
    let load = f64::from(rng.random_range(5..15)) / 10.0;
    let faults = rng.random_bool(0.35);
    let all: u32 = servers.iter().map(|server| server.1).sum();
    let mut machine = Machine::with(described, policy, ports.clone(), &servers, seed);
    let (mut looked, mut at_hand): (u64, Option<(String, BTreeSet<String>, u64)>) = (0, None);
    for _ in 0..400 {
        for port in &ports {
            let rate = load * f64::from(all) / (f64::from(port.tasks) * 6.0 * ports.len() as f64);
            for _ in 0..3 {
                if rng.random_bool((rate / 3.0).min(1.0)) {
                    machine.submit(port.name, f64::from(rng.random_range(1..10)));
                }
            }
        }
        let closed: Vec<&str> =
            servers.iter().filter(|_| faults && rng.random_bool(0.01)).map(|server| server.0).collect();
        machine.slot(&closed);
        if rng.random_bool(0.05) {
            machine.restart();
        }
        if rng.random_bool(0.005) {
            machine.restart_from_journal();
        }
        let reserved = machine.live.reserved().map(|(job, since)| (job.to_owned(), since.0));
        if let Some((job, ran, since)) = &mut at_hand {
            if machine.is_running(job) {
                looked += 1;
                at_hand = None;
            } else if !closed.is_empty() || reserved.as_ref().is_none_or(|now| now.0 != *job) {
                // Servers that are closed are another cluster.
                at_hand = None;
            } else {
                ran.retain(|job| machine.is_running(job));
                assert!(!ran.is_empty(), "seed {seed}, {policy}: {job}, reserved in {since}, waits on");
            }
        }
        if at_hand.is_none()
            && let Some((job, since)) = reserved
        {
            let ran = machine.running_jobs();
            assert!(!ran.is_empty() || !closed.is_empty(), "seed {seed}, {policy}: {job} waits for nobody");
            at_hand = (!ran.is_empty()).then_some((job, ran, since));
        }
    }
    assert_eq!(machine.live.counts().rejected, 0, "seed {seed}");
    (looked, licences)
}

/// What a decision reserved and withheld is in its event: another policy that reads the journal stands the
/// same.
#[test]
fn reservations_are_facts() {
    let port = |name, tasks| Port { name, tasks, speed: 1.0, unit: 1.0 };
    let ports = vec![port("small", 1), port("gang", 7)];
    let mut machine = Machine::new("esdp", ports, &[("n0", 4, 1.0), ("n1", 4, 0.5)], 1);
    let mut rng = stream(4, Purpose::Arrivals, 0, 0);
    for at in 0..300 {
        for (port, rate) in [("small", 0.9), ("gang", 0.02)] {
            if rng.random_bool(rate) {
                machine.submit(port, f64::from(rng.random_range(2..8)));
            }
        }
        machine.slot(if at % 50 == 7 { &["n0"] } else { &[] });
    }
    let mut other = Live::new(machine.described.clone(), policy("first-fit")).unwrap();
    machine.journal.iter().for_each(|event| drop(other.apply(event)));
    let live = &machine.live;
    assert!(live.idle().slots == 300 && live.idle().reserved > 0.0, "{:?}", live.idle());
    assert_eq!((other.idle(), other.reserved()), (live.idle(), live.reserved()));
    assert_eq!(other.book(), live.book());
    assert_eq!(other.book_digest(), live.book_digest());
    let text = live.snapshot().unwrap();
    let again = Live::restore(&text, policy("esdp")).unwrap();
    assert_eq!(again.snapshot().unwrap(), text);
}

/// Where jobs stand: their place, their age, what is kept for them.
#[test]
fn a_waiting_job_knows_where_it_stands() {
    let mut machine = mixed([1.0; 3]);
    for _ in 0..9 {
        machine.submit("a", 50.0);
    }
    machine.slot(&[]);
    machine.submit("a", 1.0);
    machine.live.apply(&Event::Submitted { job: "urgent".into(), port: "a".into(), weight: 2.0 });
    let place = |machine: &Machine, job: &str| machine.live.waiting(job).map(|standing| standing.position);
    assert_eq!(place(&machine, "a#0"), None, "it runs");
    assert_eq!(["urgent", "a#7", "a#8", "a#9"].map(|job| place(&machine, job)), [1, 2, 3, 4].map(Some));
    let standing = machine.live.waiting("a#9").unwrap();
    assert_eq!((standing.since, standing.reserved, standing.held), (Slot(1), None, false));
    assert_eq!(place(&machine, "nobody"), None);
}

/// Jobs as large as the cluster, 5 % of the work, at a load of 0.7: they start, and at most 6 % of the
/// devices idle for them.
#[test]
fn jobs_as_large_as_the_cluster_start() {
    let setting = Scenario::preset("queue-gangs").unwrap().setting(1).unwrap();
    let mut watch = Watch::default();
    let mut simulation = Simulation::new(&setting, &"esdp".parse().unwrap()).unwrap();
    assert!(simulation.run(8000, &mut watch).unwrap().is_continue());
    let idle = watch.idle.reserved / watch.idle.slots as f64;
    assert!(watch.oldest < 4000 && watch.large > 2, "{} slots, {} started", watch.oldest, watch.large);
    assert!((0.001..0.06).contains(&idle), "{idle}");
}

/// What becomes of the jobs of the last port.
#[derive(Default)]
struct Watch {
    idle: IdleTime,
    /// The jobs of the last port that started.
    large: u64,
    /// The longest wait of one that was done.
    oldest: u64,
}

impl Recorder for Watch {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.idle = record.queue.expect("the rule for queues").idle();
        self.large += u64::from(*record.started.last().unwrap());
        let last = PortId::at(record.cluster.ports().len() - 1);
        let waits = record.finished.iter().filter(|job| job.port == last).map(|job| job.waited());
        self.oldest = waits.fold(self.oldest, u64::max);
        ControlFlow::Continue(())
    }
}

/// What can never start is known before it is submitted.
#[test]
fn what_never_starts_is_known() {
    let port = |name, tasks| Port { name, tasks, speed: 1.0, unit: 1.0 };
    let machine = Machine::new("esdp", vec![port("fits", 8), port("large", 9)], &[("n0", 8, 1.0)], 1);
    assert_eq!(machine.live.never_starts("fits"), None);
    let why = machine.live.never_starts("large").unwrap();
    assert_eq!(why, "its jobs need 9 tasks at once, the whole cluster holds 8");
    assert_eq!(machine.live.never_starts("nobody"), None);
}

/// The N-model, in which the sum of speeds grows without bound: 250 slots of waiting after 12,000, 900 after
/// 48,000.
#[test]
fn the_n_model_is_stable() {
    let text = include_str!("queue/nm2.toml");
    let scenario: Scenario = text.parse().unwrap();
    assert_eq!(scenario.objective(), Objective::Relative);
    let wait = |objective: Objective, seed: u64| {
        let setting = scenario.setting(seed).unwrap().with_objective(objective);
        let mut summary = Summary::new(setting.cluster());
        let mut simulation = Simulation::new(&setting, &"esdp".parse().unwrap()).unwrap();
        assert!(simulation.run(12_000, &mut summary).unwrap().is_continue());
        summary.jobs.mean_wait().unwrap()
    };
    let mean = |objective| (0..3).map(|seed| wait(objective, seed)).sum::<f64>() / 3.0;
    let (relative, sum) = (mean(Objective::Relative), mean(Objective::Sum));
    assert!(relative < 26.0 && sum > 100.0, "{relative} with the rule, {sum} with the sum");
}

/// What a slot maximises is said by an event; the sum is the paper's, and books nothing of queues.
#[test]
fn the_sum_can_be_asked_for() {
    let mut machine = mixed([1.0; 3]);
    let objective = Some(Objective::Sum);
    machine.apply(Event::Directed { mode: Mode::Place, most_exploration: None, objective });
    for _ in 0..50 {
        machine.submit("a", 6.0);
        machine.slot(&[]);
    }
    assert_eq!(machine.live.objective(), Objective::Sum);
    assert_eq!(machine.live.idle().slots, 0);
    assert!(!machine.live.snapshot().unwrap().contains("\"queue\""));
}
