//! Solves the relaxation of a large problem by rounds of small steps (`saddle/`).

use super::Relaxation;
use super::saddle::{Round, Saddle};
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::tuning::saddle::{
    FIRST_STEPS, LEAST_GAIN, NEAR, NEAR_IN_A_DIVE, NOISE, ROUNDS, STEPS, STEPS_IN_A_DIVE,
};

const FIRST: Round = Round { steps: FIRST_STEPS, near: f64::MAX, noise: 0.0 };
const NEXT: Round = Round { steps: STEPS, near: NEAR, noise: 0.0 };
const IN_A_DIVE: Round = Round { steps: STEPS_IN_A_DIVE, near: NEAR_IN_A_DIVE, noise: NOISE };

impl Relaxation {
    /// The least work that is of any use, about.
    pub fn cost_of_approach(form: &Form) -> u64 {
        Saddle::cost(form, FIRST_STEPS + STEPS) + 60 * form.len() as u64
    }

    /// Solves a whole problem, and leaves the multipliers with the best bound; that bound. What is solved
    /// again after that goes on from there.
    pub fn approach(&mut self, form: &Form, limits: &Limits, work: u64) -> f64 {
        let Self { saddle, multipliers, trial, cuts, .. } = self;
        let end = self.work.saturating_add(work);
        cuts.reset(form);
        saddle.reset(form);
        let (mut bound, mut last) = (f64::INFINITY, f64::INFINITY);
        for round in 0..ROUNDS {
            saddle.round(form, limits, if round == 0 { FIRST } else { NEXT });
            saddle.write(form, trial);
            let own = trial.bound(form, limits, cuts);
            let spent = std::mem::take(&mut saddle.work) + 30 * form.len() as u64;
            self.work += spent;
            let before = std::mem::replace(&mut last, bound);
            if own < bound {
                bound = own;
                std::mem::swap(trial, multipliers);
            }
            // A single round may lead away for a while.
            if self.work.saturating_add(spent) > end || before - bound < LEAST_GAIN * bound {
                break;
            }
        }
        self.by_steps = true;
        self.read_saddle(form);
        bound
    }

    /// Goes on within tighter limits.
    pub(super) fn resume_by_steps(&mut self, form: &Form, limits: &Limits) {
        self.saddle.round(form, limits, IN_A_DIVE);
        self.work += std::mem::take(&mut self.saddle.work);
        self.read_saddle(form);
    }

    fn read_saddle(&mut self, form: &Form) {
        self.uses.clone_from(&self.saddle.uses);
        self.copies.clear();
        self.copies.extend(form.jobs.numbers().map(|l| self.saddle.copies(form, l)));
    }
}
