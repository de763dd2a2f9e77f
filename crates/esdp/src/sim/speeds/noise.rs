//! The standard normal number behind a speed where it is correlated from slot to slot. (Independent noise
//! needs no state, and `mod.rs` draws it.)
//!
//! Correlated noise is an AR(1) process per channel,
//!
//! ```text
//! e_1 = n_1,   e_t = phi e_(t-1) + sqrt(1 - phi^2) n_t
//! ```
//!
//! which is standard normal in every slot, so the law of a speed, and with it the true mean, is
//! that of independent noise. All jobs on a channel meet the same `e_t`: it is the channel that
//! is slow for a while. `n_t` is keyed by slot and channel, so the process does not depend on which
//! channels a policy looks at; a channel catches up when it is used.

use crate::model::{ChannelId, Slot};
use crate::rng::{Purpose, stream};
use rand_distr::{Distribution, StandardNormal};

/// AR(1) noise of every channel.
#[derive(Debug, Clone)]
pub(super) struct Correlated {
    seed: u64,
    correlation: f64,
    /// The last slot asked for and its noise; slot 0 before the first.
    state: Vec<(u64, f64)>,
}

impl Correlated {
    pub(super) fn new(seed: u64, correlation: f64, channels: usize) -> Self {
        Self { seed, correlation, state: vec![(0, 0.0); channels] }
    }

    /// The noise of a channel in a slot. Costs the slots since it was last asked for; an earlier
    /// slot starts again from the first.
    pub(super) fn at(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        let (seed, phi) = (self.seed, self.correlation);
        let fresh = (1.0 - phi * phi).sqrt();
        let (at, value) = &mut self.state[channel.index()];
        if *at > slot.0 {
            (*at, *value) = (0, 0.0);
        }
        while *at < slot.0 {
            *at += 1;
            let draw = independent(seed, Slot(*at), channel);
            *value = if *at == 1 { draw } else { phi * *value + fresh * draw };
        }
        *value
    }
}

/// The first number of the stream of a slot and channel.
pub(super) fn independent(seed: u64, slot: Slot, channel: ChannelId) -> f64 {
    StandardNormal.sample(&mut stream(seed, Purpose::Speeds, slot.0, u64::from(channel.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_those_of_an_ar1_process() {
        let n = 40_000;
        let mut noise = Correlated::new(5, 0.7, 2);
        let draws: Vec<f64> = (1..=n).map(|slot| noise.at(Slot(slot), ChannelId(1))).collect();
        let n = n as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let lag = draws.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / n / variance;
        // Standard errors of a correlated sample: the effective size is n (1 - phi) / (1 + phi).
        let effective = n * 0.3 / 1.7;
        assert!(mean.abs() < 4.0 / effective.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / effective).sqrt() * 1.5, "{variance}");
        assert!((lag - 0.7).abs() < 4.0 * ((1.0 - 0.49) / n).sqrt(), "{lag}");
    }

    #[test]
    fn it_does_not_matter_when_a_channel_is_looked_at() {
        let (mut often, mut rarely) = (Correlated::new(5, 0.9, 1), Correlated::new(5, 0.9, 1));
        let all: Vec<f64> = (1..=50).map(|slot| often.at(Slot(slot), ChannelId(0))).collect();
        assert_eq!(rarely.at(Slot(50), ChannelId(0)), all[49]);
        assert_eq!(rarely.at(Slot(7), ChannelId(0)), all[6]);
    }
}
