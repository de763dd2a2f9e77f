//! A scenario as it is written: types that mirror the TOML, with every default.

use super::gangs::Gangs;
use crate::model::{Amount, SupplyCost};
use crate::sim::{ArrivalSpec, Delay, HeldSpec, SpeedSpec};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use toml::Value;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) slots: u64,
    /// Names, or tables of a name, parameters and a label.
    pub(super) policies: Vec<Value>,
    pub(super) seeds: Seeds,
    pub(super) graph: Graph,
    pub(super) servers: Servers,
    pub(super) devices: Devices,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gangs: Option<Gangs>,
    pub(super) jobs: Jobs,
    pub(super) costs: Costs,
    pub(super) arrivals: ArrivalSpec,
    pub(super) speeds: SpeedSpec,
    pub(super) feedback: Feedback,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sweep: Option<Sweep>,
}

impl Default for Raw {
    fn default() -> Self {
        let policies = ["esdp", "oracle", "cts", "cucb", "esdp-paper", "hauf", "lcf", "lwtf", "random"];
        Self {
            name: "custom".to_owned(),
            description: String::new(),
            slots: 2000,
            policies: policies.into_iter().map(Value::from).collect(),
            seeds: Seeds::default(),
            graph: Graph::default(),
            servers: Servers::default(),
            devices: Devices::default(),
            gangs: None,
            jobs: Jobs::default(),
            costs: Costs::default(),
            arrivals: ArrivalSpec::default(),
            speeds: SpeedSpec::default(),
            feedback: Feedback::default(),
            sweep: None,
        }
    }
}

/// Consecutive seeds, or a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Seeds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) list: Option<Vec<u64>>,
}

/// Who may run where: by probability, by number, or by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Graph {
    pub(super) ports: u64,
    pub(super) servers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channels: Option<Vec<Channel>>,
}

impl Default for Graph {
    fn default() -> Self {
        Self { ports: 8, servers: 40, probability: None, count: None, channels: None }
    }
}

/// A channel of an explicit list; its request is drawn if it is not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channel {
    pub(super) port: u32,
    pub(super) server: u32,
    /// The task group that may use it, where its port's jobs are gangs.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) task: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<Vec<Amount>>,
}

fn is_first(task: &u32) -> bool {
    *task == 0
}

/// Whether jobs last one slot or hold their devices until they are done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Jobs {
    pub(super) held: bool,
    pub(super) work: (f64, f64),
    /// The work of each port's jobs, in order, instead of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) list: Option<Vec<Vec<f64>>>,
}

impl Jobs {
    pub(super) fn spec(&self) -> HeldSpec {
        match &self.list {
            Some(list) => HeldSpec::Listed(Arc::new(list.clone())),
            None => HeldSpec::Drawn(self.work.0, self.work.1),
        }
    }
}

impl Default for Jobs {
    fn default() -> Self {
        Self { held: false, work: (2.0, 6.0), list: None }
    }
}

/// What the scheduler is told of the servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Servers {
    pub(super) labels: Labels,
    /// The share of the servers that get their label; the others have none.
    pub(super) labelled: f64,
    /// The labels of each server from coarse to fine, instead of `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) list: Option<Vec<Vec<String>>>,
    /// The servers kind by kind, with label and devices, instead of `labels` and `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kinds: Option<Vec<ServerKind>>,
}

impl Default for Servers {
    fn default() -> Self {
        Self { labels: Labels::None, labelled: 1.0, list: None, kinds: None }
    }
}

/// Servers that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerKind {
    pub(super) label: String,
    pub(super) count: u64,
    /// What each of them has, one amount a device.
    pub(super) capacity: Vec<Amount>,
}

impl Servers {
    /// The position in `kinds` of each server's kind.
    pub(super) fn kind_of_server(&self) -> Option<Vec<usize>> {
        let each = |(kind, of): (usize, &ServerKind)| std::iter::repeat_n(kind, of.count as usize);
        self.kinds.as_ref().map(|kinds| kinds.iter().enumerate().flat_map(each).collect())
    }

    /// What each server has, by its kind.
    pub(super) fn capacities(&self) -> Option<Vec<Vec<Amount>>> {
        let kinds = self.kinds.as_ref()?;
        Some(self.kind_of_server()?.into_iter().map(|kind| kinds[kind].capacity.clone()).collect())
    }
}

/// Where the labels of servers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Labels {
    /// There are none.
    None,
    /// Each server is labelled with its kind, `speeds.kinds`.
    Kinds,
    /// As many different labels as there are kinds, but they mean nothing.
    Random,
}

/// What is asked for and what there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Devices {
    pub(super) count: u64,
    pub(super) request: (Amount, Amount),
    /// The range that each device's cluster-wide capacity is drawn from; without it servers limit alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) capacity: Option<(Amount, Amount)>,
    /// Cluster-wide capacities instead of the range, one a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) amounts: Option<Vec<Amount>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_capacity: Option<(Amount, Amount)>,
    /// What each server has instead of the range: one list a server, one amount a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) servers: Option<Vec<Vec<Amount>>>,
}

impl Default for Devices {
    fn default() -> Self {
        Self { count: 3, request: (1, 2), capacity: None, amounts: None, server_capacity: None, servers: None }
    }
}

/// Supply costs: drawn, or one shape a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Costs {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) scale: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) devices: Option<Vec<SupplyCost>>,
}

impl Default for Costs {
    fn default() -> Self {
        Self { mean: 0.5, deviation: 0.1, scale: 1.0 / 15.0, devices: None }
    }
}

/// When outcomes become known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Feedback {
    pub(super) delay: Delay,
}

/// What a figure varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    pub(super) key: String,
    pub(super) values: Vec<Value>,
}
