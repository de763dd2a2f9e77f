//! Why here, why not, and what is believed: numbers, and sentences for people.

use super::{Live, Placement, Start};
use crate::model::{Amount, Capacity, ChannelId, ChannelKey, Cluster, PortId, ServerId, Ticket};
use crate::scheduler::Waiting;
use crate::solver::Stopped;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// What is believed of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelBelief {
    /// The channel.
    pub channel: ChannelKey,
    /// The estimated net utility, from 0 to 1.
    pub estimate: f64,
    /// The estimated speed in the unit in which speeds are reported.
    pub speed: f64,
    /// The confidence radius `sqrt(ln(t + 1) / (2 n))` of the estimate; none for a channel never tried.
    pub radius: Option<f64>,
    /// How many outcomes stand behind it; not whole where old ones fade.
    pub count: f64,
    /// How many uses have no outcome yet.
    pub pending: u32,
    /// What is taken off a speed to get a net utility.
    pub cost: f64,
}

/// Why a job was started where it was: one line for each server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartReason {
    /// The start.
    pub ticket: Ticket,
    /// What is believed of the channel.
    pub belief: ChannelBelief,
    /// How many of its tasks run there.
    pub tasks: u32,
    /// The best other server of the same port and task group by estimate, and that estimate.
    pub runner_up: Option<(String, f64)>,
    /// The device that limits what else the server could take.
    pub binding: Option<String>,
    /// All of it as a sentence.
    pub sentence: String,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldJob {
    /// The job.
    pub job: String,
    /// Its port.
    pub port: String,
    /// Why.
    pub reason: HeldReason,
    /// The same as a sentence, such as `gpu: 2 free on n3, 4 needed`.
    pub detail: String,
}

/// Some of the jobs that wait.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Held {
    /// Those that are listed.
    pub jobs: Vec<HeldJob>,
    /// How many more wait.
    pub more: u64,
}

/// Why a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldReason {
    /// No slot was decided since it was submitted.
    NotDecided,
    /// No server may run it.
    NoServer,
    /// All servers that may run it are closed.
    Closed,
    /// Not enough devices are free.
    Capacity,
    /// Devices are kept free for a job that has waited long.
    Reserved,
    /// The servers that are free are slow for it; it waits for a faster one.
    Faster,
    /// Enough devices are free for one such job, but others were worth more, or too little is expected of it.
    Passed,
}

/// A device of which there is too little.
struct Short {
    device: usize,
    free: Amount,
    needed: Amount,
    /// Whether the server limits it, and not the cluster as a whole.
    of_server: bool,
}

/// Why a job waits that was submitted after the last slot.
pub(super) fn not_decided() -> (HeldReason, String) {
    (HeldReason::NotDecided, "submitted after the last slot".to_owned())
}

impl Live {
    /// What is believed of every channel, in the order of the cluster; nothing for policies that learn
    /// nothing.
    pub fn beliefs(&self) -> impl Iterator<Item = ChannelBelief> {
        let channels = (0..self.scheduler.cluster().channels().len()).map(ChannelId::at);
        channels.filter_map(|channel| self.belief(channel))
    }

    /// What is believed of a channel; none for policies that learn nothing.
    pub fn belief(&self, channel: ChannelId) -> Option<ChannelBelief> {
        let (cluster, learned) = (self.scheduler.cluster(), self.scheduler.policy().learned()?);
        let (estimate, cost, variance) =
            (learned.estimate(channel), cluster.cost(channel), learned.variance(channel));
        let key = cluster.channel_key(channel);
        let speed = (estimate + cost).max(0.0);
        let speed = self.scales.get(&key.port).map_or(speed, |scale| scale.in_unit(speed));
        let radius = (self.scheduler.slot().0 as f64).ln_1p() * variance;
        Some(ChannelBelief {
            channel: key,
            estimate,
            speed,
            radius: variance.is_finite().then(|| radius.sqrt()),
            // As many as were reported, however fast they are forgotten.
            count: learned.record(channel).count,
            pending: learned.pending(channel),
            // A sum of nothing is -0.
            cost: cost + 0.0,
        })
    }

