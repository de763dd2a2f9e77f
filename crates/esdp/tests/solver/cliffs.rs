//! Problems on which solvers fell off a cliff: machines of real size, many limits, many equal channels, jobs
//! of one task, millions of tasks. Each has a value that must be reached and a gap that must be certified.
//!
//! The best values are those of HiGHS 1.15 after a minute (eight for 400 jobs on 100 servers) on the
//! instances drawn here; those that are known otherwise say how.

use crate::alike::Alike;
use crate::draws::exact;
use esdp::model::Amount;
use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use esdp::solver::{Exact, Exhaustive, Gang, Group, Guarantee, Instance, Solution, Solver};

/// What is asked of an answer.
struct Asked {
    /// The best value known.
    best: f64,
    /// How much less will do, as a share.
    short: f64,
    /// The largest gap that may be left.
    gap: f64,
}

fn draw(family: Family, size: (u32, u32), index: IndexKind) -> Instance {
    Draw { family, size: Dimensions(size.0, size.1), index, seed: 7, number: 0 }.instance()
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
fn gangs_on_40_real_nodes() {
    let linear = draw(Family::RealNodes, (40, 60), IndexKind::Linear);
    check(&linear, &Asked { best: 233.01369, short: 0.005, gap: 0.03 });
    let optimistic = draw(Family::RealNodes, (40, 60), IndexKind::Optimistic);
    check(&optimistic, &Asked { best: 245.14786, short: 0.005, gap: 0.03 });
}

#[test]
fn gangs_on_nodes_with_64_of_everything() {
    let nodes = Alike { servers: 16, capacity: vec![64; 3], jobs: 100, tasks: 8, request: 1..=4 };
    check(&nodes.instance(0), &Asked { best: 437.046, short: 0.01, gap: 0.03 });
}

#[test]
fn gangs_on_one_large_server() {
    let server = Alike { servers: 1, capacity: vec![500], jobs: 60, tasks: 8, request: 1..=3 };
    check(&server.instance(0), &Asked { best: 173.056, short: 0.005, gap: 0.01 });
}

#[test]
fn gangs_on_eight_large_servers() {
    let servers = Alike { servers: 8, capacity: vec![100], jobs: 60, tasks: 8, request: 1..=3 };
    check(&servers.instance(0), &Asked { best: 381.786, short: 0.005, gap: 0.01 });
}

/// Every server is a knapsack of its own, and so small that all of its sets can be tried.
#[test]
fn jobs_of_one_task_each_on_one_server() {
    let instance = draw(Family::OneTask, (400, 40), IndexKind::Linear);
    let devices = instance.capacity.len();
    let mut best = 0.0;
    for server in 0..instance.server_capacity.len() / devices {
        let mut part = Instance::new(instance.server_capacity[server * devices..][..devices].to_vec());
        for channel in (0..instance.mean.len()).filter(|&channel| instance.server[channel] as usize == server)
        {
            part.push(&instance.requests[channel * devices..][..devices], instance.mean[channel], 0.0);
        }
        best += Exhaustive::default().solve(&part.problem().unwrap()).unwrap().value;
    }
    check(&instance, &Asked { best, short: 1e-9, gap: 1e-9 });
}

/// Any 6,000 of them are best.
#[test]
fn twenty_thousand_equal_channels() {
    let instance = draw(Family::Ties, (20_000, 1), IndexKind::Linear);
    check(&instance, &Asked { best: 3_000.0, short: 0.0, gap: 1e-9 });
}

#[test]
fn eight_limits() {
    check(
        &draw(Family::ManyLimits, (8, 400), IndexKind::Linear),
        &Asked { best: 20.781974779, short: 0.003, gap: 0.03 },
    );
}

/// The gaps here and below are those that HiGHS has left after a second.
#[test]
fn ten_limits_by_the_rule_of_the_or_library() {
    for (channels, best, gap) in
        [(100, 22990.157, 0.0205), (250, 59122.233, 0.0091), (500, 117986.155, 0.0058)]
    {
        let instance = draw(Family::OrLibrary, (10, channels), IndexKind::Linear);
        check(&instance, &Asked { best, short: 0.003, gap });
    }
}

#[test]
fn thirty_limits_by_the_rule_of_the_or_library() {
    let instance = draw(Family::OrLibrary, (30, 100), IndexKind::Linear);
    check(&instance, &Asked { best: 21517.627, short: 0.003, gap: 0.0373 });
}

/// Here swaps from the best set alone stayed 1.4 to 1.6 % short: good sets have to be crossed. HiGHS was not
/// asked: the values are the best seen.
#[test]
fn thirty_limits_with_good_sets_far_apart() {
    for (seed, number, best) in [(205, 3, 22108.398), (206, 0, 21528.524), (208, 3, 22161.438)] {
        let (family, size) = (Family::OrLibrary, Dimensions(30, 100));
        let instance = Draw { family, size, index: IndexKind::Linear, seed, number }.instance();
        check(&instance, &Asked { best, short: 0.003, gap: 0.035 });
    }
}

#[test]
fn more_gangs_than_small_servers_hold() {
    for (size, best) in [((300, 40), 104.51525), ((400, 100), 270.47049)] {
        let instance = draw(Family::Congested, size, IndexKind::Linear);
        check(&instance, &Asked { best, short: 0.0125, gap: 0.02 });
    }
}

/// The last round of rounded rows does not lower the bound here. Once the prices of an earlier round were
/// then put on the wrong rows, and the decision fell 7 % short of the bound. HiGHS was not asked: the value
/// is the best seen.
#[test]
fn gangs_whose_last_rounded_rows_gain_nothing() {
    let draw = Draw {
        family: Family::Congested,
        size: Dimensions(100, 100),
        index: IndexKind::Linear,
        seed: 5,
        number: 4,
    };
    check(&draw.instance(), &Asked { best: 217.3425, short: 0.01, gap: 0.03 });
}

/// Rounded rows raise the prices of some servers, and channels that looked dear before are wanted: left out
/// of the relaxation, they made the bound 4 % worse.
#[test]
fn gangs_whose_rounded_rows_bring_channels_back() {
    let draw = Draw {
        family: Family::Congested,
        size: Dimensions(40, 40),
        index: IndexKind::Linear,
        seed: 31,
        number: 6,
    };
    check(&draw.instance(), &Asked { best: 66.4, short: 0.01, gap: 0.02 });
}

#[test]
fn gangs_on_100_real_nodes() {
    let linear = draw(Family::RealNodes, (100, 100), IndexKind::Linear);
    check(&linear, &Asked { best: 512.19516, short: 0.005, gap: 0.03 });
    let optimistic = draw(Family::RealNodes, (100, 100), IndexKind::Optimistic);
    check(&optimistic, &Asked { best: 532.71644, short: 0.005, gap: 0.03 });
}

/// A job of millions of tasks that request nothing.
fn vast_job(tasks: u32) -> Instance {
    let mut instance = Instance::new(vec![Amount::MAX]);
    instance.server_capacity = vec![0, 0];
    instance.jobs.push(Gang { minimum: tasks, copies: 1 });
    instance.groups.push(Group { job: 0, count: tasks, minimum: 0 });
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

/// Where servers and jobs are both many, one linear system is too dear for the budget: gaps were 20 to 75 %.
#[test]
fn gangs_as_many_as_servers() {
    let nodes = Alike { servers: 220, capacity: vec![64; 3], jobs: 220, tasks: 32, request: 1..=4 };
    let instances = [
        ("alike", nodes.instance(0)),
        ("linear", draw(Family::RealNodes, (220, 220), IndexKind::Linear)),
        ("optimistic", draw(Family::RealNodes, (220, 220), IndexKind::Optimistic)),
    ];
    for (name, instance) in &instances {
        let budget = 5_000 * instance.mean.len() as u64;
        let solution = exact(instance, budget);
        let Solution { value, bound, work, .. } = solution;
        let said = format!("{name}: value {value}, bound {bound}, gap {}, work {work}", solution.gap());
        assert!(instance.problem().unwrap().is_feasible(&solution.chosen), "{said}");
        assert!(solution.gap() <= 0.06, "{said}");
        assert!(work <= budget / 10 * 11, "{said}");
    }
}

/// More jobs than servers hold, and few enough for a tree that did not end: gaps were up to 6.8 %.
#[test]
fn few_gangs_on_crowded_servers() {
    for number in 0..4 {
        let size = Dimensions(32, 14);
        let draw = Draw { family: Family::Congested, size, index: IndexKind::Linear, seed: 202, number };
        let solution = Exact::default().solve(&draw.instance().problem().unwrap()).unwrap();
        assert!(solution.gap() <= 0.03, "{draw}: {solution:?}");
    }
}

/// The tree's best decision once came with the copies of another: a gang ran with a task too few, and the
/// value was above the optimum.
#[test]
fn gangs_that_run_as_often_as_the_tree_said() {
    let (size, index) = (Dimensions(34, 15), IndexKind::Optimistic);
    let draw = Draw { family: Family::Congested, size, index, seed: 701, number: 7 };
    check(&draw.instance(), &Asked { best: 27.724_497, short: 0.01, gap: 0.02 });
}

/// Once a gang of sixteen is decided on, channels come near use that were far from it, and tasks are left to
/// split by: the bound stayed 1.7 % above the optimum.
#[test]
fn gangs_of_which_one_takes_nearly_all() {
    let size = Dimensions(16, 30);
    let index = IndexKind::Linear;
    let draw = Draw { family: Family::RealNodes, size, index, seed: 201, number: 6 };
    check(&draw.instance(), &Asked { best: 80.258_968, short: 1e-7, gap: 0.003 });
}

/// A job that takes nearly all GPUs, and does not fit beside those that must run: the relaxation of a node in
/// which nothing fits proved nothing, and gaps were 3.2 and 4.1 %.
#[test]
fn gangs_that_leave_nothing_to_a_node() {
    for (seed, number, best) in [(94, 7, 118.848_450), (201, 4, 85.107_914)] {
        let (size, index) = (Dimensions(16, 30), IndexKind::Linear);
        let draw = Draw { family: Family::RealNodes, size, index, seed, number };
        check(&draw.instance(), &Asked { best, short: 1e-7, gap: 0.003 });
    }
}

/// Servers of two devices that hold a few tasks: rows of one device at a time left a gap of 2.6 %.
#[test]
fn gangs_on_small_servers_of_two_devices() {
    let (size, index) = (Dimensions(100, 100), IndexKind::Linear);
    let draw = Draw { family: Family::Congested, size, index, seed: 200, number: 15 };
    check(&draw.instance(), &Asked { best: 295.683_701, short: 0.006, gap: 0.018 });
}

/// 20 jobs of 2 to 16 tasks, all or none, worth by size and by kind of server, on 20 servers of five kinds.
/// Where `bent`, jobs differ in what they gain from a faster server.
fn worth_by_size(seed: u64, requests: &[[Amount; 3]], bent: bool) -> Instance {
    let kinds = [[128, 1024, 8], [96, 768, 8], [64, 512, 4], [48, 384, 0], [32, 256, 4]];
    let speeds = [1.0, 0.7, 0.5, 0.35, 0.25];
    let mut state = seed;
    let mut number = |limit: usize| {
        state = u64::wrapping_add(u64::wrapping_mul(state, 6_364_136_223_846_793_005), 1);
        (state >> 33) as usize % limit
    };
    let servers: Vec<usize> = (0..20).map(|_| number(5)).collect();
    let mut instance = Instance::new(vec![Amount::MAX; 3]);
    instance.server_capacity = servers.iter().flat_map(|&kind| kinds[kind]).collect();
    for job in 0..20 {
        let tasks = 2 + number(15) as u32;
        let request = requests[number(requests.len())];
        let power = if bent { number(100) as f64 / 50.0 } else { 1.0 };
        instance.jobs.push(Gang { minimum: tasks, copies: 1 });
        instance.groups.push(Group { job, count: tasks, minimum: 0 });
        for (server, &kind) in (0..).zip(&servers) {
            if request.iter().zip(kinds[kind]).all(|(&asked, has)| asked <= has) {
                let size = request[2] as f64 + request[0] as f64 / 32.0;
                instance.push(&request, size * f64::powf(speeds[kind], power), 0.0);
                instance.server.push(server);
                instance.group.push(job);
            }
        }
    }
    instance
}

const SIZES: [[Amount; 3]; 9] = [
    [4, 32, 1],
    [8, 64, 1],
    [16, 100, 2],
    [32, 200, 4],
    [12, 96, 0],
    [64, 480, 8],
    [24, 60, 1],
    [10, 50, 1],
    [6, 24, 0],
];

/// Jobs that were a task or two short were cut, and gaps were 4 to 8 %.
#[test]
fn gangs_worth_by_their_size() {
    for seed in [5, 10, 19] {
        let instance = worth_by_size(seed, &SIZES[..6], false);
        let solution = Exact::default().solve(&instance.problem().unwrap()).unwrap();
        assert!(solution.gap() <= 0.03, "{seed}: {} {}", solution.value, solution.bound);
    }
}

/// The relaxation puts halves of tasks that fill a server beside small ones. These were decided first, so the
/// large ones had no room, and gaps were 3.4 to 4.3 %.
#[test]
fn gangs_whose_tasks_fill_a_server() {
    for seed in [23, 26, 33] {
        let instance = worth_by_size(seed, &SIZES, true);
        let solution = Exact::default().solve(&instance.problem().unwrap()).unwrap();
        assert!(solution.gap() <= 0.028, "{seed}: {} {}", solution.value, solution.bound);
    }
}

/// Hardly any of the jobs run; regions around those that do offered none of those that wait, and the value
/// was 4.3 % below the optimum.
#[test]
fn one_task_jobs_of_which_few_run() {
    let (size, index) = (Dimensions(120, 18), IndexKind::Linear);
    let draw = Draw { family: Family::OneTask, size, index, seed: 810, number: 85 };
    check(&draw.instance(), &Asked { best: 35.786_469, short: 0.015, gap: 0.03 });
}

/// Memory in MB, and servers in part in use: the relaxation had a tenth of the channels, and the round that
/// brings in those that it missed was not affordable. The value was 2 % below the optimum, the gap 4.9 %.
#[test]
fn gangs_on_400_nodes_in_part_in_use() {
    let (size, index) = (Dimensions(400, 200), IndexKind::Linear);
    let draw = Draw { family: Family::RealNodes, size, index, seed: 99, number: 19 };
    check(&draw.instance(), &Asked { best: 575.407_366, short: 0.005, gap: 0.01 });
}
