//! Quantiles of positive numbers in bounded memory: a histogram of logarithmic buckets.
//!
//! Buckets are 2 % wide, so a quantile is within 1 % of the truth; a bucket that holds one value only, as
//! those of small whole numbers do, gives it exactly. 33 KB, whatever comes.

use serde::Serialize;

const SMALLEST: f64 = 1e-6;
const LARGEST: f64 = 1e12;
/// ln(1.02).
const WIDTH: f64 = 0.019_802_627_296_179_73;
/// ln(LARGEST / SMALLEST) / WIDTH, rounded up.
const BUCKETS: usize = 2094;

/// A histogram; values that are not positive are ignored.
#[derive(Debug, Clone)]
pub struct ValueHistogram {
    buckets: Vec<(u64, f64)>,
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
}

/// The usual quantiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The first percentile.
    pub p1: f64,
    /// The fifth.
    pub p5: f64,
    /// The 25th.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The 75th.
    pub p75: f64,
    /// The 90th.
    pub p90: f64,
    /// The 95th.
    pub p95: f64,
    /// The 99th.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Default for ValueHistogram {
    fn default() -> Self {
        Self { buckets: vec![(0, 0.0); BUCKETS], count: 0, sum: 0.0, least: f64::INFINITY, most: 0.0 }
    }
}

impl ValueHistogram {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        if !(value > 0.0 && value.is_finite()) {
            return;
        }
        let place = (libm::log(value.clamp(SMALLEST, LARGEST) / SMALLEST) / WIDTH) as usize;
        let bucket = &mut self.buckets[place.min(BUCKETS - 1)];
        bucket.0 += 1;
        bucket.1 += value;
        self.count += 1;
        self.sum += value;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value below which a share of all lies; 0 where there are none.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for &(count, sum) in &self.buckets {
            below += count;
            if below >= rank {
                // The mean of the bucket: the value itself where there is only one.
                return (sum / count as f64).clamp(self.least, self.most);
            }
        }
        0.0
    }

    /// The usual quantiles; `None` where there is no value.
    pub fn quantiles(&self) -> Option<Quantiles> {
        if self.count == 0 {
            return None;
        }
        let q = |share| self.quantile(share);
        Some(Quantiles {
            count: self.count,
            mean: self.sum / self.count as f64,
            min: self.least,
            p1: q(0.01),
            p5: q(0.05),
            p25: q(0.25),
            p50: q(0.5),
            p75: q(0.75),
            p90: q(0.9),
            p95: q(0.95),
            p99: q(0.99),
            max: self.most,
        })
    }

    /// The share of values at or below each bucket's mean: the distribution, as at most `most` points.
    pub fn cumulative(&self, most: usize) -> Vec<(f64, f64)> {
        let filled = self.buckets.iter().filter(|(count, _)| *count > 0);
        let step = (filled.clone().count() / most.max(1)).max(1);
        let mut below = 0;
        let mut points: Vec<(f64, f64)> = filled
            .map(|&(count, sum)| {
                below += count;
                (sum / count as f64, below as f64 / self.count as f64)
            })
            .collect();
        let last = points.len().saturating_sub(1);
        let mut at = 0;
        points.retain(|_| {
            let keep = at % step == 0 || at == last;
            at += 1;
            keep
        });
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_percent() {
        let mut histogram = ValueHistogram::default();
        (1..=100_000).for_each(|value| histogram.add(f64::from(value) / 7.0));
        for share in [0.001, 0.01, 0.3, 0.5, 0.9, 0.999] {
            let (found, exact) = (histogram.quantile(share), share * 100_000.0 / 7.0);
            assert!((found / exact - 1.0).abs() < 0.0101, "{share}: {found} for {exact}");
        }
        assert_eq!(
            (histogram.quantiles().unwrap().min, histogram.quantiles().unwrap().max),
            (1.0 / 7.0, 1e5 / 7.0)
        );
    }

    #[test]
    fn small_whole_numbers_are_exact_and_oddities_ignored() {
        let mut histogram = ValueHistogram::default();
        [0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.quantiles(), None);
        [3.0, 3.0, 8.0, 1e-9, 1e15].into_iter().for_each(|value| histogram.add(value));
        assert_eq!((histogram.quantile(0.5), histogram.count()), (3.0, 5));
        assert_eq!((histogram.quantile(0.0), histogram.quantile(1.0)), (1e-9, 1e15));
    }
}
