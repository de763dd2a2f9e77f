//! Which channels are alike: a tree of groups, from all channels down to (port, labels of the server).
//!
//! ```text
//! everything - port - first label of the server - second label - ... - channel
//! ```
//!
//! The jobs of a gang have several groups of tasks, which may differ as much as ports do: then a group of tasks
//! takes the port's place. Servers that lack a label where others have one form a group of their own,
//! since less is known of them and they differ more.

use crate::model::{ChannelId, Cluster};
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
pub(super) struct Place {
    /// The smallest group it is in.
    pub(super) group: u32,
    /// Its server.
    pub(super) server: u32,
    /// Its supply cost: what is shared is the speed, and the cost of each channel is known.
    pub(super) cost: f64,
}

/// The groups of a cluster, and where each channel is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) places: Vec<Place>,
    pub(super) levels: usize,
    pub(super) servers: usize,
}

impl Tree {
    /// The tree of a cluster, with or without its labels.
    pub(super) fn new(cluster: &Cluster, labelled: bool) -> Self {
        let labels = |server| if labelled { cluster.labels(server) } else { &[] };
        let depth = cluster.channels().iter().map(|channel| labels(channel.server).len()).max().unwrap_or(0);
        let mut groups = vec![Group { parent: 0, level: 0, name: "everything".to_owned() }];
        let mut known: HashMap<(usize, String), usize> = HashMap::new();
        let mut levels = 1;
        let mut child = |parent: usize, name: String| {
            let next = groups.len();
            let found = *known.entry((parent, name.clone())).or_insert(next);
            if found == next {
                let level = groups[parent].level + 1;
                groups.push(Group { parent, level, name });
                levels = levels.max(level + 1);
            }
            found
        };
        let mut places = Vec::with_capacity(cluster.channels().len());
        for (index, channel) in cluster.channels().iter().enumerate() {
            let id = ChannelId::at(index);
            let port = &cluster.ports()[channel.port.index()];
            let family = match cluster.is_gang(channel.port) {
                true => format!("{port}, tasks {}", cluster.group_name(cluster.task_group(id))),
                false => port.clone(),
            };
            let mut group = child(0, family);
            let own = labels(channel.server);
            for label in own {
                group = child(group, label.clone());
            }
            if own.len() < depth {
                group = child(group, UNLABELLED.to_owned());
            }
            places.push(Place { group: group as u32, server: channel.server.0, cost: cluster.cost(id) });
        }
        Self { groups, places, levels, servers: cluster.servers().len() }
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
