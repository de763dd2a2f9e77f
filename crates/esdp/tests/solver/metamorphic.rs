//! What must hold between the answers to a problem and to a changed one, over all families of problems.
//!
//! No truth is needed: an answer proves that the best value lies between its value and its bound, and a
//! change says in which direction the best value can move. Answers that contradict each other are wrong,
//! whatever the truth is. Work budgets are small, so that most answers leave a gap.

use crate::changes::{reordered, with_more_room, with_one_more_channel};
use crate::compare::at_least;
use crate::draws::{draws, exact};
use esdp::solver::{Greedy, Solver};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn the_order_in_which_a_problem_is_told_does_not_matter_beyond_the_gap() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for draw in draws() {
        let instance = draw.instance();
        let other = reordered(&instance, &mut rng);
        for budget in [3_000, 100_000] {
            let (first, second) = (exact(&instance, budget), exact(&other, budget));
            assert!(at_least(first.bound, second.value), "{draw}, {budget}: {first:?}\n{second:?}");
            assert!(at_least(second.bound, first.value), "{draw}, {budget}: {first:?}\n{second:?}");
        }
    }
}

#[test]
fn one_more_unit_of_room_never_costs() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for draw in draws() {
        let instance = draw.instance();
        let (before, after) = (exact(&instance, 30_000), exact(&with_more_room(&instance, &mut rng), 30_000));
        assert!(at_least(after.bound, before.value), "{draw}: {before:?}\n{after:?}");
    }
}

#[test]
fn one_more_channel_never_costs() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for draw in draws() {
        let instance = draw.instance();
        let (before, after) =
            (exact(&instance, 30_000), exact(&with_one_more_channel(&instance, &mut rng), 30_000));
        assert!(at_least(after.bound, before.value), "{draw}: {before:?}\n{after:?}");
    }
}

#[test]
fn solvers_do_not_contradict_each_other() {
    for draw in draws() {
        let instance = draw.instance();
        let greedy = Greedy::default().solve(&instance.problem().unwrap()).unwrap();
        let exact = exact(&instance, 30_000);
        assert!(at_least(greedy.bound, exact.value), "{draw}: {greedy:?}\n{exact:?}");
        assert!(at_least(exact.bound, greedy.value), "{draw}: {greedy:?}\n{exact:?}");
    }
}
