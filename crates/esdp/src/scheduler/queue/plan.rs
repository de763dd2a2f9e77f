//! Before a slot is solved: what ports count, what is barred, and which job has a reservation.

use super::values::{self, PortValue, share, tasks_of, totals};
use super::{Batch, Book, QueueState};
use crate::model::{
    Amount, Arrivals, Capacity, ChannelId, Cluster, JobId, PortId, Room, ServerId, Slot, SlotView,
};
use crate::policy::Choice;
use crate::policy::kit::WholeJobs;
use crate::scheduler::Waiting;

/// What a plan is made from.
#[derive(Debug, Clone, Copy)]
pub(in crate::scheduler) struct QueueView<'a> {
    pub cluster: &'a Cluster,
    pub slot: Slot,
    pub book: &'a Book,
    pub free: &'a Capacity,
    /// By server, whether it takes nothing new; empty where none is closed.
    pub closed: &'a [bool],
    /// The weight of every port times that of its first job; empty where all count 1.
    pub weights: &'a [f64],
    /// The mean of every channel, not a number where nothing is known; empty for policies that believe
    /// nothing.
    pub speeds: &'a [f64],
}

impl<'a> QueueView<'a> {
    /// What is believed of a channel.
    pub(super) fn speed(&self, speeds: &[f64], channel: ChannelId) -> Option<f64> {
        speeds.get(channel.index()).copied().filter(|speed| !speed.is_nan()).map(|speed| speed.max(0.0))
    }

    pub(super) fn is_open(&self, channel: ChannelId) -> bool {
        !self.is_closed(self.cluster.channel(channel).server)
    }

    fn is_closed(&self, server: ServerId) -> bool {
        self.closed.get(server.index()).copied().unwrap_or(false)
    }

    pub(super) fn open_servers(&self) -> impl Iterator<Item = ServerId> + use<'a> {
        let view = *self;
        (0..view.cluster.servers().len()).map(ServerId::at).filter(move |&server| !view.is_closed(server))
    }

    pub(super) fn first_in_line(&self, port: PortId) -> Option<&'a Waiting> {
        self.book.waiting(port).next()
    }
}

/// A job that starts before all others are looked at, if it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scheduler) struct FirstJob {
    pub job: JobId,
    pub port: PortId,
    /// Whether devices are kept for it if it does not fit.
    pub is_reserved: bool,
    /// How many jobs of its port may follow it.
    pub batch: u32,
}

/// What a slot is decided by.
#[derive(Debug, Clone, Default)]
pub(in crate::scheduler) struct Plan {
    pub weights: Vec<f64>,
    pub barred: Vec<bool>,
    pub first: Option<FirstJob>,
    values: Vec<PortValue>,
    totals: Vec<f64>,
}

impl Plan {
    /// The plan of a slot; nothing is reserved unless `reserves`.
    pub fn new(state: &QueueState, view: &QueueView<'_>, reserves: bool) -> Self {
        let totals = totals(view.cluster);
        let value = |index| match view.book.waiting(PortId::at(index)).len() {
            0 => PortValue::default(),
            _ => PortValue::new(view, PortId::at(index), &totals),
        };
        let values: Vec<PortValue> = (0..view.cluster.ports().len()).map(value).collect();
        Self {
            weights: values::weights(state, view, &values),
            barred: values::barred(state, view, &values),
            first: if reserves { first(state, view) } else { None },
            values,
            totals,
        }
    }

    /// How fast a job runs on these channels, relative to its port's mean speed with all of its tasks, in
    /// thousandths; 0 if that is not known.
    pub fn pace(&self, view: &QueueView<'_>, port: PortId, channels: &[ChannelId]) -> u32 {
        let Some(value) = self.values.get(port.index()).filter(|_| !view.speeds.is_empty()) else { return 0 };
        let speed = |task: usize| view.speed(view.speeds, channels[task]).unwrap_or(value.mean);
        let pace = view.cluster.progress(port, channels, speed) / (value.mean * tasks_of(view.cluster, port));
        // What is not a number becomes 0.
        (pace.min(1e6) * 1e3).round() as u32
    }

