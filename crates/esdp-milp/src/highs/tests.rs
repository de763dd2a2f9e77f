//! Needs `highspy`, as `cargo xtask test` sees to: a test that is skipped is no test.

use super::*;
use crate::TangentMilp;
use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use esdp::solver::{Exhaustive, Gang, Group, Instance};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[path = "../../../esdp/tests/solver/instances.rs"]
#[allow(dead_code)]
mod instances;

fn highs() -> Highs {
    Highs::start().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_best_point_need_not_be_supported() {
    let mut instance = Instance::new(vec![1]);
    instance.push(&[1], 0.0, 4.0);
    instance.push(&[1], 2.0, 0.0);
    instance.push(&[1], 0.9, 1.9);
    let answer = highs().answer(&instance.problem().unwrap()).unwrap();
    assert_eq!((answer.chosen, answer.guarantee), (Uses::from([2]), Guarantee::Optimal));
}

#[test]
fn copies_minima_and_both_kinds_of_limits_hold() {
    // Two copies of a job of 2 + 1 tasks that needs all three; room for one and a half.
    let mut instance = Instance::new(vec![4]);
    instance.server_capacity = vec![3, 3];
    instance.groups = [2, 1].map(|count| Group { job: 0, count, minimum: 0 }).to_vec();
    instance.jobs = vec![Gang { minimum: 3, copies: 2 }];
    for (group, server, mean) in [(0, 0, 0.9), (0, 1, 0.8), (1, 0, -0.1), (1, 1, 0.7)] {
        instance.push(&[1], mean, 0.0);
        instance.server.push(server);
        instance.group.push(group);
    }
    let problem = instance.problem().unwrap();
    let truth = Exhaustive::default().solve(&problem).unwrap();
    let answer = highs().answer(&problem).unwrap();
    assert_eq!(answer.chosen, truth.chosen);
    assert!((answer.value - 2.5).abs() < 1e-12);
}

/// `ESDP_MINIMA_CASES=100000 cargo test --release -p esdp-milp minima` draws more.
#[test]
fn groups_have_minima_of_their_own() {
    let cases = std::env::var("ESDP_MINIMA_CASES").map_or(300, |text| text.parse().expect("a number"));
    let (mut highs, mut rng, mut tight) = (highs(), Xoshiro256PlusPlus::seed_from_u64(29), 0);
    for _ in 0..cases {
        let mut instance = instances::small(&mut rng);
        let without = Exhaustive::default().solve(&instance.problem().unwrap()).unwrap();
        for group in &mut instance.groups {
            group.minimum = if rng.random_bool(0.5) { rng.random_range(0..=group.count) } else { 0 };
        }
        let problem = instance.problem().unwrap();
        let truth = Exhaustive::default().solve(&problem).unwrap();
        tight += u64::from(truth.value < without.value);
        let answer = highs.answer(&problem).unwrap_or_else(|error| panic!("{error}\n{instance:?}"));
        assert_eq!((answer.guarantee, answer.stopped), (Guarantee::Optimal, Stopped::Proved), "{instance:?}");
        let error = (truth.value - answer.value).abs();
        assert!(
            error <= crate::tests::tolerance(&instance),
            "{} {}\n{instance:?}",
            truth.value,
            answer.value
        );
    }
    assert!(tight > cases / 14, "minima matter in {tight} instances");
}

/// Two independent MILP solvers and two models, over every family.
#[test]
fn agrees_with_microlp() {
    let mut highs = highs();
    let sizes = [
        (Family::RealNodes, Dimensions(2, 3)),
        (Family::Congested, Dimensions(6, 4)),
        (Family::OrLibrary, Dimensions(3, 12)),
        (Family::Ties, Dimensions(12, 3)),
        (Family::Quotas, Dimensions(3, 3)),
        (Family::ManyLimits, Dimensions(8, 14)),
        (Family::OneTask, Dimensions(12, 6)),
        (Family::Pisinger, Dimensions(14, 1_000)),
    ];
    for (family, size) in sizes {
        for index in IndexKind::ALL {
            for number in 0..10 {
                let draw = Draw { family, size, index, seed: 5, number };
                let instance = draw.instance();
                let problem = instance.problem().unwrap();
                let truth = TangentMilp::default().solve(&problem).unwrap();
                let answer = highs.answer(&problem).unwrap_or_else(|error| panic!("{draw}: {error}"));
                assert_eq!(
                    (truth.guarantee, answer.guarantee),
                    (Guarantee::Optimal, Guarantee::Optimal),
                    "{draw}"
                );
                let error = (truth.value - answer.value).abs();
                assert!(error <= 1e-8 * truth.value, "{draw}: {} {}", truth.value, answer.value);
            }
        }
    }
}

#[test]
fn a_time_limit_keeps_value_and_bound() {
    let draw = Draw {
        family: Family::OrLibrary,
        size: Dimensions(10, 250),
        index: IndexKind::Optimistic,
        seed: 0,
        number: 0,
    };
    let instance = draw.instance();
    let mut highs = highs().with_time_limit(Duration::from_millis(500));
    let answer = highs.answer(&instance.problem().unwrap()).unwrap();
    assert_eq!((answer.guarantee, answer.stopped), (Guarantee::Bounded, Stopped::Budget));
    assert!(
        answer.value > 0.0 && answer.bound > answer.value && answer.bound < 1.05 * answer.value,
        "{answer:?}"
    );
    assert!(highs.last_run() < Duration::from_secs(20));
}
