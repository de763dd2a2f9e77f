//! How far the channels of a group differ, learned from groups so small that their means are uncertain.

use super::*;
use rand_distr::{Distribution, StandardNormal};

/// The truth: channels around the mean of their group, as a variance, and the noise of an outcome.
const BETWEEN: f64 = 0.01;
const NOISE: f64 = 0.01;

/// 200 kinds of four servers each, two ports; five outcomes of every channel.
fn small_groups() -> Pooled {
    let names: Vec<String> = (0..200).map(|kind| format!("kind-{kind}")).collect();
    let labels: Vec<[&str; 1]> = (0..800).map(|server| [names[server / 4].as_str()]).collect();
    let labels: Vec<&[&str]> = labels.iter().map(|labels| &labels[..]).collect();
    let mut pooled = Pooled::new(&cluster(&labels), true, 1.0);
    let mut rng = stream(3, Purpose::Speeds, 0, 0);
    let mut normal = |deviation: f64| -> f64 {
        let draw: f64 = StandardNormal.sample(&mut rng);
        deviation * draw
    };
    pooled.advance(Slot(1));
    for port in 0..2 {
        let mut group = 0.0;
        for server in 0..800u32 {
            if server % 4 == 0 {
                group = 0.5 + normal(0.1);
            }
            let mean = group + normal(BETWEEN.sqrt());
            for _ in 0..5 {
                pooled.observe(&ran(1, ChannelId(port * 800 + server), mean + normal(NOISE.sqrt())));
            }
        }
    }
    // Enough refits for the iteration to settle.
    (1..=200).for_each(|refit| pooled.advance(Slot(refit * 1_000_000)));
    pooled
}

/// What is uncertain of a group's mean is part of how far its channels may be from it. Left out, the variance
/// between them comes out too small.
#[test]
fn the_variance_between_channels_is_not_underestimated() {
    let pooled = small_groups();
    let leaves: Vec<GroupPrior> =
        pooled.prior().iter().filter(|group| group.path.len() == 2).map(|g| g.prior).collect();
    assert_eq!(leaves.len(), 400);
    let mean = |value: fn(&GroupPrior) -> f64| leaves.iter().map(value).sum::<f64>() / leaves.len() as f64;
    // 1600 channels: the standard error of either is 3 to 4 %.
    let (between, noise) = (mean(|group| group.between), mean(|group| group.noise));
    assert!((between / BETWEEN - 1.0).abs() < 0.1, "{between}, not {BETWEEN}");
    assert!((noise / NOISE - 1.0).abs() < 0.1, "{noise}, not {NOISE}");
}
