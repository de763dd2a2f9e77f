//! What is left of all capacities.

use super::Problem;
use crate::model::Amount;

/// The devices that are left while a set of channels grows and shrinks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    cluster: Vec<Amount>,
    servers: Vec<Amount>,
}

impl Room {
    pub(crate) fn of(problem: &Problem<'_>) -> Self {
        let mut room = Self::default();
        room.reset(problem);
        room
    }

    pub(crate) fn reset(&mut self, problem: &Problem<'_>) {
        self.cluster.clear();
        self.cluster.extend_from_slice(problem.capacity);
        self.servers.clear();
        if let Some(servers) = problem.servers {
            self.servers.extend_from_slice(servers.capacity);
        }
    }

    /// Takes a channel's devices, or leaves everything as it was and says no.
    pub(crate) fn take(&mut self, problem: &Problem<'_>, channel: usize) -> bool {
        let request = problem.request(channel);
        let fits = |room: &[Amount]| request.iter().zip(room).all(|(a, c)| a <= c);
        let from = problem.servers.map(|servers| servers.of[channel] as usize * request.len());
        if !fits(&self.cluster) || from.is_some_and(|from| !fits(&self.servers[from..])) {
            return false;
        }
        let take = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, a)| *c -= a);
        take(&mut self.cluster);
        if let Some(from) = from {
            take(&mut self.servers[from..]);
        }
        true
    }

    /// Takes a channel's devices so many times, or leaves everything as it was and says no.
    pub(super) fn take_many(&mut self, problem: &Problem<'_>, channel: usize, count: u32) -> bool {
        let request = problem.request(channel);
        let asked = |a: Amount| u128::from(a) * u128::from(count);
        let fits = |room: &[Amount]| request.iter().zip(room).all(|(&a, &c)| asked(a) <= u128::from(c));
        let from = problem.servers.map(|servers| servers.of[channel] as usize * request.len());
        if !fits(&self.cluster) || from.is_some_and(|from| !fits(&self.servers[from..])) {
            return false;
        }
        let take = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, a)| *c -= a * Amount::from(count));
        take(&mut self.cluster);
        if let Some(from) = from {
            take(&mut self.servers[from..]);
        }
        true
    }

    /// Gives a taken channel's devices back.
    pub(crate) fn give(&mut self, problem: &Problem<'_>, channel: usize) {
        let request = problem.request(channel);
        let give = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, a)| *c += a);
        give(&mut self.cluster);
        if let Some(servers) = problem.servers {
            give(&mut self.servers[servers.of[channel] as usize * request.len()..]);
        }
    }
}
