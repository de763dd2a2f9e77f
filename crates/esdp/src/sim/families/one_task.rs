//! Jobs of one task on servers with their own devices. Even numbers: each on one server, so that every
//! server is a small knapsack of its own; odd numbers: each on 4 to 10 of them.

use super::gangs::{add_group, add_job};
use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

const DEVICES: usize = 2;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(jobs, servers) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let mut instance = Instance::new(vec![Amount::MAX; DEVICES]);
    instance.server_capacity = (0..servers as usize * DEVICES).map(|_| rng.random_range(2..=6)).collect();
    let mut order: Vec<u32> = (0..servers).collect();
    for job in 0..jobs {
        let request: Vec<Amount> = (0..DEVICES).map(|_| rng.random_range(1..=3)).collect();
        let reached = match draw.number % 2 {
            0 => vec![job % servers],
            _ => {
                let count = rng.random_range(4..=10).min(servers as usize);
                for place in 0..count {
                    let other = rng.random_range(place..order.len());
                    order.swap(place, other);
                }
                let mut reached = order[..count].to_vec();
                reached.sort_unstable();
                reached
            }
        };
        add_job(&mut instance, 1, 1);
        let channels = reached.into_iter().map(|server| (server, learner.plain(rng.random(), 1.0)));
        add_group(&mut instance, 1, &request, channels);
    }
    instance
}
