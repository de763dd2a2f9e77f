//! A scenario as it is written: types that mirror the TOML, with every default.

use super::gangs::GangTable;
use super::policies::{self, LabelledPolicy};
use super::set::Sweep;
use crate::model::{Amount, SupplyCost};
use crate::sim::{ArrivalSpec, CostPer, Delay, HeldSpec, SpeedSpec};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A scenario to be: every field is a key of the TOML and has its default. [`build`](Spec::build) checks it.
///
/// ```
/// use esdp::scenario::{LabelledPolicy, Spec};
///
/// let mut spec = Spec::new("small").slots(500).seeds(0, 3);
/// spec.graph.servers = 10;
/// spec.policies = vec![LabelledPolicy::named("esdp")?, LabelledPolicy::named("cts")?];
/// let scenario = spec.build()?;
/// assert_eq!((scenario.seeds(), scenario.spec().graph.ports), (&[0, 1, 2][..], 8));
///
/// let wrong = Spec::default().slots(0).build().unwrap_err();
/// assert_eq!(wrong.to_string(), "`slots` is 0, expected a whole number from 1 to 1000000000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// What it is about, in a sentence.
    pub description: String,
    /// The number of slots, *T*.
    pub slots: u64,
    /// The policies that are compared.
    #[serde(deserialize_with = "policies::later")]
    pub policies: Vec<LabelledPolicy>,
    /// The seeds.
    pub seeds: SeedTable,
    /// Ports, servers and channels.
    pub graph: GraphTable,
    /// What the scheduler is told of the servers.
    pub servers: ServerTable,
    /// What is asked for and what there is.
    pub devices: DeviceTable,
    /// Ports whose jobs are gangs, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gangs: Option<GangTable>,
    /// How long jobs last.
    pub jobs: JobTable,
    /// Supply costs.
    pub costs: CostTable,
    /// How jobs arrive.
    pub arrivals: ArrivalSpec,
    /// How fast channels are.
    pub speeds: SpeedSpec,
    /// When outcomes become known.
    pub feedback: FeedbackTable,
    /// What is varied, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

impl Default for Spec {
    fn default() -> Self {
        let policies = ["esdp", "oracle", "cts", "cucb", "esdp-paper", "hauf", "lcf", "lwtf", "random"];
        Self {
            name: "custom".to_owned(),
            description: String::new(),
            slots: 2000,
            policies: policies.map(|name| LabelledPolicy::named(name).expect("a policy of ours")).to_vec(),
            seeds: SeedTable::default(),
            graph: GraphTable::default(),
            servers: ServerTable::default(),
            devices: DeviceTable::default(),
            gangs: None,
            jobs: JobTable::default(),
            costs: CostTable::default(),
            arrivals: ArrivalSpec::default(),
            speeds: SpeedSpec::default(),
            feedback: FeedbackTable::default(),
            sweep: None,
        }
    }
}

impl Spec {
    /// The default scenario under another name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// Sets the number of slots.
    #[must_use]
    pub fn slots(self, slots: u64) -> Self {
        Self { slots, ..self }
    }

    /// Sets the seeds: so many, from the first one on.
    #[must_use]
    pub fn seeds(self, first: u64, count: u64) -> Self {
        Self { seeds: SeedTable::range(first, count), ..self }
    }

    /// Sets the policies.
    #[must_use]
    pub fn policies(self, policies: impl IntoIterator<Item = LabelledPolicy>) -> Self {
        Self { policies: policies.into_iter().collect(), ..self }
    }
}

/// Consecutive seeds, or a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedTable {
    /// The first seed; 0 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// How many; 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Instead: the seeds themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<u64>>,
}

impl SeedTable {
    /// So many seeds, from the first one on.
    pub fn range(first: u64, count: u64) -> Self {
        Self { first: Some(first), count: Some(count), list: None }
    }

    /// These seeds.
    pub fn list(seeds: impl IntoIterator<Item = u64>) -> Self {
        Self { first: None, count: None, list: Some(seeds.into_iter().collect()) }
    }
}

