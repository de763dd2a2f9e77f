//! One server's part of the smoothed dual (`smoothed.rs`): what it is offered, and what that adds to the
//! derivatives.

use crate::solver::gang::dual::prices::{Layout, lambda};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ChannelNo, ServerNo};
use crate::solver::gang::smooth::gibbs::Offer;
use crate::solver::gang::smooth::smoothed::{Smooth, share, softplus};
use crate::solver::gang::tuning::offers::CUT;

impl Smooth {
    /// Adds a server's value, mean uses, second derivatives and drift.
    pub(in crate::solver::gang) fn server(
        &mut self,
        form: &Form,
        limits: &Limits,
        prices: &[f64],
        (server, temperature): (ServerNo, f64),
    ) {
        let layout = Layout::of(form);
        let lambda = lambda(form, prices);
        self.gibbs.offers.clear();
        for e in form.channels(server) {
            let (low, high) = (limits.low[e], limits.high[e]);
            if high == 0 {
                continue;
            }
            let mut r = form.v[e] + lambda * form.w[e];
            if let Some(g) = form.group[e] {
                r += self.offset[g];
            }
            for (row, price) in form.rows.iter().zip(&prices[layout.rows..]) {
                r -= price / row.unit * form.request(e)[row.device] as f64;
            }
            self.value += r * f64::from(low);
            if high <= low || r < -CUT * temperature {
                continue;
            }
            if self.grid.request(e).iter().any(|&a| a > 0) {
                self.gibbs.offers.push(Offer::new(r, e));
                continue;
            }
            // It needs no room that counts: each use by itself.
            let (most, share) = (f64::from(high - low), share(r, temperature));
            self.value += most * softplus(r, temperature);
            self.uses[e] += most * share;
            let variance = most * share * (1.0 - share);
            self.curve(form, lambda, temperature, &[(e, r)], &[variance]);
        }
        if self.gibbs.offers.is_empty() {
            return;
        }
        self.value += self.gibbs.solve(&self.grid.requests, self.grid.levels(server), temperature);
        let mut offers = std::mem::take(&mut self.gibbs.kept);
        offers.clear();
        offers.extend(self.gibbs.offers.iter().map(|offer| (offer.channel, offer.r)));
        for (&(e, _), mean) in offers.iter().zip(&self.gibbs.mean) {
            self.uses[e] += mean;
        }
        let covariance = std::mem::take(&mut self.gibbs.covariance);
        self.curve(form, lambda, temperature, &offers, &covariance);
        self.gibbs.covariance = covariance;
        self.gibbs.kept = offers;
    }

    /// What covariances of uses add: to the prices of groups, then of cluster-wide rows and the variances.
    fn curve(
        &mut self,
        form: &Form,
        lambda: f64,
        temperature: f64,
        offers: &[(ChannelNo, f64)],
        covariance: &[f64],
    ) {
        let layout = Layout::of(form);
        let size = layout.len;
        let wide = size - layout.rows;
        self.extra.clear();
        for &(e, _) in offers {
            self.extra.extend(form.rows.iter().map(|row| -(form.request(e)[row.device] as f64) / row.unit));
            if !form.linear {
                self.extra.push(lambda * form.w[e]);
            }
        }
        for (i, &(e, _)) in offers.iter().enumerate() {
            let g = form.group[e].map(|g| layout.group(g));
            let mut along = 0.0;
            for (j, &(f, r)) in offers.iter().enumerate() {
                let curve = covariance[i * offers.len() + j] / temperature;
                along += curve * r;
                if let (Some(g), Some(other)) = (g, form.group[f]) {
                    self.hessian[g * size + layout.group(other)] += curve;
                }
                for x in 0..wide {
                    let (column, second) = (layout.rows + x, self.extra[j * wide + x] * curve);
                    if let Some(g) = g {
                        self.hessian[g * size + column] -= second;
                        self.hessian[column * size + g] -= second;
                    }
                    for y in 0..wide {
                        self.hessian[(layout.rows + y) * size + column] += self.extra[i * wide + y] * second;
                    }
                }
            }
            // Uses fall by this much as the temperature rises.
            let fall = along / temperature;
            if let Some(g) = g {
                self.drift[g] += fall;
            }
            for x in 0..wide {
                self.drift[layout.rows + x] -= self.extra[i * wide + x] * fall;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::gang::problem::number::{ByJob, Number};
    use crate::solver::{Gang, Group, Instance};

    /// Two jobs of two groups, three servers with two devices, a cluster-wide row, variances; one channel
    /// requests nothing and one server has all the room it needs.
    fn instance() -> Instance {
        let mut instance = Instance::new(vec![9, u64::MAX]);
        instance.server_capacity = vec![3, 4, 5, 2, 90, 90];
        let mut next = 0.0;
        for group in 0..4u32 {
            instance.groups.push(Group { job: group / 2, count: 2 + group % 2, minimum: 0 });
            for server in 0..3u32 {
                next += 0.37;
                let request = if (group, server) == (3, 1) {
                    [0, 0]
                } else {
                    [1 + u64::from(group % 2), u64::from(server) % 2 + 1]
                };
                instance.push(&request, 0.3 + f64::fract(next), 0.1 + f64::fract(3.0 * next));
                instance.server.push(server);
                instance.group.push(group);
            }
        }
        instance.jobs = vec![Gang { minimum: 3, copies: 2 }, Gang { minimum: 2, copies: 1 }];
        instance
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let instance = instance();
        let problem = instance.problem().unwrap();
        let (mut form, mut limits, mut smooth) = (Form::default(), Limits::default(), Smooth::default());
        form.fill(&problem, &ByJob::from(vec![false; 2]));
        limits.reset(&form);
        limits.low[ChannelNo::at(2)] = 1;
        assert!(limits.propagate(&form));
        smooth.reset(&form, &limits);
        let layout = Layout::of(&form);
        let mut prices: Vec<f64> = (0..layout.len).map(|place| 0.05 + 0.07 * place as f64).collect();
        prices[layout.lambda] = -0.4;
        for temperature in [0.3, 0.05] {
            let mut at = |prices: &[f64], temperature: f64| {
                smooth.evaluate(&form, &limits, prices, temperature);
                (smooth.value, smooth.gradient.clone(), smooth.hessian.clone(), smooth.drift.clone())
            };
            let (_, gradient, hessian, drift) = at(&prices, temperature);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (1.0 + a.abs().max(b.abs()));
            let step = 1e-6;
            for place in 0..layout.len {
                let mut moved = |by: f64| {
                    let mut prices = prices.clone();
                    prices[place] += by;
                    at(&prices, temperature)
                };
                let (above, below) = (moved(step), moved(-step));
                let slope = (above.0 - below.0) / (2.0 * step);
                assert!(
                    close(slope, gradient[place]),
                    "{place} at {temperature}: {slope} {}",
                    gradient[place]
                );
                for other in 0..layout.len {
                    let slope = (above.1[other] - below.1[other]) / (2.0 * step);
                    let second = hessian[place * layout.len + other];
                    assert!(close(slope, second), "{place} {other} at {temperature}: {slope} {second}");
                }
            }
            let (above, below) = (at(&prices, temperature + step), at(&prices, temperature - step));
            for (place, &drift) in drift.iter().enumerate() {
                let slope = (above.1[place] - below.1[place]) / (2.0 * step);
                assert!(close(slope, drift), "drift {place} at {temperature}: {slope} {drift}");
            }
        }
    }
}
