//! Whatever the bytes, `esdp solve` answers or refuses; and what it answers holds.

use esdp_fuzz::solve::check;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

fn gang_problem() -> impl Strategy<Value = Value> {
    (0..3usize, 1..4u64).prop_flat_map(|(devices, servers)| {
        let channel = (0..servers, number(), width())
            .prop_map(|(server, mean, width)| json!({"server": server, "mean": mean, "width": width}));
        let group = (1..4u64, prop::collection::vec(amount(), devices), prop::collection::vec(channel, 0..3))
            .prop_map(|(count, request, channels)| {
                json!({"count": count, "request": request, "channels": channels})
            });
        let job = (1..4u64, 0..3u64, prop::collection::vec(group, 1..3))
            .prop_map(|(min, copies, tasks)| json!({"min": min, "copies": copies, "tasks": tasks}));
        let server =
            prop::collection::vec(amount(), devices).prop_map(|capacity| json!({"capacity": capacity}));
        let all = (prop::collection::vec(server, servers as usize), prop::collection::vec(job, 0..4));
        (all, prop::option::of(prop::collection::vec(amount(), devices))).prop_map(
            |((servers, jobs), capacity)| {
                let mut problem = json!({"servers": servers, "jobs": jobs});
                if let Some(capacity) = capacity {
                    problem["capacity"] = json!(capacity);
                }
                problem
            },
        )
    })
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-1.0..1.0f64).prop_map(|number| json!(number)),
        2 => (0..9u64).prop_map(|number| json!(number)),
        1 => prop::sample::select(vec![json!(1e308), json!(-1e308), json!(5e-324), json!(u64::MAX),
            json!(i64::MIN), json!(-0.0)]),
        // Vast and tiny, but not too much so to be added up.
        1 => (prop::sample::select(vec![-200, -12, -9, -6, -3, 3, 6, 9, 12, 15, 200]), -9.0..9.0f64)
            .prop_map(|(exponent, digits)| json!(digits * 10f64.powi(exponent))),
    ]
}

fn amount() -> impl Strategy<Value = Value> {
    prop_oneof![
        9 => (0..5u64).prop_map(|amount| json!(amount)),
        1 => prop::sample::select(vec![json!(u64::MAX), json!(u64::MAX / 2), json!(1u64 << 53),
            json!(1u64 << 32)]),
    ]
}

fn width() -> impl Strategy<Value = Value> {
    prop_oneof![6 => (0.0..1.0f64).prop_map(|width| json!(width)), 2 => Just(json!(0)), 1 => number()]
}

fn problem() -> impl Strategy<Value = Value> {
    (0..4usize, 0..12usize).prop_flat_map(|(devices, n)| {
        let request = prop::collection::vec(amount(), devices);
        let channel = (request, number(), width())
            .prop_map(|(request, mean, width)| json!({"request": request, "mean": mean, "width": width}));
        (prop::collection::vec(amount(), devices), prop::collection::vec(channel, n))
            .prop_map(|(capacity, channels)| json!({"capacity": capacity, "channels": channels}))
    })
}

fn budget() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), Just(Some(0)), Just(Some(1)), Just(Some(u64::MAX))]
}

proptest! {
    // What failed once is tried first ever after: commit the file that a failure leaves beside this one.
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes, None);
    }

    #[test]
    fn any_text_of_json_words(words in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"capacity\"", "\"channels\"", "\"request\"", "\"mean\"", "\"width\"",
        "0", "-1", "1e999", "0.5", "null", "true", "NaN", "\"\\ud800\"", " ", "\n",
    ]), 0..60)) {
        check(words.concat().as_bytes(), None);
    }

    #[test]
    fn valid_problems(problem in problem(), budget in budget()) {
        check(problem.to_string().as_bytes(), budget);
    }

    #[test]
    fn valid_gangs(problem in gang_problem(), budget in budget()) {
        check(problem.to_string().as_bytes(), budget);
    }

    #[test]
    fn mutated_problems(
        problem in prop_oneof![problem(), gang_problem()],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..4),
    ) {
        let mut bytes = problem.to_string().into_bytes();
        for (place, byte, kind) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, b"0123456789.-eE,[]{}\":"[byte as usize % 21]),
                _ => { bytes.remove(place); }
            }
        }
        check(&bytes, None);
    }
}
