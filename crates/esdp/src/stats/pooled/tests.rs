mod between;
mod slab;

use super::*;
use crate::model::{Capacity, ChannelSpec, ClusterSpec, GangSpec};
use crate::rng::{Purpose, stream};
use crate::stats::PooledState;
use crate::stats::testing::{censored, check_copies, ran};
use rand::RngExt;

/// Two ports, each reaching every one of some servers, whose labels are given.
fn cluster(labels: &[&[&str]]) -> Cluster {
    let servers = labels.len() as u32;
    let channels =
        (0..2).flat_map(|port| (0..servers).map(move |server| ChannelSpec::new(port, server, vec![1])));
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: (0..servers).map(|server| format!("s{server}")).collect(),
        ports: vec!["train".into(), "serve".into()],
        channels: channels.collect(),
        capacity: Capacity::cluster_wide(vec![9]),
        labels: labels
            .iter()
            .map(|labels| labels.iter().map(|label| (*label).to_owned()).collect())
            .collect(),
        ..ClusterSpec::default()
    })
    .unwrap()
}

/// Channel of (port, server) among 40 servers, even ones "old", odd ones "new".
fn forty() -> Cluster {
    cluster(
        &(0..40)
            .map(|server| -> &[&str] {
                if server % 2 == 0 { &["old"] } else { &["new"] }
            })
            .collect::<Vec<_>>(),
    )
}

fn at(port: u32, server: u32) -> ChannelId {
    ChannelId(port * 40 + server)
}

/// Port 0 has a speed of .2 on old servers and .8 on new ones, give or take a tenth in each outcome. The
/// first `servers` servers are tried `times` times each.
fn taught(servers: u32, times: u64) -> Pooled {
    let mut pooled = Pooled::new(&forty(), true, 1.0);
    let mut rng = stream(1, Purpose::Speeds, 0, 0);
    for slot in 1..=times {
        pooled.advance(Slot(slot));
        for server in 0..servers {
            let mean = if server % 2 == 0 { 0.2 } else { 0.8 };
            pooled.observe(&ran(slot, at(0, server), mean + 0.2 * (rng.random::<f64>() - 0.5)));
        }
    }
    (times + 1..times + 30).for_each(|slot| pooled.advance(Slot(slot)));
    pooled
}

#[test]
fn what_was_never_tried_is_judged_by_others_of_its_kind() {
    let pooled = taught(20, 10);
    for server in 20..40 {
        let expected = if server % 2 == 0 { 0.2 } else { 0.8 };
        let estimate = pooled.estimate(at(0, server));
        assert!((estimate - expected).abs() < 0.01, "server {server}: {estimate}, not {expected}");
        assert!(pooled.variance(at(0, server)).is_finite());
        assert!(pooled.variance(at(0, server)) > pooled.variance(at(0, server - 20)));
    }
    // Port 1 was never seen: in between, and far from certain.
    let unseen = pooled.estimate(at(1, 0));
    assert!((unseen - 0.5).abs() < 0.02, "{unseen}");
    assert!(pooled.variance(at(1, 0)) > 50.0 * pooled.variance(at(0, 30)));
}

#[test]
fn the_prior_can_be_read() {
    let pooled = taught(20, 40);
    let report = pooled.prior();
    let find = |path: &[&str]| report.iter().find(|group| group.path == path).unwrap().prior;
    assert!(report[0].path.is_empty());
    let (old, new) = (find(&["train", "old"]), find(&["train", "new"]));
    assert!((old.mean - 0.2).abs() < 0.01 && (new.mean - 0.8).abs() < 0.01, "{old:?} {new:?}");
    // Uniform outcomes of width .2 have a variance of 1/300; the channels of a kind do not differ.
    assert!((old.noise - 1.0 / 300.0).abs() < 0.0002 && old.between < 0.004, "{old:?}");
    assert!(find(&["serve", "old"]).uncertainty > 500.0 * old.uncertainty);
    assert_eq!(pooled.servers().len(), 40);
}

