//! What the cluster did, beside what it was advised to do, and what the difference is worth.
//!
//! A task that others have placed is compared with the task of the same job and group that was advised. Only
//! the uses of channels are counted: *a_e* how often a channel was advised, *b_e* how often it was used in
//! its place. With the estimates of today the advice would have been worth
//!
//! ```text
//! W = sum_e (a_e - b_e) estimate_e,     Var W = sum_e (a_e - b_e)^2 Var(estimate_e)
//! ```
//!
//! in units of net utility, so a judgement gets better as speeds become better known, and uses on which both
//! agree cost nothing. The interval is `W +- 1.96 sqrt(Var W)`: the errors of channels are independent, their
//! sum is nearly normal.

use super::{Job, Live, REMEMBERED_NAMES, Start};
use crate::model::{ChannelId, ChannelKey, Cluster};
use crate::stats::{Z95, estimate_variance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was advised and not compared yet, and all comparisons.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Advice {
    /// By job, a channel for each task.
    jobs: BTreeMap<String, Vec<ChannelKey>>,
    /// How often each channel was advised, and how often it was used instead.
    uses: Vec<(ChannelKey, u64, u64)>,
    compared: u64,
    followed: u64,
}

/// What advice was worth, in net utility.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AdviceWorth {
    /// Tasks that were compared.
    pub compared: u64,
    /// Those that ran where they were advised to.
    pub followed: u64,
    /// The estimated net utility of the advice.
    pub advised: f64,
    /// The estimated net utility of what was done.
    pub done: f64,
    /// The difference.
    pub gain: f64,
    /// The ends of its 95 % interval.
    pub interval: (f64, f64),
}

impl Advice {
    pub(super) fn give(&mut self, start: &Start) {
        let task = |place: &super::Placement| {
            let key = ChannelKey {
                port: start.port.clone(),
                group: place.group.clone(),
                server: place.server.clone(),
            };
            std::iter::repeat_n(key, place.count as usize)
        };
        self.jobs.insert(start.job.clone(), start.placements.iter().flat_map(task).collect());
        if self.jobs.len() > REMEMBERED_NAMES {
            self.jobs.pop_first();
        }
    }

    pub(super) fn port_of(&self, job: &str) -> Option<&str> {
        self.jobs.get(job).and_then(|tasks| tasks.first()).map(|key| key.port.as_str())
    }

    /// Compares a task of a job with one that was advised, the one on the same server if there is one.
    pub(super) fn compare(&mut self, job: &str, done: &ChannelKey) {
        let Some(tasks) = self.jobs.get_mut(job) else { return };
        let same = tasks.iter().position(|key| key == done);
        let like =
            same.or_else(|| tasks.iter().position(|key| key.group == done.group && key.port == done.port));
        let Some(place) = like else { return };
        let advised = tasks.remove(place);
        if tasks.is_empty() {
            self.jobs.remove(job);
        }
        self.compared += 1;
        self.followed += u64::from(advised == *done);
        self.count(advised).1 += 1;
        self.count(done.clone()).2 += 1;
    }

    /// Keeps of many channels those that are still there.
    pub(super) fn forget_names(&mut self, is_there: impl Fn(&ChannelKey) -> bool) {
        if self.uses.len() > REMEMBERED_NAMES {
            self.uses.retain(|(key, ..)| is_there(key));
        }
    }

    fn count(&mut self, key: ChannelKey) -> &mut (ChannelKey, u64, u64) {
        let place = match self.uses.binary_search_by(|use_| use_.0.cmp(&key)) {
            Ok(place) => place,
            Err(place) => {
                self.uses.insert(place, (key, 0, 0));
                place
            }
        };
        &mut self.uses[place]
    }
}

impl Live {
    /// What the advice given so far would have been worth by today's estimates. Channels that have left the
    /// cluster are not counted.
    pub fn advice_worth(&self) -> AdviceWorth {
        let mut worth = AdviceWorth {
            compared: self.advice.compared,
            followed: self.advice.followed,
            ..AdviceWorth::default()
        };
        let Some(learned) = self.scheduler.policy().learned() else { return worth };
        let cluster = self.scheduler.cluster();
        let mut variances = 0.0;
        for (key, advised, done) in &self.advice.uses {
            let Some(channel) = self.channel_of(cluster, key) else { continue };
            let (estimate, advised, done) = (learned.estimate(channel), *advised as f64, *done as f64);
            worth.advised += advised * estimate;
            worth.done += done * estimate;
            variances += (advised - done).powi(2) * estimate_variance(learned, channel);
        }
        worth.gain = worth.advised - worth.done;
        let half = Z95 * variances.sqrt();
        worth.interval = (worth.gain - half, worth.gain + half);
        worth
    }

    /// A channel by its names.
    pub(super) fn channel_of(&self, cluster: &Cluster, key: &ChannelKey) -> Option<ChannelId> {
        let channels = self.names.channels(&key.port, &key.server).ok()?;
        channels.iter().copied().find(|&channel| cluster.group_name(cluster.task_group(channel)) == key.group)
    }

    /// A task of a job runs where others have put it.
    pub(super) fn placed_elsewhere(
        &mut self,
        job: &str,
        (port, group, server): (&str, &str, &str),
    ) -> Result<(), super::EventError> {
        self.names.channels(port, server)?;
        let key = ChannelKey { port: port.to_owned(), group: group.to_owned(), server: server.to_owned() };
        self.advice.compare(job, &key);
        if self.waits(job) {
            let id = self.by_name[job];
            let Job { port, weight, .. } = &self.jobs[&id];
            self.book.withdraw(self.names.port(port)?, id, *weight);
            self.forget_job(id);
        }
        Ok(())
    }
}
