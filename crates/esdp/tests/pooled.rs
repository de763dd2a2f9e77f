//! What pooled learning must survive: fixed seeds, recorded ranges, small fleets.
//!
//! Each test prints nothing and asserts a figure; the plain learner `esdp` stands beside it where it
//! tells something. A change that leaves a range deserves a look, not a wider range.

use esdp::model::{Arrivals, Capacity, Cluster, Observation, Outcome, PortId, ServerId, Slot};
use esdp::policy::PolicySpec;
use esdp::scenario::Scenario;
use esdp::sim::{ArrivalSpec, Delay, Environment, OracleTrack, Setting, Simulation, SpeedSpec, Summary, Workload};
use std::ops::RangeInclusive;

const SEEDS: [u64; 2] = [1, 2];
const SLOTS: u64 = 400;

/// `fleet-200` with 100 servers and little room: 400 channels, of which a slot uses about six.
fn fleet() -> Scenario {
    let fleet = Scenario::preset("fleet-200").unwrap();
    fleet.set("graph.servers", "100").unwrap().set("devices.capacity", "[8, 8]").unwrap()
}

fn spec(name: &str) -> PolicySpec {
    name.parse().unwrap()
}

/// The share of the oracle's utility, averaged over the seeds.
fn ratio(setting: impl Fn(u64) -> Setting, policy: &PolicySpec) -> f64 {
    let one = |seed| {
        let setting = setting(seed);
        let oracle = OracleTrack::new(&setting, SLOTS).unwrap();
        let mut summary = Summary::new(setting.cluster());
        let mut simulation = Simulation::new(&setting, policy).unwrap().against(&oracle);
        assert!(simulation.run(SLOTS, &mut summary).unwrap().is_continue());
        summary.oracle_ratio().unwrap()
    };
    SEEDS.into_iter().map(one).sum::<f64>() / SEEDS.len() as f64
}

fn check(what: &str, found: f64, recorded: RangeInclusive<f64>) -> f64 {
    assert!(recorded.contains(&found), "{what}: {found:.4} is not in {recorded:?}");
    found
}

fn on(scenario: Scenario) -> impl Fn(u64) -> Setting {
    move |seed| scenario.setting(seed).unwrap()
}

#[test]
fn kinds_are_learned_long_before_every_channel_was_tried() {
    let pooled = check("pooled", ratio(on(fleet()), &spec("esdp-pooled")), 0.93..=0.98);
    let alone = check("alone", ratio(on(fleet()), &spec("esdp")), 0.75..=0.83);
    assert!(pooled > alone + 0.1, "{pooled} against {alone}");
}

#[test]
fn a_quarter_of_the_scale_is_learned_as_well() {
    let quarter = fleet().set("speeds.mean", "[0.025, 0.25]").unwrap().set("costs.scale", "0.016666666667").unwrap();
    check("quarter", ratio(on(quarter), &spec("esdp-pooled")), 0.9..=0.96);
}

#[test]
fn labels_that_mean_nothing_or_are_missing_cost_little() {
    let without = ratio(on(fleet().set("servers.labels", "none").unwrap()), &spec("esdp-pooled"));
    let random = ratio(on(fleet().set("servers.labels", "random").unwrap()), &spec("esdp-pooled"));
    let half = ratio(on(fleet().set("servers.labelled", "0.5").unwrap()), &spec("esdp-pooled"));
    check("none", without, 0.92..=0.98);
    check("random", random, 0.91..=0.97);
    check("half", half, 0.9..=0.97);
    assert!(random > without - 0.04, "{random} against {without}");
}

