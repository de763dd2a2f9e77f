//! What every answer of a solver must hold, whoever gave it.

use esdp::solver::{Guarantee, Instance, Solution};

/// Sums of a few hundred numbers of about 1.
const TOLERANCE: f64 = 1e-9;

pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs()))
}

/// Checks an answer against the problem's best value.
pub fn check(instance: &Instance, solution: &Solution, optimum: f64) {
    let problem = instance.problem().unwrap();
    let context = || format!("{solution:?}\noptimum {optimum}\n{instance:?}");
    assert!(problem.is_feasible(&solution.chosen), "infeasible: {}", context());
    assert!(solution.chosen.is_sorted(), "not sorted: {}", context());
    assert!(close(solution.value, problem.value(&solution.chosen)), "wrong value: {}", context());
    assert!(solution.value <= solution.bound, "value above bound: {}", context());
    assert!(
        solution.bound >= optimum || close(solution.bound, optimum),
        "bound below the optimum: {}",
        context()
    );
    if solution.guarantee == Guarantee::Optimal {
        assert!(close(solution.value, optimum), "not optimal: {}", context());
    }
}
