//! What is free, server by server, now or at some later time.

use crate::model::{Amount, Capacity, ChannelId, Cluster, PortId, ServerId};

/// More than anybody asks for, and no sum of it overflows.
const NO_LIMIT: Amount = Amount::MAX / 4;

/// Free devices: a row for each server and one for the whole cluster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Room {
    devices: usize,
    free: Vec<Amount>,
    /// Servers that take nothing; also later, since nobody knows when they are back.
    closed: Vec<ServerId>,
}

impl Room {
    pub(super) fn new(cluster: &Cluster, free: &Capacity, closed: &[ServerId]) -> Self {
        let devices = cluster.devices().len();
        let mut rows = Vec::with_capacity((cluster.servers().len() + 1) * devices);
        let mut row = |amounts: Option<&[Amount]>| match amounts {
            Some(amounts) => rows.extend_from_slice(amounts),
            None => rows.extend(std::iter::repeat_n(NO_LIMIT, devices)),
        };
        (0..cluster.servers().len()).for_each(|server| row(free.server(ServerId::at(server))));
        row(free.cluster());
        Self { devices, free: rows, closed: closed.to_vec() }
    }

    fn rows(&self, cluster: &Cluster, channel: ChannelId) -> [usize; 2] {
        [cluster.channel(channel).server.index() * self.devices, cluster.servers().len() * self.devices]
    }

    fn holds(&self, cluster: &Cluster, channel: ChannelId) -> bool {
        if self.closed.contains(&cluster.channel(channel).server) {
            return false;
        }
        let request = cluster.request(channel);
        self.rows(cluster, channel).iter().all(|row| {
            self.free[*row..row + self.devices].iter().zip(request).all(|(free, asked)| free >= asked)
        })
    }

    fn change(&mut self, cluster: &Cluster, channel: ChannelId, each: fn(Amount, Amount) -> Amount) {
        for row in self.rows(cluster, channel) {
            let free = &mut self.free[row..row + self.devices];
            free.iter_mut()
                .zip(cluster.request(channel))
                .for_each(|(free, asked)| *free = each(*free, *asked));
        }
    }

    /// Takes the devices of some tasks.
    pub(super) fn take(&mut self, cluster: &Cluster, channels: &[ChannelId]) {
        channels.iter().for_each(|channel| self.change(cluster, *channel, Amount::saturating_sub));
    }

    /// Gives them back.
    pub(super) fn give(&mut self, cluster: &Cluster, channels: &[ChannelId]) {
        channels.iter().for_each(|channel| self.change(cluster, *channel, Amount::saturating_add));
    }

    /// Whether tasks fit together on these channels. What is free stays as it is.
    pub(super) fn fits(&mut self, cluster: &Cluster, channels: &[ChannelId]) -> bool {
        let taken = channels.iter().take_while(|channel| {
            let holds = self.holds(cluster, **channel);
            if holds {
                self.take(cluster, &[**channel]);
            }
            holds
        });
        let taken = taken.count();
        self.give(cluster, &channels[..taken]);
        taken == channels.len()
    }

    /// A job of a port with all its tasks on the first servers with room; none where it does not fit. What is
    /// free stays as it is.
    pub(super) fn place(&mut self, cluster: &Cluster, port: PortId) -> Option<Vec<ChannelId>> {
        let channels = cluster.channels_of(port);
        if !cluster.is_gang(port) {
            return channels.iter().find(|channel| self.holds(cluster, **channel)).map(|first| vec![*first]);
        }
        let mut placed = Vec::new();
        let mut whole = true;
        for (number, group) in
            cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == port)
        {
            let mut missing = group.count;
            for channel in channels.iter().filter(|channel| cluster.task_group(**channel) == number) {
                while missing > 0 && self.holds(cluster, *channel) {
                    self.take(cluster, &[*channel]);
                    placed.push(*channel);
                    missing -= 1;
                }
                if missing == 0 {
                    break;
                }
            }
            whole &= missing == 0;
            if !whole {
                break;
            }
        }
        self.give(cluster, &placed);
        whole.then_some(placed)
    }

    /// What is free in both.
    pub(super) fn least(&mut self, other: &Self) {
        self.free.iter_mut().zip(&other.free).for_each(|(own, other)| *own = (*own).min(*other));
    }
}
