//! Minimises the smoothed dual (`smoothed.rs`) while the temperature falls: damped Newton steps.
//!
//! Between temperatures the prices follow the path of the minimum, so a handful of steps is enough at each.
//! A step costs a table a server (`gibbs.rs`) and a Cholesky factor of the size of the prices.

use crate::solver::gang::cholesky::{factorise, solve};
use crate::solver::gang::dual::prices::Layout;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::ChannelNo;
use crate::solver::gang::smooth::smoothed::Smooth;
use crate::solver::gang::tuning::grid::CELLS;
use crate::solver::gang::tuning::newton::{
    ENOUGH, EVALUATIONS, FACTOR, FARTHEST, FASTEST, FIRST, FIRST_STEPS, LAST, LEAST, LEFT, SHORTER, STEPS,
    TRIALS,
};

/// Prices on their way down; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Newton {
    pub smooth: Smooth,
    pub prices: Vec<f64>,
    trial: Vec<f64>,
    factor: Vec<f64>,
    step: Vec<f64>,
    /// Visits so far.
    pub work: u64,
}

/// Whether servers are many beside the jobs: then prices of tasks are fewer than those of capacities.
pub(in crate::solver::gang) fn has_many_servers(form: &Form) -> bool {
    2 * (form.groups.len() + form.jobs.len()) <= form.servers() * form.devices
}

/// About what all steps from the beginning cost, in visits; `None` where a server is so large that its table
/// would not be exact. Devices that cannot run out do not count.
pub(in crate::solver::gang) fn cost(form: &Form) -> Option<u64> {
    let size = Layout::of(form).len as u64;
    let mut tables = 0u64;
    for server in form.all_servers() {
        let mut cells = 1u64;
        for device in 0..form.devices {
            let room = form.room[form.devices_of(server)][device];
            let need = |e: ChannelNo| u128::from(form.request(e)[device]) * u128::from(form.most[e]);
            if form.channels(server).map(need).sum::<u128>() > u128::from(room) {
                cells = cells.saturating_mul(2 * room.min(CELLS) + 1);
            }
        }
        if cells > CELLS {
            return None;
        }
        // The tables know of no limit but the room.
        let fits = |e: ChannelNo| {
            let room = &form.room[form.devices_of(server)];
            form.request(e)
                .iter()
                .zip(room)
                .filter_map(|(&a, room)| room.checked_div(a))
                .min()
                .unwrap_or(0)
                .min(CELLS)
        };
        let uses: u64 = form.channels(server).map(fits).sum();
        let table = form.channels(server).len() as u64 * cells / 4;
        tables = tables.saturating_add(table).saturating_add(uses.saturating_mul(uses) / 2);
    }
    Some(tables.saturating_add(40 * form.len() as u64 + factor_cost(size)).saturating_mul(EVALUATIONS))
}

/// A factor of some hundred prices takes as long as this many visits.
fn factor_cost(size: u64) -> u64 {
    size.saturating_mul(size).saturating_mul(size) / 64
}

impl Newton {
    /// Goes down from some prices, the temperature falling, while the work is below a limit.
    pub fn run(&mut self, form: &Form, limits: &Limits, start: &[f64], work: u64) {
        self.prices.clear();
        self.prices.extend_from_slice(start);
        self.begin(form, limits);
        let mut temperature = FIRST;
        let mut steps = FIRST_STEPS;
        loop {
            self.settle(form, limits, temperature, steps);
            if temperature <= LAST || self.work > work {
                return;
            }
            let next = (temperature * FACTOR).max(LAST);
            self.follow(Layout::of(form), next - temperature);
            (temperature, steps) = (next, STEPS);
        }
    }

    /// Goes on from the last prices under other limits, at one temperature.
    pub fn resume(&mut self, form: &Form, limits: &Limits, temperature: f64, steps: usize) {
        self.begin(form, limits);
        self.settle(form, limits, temperature, steps);
    }

    fn begin(&mut self, form: &Form, limits: &Limits) {
        self.smooth.reset(form, limits);
        for (price, &active) in self.prices.iter_mut().zip(&self.smooth.active).take(Layout::of(form).lambda)
        {
            *price = if active { price.max(LEAST) } else { 0.0 };
        }
    }

    fn evaluate(&mut self, form: &Form, limits: &Limits, temperature: f64, trial: bool) {
        let prices = if trial { &self.trial } else { &self.prices };
        let before = self.smooth.gibbs.visits;
        self.smooth.evaluate(form, limits, prices, temperature);
        self.work += form.len() as u64 + self.smooth.gibbs.visits - before;
    }

    fn settle(&mut self, form: &Form, limits: &Limits, temperature: f64, steps: usize) {
        let layout = Layout::of(form);
        self.evaluate(form, limits, temperature, false);
        for _ in 0..steps {
            let promise = self.direction(layout.len);
            let enough = promise < ENOUGH * temperature * layout.len as f64;
            if enough || !self.advance(form, limits, temperature, promise) {
                break;
            }
        }
    }

    /// Takes a step that lowers the value enough, if there is one.
    fn advance(&mut self, form: &Form, limits: &Limits, temperature: f64, promise: f64) -> bool {
        let layout = Layout::of(form);
        let value = self.smooth.value;
        let mut size = 1.0;
        for _ in 0..TRIALS {
            self.trial.clear();
            // Each price by itself stays above zero: one that falls to it does not hold up the others.
            self.trial.extend(self.prices.iter().zip(&self.step).enumerate().map(
                |(place, (price, step))| {
                    if place >= layout.lambda {
                        price + (size * step).clamp(-FARTHEST, FARTHEST)
                    } else {
                        (price + size * step).max(LEFT * price)
                    }
                },
            ));
            self.evaluate(form, limits, temperature, true);
            if self.smooth.value <= value - 0.1 * size * promise {
                std::mem::swap(&mut self.trial, &mut self.prices);
                return true;
            }
            size *= SHORTER;
        }
        self.evaluate(form, limits, temperature, false);
        false
    }

    /// Newton's direction, into `step`, and what it promises.
    fn direction(&mut self, size: usize) -> f64 {
        let Smooth { gradient, hessian, active, .. } = &self.smooth;
        self.factor.clone_from(hessian);
        for place in (0..size).filter(|&place| !active[place]) {
            for other in 0..size {
                self.factor[place * size + other] = 0.0;
                self.factor[other * size + place] = 0.0;
            }
            self.factor[place * size + place] = 1.0;
        }
        factorise(&mut self.factor, size);
        self.step.clear();
        self.step.extend(
            gradient.iter().zip(active).map(|(gradient, &active)| if active { -gradient } else { 0.0 }),
        );
        solve(&self.factor, size, &mut self.step);
        self.work += factor_cost(size as u64);
        -self.step.iter().zip(gradient).map(|(step, gradient)| step * gradient).sum::<f64>()
    }

    /// Prices at another temperature, along the path of the minimum. The factor is that of the last
    /// direction.
    fn follow(&mut self, layout: Layout, change: f64) {
        self.direction(layout.len);
        let Smooth { drift, active, .. } = &self.smooth;
        self.step.clear();
        self.step.extend(
            drift.iter().zip(active).map(|(drift, &active)| if active { -change * drift } else { 0.0 }),
        );
        solve(&self.factor, layout.len, &mut self.step);
        let most = FASTEST * change.abs();
        for (place, (price, step)) in self.prices.iter_mut().zip(&self.step).enumerate() {
            if step.is_finite() {
                let moved = *price + step.clamp(-most, most);
                *price = if place >= layout.lambda { moved } else { moved.max(LEFT * *price) };
            }
        }
    }
}
