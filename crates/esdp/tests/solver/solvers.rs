//! Every solver against the exhaustive one, on tens of thousands of small instances of
//! every awkward kind: one helper runs each case through each solver and compares.

use crate::answer::{check, close};
use esdp::solver::{Exact, Exhaustive, Greedy, Guarantee, Instance, Paper, Solver, Uses};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// A random instance; the kinds mix negative means, zero and equal widths, zero
/// capacities, requests of zero and requests larger than the capacity.
fn random(rng: &mut impl Rng, largest: usize, servers: bool) -> Instance {
    let n = rng.random_range(0..=largest);
    let devices = rng.random_range(1..=4);
    let most = [4, 8, 20, 60][rng.random_range(0..4)];
    let capacity = (0..devices).map(|_| if rng.random_ratio(1, 30) { 0 } else { rng.random_range(1..=most) });
    let mut instance = Instance::new(capacity.collect());
    let request = [1..=2u64, 0..=2, 1..=9, 0..=30][rng.random_range(0..4)].clone();
    let (means, widths) = (rng.random_range(0..5), rng.random_range(0..6));
    let unit = [1.0, 1.0, 1e-9, 1e9][rng.random_range(0..4)];
    for _ in 0..n {
        let mean = match means {
            0 => 0.5,
            1 => rng.random_range(-1.0..1.0),
            2 => -rng.random::<f64>(),
            3 => f64::from(rng.random_range(0..4u8)) / 4.0,
            _ => rng.random(),
        };
        let width = match widths {
            0 => 0.0,
            1 => 0.3,
            2 => rng.random::<f64>() * 1e-6,
            3 => f64::from(rng.random_range(0..3u8)),
            4 => rng.random::<f64>() * 100.0,
            _ => rng.random(),
        };
        let request: Vec<u64> = (0..devices).map(|_| rng.random_range(request.clone())).collect();
        instance.push(&request, mean * unit, width * unit * unit);
    }
    if servers {
        let count = rng.random_range(1..=4u32);
        instance.server = (0..n).map(|_| rng.random_range(0..count)).collect();
        instance.server_capacity = (0..count as usize * devices).map(|_| rng.random_range(0..=6)).collect();
        if rng.random() {
            instance.capacity.fill(u64::MAX);
        }
    }
    instance
}

/// Sizes up to 16, mostly smaller: the exhaustive solver sets the pace.
fn size(case: usize) -> usize {
    if case.is_multiple_of(4) { 16 } else { 11 }
}

#[test]
fn every_solver_agrees_with_the_exhaustive_one() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut exact, mut greedy, mut paper) = (Exact::default(), Greedy::default(), Paper::default());
    let mut methods = BTreeMap::new();
    for case in 0..60_000 {
        let instance = random(&mut rng, size(case), false);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        check(&instance, &optimum, optimum.value);
        let solution = exact.solve(&problem).unwrap();
        assert_eq!(solution.guarantee, Guarantee::Optimal, "{solution:?}\n{instance:?}");
        check(&instance, &solution, optimum.value);
        *methods.entry(solution.method).or_insert(0) += 1;
        check(&instance, &greedy.solve(&problem).unwrap(), optimum.value);
        if case.is_multiple_of(10) && problem.capacity().iter().product::<u64>() < 1_000 {
            check(&instance, &paper.solve(&problem).unwrap(), optimum.value);
        }
    }
    // The instances must reach every way of searching, or this test says less than it seems.
    for method in ["exact/greedy", "exact/core", "exact/tab"] {
        assert!(methods.get(method).is_some_and(|&count| count > 1_000), "{methods:?}");
    }
}

#[test]
fn per_server_capacities_are_solved_exactly() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let (mut exact, mut greedy) = (Exact::default(), Greedy::default());
    for case in 0..5_000 {
        let instance = random(&mut rng, size(case), true);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        let solution = exact.solve(&problem).unwrap();
        assert_eq!(solution.guarantee, Guarantee::Optimal, "{solution:?}\n{instance:?}");
        check(&instance, &solution, optimum.value);
        check(&instance, &greedy.solve(&problem).unwrap(), optimum.value);
    }
}

#[test]
fn a_bound_holds_however_small_the_work_budget() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut solvers = [0, 1, 30, 100, 300, 1_000, 3_000].map(|work| Exact::default().with_work_budget(work));
    for case in 0..4_000 {
        let instance = random(&mut rng, size(case), case.is_multiple_of(4));
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        for solver in &mut solvers {
            check(&instance, &solver.solve(&problem).unwrap(), optimum.value);
        }
    }
}

/// Requests such as bytes of memory do not fit in one packed word.
#[test]
fn wide_weights_are_solved_exactly() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut exact = Exact::default();
    for case in 0..1_000 {
        let mut instance = random(&mut rng, size(case), false);
        let wide = |amount: &mut u64, jitter: u64| *amount = (*amount << 50) + jitter % 1_000_003;
        instance.requests.iter_mut().for_each(|a| wide(a, rng.random::<u64>() | 1));
        instance.capacity.iter_mut().for_each(|c| wide(c, rng.random()));
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        let solution = exact.solve(&problem).unwrap();
        assert_eq!(solution.guarantee, Guarantee::Optimal, "{solution:?}\n{instance:?}");
        check(&instance, &solution, optimum.value);
    }
}

