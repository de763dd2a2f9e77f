//! The devices that are left while channels are picked, by a policy or by a solver.
//!
//! What running jobs hold is counted by the scheduler's book, which outlives a slot and a change of the
//! cluster; a room starts from what that leaves. The seal adds up a choice by itself: a check must not share
//! a mistake with what it checks.

use super::{Amount, ChannelId, Cluster, ServerId, SlotView};

/// What is free, cluster-wide and per server, less what was taken; nothing on servers that are closed or by
/// channels that are barred.
#[derive(Debug, Clone, Default)]
pub struct Room {
    /// Empty where the cluster as a whole does not limit.
    cluster: Vec<Amount>,
    /// Server after server; empty where servers have no limits.
    servers: Vec<Amount>,
    /// By server, whether it takes nothing; empty where none is closed.
    closed: Vec<bool>,
    /// By channel, whether it stays out; empty where none does.
    barred: Vec<bool>,
}

impl Room {
    /// Starts from what is free in a slot.
    pub fn reset(&mut self, view: &SlotView<'_>) {
        let SlotView { cluster, free, closed, barred, .. } = view;
        self.fill(free.cluster().unwrap_or_default(), &[]);
        self.closed.extend_from_slice(closed);
        self.barred.extend_from_slice(barred);
        if free.has_servers() {
            for server in (0..cluster.servers().len()).map(ServerId::at) {
                self.servers.extend_from_slice(free.server(server).unwrap_or_default());
            }
        }
    }

    /// Starts from these amounts: of the cluster, and of its servers one after the other.
    pub(crate) fn fill(&mut self, cluster: &[Amount], servers: &[Amount]) {
        self.cluster.clear();
        self.cluster.extend_from_slice(cluster);
        self.servers.clear();
        self.servers.extend_from_slice(servers);
        self.closed.clear();
        self.barred.clear();
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
        if self.is_shut(cluster, channel) {
            return 0;
        }
        let request = cluster.request(channel);
        let fits = |room: &[Amount]| request.iter().zip(room).filter_map(|(&a, &c)| c.checked_div(a)).min();
        let row = self.row(cluster.channel(channel).server.index(), request.len());
        let fits = fits(&self.cluster).unwrap_or(Amount::MAX).min(fits(row).unwrap_or(Amount::MAX));
        u32::try_from(fits).unwrap_or(u32::MAX).min(jobs)
    }

    /// Whether a channel takes nothing, whatever is free.
    #[inline(always)]
    fn is_shut(&self, cluster: &Cluster, channel: ChannelId) -> bool {
        (!self.closed.is_empty() && self.closed[cluster.channel(channel).server.index()])
            || (!self.barred.is_empty() && self.barred[channel.index()])
    }

    /// Takes a channel's devices, or leaves everything as it was and says no.
    #[inline(always)]
    pub fn take(&mut self, cluster: &Cluster, channel: ChannelId) -> bool {
        !self.is_shut(cluster, channel)
            && self.take_request(cluster.channel(channel).server.index(), cluster.request(channel), 1)
    }

    /// Gives a taken channel's devices back.
    pub fn give(&mut self, cluster: &Cluster, channel: ChannelId) {
        self.give_request(cluster.channel(channel).server.index(), cluster.request(channel));
    }

    /// Takes a request so many times, of the cluster and of a server, or leaves everything as it was and says
    /// no.
    #[inline(always)]
    pub(crate) fn take_request(&mut self, server: usize, request: &[Amount], count: u32) -> bool {
        // In 128 bits: no number of uses can wrap around to something small.
        let asked = |a: Amount| u128::from(a) * u128::from(count);
        let fits = |room: &[Amount]| request.iter().zip(room).all(|(&a, &c)| asked(a) <= u128::from(c));
        if !fits(&self.cluster) || !fits(self.row(server, request.len())) {
            return false;
        }
        self.change(server, request, |c, a| c - a * Amount::from(count));
        true
    }

    /// Gives a taken request back.
    pub(crate) fn give_request(&mut self, server: usize, request: &[Amount]) {
        self.change(server, request, |c, a| c + a);
    }

