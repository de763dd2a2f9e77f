//! Does everybody agree? `exact` and `greedy` against HiGHS on many medium instances.
//!
//! Asked of every instance: decisions are feasible; no bound is below a value that anybody found; and
//! where both `exact` and HiGHS prove their answer, the two are worth the same. What is not asked, but
//! counted: how often each proves its answer, and how far `exact` is below HiGHS.

use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use esdp::solver::{Exact, Greedy, Guarantee, Instance, Solution, Solver};
use esdp_milp::Highs;
use serde::Serialize;

/// The relative error of what HiGHS proves: its tolerances are on scaled rows, not on the objective.
const TOLERANCE: f64 = 1e-7;
/// The relative error of a sum of means.
const ROUNDING: f64 = 1e-10;

/// What came out, as it is reported.
#[derive(Debug, Default, Serialize)]
pub(in crate::bench) struct Agreement {
    instances: u64,
    both_proved: u64,
    only_exact_proved: u64,
    only_highs_proved: u64,
    neither_proved: u64,
    /// Instances on which `exact` found less than `greedy`.
    below_greedy: u64,
    /// The largest relative distance of `exact` below HiGHS, and where.
    largest_loss: f64,
    largest_loss_at: Option<String>,
    /// The largest certified gap of `exact`.
    largest_gap: f64,
    /// One sentence for every instance on which something is wrong.
    pub(in crate::bench) disagreements: Vec<String>,
}

/// The instances: `count` of real nodes from 6x10 to 16x30, and a tenth of that of every other family.
pub(in crate::bench) fn draws(count: u64, seed: u64) -> Vec<Draw> {
    let draw = |family, number: u64| {
        // Neither the size nor the index is in step with the variants of a family, which repeat after 2, 3,
        // 4, 7 or 10 numbers.
        let step = (number % 11) as u32;
        let size = match family {
            Family::RealNodes => Dimensions(6 + step, 10 + 2 * step),
            Family::Congested => Dimensions(20 + 2 * step, 8 + step),
            Family::OrLibrary => Dimensions(4 + step, 30),
            Family::Ties => Dimensions(60 + 10 * step, 1 + step % 5),
            Family::Quotas => Dimensions(3 + step, 5 + step),
            Family::ManyLimits => Dimensions(8 + step, 60),
            Family::OneTask => Dimensions(40 + 10 * step, 10 + step),
            Family::Pisinger => Dimensions(50 + 5 * step, 1_000),
        };
        let index = IndexKind::ALL[(number.count_ones() % 2) as usize];
        Draw { family, size, index, seed, number }
    };
    let others = |family: &Family| *family != Family::RealNodes;
    let nodes = (0..count).map(|number| draw(Family::RealNodes, number));
    let others = Family::ALL.into_iter().filter(others);
    nodes
        .chain(others.flat_map(|family| (0..count.div_ceil(10)).map(move |number| draw(family, number))))
        .collect()
}

/// Compares on all instances; `report` hears of each, with what is wrong with it if something is.
pub(in crate::bench) fn agree(
    draws: &[Draw],
    highs: &mut Highs,
    mut report: impl FnMut(&Draw, &Instance, Option<&str>) -> anyhow::Result<()>,
) -> anyhow::Result<Agreement> {
    let mut agreement = Agreement::default();
    let (mut exact, mut greedy) = (Exact::default(), Greedy::default());
    for draw in draws {
        let instance = draw.instance();
        let problem = instance.problem()?;
        let exact = exact.solve(&problem)?;
        let greedy = greedy.solve(&problem)?;
        let infeasible = [("exact", &exact), ("greedy", &greedy)].into_iter().find_map(|(name, solution)| {
            (!problem.is_feasible(&solution.chosen)).then(|| format!("{name}'s decision breaks a limit"))
        });
        let wrong = infeasible.or_else(|| match highs.answer(&problem) {
            Err(error) => Some(error.to_string()),
            Ok(highs) => {
                agreement.count(draw, &exact, &greedy, &highs);
                contradiction(&exact, &greedy, &highs)
            }
        });
        report(draw, &instance, wrong.as_deref())?;
        agreement.instances += 1;
        agreement.disagreements.extend(wrong.map(|wrong| format!("{draw}: {wrong}")));
    }
    Ok(agreement)
}

