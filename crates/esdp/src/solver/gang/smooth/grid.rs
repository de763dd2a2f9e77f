//! The servers' room on small grids, for tables over all that may be used of it.
//!
//! A device that a server's channels cannot use up does not count. Room is exact where a server is small,
//! rounded where its grid would have more than [`CELLS`] cells.

use crate::model::Amount;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ChannelNo, Number, ServerNo};
use crate::solver::gang::tuning::grid::CELLS;

/// All servers' grids; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Grid {
    devices: usize,
    /// Server after server, the largest coordinate on each device.
    levels: Vec<usize>,
    /// Channel after channel, the request on each device.
    pub requests: Vec<usize>,
    /// One server's room, where it counts.
    room: Vec<Option<Amount>>,
}

impl Grid {
    /// A server's largest coordinates.
    pub fn levels(&self, server: ServerNo) -> &[usize] {
        &self.levels[server.place() * self.devices..][..self.devices]
    }

    /// A channel's request.
    pub fn request(&self, channel: ChannelNo) -> &[usize] {
        &self.requests[channel.place() * self.devices..][..self.devices]
    }

    /// Takes over a problem within limits.
    pub fn reset(&mut self, form: &Form, limits: &Limits) {
        self.devices = form.devices;
        self.levels.clear();
        self.levels.resize(form.servers() * self.devices, 0);
        self.requests.clear();
        self.requests.resize(form.len() * self.devices, 0);
        for server in form.all_servers() {
            self.lay_out(form, limits, server);
        }
    }

    fn lay_out(&mut self, form: &Form, limits: &Limits, server: ServerNo) {
        let devices = self.devices;
        let open = |e: ChannelNo| u128::from(limits.high[e].saturating_sub(limits.low[e]));
        self.room.clear();
        self.room.extend(limits.room[form.devices_of(server)].iter().enumerate().map(|(device, &room)| {
            let need = |e: ChannelNo| u128::from(form.request(e)[device]) * open(e);
            let counts = form.channels(server).map(need).sum::<u128>() > u128::from(room);
            counts.then_some(room)
        }));
        let levels = &mut self.levels[form.devices_of(server)];
        for (level, room) in levels.iter_mut().zip(&self.room) {
            *level = usize::try_from(room.unwrap_or(0)).unwrap_or(CELLS as usize).min(CELLS as usize);
        }
        while levels.iter().map(|level| 2 * level + 1).product::<usize>() as u64 > CELLS {
            if let Some(largest) = levels.iter_mut().max() {
                *largest /= 2;
            }
        }
        for e in form.channels(server) {
            let requests = &mut self.requests[e.place() * devices..][..devices];
            for (device, request) in requests.iter_mut().enumerate() {
                let a = form.request(e)[device];
                let Some(room) = self.room[device].filter(|_| a > 0) else { continue };
                let level = levels[device];
                *request = if room == level as u64 {
                    usize::try_from(a).unwrap_or(usize::MAX)
                } else {
                    ((a as f64 * (level as f64 / room as f64) + 0.5) as usize).max(1)
                };
            }
        }
    }
}