/// On whole numbers with scale 1 the paper's rounding does nothing, so its DP must find
/// the optimum of the very same objective.
#[test]
fn the_papers_dp_and_exact_agree_on_the_rounded_objective() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut exact, mut paper) = (Exact::default(), Paper::new(1.0, None));
    for case in 0..2_000 {
        let n = rng.random_range(0..=30);
        let devices = rng.random_range(1..=3);
        let mut instance = Instance::new((0..devices).map(|_| rng.random_range(0..=5)).collect());
        let lowest = if case % 2 == 0 { 0 } else { -6 };
        for _ in 0..n {
            let request: Vec<u64> = (0..devices).map(|_| rng.random_range(0..=2)).collect();
            let (mean, width) = (rng.random_range(lowest..=12i32), rng.random_range(0..=90u32));
            instance.push(&request, f64::from(mean), f64::from(width));
        }
        let problem = instance.problem().unwrap();
        let reference = paper.solve(&problem).unwrap();
        let solution = exact.solve(&problem).unwrap();
        assert_eq!(solution.guarantee, Guarantee::Optimal);
        assert!(close(solution.value, reference.value), "{solution:?}\n{reference:?}\n{instance:?}");
        assert!(close(reference.value, reference.bound));
    }
}

#[test]
fn the_best_point_may_lie_inside_the_hull() {
    let mut instance = Instance::new(vec![1]);
    for (mean, width) in [(0.0, 4.0), (2.0, 0.0), (0.9, 1.9)] {
        instance.push(&[1], mean, width);
    }
    let problem = instance.problem().unwrap();
    for solver in [&mut Exact::default() as &mut dyn Solver, &mut Exhaustive::default()] {
        assert_eq!(solver.solve(&problem).unwrap().chosen, Uses::from([2]), "{}", solver.name());
    }
}

#[test]
fn a_table_over_the_limit_is_refused_before_it_is_allocated() {
    let mut instance = Instance::new(vec![1_000_000_000; 3]);
    (0..1_000).for_each(|_| instance.push(&[5_000_000; 3], 0.5, 0.5));
    let refused = Paper::default().solve(&instance.problem().unwrap()).unwrap_err();
    assert!(refused.to_string().starts_with("solver `paper` would need"), "{refused}");
    let limit = Paper::new(10.0, None).with_memory_limit(1_000);
    let mut small = Instance::new(vec![9]);
    (0..10).for_each(|_| small.push(&[1], 0.5, 0.5));
    assert!(limit.clone().solve(&small.problem().unwrap()).is_err());
    assert!(limit.with_memory_limit(100_000).solve(&small.problem().unwrap()).is_ok());
}

/// Numbers at the edge of what floats can hold are scaled, not overflown.
#[test]
fn extreme_magnitudes() {
    for unit in [1e-300, 1e-160, 1e150] {
        let mut instance = Instance::new(vec![2]);
        for (mean, width) in [(1.0, 0.5), (0.9, 0.9), (0.2, 0.1), (0.5, 0.0)] {
            instance.push(&[1], mean * unit, width * unit * unit);
        }
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        let solution = Exact::default().solve(&problem).unwrap();
        assert_eq!(
            (solution.chosen, solution.guarantee),
            (optimum.chosen, Guarantee::Optimal),
            "unit {unit}"
        );
    }
    let mut largest = Instance::new(vec![u64::MAX]);
    (0..3).for_each(|_| largest.push(&[u64::MAX / 2], 1e307, 1e307));
    let solution = Exact::default().solve(&largest.problem().unwrap()).unwrap();
    assert_eq!(solution.chosen.len(), 2);
}

/// A core too wide for one word is searched as far as it fits, and the rest bounded.
#[test]
fn a_very_wide_core_is_cut_and_still_bounded() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for (n, request, capacity) in [(40_000, 1 << 12, 40_000_000), (40_000, 2, 3)] {
        let mut instance = Instance::new(vec![capacity; 3]);
        for _ in 0..n {
            let request: Vec<u64> = (0..3).map(|_| rng.random_range(1..=request)).collect();
            // Equal means: nearly all channels stay in doubt.
            instance.push(&request, 0.5, rng.random::<f64>() * 1e-3);
        }
        let problem = instance.problem().unwrap();
        for budget in [None, Some(1), Some(100_000)] {
            let mut exact =
                budget.map_or_else(Exact::default, |visits| Exact::default().with_work_budget(visits));
            let solution = exact.solve(&problem).unwrap();
            assert!(problem.is_feasible(&solution.chosen));
            assert!(solution.value <= solution.bound);
            if budget.is_none() {
                assert!(solution.gap() < 1e-3, "{}", solution.gap());
            }
        }
    }
}