    /// How much of what is left a channel asks for: the sum over devices of its share.
    pub fn weight(&self, cluster: &Cluster, channel: ChannelId) -> f64 {
        let request = cluster.request(channel);
        let share = |room: &[Amount]| {
            request.iter().zip(room).map(|(&a, &c)| a as f64 / c.max(1) as f64).sum::<f64>()
        };
        share(&self.cluster) + share(self.row(cluster.channel(channel).server.index(), request.len()))
    }

    #[inline(always)]
    fn change(&mut self, server: usize, request: &[Amount], each: impl Fn(Amount, Amount) -> Amount) {
        let change = |room: &mut [Amount]| room.iter_mut().zip(request).for_each(|(c, &a)| *c = each(*c, a));
        change(&mut self.cluster);
        if !self.servers.is_empty() {
            change(&mut self.servers[server * request.len()..]);
        }
    }

    #[inline(always)]
    fn row(&self, server: usize, devices: usize) -> &[Amount] {
        match self.servers.is_empty() {
            true => &[],
            false => &self.servers[server * devices..],
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Capacity, ChannelSpec, ClusterSpec, Slot};

    #[test]
    fn both_levels_limit() {
        let cluster = Cluster::new(ClusterSpec {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: vec!["a".into(), "b".into()],
            ports: vec!["train".into()],
            channels: vec![ChannelSpec::new(0, 0, vec![1, 2]), ChannelSpec::new(0, 1, vec![2, 1])],
            capacity: Capacity::cluster_wide(vec![9, 9]),
            ..ClusterSpec::default()
        })
        .unwrap();
        let arrivals = Arrivals::everywhere(1);
        let free = Capacity::cluster_wide(vec![9, 9]).with_servers(vec![vec![4, 4], vec![0, 0]]).unwrap();
        let mut room = Room::default();
        room.reset(&SlotView::new(&cluster, Slot(1), &arrivals, &free));
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 2);
        assert_eq!(room.copies(&cluster, ChannelId(1), 9), 0);
        // Of what is left, and of a device that is gone as if one were left.
        let weight = |channel, expected: f64| (room.weight(&cluster, ChannelId(channel)) - expected).abs();
        assert!(weight(0, 1.0 / 9.0 + 2.0 / 9.0 + 1.0 / 4.0 + 2.0 / 4.0) < 1e-12);
        assert!(weight(1, 2.0 / 9.0 + 1.0 / 9.0 + 2.0 + 1.0) < 1e-12);
        assert!(room.take(&cluster, ChannelId(0)) && room.take(&cluster, ChannelId(0)));
        assert!(!room.take(&cluster, ChannelId(0)));
        assert_eq!((room.cluster(), room.servers()), (Some(&[7, 5][..]), &[2, 0, 0, 0][..]));
        room.give(&cluster, ChannelId(0));
        assert_eq!((room.cluster(), room.servers()), (Some(&[8, 7][..]), &[3, 2, 0, 0][..]));
        assert!(!room.take_request(0, &[1, 1], 3) && room.take_request(0, &[1, 1], 2));
        assert_eq!((room.cluster(), room.servers()), (Some(&[6, 5][..]), &[1, 0, 0, 0][..]));

        let free = Capacity::per_server(vec![vec![1, 2], vec![9, 9]]);
        let view = SlotView::new(&cluster, Slot(1), &arrivals, &free);
        room.reset(&view);
        assert!(room.cluster().is_none());
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 1);
        room.reset(&SlotView { closed: &[true, false], ..view });
        assert_eq!(room.copies(&cluster, ChannelId(0), 9), 0);
        assert!(!room.take(&cluster, ChannelId(0)) && room.take(&cluster, ChannelId(1)));
    }

    #[test]
    fn many_uses_do_not_wrap_around() {
        let mut room = Room::default();
        room.fill(&[u64::MAX], &[]);
        assert!(
            !room.take_request(0, &[1 << 33], 1 << 31) && room.take_request(0, &[1 << 33], (1 << 31) - 1)
        );
    }
}
