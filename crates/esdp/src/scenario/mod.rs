//! Scenarios: a cluster, its arrivals and speeds, policies, slots and seeds, from a TOML text.
//!
//! Everything has a default, that of the paper's Table 2 as we read it:
//!
//! ```toml
//! slots = 2000
//! policies = ["esdp", { name = "cts", sigma = 0.2, label = "cts 0.2" }]
//!
//! [seeds]
//! first = 0
//! count = 10              # or: list = [3, 14, 15]
//!
//! [graph]
//! ports = 8
//! servers = 40
//! probability = 0.1       # or: count = 32, or: channels = [{ port = 0, server = 3, request = [1, 2, 1] }]
//!
//! [servers]
//! labels = "kinds"        # what the scheduler is told of `speeds.kinds`: "none", "kinds" or "random"
//! labelled = 0.5          # the share of the servers that have a label; or: list = [["v100", "rack-1"], ...]
//! # or: kinds = [{ label = "v100", count = 20, capacity = [96, 8] }, ...], with their devices; the columns of
//! # `speeds.kinds` are then these kinds
//!
//! [devices]
//! count = 3
//! request = [1, 2]
//! capacity = [4, 8]       # of the whole cluster, drawn from this range; or: amounts = [6, 5, 8]
//! server_capacity = [2, 4] # of each server; with it alone the cluster as a whole does not limit
//! # or: servers = [[4, 2, 1], ...], one list a server
//!
//! [gangs]                 # jobs whose tasks run together or not at all
//! groups = [1, 2]         # task groups of a job; drawn for every port
//! tasks = [1, 8]          # tasks of a group
//! minimum = 1.0           # the share of its tasks that a job starts with at least
//! # or: list = [{ port = 0, minimum = 3, tasks = [4, 1] }], with `task = 1` in `graph.channels`; a group with a minimum
//! # of its own is a table: tasks = [{ count = 4, min = 2 }, { count = 1, min = 1 }]
//! # or: list = [{ port = 0, minimum = 3, tasks = [4, 1], requests = [[1, 4], [2, 0]] }, ...], with drawn channels;
//! # those on which a task does not fit are left out
//!
//! [jobs]
//! held = false            # true: jobs wait, and hold their devices until they are done
//! work = [2.0, 6.0]       # the slots a job then takes at full speed, drawn from this range
//! # or: list = [[3.0, 2.5], ...], for each port the work of its jobs in order
//!
//! [costs]
//! mean = 0.5              # or: devices = [{ kind = "linear", rate = 0.03 }, ...]
//! deviation = 0.1
//! scale = 0.0667
//! per = "amount"          # of a device; or "channel": a draw for each channel and device
//!
//! [arrivals]
//! law = "bernoulli"       # see `ArrivalSpec`
//! rho = 0.9               # or one per port
//!
//! [speeds]
//! law = "normal"          # see `SpeedSpec`
//! kinds = 4               # of servers; a server of a kind differs from others by `server_deviation`
//! drift = { kind = "switch", share = 0.35, factor = 0.4, every = 500 }
//!
//! [feedback]
//! delay = [0, 20]         # slots, or one number
//!
//! [sweep]                 # what a figure varies
//! key = "arrivals.rho"
//! values = [0.1, 0.5, 0.9]
//! ```
//!
//! Unknown keys are refused. An error is one sentence with the line, the key, its value and what is
//! accepted.
//!
//! ```
//! use esdp::scenario::Scenario;
//! use esdp::sim::{OracleTrack, Simulation, Summary};
//!
//! let scenario = Scenario::preset("default").unwrap().set("slots", "200")?;
//! let setting = scenario.setting(scenario.seeds()[0])?;
//! let oracle = OracleTrack::new(&setting, scenario.slots())?;
//! for policy in scenario.policies() {
//!     let mut summary = Summary::new(setting.cluster());
//!     Simulation::new(&setting, &policy.spec)?.against(&oracle).run(scenario.slots(), &mut summary)?;
//!     assert!(summary.oracle_ratio().unwrap() <= 1.0, "{}", policy.label);
//! }
//! let wrong = scenario.set("arrivals.rho", "1.5").unwrap_err();
//! assert_eq!(wrong.to_string(), "`arrivals.rho` is 1.5, expected a number from 0 to 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod check;
mod cluster;
mod error;
mod gangs;
mod labels;
mod line;
mod policies;
mod presets;
mod read;
mod set;
mod spec;

