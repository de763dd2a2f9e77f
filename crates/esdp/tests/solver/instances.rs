//! Random problems with gangs: small ones of every odd shape, and large ones as a learner meets
//! them.

use esdp::solver::{Gang, Group, Instance};
use rand::{Rng, RngExt};

/// How many decisions a small problem may have, whether they fit or not.
const MOST_SETS: u64 = 60_000;

/// A small problem: several groups and copies, minima from 0 to more than there are tasks,
/// capacities of servers and of the cluster, requests of zero, negative means, zero widths.
pub fn small(rng: &mut impl Rng) -> Instance {
    let devices = rng.random_range(1..=3);
    let servers = rng.random_range(1..=5u32);
    let limited = rng.random_ratio(4, 5);
    let cluster = !limited || rng.random_ratio(1, 3);
    let most = rng.random_range(2..=8u64);
    let mut instance = Instance::new(vec![u64::MAX; devices]);
    if cluster {
        instance.capacity.iter_mut().for_each(|c| *c = rng.random_range(0..=3 * most));
    }
    if limited {
        instance.server_capacity =
            (0..servers as usize * devices).map(|_| rng.random_range(0..=most)).collect();
    }
    let request = [1..=2u64, 0..=2, 1..=1, 0..=4][rng.random_range(0..4)].clone();
    let (means, widths) = (rng.random_range(0..5), rng.random_range(0..6));
    let unit = [1.0, 1.0, 1e-9, 1e9][rng.random_range(0..4)];
    let mut sets = 1u64;
    for job in 0..rng.random_range(1..=5u32) {
        let groups = rng.random_range(1..=3u32);
        let copies = [0, 1, 1, 2, 3, 6][rng.random_range(0..6)];
        let first = instance.groups.len() as u32;
        let mut tasks = 0;
        for _ in 0..groups {
            let count = if rng.random_ratio(1, 10) { 0 } else { rng.random_range(1..=3) };
            tasks += count;
            instance.groups.push(Group { job, count, minimum: 0 });
        }
        instance.jobs.push(Gang { minimum: rng.random_range(0..=tasks + 1), copies });
        for group in first..first + groups {
            let request: Vec<u64> = (0..devices).map(|_| rng.random_range(request.clone())).collect();
            for server in 0..servers {
                let uses = u64::from(instance.groups[group as usize].count * copies) + 1;
                if rng.random_ratio(1, 3) || sets * uses > MOST_SETS {
                    continue;
                }
                sets *= uses;
                let mean = match means {
                    0 => 0.5,
                    1 => rng.random_range(-1.0..1.0),
                    2 => -rng.random::<f64>(),
                    3 => f64::from(rng.random_range(0..4u8)) / 4.0,
                    _ => rng.random(),
                };
                let width = match widths {
                    0 | 1 => 0.0,
                    2 => rng.random::<f64>() * 1e-6,
                    3 => f64::from(rng.random_range(0..3u8)),
                    4 => rng.random::<f64>() * 30.0,
                    _ => rng.random(),
                };
                instance.push(&request, mean * unit, width * unit * unit);
                instance.group.push(group);
                if limited {
                    instance.server.push(server);
                }
            }
        }
    }
    instance
}

/// A size of [`learned`] problems.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub jobs: u32,
    pub servers: u32,
    pub devices: usize,
    /// The chance that a job's task may run on a server.
    pub edges: f64,
}

/// A problem as a learner meets it: indices of channels that were tried a few times, the good ones
/// more often, and capacities that hold about half of the jobs.
pub fn learned(rng: &mut impl Rng, size: Size, linear: bool) -> Instance {
    let Size { jobs, servers, devices, edges } = size;
    let mut instance = Instance::new(vec![u64::MAX; devices]);
    let speed: Vec<f64> = (0..servers).map(|_| rng.random_range(0.5..1.0)).collect();
    let slot = 10f64.powf(rng.random_range(1.5..4.0));
    let mut requested = vec![0u64; devices];
    for job in 0..jobs {
        let groups = rng.random_range(1..=3u32);
        let tasks = rng.random_range(2..=16u32).max(groups);
        let minimum = (f64::from(tasks) * rng.random_range(0.5..=1.0)).ceil() as u32;
        instance.jobs.push(Gang { minimum, copies: 1 });
        let ease = rng.random_range(0.5..1.0);
        for group in 0..groups {
            let count = tasks / groups + u32::from(group < tasks % groups);
            let place = instance.groups.len() as u32;
            instance.groups.push(Group { job, count, minimum: 0 });
            let request: Vec<u64> = (0..devices).map(|_| rng.random_range(1..=2)).collect();
            requested.iter_mut().zip(&request).for_each(|(sum, a)| *sum += a * u64::from(count));
            for server in 0..servers {
                if !rng.random_bool(edges) {
                    continue;
                }
                let truth: f64 = ease * speed[server as usize] * rng.random_range(0.8..1.2);
                // A good channel was chosen more often.
                let tries = 1.0 + rng.random::<f64>() * slot * truth.powi(6) / f64::from(jobs);
                let noise = rng.random_range(-1.0..1.0) * 0.4 / tries.sqrt();
                let width = 0.25 * (slot + 1.0).ln() / (2.0 * tries);
                let mean = truth + noise - 0.1;
                match linear {
                    true => instance.push(&request, mean + 0.5 * width.sqrt(), 0.0),
                    false => instance.push(&request, mean, width),
                }
                instance.group.push(place);
                instance.server.push(server);
            }
        }
    }
    // Half of what all jobs request, but at least 2 on a server and device: then more copies request it.
    let share = |sum: u64| 0.5 * sum as f64 / f64::from(servers);
    let copies = requested.iter().map(|&sum| 2.0 / share(sum)).fold(1.0, f64::max).round() as u32;
    instance.jobs.iter_mut().for_each(|job| job.copies = copies);
    for _ in 0..servers {
        for &sum in &requested {
            let mean = share(sum) * f64::from(copies);
            let room = (mean * rng.random_range(0.5..1.5)).round().max(1.0) as u64;
            instance.server_capacity.push(room);
        }
    }
    instance
}
