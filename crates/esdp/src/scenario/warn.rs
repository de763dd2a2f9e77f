//! What is accepted and yet hardly meant: changes after the last slot, jobs that fit nowhere.
//!
//! Such a scenario runs and its numbers are right, but they say nothing: a job type that never starts has a
//! utility of 0 under every policy, the oracle too.

use super::{Scenario, ScenarioError, Spec, names::Index};
use crate::model::{Amount, ChannelId, Cluster, PortId, ServerId};
use crate::sim::{ArrivalSpec, Drift};
use std::collections::BTreeMap;

/// A drawn cluster may be short of something by chance; what lacks in so many of them lacks in all.
const CLUSTERS: usize = 3;

impl Scenario {
    /// What it says and can hardly mean, one sentence each: a drift, an outage, a deviation or a port that
    /// begins after the last slot, and job types that can never start.
    ///
    /// ```
    /// use esdp::scenario::Scenario;
    ///
    /// let late = Scenario::from_toml(
    ///     "slots = 100\n[speeds]\ndrift = { kind = \"ramp\", factor = 0.5, from = 200 }",
    /// )?;
    /// assert_eq!(
    ///     late.warnings()?,
    ///     ["`speeds.drift.from` is 200, but the last slot is 100: the change never comes"],
    /// );
    /// # Ok::<(), esdp::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// When no cluster can be built of it.
    pub fn warnings(&self) -> Result<Vec<String>, ScenarioError> {
        let mut said = if self.drains() { Vec::new() } else { too_late(&self.spec) };
        // By port, why it cannot run under every seed so far.
        let mut stuck: Option<BTreeMap<usize, String>> = None;
        for &seed in self.seeds.iter().take(CLUSTERS) {
            let cluster = super::cluster::cluster(&self.spec, seed)?;
            let mut found = unreachable(&self.spec, &cluster);
            if let Some(before) = stuck {
                found.retain(|port, _| before.contains_key(port));
            }
            let ends = found.is_empty();
            stuck = Some(found);
            if ends {
                break;
            }
        }
        said.extend(stuck.into_iter().flatten().map(|(_, why)| why));
        Ok(said)
    }
}

/// Changes that begin after the last slot.
fn too_late(spec: &Spec) -> Vec<String> {
    let last = spec.slots;
    let late = |key: String, from: u64, what: &str| {
        format!("`{key}` is {from}, but the last slot is {last}: {what}")
    };
    let mut said = Vec::new();
    for (at, outage) in spec.servers.outages.iter().enumerate().filter(|(_, outage)| outage.from > last) {
        said.push(late(format!("servers.outages[{at}].from"), outage.from, "the outage never comes"));
    }
    // The slot before the change.
    if let Drift::Ramp { from, .. } = spec.speeds.drift
        && from >= last
    {
        said.push(late("speeds.drift.from".to_owned(), from, "the change never comes"));
    }
    if let Some((from, _)) = spec.speeds.later_deviation
        && from > last
    {
        said.push(late("speeds.later_deviation[0]".to_owned(), from, "the change never comes"));
    }
    if let ArrivalSpec::Late { from, .. } = &spec.arrivals {
        let ports = Index::ports(spec);
        for (port, &from) in from.iter().enumerate().filter(|(_, from)| **from > last) {
            let what = format!("{} has no jobs", ports.words(port));
            said.push(late(format!("arrivals.from[{port}]"), from, &what));
        }
    }
    said
}

/// The ports of which no job can start, on an empty cluster either, and why.
fn unreachable(spec: &Spec, cluster: &Cluster) -> BTreeMap<usize, String> {
    let ports = Index::ports(spec);
    // The task groups of every port whose jobs are gangs.
    let mut groups = vec![Vec::new(); cluster.ports().len()];
    for (position, group) in cluster.task_groups().iter().enumerate() {
        if cluster.is_gang(group.port) {
            groups[group.port.index()].push(position);
        }
    }
    let of = |port: usize| {
        let why = match cluster.is_gang(PortId::at(port)) {
            true => gang(spec, cluster, PortId::at(port), &groups[port]),
            false => single(cluster, PortId::at(port)),
        }?;
        Some((port, format!("{} can start no job: {why}", ports.words(port))))
    };
    (0..cluster.ports().len()).filter_map(of).collect()
}

