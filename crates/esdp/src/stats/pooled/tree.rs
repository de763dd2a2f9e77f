//! Which channels are alike: a tree of groups, from all channels down to (port, labels of the server).
//!
//! ```text
//! everything - port - first label of the server - second label - ... - channel
//! ```
//!
//! The jobs of a gang have several groups of tasks, which may differ as much as ports do: then a group of
//! tasks takes the port's place. Servers that lack a label where others have one form a group of their own,
//! since less is known of them and they differ more.

use crate::model::{ChannelId, Cluster, PortId};
use std::collections::HashMap;

/// The label of servers that have none where others do.
const UNLABELLED: &str = "(no label)";

/// A group of channels. Group 0 is everything; a parent comes before its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The group it is part of; itself for group 0.
    pub(super) parent: usize,
    /// The distance from group 0.
    pub(super) level: usize,
    /// What tells it from its siblings.
    pub(super) name: String,
}

/// A channel's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::stats) struct Place {
    /// The smallest group it is in.
    pub(super) group: u32,
    /// Its server.
    pub(in crate::stats) server: u32,
    /// Its supply cost: what is shared is the speed, and the cost of each channel is known.
    pub(in crate::stats) cost: f64,
}

/// The groups of a cluster, and where each channel is.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::stats) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(in crate::stats) places: Vec<Place>,
    pub(super) levels: usize,
    pub(in crate::stats) servers: usize,
    /// The servers that have channels.
    pub(in crate::stats) present: usize,
}

impl Tree {
    /// The tree of a cluster, with or without its labels.
    pub(in crate::stats) fn new(cluster: &Cluster, labelled: bool) -> Self {
        let labels = |server| if labelled { cluster.labels(server) } else { &[] };
        let depth = cluster.channels().iter().map(|channel| labels(channel.server).len()).max().unwrap_or(0);
        let mut groups = vec![Group { parent: 0, level: 0, name: "everything".to_owned() }];
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        let mut levels = 1;
        let mut child = |parent: usize, name: &str| {
            let level = groups[parent].level + 1;
            groups.push(Group { parent, level, name: name.to_owned() });
            levels = levels.max(level + 1);
            groups.len() - 1
        };
        // A large cluster has far more channels than families: names are put together once for each of these.
        let mut families: HashMap<(PortId, Option<usize>), usize> = HashMap::new();
        let mut places = Vec::with_capacity(cluster.channels().len());
        for (index, channel) in cluster.channels().iter().enumerate() {
            let id = ChannelId::at(index);
            let port = &cluster.ports()[channel.port.index()];
            let tasks = cluster.is_gang(channel.port).then(|| cluster.task_group(id));
            let family = families.entry((channel.port, tasks)).or_insert_with(|| match tasks {
                Some(tasks) => child(0, &format!("{port}, tasks {}", cluster.group_name(tasks))),
                None => child(0, port),
            });
            let own = labels(channel.server);
            let unlabelled = (own.len() < depth).then_some(UNLABELLED);
            let group = own.iter().map(String::as_str).chain(unlabelled).fold(*family, |group, label| {
                *known.entry((group, label)).or_insert_with(|| child(group, label))
            });
            places.push(Place { group: group as u32, server: channel.server.0, cost: cluster.cost(id) });
        }
        let mut has_channels = vec![false; cluster.servers().len()];
        places.iter().for_each(|place: &Place| has_channels[place.server as usize] = true);
        let present = has_channels.iter().filter(|has| **has).count();
        Self { groups, places, levels, servers: has_channels.len(), present }
    }

    /// The names from the port down to a group; empty for group 0.
    pub(super) fn path(&self, group: usize) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = group;
        while at != 0 {
            path.push(self.groups[at].name.clone());
            at = self.groups[at].parent;
        }
        path.reverse();
        path
    }
}
