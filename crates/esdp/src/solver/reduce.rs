//! A problem made small and even: what cannot matter is dropped, the rest scaled to about 1.
//!
//! - A channel that does not fit alone, or whose largest possible gain `v + sqrt(w)` is
//!   not positive, is in no optimal set that we need to consider.
//! - A device row that even all channels together do not fill limits nothing.
//! - Means are divided by `scale` and variances by its square, which divides the objective
//!   by `scale`: numbers near overflow or underflow become ordinary ones.
//! - Requests are divided by their greatest common divisor (bytes become blocks).

use super::Problem;
use crate::model::Amount;

/// The channels and rows that matter, in buffers that are reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Reduced {
    /// The objective's unit.
    pub scale: f64,
    /// The positions of the kept channels in the problem.
    pub ids: Vec<u32>,
    /// Scaled means.
    pub v: Vec<f64>,
    /// Scaled variances.
    pub w: Vec<f64>,
    /// Whether every kept variance is zero.
    pub linear: bool,
    /// The kept rows' capacities.
    pub capacity: Vec<Amount>,
    /// Channel after channel, the request on each kept row.
    pub requests: Vec<Amount>,
    /// The smallest request on each kept row.
    pub least: Vec<Amount>,
    /// Visits of the last reading.
    pub work: u64,
    rows: Vec<(usize, Amount)>,
}

impl Reduced {
    /// The number of kept channels.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of kept rows.
    pub fn rows(&self) -> usize {
        self.capacity.len()
    }

    /// A kept channel's request on each kept row.
    pub fn request(&self, channel: usize) -> &[Amount] {
        let rows = self.rows();
        &self.requests[channel * rows..][..rows]
    }

    /// The scaled objective at sums of scaled means and variances.
    pub fn value(mean: f64, variance: f64) -> f64 {
        // A sum of variances may come out as -1e-17 after additions and subtractions.
        mean + variance.max(0.0).sqrt()
    }

    /// Takes over a problem.
    pub fn fill(&mut self, problem: &Problem<'_>) {
        let (mean, variance) = (problem.mean(), problem.width());
        self.ids.clear();
        self.scale = 0.0;
        self.linear = true;
        for channel in 0..problem.len() {
            let (v, root) = (mean[channel], variance[channel].sqrt());
            if v + root > 0.0 && problem.fits_alone(channel) {
                self.ids.push(channel as u32);
                self.scale = self.scale.max(v.abs()).max(root);
                self.linear &= root == 0.0;
            }
        }
        self.v.clear();
        self.w.clear();
        let scale = self.scale;
        self.v.extend(self.ids.iter().map(|&id| mean[id as usize] / scale));
        // Twice divided: the square of the scale may overflow where the quotient does not.
        self.w.extend(self.ids.iter().map(|&id| variance[id as usize] / scale / scale));
        self.fill_rows(problem);
        self.work = (problem.len() * (4 + 2 * problem.devices())) as u64;
    }

    fn fill_rows(&mut self, problem: &Problem<'_>) {
        self.rows.clear();
        self.capacity.clear();
        self.least.clear();
        for (device, &capacity) in problem.capacity().iter().enumerate() {
            let (mut total, mut divisor, mut least) = (0u128, 0, Amount::MAX);
            for &id in &self.ids {
                let request = problem.request(id as usize)[device];
                total += u128::from(request);
                least = least.min(request);
                if divisor != 1 {
                    divisor = gcd(request, divisor);
                }
            }
            if total > u128::from(capacity) {
                self.rows.push((device, divisor));
                self.capacity.push(capacity / divisor);
                self.least.push(least / divisor);
            }
        }
        self.requests.clear();
        for &id in &self.ids {
            let request = problem.request(id as usize);
            self.requests.extend(self.rows.iter().map(|&(device, divisor)| request[device] / divisor));
        }
    }
}

fn gcd(mut a: Amount, mut b: Amount) -> Amount {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::super::Instance;
    use super::*;

    #[test]
    fn what_cannot_matter_is_dropped() {
        let mut instance = Instance::new(vec![8, 100, 0]);
        instance.push(&[4, 1, 0], 2.0, 1.0);
        instance.push(&[4, 1, 0], -1.0, 1.0); // gains nothing
        instance.push(&[12, 1, 0], 9.0, 0.0); // does not fit
        instance.push(&[4, 1, 1], 9.0, 0.0); // needs a device that is gone
        instance.push(&[8, 1, 0], -1.0, 4.0);
        let mut reduced = Reduced::default();
        reduced.fill(&instance.problem().unwrap());
        assert_eq!(reduced.ids, [0, 4]);
        assert_eq!((reduced.scale, reduced.linear), (2.0, false));
        assert_eq!((&reduced.v[..], &reduced.w[..]), (&[1.0, -0.5][..], &[0.25, 1.0][..]));
        assert_eq!((&reduced.capacity[..], &reduced.requests[..]), (&[2][..], &[1, 2][..]));
    }
}
