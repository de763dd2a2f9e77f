//! Multi-dimensional knapsacks by the rule of P. C. Chu and J. E. Beasley, "A genetic algorithm for
//! the multidimensional knapsack problem", Journal of Heuristics 4 (1998): requests uniform from 0
//! to 1000, capacities a share of their sums, and values that follow the requests,
//!
//! ```text
//! b_i = alpha sum_j a_ij      p_j = sum_i a_ij / m + 500 u_j      alpha = 1/4, 1/2, 3/4 in turn
//! ```
//!
//! Their files in the OR-Library are not repeated here; these are drawn anew.

use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

/// What a value typically is: the mean of a request and that of the noise.
const UNIT: f64 = 750.0;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(limits, channels) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let mut instance = Instance::default();
    let mut sums = vec![0; limits as usize];
    for _ in 0..channels {
        let request: Vec<Amount> = (0..limits).map(|_| rng.random_range(0..=1000)).collect();
        sums.iter_mut().zip(&request).for_each(|(sum, a)| *sum += a);
        let value = request.iter().sum::<Amount>() as f64 / f64::from(limits) + 500.0 * rng.random::<f64>();
        let (mean, width) = learner.plain(value, UNIT);
        instance.push(&request, mean, width);
    }
    let quarters = 1 + draw.number % 3;
    instance.capacity = sums.iter().map(|sum| sum * quarters / 4).collect();
    instance
}
