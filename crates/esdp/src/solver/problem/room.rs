//! What a problem's channels take of its capacities.

use super::Problem;
use crate::model::Room;

impl Problem<'_> {
    /// All of the capacities.
    pub(crate) fn fill(&self, room: &mut Room) {
        room.fill(self.capacity, self.servers.map_or(&[], |servers| servers.capacity));
    }

    /// Takes a channel's devices so many times, or leaves everything as it was and says no.
    #[inline(always)]
    pub(crate) fn take(&self, room: &mut Room, channel: usize, count: u32) -> bool {
        room.take_request(self.server_of(channel), self.request(channel), count)
    }

    /// Gives a taken channel's devices back.
    pub(crate) fn give(&self, room: &mut Room, channel: usize) {
        room.give_request(self.server_of(channel), self.request(channel));
    }

    /// Without limits of servers all channels are on one.
    fn server_of(&self, channel: usize) -> usize {
        self.servers.map_or(0, |servers| servers.of[channel] as usize)
    }
}
