//! Any bytes as a problem of `esdp solve`, with every solver.

use crate::sentence;
use esdp_cli::solve::{Answer, Input, SolverName, parse, solve_json};

const SOLVERS: [SolverName; 5] =
    [SolverName::Auto, SolverName::Exact, SolverName::Paper, SolverName::Exhaustive, SolverName::Greedy];

/// The first byte chooses the budget, the rest is the problem.
pub fn hold(data: &[u8]) {
    if let Some((first, bytes)) = data.split_first() {
        check(bytes, [None, Some(0), Some(1), Some(100)][usize::from(*first) % 4]);
    }
}

/// Solves with every solver and checks each answer.
///
/// # Panics
/// When an answer is not what it must be.
pub fn check(bytes: &[u8], budget: Option<u64>) {
    let mut best = f64::NEG_INFINITY;
    let mut bounds = Vec::new();
    for solver in SOLVERS {
        let answer = match solve_json(bytes, solver, budget) {
            Ok(answer) => answer,
            Err(error) => {
                sentence(&format!("{error:#}"));
                continue;
            }
        };
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
        assert!(answer.value >= 0.0, "{solver:?}: less than nothing");
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
                (origins[e].job, origins[e].task, instance.server[e])
                    == (placed.job, placed.task, placed.server)
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
        let copies =
            of_job.clone().map(|(&g, &n)| n.div_ceil(u64::from(instance.groups[g as usize].count))).max();
        let (copies, tasks) = (copies.unwrap_or(0), of_job.map(|(_, &n)| n).sum::<u64>());
        copies <= u64::from(gang.copies) && tasks >= copies * u64::from(gang.minimum)
    });
    fits && whole
}
