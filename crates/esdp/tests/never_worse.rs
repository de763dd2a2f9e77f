//! An answer is never worse than that of a simpler solver, or than one that took less work: neither its value nor its
//! bound.

#[path = "metamorphic/compare.rs"]
mod compare;
#[path = "metamorphic/draws.rs"]
mod draws;

use compare::at_least;
use draws::{draws, exact};
use esdp::solver::{Greedy, Solver};

#[test]
fn exact_is_at_least_as_good_as_greedy() {
    for draw in draws() {
        let instance = draw.instance();
        let greedy = Greedy::default().solve(&instance.problem().unwrap()).unwrap();
        let exact = exact(&instance, 100_000);
        assert!(at_least(exact.value, greedy.value), "{draw}: {greedy:?}\n{exact:?}");
    }
}

#[test]
fn more_work_never_gives_less() {
    for draw in draws() {
        let instance = draw.instance();
        let mut before = exact(&instance, 0);
        for budget in [1_000, 10_000, 100_000, 1_000_000] {
            let after = exact(&instance, budget);
            assert!(at_least(after.value, before.value), "{draw}, {budget}: {before:?}\n{after:?}");
            assert!(at_least(before.bound, after.bound), "{draw}, {budget}: {before:?}\n{after:?}");
            before = after;
        }
    }
}
