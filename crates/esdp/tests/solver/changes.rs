//! Changes of a problem of which the effect on its best value is known.

use esdp::model::Amount;
use esdp::solver::Instance;
use rand::{Rng, RngExt};

fn shuffled(count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, rng.random_range(0..=place));
    }
    order
}

/// Where each position went: the inverse of an order.
fn places(order: &[usize]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &position)| places[position] = place as u32);
    places
}

/// The same problem, told in another order of channels, jobs, task groups and servers.
pub fn reordered(instance: &Instance, rng: &mut impl Rng) -> Instance {
    let devices = instance.capacity.len();
    let jobs = shuffled(instance.jobs.len(), rng);
    let groups = shuffled(instance.groups.len(), rng);
    let servers = shuffled(instance.server_capacity.len().checked_div(devices).unwrap_or(0), rng);
    let (job_place, group_place, server_place) = (places(&jobs), places(&groups), places(&servers));
    let mut other = Instance::new(instance.capacity.clone());
    other.jobs = jobs.iter().map(|&job| instance.jobs[job]).collect();
    for &group in &groups {
        let mut moved = instance.groups[group];
        moved.job = job_place[moved.job as usize];
        other.groups.push(moved);
    }
    for &server in &servers {
        other.server_capacity.extend_from_slice(&instance.server_capacity[server * devices..][..devices]);
    }
    for channel in shuffled(instance.mean.len(), rng) {
        let request = &instance.requests[channel * devices..][..devices];
        other.push(request, instance.mean[channel], instance.width[channel]);
        if let Some(&server) = instance.server.get(channel) {
            other.server.push(server_place[server as usize]);
        }
        if let Some(&group) = instance.group.get(channel) {
            other.group.push(group_place[group as usize]);
        }
    }
    other
}

/// One more unit of one device, of a server if those are limited.
pub fn with_more_room(instance: &Instance, rng: &mut impl Rng) -> Instance {
    let mut other = instance.clone();
    let limited: Vec<&mut Amount> = other
        .capacity
        .iter_mut()
        .chain(&mut other.server_capacity)
        .filter(|room| **room != Amount::MAX)
        .collect();
    if !limited.is_empty() {
        let place = rng.random_range(0..limited.len());
        if let Some(room) = limited.into_iter().nth(place) {
            *room += 1;
        }
    }
    other
}

/// One more channel, like one that is there but for its mean; in a gang, for a task of the same group.
pub fn with_one_more_channel(instance: &Instance, rng: &mut impl Rng) -> Instance {
    let mut other = instance.clone();
    let (devices, like) = (instance.capacity.len(), rng.random_range(0..instance.mean.len()));
    let request = &instance.requests[like * devices..][..devices];
    other.push(request, instance.mean[like] * rng.random_range(0.5..1.5), instance.width[like]);
    other.server.extend(instance.server.get(like));
    other.group.extend(instance.group.get(like));
    other
}
