//! Minimises the dual: the volume algorithm.
//!
//! Steps go from the best prices so far against an average of subgradients, their length set by
//! the distance to a target (Polyak). The same average of the uses and copies that gave the
//! subgradients comes close to the optimum of the relaxation, and guides placement and
//! branching. An evaluation costs about one visit a channel and a few for each contested server.

use crate::solver::gang::dual::prices::{Layout, Point, Pricing, project};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByChannel, ByJob};
use crate::solver::gang::tuning::descent::LARGEST_SHARE;

/// The best prices so far and averages; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Descent {
    pub best: Point,
    trial: Point,
    gradient: Vec<f64>,
    /// The averaged uses of each channel and copies of each job.
    pub uses: ByChannel<f64>,
    pub copies: ByJob<f64>,
    /// The length of a step, relative to Polyak's.
    length: f64,
}

/// When to stop a descent.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Stop {
    pub steps: usize,
    pub work: u64,
    /// A bound down here is all that is asked.
    pub target: f64,
}

impl Descent {
    /// Starts from prices, with averages of their own.
    pub fn start(&mut self, form: &Form, limits: &Limits, pricing: &mut Pricing, prices: &[f64]) {
        self.best.prices.clear();
        self.best.prices.extend_from_slice(prices);
        pricing.evaluate(form, limits, &mut self.best);
        self.gradient.clone_from(&self.best.gradient);
        self.uses.clear();
        self.uses.extend(self.best.uses.iter().map(|&uses| f64::from(uses)));
        self.copies.clear();
        self.copies.extend(self.best.copies.iter().map(|&copies| f64::from(copies)));
        self.length = 1.0;
    }

    /// Goes down until a stop.
    pub fn run(&mut self, form: &Form, limits: &Limits, pricing: &mut Pricing, stop: Stop) {
        let layout = Layout::of(form);
        let mut failures = 0;
        for _ in 0..stop.steps {
            if self.best.value <= stop.target || pricing.work > stop.work {
                return;
            }
            let mut square = 0.0;
            for (place, (&gradient, &price)) in self.gradient.iter().zip(&self.best.prices).enumerate() {
                if price > 0.0 || gradient < 0.0 || place >= layout.lambda || price < 0.0 {
                    square += gradient * gradient;
                }
            }
            if square <= 1e-18 {
                return;
            }
            let step = self.length * (self.best.value - stop.target) / square;
            self.trial.prices.clear();
            self.trial.prices.extend(self.best.prices.iter().zip(&self.gradient).enumerate().map(
                |(place, (price, gradient))| {
                    // The multiplier of the variances must not jump by orders of magnitude.
                    let most = if place >= layout.lambda { 0.5 } else { f64::INFINITY };
                    project(form, place, price - (step * gradient).clamp(-most, most))
                },
            ));
            pricing.evaluate(form, limits, &mut self.trial);
            let agreement: f64 = self.gradient.iter().zip(&self.trial.gradient).map(|(a, b)| a * b).sum();
            self.average();
            if self.trial.value < self.best.value {
                std::mem::swap(&mut self.trial, &mut self.best);
                failures = 0;
                self.length = if agreement > 0.0 { (self.length * 1.2).min(2.0) } else { self.length };
            } else {
                failures += 1;
                if failures >= 4 {
                    failures = 0;
                    self.length *= 0.7;
                    if self.length < 1e-4 {
                        return;
                    }
                }
            }
        }
    }

    /// Mixes the trial into the averages, by the share that makes the gradient shortest.
    fn average(&mut self) {
        let (mut difference, mut along) = (0.0, 0.0);
        for (old, new) in self.gradient.iter().zip(&self.trial.gradient) {
            difference += (old - new) * (old - new);
            along += old * (old - new);
        }
        let share = if difference > 0.0 { along / difference } else { 0.0 };
        let share = share.clamp(LARGEST_SHARE / 10.0, LARGEST_SHARE);
        let mix = |old: &mut f64, new: f64| *old += share * (new - *old);
        self.gradient.iter_mut().zip(&self.trial.gradient).for_each(|(old, &new)| mix(old, new));
        self.uses.iter_mut().zip(&self.trial.uses).for_each(|(old, &new)| mix(old, f64::from(new)));
        self.copies.iter_mut().zip(&self.trial.copies).for_each(|(old, &new)| mix(old, f64::from(new)));
    }
}
