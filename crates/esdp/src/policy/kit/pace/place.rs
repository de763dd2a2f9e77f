//! Where one job could run: on one server, or on servers above a threshold of speed.

use super::NODE;
use crate::model::{ChannelId, Cluster, PortId, Room, ServerId};

/// The most thresholds that are tried: each of the first values, and then ever fewer.
const THRESHOLDS: usize = 12;

/// How many tasks of a server are counted at most.
const MOST_COPIES: u32 = 1 << 16;

/// A channel with its index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub channel: ChannelId,
    pub server: ServerId,
    /// The position of its task group in its port.
    pub group: usize,
    pub index: f64,
    /// The share of its server that a task takes.
    pub share: f64,
}

impl Column {
    pub fn new(cluster: &Cluster, channel: ChannelId, index: f64) -> Self {
        let server = cluster.channel(channel).server;
        let all = cluster.capacity().server(server).or(cluster.capacity().cluster());
        let parts = cluster.request(channel).iter().zip(all.unwrap_or_default());
        let share = parts.map(|(&asked, &there)| asked as f64 / there.max(1) as f64).fold(0.0, f64::max);
        Self { channel, server, group: cluster.task_group(channel), index, share }
    }
}

/// A port of the slot.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub id: PortId,
    /// How many jobs may start.
    pub jobs: u32,
    pub crossing: Option<f64>,
    minimum: u32,
    /// The tasks of each group, and how many of them a job needs.
    groups: Vec<(u32, u32)>,
    /// The best first.
    pub columns: Vec<Column>,
    /// Positions in `columns`, by channel.
    by_channel: Vec<(ChannelId, usize)>,
}

/// A job that is placed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub port: usize,
    /// A column for each task.
    pub columns: Vec<usize>,
    /// What it counts in the slot.
    pub value: f64,
    /// The same, less a little where it is scattered.
    pub score: f64,
}

impl Placed {
    pub fn new(cluster: &Cluster, port: usize, of: &Port, columns: Vec<usize>) -> Self {
        let channels: Vec<ChannelId> = columns.iter().map(|&column| of.columns[column].channel).collect();
        let value = cluster.progress(of.id, &channels, |task| of.columns[columns[task]].index);
        let more = cluster.nodes(&channels).saturating_sub(1) as f64;
        let score = match of.crossing {
            // All of it if no two tasks share a server.
            Some(_) => value - NODE * value.abs() * more / (channels.len().max(2) - 1) as f64,
            None => value,
        };
        Self { port, columns, value, score }
    }
}

/// What the devices of a server are worth to others, by server: an index for one task of this port there.
pub(super) type Prices<'a> = &'a dyn Fn(&Column) -> f64;

impl Port {
    pub fn new(cluster: &Cluster, id: PortId, jobs: u32) -> Self {
        let (crossing, minimum) = (cluster.crossing(id), cluster.minimum(id));
        let (groups, columns, by_channel) = (Vec::new(), Vec::new(), Vec::new());
        Self { id, jobs, crossing, minimum, groups, columns, by_channel }
    }