/// A port whose jobs are no gangs: one channel is enough. None at all may be chance, and is no fault.
fn single(cluster: &Cluster, port: PortId) -> Option<String> {
    let channels = cluster.channels_of(port);
    let is_stuck = !channels.is_empty() && channels.iter().all(|&channel| tasks_on(cluster, channel) == 0);
    let nowhere = || "no server that it may use has room for its request".to_owned();
    is_stuck.then(|| lacking(cluster, channels).unwrap_or_else(nowhere))
}

/// A gang needs its minimum, and that of each of its groups, on all servers together.
fn gang(spec: &Spec, cluster: &Cluster, port: PortId, groups: &[usize]) -> Option<String> {
    let (mut tasks, mut short) = (0, None);
    for (own, &position) in groups.iter().enumerate() {
        let group = &cluster.task_groups()[position];
        let all = cluster.channels_of(port).iter().copied();
        let channels: Vec<ChannelId> =
            all.filter(|&channel| cluster.task_group(channel) == position).collect();
        let room = channels.iter().map(|&channel| tasks_on(cluster, channel)).sum::<u64>();
        let room = room.min(u64::from(group.count));
        tasks += room;
        // A group that must be there says more than one that may be.
        let told = short.as_ref().is_some_and(|(_, required)| *required);
        if room < u64::from(group.minimum.max(1)) && !told {
            let why = lacking(cluster, &channels).or_else(|| fits_nowhere(spec, cluster, port, own));
            short = Some((why, room < u64::from(group.minimum)));
        }
    }
    let minimum = u64::from(cluster.minimum(port));
    let few = || format!("it needs {minimum} tasks at once, and the empty cluster has room for {tasks}");
    match short {
        Some((why, true)) => Some(why.unwrap_or_else(few)),
        Some((why, false)) if tasks < minimum => Some(why.unwrap_or_else(few)),
        _ if tasks < minimum => Some(few()),
        _ => None,
    }
}

/// How many tasks of a channel fit on its server and into the cluster, if nothing else runs.
fn tasks_on(cluster: &Cluster, channel: ChannelId) -> u64 {
    let request = cluster.request(channel);
    let limits = [cluster.capacity().cluster(), cluster.capacity().server(cluster.channel(channel).server)];
    let times = |own: &[Amount]| {
        let devices = request.iter().zip(own).filter(|(asked, _)| **asked > 0);
        devices.map(|(asked, own)| own / asked).min().unwrap_or(u64::MAX)
    };
    // Far from overflowing, for sums.
    limits.into_iter().flatten().map(times).min().unwrap_or(u64::MAX).min(u64::from(u32::MAX))
}

/// The first device of which some channels ask for more than any of their servers, or the cluster, has.
fn lacking(cluster: &Cluster, channels: &[ChannelId]) -> Option<String> {
    let least = |device: usize| channels.iter().map(|&channel| cluster.request(channel)[device]).min();
    for (device, name) in cluster.devices().iter().enumerate() {
        let asked = least(device)?;
        let own =
            |&channel: &ChannelId| Some(cluster.capacity().server(cluster.channel(channel).server)?[device]);
        // Servers without limits of their own have room for anything that the cluster has.
        let own: Option<Vec<Amount>> = channels.iter().map(own).collect();
        let largest = own.and_then(|own| own.into_iter().max());
        if let Some(largest) = largest.filter(|largest| *largest < asked) {
            return Some(too_large(asked, name, "the largest server that it may use", largest));
        }
        if let Some(all) = cluster.capacity().cluster().filter(|all| all[device] < asked) {
            return Some(too_large(asked, name, "the cluster", all[device]));
        }
    }
    None
}

/// A group of a listed gang without a channel: those are only made where the group fits.
fn fits_nowhere(spec: &Spec, cluster: &Cluster, port: PortId, group: usize) -> Option<String> {
    let list = spec.gangs.as_ref()?.list.as_ref()?;
    let ports = super::gangs::positions(spec, list).ok()?;
    let request = list[ports.iter().position(|&own| own == port.0)?].requests.as_ref()?.get(group)?;
    for (device, &asked) in request.iter().enumerate() {
        let servers = (0..cluster.servers().len()).map(ServerId::at);
        let largest = servers.filter_map(|server| Some(cluster.capacity().server(server)?[device])).max()?;
        if largest < asked {
            return Some(too_large(asked, &cluster.devices()[device], "the largest server", largest));
        }
    }
    Some(format!("no server that it may use has room for a task of {request:?}"))
}

fn too_large(asked: Amount, device: &str, what: &str, largest: Amount) -> String {
    format!("a task requests {asked} {device}, and {what} has {largest}")
}