    /// Why a start was made as it was: one entry for each server and task group it uses.
    pub fn why(&self, ticket: Ticket) -> Vec<StartReason> {
        let Ok(started) = self.book.started(ticket) else { return Vec::new() };
        let mut channels: Vec<ChannelId> = started.tasks.iter().filter_map(|task| task.channel).collect();
        channels.sort_unstable();
        let same = channels.chunk_by(|a, b| a == b);
        let Some(port) = started.port else { return Vec::new() };
        let reason = |same: &[ChannelId]| self.start_reason(ticket, port, same[0], same.len() as u32);
        let mut reasons: Vec<StartReason> = same.filter_map(reason).collect();
        self.tell_pace(port, &mut reasons);
        reasons
    }

    /// The same of a start that is at hand, also of advice, which no book has.
    pub fn why_start(&self, start: &Start) -> Vec<StartReason> {
        let Ok(port) = self.names.port(&start.port) else { return Vec::new() };
        let reason = |place: &Placement| {
            let (port_name, group) = (start.port.clone(), place.group.clone());
            let key = ChannelKey { port: port_name, group, server: place.server.clone() };
            let channel = self.channel_of(self.scheduler.cluster(), &key)?;
            self.start_reason(start.ticket, port, channel, place.count)
        };
        let mut reasons: Vec<StartReason> = start.placements.iter().filter_map(reason).collect();
        self.tell_pace(port, &mut reasons);
        reasons
    }

    fn start_reason(
        &self,
        ticket: Ticket,
        port: PortId,
        channel: ChannelId,
        tasks: u32,
    ) -> Option<StartReason> {
        let cluster = self.scheduler.cluster();
        let belief = self.belief(channel)?;
        let learned = self.scheduler.policy().learned()?;
        let group = cluster.group_name(cluster.task_group(channel));
        let others = cluster
            .channels_of(port)
            .iter()
            .copied()
            .filter(|&other| other != channel && cluster.group_name(cluster.task_group(other)) == group);
        let best =
            others.max_by(|&a, &b| learned.estimate(a).total_cmp(&learned.estimate(b)).then(b.cmp(&a)));
        let name = |channel| cluster.servers()[cluster.channel(channel).server.index()].clone();
        let runner_up = best.map(|best| (name(best), learned.estimate(best)));
        let binding = self.short_of(cluster, channel).map(|short| cluster.devices()[short.device].clone());
        let radius =
            belief.radius.map_or_else(|| "never tried".to_owned(), |radius| format!("± {radius:.3}"));
        let rival = runner_up
            .as_ref()
            .map_or_else(String::new, |(name, estimate)| format!("; next {name} with {estimate:.3}"));
        let sentence = format!(
            "{}: expected {:.3} ({radius}, {} outcomes), cost {:.3}{rival}",
            name(channel),
            belief.estimate,
            belief.count.round(),
            belief.cost
        );
        Some(StartReason { ticket, belief, tasks, runner_up, binding, sentence })
    }

    /// The first device of which there is too little to use a channel once more.
    fn short_of(&self, cluster: &Cluster, channel: ChannelId) -> Option<Short> {
        let left = [self.last.left.server(cluster.channel(channel).server), self.last.left.cluster()];
        let free = |device: usize| {
            let at = |amounts: Option<&[Amount]>| amounts.map_or(Capacity::UNLIMITED, |all| all[device]);
            (at(left[0]).min(at(left[1])), at(left[0]) <= at(left[1]))
        };
        let short = |(device, &needed): (usize, &Amount)| {
            let (free, of_server) = free(device);
            (needed > free).then_some(Short { device, free, needed, of_server })
        };
        cluster.request(channel).iter().enumerate().find_map(short)
    }

    /// What one more task on a channel lacks, such as `gpu: 0 free, 1 needed`; none if it has room.
    pub(super) fn missing(&self, channel: ChannelId) -> Option<String> {
        let cluster = self.scheduler.cluster();
        let Short { device, free, needed, .. } = self.short_of(cluster, channel)?;
        Some(format!("{}: {free} free, {needed} needed", cluster.devices()[device]))
    }

    /// The jobs that wait, each with the reason, as of the last slot.
    pub fn held(&self) -> impl Iterator<Item = HeldJob> {
        let cluster = self.scheduler.cluster();
        (0..cluster.ports().len()).map(PortId::at).flat_map(move |port| {
            let mut waiting = self.book.waiting(port).peekable();
            let why = waiting.peek().is_some().then(|| self.why_not(cluster, port));
            waiting.filter_map(move |job| {
                let named = self.jobs.get(&job.job)?;
                let (reason, detail) = match self.was_decided(job) {
                    true => why.clone()?,
                    false => not_decided(),
                };
                Some(HeldJob { job: named.name.clone(), port: named.port.clone(), reason, detail })
            })
        })
    }

