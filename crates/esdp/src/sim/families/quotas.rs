//! Three kinds of limits at once: every server has its own devices, the cluster as a whole has less of
//! one of them than its servers together, and every port has a quota of tasks: one more device, which
//! only its jobs request and of which servers have no end.
//!
//! Odd numbers write "no end" as a large number, even ones as the largest.

use super::gangs::{add_group, add_job, minimum};
use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

/// Devices that servers have.
const DEVICES: usize = 2;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(ports, servers) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let no_end = if draw.number.is_multiple_of(2) { Amount::MAX } else { 1_000_000 };
    let mut instance = Instance::new(vec![no_end; DEVICES + ports as usize]);
    let mut owned = 0;
    for _ in 0..servers {
        let room: [Amount; DEVICES] = std::array::from_fn(|_| rng.random_range(4..=16));
        owned += room[0];
        instance.server_capacity.extend(room);
        instance.server_capacity.extend((0..ports).map(|_| no_end));
    }
    instance.capacity[0] = owned * 3 / 5;
    for port in 0..ports as usize {
        let tasks: u32 = rng.random_range(1..=6);
        let copies: u32 = rng.random_range(1..=4);
        let mut request = vec![0; DEVICES + ports as usize];
        request[..DEVICES].iter_mut().for_each(|a| *a = rng.random_range(1..=4));
        request[DEVICES + port] = 1;
        // From one job to all of them.
        instance.capacity[DEVICES + port] = Amount::from(rng.random_range(tasks..=tasks * copies));
        add_job(&mut instance, minimum(tasks, [1.0, 0.75][rng.random_range(0..2)]), copies);
        let mut channels = Vec::new();
        for server in 0..servers {
            if rng.random_ratio(3, 5) {
                channels.push((server, learner.plain(rng.random(), 1.0)));
            }
        }
        add_group(&mut instance, tasks, &request, channels);
    }
    instance
}
