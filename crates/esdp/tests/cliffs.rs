//! Problems on which solvers fell off a cliff: large servers, millions of tasks. Each has a value that must be reached
//! and a gap that must be certified.
//!
//! The best values are those of HiGHS 1.15 after a minute on the instances drawn here; those that are known otherwise say how.

#[path = "cliffs/alike.rs"]
mod alike;

use alike::Alike;
use esdp::model::Amount;
use esdp::solver::{Exact, Gang, Group, Guarantee, Instance, Solution, Solver};

/// What is asked of an answer.
struct Asked {
    /// The best value known.
    best: f64,
    /// How much less will do, as a share.
    short: f64,
    /// The largest gap that may be left.
    gap: f64,
}

fn check(instance: &Instance, asked: &Asked) -> Solution {
    let problem = instance.problem().unwrap();
    let solution = Exact::default().solve(&problem).unwrap();
    let Solution { value, bound, work, method, .. } = solution;
    let said = format!("value {value}, bound {bound}, gap {}, {method}, work {work}", solution.gap());
    assert!(problem.is_feasible(&solution.chosen), "{said}");
    assert!(bound >= asked.best * (1.0 - 1e-9), "the bound is below {}: {said}", asked.best);
    assert!(value >= asked.best * (1.0 - asked.short), "the best is {}: {said}", asked.best);
    assert!(solution.gap() <= asked.gap, "{said}");
    solution
}

#[test]
fn gangs_on_eight_large_servers() {
    let servers = Alike { servers: 8, capacity: vec![100], jobs: 60, tasks: 8, request: 1..=3 };
    check(&servers.instance(0), &Asked { best: 381.786, short: 0.005, gap: 0.01 });
}

/// A job of millions of tasks that request nothing.
fn vast_job(tasks: u32) -> Instance {
    let mut instance = Instance::new(vec![Amount::MAX]);
    instance.server_capacity = vec![0, 0];
    instance.jobs.push(Gang { minimum: tasks, copies: 1 });
    instance.groups.push(Group { job: 0, count: tasks });
    for server in 0..2 {
        instance.push(&[0], 1e-3, 1e-3);
        instance.server.push(server);
        instance.group.push(0);
    }
    instance
}

/// All of them run: what they are worth is a product.
#[test]
fn a_gang_of_millions_of_tasks() {
    let tasks = f64::from(1 << 26);
    let best = tasks * 1e-3 + (tasks * 1e-3).sqrt();
    let solution = check(&vast_job(1 << 26), &Asked { best, short: 1e-15, gap: 0.0 });
    assert_eq!((solution.guarantee, solution.chosen.tasks()), (Guarantee::Optimal, 1 << 26));
}
