//! How many arrivals there are in every stretch of time, in any order, in bounded memory.
//!
//! Counts lie on pages of 256 bins that exist where something arrived. When there would be more than
//! [`MOST_PAGES`] of them (64 MB), neighbouring bins are joined and the width doubles: `width` tells.

use std::collections::BTreeMap;

const PAGE: u64 = 256;
/// The most pages.
pub const MOST_PAGES: usize = 65_536;

/// Counts by time.
#[derive(Debug, Clone)]
pub struct Bins {
    width: f64,
    pages: BTreeMap<u64, Box<[u32; PAGE as usize]>>,
    first: u64,
    last: u64,
    total: u64,
}

impl Bins {
    /// No arrivals yet; bins of this many seconds.
    pub fn new(width: f64) -> Self {
        Self { width, pages: BTreeMap::new(), first: u64::MAX, last: 0, total: 0 }
    }

    /// The width of a bin now, in seconds.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// How many arrivals there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many pages are held.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Counts an arrival; one before 0 counts at 0.
    pub fn add(&mut self, time: f64) {
        let bin = (time / self.width).clamp(0.0, 1e15) as u64;
        self.put(bin, 1);
        while self.pages.len() > MOST_PAGES {
            self.widen();
        }
    }

    fn put(&mut self, bin: u64, count: u32) {
        let page = self.pages.entry(bin / PAGE).or_insert_with(|| Box::new([0; PAGE as usize]));
        let place = &mut page[(bin % PAGE) as usize];
        *place = place.saturating_add(count);
        self.first = self.first.min(bin);
        self.last = self.last.max(bin);
        self.total += u64::from(count);
    }

    fn widen(&mut self) {
        let mut wider = Self::new(self.width * 2.0);
        for (bin, count) in self.filled() {
            wider.put(bin / 2, count);
        }
        *self = wider;
    }

    /// The bins that hold something, in the order of time.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u32)> {
        self.pages.iter().flat_map(|(page, counts)| {
            let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            bins.map(move |(at, &count)| (page * PAGE + at as u64, count))
        })
    }

    /// Bins from the first that holds something to the last.
    pub fn span(&self) -> u64 {
        if self.total == 0 { 0 } else { self.last - self.first + 1 }
    }

    /// Mean, variance over mean, least and most arrivals a bin, from the first bin to the last.
    pub fn dispersion(&self) -> Option<Dispersion> {
        let bins = self.span();
        if bins == 0 {
            return None;
        }
        let (mut square, mut most, mut least, mut filled) = (0.0, 0, u32::MAX, 0);
        for (_, count) in self.filled() {
            square += f64::from(count) * f64::from(count);
            most = most.max(count);
            least = least.min(count);
            filled += 1;
        }
        let mean = self.total as f64 / bins as f64;
        let variance = (square / bins as f64 - mean * mean).max(0.0);
        let least = if filled < bins { 0 } else { least };
        Some(Dispersion {
            width: self.width,
            bins,
            mean,
            variance_over_mean: variance / mean,
            min: least,
            max: most,
        })
    }

    /// The mean count in each of at most `most` equal stretches: (start in seconds since the first bin, count
    /// a bin).
    pub fn curve(&self, most: u64) -> Vec<(f64, f64)> {
        let bins = self.span();
        if bins == 0 {
            return Vec::new();
        }
        let each = bins.div_ceil(most.max(1)).max(1);
        let mut sums = vec![0.0; bins.div_ceil(each) as usize];
        for (bin, count) in self.filled() {
            sums[((bin - self.first) / each) as usize] += f64::from(count);
        }
        let last = sums.len() - 1;
        let held = |at: usize| if at == last { bins - at as u64 * each } else { each };
        let point = |(at, sum): (usize, f64)| (at as f64 * each as f64 * self.width, sum / held(at) as f64);
        sums.into_iter().enumerate().map(point).collect()
    }
}

/// How evenly things arrive. A Poisson process has a variance over mean of 1.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Dispersion {
    /// The width of a bin, in seconds.
    pub width: f64,
    /// How many bins.
    pub bins: u64,
    /// The mean count.
    pub mean: f64,
    /// The variance of the counts as a multiple of their mean.
    pub variance_over_mean: f64,
    /// The smallest count.
    pub min: u32,
    /// The largest.
    pub max: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_dispersion() {
        let mut bins = Bins::new(1.0);
        [10.2, 10.9, 12.0, 5_000.0, 11.5].into_iter().for_each(|time| bins.add(time));
        assert_eq!(bins.filled().collect::<Vec<_>>(), [(10, 2), (11, 1), (12, 1), (5000, 1)]);
        let found = bins.dispersion().unwrap();
        assert_eq!((found.bins, found.min, found.max), (4991, 0, 2));
        let mean = 5.0 / 4991.0;
        assert!((found.variance_over_mean - (7.0 / 4991.0 - mean * mean) / mean).abs() < 1e-12);
        assert_eq!(bins.curve(2), [(0.0, 4.0 / 2496.0), (2496.0, 1.0 / 2495.0)]);
    }

    #[test]
    fn a_long_trace_is_joined_and_not_lost() {
        let mut bins = Bins::new(1.0);
        for at in 0..200_000u64 {
            bins.add((at * 1000) as f64);
        }
        assert!(bins.pages() <= MOST_PAGES && bins.width() > 1.0);
        assert_eq!(
            (bins.total(), bins.filled().map(|(_, count)| u64::from(count)).sum::<u64>()),
            (200_000, 200_000)
        );
    }
}
