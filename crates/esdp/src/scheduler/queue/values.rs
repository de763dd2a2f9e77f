//! What a port counts in a slot, and on which servers its jobs are held back.

use super::plan::QueueView;
use super::{HOLD, QueueState, TURN};
use crate::model::{Amount, ChannelId, Cluster, PortId, ServerId};

/// Two speeds that differ by less, relatively, are alike.
const ALIKE: f64 = 1e-4;
/// The least speed that counts, relative to the mean of the port.
const LEAST: f64 = 1e-6;

/// What is believed of a port in a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PortValue {
    /// The mean speed over its servers, *m_l*; 1 if nothing is known.
    pub mean: f64,
    /// The largest speed.
    pub largest: f64,
    /// The share of the cluster's scarcest device that a task asks for.
    size: f64,
    /// The tasks that wait.
    tasks: f64,
}

/// The tasks of a job of a port with all of them; 1 where jobs are not gangs.
pub(super) fn tasks_of(cluster: &Cluster, port: PortId) -> f64 {
    match cluster.is_gang(port) {
        true => {
            let groups = cluster.task_groups().iter().filter(|group| group.port == port);
            groups.map(|group| f64::from(group.count)).sum()
        }
        false => 1.0,
    }
}

/// How many uses of a channel its server has devices for, if nothing else runs there.
fn copies(cluster: &Cluster, channel: ChannelId) -> f64 {
    let server = cluster.capacity().server(cluster.channel(channel).server);
    let each = |(&asked, &there): (&Amount, &Amount)| there.checked_div(asked);
    let most = server.and_then(|server| cluster.request(channel).iter().zip(server).filter_map(each).min());
    most.unwrap_or(1) as f64
}

/// The amounts of each device that the cluster has.
pub(super) fn totals(cluster: &Cluster) -> Vec<f64> {
    let capacity = cluster.capacity();
    let mut totals = vec![0.0; cluster.devices().len()];
    if capacity.has_servers() {
        for server in (0..cluster.servers().len()).map(ServerId::at) {
            let amounts = capacity.server(server).into_iter().flatten();
            totals.iter_mut().zip(amounts).for_each(|(total, &amount)| *total += amount as f64);
        }
    }
    if let Some(wide) = capacity.cluster() {
        for (total, &wide) in totals.iter_mut().zip(wide) {
            *total = if capacity.has_servers() { total.min(wide as f64) } else { wide as f64 };
        }
    }
    totals
}

/// The largest share of a device in some amounts.
pub(super) fn share(amounts: &[f64], totals: &[f64]) -> f64 {
    let shares = amounts.iter().zip(totals).filter(|(_, total)| **total > 0.0);
    shares.map(|(amount, total)| amount / total).fold(0.0, f64::max)
}

impl PortValue {
    pub fn new(view: &QueueView<'_>, port: PortId, totals: &[f64]) -> Self {
        let QueueView { cluster, speeds, book, .. } = view;
        let (mut sum, mut count, mut largest) = (0.0, 0.0, 0.0_f64);
        let mut request = vec![0.0; totals.len()];
        let channels = cluster.channels_of(port);
        for &channel in channels {
            for (sum, &asked) in request.iter_mut().zip(cluster.request(channel)) {
                *sum += asked as f64 / channels.len() as f64;
            }
            let Some(speed) = view.speed(speeds, channel) else { continue };
            let copies = copies(cluster, channel);
            sum += copies * speed;
            count += copies;
            largest = largest.max(speed);
        }
        let mean = if sum > 0.0 && count > 0.0 { sum / count } else { 1.0 };
        let largest = if largest > 0.0 { largest } else { mean };
        let tasks = book.waiting(port).len() as f64 * tasks_of(cluster, port);
        Self { mean, largest, size: share(&request, totals).max(f64::MIN_POSITIVE), tasks }
    }
}

