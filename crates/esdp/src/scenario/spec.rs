//! A scenario as it is written: types that mirror the TOML, with every default.

use super::gangs::GangTable;
use super::names::{CountOrNames, NameOrPosition};
use super::policies::{self, LabelledPolicy};
use super::servers::ServerTable;
use super::sweep::SweepTable;
use crate::model::{Amount, SupplyCost};
use crate::scheduler::Objective;
use crate::sim::{ArrivalSpec, CostPer, Delay, HeldSpec, Rates, SpeedSpec};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A scenario to be: every field is a key of the TOML and has its default. [`build`](Spec::build) checks it.
///
/// ```
/// use esdp::scenario::{LabelledPolicy, Spec};
///
/// let mut spec = Spec::new("small").slots(500).seeds(0, 3);
/// spec.graph.servers = 10.into();
/// spec.policies = vec![LabelledPolicy::named("esdp")?, LabelledPolicy::named("cts")?];
/// let scenario = spec.build()?;
/// assert_eq!((scenario.seeds(), scenario.spec().graph.ports.count()), (&[0, 1, 2][..], 8));
///
/// let wrong = Spec::default().slots(0).build().unwrap_err();
/// assert_eq!(wrong.to_string(), "`slots` is 0, expected a whole number from 1 to 1000000000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The version of the format, 1; may be left out.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1, "default" = 1)))]
    pub version: Option<u64>,
    /// The scenario that this one changes: the name of a preset, or the path of a file beside this one.
    /// Tables are merged key by key, lists and values replace what is there; the name and the description are
    /// not inherited. Only in a text: what was read has it merged in. Default: none.
    #[serde(skip_serializing)]
    pub extends: Option<String>,
    /// Its name.
    pub name: String,
    /// What it is about, in a sentence.
    pub description: String,
    /// The number of slots, *T*.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 1, "maximum" = super::check::MOST_SLOTS, "x-unit" = "slots"))
    )]
    pub slots: u64,
    /// What a slot maximises: `"sum"`, the paper's sum of net utilities, or `"relative"`, the rule for
    /// queues, which needs `jobs.held`. Default: `"relative"` if `jobs.held`, else `"sum"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// The policies that are compared.
    #[serde(deserialize_with = "policies::later")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = super::schema::default_policies())))]
    pub policies: Vec<LabelledPolicy>,
    /// The seeds.
    pub seeds: SeedTable,
    /// Ports, servers and channels.
    pub graph: GraphTable,
    /// The servers, and what the scheduler is told of them.
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
    /// What is varied, if anything is: a table with `key` and `values`, or a list of such tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepTable>,
}

impl Default for Spec {
    fn default() -> Self {
        let policies = ["esdp", "oracle", "cts", "cucb", "esdp-paper", "hauf", "lcf", "lwtf", "random"];
        Self {
            version: None,
            extends: None,
            name: "custom".to_owned(),
            description: String::new(),
            slots: 2000,
            objective: None,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SeedTable {
    /// The first seed; 0 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = i64::MAX - 100_000, "default" = 0))
    )]
    pub first: Option<u64>,
    /// How many; 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 1, "maximum" = super::check::MOST_SEEDS, "default" = super::SEEDS))
    )]
    pub count: Option<u64>,
    /// Instead: the seeds themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = super::check::MOST_SEEDS)))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GraphTable {
    /// The ports, that is the types of jobs: their number, 1 to 100,000, or their names. Default: 8.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = super::check::MOST_PORTS)))]
    pub ports: CountOrNames,
    /// The servers: their number, 1 to 1,000,000, or their names. Default: 40, or what `servers.kinds` lists.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = super::check::MOST_SERVERS)))]
    pub servers: CountOrNames,
    /// The probability with which a port may use a server; 0.1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = 1, "default" = super::EDGE_PROBABILITY))
    )]
    pub probability: Option<f64>,
    /// Instead: how many channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minimum" = 1,
            "maximum" = super::check::MOST_CHANNELS,
            "x-range" = "from `ports` to `ports` times `servers`"
        ))
    )]
    pub count: Option<u64>,
    /// Instead: which channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<NumberedChannel>>,
    /// How much the utility of each port counts in decisions, the oracle's included: one number per port, a
    /// list or a table by port, each from 1e-6 to 1e6. Policies that learn, `hauf` and the oracle weigh by
    /// it, the others do not. AOU, regret and all other results are unweighted, so that a ratio to the oracle
    /// may exceed 1. Default: all count 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-6, "maximum" = 1e6)))]
    pub weights: Option<Rates>,
}

