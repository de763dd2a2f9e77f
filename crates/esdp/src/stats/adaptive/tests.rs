//! Several memories, weighed: what they agree on, what they find out, and that they are saved to the last
//! bit.

use super::*;
use crate::model::{Capacity, ChannelSpec, ClusterSpec};
use crate::rng::{Purpose, stream};
use crate::stats::Pooled;
use crate::stats::testing::{censored, check_copies, ran};
use rand::RngExt;

/// Two ports on `servers` servers, every channel there is.
fn cluster(servers: u32) -> Cluster {
    let channels =
        (0..2).flat_map(|port| (0..servers).map(move |server| ChannelSpec::new(port, server, vec![1])));
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: (0..servers).map(|server| format!("s{server}")).collect(),
        ports: vec!["train".into(), "serve".into()],
        channels: channels.collect(),
        capacity: Capacity::cluster_wide(vec![9]),
        ..ClusterSpec::default()
    })
    .unwrap()
}

/// Plays 12 servers with two ports; `mean` is the mean speed of a server in a slot, outcomes scatter by .1
/// around it.
fn played(slots: u64, mean: impl Fn(u64, u32) -> f64) -> Adaptive {
    played_with(slots, mean, |_| ())
}

/// The same, with something done to it at the beginning of each slot.
fn played_with(slots: u64, mean: impl Fn(u64, u32) -> f64, each_slot: impl Fn(&mut Adaptive)) -> Adaptive {
    played_on(12, slots, |slot, server| Some(mean(slot, server)), each_slot)
}

/// The same on so many servers; one without a mean speed is not used.
fn played_on(
    servers: u32,
    slots: u64,
    mean: impl Fn(u64, u32) -> Option<f64>,
    each_slot: impl Fn(&mut Adaptive),
) -> Adaptive {
    let mut adaptive = Adaptive::new(&cluster(servers));
    let mut rng = stream(7, Purpose::Speeds, 0, 0);
    for slot in 1..=slots {
        adaptive.advance(Slot(slot));
        each_slot(&mut adaptive);
        for channel in 0..2 * servers {
            let noise: f64 = (0..3).map(|_| rng.random::<f64>() - 0.5).sum::<f64>() * 0.2;
            if let Some(mean) = mean(slot, channel % servers) {
                adaptive.observe(&ran(slot, ChannelId(channel), (mean + noise).clamp(0.0, 1.0)));
            }
        }
    }
    adaptive
}

#[test]
fn where_nothing_drifts_nothing_is_forgotten() {
    let adaptive = played(600, |_, server| 0.3 + 0.04 * f64::from(server));
    let insight = adaptive.insight().unwrap();
    assert!(insight.memory > 560.0, "{} of 600 slots", insight.memory);
    assert!(insight.shared < 0.05, "{}", insight.shared);
    let mut plain = Pooled::new(&cluster(12), true, 1.0);
    let mut rng = stream(7, Purpose::Speeds, 0, 0);
    for slot in 1..=600 {
        plain.advance(Slot(slot));
        for channel in 0..24 {
            let noise: f64 = (0..3).map(|_| rng.random::<f64>() - 0.5).sum::<f64>() * 0.2;
            let mean = 0.3 + 0.04 * f64::from(channel % 12);
            plain.observe(&ran(slot, ChannelId(channel), (mean + noise).clamp(0.0, 1.0)));
        }
    }
    for channel in (0..24).map(ChannelId) {
        let (found, expected) = (adaptive.estimate(channel), plain.estimate(channel));
        assert!((found - expected).abs() < 0.003, "{channel}: {found}, not {expected}");
    }
}

#[test]
fn where_all_drift_all_forget() {
    // A hundred slots are a third of a radian, a tenth in speed.
    let wave = |slot: u64, server: u32| 0.5 + 0.3 * (slot as f64 / 300.0 + f64::from(server)).sin();
    let adaptive = played(900, wave);
    let insight = adaptive.insight().unwrap();
    assert!(insight.memory < 300.0, "{} of 900 slots", insight.memory);
    let wrong = |server: u32| (adaptive.estimate(ChannelId(server)) - wave(900, server)).abs();
    let mean = (0..12).map(wrong).sum::<f64>() / 12.0;
    assert!(mean < 0.1, "{mean}");
}

