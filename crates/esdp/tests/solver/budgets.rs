//! A work budget is kept: what an answer counts as its work is no more than a few times the budget and what a
//! first answer takes at least.

use crate::alike::Alike;
use crate::draws::{draws, exact};
use esdp::solver::{Exhaustive, Gang, Greedy, Group, Guarantee, Instance, Paper, Solver, Stopped};

/// Reading a problem and placing something visits each of its numbers some times.
fn least(instance: &Instance) -> u64 {
    let jobs = instance.jobs.len() + instance.groups.len();
    2_500 * (instance.mean.len() + instance.requests.len() + instance.server_capacity.len() + jobs) as u64
}

fn check(name: &str, instance: &Instance) {
    let least = least(instance);
    let greedy = Greedy::default().solve(&instance.problem().unwrap()).unwrap();
    for budget in [0, 10_000, 100_000, 1_000_000] {
        let solution = exact(instance, budget);
        assert!(solution.value >= greedy.value * (1.0 - 1e-9), "{name} at {budget}: less than greedy");
        let proved = solution.guarantee == Guarantee::Optimal;
        assert_eq!(
            solution.stopped,
            if proved { Stopped::Proved } else { Stopped::Budget },
            "{name} at {budget}"
        );
        let most = 2 * budget + least;
        assert!(solution.work <= most, "{name}: {} of {budget}, at most {most}", solution.work);
    }
    assert_eq!(greedy.stopped, Stopped::Gap, "{name}: greedy has one pass");
    assert!(greedy.work <= 40_000_000 + least, "{name}: greedy {}", greedy.work);
}

#[test]
fn in_every_family() {
    for draw in draws() {
        check(&draw.to_string(), &draw.instance());
    }
}

#[test]
fn on_large_servers() {
    for (servers, capacity) in [(8, 100), (1, 500), (1, 980), (2, 1 << 40)] {
        let instance =
            Alike { servers, capacity: vec![capacity], jobs: 20, tasks: 8, request: 1..=3 }.instance(1);
        check(&format!("{servers}x{capacity}"), &instance);
    }
}

#[test]
fn with_many_copies() {
    let mut instance =
        Alike { servers: 2, capacity: vec![1 << 40], jobs: 4, tasks: 2, request: 1..=3 }.instance(2);
    instance.jobs.iter_mut().for_each(|job| job.copies = 1 << 20);
    check("copies", &instance);
}

/// Jobs of many groups, on servers with many devices, in many copies.
struct Wide {
    servers: u64,
    devices: u64,
    /// Every server has this of every device, and up to as much again.
    capacity: u64,
    jobs: u32,
    groups: u32,
    copies: u32,
    /// What the cluster has of the last device.
    cluster: u64,
}

impl Wide {
    fn instance(&self) -> Instance {
        let mut state = 1u64;
        let mut number = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        let mut cluster = vec![u64::MAX; self.devices as usize];
        cluster[self.devices as usize - 1] = self.cluster;
        let mut instance = Instance::new(cluster);
        for _ in 0..self.servers * self.devices {
            instance.server_capacity.push(self.capacity + number(self.capacity));
        }
        for job in 0..self.jobs {
            instance.jobs.push(Gang { minimum: 2 * self.groups, copies: self.copies });
            for _ in 0..self.groups {
                let group = instance.groups.len() as u32;
                instance.groups.push(Group { job, count: 3, minimum: 1 });
                let request: Vec<u64> = (0..self.devices).map(|_| number(4)).collect();
                for server in 0..self.servers as u32 {
                    instance.push(&request, 0.1 + number(1_000) as f64 / 1_000.0, 0.0);
                    instance.server.push(server);
                    instance.group.push(group);
                }
            }
        }
        instance
    }
}

const WIDE: Wide =
    Wide { servers: 12, devices: 3, capacity: 40, jobs: 6, groups: 1, copies: 1, cluster: u64::MAX };

/// What grows faster than the input would show: work for each number stays the same.
#[test]
fn on_jobs_of_many_groups_on_many_devices_and_in_many_copies() {
    let wide = [
        ("one job of 400 groups", Wide { jobs: 1, groups: 400, capacity: 400, ..WIDE }),
        ("30 groups", Wide { groups: 30, ..WIDE }),
        ("60 devices", Wide { devices: 60, jobs: 100, ..WIDE }),
        ("400 devices", Wide { devices: 400, jobs: 30, ..WIDE }),
        ("copies", Wide { copies: 60_000, capacity: 1 << 20, ..WIDE }),
        ("copies in a cluster", Wide { copies: 60_000, capacity: 1 << 20, cluster: 1 << 21, ..WIDE }),
        ("copies of groups", Wide { copies: 60_000, capacity: 1 << 20, groups: 30, ..WIDE }),
    ];
    for (name, wide) in wide {
        check(name, &wide.instance());
    }
}

#[test]
fn solvers_without_a_budget_say_why_they_stop() {
    let mut instance = Instance::new(vec![3]);
    (0..6).for_each(|at| instance.push(&[1 + at % 2], 0.3 + 0.1 * at as f64, 0.2));
    let problem = instance.problem().unwrap();
    assert_eq!(Exhaustive::default().solve(&problem).unwrap().stopped, Stopped::Proved);
    assert_eq!(
        Paper::new(20.0, None).solve(&problem).unwrap().stopped,
        Stopped::Gap,
        "it solves a rounded problem"
    );
}
