//! Problems of megabytes, or of few bytes that stand for much.

use esdp::model::Amount;
use esdp::solver::{Gang, Group, Instance};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(11)
}

/// Channels with requests of 0 to 3 on so many devices, of which a third fits.
pub fn channels(count: usize, devices: usize) -> Instance {
    let mut rng = rng();
    let mut instance = Instance::default();
    let mut sums = vec![0; devices];
    for _ in 0..count {
        let request: Vec<Amount> = (0..devices).map(|_| rng.random_range(0..=3)).collect();
        sums.iter_mut().zip(&request).for_each(|(sum, a)| *sum += a);
        instance.push(&request, rng.random(), 0.01 * rng.random::<f64>());
    }
    instance.capacity = sums.iter().map(|sum| sum / 3).collect();
    instance
}

/// Channels that are all alike.
pub fn duplicates(count: usize) -> Instance {
    let mut instance = Instance::new(vec![count as Amount, count as Amount / 2]);
    (0..count).for_each(|_| instance.push(&[2, 1], 0.5, 0.25));
    instance
}

/// Jobs of some tasks on servers with devices of their own, each job on a few servers.
pub struct Fleet {
    pub servers: u32,
    pub capacity: Amount,
    pub jobs: u32,
    pub tasks: u32,
    pub copies: u32,
    /// Servers that a job reaches.
    pub reach: u32,
}

impl Fleet {
    pub fn instance(&self) -> Instance {
        let mut rng = rng();
        let mut instance = Instance::new(vec![Amount::MAX]);
        instance.server_capacity = vec![self.capacity; self.servers as usize];
        for job in 0..self.jobs {
            instance.jobs.push(Gang { minimum: self.tasks, copies: self.copies });
            instance.groups.push(Group { job, count: self.tasks, minimum: 0 });
            let (request, first) = (rng.random_range(1..=3), rng.random_range(0..self.servers));
            for step in 0..self.reach {
                instance.push(&[request], rng.random(), 0.01 * rng.random::<f64>());
                instance.server.push((first + step) % self.servers);
                instance.group.push(job);
            }
        }
        instance
    }
}

/// Jobs of so many tasks in all that request nothing, or next to nothing.
pub fn vast_jobs(jobs: u32, tasks: u32, copies: u32, request: Amount) -> Instance {
    let mut instance = Instance::new(vec![Amount::MAX]);
    instance.server_capacity = vec![1 << 40; 2];
    for job in 0..jobs {
        instance.jobs.push(Gang { minimum: tasks, copies });
        instance.groups.push(Group { job, count: tasks, minimum: 0 });
        for server in 0..2 {
            instance.push(&[request], 1e-3 + 1e-5 * f64::from(job), 1e-3);
            instance.server.push(server);
            instance.group.push(job);
        }
    }
    instance
}

/// Channels of a job of which there are no copies.
pub fn nothing_to_run(count: usize) -> Instance {
    let mut instance = Instance::new(vec![Amount::MAX]);
    instance.server_capacity = vec![1];
    instance.jobs.push(Gang { minimum: 1, copies: 0 });
    instance.groups.push(Group { job: 0, count: 1, minimum: 0 });
    for _ in 0..count {
        instance.push(&[1], 0.1, 0.0);
        instance.server.push(0);
        instance.group.push(0);
    }
    instance
}
