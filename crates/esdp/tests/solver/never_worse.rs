//! An answer is never worse than that of a simpler solver, or than one that took less work: neither its value
//! nor its bound. Where servers have limits of their own a tenth of the value may be lost between tiny
//! budgets.

use crate::compare::at_least;
use crate::draws::{draws, exact};
use esdp::solver::{Greedy, Solver};

/// What an answer may lose with more work where servers have limits of their own.
const SERVERS: f64 = 0.9;

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
            // With servers, a larger budget chooses another way to search, which may end a little lower.
            let slack = if instance.server_capacity.is_empty() { 1.0 } else { SERVERS };
            assert!(at_least(after.value, slack * before.value), "{draw}, {budget}: {before:?}\n{after:?}");
            // Their relaxation, stopped half-way, bounds less than a cheaper dual does.
            let is_bound = instance.server_capacity.is_empty();
            assert!(
                !is_bound || at_least(before.bound, after.bound),
                "{draw}, {budget}: {before:?}\n{after:?}"
            );
            before = after;
        }
    }
}