#[test]
fn a_fast_server_is_fast_for_other_ports_too() {
    let mut pooled = Pooled::new(&forty(), true, 1.0);
    for slot in 1..=60 {
        pooled.advance(Slot(slot));
        for server in 0..40 {
            let factor = if server % 4 == 1 { 1.4 } else { 1.0 };
            pooled.observe(&ran(slot, at(0, server), 0.5 * factor));
            if server > 10 {
                pooled.observe(&ran(slot, at(1, server), 0.3 * factor));
            }
        }
    }
    pooled.advance(Slot(200));
    // Never tried at port 1: server 1 is fast elsewhere, server 3 is not.
    let (fast, plain) = (pooled.estimate(at(1, 1)), pooled.estimate(at(1, 3)));
    assert!(fast > plain + 0.045, "{fast} {plain}");
}

#[test]
fn labels_may_be_deep_short_or_missing() {
    let labels: &[&[&str]] = &[&["v100", "rack 1"], &["v100", "rack 2"], &["v100"], &[], &["k80"]];
    let pooled = Pooled::new(&cluster(labels), true, 1.0);
    let paths: Vec<Vec<String>> = pooled.prior().into_iter().map(|group| group.path).collect();
    let has = |path: &[&str]| paths.iter().any(|found| found == path);
    assert!(has(&["train", "v100", "rack 1"]) && has(&["train", "v100", "(no label)"]));
    assert!(has(&["train", "(no label)"]) && has(&["serve", "k80", "(no label)"]));
    // Everything; for each port itself, v100 and its three, none, k80 and its one.
    assert_eq!(paths.len(), 1 + 2 * 8);
    assert_eq!(Pooled::new(&cluster(labels), false, 1.0).prior().len(), 1 + 2);
}

#[test]
fn the_task_groups_of_a_gang_are_pooled_apart() {
    let task = |task, server| ChannelSpec { port: 0, server, task, request: vec![1] };
    let spec = ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["gang".into()],
        channels: vec![task(0, 0), task(0, 1), task(1, 0), task(1, 1)],
        capacity: Capacity::cluster_wide(vec![9]),
        gangs: vec![GangSpec::new(0, 1, &[1, 1])],
        ..ClusterSpec::default()
    };
    let mut pooled = Pooled::new(&Cluster::new(spec).unwrap(), true, 1.0);
    for slot in 1..=40 {
        pooled.advance(Slot(slot));
        pooled.observe(&ran(slot, ChannelId(0), 0.9));
        pooled.observe(&ran(slot, ChannelId(2), 0.1));
    }
    pooled.advance(Slot(100));
    assert_eq!(pooled.prior().len(), 3);
    assert!(pooled.estimate(ChannelId(1)) > pooled.estimate(ChannelId(3)) + 0.37);
}

#[test]
fn open_outcomes_narrow_the_variance_and_leave_the_estimate() {
    let mut pooled = taught(20, 10);
    let (channel, before) = (at(0, 30), taught(20, 10));
    (0..3).for_each(|_| pooled.commit(Slot(200), channel));
    assert_eq!(pooled.estimate(channel), before.estimate(channel));
    assert!(pooled.variance(channel) < before.variance(channel));
    (0..3).for_each(|_| pooled.observe(&censored(39, channel)));
    assert_eq!(pooled.variance(channel), before.variance(channel));
    assert_eq!((pooled.pending(channel), pooled.count(channel)), (0, 0.0));
}

#[test]
fn many_outcomes_outweigh_any_prior() {
    let mut pooled = taught(20, 10);
    for slot in 50..1050 {
        pooled.advance(Slot(slot));
        pooled.observe(&ran(slot, at(0, 38), 0.6 + 0.3 * f64::from(u8::from(slot % 2 == 0)) - 0.15));
    }
    let estimate = pooled.estimate(at(0, 38));
    assert!((estimate - 0.6).abs() < 0.01, "{estimate}");
}

