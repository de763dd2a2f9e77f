//! Every law delivers the mean it claims: what is drawn against what is called the truth.

use super::*;
use crate::model::{Capacity, ChannelSpec, ClusterSpec, SupplyCost};

/// Three channels of one port, costs of 0.1, room for all.
fn cluster() -> Arc<Cluster> {
    let spec = ClusterSpec {
        devices: vec!["gpu".into()],
        servers: (0..3).map(|server| format!("s{server}")).collect(),
        ports: vec!["train".into()],
        channels: (0..3).map(|server| ChannelSpec::new(0, server, vec![1])).collect(),
        capacity: Capacity::cluster_wide(vec![9]),
        costs: vec![SupplyCost::Linear { fixed: 0.0, rate: 0.1 }],
        ..ClusterSpec::default()
    };
    Arc::new(Cluster::new(spec).unwrap())
}

/// Runs all channels in a slot, `jobs` times each.
fn outcomes(speeds: &mut Speeds, slot: u64, jobs: u32) -> Vec<f64> {
    let mut channels: Vec<ChannelId> = (0..3).map(ChannelId).cycle().take(3 * jobs as usize).collect();
    channels.sort_unstable();
    let mut utilities = Vec::new();
    speeds.run(Slot(slot), &channels, &mut utilities);
    utilities
}

/// Over many slots, the mean outcome of each channel beside its mean truth; errors in units of the
/// standard error of independent draws, times `inflation` where draws are correlated.
fn check_truth(spec: &SpeedSpec, inflation: f64) {
    let mut speeds = spec.build(&cluster(), 11).unwrap();
    let slots = 20_000;
    let (mut difference, mut square) = ([0.0; 3], [0.0; 3]);
    for slot in 1..=slots {
        let seen = outcomes(&mut speeds, slot, 1);
        for channel in 0..3 {
            let truth = speeds.mean(Slot(slot), ChannelId::at(channel));
            assert_eq!(
                truth,
                speeds.clone().means(Slot(slot))[channel],
                "one channel or all, the truth is one"
            );
            assert!((0.0..=1.0).contains(&seen[channel]));
            difference[channel] += seen[channel] - truth;
            square[channel] += (seen[channel] - truth).powi(2);
        }
    }
    for channel in 0..3 {
        let error = square[channel].sqrt() * inflation;
        assert!(
            difference[channel].abs() <= 4.0 * error,
            "{spec:?}, channel {channel}: {difference:?} against {error}"
        );
    }
}

fn paper() -> SpeedSpec {
    SpeedSpec::default()
}

#[test]
fn normal_speeds_have_the_mean_they_claim() {
    check_truth(&paper(), 1.0);
    check_truth(&SpeedSpec { deviation: 0.0, ..paper() }, 1.0);
}

#[test]
fn log_normal_speeds_have_the_mean_they_claim() {
    check_truth(&SpeedSpec { law: SpeedLaw::LogNormal, deviation: 1.5, ..paper() }, 1.0);
}

#[test]
fn correlated_speeds_have_the_mean_they_claim() {
    // The sum of an AR(1) sample varies (1 + phi) / (1 - phi) times as much.
    check_truth(&SpeedSpec { correlation: 0.7, ..paper() }, (1.7f64 / 0.3).sqrt());
}

#[test]
fn drifting_speeds_have_the_mean_they_claim_in_every_slot() {
    check_truth(&SpeedSpec { drift: Drift::Switch { share: 0.35, factor: 0.4, every: 50 }, ..paper() }, 1.0);
    check_truth(&SpeedSpec { drift: Drift::Sine { amplitude: 0.5, period: 200 }, ..paper() }, 1.0);
}

#[test]
fn a_table_is_followed_row_by_row() {
    let table = Some(vec![vec![0.2, 0.4, 0.6], vec![0.9, 0.8, 0.7]]);
    check_truth(&SpeedSpec { table: table.clone(), hold: 10, ..paper() }, 1.0);
    let mut exact = SpeedSpec { table, hold: 10, deviation: 0.0, ..paper() }.build(&cluster(), 1).unwrap();
    let close = |found: &[f64], expected: [f64; 3]| {
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}, not {expected:?}"
        );
    };
    for (slot, expected) in
        [(1, [0.1, 0.3, 0.5]), (10, [0.1, 0.3, 0.5]), (11, [0.8, 0.7, 0.6]), (21, [0.1, 0.3, 0.5])]
    {
        close(exact.means(Slot(slot)), expected);
        close(&outcomes(&mut exact, slot, 1), expected);
    }
}

#[test]
fn a_draw_depends_on_seed_slot_and_channel_alone() {
    let spec = SpeedSpec { drift: Drift::Switch { share: 0.5, factor: 0.4, every: 3 }, ..paper() };
    let (mut ahead, mut back) = (spec.build(&cluster(), 2).unwrap(), spec.build(&cluster(), 2).unwrap());
    let forth: Vec<Vec<f64>> = (1..=20).map(|slot| outcomes(&mut ahead, slot, 1)).collect();
    for slot in (1..=20).rev() {
        assert_eq!(outcomes(&mut back, slot, 1), forth[slot as usize - 1]);
    }
}

#[test]
fn jobs_on_a_channel_differ_unless_the_channel_itself_is_slow() {
    let mut independent = paper().build(&cluster(), 2).unwrap();
    let seen = outcomes(&mut independent, 1, 2);
    assert_ne!(seen[0], seen[1]);
    let mut correlated = SpeedSpec { correlation: 0.5, ..paper() }.build(&cluster(), 2).unwrap();
    let seen = outcomes(&mut correlated, 1, 2);
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn what_is_out_of_range_is_named() {
    let refused = |change: fn(&mut SpeedSpec)| {
        let mut spec = paper();
        change(&mut spec);
        spec.build(&cluster(), 0).unwrap_err().to_string()
    };
    assert!(refused(|s| s.mean = (1.0, 0.1)).contains("`mean` is [1, 0.1]"));
    assert!(refused(|s| s.mean = (-1.0, 0.1)).contains("`mean[0]` is -1"));
    assert!(refused(|s| s.deviation = f64::NAN).contains("`deviation` is NaN"));
    assert!(refused(|s| s.correlation = 1.0).contains("below 1"));
    assert!(refused(|s| s.table = Some(vec![])).contains("at least one row"));
    assert!(
        refused(|s| s.table = Some(vec![vec![0.1; 3], vec![0.1; 2]])).contains("`table[1]` is a list of 2")
    );
    assert!(
        refused(|s| s.drift = Drift::Switch { share: 2.0, factor: 0.4, every: 1 })
            .contains("`drift.share` is 2")
    );
    assert!(refused(|s| s.drift = Drift::Sine { amplitude: 0.5, period: 0 }).contains("`drift.period` is 0"));
}

#[test]
fn kinds_of_servers_have_the_means_they_claim() {
    check_truth(&SpeedSpec { kinds: Some(KindSpeeds::Drawn(2)), server_deviation: 0.2, ..paper() }, 1.0);
    let table = KindSpeeds::Table(vec![vec![0.3, 0.7]]);
    let kinds = table.of_servers(3, 5);
    let mut exact = SpeedSpec { kinds: Some(table), deviation: 0.0, ..paper() }.build(&cluster(), 5).unwrap();
    let expected: Vec<f64> = kinds.iter().map(|kind| [0.3, 0.7][*kind] - 0.1).collect();
    assert!(exact.means(Slot(1)).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
}