/// Who may run where: by probability, by number, or by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphTable {
    /// The number of ports; 8 by default.
    pub ports: u64,
    /// The number of servers; 40 by default.
    pub servers: u64,
    /// The probability with which a port may use a server; 0.1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Instead: how many channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Instead: which channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<NumberedChannel>>,
}

impl Default for GraphTable {
    fn default() -> Self {
        Self { ports: 8, servers: 40, probability: None, count: None, channels: None }
    }
}

/// A channel of an explicit list; its request is drawn if it is not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberedChannel {
    /// Its port, by position.
    pub port: u32,
    /// Its server, by position.
    pub server: u32,
    /// The task group that may use it, where its port's jobs are gangs.
    #[serde(default, skip_serializing_if = "is_first")]
    pub task: u32,
    /// What it asks for, one amount per device; drawn where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Vec<Amount>>,
}

fn is_first(task: &u32) -> bool {
    *task == 0
}

/// Whether jobs last one slot or hold their devices until they are done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobTable {
    /// Whether jobs wait, and hold their devices until they are done.
    pub held: bool,
    /// Whether a run goes on after its last slot until no job waits or runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
    /// The slots that a held job takes at full speed: drawn from this range.
    pub work: (f64, f64),
    /// The work of each port's jobs, in order, instead of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Vec<f64>>>,
}

impl JobTable {
    pub(super) fn spec(&self) -> HeldSpec {
        match &self.list {
            Some(list) => HeldSpec::Listed(Arc::new(list.clone())),
            None => HeldSpec::Drawn(self.work.0, self.work.1),
        }
    }
}

impl Default for JobTable {
    fn default() -> Self {
        Self { held: false, drain: false, work: (2.0, 6.0), list: None }
    }
}

/// What the scheduler is told of the servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerTable {
    /// Where labels come from.
    pub labels: LabelSource,
    /// The share of the servers that get their label; the others have none.
    pub labelled: f64,
    /// The labels of each server from coarse to fine, instead of `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Vec<String>>>,
    /// The servers kind by kind, with label and devices, instead of `labels` and `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ServerKind>>,
}

impl Default for ServerTable {
    fn default() -> Self {
        Self { labels: LabelSource::None, labelled: 1.0, list: None, kinds: None }
    }
}

/// Servers that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerKind {
    /// The label of each.
    pub label: String,
    /// How many there are.
    pub count: u64,
    /// What each of them has, one amount per device.
    pub capacity: Vec<Amount>,
}

impl ServerTable {
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
pub enum LabelSource {
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
pub struct DeviceTable {
    /// The number of devices, *K*; 3 by default.
    pub count: u64,
    /// What channels ask for: drawn from this range.
    pub request: (Amount, Amount),
    /// The range that each device's cluster-wide capacity is drawn from; without it servers limit alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<(Amount, Amount)>,
    /// Cluster-wide capacities instead of the range, one per device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<Amount>>,
    /// The range that each server's capacity is drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_capacity: Option<(Amount, Amount)>,
    /// What each server has instead of the range: one list per server, one amount per device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<Vec<Amount>>>,
}

impl Default for DeviceTable {
    fn default() -> Self {
        Self {
            count: 3,
            request: (1, 2),
            capacity: None,
            amounts: None,
            server_capacity: None,
            servers: None,
        }
    }
}

/// Supply costs: drawn, or one shape per device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CostTable {
    /// The mean of the drawn rates.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// What they are multiplied by.
    pub scale: f64,
    /// What they are drawn for: `"amount"` (default), one for each amount of a device, or `"channel"`, one
    /// for each channel and device.
    #[serde(skip_serializing_if = "CostPer::is_default")]
    pub per: CostPer,
    /// Instead: a cost for each device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<SupplyCost>>,
}

impl Default for CostTable {
    fn default() -> Self {
        Self { mean: 0.5, deviation: 0.1, scale: 1.0 / 15.0, per: CostPer::Amount, devices: None }
    }
}

/// When outcomes become known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackTable {
    /// After how many slots, drawn from a range; at once by default.
    pub delay: Delay,
}
