//! Channels in some order, each taken if it still fits: what the simple policies share.
//!
//! "In turn until the capacity is exceeded" is read as: skip what does not fit, go on; an order that stops
//! ends there, as the paper's words have it. A gang starts whole or not at all, when the turn of its first
//! channel comes.

use super::{Room, WholeJobs};
use crate::model::{ChannelId, PortId, SlotView};
use crate::policy::Choice;

/// Takes channels one by one; keeps its buffers from slot to slot.
#[derive(Debug, Default)]
pub struct Order {
    room: Room,
    ranked: Vec<(f64, u32)>,
    whole: WholeJobs,
    /// The gangs that had their turn.
    served: Vec<bool>,
    channels: Vec<ChannelId>,
    stops: bool,
}

impl Order {
    /// An order that ends at the first channel, or gang, that does not fit as often as there are jobs.
    pub fn stopping(stops: bool) -> Self {
        Self { stops, ..Self::default() }
    }

    fn open(&mut self, view: &SlotView<'_>, choice: &mut Choice) {
        choice.clear();
        self.room.reset(view);
        self.ranked.clear();
        self.served.clear();
        self.served.resize(view.cluster.ports().len(), false);
    }

    /// Takes a channel as often as `jobs` allow and it fits; whether all did.
    #[inline(always)]
    fn take(&mut self, view: &SlotView<'_>, channel: ChannelId, jobs: u32, choice: &mut Choice) -> bool {
        for _ in 0..jobs {
            if !self.room.take(view.cluster, channel) {
                return false;
            }
            choice.channels.push(channel);
        }
        true
    }