    /// Right after a slot: these jobs as far as they wait, and at most `others` more. However long the queue
    /// is, it is not walked.
    pub fn held_after_slot<'a>(&self, named: impl Iterator<Item = &'a str>, others: usize) -> Held {
        let cluster = self.scheduler.cluster();
        let mut reasons: BTreeMap<PortId, (HeldReason, String)> = BTreeMap::new();
        let (mut held, mut listed) = (Held::default(), HashSet::new());
        for name in named.filter(|name| self.waits(name)) {
            let job = &self.jobs[&self.by_name[name]];
            let Ok(port) = self.names.port(&job.port) else { continue };
            if listed.insert(name) {
                let (reason, detail) =
                    reasons.entry(port).or_insert_with(|| self.why_not(cluster, port)).clone();
                held.jobs.push(HeldJob { job: job.name.clone(), port: job.port.clone(), reason, detail });
            }
        }
        let others = self.held().filter(|other| !listed.contains(other.job.as_str())).take(others);
        held.jobs.extend(others);
        let all: usize =
            (0..cluster.ports().len()).map(|port| self.book.waiting(PortId::at(port)).len()).sum();
        held.more = (all - held.jobs.len()) as u64;
        held
    }

    /// How many jobs wait for each reason.
    pub fn held_by_reason(&self) -> BTreeMap<HeldReason, u64> {
        let cluster = self.scheduler.cluster();
        let mut counts = BTreeMap::new();
        for port in (0..cluster.ports().len()).map(PortId::at) {
            let all = self.book.waiting(port).len();
            let decided = self.book.waiting(port).filter(|job| self.was_decided(job)).count();
            if decided > 0 {
                *counts.entry(self.why_not(cluster, port).0).or_default() += decided as u64;
            }
            if all > decided {
                *counts.entry(HeldReason::NotDecided).or_default() += (all - decided) as u64;
            }
        }
        counts
    }

    pub(super) fn was_decided(&self, job: &Waiting) -> bool {
        job.submitted < self.scheduler.slot()
    }

    /// Why another job of a port was not started in the last slot.
    pub(super) fn why_not(&self, cluster: &Cluster, port: PortId) -> (HeldReason, String) {
        let channels = cluster.channels_of(port);
        if channels.is_empty() {
            return (HeldReason::NoServer, "no server allows this port".to_owned());
        }
        let open: Vec<ChannelId> = channels
            .iter()
            .copied()
            .filter(|&id| !self.last.closed.contains(&cluster.channel(id).server))
            .collect();
        if open.is_empty() {
            return (HeldReason::Closed, "all servers that allow this port are closed".to_owned());
        }
        let place = |server: ServerId, of_server: bool| match of_server {
            true => format!("on {}", cluster.servers()[server.index()]),
            false => "in the cluster".to_owned(),
        };
        // The server that is nearest to having room, by the share of the device that is missing.
        let mut nearest: Option<(f64, String)> = None;
        for &channel in &open {
            let Some(Short { device, free, needed, of_server }) = self.short_of(cluster, channel) else {
                let passed = || (HeldReason::Passed, self.why_passed(cluster.minimum(port)));
                return self.why_queue(port).unwrap_or_else(passed);
            };
            let missing = (needed - free) as f64 / needed as f64;
            if nearest.as_ref().is_none_or(|(least, _)| missing < *least) {
                let server = cluster.channel(channel).server;
                let (device, place) = (&cluster.devices()[device], place(server, of_server));
                nearest = Some((missing, format!("{device}: {free} free {place}, {needed} needed")));
            }
        }
        (HeldReason::Capacity, nearest.map_or_else(String::new, |(_, detail)| detail))
    }

    /// Why a job of so many tasks was passed over although one more would have had room.
    fn why_passed(&self, needed: u32) -> String {
        let mut why = match needed {
            0 | 1 => "there is room, but other jobs were worth more".to_owned(),
            _ => format!("no room for {needed} tasks at once, or other jobs were worth more"),
        };
        // A decision that is proved has looked at everything; this one has not.
        let certificate = self.last.certificate;
        if let Some(certificate) = certificate.filter(|certificate| certificate.stopped == Stopped::Budget) {
            let gap = 100.0 * certificate.gap();
            why.push_str(&format!(
                "; the work budget ended first, at most {gap:.1} % below the best decision"
            ));
        }
        why
    }
}
