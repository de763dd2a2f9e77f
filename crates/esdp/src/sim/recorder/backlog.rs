//! How many jobs wait, over a run of any length.
//!
//! The number of waiting jobs of each port is added up over blocks of slots. When there are [`BLOCKS`] of them,
//! neighbours are joined, so that the memory does not grow with the run: between half of that number and all of
//! it are there, however long the run was. Whether a queue grows is read off the blocks by [`Growth`].

use serde::{Deserialize, Serialize};

/// The most blocks.
const BLOCKS: usize = 64;

/// The share of a run that is left out of the slope: a queue that starts empty has to fill up.
const WARM_UP: f64 = 0.2;

/// The jobs that wait, by port and block of slots.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Backlog {
    /// The slots of a block: a power of two.
    span: u64,
    /// How many slots of the last block are there.
    filled: u64,
    /// Nothing is added any more: no job arrives.
    closed: bool,
    /// For each port, and each block: the sum over its slots of the jobs that waited.
    sums: Vec<Vec<u64>>,
}

/// How a queue developed over a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// By how many jobs it grows in a slot: the line of least squares through the last 80 % of the run.
    pub slope: f64,
    /// The mean number of waiting jobs in the first and in the second half.
    pub halves: (f64, f64),
    /// Whether the mean rises from each fifth of the run to the next.
    pub rises: bool,
}

impl Backlog {
    pub(super) fn new(ports: usize) -> Self {
        Self { span: 1, filled: 0, closed: false, sums: vec![Vec::new(); ports] }
    }

    /// Adds a slot: the jobs that wait at each port.
    pub(super) fn add(&mut self, waiting: impl Iterator<Item = u64>) {
        if self.closed || self.span == 0 {
            return;
        }
        let starts = self.filled == 0;
        for (sums, waiting) in self.sums.iter_mut().zip(waiting) {
            match sums.last_mut().filter(|_| !starts) {
                Some(last) => *last += waiting,
                None => sums.push(waiting),
            }
        }
        self.filled += 1;
        if self.filled < self.span {
            return;
        }
        self.filled = 0;
        if self.sums.first().is_some_and(|sums| sums.len() == BLOCKS) {
            self.span *= 2;
            self.sums
                .iter_mut()
                .for_each(|sums| *sums = sums.chunks(2).map(|pair| pair.iter().sum()).collect());
        }
    }

    /// No job arrives from now on: what follows says nothing of the queue.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// The growth of the whole queue.
    pub fn growth(&self) -> Option<Growth> {
        let sum = |block| self.sums.iter().map(|sums| sums[block]).sum::<u64>();
        self.growth_of(sum)
    }

    /// The growth of a port's queue.
    pub fn growth_at(&self, port: usize) -> Option<Growth> {
        let sums = self.sums.get(port)?;
        self.growth_of(|block| sums[block])
    }

    /// None with fewer than ten blocks: so short a run has no trend.
    fn growth_of(&self, sum: impl Fn(usize) -> u64) -> Option<Growth> {
        // The last block is left out if it is not whole.
        let blocks = self.sums.first()?.len() - usize::from(self.filled > 0);
        if blocks < 10 {
            return None;
        }
        let means: Vec<f64> = (0..blocks).map(|block| sum(block) as f64 / self.span as f64).collect();
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, second) = means.split_at(blocks / 2);
        let fifth = |number: usize| mean(&means[number * blocks / 5..(number + 1) * blocks / 5]);
        Some(Growth {
            slope: slope(&means[(WARM_UP * blocks as f64) as usize..]) / self.span as f64,
            halves: (mean(first), mean(second)),
            rises: (1..5).all(|number| fifth(number) > fifth(number - 1)),
        })
    }
}

/// The slope of the line of least squares through values at 0, 1, 2 and on.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let offsets = || (0..values.len()).map(|at| at as f64 - middle);
    let squares: f64 = offsets().map(|offset| offset * offset).sum();
    offsets().zip(values).map(|(offset, value)| offset * value).sum::<f64>() / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(slots: u64, waiting: impl Fn(u64) -> [u64; 2]) -> Backlog {
        let mut backlog = Backlog::new(2);
        (0..slots).for_each(|slot| backlog.add(waiting(slot).into_iter()));
        backlog
    }

    #[test]
    fn a_line_has_its_slope_whatever_the_length() {
        for slots in [10, 63, 64, 65, 100, 1000, 12_345] {
            let line = backlog(slots, |slot| [3 * slot, 7]);
            let growth = line.growth().unwrap();
            assert!((growth.slope - 3.0).abs() < 1e-9 && growth.rises, "{slots}: {growth:?}");
            let flat = line.growth_at(1).unwrap();
            assert_eq!((flat.slope, flat.halves, flat.rises), (0.0, (7.0, 7.0), false), "{slots}");
            assert!(line.sums[0].len() <= BLOCKS);
        }
        assert_eq!(backlog(9, |_| [1, 1]).growth(), None);
    }

    #[test]
    fn filling_up_is_left_out_of_the_slope() {
        let growth = backlog(1000, |slot| [slot.min(190), 0]).growth().unwrap();
        assert_eq!((growth.slope, growth.rises), (0.0, false));
        assert!(growth.halves.0 < growth.halves.1);
    }

    #[test]
    fn nothing_is_added_after_the_last_arrival() {
        let mut backlog = backlog(100, |slot| [slot, 0]);
        let open = backlog.clone();
        backlog.close();
        (0..500).for_each(|_| backlog.add([0, 0].into_iter()));
        assert_eq!(backlog.growth(), open.growth());
    }
}