impl Default for GraphTable {
    fn default() -> Self {
        Self {
            ports: 8.into(),
            servers: 40.into(),
            probability: None,
            count: None,
            channels: None,
            weights: None,
        }
    }
}

/// A channel of an explicit list; its request is drawn if it is not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NumberedChannel {
    /// Its port, by name or by position from 0.
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "a name, or below the number of ports")))]
    pub port: NameOrPosition,
    /// Its server, by name or by position from 0.
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "a name, or below the number of servers")))]
    pub server: NameOrPosition,
    /// The task group that may use it, where its port's jobs are gangs.
    #[serde(default, skip_serializing_if = "is_first")]
    #[cfg_attr(feature = "schema", schemars(extend("x-range" = "below the number of the gang's groups")))]
    pub task: u32,
    /// What it asks for, one amount per device; drawn where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 100000, "x-unit" = "devices")))]
    pub request: Option<Vec<Amount>>,
}

fn is_first(task: &u32) -> bool {
    *task == 0
}

/// Whether jobs last one slot or hold their devices until they are done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct JobTable {
    /// Whether jobs wait, and hold their devices until they are done.
    pub held: bool,
    /// Whether a run goes on after its last slot until no job waits or runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub drain: bool,
    /// The slots that a held job takes at full speed: drawn from this range.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-9, "maximum" = 1e9, "x-unit" = "slots")))]
    pub work: (f64, f64),
    /// The work of each port's jobs, in order, instead of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-9, "maximum" = 1e9, "x-unit" = "slots")))]
    pub list: Option<Vec<Vec<f64>>>,
    /// How far what a held job reports is from how fast it ran, by luck of its own: the coefficient of
    /// variation of a factor (default: 0).
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 5, "default" = 0)))]
    pub luck: f64,
}

fn is_zero(luck: &f64) -> bool {
    *luck == 0.0
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
        Self { held: false, drain: false, work: (2.0, 6.0), list: None, luck: 0.0 }
    }
}

/// What is asked for and what there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DeviceTable {
    /// The number of devices, *K*, 1 to 64. Default: 3, or as many as there are `names`.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = super::check::MOST_DEVICES)))]
    pub count: u64,
    /// The names of the devices, one for each. Default: `device-0`, `device-1`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// What channels ask for: drawn from this range.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 100000, "x-unit" = "devices")))]
    pub request: (Amount, Amount),
    /// The range that each device's cluster-wide capacity is drawn from; without it servers limit alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minimum" = 1,
            "maximum" = super::check::LARGEST_CAPACITY,
            "x-unit" = "devices",
            "default" = super::CAPACITY
        ))
    )]
    pub capacity: Option<(Amount, Amount)>,
    /// Cluster-wide capacities instead of the range, one per device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 1, "maximum" = super::check::LARGEST_CAPACITY, "x-unit" = "devices"))
    )]
    pub amounts: Option<Vec<Amount>>,
    /// The range that each server's capacity is drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 1, "maximum" = super::check::LARGEST_CAPACITY, "x-unit" = "devices"))
    )]
    pub server_capacity: Option<(Amount, Amount)>,
    /// What each server has instead of the range: one list per server, one amount per device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = super::check::LARGEST_CAPACITY, "x-unit" = "devices"))
    )]
    pub servers: Option<Vec<Vec<Amount>>>,
}

impl Default for DeviceTable {
    fn default() -> Self {
        Self {
            count: 3,
            names: None,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CostTable {
    /// The mean of the drawn rates.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e9, "x-unit" = "utility")))]
    pub mean: f64,
    /// Their standard deviation.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e9, "x-unit" = "utility")))]
    pub deviation: f64,
    /// What they are multiplied by.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e9)))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackTable {
    /// After how many slots, drawn from a range; at once by default.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = crate::sim::LONGEST_DELAY, "x-unit" = "slots"))
    )]
    pub delay: Delay,
}