pub use check::{MOST_SEEDS, MOST_SLOTS};
pub use error::{Fault, ScenarioError};
pub use gangs::{GangTable, ListedGang, ListedTasks};
pub use policies::LabelledPolicy;
pub use presets::{SUITE, presets};
pub use set::Sweep;
pub use spec::{
    CostTable, DeviceTable, FeedbackTable, GraphTable, JobTable, LabelSource, NumberedChannel, SeedTable,
    ServerKind, ServerTable, Spec,
};

use crate::model::Amount;
use crate::sim::{Setting, SpeedSpec};
use serde::Serialize;
use toml::Value;

/// The probability of a channel by default: Table 2.
const EDGE_PROBABILITY: f64 = 0.1;
/// The range of cluster-wide capacities where nothing is told of capacities: Table 2 as we read it.
const CAPACITY: (Amount, Amount) = (4, 8);
/// The number of seeds where none is told.
const SEEDS: u64 = 10;
/// A validated scenario. Serialises as the resolved TOML does.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// With every default written out.
    spec: Spec,
    seeds: Vec<u64>,
}

impl Scenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let value = toml::from_str::<Value>(text).map_err(|error| ScenarioError {
            key: String::new(),
            line: error.span().map(|span| line::line_at(text, span.start)),
            fault: Fault::Syntax(read::syntax(text, &error)),
        })?;
        Self::from_value(value).map_err(|error| {
            let line = line::line_of(text, &error.key);
            ScenarioError { line, ..error }
        })
    }

    /// The resolved scenario: every default written out. Reads back as the same scenario.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.value()).expect("a TOML value can be written")
    }

    /// A preset by its name; see [`presets()`].
    pub fn preset(name: &str) -> Option<Self> {
        let text = presets().iter().find(|preset| preset.0 == name)?.1;
        Self::from_toml(text).ok()
    }

    /// The same scenario with another value at a dotted key, checked again. The value is written as in TOML;
    /// a text needs no quotes, and `policies` takes names with commas between them. For keys that come as
    /// text; a program that knows what it changes calls [`change`](Scenario::change).
    ///
    /// A sweep ends where it starts: its key is set, the sweep itself is dropped.
    ///
    /// # Errors
    /// When there is no such key or the value is not accepted.
    pub fn set(&self, key: &str, value: &str) -> Result<Self, ScenarioError> {
        let mut root = self.without_sweep_of(key).value();
        set::put(&mut root, key, set::parse(key, value))?;
        Self::from_value(root)
    }

    /// The same scenario with what a function changes, checked again.
    ///
    /// ```
    /// use esdp::scenario::Scenario;
    ///
    /// let default = Scenario::preset("default").unwrap();
    /// let larger = default.change(|spec| spec.graph.servers = 100)?;
    /// assert_eq!(larger.servers(), 100);
    /// # Ok::<(), esdp::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// When the changed scenario is not accepted.
    pub fn change(&self, change: impl FnOnce(&mut Spec)) -> Result<Self, ScenarioError> {
        let mut spec = self.spec.clone();
        change(&mut spec);
        spec.build()
    }

    /// The same scenario with another number of slots; a sweep over it is dropped.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn with_slots(&self, slots: u64) -> Result<Self, ScenarioError> {
        self.without_sweep_of("slots").change(|spec| spec.slots = slots)
    }

    /// The same scenario with so many seeds, from the first one it has; from 0 where it has a list.
    ///
    /// # Errors
    /// When they are too many, or none.
    pub fn with_seed_count(&self, count: u64) -> Result<Self, ScenarioError> {
        let first = self.spec.seeds.first.unwrap_or_default();
        self.without_sweep_of("seeds.count").change(|spec| spec.seeds = SeedTable::range(first, count))
    }

    /// The same scenario with other seeds, as many as it has, from this one on; the default number where it
    /// has a list.
    ///
    /// # Errors
    /// When the seed is too large.
    pub fn with_first_seed(&self, first: u64) -> Result<Self, ScenarioError> {
        let count = self.spec.seeds.count.unwrap_or(SEEDS);
        self.without_sweep_of("seeds.first").change(|spec| spec.seeds = SeedTable::range(first, count))
    }

    /// The same scenario with other policies.
    ///
    /// # Errors
    /// When there are none, a parameter is out of range, or two have the same label.
    pub fn with_policies(&self, policies: Vec<LabelledPolicy>) -> Result<Self, ScenarioError> {
        self.without_sweep_of("policies").change(|spec| spec.policies = policies)
    }

    /// The same scenario with these policies: its own by their label, with their parameters; any other by its
    /// name.
    ///
    /// # Errors
    /// When a name is unknown, or comes twice.
    pub fn choose<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, ScenarioError> {
        let chosen = |name: &str| {
            let known = self.policies().iter().find(|policy| policy.label == name);
            known.map_or_else(|| LabelledPolicy::named(name), |policy| Ok(policy.clone()))
        };
        let chosen: Result<Vec<_>, _> = names.into_iter().map(chosen).collect();
        self.with_policies(chosen.map_err(|error| ScenarioError::other("policies", error))?)
    }

    fn without_sweep_of(&self, key: &str) -> Self {
        let mut scenario = self.clone();
        scenario.spec.sweep = scenario.spec.sweep.filter(|sweep| sweep.key != key);
        scenario
    }

    /// The scenario at each value of its sweep, with the value as it is written; the scenario
    /// itself, with an empty text, where it has none.
    ///
    /// # Errors
    /// Never for a scenario that was read; the values were checked then.
    pub fn points(&self) -> Result<Vec<(String, Scenario)>, ScenarioError> {
        match &self.spec.sweep {
            None => Ok(vec![(String::new(), self.clone())]),
            Some(sweep) => {
                sweep.values.iter().map(|value| Ok((value.clone(), self.set(&sweep.key, value)?))).collect()
            }
        }
    }

    fn value(&self) -> Value {
        Value::try_from(&self.spec).expect("what was read from TOML can be written as TOML")
    }

    /// Everything it says, with every default written out.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What it is about, in a sentence; may be empty.
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The number of slots, *T*.
    pub fn slots(&self) -> u64 {
        self.spec.slots
    }

    /// The number of servers, *|R|*.
    pub fn servers(&self) -> u64 {
        self.spec.graph.servers
    }

    /// Whether jobs wait and hold their devices until they are done.
    pub fn holds_devices(&self) -> bool {
        self.spec.jobs.held
    }

    /// Whether a run goes on after its last slot until no job waits or runs.
    pub fn drains(&self) -> bool {
        self.spec.jobs.held && self.spec.jobs.drain
    }

    /// The seeds.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The policies.
    pub fn policies(&self) -> &[LabelledPolicy] {
        &self.spec.policies
    }

    /// What it varies, if it varies something.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.spec.sweep.as_ref()
    }

    /// Everything a run needs but the policy.
    ///
    /// # Errors
    /// When the drawn cluster is none, which a scenario that was read does not allow.
    pub fn setting(&self, seed: u64) -> Result<Setting, ScenarioError> {
        let cluster = cluster::cluster(&self.spec, seed)?;
        let Spec { arrivals, feedback, jobs, servers, .. } = &self.spec;
        let speeds = SpeedSpec { kind_of_server: servers.kind_of_server(), ..self.spec.speeds.clone() };
        let setting = Setting::build(cluster, arrivals.clone(), &speeds, feedback.delay, seed);
        let setting = match jobs.held {
            true => setting.and_then(|setting| setting.with_held_jobs(jobs.spec())),
            false => setting,
        };
        setting.map_err(|error| ScenarioError::other("", error))
    }
}

impl Serialize for Scenario {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spec.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