/// Runs a setting slot by slot, with arrivals and free capacities of one's own. Returns the utility by true
/// means from slot `from` on, as a share of that of `oracle`, which meets the same.
fn share(setting: &Setting, from: u64, policy: &str, see: impl Fn(u64, &mut Arrivals, &mut Capacity)) -> f64 {
    let total = |policy: &str| {
        let mut scheduler = setting.scheduler(&spec(policy)).unwrap();
        let (mut workload, mut environment) = (setting.workload(), setting.environment());
        let mut arrivals = Arrivals::everywhere(setting.cluster().ports().len());
        let (mut utilities, mut total) = (Vec::new(), 0.0);
        for slot in (1..=SLOTS).map(Slot) {
            workload.arrivals(slot, &mut arrivals);
            let mut free = setting.cluster().capacity().clone();
            see(slot.0, &mut arrivals, &mut free);
            let decision = scheduler.decide(&arrivals, Some(&free)).unwrap();
            if slot.0 >= from {
                total += decision.channels().iter().map(|&channel| environment.mean(slot, channel)).sum::<f64>();
            }
            let chosen = decision.channels().to_vec();
            utilities.clear();
            environment.run(slot, &chosen, &mut utilities);
            for (&channel, &utility) in chosen.iter().zip(&utilities) {
                scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(utility) }).unwrap();
            }
        }
        total
    };
    total(policy) / total("oracle")
}

#[test]
fn a_port_never_seen_before_is_served_by_what_others_taught() {
    let half = SLOTS / 2;
    let shares = SEEDS.map(|seed| {
        let setting = fleet().setting(seed).unwrap();
        // Port 0 comes at half time and is then alone.
        share(&setting, half, "esdp-pooled", |slot, arrivals, _| {
            (0..8).map(PortId).for_each(|port| {
                let jobs = if (port.0 == 0) == (slot >= half) { arrivals.jobs(port) } else { 0 };
                arrivals.set(port, jobs);
            });
        })
    });
    check("a new port", shares.iter().sum::<f64>() / 2.0, 0.95..=1.0);
}

/// The fleet with limits on servers, so that a server can be away, and the mean speed of each channel.
fn with_servers(seed: u64) -> (Cluster, Vec<f64>) {
    let scenario = fleet().set("devices.server_capacity", "[8, 8]").unwrap();
    let setting = scenario.set("speeds.deviation", "0.0").unwrap().setting(seed).unwrap();
    let mut environment = setting.environment();
    let cluster = (**setting.cluster()).clone();
    let channel = |index| esdp::model::ChannelId(index as u32);
    let means = (0..cluster.channels().len())
        .map(|index| environment.mean(Slot(1), channel(index)) + cluster.cost(channel(index)))
        .collect();
    (cluster, means)
}

fn setting(cluster: Cluster, table: Vec<Vec<f64>>, seed: u64) -> Setting {
    let speeds = SpeedSpec { table: Some(table), hold: SLOTS / 2, ..SpeedSpec::default() };
    let arrivals = ArrivalSpec::Bernoulli { rho: 0.9.into() };
    Setting::build(cluster, arrivals, &speeds, Delay::default(), seed).unwrap()
}

/// A tenth of the servers joins at half time.
#[test]
fn servers_that_join_do_no_harm() {
    let shares = SEEDS.map(|seed| {
        let (cluster, means) = with_servers(seed);
        let setting = setting(cluster, vec![means.clone(), means], seed);
        share(&setting, SLOTS / 2, "esdp-pooled", |slot, _, free| {
            if slot < SLOTS / 2 {
                (0..10).for_each(|server| free.server_mut(ServerId(server)).unwrap().fill(0));
            }
        })
    });
    check("servers that join", shares.iter().sum::<f64>() / 2.0, 0.94..=0.99);
}

/// A tenth of the servers run at a fifth of their speed and are repaired at half time: from then on they are as
/// fast as their kind.
#[test]
fn a_repair_does_no_harm() {
    let shares = SEEDS.map(|seed| {
        let (cluster, means) = with_servers(seed);
        let slow = |speed: &f64, server: u32| if server < 10 { speed * 0.2 } else { *speed };
        let before = means.iter().zip(cluster.channels()).map(|(speed, c)| slow(speed, c.server.0)).collect();
        let setting = setting(cluster, vec![before, means], seed);
        share(&setting, SLOTS / 2, "esdp-pooled", |_, _, _| {})
    });
    check("a repair", shares.iter().sum::<f64>() / 2.0, 0.96..=1.0);
}
