//! The inequalities of the interior-point method, list by list: a slack and a price each.

use crate::solver::gang::cholesky::dot;
use crate::solver::gang::tuning::interior::FARTHEST;
use std::ops::Range;

/// Inequalities: slacks, prices, their steps and what their products aim at.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    pub slack: Vec<f64>,
    pub price: Vec<f64>,
    pub slack_step: Vec<f64>,
    pub price_step: Vec<f64>,
    pub target: Vec<f64>,
    /// The inverse of each slack at the point of the system.
    pub per_slack: Vec<f64>,
    spare_slack: Vec<f64>,
    spare_price: Vec<f64>,
}

impl Pairs {
    /// Starts with slacks, and with prices that make every product the same.
    pub fn start(&mut self, product: f64, slacks: impl Iterator<Item = f64>) {
        self.slack.clear();
        self.slack.extend(slacks);
        self.price.clear();
        self.price.extend(self.slack.iter().map(|slack| product / slack));
        for list in [&mut self.slack_step, &mut self.price_step, &mut self.target] {
            list.clear();
            list.resize(self.slack.len(), 0.0);
        }
    }

    /// Inverts the slacks, once for all the steps from a point: divisions are what steps would cost most.
    pub fn invert(&mut self) {
        self.per_slack.clear();
        self.per_slack.extend(self.slack.iter().map(|slack| 1.0 / slack));
    }

    /// The step of the prices that belongs to that of the slacks.
    pub fn settle(&mut self) {
        let Self { price, slack_step, price_step, target, per_slack, .. } = self;
        let given = price.iter().zip(&*slack_step).zip(target.iter().zip(&*per_slack));
        for (((z, slack_step), (target, per_slack)), price_step) in given.zip(price_step) {
            *price_step = (target - z * slack_step) * per_slack - z;
        }
    }

    /// How much each of some inequalities bends the objective at the point of the system.
    pub fn curvatures(&self, of: Range<usize>) -> impl Iterator<Item = f64> {
        self.price[of.clone()].iter().zip(&self.per_slack[of]).map(|(price, per_slack)| price * per_slack)
    }

    /// How much each of some inequalities pulls at its slack, to get its product to the target.
    pub fn pulls(&self, of: Range<usize>) -> impl Iterator<Item = f64> {
        self.target[of.clone()].iter().zip(&self.per_slack[of]).map(|(target, per_slack)| target * per_slack)
    }

    pub fn product(&self) -> f64 {
        dot(&self.slack, &self.price)
    }

    pub fn product_after(&self, primal: f64, dual: f64) -> f64 {
        let Self { slack, price, slack_step, price_step, .. } = self;
        // Without the products of both steps, these are the sums of four lists.
        dot(slack, price)
            + primal * dot(slack_step, price)
            + dual * dot(slack, price_step)
            + primal * dual * dot(slack_step, price_step)
    }

    /// Aims at `mu` less what the last step got wrong to second order.
    pub fn aim(&mut self, mu: f64) {
        let Self { slack_step, price_step, target, .. } = self;
        for ((target, slack), price) in target.iter_mut().zip(&*slack_step).zip(&*price_step) {
            // Far corrections do more harm than good.
            *target = mu - (slack * price).clamp(-FARTHEST * mu, FARTHEST * mu);
        }
    }

    /// Aims products that a longer step would leave far from `mu` back towards it.
    pub fn recentre(&mut self, mu: f64, primal: f64, dual: f64) {
        let Self { slack, price, slack_step, price_step, target, .. } = self;
        let slacks = slack.iter().zip(&*slack_step);
        let prices = price.iter().zip(&*price_step);
        for ((target, (slack, slack_step)), (price, price_step)) in target.iter_mut().zip(slacks).zip(prices)
        {
            let product = (slack + primal * slack_step) * (price + dual * price_step);
            let aim = product.clamp(mu / FARTHEST, FARTHEST * mu);
            *target += (aim - product).max(-FARTHEST * mu);
        }
    }

    pub fn swap_steps(&mut self) {
        self.spare_slack.resize(self.slack.len(), 0.0);
        self.spare_price.resize(self.slack.len(), 0.0);
        std::mem::swap(&mut self.spare_slack, &mut self.slack_step);
        std::mem::swap(&mut self.spare_price, &mut self.price_step);
    }

    pub fn aim_at(&mut self, mu: f64) {
        self.target.fill(mu);
    }

    pub fn longest(&self, (primal, dual): (f64, f64)) -> (f64, f64) {
        (reach(&self.slack, &self.slack_step, primal), reach(&self.price, &self.price_step, dual))
    }

    pub fn advance_prices(&mut self, by: f64) {
        self.price.iter_mut().zip(&self.price_step).for_each(|(z, step)| *z += by * step);
    }
}

/// How far along their steps values stay at least 0, at most so far.
fn reach(values: &[f64], steps: &[f64], mut longest: f64) -> f64 {
    const TOGETHER: usize = 8;
    let falls = |longest: f64, (value, step): (&f64, &f64)| value + longest * step < 0.0;
    // Few values are nearer than those before: nearly none takes a division.
    let nearer = |longest: f64, (value, step): (&f64, &f64)| {
        if falls(longest, (value, step)) { -value / step } else { longest }
    };
    let (values, steps) = (values.chunks_exact(TOGETHER), steps.chunks_exact(TOGETHER));
    let rest = values.remainder().iter().zip(steps.remainder());
    for (values, steps) in values.zip(steps) {
        let pairs = || values.iter().zip(steps);
        if pairs().fold(false, |any, pair| any | falls(longest, pair)) {
            longest = pairs().fold(longest, nearer);
        }
    }
    rest.fold(longest, nearer)
}