#[test]
fn what_fades_falls_back_on_the_prior() {
    let mut pooled = Pooled::new(&forty(), true, 0.9);
    let mut rng = stream(2, Purpose::Speeds, 0, 0);
    let mut outcome = |slot, server| {
        let mean = if server == 5 { 0.8 } else { 0.3 };
        ran(slot, at(0, server), mean + 0.4 * (rng.random::<f64>() - 0.5))
    };
    for slot in 1..=50 {
        pooled.advance(Slot(slot));
        (0..20).for_each(|server| pooled.observe(&outcome(slot, server)));
    }
    let fresh = pooled.estimate(at(0, 5));
    for slot in 51..=120 {
        pooled.advance(Slot(slot));
        (0..20).filter(|server| *server != 5).for_each(|server| pooled.observe(&outcome(slot, server)));
    }
    let faded = pooled.estimate(at(0, 5));
    assert!((fresh - 0.78).abs() < 0.03 && (faded - 0.29).abs() < 0.03, "{fresh}, then {faded}");
}

#[test]
fn save_and_restore_is_exact() {
    [(0.97, 0.0), (1.0, 0.0), (1.0, 0.1)]
        .into_iter()
        .for_each(|(gamma, slab)| saved_and_restored(gamma, slab));
}

fn saved_and_restored(gamma: f64, slab: f64) {
    let new = || Box::new(Pooled::new(&forty(), true, gamma).with_slab(slab));
    check_copies(new, 80, 150, |lives, slot| {
        // What is kept is what would be computed now, to the last bit, in every life.
        for (life, index) in lives.iter().flat_map(|life| (0..80).map(move |index| (life, index))) {
            let read = Reading {
                estimate: life.estimate(ChannelId::at(index)),
                variance: life.variance(ChannelId::at(index)),
            };
            assert_eq!(read, life.compute(index), "slot {slot}, channel {index}, gamma {gamma}");
            assert_eq!(read, lives[0].compute(index), "slot {slot}, channel {index}, gamma {gamma}");
        }
    });
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let cluster = forty();
    let own = taught(20, 10).state();
    let refused = |change: fn(&mut PooledState)| {
        let mut state = own.clone();
        let Learned::Pooled(saved) = &mut state.learned else { panic!("pooled") };
        change(saved);
        let mut pooled = Pooled::new(&cluster, true, 1.0);
        let error = pooled.restore(state).unwrap_err().to_string();
        assert_eq!(pooled, Pooled::new(&cluster, true, 1.0), "a refused state changes nothing");
        error
    };
    assert!(refused(|s| s.residuals[3] = 1e9).contains("`residuals` is damaged at entry 3"));
    assert!(refused(|s| s.freedom[3] = -1.0).contains("damaged at entry 3"));
    assert!(refused(|s| s.prior.groups[2].between = 0.0).contains("`groups` is damaged at entry 2"));
    assert!(refused(|s| s.prior.groups[1].mean = f64::NAN).contains("`groups` is damaged at entry 1"));
    assert!(refused(|s| s.prior.levels[1] = f64::INFINITY).contains("`levels` is damaged at entry 1"));
    assert!(refused(|s| s.prior.servers[7].factor = -2.0).contains("`servers` is damaged at entry 7"));
    assert!(refused(|s| s.prior.server_variance = -1.0).contains("`server_variance` is damaged"));
    assert!(refused(|s| s.prior.groups.truncate(6)).contains("`groups` has length 6, expected 7"));
    assert!(refused(|s| s.residuals.truncate(79)).contains("`residuals` has length 79, expected 80"));
    let mut pooled = Pooled::new(&cluster, true, 1.0);
    let version = StatisticsState { version: 7, ..own.clone() };
    assert!(matches!(pooled.restore(version), Err(StateError::Version { found: 7, .. })));
    let foreign = crate::stats::Means::new(80).state();
    assert!(matches!(pooled.restore(foreign), Err(StateError::Kind { expected: "pooled", .. })));
    let unlabelled = Pooled::new(&cluster, false, 1.0).restore(own).unwrap_err().to_string();
    assert!(unlabelled.contains("`groups` has length 7, expected 3"), "{unlabelled}");
}
