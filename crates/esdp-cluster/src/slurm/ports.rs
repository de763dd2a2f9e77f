//! Job types: which port a job belongs to, and the cluster as the core sees it.
//!
//! A port is what requests the same on each of the same number of nodes, under the name of the rule that
//! fits, if one does: `train 2n cpu:4 gpu:1`. A job has one task per node. Two tasks of a job on one node
//! would be one node too few, and the core does not know of nodes: so tasks of multi-node jobs also request a
//! *seat*, of which every node gives out one per decision.

use super::config::{Config, TypeRule, fits};
use super::job::SlurmJob;
use super::node::SlurmNode;
use esdp::model::{
    Amounts, ChannelRule, ClusterDescription, JobShape, ListedChannel, Pace, PortSpec, ServerSpec,
    TaskGroupSpec,
};
use std::collections::{BTreeMap, BTreeSet};

/// The device that keeps tasks of a job apart.
pub const SEAT: &str = "seat";
/// As many seats as jobs may ever run on a node at a time.
const SEATS: u64 = 1 << 20;
/// The name of the tasks of a job, one on each node.
pub const GROUP: &str = "node";
/// The most job types at a time; the types without jobs leave first.
const MOST_PORTS: usize = 256;

/// The job types seen so far.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    ports: BTreeMap<String, PortSpec>,
}

/// The rule that fits a job.
pub fn rule<'a>(config: &'a Config, job: &SlurmJob) -> Option<&'a TypeRule> {
    let like =
        |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|pattern| fits(pattern, text));
    config.port.iter().find(|rule| {
        like(&rule.job, &job.name)
            && like(&rule.account, &job.account)
            && like(&rule.user, &job.user)
            && rule.gres.as_ref().is_none_or(|device| job.request.contains_key(device))
            && rule.nodes.is_none_or(|nodes| nodes == job.node_count)
    })
}

/// The name of a job's port.
pub fn name(config: &Config, job: &SlurmJob) -> String {
    let mut name = rule(config, job).map_or_else(String::new, |rule| format!("{} ", rule.name));
    name.push_str(&format!("{}n", job.node_count));
    if job.exclusive {
        name.push_str(" exclusive");
    } else {
        job.request.iter().for_each(|(device, amount)| name.push_str(&format!(" {device}:{amount}")));
    }
    if !job.features.is_empty() {
        name.push_str(&format!(" {}", job.features));
    }
    // Names over the wire are limited, and so are those of ours.
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The nodes that could hold a task of a job if they were empty, in order.
pub fn eligible<'a>(job: &SlurmJob, nodes: &'a [SlurmNode]) -> Vec<&'a SlurmNode> {
    let wanted: Vec<&str> = job.features.split('&').map(str::trim).filter(|word| !word.is_empty()).collect();
    let fits = |node: &&SlurmNode| {
        wanted.iter().all(|feature| node.features.iter().any(|has| has == feature))
            && (job.exclusive || holds(&node.capacity, &job.request))
    };
    nodes.iter().filter(fits).collect()
}

fn holds(capacity: &Amounts, request: &Amounts) -> bool {
    request.iter().all(|(device, amount)| capacity.get(device).is_some_and(|has| has >= amount))
}

/// What a job requests of a node.
pub fn request(job: &SlurmJob, node: &SlurmNode) -> Amounts {
    let mut request = if job.exclusive { node.capacity.clone() } else { job.request.clone() };
    if job.node_count > 1 {
        request.insert(SEAT.to_owned(), 1);
    }
    request
}

impl Ports {
    /// The job types that the core knows already.
    pub fn known(described: &ClusterDescription) -> Self {
        Self { ports: described.ports.iter().map(|port| (port.name.clone(), port.clone())).collect() }
    }

    /// Takes the type of a job, under its name.
    pub fn add(&mut self, name: &str, job: &SlurmJob, nodes: &[SlurmNode]) {
        let eligible = eligible(job, nodes);
        let Some(first) = eligible.first() else { return };
        let names = || eligible.iter().map(|node| node.name.clone());
        let channels = match (job.exclusive, eligible.len() == nodes.len()) {
            (true, _) => {
                let channel = |node: &&SlurmNode| ListedChannel {
                    server: node.name.clone(),
                    group: GROUP.to_owned(),
                    request: request(job, node),
                };
                ChannelRule::Listed(eligible.iter().map(channel).collect())
            }
            (false, true) => ChannelRule::All,
            (false, false) => ChannelRule::Servers(names().collect()),
        };
        let count = job.node_count;
        let group = TaskGroupSpec { name: GROUP.to_owned(), count, minimum: 0, request: request(job, first) };
        let jobs = JobShape::Gang { minimum: count, groups: vec![group] };
        // Nodes of a job wait for each other; one that does not is no slower for it.
        let pace = Pace::Slowest { crossing: 1.0 };
        let port = PortSpec { pace, channels, ..PortSpec::new(name, jobs) };
        self.ports.insert(name.to_owned(), port);
    }

    /// Keeps the types that have jobs, and as many of the others as there is room for.
    pub fn tidy(&mut self, busy: &BTreeSet<String>) {
        let mut room = MOST_PORTS.saturating_sub(busy.len());
        self.ports.retain(|name, _| {
            let idle = !busy.contains(name);
            let kept = !idle || room > 0;
            room -= usize::from(idle && kept);
            kept
        });
    }

    /// Whether a type is known.
    pub fn has(&self, name: &str) -> bool {
        self.ports.contains_key(name)
    }

    /// Whether no job was seen yet.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// The cluster for the core.
    pub fn describe(&self, nodes: &[SlurmNode]) -> ClusterDescription {
        let devices: BTreeSet<&str> =
            nodes.iter().flat_map(|node| node.capacity.keys()).map(String::as_str).collect();
        let server = |node: &SlurmNode| {
            let mut capacity = node.capacity.clone();
            capacity.insert(SEAT.to_owned(), SEATS);
            ServerSpec {
                name: node.name.clone(),
                labels: node.features.iter().take(4).cloned().collect(),
                capacity: Some(capacity),
            }
        };
        let there: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let mut ports: Vec<PortSpec> = self.ports.values().cloned().collect();
        for port in &mut ports {
            match &mut port.channels {
                ChannelRule::Servers(servers) => servers.retain(|server| there.contains(server.as_str())),
                ChannelRule::Listed(listed) => {
                    listed.retain(|channel| there.contains(channel.server.as_str()))
                }
                _ => {}
            }
        }
        ClusterDescription {
            devices: devices.into_iter().map(str::to_owned).chain([SEAT.to_owned()]).collect(),
            servers: nodes.iter().map(server).collect(),
            ports,
            ..ClusterDescription::default()
        }
    }
}