/// One server of twelve is throttled: it forgets what it was, the others keep what they know.
#[test]
fn one_server_forgets_by_itself() {
    let adaptive = played(900, |slot, server| if server == 3 && slot > 600 { 0.2 } else { 0.7 });
    let insight = adaptive.insight().unwrap();
    let throttled = insight.servers[3];
    assert!(throttled.memory < 200.0, "{throttled:?}");
    let others = insight.servers.iter().enumerate().filter(|(server, _)| *server != 3);
    let mean = others.map(|(_, other)| other.memory).sum::<f64>() / 11.0;
    assert!(mean > 550.0, "{mean} of 900 slots");
    let estimate = adaptive.estimate(ChannelId(3));
    assert!((estimate - 0.2).abs() < 0.05, "{estimate}");
    assert!(throttled.factor < 0.8 && insight.servers[4].factor > 0.9, "{throttled:?}");
}

/// All servers become a little faster, which leaves their order as it is. By the line less is forgotten than
/// without it; the control forgets the line in every slot.
#[test]
fn what_changes_for_all_is_no_reason_to_forget() {
    let mean = |slot: u64, server: u32| 0.3 + 0.04 * f64::from(server) + if slot > 600 { 0.03 } else { 0.0 };
    let with = played(900, mean).insight().unwrap().memory;
    let without = played_with(900, mean, |adaptive| adaptive.trend = Trend::default());
    let without = without.insight().unwrap().memory;
    assert!(with > 700.0 && without < 400.0, "{with} and {without} of 900 slots");
}

/// All servers become much slower: nothing is forgotten, and a server that nobody has tried since is known to
/// be slower too.
#[test]
fn a_change_of_all_by_one_factor_moves_what_is_known() {
    let before = |server: u32| 0.3 + 0.04 * f64::from(server);
    for (factor, slots) in [(0.4, 660), (0.4, 900), (1.3, 900)] {
        let mean = |slot: u64, server: u32| match (slot > 600, server) {
            (true, 5) => None,
            (true, _) => Some(factor * before(server)),
            (false, _) => Some(before(server)),
        };
        let adaptive = played_on(12, slots, mean, |_| ());
        let memory = adaptive.insight().unwrap().memory;
        assert!(memory > 0.7 * slots as f64, "times {factor}: {memory} of {slots} slots");
        for server in 0..12 {
            let (estimate, expected) = (adaptive.estimate(ChannelId(server)), factor * before(server));
            let apart = (estimate / expected - 1.0).abs();
            assert!(apart < 0.08, "server {server} times {factor}: {estimate}, not {expected}");
        }
    }
}

/// One server of three is throttled, or half of twelve: that is no change of all.
#[test]
fn a_change_of_some_moves_none_of_the_others() {
    for (servers, throttled) in [(3, 1), (12, 6), (2, 1)] {
        let mean = |slot: u64, server: u32| match (slot > 600, server < throttled) {
            (true, true) => Some(0.2),
            // What nobody has tried since stays as it was.
            (true, false) if server == servers - 1 && servers > 2 => None,
            _ => Some(0.7),
        };
        let adaptive = played_on(servers, 1000, mean, |_| ());
        for server in 0..servers {
            let (estimate, expected) =
                (adaptive.estimate(ChannelId(server)), if server < throttled { 0.2 } else { 0.7 });
            assert!(
                (estimate - expected).abs() < 0.05,
                "server {server} of {servers}: {estimate}, not {expected}"
            );
        }
    }
}

#[test]
fn save_and_restore_is_exact() {
    check_copies(
        || Box::new(Adaptive::new(&cluster(12))),
        24,
        150,
        |lives, slot| {
            for life in lives {
                assert_eq!(life.outcomes().to_bits(), lives[0].outcomes().to_bits());
                // What is kept is what would be computed now, to the last bit, in every life.
                for index in 0..24 {
                    assert_eq!(life.readings[index], life.compute(index), "slot {slot}, channel {index}");
                    assert_eq!(
                        life.readings[index], lives[0].readings[index],
                        "slot {slot}, channel {index}"
                    );
                }
            }
        },
    );
}

