//! The devices that are left while a policy picks channels.

use crate::model::{Amount, ChannelId, Cluster, ServerId, SlotView};

/// What is free, cluster-wide and per server, less what was taken; nothing on servers that are closed.
#[derive(Debug, Clone, Default)]
pub struct Room {
    /// Empty where the cluster as a whole does not limit.
    cluster: Vec<Amount>,
    /// Server after server; empty where servers have no limits.
    servers: Vec<Amount>,
    /// By server, whether it takes nothing; empty where none is closed.
    closed: Vec<bool>,
}

impl Room {
    /// Starts from what is free in a slot.
    pub fn reset(&mut self, view: &SlotView<'_>) {
        let SlotView { cluster, free, closed, .. } = view;
        self.closed.clear();
        self.closed.extend_from_slice(closed);
        self.cluster.clear();
        self.cluster.extend_from_slice(free.cluster().unwrap_or_default());
        self.servers.clear();
        if free.has_servers() {
            for server in (0..cluster.servers().len()).map(ServerId::at) {
                self.servers.extend_from_slice(free.server(server).unwrap_or_default());
            }
        }
    }

    /// The cluster-wide rest, if it limits.
    pub fn cluster(&self) -> Option<&[Amount]> {
        (!self.cluster.is_empty()).then_some(&self.cluster)
    }

    /// Server after server, the rest; empty where servers have no limits.
    pub fn servers(&self) -> &[Amount] {
        &self.servers
    }

    /// How often a channel fits, at most `jobs` times. Asked of every channel in every slot.
    #[inline(always)]
    pub fn copies(&self, cluster: &Cluster, channel: ChannelId, jobs: u32) -> u32 {
        if !self.closed.is_empty() && self.is_closed(cluster, channel) {
            return 0;
        }
        let request = cluster.request(channel);
        let row = self.row(cluster, channel);
        let fits = |room: &[Amount]| request.iter().zip(room).filter_map(|(&a, &c)| c.checked_div(a)).min();
        let fits = fits(&self.cluster).unwrap_or(Amount::MAX).min(fits(row).unwrap_or(Amount::MAX));
        u32::try_from(fits).unwrap_or(u32::MAX).min(jobs)
    }

    #[cold]
    fn is_closed(&self, cluster: &Cluster, channel: ChannelId) -> bool {
        self.closed[cluster.channel(channel).server.index()]
    }

    /// Takes a channel's devices, or leaves everything as it was and says no.
    #[inline(always)]
    pub fn take(&mut self, cluster: &Cluster, channel: ChannelId) -> bool {
        if self.copies(cluster, channel, 1) == 0 {
            return false;
        }
        let request = cluster.request(channel);
        let take = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, a)| *c -= a);
        take(&mut self.cluster);
        if !self.servers.is_empty() {
            take(&mut self.servers[cluster.channel(channel).server.index() * request.len()..]);
        }
        true
    }

    /// Gives a taken channel's devices back.
    pub fn give(&mut self, cluster: &Cluster, channel: ChannelId) {
        let request = cluster.request(channel);
        let give = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, a)| *c += a);
        give(&mut self.cluster);
        if !self.servers.is_empty() {
            give(&mut self.servers[cluster.channel(channel).server.index() * request.len()..]);
        }
    }

    /// How much of what is left a channel asks for: the sum over devices of its share.
    pub fn weight(&self, cluster: &Cluster, channel: ChannelId) -> f64 {
        let request = cluster.request(channel);
        let share = |room: &[Amount]| request.iter().zip(room).map(|(&a, &c)| a as f64 / c.max(1) as f64).sum::<f64>();
        share(&self.cluster) + share(self.row(cluster, channel))
    }

    fn row(&self, cluster: &Cluster, channel: ChannelId) -> &[Amount] {
        match self.servers.is_empty() {
            true => &[],
            false => &self.servers[cluster.channel(channel).server.index() * cluster.devices().len()..],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Capacity};
    use crate::policy::testing::{tiny, view};

    #[test]
    fn both_levels_limit() {
        let cluster = tiny();
        let free = Capacity::cluster_wide(vec![9, 9]).with_servers(vec![vec![4, 4], vec![0, 0], vec![9, 9]]).unwrap();
        let mut room = Room::default();
        let arrivals = Arrivals::everywhere(2);
        room.reset(&view(&cluster, 1, &arrivals, &free));
        // Channel 0 asks server 0 for (1, 2), channel 1 asks server 1 for (2, 1).
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 2);
        assert_eq!(room.copies(&cluster, ChannelId(1), 9), 0);
        assert!(room.take(&cluster, ChannelId(0)) && room.take(&cluster, ChannelId(0)));
        assert!(!room.take(&cluster, ChannelId(0)));
        assert_eq!(room.cluster(), Some(&[7, 5][..]));

        let free = Capacity::per_server(vec![vec![1, 2], vec![9, 9], vec![9, 9]]);
        room.reset(&view(&cluster, 1, &arrivals, &free));
        assert!(room.cluster().is_none());
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 1);
        room.reset(&SlotView { closed: &[true, false, false], ..view(&cluster, 1, &arrivals, &free) });
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 0);
        assert!(!room.take(&cluster, ChannelId(0)) && room.take(&cluster, ChannelId(1)));
    }
}
