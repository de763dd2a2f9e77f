//! Fluctuation as it was measured: factors played again in blocks.
//!
//! A speed is its mean times a factor from measured series, each divided by its own mean. Series are
//! cut into blocks of some slots, and every server plays one block after another, each drawn anew: what
//! happens within a block keeps its autocorrelation and its tails, and no law is fitted. A server's
//! factor hits all that runs on it alike. A block that reaches the end of a series goes on at its start.
//!
//! The true mean is the mean over all samples, each series with the same weight, of the net utility
//! clipped to [0, 1]: by prefix sums over the sorted factors, *O(log samples)* a channel.

use crate::model::{ServerId, Slot};
use crate::rng::{Purpose, stream};
use crate::sim::parameter::{ParameterError, check_number, check_whole};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Measured fluctuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredSpec {
    /// Speeds in the order of time, one list a machine; in any unit, since each is divided by its mean.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e12)))]
    pub series: Vec<Vec<f64>>,
    /// The slots of a block, at least 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1u64 << 32, "x-unit" = "slots")))]
    pub block: u64,
}

impl MeasuredSpec {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_whole("measured.block", self.block, 1..=1 << 32)?;
        if self.series.is_empty() {
            return Err(ParameterError::new("measured.series", "empty", "at least one list of speeds"));
        }
        for (at, series) in self.series.iter().enumerate() {
            for (sample, &value) in series.iter().enumerate() {
                check_number(format!("measured.series[{at}][{sample}]"), value, 0.0..=1e12)?;
            }
            let sum: f64 = series.iter().sum();
            if sum <= 0.0 {
                let key = format!("measured.series[{at}]");
                return Err(ParameterError::new(key, "without a positive speed", "at least one"));
            }
        }
        Ok(())
    }

    pub(super) fn build(&self, seed: u64) -> Measured {
        let mut weighted = Vec::new();
        let relative = |series: &Vec<f64>| {
            let mean = series.iter().sum::<f64>() / series.len() as f64;
            series.iter().map(|value| value / mean).collect::<Vec<f64>>()
        };
        let series: Vec<Vec<f64>> = self.series.iter().map(relative).collect();
        for factors in &series {
            let weight = 1.0 / (factors.len() * series.len()) as f64;
            weighted.extend(factors.iter().map(|&factor| (factor, weight)));
        }
        weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut sums = vec![(0.0, 0.0)];
        for &(factor, weight) in &weighted {
            let (mass, first) = sums[sums.len() - 1];
            sums.push((mass + weight, first + weight * factor));
        }
        let sorted = weighted.into_iter().map(|(factor, _)| factor).collect();
        Measured { shared: Arc::new(Shared { series, sorted, sums }), block: self.block, seed }
    }
}

/// The fluctuation of one seed.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    shared: Arc<Shared>,
    block: u64,
    seed: u64,
}

#[derive(Debug)]
struct Shared {
    series: Vec<Vec<f64>>,
    sorted: Vec<f64>,
    /// Before each of the sorted factors: the weight of those below it, and their weighted sum.
    sums: Vec<(f64, f64)>,
}

impl Measured {
    /// A server's factor in a slot.
    pub(super) fn factor(&self, slot: Slot, server: ServerId) -> f64 {
        let (block, within) =
            ((slot.0.saturating_sub(1)) / self.block, (slot.0.saturating_sub(1)) % self.block);
        let mut rng = stream(self.seed, Purpose::Speeds, block, u64::from(server.0));
        let series = &self.shared.series[rng.random_range(0..self.shared.series.len())];
        let start = rng.random_range(0..series.len());
        series[(start + (within % series.len() as u64) as usize) % series.len()]
    }

    /// The mean of `mean x factor - cost` clipped to [0, 1].
    pub(super) fn net_mean(&self, mean: f64, cost: f64) -> f64 {
        if mean <= 0.0 {
            return (-cost).clamp(0.0, 1.0);
        }
        let below =
            |limit: f64| self.shared.sums[self.shared.sorted.partition_point(|&factor| factor < limit)];
        let (low, high) = (below(cost / mean), below((1.0 + cost) / mean));
        (mean * (high.1 - low.1) - cost * (high.0 - low.0) + (1.0 - high.0)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        let series = vec![vec![1.0, 2.0, 3.0, 2.0], vec![10.0, 10.0, 40.0]];
        MeasuredSpec { series, block: 3 }.build(5)
    }

    #[test]
    fn blocks_are_pieces_of_a_series() {
        let measured = measured();
        let pieces: Vec<Vec<f64>> = vec![vec![0.5, 1.0, 1.5, 1.0], vec![0.5, 0.5, 2.0]];
        for server in (0..20).map(ServerId) {
            for block in 0..20 {
                let factors: Vec<f64> =
                    (1..=3).map(|k| measured.factor(Slot(3 * block + k), server)).collect();
                let fits = pieces.iter().any(|series| {
                    let at = |start: usize, k: usize| series[(start + k) % series.len()];
                    (0..series.len()).any(|start| (0..3).all(|k| at(start, k) == factors[k]))
                });
                assert!(fits, "{factors:?}");
            }
        }
    }

    #[test]
    fn the_mean_is_that_of_what_is_played() {
        let measured = measured();
        for (mean, cost) in [(0.5, 0.1), (0.9, 0.0), (0.2, 0.15), (0.0, 0.1), (3.0, 0.5)] {
            let (mut sum, mut count) = (0.0, 0.0);
            for server in (0..40).map(ServerId) {
                for slot in (1..=3000).map(Slot) {
                    sum += (mean * measured.factor(slot, server) - cost).clamp(0.0, 1.0);
                    count += 1.0;
                }
            }
            let truth = measured.net_mean(mean, cost);
            assert!((sum / count - truth).abs() < 0.006, "{mean} {cost}: {} is not {truth}", sum / count);
        }
    }

    #[test]
    fn bad_series_are_refused() {
        let refused =
            |series: Vec<Vec<f64>>, block| MeasuredSpec { series, block }.check().unwrap_err().to_string();
        assert!(refused(vec![], 1).contains("`measured.series` is empty"));
        assert!(refused(vec![vec![1.0, f64::NAN]], 1).contains("`measured.series[0][1]` is NaN"));
        assert!(refused(vec![vec![0.0, 0.0]], 1).contains("without a positive speed"));
        assert!(refused(vec![vec![1.0]], 0).contains("`measured.block` is 0"));
    }
}
