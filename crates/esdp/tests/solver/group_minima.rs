//! Task groups with a minimum of their own: a job of one parameter server and four workers needs its
//! parameter server.

use crate::instances::small;
use esdp::model::{
    Arrivals, ClusterDescription, JobShape, Observation, Outcome, PortSpec, ServerSpec, Slot, TaskGroupSpec,
};
use esdp::policy::PolicySpec;
use esdp::scheduler::{Scheduler, SealError};
use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use esdp::solver::{Exact, Exhaustive, Greedy, Group, Guarantee, Instance, Solver};
use esdp_milp::TangentMilp;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// A small problem in which about half of the groups have a minimum, sometimes of all their tasks.
fn with_minima(rng: &mut Xoshiro256PlusPlus) -> Instance {
    let mut instance = small(rng);
    for group in &mut instance.groups {
        if rng.random_bool(0.5) {
            group.minimum = rng.random_range(0..=group.count);
        }
    }
    instance
}

/// `ESDP_MINIMA_CASES=100000 cargo test --release -p esdp-core --test solver group_minima::` draws more.
fn cases() -> u64 {
    match std::env::var("ESDP_MINIMA_CASES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("ESDP_MINIMA_CASES is {text}, expected a number")),
        Err(_) => 10_000,
    }
}

#[test]
fn brute_force_and_the_milp_agree_and_no_solver_breaks_a_minimum() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let (mut tight, mut unproved, mut stopped) = (0u64, 0u64, 0u64);
    for _ in 0..cases() {
        let instance = with_minima(&mut rng);
        let problem = instance.problem().unwrap();
        let optimum = Exhaustive::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&optimum.chosen));
        let mut relaxed = instance.clone();
        relaxed.groups.iter_mut().for_each(|group| group.minimum = 0);
        let without = Exhaustive::default().solve(&relaxed.problem().unwrap()).unwrap();
        tight += u64::from(!close(without.value, optimum.value));
        let milp = TangentMilp::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&milp.chosen), "{instance:?}");
        assert!(milp.bound >= optimum.value || close(milp.bound, optimum.value), "{milp:?}\n{instance:?}");
        let proved = milp.guarantee == Guarantee::Optimal;
        assert!(!proved || close(milp.value, optimum.value), "{milp:?}, not {}\n{instance:?}", optimum.value);
        stopped += u64::from(!proved);
        let solvers: [&mut dyn Solver; 2] = [&mut Exact::default(), &mut Greedy::default()];
        for solver in solvers {
            let solution = solver.solve(&problem).unwrap();
            assert!(problem.is_feasible(&solution.chosen), "{} {instance:?}", solver.name());
            assert!(solution.bound >= optimum.value || close(solution.bound, optimum.value), "{instance:?}");
            let proved = solution.guarantee == Guarantee::Optimal;
            let must_be_optimal = proved || solver.name() == "exact";
            assert!(!must_be_optimal || close(solution.value, optimum.value), "{solution:?}\n{instance:?}");
            unproved += u64::from(must_be_optimal && !proved);
        }
    }
    assert!(tight > cases() / 14, "minima matter in {tight} instances");
    assert!(unproved < cases() / 200, "{unproved} optima were not proved");
    assert!(stopped < cases() / 200, "the MILP has not proved {stopped} optima");
}

/// One parameter server of one and two workers of four, on servers where the workers are fast and it is not.
fn described() -> ClusterDescription {
    let group = |name: &str, count, minimum, device: &str| TaskGroupSpec {
        name: name.into(),
        count,
        minimum,
        request: [(device.to_owned(), 1)].into(),
    };
    let groups = vec![group("ps", 1, 1, "cpu"), group("worker", 4, 2, "gpu")];
    ClusterDescription {
        devices: vec!["cpu".into(), "gpu".into()],
        servers: vec![
            ServerSpec::new("a", &[("cpu", 1), ("gpu", 2)]),
            ServerSpec::new("b", &[("cpu", 0), ("gpu", 4)]),
            ServerSpec::new("c", &[("cpu", 1), ("gpu", 1)]),
        ],
        ports: vec![PortSpec::new("train", JobShape::Gang { minimum: 1, groups })],
        ..ClusterDescription::default()
    }
}

