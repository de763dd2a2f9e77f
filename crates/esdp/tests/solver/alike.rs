//! Gangs on servers that are alike, which no family of `sim::families` draws.

use esdp::model::Amount;
use esdp::solver::{Gang, Group, Instance};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::RangeInclusive;

/// Servers that are alike, and gangs of identical tasks that all servers can run.
pub struct Alike {
    pub servers: u32,
    pub capacity: Vec<Amount>,
    pub jobs: u32,
    pub tasks: u32,
    pub request: RangeInclusive<Amount>,
}

impl Alike {
    /// Means are uniform between 0 and 1, in thousandths.
    pub fn instance(&self, seed: u64) -> Instance {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let devices = self.capacity.len();
        let mut instance = Instance::new(vec![Amount::MAX; devices]);
        instance.server_capacity = self.capacity.repeat(self.servers as usize);
        for job in 0..self.jobs {
            instance.jobs.push(Gang { minimum: self.tasks, copies: 1 });
            instance.groups.push(Group { job, count: self.tasks, minimum: 0 });
            let request: Vec<Amount> = (0..devices).map(|_| rng.random_range(self.request.clone())).collect();
            for server in 0..self.servers {
                instance.push(&request, f64::from(rng.random_range(0..1000u32)) / 1000.0, 0.0);
                instance.server.push(server);
                instance.group.push(job);
            }
        }
        instance
    }
}