/// Whatever happens to a channel within a slot, what is kept of all channels is what would be computed now.
#[test]
fn what_is_kept_is_what_would_be_computed() {
    let mut rng = stream(6, Purpose::Policy, 0, 0);
    let mut adaptive = Adaptive::new(&cluster(12));
    for slot in 1..=300u64 {
        adaptive.advance(Slot(slot));
        for _ in 0..rng.random_range(0..5) {
            let channel = ChannelId(rng.random_range(0..24));
            match rng.random_range(0..12) {
                0 => adaptive.reset(channel),
                1 => adaptive.rescale(channel, 0.5, 0.0),
                2 => {
                    let seen = ChannelRecord { slot, count: 2.0, sum: 1.0, ..ChannelRecord::default() };
                    adaptive.add(channel, &seen);
                }
                3 => adaptive.observe(&censored(slot, channel)),
                4 | 5 => adaptive.commit(Slot(slot), channel),
                _ => adaptive.observe(&ran(slot, channel, rng.random())),
            }
            for index in 0..24 {
                assert_eq!(adaptive.readings[index], adaptive.compute(index), "slot {slot}, channel {index}");
            }
        }
    }
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let new = || Adaptive::new(&cluster(12));
    let own = played(40, |_, _| 0.5).state();
    let refused = |change: fn(&mut AdaptiveState)| {
        let mut state = own.clone();
        let Learned::Adaptive(saved) = &mut state.learned else { panic!("adaptive") };
        change(saved);
        let mut adaptive = new();
        let error = adaptive.restore(state).unwrap_err().to_string();
        assert_eq!(adaptive, new(), "a refused state changes nothing");
        error
    };
    assert_eq!(refused(|s| s.memories[1] = 77), "the saved `memories` is 77, expected 100");
    assert!(refused(|s| s.pools.truncate(1)).contains("`pools` has length 1, expected 2"));
    assert!(refused(|s| s.pools[1].residuals[3] = 1e9).contains("`residuals` is damaged at entry 3"));
    assert!(refused(|s| s.weights.odds[5][1] = 0.0).contains("`odds` is damaged at entry 5"));
    assert!(refused(|s| s.weights.informed[4] = 1.5).contains("`informed` is damaged at entry 4"));
    assert!(refused(|s| s.weights.shares[0] = f64::NAN).contains("`shares` is damaged"));
    assert!(refused(|s| s.trend.x = 1e9).contains("`trend` is damaged"));
    assert!(refused(|s| s.shift.sums[2].square = -1.0).contains("`shift` is damaged at entry 2"));
    assert!(refused(|s| s.shift.sums[1].cross = f64::NAN).contains("`shift` is damaged at entry 1"));
    assert!(refused(|s| s.shift.sums.truncate(3)).contains("`shift` has length 3, expected 12"));
    assert!(refused(|s| s.weights.odds.truncate(11)).contains("`odds` has length 11, expected 12"));
    let mut adaptive = new();
    let foreign = Pooled::new(&cluster(12), true, 1.0).state();
    assert!(matches!(adaptive.restore(foreign), Err(StateError::Kind { expected: "adaptive", .. })));
    let version = StatisticsState { version: 7, ..own };
    assert!(matches!(adaptive.restore(version), Err(StateError::Version { found: 7, .. })));
}

/// What was seen elsewhere counts in every memory, in a short one no more than it could hold.
#[test]
fn what_was_seen_elsewhere_counts_in_every_memory() {
    let mut adaptive = Adaptive::new(&cluster(12));
    adaptive.advance(Slot(9));
    let record = ChannelRecord { slot: 9, count: 1000.0, sum: 800.0, residuals: 9.0, freedom: 900.0 };
    adaptive.add(ChannelId(2), &record);
    let counts = adaptive.pools.each_ref().map(|pool| pool.seen.count(ChannelId(2)).round());
    assert_eq!(counts, [1000.0, 100.0]);
    assert!((adaptive.estimate(ChannelId(2)) - 0.8).abs() < 0.01);
    assert_eq!(adaptive.record(ChannelId(2)), record);
    adaptive.reset(ChannelId(2));
    assert_eq!(adaptive.count(ChannelId(2)), 0.0);
}
