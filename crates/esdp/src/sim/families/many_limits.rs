//! Requests of 0 to 2 on many devices, each with room for a tenth or a quarter of what is asked for.
//! Even numbers have means that follow the requests, so that no channel stands out; those of odd
//! numbers tell nothing of them.

use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(limits, channels) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let mut instance = Instance::default();
    let mut sums = vec![0; limits as usize];
    for _ in 0..channels {
        let request: Vec<Amount> = (0..limits).map(|_| rng.random_range(0..=2)).collect();
        sums.iter_mut().zip(&request).for_each(|(sum, a)| *sum += a);
        let follows = request.iter().sum::<Amount>() as f64 / f64::from(2 * limits);
        let mean = match draw.number % 2 {
            0 => follows + 0.01 * rng.random::<f64>(),
            _ => rng.random(),
        };
        let (mean, width) = learner.plain(mean, 1.0);
        instance.push(&request, mean, width);
    }
    let share = if draw.number % 4 < 2 { 10 } else { 4 };
    instance.capacity = sums.iter().map(|sum| sum / share).collect();
    instance
}
