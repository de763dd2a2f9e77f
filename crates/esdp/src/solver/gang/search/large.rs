//! Decisions on problems with so many servers and jobs that the relaxation's linear systems are too dear.

use crate::solver::gang::Decomposition;
use crate::solver::gang::relax::Relaxation;
use crate::solver::gang::tuning::large::{MOST_WORK, RELAXED_PART};
use crate::solver::gang::tuning::search::{CLOSE, WIDE, WORK_PER_VISIT};

impl Decomposition {
    /// Whether a budget suffices for [`search_large`](Self::search_large).
    pub(in crate::solver::gang) fn affords_large(&self, budget: u64) -> bool {
        Relaxation::cost_of_approach(&self.form) <= budget / RELAXED_PART
    }

    /// The relaxation by small steps, and decisions from it; a bound.
    pub(in crate::solver::gang) fn search_large(&mut self, budget: u64) -> f64 {
        let budget = if self.is_default { budget.min(MOST_WORK) } else { budget };
        let Self { form, limits, relaxation, .. } = self;
        let bound = relaxation.approach(form, limits, budget / RELAXED_PART);
        self.pricing.work += std::mem::take(&mut self.relaxation.work);
        self.note_root();
        self.build_relaxed();
        let left = |gang: &Self| budget.saturating_sub(gang.pricing.work);
        let gap = |gang: &Self| (bound - gang.best_value) / bound.abs().max(f64::MIN_POSITIVE);
        if gap(self) > CLOSE {
            self.dive_within_root(left(self));
        }
        // The less there is to gain, the less work is worth it.
        if gap(self) > CLOSE {
            let work = left(self) as f64 * (gap(self) / WIDE).min(1.0);
            self.improve_regions(bound, work as u64);
        }
        self.pricing.work /= WORK_PER_VISIT;
        self.prove(bound, None)
    }
}