/// What two answers say of the optimum that cannot both be true.
fn contradiction(exact: &Solution, greedy: &Solution, highs: &Solution) -> Option<String> {
    let all = [("exact", exact, ROUNDING), ("greedy", greedy, ROUNDING), ("HiGHS", highs, TOLERANCE)];
    for (name, bounded, error) in all {
        for (other, found, _) in all {
            if found.value > bounded.bound + error * found.value.abs() {
                return Some(format!(
                    "{name}'s bound {} is below {other}'s value {}",
                    bounded.bound, found.value
                ));
            }
        }
    }
    let proved = |solution: &Solution| solution.guarantee == Guarantee::Optimal;
    let apart = (exact.value - highs.value).abs() > TOLERANCE * highs.value.abs();
    (proved(exact) && proved(highs) && apart)
        .then(|| format!("exact's optimum is {}, HiGHS's {}", exact.value, highs.value))
}

impl Agreement {
    fn count(&mut self, draw: &Draw, exact: &Solution, greedy: &Solution, highs: &Solution) {
        let proved = |solution: &Solution| solution.guarantee == Guarantee::Optimal;
        *match (proved(exact), proved(highs)) {
            (true, true) => &mut self.both_proved,
            (true, false) => &mut self.only_exact_proved,
            (false, true) => &mut self.only_highs_proved,
            (false, false) => &mut self.neither_proved,
        } += 1;
        self.below_greedy += u64::from(exact.value < greedy.value - ROUNDING * greedy.value.abs());
        self.largest_gap = self.largest_gap.max(exact.gap());
        let loss = (highs.value - exact.value) / highs.value.abs().max(f64::MIN_POSITIVE);
        if loss > self.largest_loss {
            self.largest_loss = loss;
            self.largest_loss_at = Some(draw.to_string());
        }
    }

    pub(in crate::bench) fn table(&self) -> String {
        let Self { instances, both_proved, only_exact_proved, only_highs_proved, neither_proved, .. } = self;
        let at = self.largest_loss_at.as_ref().map_or(String::new(), |at| format!(" ({at})"));
        format!(
            "{instances} instances, {} disagreements\n\
             proved by both {both_proved}, by `exact` alone {only_exact_proved}, by HiGHS alone \
             {only_highs_proved}, \
             by neither {neither_proved}\n\
             `exact`: largest gap {:.3} %, largest loss against HiGHS {:.3} %{at},\n\
             below `greedy` on {} instances\n",
            self.disagreements.len(),
            100.0 * self.largest_gap,
            100.0 * self.largest_loss,
            self.below_greedy,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution(value: f64, bound: f64, guarantee: Guarantee) -> Solution {
        Solution { value, bound, guarantee, ..Solution::default() }
    }

    #[test]
    fn contradictions_are_named() {
        let optimal = |value| solution(value, value, Guarantee::Optimal);
        let bounded = |value, bound| solution(value, bound, Guarantee::Bounded);
        assert_eq!(contradiction(&optimal(2.0), &bounded(1.0, 3.0), &optimal(2.0)), None);
        assert_eq!(contradiction(&bounded(1.0, 2.5), &bounded(1.0, 3.0), &optimal(2.0)), None);
        let low = contradiction(&bounded(1.0, 1.9), &bounded(1.0, 3.0), &optimal(2.0)).unwrap();
        assert_eq!(low, "exact's bound 1.9 is below HiGHS's value 2");
        let greedy = contradiction(&optimal(2.0), &bounded(1.0, 1.5), &optimal(2.0)).unwrap();
        assert!(greedy.starts_with("greedy's bound 1.5"), "{greedy}");
        assert!(contradiction(&optimal(2.5), &bounded(1.0, 3.0), &optimal(2.0)).is_some());
    }

    #[test]
    fn every_family_size_and_index_has_its_turn() {
        let draws = draws(60, 0);
        assert_eq!(draws.len(), 60 + 7 * 6);
        assert!(
            draws.iter().any(|draw| draw.size == Dimensions(16, 30) && draw.index == IndexKind::Optimistic)
        );
        assert!(Family::ALL.iter().all(|family| draws.iter().any(|draw| draw.family == *family)));
    }
}
