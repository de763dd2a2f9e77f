//! Gangs and per-server capacities against every feasible decision and against the MILP.

#[path = "gang/instances.rs"]
mod instances;

use esdp::solver::{Exact, Exhaustive, Guarantee, Instance, Solution, Solver};
use instances::small;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Sums of a few hundred numbers of about 1.
const TOLERANCE: f64 = 1e-9;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs()))
}

/// Checks what every answer must hold, whoever gave it.
fn check(instance: &Instance, solution: &Solution, optimum: f64) {
    let problem = instance.problem().unwrap();
    let context = || format!("{solution:?}\noptimum {optimum}\n{instance:?}");
    assert!(problem.is_feasible(&solution.chosen), "infeasible: {}", context());
    assert!(solution.chosen.is_sorted(), "not sorted: {}", context());
    assert!(close(solution.value, problem.value(&solution.chosen)), "wrong value: {}", context());
    assert!(solution.value <= solution.bound, "value above bound: {}", context());
    assert!(solution.bound >= optimum || close(solution.bound, optimum), "bound below the optimum: {}", context());
    if solution.guarantee == Guarantee::Optimal {
        assert!(close(solution.value, optimum), "not optimal: {}", context());
    }
}

#[test]
fn gangs_are_solved_exactly() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut exact = Exact::default();
    for case in 0..4_000 {
        let instance = small(&mut rng);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        let solution = exact.solve(&problem).unwrap();
        check(&instance, &solution, optimum.value);
        assert_eq!(solution.guarantee, Guarantee::Optimal, "case {case} {solution:?}\n{instance:?}");
    }
}

#[test]
fn a_bound_holds_however_small_the_work_budget() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut solvers = [0, 1, 30, 300, 1_000, 3_000, 10_000].map(|work| Exact::default().with_work_budget(work));
    for _ in 0..1_500 {
        let instance = small(&mut rng);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        for solver in &mut solvers {
            check(&instance, &solver.solve(&problem).unwrap(), optimum.value);
        }
    }
}
