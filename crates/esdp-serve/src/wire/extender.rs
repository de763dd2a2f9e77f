//! The wire format of kube-scheduler's HTTP extender, as far as Prioritize needs it. Go writes the names of
//! its fields with a capital and reads them in any case; both spellings are read here.

use serde::{Deserialize, Serialize};

/// The highest score of an extender.
pub const MOST_PRIORITY: f64 = 10.0;
/// The label, or annotation, of a pod that names its port.
pub const PORT_LABEL: &str = "esdp.dev/port";

/// What kube-scheduler asks.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ExtenderArgs {
    /// The pod.
    #[serde(rename = "Pod", alias = "pod")]
    pub pod: Option<Pod>,
    /// The nodes, if the extender is not `nodeCacheCapable`.
    #[serde(rename = "Nodes", alias = "nodes")]
    pub nodes: Option<NodeList>,
    /// Their names, if it is.
    #[serde(rename = "NodeNames", alias = "nodenames", alias = "nodeNames")]
    pub node_names: Option<Vec<String>>,
}

/// A pod, as far as we look.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Its metadata.
    pub metadata: Metadata,
}

/// A list of nodes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct NodeList {
    /// The nodes.
    #[serde(alias = "Items")]
    pub items: Vec<Pod>,
}

/// Names and labels.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The name.
    pub name: String,
    /// The labels.
    pub labels: std::collections::BTreeMap<String, String>,
    /// The annotations.
    pub annotations: std::collections::BTreeMap<String, String>,
}

/// A node's score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostPriority {
    /// The node.
    #[serde(rename = "Host")]
    pub host: String,
    /// From 0 to 10.
    #[serde(rename = "Score")]
    pub score: i64,
}

impl ExtenderArgs {
    /// The port that the pod names.
    pub fn port(&self) -> Option<&str> {
        let metadata = &self.pod.as_ref()?.metadata;
        let named = metadata.labels.get(PORT_LABEL).or_else(|| metadata.annotations.get(PORT_LABEL));
        named.map(String::as_str)
    }

    /// The nodes to be scored.
    pub fn hosts(&self) -> Vec<String> {
        let names = self.node_names.iter().flatten().cloned();
        let nodes = self.nodes.iter().flat_map(|nodes| &nodes.items).map(|node| node.metadata.name.clone());
        names.chain(nodes).collect()
    }
}
