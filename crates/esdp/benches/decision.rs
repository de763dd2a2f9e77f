//! One decision on learned problems: `exact`, the paper's DP, and a general MILP solver.
//!
//! `cargo bench -p esdp-core` runs all; `cargo bench -p esdp-core -- exact` only what has that name.
//! The problems are the last ones of a learner's run, the hard ones; each solver goes round
//! them. `esdp bench` prints the same as a report, over whole runs.

use divan::Bencher;
use esdp::sim::{ChannelCount, RandomCluster, Setting, trajectory};
use esdp::solver::{Exact, Instance, Paper, Solution, Solver};
use esdp_milp::TangentMilp;
use std::collections::VecDeque;
use std::fmt;

fn main() {
    divan::main();
}

/// Channels and the capacity of each of three devices.
#[derive(Clone, Copy)]
struct Size(usize, u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.1)
    }
}

const ALL: [Size; 7] = [
    Size(32, 2),
    Size(32, 6),
    Size(32, 12),
    Size(32, 30),
    Size(128, 40),
    Size(1_000, 200),
    Size(10_000, 2_000),
];
/// Where the paper's table is small enough for more than one sample a minute.
const PAPER: [Size; 3] = [Size(32, 2), Size(32, 6), Size(32, 12)];
/// Where a solve by branch and bound takes less than a second.
const MILP: [Size; 6] =
    [Size(32, 2), Size(32, 6), Size(32, 12), Size(32, 30), Size(128, 40), Size(1_000, 200)];

const KEPT: usize = 32;

/// The last problems that a policy meets on a cluster of this size.
fn learned(Size(channels, capacity): Size, policy: &str) -> Vec<Instance> {
    let growth = (channels as f64 / 32.0).sqrt();
    let recipe = RandomCluster {
        ports: (8.0 * growth) as usize,
        servers: (40.0 * growth) as usize,
        channels: ChannelCount::Exactly(channels),
        capacity: (capacity, capacity),
        ..RandomCluster::default()
    };
    let setting = Setting::new(&recipe, 0.9, 0).expect("a valid recipe");
    let policy = policy.parse().expect("a known policy");
    let slots = if channels < 1_000 { 500 } else { 100 };
    let mut kept = VecDeque::new();
    trajectory(&setting, &policy, Box::new(Exact::default()), slots, |_, problem| {
        kept.push_back(Instance::from(problem));
        if kept.len() > KEPT {
            kept.pop_front();
        }
    })
    .expect("the learner decides every slot");
    kept.into()
}

/// Times one solve after the other, round and round.
fn rounds(bencher: Bencher<'_, '_>, instances: &[Instance], mut solver: impl Solver) {
    let mut solution = Solution::default();
    let mut next = 0;
    bencher.bench_local(|| {
        let problem = instances[next % instances.len()].problem().expect("recorded problems are valid");
        next += 1;
        solver.solve_into(&problem, &mut solution).expect("within the solver's limits");
        solution.value
    });
}

#[divan::bench_group(max_time = 3)]
mod optimistic {
    use super::*;

    #[divan::bench(args = ALL)]
    fn exact(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "esdp-index"), Exact::default());
    }

    #[divan::bench(args = PAPER)]
    fn paper(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "esdp-index"), Paper::default());
    }

    #[divan::bench(args = MILP)]
    fn milp(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "esdp-index"), TangentMilp::default());
    }
}

#[divan::bench_group(max_time = 3)]
mod linear {
    use super::*;

    #[divan::bench(args = ALL)]
    fn exact(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "cucb"), Exact::default());
    }

    #[divan::bench(args = PAPER)]
    fn paper(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "cucb"), Paper::default());
    }

    #[divan::bench(args = MILP)]
    fn milp(bencher: Bencher<'_, '_>, size: Size) {
        rounds(bencher, &learned(size, "cucb"), TangentMilp::default());
    }
}
