//! Who has a job in which slot; one law per file.

mod bernoulli;
mod bursty;
mod diurnal;
mod late;
mod listed;
mod rates;
mod several;
mod spec;

pub use bernoulli::Bernoulli;
pub use bursty::Bursty;
pub use diurnal::Diurnal;
pub use late::Late;
pub use listed::Listed;
pub use rates::Rates;
pub use several::{Binomial, Poisson};
pub use spec::{ArrivalSpec, MOST_JOBS};

use crate::model::{Arrivals, Slot};
use crate::rng::Stream;
use rand::RngExt;

/// A source of arrivals. The same slot always gives the same arrivals.
pub trait Workload: Send {
    /// Writes the arrivals of a slot over what is there.
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals);
}

impl<W: Workload + ?Sized> Workload for Box<W> {
    fn arrivals(&mut self, slot: Slot, arrivals: &mut Arrivals) {
        (**self).arrivals(slot, arrivals);
    }
}

/// A Poisson count, capped: by inversion, in at most `most` steps.
fn poisson(rate: f64, most: u32, rng: &mut Stream) -> u32 {
    let draw: f64 = rng.random();
    let mut term = (-rate).exp();
    let (mut sum, mut count) = (term, 0);
    while draw >= sum && count < most {
        count += 1;
        term *= rate / f64::from(count);
        sum += term;
    }
    count
}

#[cfg(test)]
mod testing {
    use super::Workload;
    use crate::model::{Arrivals, PortId, Slot};

    /// Mean and variance of the counts of every port; slots must repeat.
    pub(super) fn moments(workload: &mut dyn Workload, ports: u32, slots: u64) -> Vec<(f64, f64)> {
        let (mut sum, mut square) = (vec![0.0; ports as usize], vec![0.0; ports as usize]);
        let mut arrivals = Arrivals::everywhere(ports as usize);
        let mut again = Arrivals::new(vec![7; ports as usize]);
        for slot in (1..=slots).map(Slot) {
            workload.arrivals(slot, &mut arrivals);
            workload.arrivals(slot, &mut again);
            assert_eq!(arrivals, again);
            for port in 0..ports {
                let jobs = f64::from(arrivals.jobs(PortId(port)));
                sum[port as usize] += jobs;
                square[port as usize] += jobs * jobs;
            }
        }
        let n = slots as f64;
        sum.iter().zip(&square).map(|(sum, square)| (sum / n, square / n - (sum / n).powi(2))).collect()
    }
}