#[test]
fn no_policy_starts_a_job_without_its_parameter_server() {
    for spec in PolicySpec::all().into_iter().filter(|spec| spec.name() != "oracle") {
        let cluster = Arc::new(described().cluster().unwrap());
        let mut scheduler = Scheduler::new(Arc::clone(&cluster), spec.build(&cluster, 1, None).unwrap());
        let mut started = 0;
        for slot in 1..=60 {
            let arrivals = Arrivals::new(vec![1 + (slot % 3) as u32]);
            let jobs = scheduler.decide(&arrivals, None).unwrap().jobs(&cluster);
            let slot = scheduler.slot();
            for job in jobs {
                let of = |name: &str| {
                    let named = |id: &&_| cluster.group_name(cluster.task_group(**id)) == name;
                    job.channels.iter().filter(named).count()
                };
                assert!(of("ps") == 1 && (2..=4).contains(&of("worker")), "{spec:?}: {job:?}");
                started += 1;
                for channel in job.channels {
                    let worker = cluster.channel_key(channel).group == "worker";
                    let outcome = Outcome::Ran(if worker { 0.9 } else { 0.05 });
                    scheduler.observe(&Observation { slot, channel, outcome }).unwrap();
                }
            }
        }
        assert!(started > 0, "{}", spec.name());
    }
}

#[test]
fn the_seal_refuses_workers_alone() {
    use esdp::model::{ChannelId, SlotView};
    use esdp::policy::Choice;
    use esdp::scheduler::Decision;
    let cluster = described().cluster().unwrap();
    let arrivals = Arrivals::new(vec![2]);
    let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
    // Channels 0 to 2 are for the parameter server, 3 to 5 for the workers.
    let seal = |chosen: &[u32]| {
        Decision::seal(
            &view,
            &Choice { channels: chosen.iter().copied().map(ChannelId).collect(), ..Choice::default() },
        )
    };
    assert!(seal(&[0, 3, 4]).is_ok() && seal(&[0, 2, 3, 3, 4, 4]).is_ok());
    assert!(matches!(
        seal(&[3, 3, 4, 4]),
        Err(SealError::BelowGroupMinimum { group: 0, tasks: 0, jobs: 1, .. })
    ));
    assert!(matches!(seal(&[0, 3]), Err(SealError::BelowGroupMinimum { group: 1, tasks: 1, .. })));
    assert!(
        matches!(seal(&[0, 3, 4, 4, 4, 4]), Err(SealError::BelowGroupMinimum { .. })),
        "five workers are two jobs"
    );
}

#[test]
fn parameter_servers_on_real_nodes() {
    for index in [IndexKind::Linear, IndexKind::Optimistic] {
        let draw = Draw { family: Family::RealNodes, size: Dimensions(40, 60), index, seed: 13, number: 0 };
        let mut instance = draw.instance();
        let servers = (instance.server_capacity.len() / 3) as u32;
        // Half of the workers will do, but not without the parameter server, which is worth next to nothing.
        for job in 0..instance.jobs.len() as u32 {
            for group in instance.groups.iter_mut().filter(|group| group.job == job) {
                group.minimum = group.count.div_ceil(2);
            }
            instance.jobs[job as usize].minimum = 1;
            instance.groups.push(Group { job, count: 1, minimum: 1 });
            for server in 0..servers {
                instance.push(&[4, 16, 0], 0.001 * f64::from(server % 7), 0.0);
                instance.server.push(server);
                instance.group.push(instance.groups.len() as u32 - 1);
            }
        }
        let problem = instance.problem().unwrap();
        let solution = Exact::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&solution.chosen));
        assert!(solution.gap() < 0.01, "{index:?}: {} {}", solution.value, solution.bound);
        let greedy = Greedy::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&greedy.chosen));
        assert!(greedy.value > 0.5 * solution.value && greedy.value <= solution.value);
    }
}
