//! Gangs on small servers: many more jobs than fit, so that what limits is the servers' room and
//! not the jobs. Odd numbers have speeds as learned, even ones a number of its own for every channel.

use super::gangs::{add_group, add_job, minimum};
use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::solver::Instance;
use rand::RngExt;

const DEVICES: usize = 2;
/// The share of its tasks that a job needs.
const MINIMUM: f64 = 0.75;

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(jobs, servers) = draw.size;
    let mut rng = draw.shape();
    let mut learner = Learner::new(draw);
    let mut instance = Instance::new(vec![Amount::MAX; DEVICES]);
    instance.server_capacity = (0..servers as usize * DEVICES).map(|_| rng.random_range(2..=6)).collect();
    let speed: Vec<f64> = (0..servers).map(|_| rng.random_range(0.5..1.0)).collect();
    let edges = if servers <= 100 { 0.4 } else { 0.2 };
    for _ in 0..jobs {
        let tasks: u32 = rng.random_range(2..=6);
        let groups = rng.random_range(1..=2u32);
        let ease = rng.random_range(0.5..1.0);
        add_job(&mut instance, minimum(tasks, MINIMUM), 1);
        for group in 0..groups {
            let count = tasks / groups + u32::from(group < tasks % groups);
            let request: Vec<Amount> = (0..DEVICES).map(|_| rng.random_range(1..=3)).collect();
            let mut channels = Vec::new();
            for server in 0..servers {
                if !rng.random_bool(edges) {
                    continue;
                }
                let worth = match draw.number % 2 {
                    0 => learner.plain(rng.random(), 1.0),
                    _ => learner.learned(ease * speed[server as usize] * rng.random_range(0.8..1.2)),
                };
                channels.push((server, worth));
            }
            add_group(&mut instance, count, &request, channels);
        }
    }
    instance
}
