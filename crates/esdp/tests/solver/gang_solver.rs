//! Gangs and per-server capacities against every feasible decision and against the MILP.

use crate::answer::{check, close};
use crate::instances::{Size, learned, small};
use esdp::solver::{Exact, Exhaustive, Gang, Greedy, Group, Guarantee, Instance, Solver, Uses};
use esdp_milp::TangentMilp;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn gangs_are_solved_exactly() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut exact, mut greedy) = (Exact::default(), Greedy::default());
    let (mut run, mut missed) = (0, 0);
    for case in 0..4_000 {
        let instance = small(&mut rng);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        let solution = exact.solve(&problem).unwrap();
        check(&instance, &solution, optimum.value);
        assert_eq!(solution.guarantee, Guarantee::Optimal, "case {case} {solution:?}\n{instance:?}");
        let baseline = greedy.solve(&problem).unwrap();
        check(&instance, &baseline, optimum.value);
        run += u32::from(!optimum.chosen.is_empty());
        missed += u32::from(!close(baseline.value, optimum.value));
    }
    // Most instances must have something to decide, and many be hard enough to miss.
    assert!(run > 1_500 && missed > 400, "{run} {missed}");
}

#[test]
fn a_bound_holds_however_small_the_work_budget() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut solvers =
        [0, 1, 30, 300, 1_000, 3_000, 10_000].map(|work| Exact::default().with_work_budget(work));
    for _ in 0..1_500 {
        let instance = small(&mut rng);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        for solver in &mut solvers {
            check(&instance, &solver.solve(&problem).unwrap(), optimum.value);
        }
    }
}

#[test]
fn learned_gangs_agree_with_the_milp() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let size = Size { jobs: 8, servers: 40, devices: 2, edges: 0.1 };
    let (mut exact, mut milp) = (Exact::default(), TangentMilp::default());
    for case in 0..200 {
        let instance = learned(&mut rng, size, case % 2 == 0);
        let problem = instance.problem().unwrap();
        let solution = exact.solve(&problem).unwrap();
        assert_eq!(solution.guarantee, Guarantee::Optimal, "case {case}");
        let other = milp.solve(&problem).unwrap();
        assert_eq!(other.guarantee, Guarantee::Optimal, "case {case}");
        assert!(
            (solution.value - other.value).abs() <= 1e-6 * other.value,
            "case {case}: {solution:?}\n{other:?}"
        );
        check(&instance, &solution, other.value.min(solution.value));
    }
}

#[test]
fn a_work_budget_bounds_learned_gangs() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let size = Size { jobs: 12, servers: 60, devices: 3, edges: 0.2 };
    for case in 0..12 {
        let instance = learned(&mut rng, size, case % 2 == 0);
        let problem = instance.problem().unwrap();
        let mut best = f64::NEG_INFINITY;
        let mut bounds = Vec::new();
        for budget in [0, 1_000, 30_000, 1_000_000, 10_000_000] {
            let mut exact = Exact::default().with_work_budget(budget);
            let solution = exact.solve(&problem).unwrap();
            assert!(problem.is_feasible(&solution.chosen), "case {case}, budget {budget}");
            assert_eq!(exact.solve(&problem).unwrap(), solution, "the same problem gets the same answer");
            best = best.max(solution.value);
            bounds.push(solution.bound);
        }
        assert!(bounds.iter().all(|&bound| bound >= best - 1e-9), "case {case}: {best} {bounds:?}");
    }
}

/// Two jobs of two tasks each; every server has room for one task. Task by task, each job gets its
/// best server first and takes half of the other's room: neither is whole.
#[test]
fn a_joint_placement_that_single_tasks_miss() {
    let mut instance = Instance::new(vec![u64::MAX]);
    instance.server_capacity = vec![1; 2];
    for (job, means) in [(0, [0.9, 0.4]), (1, [0.45, 0.8])] {
        instance.groups.push(Group { job, count: 2, minimum: 0 });
        instance.jobs.push(Gang { minimum: 2, copies: 1 });
        for (server, mean) in means.into_iter().enumerate() {
            instance.push(&[1], mean, 0.0);
            instance.server.push(server as u32);
            instance.group.push(job);
        }
    }
    let problem = instance.problem().unwrap();
    let greedy = Greedy::default().solve(&problem).unwrap();
    assert_eq!((greedy.chosen.len(), greedy.value), (0, 0.0));
    assert!(greedy.bound >= 1.3);
    let exact = Exact::default().solve(&problem).unwrap();
    assert_eq!((exact.chosen, exact.guarantee), (Uses::from([0, 1]), Guarantee::Optimal));
}

/// A job of one task, with a worse and a better channel, beside a gang of two tasks. Those share a server of
/// their own, with `room` for both if it is at least 4.
fn beside_a_vast_gang(vast: [f64; 2], room: u64) -> Instance {
    let mut instance = Instance::new(vec![u64::MAX]);
    instance.server_capacity = vec![room, 2];
    instance.groups = [0, 0, 1].map(|job| Group { job, count: 1, minimum: 0 }).to_vec();
    instance.jobs = vec![Gang { minimum: 2, copies: 1 }, Gang { minimum: 1, copies: 1 }];
    for (group, mean, width) in [(0, vast[0], 0.0), (1, vast[1], 0.0), (2, 1.0, 0.68), (2, 1.0, 0.87)] {
        instance.push(&[2], mean, width);
        instance.server.push(u32::from(group == 2));
        instance.group.push(group);
    }
    instance
}

/// What is worth nothing beside vast numbers is decided all the same, if those cannot run or cost too much.
#[test]
fn vast_numbers_that_do_not_run_hide_nothing() {
    for vast in [1e3, 1e12, 1e200] {
        for (means, room) in
            [([vast, 0.3], 3), ([vast, vast], 3), ([-vast, 0.3], 4), ([vast, -2.0 * vast], 4)]
        {
            let instance = beside_a_vast_gang(means, room);
            let problem = instance.problem().unwrap();
            let solution = Exact::default().solve(&problem).unwrap();
            assert_eq!(solution.chosen, Uses::from([3]), "{means:?} {solution:?}");
            assert_eq!(solution.guarantee, Guarantee::Optimal, "{means:?} {solution:?}");
            let greedy = Greedy::default().solve(&problem).unwrap();
            assert!(greedy.bound >= solution.value, "{means:?} {greedy:?}");
            // Without the work to tell, the bound is weak, but holds.
            let hasty = Exact::default().with_work_budget(0).solve(&problem).unwrap();
            check(&instance, &hasty, solution.value);
        }
    }
}

/// Vast means that may run, but cancel each other: nothing is called optimal that rounding may hide.
#[test]
fn what_rounding_may_hide_is_not_called_optimal() {
    for vast in [1e9, 1e200] {
        let instance = beside_a_vast_gang([vast, -vast], 4);
        let problem = instance.problem().unwrap();
        let solution = Exact::default().solve(&problem).unwrap();
        check(&instance, &solution, 1.0 + f64::sqrt(0.87));
        assert_eq!(solution.guarantee, Guarantee::Bounded, "{solution:?}");
        assert!(!solution.chosen.is_empty(), "{solution:?}");
    }
}
