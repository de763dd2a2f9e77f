//! A work budget is kept: what an answer counts as its work is no more than a few times the budget and what a
//! first answer takes at least.

use crate::alike::Alike;
use crate::draws::{draws, exact};
use esdp::solver::{Exhaustive, Greedy, Guarantee, Instance, Paper, Solver, Stopped};

/// Reading a problem and placing something visits each of its numbers some times.
fn least(instance: &Instance) -> u64 {
    let jobs = instance.jobs.len() + instance.groups.len();
    2_500 * (instance.mean.len() + instance.requests.len() + instance.server_capacity.len() + jobs) as u64
}

fn check(name: &str, instance: &Instance) {
    for budget in [0, 10_000, 100_000, 1_000_000] {
        let solution = exact(instance, budget);
        let proved = solution.guarantee == Guarantee::Optimal;
        assert_eq!(
            solution.stopped,
            if proved { Stopped::Proved } else { Stopped::Budget },
            "{name} at {budget}"
        );
        let most = 2 * budget + least(instance);
        assert!(solution.work <= most, "{name}: {} of {budget}, at most {most}", solution.work);
    }
    let greedy = Greedy::default().solve(&instance.problem().unwrap()).unwrap();
    assert_eq!(greedy.stopped, Stopped::Gap, "{name}: greedy has one pass");
    assert!(greedy.work <= 40_000_000 + least(instance), "{name}: greedy {}", greedy.work);
}

#[test]
fn in_every_family() {
    for draw in draws() {
        check(&draw.to_string(), &draw.instance());
    }
}

#[test]
fn on_large_servers() {
    for (servers, capacity) in [(8, 100), (1, 500), (1, 980), (2, 1 << 40)] {
        let instance =
            Alike { servers, capacity: vec![capacity], jobs: 20, tasks: 8, request: 1..=3 }.instance(1);
        check(&format!("{servers}x{capacity}"), &instance);
    }
}

#[test]
fn with_many_copies() {
    let mut instance =
        Alike { servers: 2, capacity: vec![1 << 40], jobs: 4, tasks: 2, request: 1..=3 }.instance(2);
    instance.jobs.iter_mut().for_each(|job| job.copies = 1 << 20);
    check("copies", &instance);
}

#[test]
fn solvers_without_a_budget_say_why_they_stop() {
    let mut instance = Instance::new(vec![3]);
    (0..6).for_each(|at| instance.push(&[1 + at % 2], 0.3 + 0.1 * at as f64, 0.2));
    let problem = instance.problem().unwrap();
    assert_eq!(Exhaustive::default().solve(&problem).unwrap().stopped, Stopped::Proved);
    assert_eq!(
        Paper::new(20.0, None).solve(&problem).unwrap().stopped,
        Stopped::Gap,
        "it solves a rounded problem"
    );
}
