//! Which server is the slow one, by numbers that can be added up by hand.

use esdp::model::{Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec};
use esdp::stats::{ChannelRecord, Means, Pooled, Statistics};
use esdp::stats::{SeenSpeed, Z95, estimate_variance, server_factors};

/// Ports and servers of channels, with the speed that was seen, its variance and the outcomes behind it.
const SEEN: [(u32, u32, f64, f64, f64); 7] = [
    // An even number: the median 0.4 lies between.
    (0, 0, 0.2, 0.01, 4.0),
    (0, 1, 0.6, 0.04, 1.0),
    // The median 0.3.
    (1, 0, 0.3, 0.02, 2.0),
    (1, 1, 0.3, 0.0, 9.0),
    (1, 2, 0.9, 0.0, 5.0),
    (1, 3, 0.3, 0.0, 4.0),
    // Nothing to compare it with.
    (2, 4, 0.7, 0.0, 50.0),
];

/// The channels of [`SEEN`], and one that was never tried.
fn cluster() -> Cluster {
    let untried = ChannelSpec::new(0, 5, vec![1]);
    let channels = SEEN.iter().map(|&(port, server, ..)| ChannelSpec::new(port, server, vec![1]));
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: ["a", "b", "c", "d", "alone", "untried"].map(String::from).to_vec(),
        ports: ["train", "serve", "other"].map(String::from).to_vec(),
        channels: channels.chain([untried]).collect(),
        capacity: Capacity::cluster_wide(vec![9]),
        ..ClusterSpec::default()
    })
    .unwrap()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} {b}");
}

#[test]
fn ratios_to_the_median_are_weighed_by_outcomes() {
    let cluster = cluster();
    let factors = server_factors(&cluster, |channel| {
        let &(.., speed, variance, count) = SEEN.get(channel.index())?;
        Some(SeenSpeed { speed, variance, count })
    });
    let expected = [(4.0 * 0.5 + 2.0) / 6.0, (1.5 + 9.0) / 10.0, 3.0, 1.0, 1.0];
    for (found, expected) in factors.iter().zip(expected) {
        close(found.factor.unwrap(), expected);
    }
    let half = Z95 * (100.0 * 0.01 + (2.0_f64 / 0.3).powi(2) * 0.02).sqrt() / 6.0;
    let (low, high) = factors[0].interval.unwrap();
    close(low, 2.0 / 3.0 - half);
    close(high, 2.0 / 3.0 + half);
    assert_eq!(
        factors.iter().map(|server| server.count).collect::<Vec<_>>(),
        [6.0, 10.0, 5.0, 4.0, 50.0, 0.0]
    );
    // Five outcomes are enough, four are not; nor is any number without another server.
    let known: Vec<bool> = factors.iter().map(|server| server.is_known()).collect();
    assert_eq!(known, [true, true, true, false, false, false]);
    assert_eq!((factors[5].factor, factors[5].interval), (None, None));
}

/// What is known of how well a speed is known, by three rules: from the scatter that was seen, from the mean
/// where too little was seen of it, and the largest there is where nothing was.
#[test]
fn estimates_vary_by_their_scatter_or_by_what_their_mean_allows() {
    let seen = |learned: &mut dyn Statistics, count, sum, residuals, freedom| {
        learned.add(ChannelId(0), &ChannelRecord { slot: 1, count, sum, residuals, freedom });
        estimate_variance(learned, ChannelId(0))
    };
    let scatter = |count, residuals, freedom| {
        seen(&mut Pooled::new(&cluster(), false, 1.0), count, 0.5 * count, residuals, freedom)
    };
    close(scatter(8.0, 0.5, 5.0), 0.5 / 5.0 / 8.0);
    close(scatter(8.0, 0.5, 4.0), 0.5 / 4.0 / 8.0);
    // Never less certain than one outcome makes it.
    close(scatter(1.0, 4.0, 4.0), 0.25);
    let mean = |count, sum| seen(&mut Means::new(1), count, sum, 0.0, 0.0);
    close(mean(8.0, 2.0), 0.25 * 0.75 / 8.0);
    close(mean(4.0, 0.0), 1e-6 / 4.0);
    close(mean(0.0, 0.0), 0.25);
}
