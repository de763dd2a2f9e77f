//! Random numbers that depend on what they are for, not on who asks first.
//!
//! [`stream`] opens a generator keyed by (seed, purpose, slot, index). The speed of
//! channel 7 in slot 12 is the same number under every policy, in every order, on any
//! number of threads; and since a stream is opened anew where it is needed, there is no
//! generator state to save in a checkpoint.
//!
//! The key is folded word by word with the finaliser of SplitMix64, a bijection in
//! every word, and then expanded to the 256 bits of xoshiro256++. Opening a stream costs
//! a few nanoseconds. Not for secrets.
//!
//! ```
//! use esdp::rng::{Purpose, stream};
//! use rand::RngExt;
//!
//! let draw = |slot| stream(7, Purpose::Speeds, slot, 3).random::<f64>();
//! assert_eq!(draw(12), draw(12));
//! assert_ne!(draw(12), draw(13));
//! ```

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator behind a [`stream`].
pub type Stream = Xoshiro256PlusPlus;

/// What random numbers are for. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Purpose {
    /// The shape of a generated cluster: channels, requests, capacities, costs.
    Cluster = 1,
    /// The laws of the speeds, drawn once: each channel's mean.
    Laws = 2,
    /// Which ports have a job.
    Arrivals = 3,
    /// How fast a chosen channel runs.
    Speeds = 4,
    /// A policy's own coin.
    Policy = 5,
    /// How mean speeds drift: who is slow when.
    Drift = 6,
    /// When an outcome becomes known.
    Delays = 7,
    /// How much work a job has.
    Work = 8,
    /// The numbers of a slot's problem that is drawn and not learned.
    Instances = 9,
}

/// Opens the stream of a key.
pub fn stream(seed: u64, purpose: Purpose, slot: u64, index: u64) -> Stream {
    let key = [purpose as u64, slot, index].iter().fold(mix(seed), |key, &word| mix(key ^ word));
    Stream::seed_from_u64(key)
}

/// A step of SplitMix64. The increment comes first, so that an all-zero key is mixed too.
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt};
    use std::collections::HashSet;

    #[test]
    fn every_part_of_the_key_matters() {
        let purposes = [
            Purpose::Cluster,
            Purpose::Laws,
            Purpose::Arrivals,
            Purpose::Speeds,
            Purpose::Policy,
            Purpose::Drift,
            Purpose::Delays,
            Purpose::Work,
            Purpose::Instances,
        ];
        let mut seen = HashSet::new();
        for seed in 0..8 {
            for purpose in purposes {
                for slot in 0..20 {
                    for index in 0..20 {
                        assert!(seen.insert(stream(seed, purpose, slot, index).next_u64()));
                    }
                }
            }
        }
    }

    #[test]
    fn neighbouring_keys_are_unrelated() {
        // First draws of 40,000 neighbouring streams: mean, variance and the correlation
        // of neighbours, each within five standard errors.
        let n = 40_000;
        let draws: Vec<f64> =
            (0..n).map(|i| stream(1, Purpose::Speeds, i / 200, i % 200).random::<f64>() - 0.5).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / n as f64;
        let lag = draws.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n as f64;
        let bound = 5.0 / (n as f64).sqrt();
        assert!(mean.abs() < bound * (1.0f64 / 12.0).sqrt(), "mean {mean}");
        assert!((variance - 1.0 / 12.0).abs() < bound * (1.0f64 / 180.0).sqrt(), "variance {variance}");
        assert!(lag.abs() < bound / 12.0, "lag {lag}");
    }

    #[test]
    fn streams_never_change_between_versions() {
        // Saved results name seeds only: a change here would silently change them all.
        assert_eq!(stream(42, Purpose::Arrivals, 1, 0).next_u64(), 17_469_904_889_658_378_358);
    }
}
