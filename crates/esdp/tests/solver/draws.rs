//! Small problems of every family, and answers to them.

use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use esdp::solver::{Exact, Instance, Solution, Solver};

/// A size at which every solver is fast.
fn size(family: Family) -> Dimensions {
    match family {
        Family::RealNodes => Dimensions(6, 10),
        Family::Congested => Dimensions(20, 8),
        Family::OrLibrary | Family::ManyLimits => Dimensions(8, 40),
        Family::Ties => Dimensions(400, 4),
        Family::Quotas => Dimensions(5, 6),
        Family::OneTask => Dimensions(40, 12),
        Family::Pisinger => Dimensions(60, 1_000),
    }
}

/// Every family and index, with as many instances of each as it has variants.
pub fn draws() -> impl Iterator<Item = Draw> {
    (0..10).flat_map(|number| {
        Family::ALL.into_iter().flat_map(move |family| {
            let size = size(family);
            IndexKind::ALL.into_iter().map(move |index| Draw { family, size, index, seed: 5, number })
        })
    })
}

/// The answer of a solver with a work budget, checked.
pub fn exact(instance: &Instance, budget: u64) -> Solution {
    let problem = instance.problem().unwrap();
    let solution = Exact::default().with_work_budget(budget).solve(&problem).unwrap();
    assert!(problem.is_feasible(&solution.chosen) && solution.bound >= solution.value, "{solution:?}");
    solution
}
