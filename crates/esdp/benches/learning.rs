//! What learning costs a slot, without the decision: pooled statistics beside a plain running average.
//!
//! `cargo bench -p esdp-core --bench learning`. A slot opens, the estimate and the variance of every channel
//! are read, six channels are chosen and their outcomes come in. The refits in which pooled statistics learn
//! what channels share happen in the measured slots as they do in a run, so the mean has them in it.

use divan::Bencher;
use esdp::model::{ChannelId, Cluster, Observation, Outcome, Slot};
use esdp::sim::{ChannelCount, RandomCluster};
use esdp::stats::{Adaptive, Means, Pooled, Statistics};

fn main() {
    divan::main();
}

const CHANNELS: [usize; 2] = [4_000, 100_000];
const CHOSEN: u64 = 6;

/// A cluster whose servers are of four kinds.
fn cluster(channels: usize) -> Cluster {
    let servers = channels / 4;
    let recipe =
        RandomCluster { servers, channels: ChannelCount::Exactly(channels), ..RandomCluster::default() };
    let mut spec = recipe.draw(0).expect("a valid recipe");
    spec.labels = (0..servers).map(|server| vec![format!("kind-{}", server % 4)]).collect();
    Cluster::new(spec).expect("a valid cluster")
}

/// One slot; the channels chosen wander over all of them.
fn slot(statistics: &mut dyn Statistics, slot: u64, channels: u64) -> f64 {
    statistics.advance(Slot(slot));
    let read = |index: u64| {
        let channel = ChannelId(index as u32);
        statistics.estimate(channel) + statistics.variance(channel)
    };
    let sum = (0..channels).map(read).sum();
    for choice in 0..CHOSEN {
        let channel = ChannelId(((slot * CHOSEN + choice) * 7919 % channels) as u32);
        statistics.commit(Slot(slot), channel);
        let outcome = Outcome::Ran((slot % 10) as f64 / 10.0);
        statistics.observe(&Observation { slot: Slot(slot), channel, outcome });
    }
    sum
}

fn slots(bencher: Bencher<'_, '_>, mut statistics: Box<dyn Statistics>, channels: usize) {
    (1..=200).for_each(|at| {
        slot(&mut *statistics, at, channels as u64);
    });
    let mut at = 200;
    bencher.bench_local(|| {
        at += 1;
        slot(&mut *statistics, at, channels as u64)
    });
}

#[divan::bench(args = CHANNELS, sample_count = 1000, sample_size = 1)]
fn means(bencher: Bencher<'_, '_>, channels: usize) {
    slots(bencher, Box::new(Means::new(channels)), channels);
}

#[divan::bench(args = CHANNELS, sample_count = 1000, sample_size = 1)]
fn pooled(bencher: Bencher<'_, '_>, channels: usize) {
    slots(bencher, Box::new(Pooled::new(&cluster(channels), true, 1.0)), channels);
}

/// Where old outcomes fade, refits are more frequent.
#[divan::bench(args = CHANNELS, sample_count = 1000, sample_size = 1)]
fn pooled_fading(bencher: Bencher<'_, '_>, channels: usize) {
    slots(bencher, Box::new(Pooled::new(&cluster(channels), true, 0.99)), channels);
}

/// What `esdp` stands on: two memories side by side.
#[divan::bench(args = CHANNELS, sample_count = 1000, sample_size = 1)]
fn adaptive(bencher: Bencher<'_, '_>, channels: usize) {
    slots(bencher, Box::new(Adaptive::new(&cluster(channels))), channels);
}
