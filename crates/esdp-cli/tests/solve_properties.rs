//! Whatever the bytes, `esdp solve` answers or refuses; and what it answers holds.

use esdp_cli::solve::{Answer, Input, SolverName, parse, solve_json};
use proptest::prelude::*;
use serde_json::{Value, json};

const SOLVERS: [SolverName; 5] =
    [SolverName::Auto, SolverName::Exact, SolverName::Paper, SolverName::Exhaustive, SolverName::Greedy];

/// Solves with every solver and checks each answer; a panic fails the test by itself.
fn check(bytes: &[u8], budget: Option<u64>) {
    let mut best = f64::NEG_INFINITY;
    let mut bounds = Vec::new();
    for solver in SOLVERS {
        let Ok(answer) = solve_json(bytes, solver, budget) else { continue };
        let input = parse(bytes).expect("what was solved can be read");
        let problem = input.instance.problem().expect("and checked");
        if input.origins.is_none() {
            assert!(answer.chosen().is_sorted_by(|a, b| a < b), "{solver:?}: positions repeat");
            let chosen = answer.chosen().iter().copied().collect();
            assert!(problem.is_feasible(&chosen), "{solver:?}: infeasible");
            assert_eq!(problem.value(&chosen), answer.value, "{solver:?}");
        } else {
            assert!(keeps_rooms(&input, &answer), "{solver:?}: infeasible");
        }
        assert!(answer.value.is_finite() && answer.bound.is_finite(), "{solver:?}");
        best = best.max(answer.value);
        bounds.push((solver, answer.bound));
    }
    for (solver, bound) in bounds {
        assert!(bound >= best - 1e-9 * best.abs(), "{solver:?}: {bound} is below {best}");
    }
}

/// Whether placements keep servers, groups and minima, told from the answer as it is printed.
fn keeps_rooms(input: &Input, answer: &Answer) -> bool {
    let instance = &input.instance;
    let devices = instance.capacity.len();
    let mut server = vec![0u128; instance.server_capacity.len()];
    let mut groups = std::collections::BTreeMap::new();
    let origins = input.origins.as_deref().expect("the gang form");
    for placed in answer.placements() {
        let channel = (0..origins.len())
            .find(|&e| {
                (origins[e].job, origins[e].task, instance.server[e]) == (placed.job, placed.task, placed.server)
            })
            .expect("a channel of the input");
        for device in 0..devices {
            let request = u128::from(instance.requests[channel * devices + device]);
            server[placed.server as usize * devices + device] += request * u128::from(placed.count);
        }
        *groups.entry(instance.group[channel]).or_insert(0u64) += u64::from(placed.count);
    }
    let fits = server.iter().zip(&instance.server_capacity).all(|(&used, &room)| used <= u128::from(room));
    let whole = instance.jobs.iter().enumerate().all(|(job, gang)| {
        let of_job = groups.iter().filter(|&(&g, _)| instance.groups[g as usize].job as usize == job);
        let copies = of_job.clone().map(|(&g, &n)| n.div_ceil(u64::from(instance.groups[g as usize].count))).max();
        let (copies, tasks) = (copies.unwrap_or(0), of_job.map(|(_, &n)| n).sum::<u64>());
        copies <= u64::from(gang.copies) && tasks >= copies * u64::from(gang.minimum)
    });
    fits && whole
}

fn gang_problem() -> impl Strategy<Value = Value> {
    (0..3usize, 1..4u64).prop_flat_map(|(devices, servers)| {
        let channel = (0..servers, number(), width())
            .prop_map(|(server, mean, width)| json!({"server": server, "mean": mean, "width": width}));
        let group = (1..4u64, prop::collection::vec(amount(), devices), prop::collection::vec(channel, 0..3))
            .prop_map(|(count, request, channels)| json!({"count": count, "request": request, "channels": channels}));
        let job = (1..4u64, 0..3u64, prop::collection::vec(group, 1..3))
            .prop_map(|(min, copies, tasks)| json!({"min": min, "copies": copies, "tasks": tasks}));
        let server = prop::collection::vec(amount(), devices).prop_map(|capacity| json!({"capacity": capacity}));
        let all = (prop::collection::vec(server, servers as usize), prop::collection::vec(job, 0..4));
        (all, prop::option::of(prop::collection::vec(amount(), devices))).prop_map(|((servers, jobs), capacity)| {
            let mut problem = json!({"servers": servers, "jobs": jobs});
            if let Some(capacity) = capacity {
                problem["capacity"] = json!(capacity);
            }
            problem
        })
    })
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-1.0..1.0f64).prop_map(|number| json!(number)),
        2 => (0..9u64).prop_map(|number| json!(number)),
        1 => prop::sample::select(vec![json!(1e308), json!(-1e308), json!(5e-324), json!(u64::MAX), json!(i64::MIN), json!(-0.0)]),
        // Vast and tiny, but not too much so to be added up.
        1 => (prop::sample::select(vec![-200, -12, -9, -6, -3, 3, 6, 9, 12, 15, 200]), -9.0..9.0f64)
            .prop_map(|(exponent, digits)| json!(digits * 10f64.powi(exponent))),
    ]
}

fn amount() -> impl Strategy<Value = Value> {
    prop_oneof![
        9 => (0..5u64).prop_map(|amount| json!(amount)),
        1 => prop::sample::select(vec![json!(u64::MAX), json!(u64::MAX / 2), json!(1u64 << 53), json!(1u64 << 32)]),
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
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

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
