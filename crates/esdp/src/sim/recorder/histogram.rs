//! Percentiles of times in constant memory.
//!
//! Times from 1 ns on fall into 16 bins an octave, so a percentile is read with a relative error of
//! at most 1/32. Histograms of several runs merge into that of all.

use serde::{Deserialize, Serialize};

/// Bins an octave: a power of two.
const FINE: u64 = 16;
const FINE_BITS: u32 = FINE.trailing_zeros();
/// Up to 2^40 ns, which is 18 minutes; what is longer counts as that.
const BINS: usize = (40 * FINE) as usize;

/// Counts of times, in logarithmic bins.
///
/// ```
/// use esdp::sim::Histogram;
///
/// let mut times = Histogram::default();
/// (1..=1000).for_each(|nanos| times.add(nanos * 1000));
/// let p99 = times.percentile(0.99).unwrap();
/// assert!((p99 / 990_000.0 - 1.0).abs() < 1.0 / 32.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Grows up to the largest bin that is used.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Counts a time in nanoseconds.
    pub fn add(&mut self, nanos: u64) {
        let bin = bin(nanos);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.total += 1;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.total += other.total;
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The time in nanoseconds below which a share of all lies; none without any.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = ((share.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return Some(middle(bin as u64));
            }
        }
        None
    }
}

fn bin(nanos: u64) -> usize {
    // Below 16 ns every nanosecond has its own bin.
    if nanos < FINE {
        return nanos as usize;
    }
    let octave = nanos.ilog2() - FINE_BITS;
    let bin = u64::from(octave) * FINE + (nanos >> octave);
    (bin as usize).min(BINS - 1)
}

/// The middle of a bin.
fn middle(bin: u64) -> f64 {
    if bin < 2 * FINE {
        return bin as f64;
    }
    let octave = bin / FINE - 1;
    let (from, width) = ((FINE + bin % FINE) << octave, 1u64 << octave);
    from as f64 + (width - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_holds_what_is_near_its_middle() {
        for nanos in (0..10_000).chain((0..30).map(|power| 12_345 << power).filter(|n| *n < 1 << 39)) {
            let found = middle(bin(nanos) as u64);
            assert!((found - nanos as f64).abs() <= nanos as f64 / 32.0, "{nanos}: {found}");
        }
        assert_eq!(bin(u64::MAX), BINS - 1);
    }

    #[test]
    fn merging_is_counting_all() {
        let (mut all, mut parts) = (Histogram::default(), [Histogram::default(), Histogram::default()]);
        for nanos in 1..5000u64 {
            all.add(nanos * 7);
            parts[(nanos % 2) as usize].add(nanos * 7);
        }
        let [mut merged, other] = parts;
        merged.merge(&other);
        assert_eq!((merged.count(), &merged), (4999, &all));
        assert_eq!(Histogram::default().percentile(0.5), None);
    }
}