/// The weight of every port, such that the largest value of a slot is about 1; ports where nobody waits count
/// 1.
pub(super) fn weights(state: &QueueState, view: &QueueView<'_>, values: &[PortValue]) -> Vec<f64> {
    let tilts = !all_fit(view, values);
    let duration = state.duration.known().unwrap_or(1.0);
    let recent = |index: usize| state.ports.get(index).map_or(0.0, |port| port.recent);
    let waits = (0..values.len()).filter(|&index| values[index].tasks > 0.0);
    let (sum, count) = waits.fold((0.0, 0.0), |(sum, count), index| (sum + recent(index), count + 1.0));
    let usual: f64 = if sum > 0.0 { sum / count } else { 1.0 };
    let mut weights = vec![1.0; values.len()];
    let mut largest = 0.0_f64;
    for (index, value) in values.iter().enumerate() {
        let waiting = view.book.waiting(PortId::at(index));
        let jobs = waiting.len() as f64;
        let Some(head) = view.first_in_line(PortId::at(index)) else { continue };
        let age = view.slot.0.saturating_sub(head.submitted.0) as f64;
        let own = state.mean_duration(PortId::at(index)).filter(|_| tilts).unwrap_or(duration);
        let slowdown = jobs * (duration + age) / own.max(LEAST);
        let base = view.weights.get(index).copied().unwrap_or(1.0);
        let turn = 1.0 + TURN * ((usual - recent(index)) / usual).clamp(-1.0, 1.0);
        weights[index] = base / value.mean * libm::cbrt(slowdown) * turn;
        largest = largest.max(weights[index] * value.largest);
    }
    if largest.is_finite() && largest > 0.0 {
        weights.iter_mut().for_each(|weight| *weight = (*weight / largest).clamp(1e-100, 1e100));
    } else {
        weights.fill(1.0);
    }
    weights
}

/// Whether all tasks that wait have room in the free devices, counted device by device over all servers.
fn all_fit(view: &QueueView<'_>, values: &[PortValue]) -> bool {
    let waiting: f64 = values.iter().map(|value| value.tasks * value.size).sum();
    let totals = totals(view.cluster);
    let mut free = vec![0.0; totals.len()];
    for server in view.open_servers() {
        let amounts = view.free.server(server).into_iter().flatten();
        free.iter_mut().zip(amounts).for_each(|(free, &amount)| *free += amount as f64);
    }
    if let Some(wide) = view.free.cluster() {
        for (free, &wide) in free.iter_mut().zip(wide) {
            *free = if view.free.has_servers() { free.min(wide as f64) } else { wide as f64 };
        }
    }
    let of = |(free, total): (&f64, &f64)| (*total > 0.0).then_some(free / total);
    waiting <= free.iter().zip(&totals).filter_map(of).fold(f64::INFINITY, f64::min)
}

/// By channel, whether its job waits for a faster server. A task of a job of port *l* may run on server *r*
/// only if
///
/// ```text
/// tasks that wait * d / N  >=  HOLD * (D_lr - D_best)
/// ```
///
/// where *N* is the number of such tasks that open servers faster for *l* hold in all, *D_best* the mean
/// duration there, and the tasks that wait are counted in devices of one of this port. Empty if nothing is
/// barred.
pub(super) fn barred(state: &QueueState, view: &QueueView<'_>, values: &[PortValue]) -> Vec<bool> {
    let Some(duration) = state.duration.known().filter(|_| !view.speeds.is_empty()) else {
        return Vec::new();
    };
    let waiting: f64 = values.iter().map(|value| value.tasks * value.size).sum();
    let (mut barred, mut line) = (Vec::new(), Vec::new());
    for (index, value) in values.iter().enumerate().filter(|(_, value)| value.tasks > 0.0) {
        let port = PortId::at(index);
        let Some(own) = state.mean_duration(port) else { continue };
        let drain = waiting / value.size * duration;
        let takes = |speed: f64| own * value.mean / speed.max(LEAST * value.mean);
        line.clear();
        for &channel in view.cluster.channels_of(port) {
            let group = view.cluster.task_group(channel);
            let group = if view.cluster.is_gang(port) { group } else { 0 };
            if let Some(speed) = view.speed(view.speeds, channel).filter(|_| view.is_open(channel)) {
                line.push((group, takes(speed), copies(view.cluster, channel), channel));
            }
        }
        let all: f64 = line.iter().map(|(_, _, copies, _)| copies).sum();
        let span = line
            .iter()
            .map(|entry| entry.1)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), takes| (least.min(takes), most.max(takes)));
        if line.is_empty() || drain >= HOLD * (span.1 - span.0) * all {
            continue;
        }
        line.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.3.cmp(&b.3)));
        for group in line.chunk_by(|a, b| a.0 == b.0) {
            // Servers before `faster` are faster than the one at hand.
            let (mut faster, mut count, mut sum) = (0, 0.0, 0.0);
            for &(_, takes, _, channel) in group {
                while group[faster].1 * (1.0 + ALIKE) < takes {
                    count += group[faster].2;
                    sum += group[faster].2 * group[faster].1;
                    faster += 1;
                }
                if count > 0.0 && drain < HOLD * (takes - sum / count) * count {
                    barred.resize(view.cluster.channels().len(), false);
                    barred[channel.index()] = true;
                }
            }
        }
    }
    barred
}

impl QueueState {
    /// How long a port's jobs take at its mean speed, *D_l*.
    pub(super) fn mean_duration(&self, port: PortId) -> Option<f64> {
        let known = self.ports.get(port.index())?;
        Some(known.duration.known()? * known.pace.known().unwrap_or(1.0))
    }
}