    /// Sorts the columns and counts the groups from 0.
    pub fn prepare(&mut self, cluster: &Cluster) {
        if !cluster.is_gang(self.id) {
            // Its channels are no groups of a job; only their indices are asked for.
            self.columns.iter_mut().for_each(|column| column.group = 0);
        } else {
            let of = cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == self.id);
            let first = of.clone().next().map_or(0, |(position, _)| position);
            self.groups.extend(of.map(|(_, group)| (group.count, group.minimum)));
            self.columns.iter_mut().for_each(|column| column.group -= first);
        }
        self.columns.sort_unstable_by(|a, b| {
            b.index.total_cmp(&a.index).then(a.server.cmp(&b.server)).then(a.channel.cmp(&b.channel))
        });
        self.by_channel.extend(self.columns.iter().enumerate().map(|(at, column)| (column.channel, at)));
        self.by_channel.sort_unstable();
    }

    /// The position of a channel's column.
    pub fn position(&self, channel: ChannelId) -> Option<usize> {
        let at = self.by_channel.binary_search_by_key(&channel, |entry| entry.0).ok()?;
        Some(self.by_channel[at].1)
    }

    /// The best place for one job: what it counts less what its devices are worth to others. None if it
    /// cannot start, or counts nothing.
    pub fn best(
        &self,
        cluster: &Cluster,
        at: usize,
        room: &mut Room,
        prices: Prices<'_>,
        work: &mut u64,
    ) -> Option<(Placed, f64)> {
        let tasks: u32 = self.groups.iter().map(|group| group.0).sum();
        let mut fits = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            fits.push(room.copies(cluster, column.channel, MOST_COPIES));
        }
        *work = work.saturating_sub(self.columns.len() as u64);
        let mut best: Option<(Placed, f64)> = None;
        let mut consider = |columns: Vec<usize>, rest: u32| {
            let cost: f64 = columns.iter().map(|&column| prices(&self.columns[column])).sum();
            let placed = Placed::new(cluster, at, self, columns);
            let tight = NODE * placed.value * f64::from(rest) / f64::from(rest + tasks);
            let net = placed.score - cost - tight;
            if placed.value > 0.0 && best.as_ref().is_none_or(|(_, most)| net > *most) {
                best = Some((placed, net));
            }
        };
        if self.crossing.is_none() {
            let mut order: Vec<usize> = (0..self.columns.len()).filter(|&column| fits[column] > 0).collect();
            let net = |column: usize| self.columns[column].index - prices(&self.columns[column]);
            order.sort_by(|&a, &b| net(b).total_cmp(&net(a)).then(a.cmp(&b)));
            let keep = |&column: &usize| self.columns[column].index > 0.0;
            let columns = self.take(cluster, order.into_iter().filter(keep), room, tasks);
            columns.into_iter().for_each(|columns| consider(columns, 0));
            return best;
        }
        // On one server: the smallest rest first among those that are alike.
        if let [_] = self.groups[..] {
            for (column, &fits) in fits.iter().enumerate() {
                if fits >= tasks {
                    consider(vec![column; tasks as usize], fits - tasks);
                }
            }
        }
        let mut level = 0;
        let mut last = f64::INFINITY;
        let (mut tried, mut skip) = (0, 0);
        let mut sum = 0;
        while level < self.columns.len() && tried < THRESHOLDS {
            let value = self.columns[level].index;
            if value <= 0.0 {
                break;
            }
            sum += fits[level];
            level += 1;
            let is_last = level == self.columns.len() || self.columns[level].index <= 0.0;
            let is_end = is_last || self.columns[level].index < value;
            if fits[level - 1] == 0 && !is_last || !is_end || sum < self.minimum || value == last {
                continue;
            }
            if skip > 0 && !is_last {
                skip -= 1;
                continue;
            }
            (last, tried) = (value, tried + 1);
            skip = if tried < THRESHOLDS / 2 { 0 } else { self.columns.len() / THRESHOLDS };
            *work = work.saturating_sub(level as u64);
            let packed = self.pack(cluster, (level, &fits), room, prices);
            packed.into_iter().for_each(|columns| consider(columns, 0));
        }
        best
    }

    /// One job on the first columns, on few servers: the one that holds all that is left and is worth least
    /// to others, else the one that holds most.
    fn pack(
        &self,
        cluster: &Cluster,
        (level, fits): (usize, &[u32]),
        room: &mut Room,
        prices: Prices<'_>,
    ) -> Option<Vec<usize>> {
        let tasks: u32 = self.groups.iter().map(|group| group.0).sum();
        let mut order: Vec<usize> = (0..level).filter(|&column| fits[column] > 0).collect();
        if let [_] = self.groups[..] {
            let (mut left, mut sorted) = (tasks, Vec::with_capacity(order.len()));
            while left > 0 && !order.is_empty() {
                let price = |column: usize| prices(&self.columns[column]);
                // The smallest rest, where one server holds all; else the most tasks.
                let key = |&column: &usize| match fits[column] >= left {
                    true => (0, i64::from(fits[column] - left)),
                    false => (1, -i64::from(fits[column])),
                };
                let best = order.iter().enumerate().min_by(|(_, a), (_, b)| {
                    key(a).cmp(&key(b)).then(price(**a).total_cmp(&price(**b))).then(a.cmp(b))
                });
                let column = order.swap_remove(best.expect("it is not empty").0);
                left = left.saturating_sub(fits[column]);
                sorted.push(column);
            }
            return self.take(cluster, sorted.into_iter(), room, tasks);
        }
        // Several groups: servers that hold most of them first.
        let on = |server: ServerId| {
            let own = order.iter().filter(|&&column| self.columns[column].server == server);
            own.map(|&column| fits[column].min(self.groups[self.columns[column].group].0)).sum::<u32>()
        };
        let mut servers: Vec<(u32, usize)> = order
            .iter()
            .map(|&column| (tasks.saturating_sub(on(self.columns[column].server)), column))
            .collect();
        servers.sort_by_key(|&(short, column)| (short, self.columns[column].server, column));
        self.take(cluster, servers.into_iter().map(|(_, column)| column), room, tasks)
    }

    /// Takes tasks from columns in an order, what every group needs first; the columns, if the job can
    /// start. The room is as before.
    fn take(
        &self,
        cluster: &Cluster,
        order: impl Iterator<Item = usize> + Clone,
        room: &mut Room,
        mut left: u32,
    ) -> Option<Vec<usize>> {
        let mut open: Vec<u32> = self.groups.iter().map(|group| group.0).collect();
        let mut taken = Vec::with_capacity(left as usize);
        let has_minima = self.groups.iter().any(|group| group.1 > 0);
        for round in (usize::from(!has_minima))..2 {
            for column in order.clone() {
                let Column { channel, group, .. } = self.columns[column];
                let keep = if round == 0 { self.groups[group].0 - self.groups[group].1 } else { 0 };
                while left > 0 && open[group] > keep && room.take(cluster, channel) {
                    (open[group], left) = (open[group] - 1, left - 1);
                    taken.push(column);
                }
                if left == 0 {
                    break;
                }
            }
        }
        taken.iter().for_each(|&column| room.give(cluster, self.columns[column].channel));
        let starts = taken.len() >= self.minimum as usize
            && open.iter().zip(&self.groups).all(|(open, group)| group.0 - open >= group.1);
        starts.then_some(taken)
    }
}
