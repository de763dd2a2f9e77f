//! Single knapsacks after D. Pisinger, "Where are the hard knapsack problems?", Computers & Operations
//! Research 32 (2005), with numbers up to *R*; the capacity is one to nine tenths of all requests.
//!
//! | number mod 7 | family | request *w* and mean *p* |
//! |---|---|---|
//! | 0 | uncorrelated | both uniform from 1 to *R* |
//! | 1 | weakly correlated | *p* within *R*/10 of *w* |
//! | 2 | strongly correlated | *p = w + R*/10 |
//! | 3 | inverse strongly correlated | *w = p + R*/10 |
//! | 4 | almost strongly correlated | *p* within *R*/500 of *w + R*/10 |
//! | 5 | subset sum | *p = w* |
//! | 6 | similar requests | *w* from 100 *R* to 100.1 *R*, *p* uniform |

use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::solver::Instance;
use rand::RngExt;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(channels, largest) = draw.size;
    let largest = u64::from(largest);
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let tenths = rng.random_range(1..=9);
    let mut instance = Instance::default();
    let mut sum = 0;
    for _ in 0..channels {
        let (first, second) = (rng.random_range(1..=largest), rng.random_range(1..=largest));
        // Within `largest / part` on either side of a centre, at least 1.
        let mut near = |centre: u64, part: u64| {
            let reach = largest / part;
            rng.random_range(centre.saturating_sub(reach).max(1)..=centre + reach)
        };
        let (request, mean) = match draw.number % 7 {
            0 => (first, second),
            1 => (first, near(first, 10)),
            2 => (first, first + largest / 10),
            3 => (first + largest / 10, first),
            4 => (first, near(first + largest / 10, 500)),
            5 => (first, first),
            _ => (100 * largest + first / 10, second),
        };
        sum += request;
        let (mean, width) = learner.plain(mean as f64, largest as f64 / 2.0);
        instance.push(&[request], mean, width);
    }
    instance.capacity = vec![sum * tenths / 10];
    instance
}