    /// Lowest key first, then lowest id.
    fn sort(&mut self) {
        self.ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Open channels by ascending key.
    pub fn by_channel(
        &mut self,
        view: &SlotView<'_>,
        choice: &mut Choice,
        mut key: impl FnMut(ChannelId) -> f64,
    ) {
        self.open(view, choice);
        for port in present(view) {
            self.ranked
                .extend(view.cluster.channels_of(port).iter().map(|&channel| (key(channel), channel.0)));
        }
        self.sort();
        for position in 0..self.ranked.len() {
            let channel = ChannelId(self.ranked[position].1);
            let port = view.cluster.channel(channel).port;
            let jobs = view.arrivals.jobs(port);
            let mut fits = true;
            if !view.cluster.is_gang(port) {
                fits = self.take(view, channel, jobs, choice);
            } else if !std::mem::replace(&mut self.served[port.index()], true) {
                let ranked = self.ranked[position..].iter().map(|&(_, channel)| ChannelId(channel));
                self.channels.clear();
                self.channels.extend(ranked.filter(|&channel| view.cluster.channel(channel).port == port));
                let whole =
                    self.whole.place(view.cluster, (port, jobs), &self.channels, &mut self.room, choice);
                fits = whole == jobs;
            }
            if self.stops && !fits {
                return;
            }
        }
    }

    /// Ports with a job by ascending key, each with its channels in the order of their ids.
    pub fn by_port(&mut self, view: &SlotView<'_>, choice: &mut Choice, mut key: impl FnMut(PortId) -> f64) {
        self.open(view, choice);
        self.ranked.extend(present(view).map(|port| (key(port), port.0)));
        self.sort();
        for position in 0..self.ranked.len() {
            let port = PortId(self.ranked[position].1);
            let (channels, jobs) = (view.cluster.channels_of(port), view.arrivals.jobs(port));
            if view.cluster.is_gang(port) {
                let whole = self.whole.place(view.cluster, (port, jobs), channels, &mut self.room, choice);
                if self.stops && whole < jobs {
                    return;
                }
                continue;
            }
            for &channel in channels {
                if !self.take(view, channel, jobs, choice) && self.stops {
                    return;
                }
            }
        }
    }
}

/// The ports that have a job.
fn present<'a>(view: &SlotView<'a>) -> impl Iterator<Item = PortId> + use<'a> {
    let arrivals = view.arrivals;
    (0..view.cluster.ports().len()).map(PortId::at).filter(move |&port| arrivals.jobs(port) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Capacity};
    use crate::policy::testing::{gang, tiny, view};

    #[test]
    fn what_does_not_fit_is_skipped() {
        let (cluster, free) = (tiny(), Capacity::cluster_wide(vec![4, 4]));
        let (mut order, mut choice) = (Order::default(), Choice::default());
        let both = Arrivals::everywhere(2);
        // By descending id: 3 takes (3,3), then only 2 with (1,1) fits.
        order.by_channel(&view(&cluster, 1, &both, &free), &mut choice, |channel| -f64::from(channel.0));
        assert_eq!(choice.channels, [3, 2].map(ChannelId));
        order.by_port(&view(&cluster, 1, &both, &free), &mut choice, |port| f64::from(port.0));
        assert_eq!(choice.channels, [0, 1, 2].map(ChannelId));
    }

    #[test]
    fn an_order_may_stop_at_what_does_not_fit() {
        let (cluster, free) = (tiny(), Capacity::cluster_wide(vec![4, 4]));
        let (mut order, mut choice) = (Order::stopping(true), Choice::default());
        let both = Arrivals::everywhere(2);
        // 1 takes (2,1), 3 with (3,3) does not fit, and 2 with (1,1), which would, has no turn.
        let key = |channel: ChannelId| [2.0, 0.0, 3.0, 1.0][channel.index()];
        order.by_channel(&view(&cluster, 1, &both, &free), &mut choice, key);
        assert_eq!(choice.channels, [ChannelId(1)]);
        // Port 1 takes 2 and 3, which leaves (0,0) for port 0.
        order.by_port(&view(&cluster, 1, &both, &free), &mut choice, |port| -f64::from(port.0));
        assert_eq!(choice.channels, [2, 3].map(ChannelId));
        // Within a port too: 0 takes (1,2), 1 needs (2,1) of the (1,2) that are left, and port 1 has no turn.
        let tight = Capacity::cluster_wide(vec![2, 4]);
        order.by_port(&view(&cluster, 1, &both, &tight), &mut choice, |port| f64::from(port.0));
        assert_eq!(choice.channels, [ChannelId(0)]);
        // Three jobs of a gang of which two fit.
        let (gangs, jobs) = (gang(vec![vec![4], vec![3]]), Arrivals::new(vec![3]));
        order.by_port(&view(&gangs, 1, &jobs, gangs.capacity()), &mut choice, |_| 0.0);
        assert_eq!(choice.channels, [0, 0, 0, 2, 1, 1, 1].map(ChannelId));
    }

    #[test]
    fn gangs_start_whole() {
        let cluster = gang(vec![vec![4], vec![3]]);
        let (mut order, mut choice) = (Order::default(), Choice::default());
        let jobs = Arrivals::new(vec![3]);
        // By descending id: 3 and then 2 have one task, 1 and 0 three. One job fills server 1, the
        // next takes server 0, and for a third there is no room.
        order.by_channel(&view(&cluster, 1, &jobs, cluster.capacity()), &mut choice, |channel| {
            -f64::from(channel.0)
        });
        assert_eq!(choice.channels, [3, 1, 1, 0, 2, 0, 0].map(ChannelId));
        order.by_port(&view(&cluster, 1, &jobs, cluster.capacity()), &mut choice, |_| 0.0);
        assert_eq!(choice.channels, [0, 0, 0, 2, 1, 1, 1].map(ChannelId));
    }

    #[test]
    fn every_job_may_use_every_channel_once() {
        let (cluster, free) = (tiny(), Capacity::cluster_wide(vec![3, 9]));
        let (mut order, mut choice) = (Order::default(), Choice::default());
        let jobs = Arrivals::new(vec![2, 0]);
        order.by_port(&view(&cluster, 1, &jobs, &free), &mut choice, |_| 0.0);
        assert_eq!(choice.channels, [0, 0].map(ChannelId));
    }
}
