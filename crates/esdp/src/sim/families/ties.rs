//! Channels of a few kinds, equal within a kind or nearly: a cold start, or machines that are alike.
//!
//! | number mod 4 | variant |
//! |---|---|
//! | 0 | equal; with one kind, request 1 and mean 0.5 |
//! | 1 | equal, requests of 1 to 3 on two devices |
//! | 2 | as 1, means that differ by a billionth |
//! | 3 | as 1, means that differ by a thousandth |

use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(channels, kinds) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let plain = draw.number.is_multiple_of(4);
    let spread = [0.0, 0.0, 1e-9, 1e-3][(draw.number % 4) as usize];
    let devices = if plain { 1 } else { 2 };
    let kinds: Vec<(Vec<Amount>, f64, f64)> = (0..kinds)
        .map(|kind| {
            // The first kind of the plain variant is the plainest there is.
            let first = plain && kind == 0;
            let request = (0..devices).map(|_| if first { 1 } else { rng.random_range(1..=3) }).collect();
            let mean = if first { 0.5 } else { rng.random_range(0.1..1.0) };
            let (mean, width) = learner.plain(mean, 1.0);
            (request, mean, width)
        })
        .collect();
    let mut instance = Instance::default();
    let mut sums = vec![0; devices];
    for channel in 0..channels as usize {
        let (request, mean, width) = &kinds[channel % kinds.len()];
        sums.iter_mut().zip(request).for_each(|(sum, a)| *sum += a);
        instance.push(request, mean + spread * rng.random::<f64>(), *width);
    }
    instance.capacity = sums.iter().map(|sum| sum * 3 / 10).collect();
    instance
}