    /// What is left for the others while devices are kept for a job that does not fit: on every server, and
    /// of the cluster as a whole, as much as the whole job could take there is kept. And the share of all
    /// devices that idles by that.
    pub fn withhold(&self, view: &QueueView<'_>, port: PortId) -> (Capacity, f64) {
        let (cluster, mut left) = (view.cluster, view.free.clone());
        let devices = cluster.devices().len();
        let (mut own, mut wide) = (vec![0.0; devices], vec![0.0; devices]);
        let keep = |free: &mut [Amount], need: &[Amount], kept: &mut [f64]| {
            for ((free, &need), kept) in free.iter_mut().zip(need).zip(kept) {
                let keeps = need.min(*free);
                *free -= keeps;
                *kept += keeps as f64;
            }
        };
        let mut by_server: Vec<(ServerId, usize, ChannelId)> = Vec::new();
        for &channel in cluster.channels_of(port).iter().filter(|&&channel| view.is_open(channel)) {
            by_server.push((cluster.channel(channel).server, cluster.task_group(channel), channel));
        }
        by_server.sort_unstable();
        let asks = |need: &mut [Amount], channel: ChannelId| {
            let count = Amount::from(cluster.task_groups()[cluster.task_group(channel)].count);
            for (need, &asked) in need.iter_mut().zip(cluster.request(channel)) {
                *need = need.saturating_add(asked.saturating_mul(count));
            }
        };
        for server in by_server.chunk_by(|a, b| a.0 == b.0) {
            let mut need = vec![0; devices];
            server.iter().for_each(|&(.., channel)| asks(&mut need, channel));
            if let Some(free) = left.server_mut(server[0].0) {
                keep(free, &need, &mut own);
            }
        }
        if let Some(free) = left.cluster_mut() {
            // Of each group the largest request: the job takes no more, wherever its tasks run.
            let mut need = vec![0; devices];
            by_server.sort_unstable_by_key(|&(server, group, _)| (group, server));
            for group in by_server.chunk_by(|a, b| a.1 == b.1) {
                let mut most = vec![0; devices];
                for &(.., channel) in group {
                    let mut one = vec![0; devices];
                    asks(&mut one, channel);
                    most.iter_mut().zip(one).for_each(|(most, one)| *most = one.max(*most));
                }
                need.iter_mut().zip(most).for_each(|(need, most): (&mut Amount, Amount)| {
                    *need = need.saturating_add(most);
                });
            }
            keep(free, &need, &mut wide);
        }
        (left, share(&own, &self.totals).max(share(&wide, &self.totals)).min(1.0))
    }

    /// After the decision: ports of which a job waits for a faster server, and the share of all devices that
    /// idles because of it. `left` is what the decision leaves, `started` its jobs by port.
    pub fn held(&self, view: &QueueView<'_>, left: &Capacity, started: &[u32]) -> (Vec<PortId>, f64) {
        let (mut ports, mut room) = (Vec::new(), Room::default());
        if self.barred.is_empty() {
            return (ports, 0.0);
        }
        let arrivals = Arrivals::default();
        let open =
            SlotView { closed: view.closed, ..SlotView::new(view.cluster, view.slot, &arrivals, left) };
        room.reset(&open);
        let mut idle = vec![0.0; self.totals.len()];
        for port in (0..view.cluster.ports().len()).map(PortId::at) {
            let jobs = view.book.waiting(port).len() as u64;
            let jobs = jobs.saturating_sub(u64::from(started[port.index()]));
            let mut tasks = jobs as f64 * tasks_of(view.cluster, port);
            let mut is_held = false;
            for &channel in view.cluster.channels_of(port) {
                while tasks >= 1.0 && self.barred[channel.index()] && room.take(view.cluster, channel) {
                    (tasks, is_held) = (tasks - 1.0, true);
                    let request = view.cluster.request(channel);
                    idle.iter_mut().zip(request).for_each(|(idle, &asked)| *idle += asked as f64);
                    if request.iter().all(|&asked| asked == 0) {
                        break;
                    }
                }
            }
            if is_held {
                ports.push(port);
            }
        }
        (ports, share(&idle, &self.totals).min(1.0))
    }
}

