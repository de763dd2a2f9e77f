//! Devices of the servers, of the cluster as a whole (floating licences), or of both: the other level does
//! not limit them.

use crate::instances::small;
use esdp::model::Capacity;
use esdp::solver::{Exact, Exhaustive, Greedy, Guarantee, Instance, Solver};
use esdp_milp::TangentMilp;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// A small problem in which each device belongs to one level or to both; none if servers have no limits.
fn scoped(rng: &mut Xoshiro256PlusPlus) -> Option<Instance> {
    let mut instance = small(rng);
    let devices = instance.capacity.len();
    if instance.server_capacity.is_empty() {
        return None;
    }
    for device in 0..devices {
        let total = rng.random_range(0..=12);
        let (of_cluster, of_servers) = [(true, false), (false, true), (true, true)][rng.random_range(0..3)];
        instance.capacity[device] = if of_cluster { total } else { Capacity::UNLIMITED };
        if !of_servers {
            instance.server_capacity.iter_mut().skip(device).step_by(devices).for_each(|own| {
                *own = Capacity::UNLIMITED;
            });
        }
    }
    Some(instance)
}

#[test]
fn a_level_that_does_not_limit_a_device_changes_nothing() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(34);
    let (mut binding, mut unproved, mut all) = (0, 0, 0);
    while all < 3_000 {
        let Some(instance) = scoped(&mut rng) else { continue };
        all += 1;
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&optimum.chosen));
        // The same with as much as nobody could use.
        let mut ample = instance.clone();
        let limits = ample.capacity.iter_mut().chain(&mut ample.server_capacity);
        limits.filter(|own| **own == Capacity::UNLIMITED).for_each(|own| *own = 1 << 20);
        let same = Exhaustive::default().solve(&ample.problem().unwrap()).unwrap();
        assert_eq!(same.value, optimum.value, "{instance:?}");
        let mut without = instance.clone();
        without.capacity.fill(Capacity::UNLIMITED);
        let without = Exhaustive::default().solve(&without.problem().unwrap()).unwrap();
        binding += u32::from(!close(without.value, optimum.value));
        let milp = TangentMilp::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&milp.chosen), "{instance:?}");
        assert!(milp.guarantee != Guarantee::Optimal || close(milp.value, optimum.value), "{instance:?}");
        let solvers: [&mut dyn Solver; 2] = [&mut Exact::default(), &mut Greedy::default()];
        for solver in solvers {
            let solution = solver.solve(&problem).unwrap();
            assert!(problem.is_feasible(&solution.chosen), "{} {instance:?}", solver.name());
            assert!(solution.bound >= optimum.value || close(solution.bound, optimum.value), "{instance:?}");
            let proved = solution.guarantee == Guarantee::Optimal;
            let must_be_optimal = proved || solver.name() == "exact";
            assert!(!must_be_optimal || close(solution.value, optimum.value), "{solution:?}\n{instance:?}");
            unproved += u32::from(must_be_optimal && !proved);
        }
    }
    assert!(binding > all / 10, "the cluster's devices matter in {binding} problems");
    assert!(unproved < all / 100, "{unproved} optima were not proved");
}