/// The job that starts before all others: the next of a batch if it fits at once, else the one with the
/// reservation, else the oldest that has waited too long, if the budget allows.
fn first(state: &QueueState, view: &QueueView<'_>) -> Option<FirstJob> {
    let gang = |port| view.cluster.is_gang(port) && tasks_of(view.cluster, port) > 1.0;
    let all_free = view.cluster.capacity();
    let can_run = |port| place(view, port, all_free).is_some();
    if let Some(kept) = state.reserved
        && view.book.waiting(kept.port).any(|job| job.job == kept.job)
        && can_run(kept.port)
    {
        let left = state.batch.filter(|batch| batch.port == kept.port).map_or(0, |batch| batch.left);
        return Some(FirstJob { job: kept.job, port: kept.port, is_reserved: true, batch: left });
    }
    if let Some(Batch { port, left }) = state.batch
        && let Some(next) = view.first_in_line(port)
        && left > 0
        && place(view, port, view.free).is_some()
    {
        return Some(FirstJob { job: next.job, port, is_reserved: false, batch: left - 1 });
    }
    let patience = state.patience().filter(|_| state.budget_at(view.slot) >= 0.0)?;
    let overdue = |port: PortId| {
        let job = view.book.oldest(port)?;
        let age = view.slot.0.saturating_sub(job.submitted.0) as f64;
        (age > patience).then_some((job.job, port))
    };
    let mut overdue: Vec<(JobId, PortId)> =
        (0..view.cluster.ports().len()).map(PortId::at).filter_map(overdue).collect();
    overdue.sort_unstable();
    let (job, port) = overdue.into_iter().find(|&(_, port)| can_run(port))?;
    let others = view.book.waiting(port).len() as u32 - 1;
    Some(FirstJob { job, port, is_reserved: true, batch: if gang(port) { others } else { 0 } })
}

/// A greedy placement of one job of a port in some capacity, the fastest servers first; none if none was
/// found.
pub(in crate::scheduler) fn place(
    view: &QueueView<'_>,
    port: PortId,
    free: &Capacity,
) -> Option<Vec<ChannelId>> {
    let arrivals = Arrivals::default();
    let open = SlotView { closed: view.closed, ..SlotView::new(view.cluster, view.slot, &arrivals, free) };
    let mut channels = view.cluster.channels_of(port).to_vec();
    let speed = |channel| view.speed(view.speeds, channel).unwrap_or(0.0);
    channels.sort_by(|&a, &b| speed(b).total_cmp(&speed(a)).then(a.cmp(&b)));
    let (mut room, mut choice) = (Room::default(), Choice::default());
    let mut placed = |channels: &[ChannelId]| {
        room.reset(&open);
        choice.clear();
        let jobs = match view.cluster.is_gang(port) {
            true => WholeJobs::default().place(view.cluster, (port, 1), channels, &mut room, &mut choice),
            false => {
                // One part is enough: the job may use each of its channels once.
                choice
                    .channels
                    .extend(channels.iter().copied().find(|&channel| room.take(view.cluster, channel)));
                choice.channels.len() as u32
            }
        };
        (jobs > 0).then(|| std::mem::take(&mut choice.channels))
    };
    placed(&channels).or_else(|| {
        // The largest tasks first, where the fastest servers first leave no room for them.
        let size =
            |channel| view.cluster.request(channel).iter().fold(0_u64, |sum, &a| sum.saturating_add(a));
        channels.sort_by_key(|&channel| (std::cmp::Reverse(size(channel)), channel));
        placed(&channels)
    })
}
