//! Scenarios: a cluster, its arrivals and speeds, policies, slots and seeds, from a TOML text.
//!
//! Everything has a default, that of the paper's Table 2 as we read it; `docs/scenario.md` has every key, and
//! [`Spec`] is the same as types:
//!
//! ```toml
//! extends = "default"     # a preset, or a file beside this one
//! slots = 2000
//! policies = ["esdp", { name = "cts", sigma = 0.2, label = "cts 0.2" }]
//!
//! [graph]
//! ports = ["bert", "resnet"]   # or a number
//! probability = 1.0
//!
//! [[servers.kinds]]       # servers that are alike: a100-0 to a100-3
//! kind = "a100"
//! labels = ["a100", "rack-1"]
//! count = 4
//!
//! [[servers.outages]]
//! server = "a100-0"
//! from = 500
//! until = 700
//!
//! [arrivals]
//! rho = { bert = 0.9, resnet = 0.4 }   # or one number for all
//!
//! [speeds]
//! law = "gamma"
//! kinds = { a100 = { bert = 0.9, resnet = 0.6 } }
//! drift = { kind = "ramp", label = "rack-1", factor = 0.5, from = 1000 }
//!
//! [sweep]                 # what a figure varies
//! key = "arrivals.rho"
//! values = "0.1..0.9:0.2"
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
//!     let mut simulation = Simulation::new(&setting, &policy.spec)?.against(&oracle);
//!     assert!(simulation.run(scenario.slots(), &mut summary)?.is_continue());
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
mod files;
mod gangs;
mod labels;
mod line;
mod names;
mod nearest;
mod out;
mod policies;
mod presets;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod servers;
mod set;
mod spec;
mod sweep;
mod warn;

pub use check::{MOST_SEEDS, MOST_SLOTS};
pub use error::{Fault, ScenarioError};
pub use files::{CellKind, FILE_KEYS, ReadFile};
pub use gangs::{GangTable, ListedGang, ListedTasks};
pub use names::{CountOrNames, NameOrPosition};
pub use nearest::nearest;
pub use policies::LabelledPolicy;
pub use presets::{SUITE, presets};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use servers::{LabelSource, ServerKind, ServerTable};
pub use spec::{
    CostTable, DeviceTable, FeedbackTable, GraphTable, JobTable, NumberedChannel, SeedTable, Spec,
};
pub use sweep::{Sweep, SweepTable, expand_range};

use crate::model::Amount;
use crate::scheduler::Objective;
use crate::sim::{Setting, SettingError, SpeedSpec};
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
    /// Reads and checks a scenario that stands alone: it may extend a preset, but names no files.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        Self::from_toml_with(text, &mut files::no_files)
    }

    /// Reads and checks a scenario with the files that it names: one that it `extends`, and rows as CSV
    /// ([`FILE_KEYS`]). `read` gets a path as it is seen from the scenario's folder.
    ///
    /// ```
    /// use esdp::scenario::Scenario;
    ///
    /// let text = "extends = \"default\"\n[graph]\ncount = 9\n[speeds]\ntable = \"speeds.csv\"";
    /// let mut read = |path: &str| match path {
    ///     "speeds.csv" => Ok("0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9\n".to_owned()),
    ///     _ => Err("there is no such file".to_owned()),
    /// };
    /// let scenario = Scenario::from_toml_with(text, &mut read)?;
    /// assert_eq!(scenario.spec().speeds.table.as_ref().unwrap()[0][8], 0.9);
    /// # Ok::<(), esdp::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn from_toml_with(text: &str, read: &mut ReadFile<'_>) -> Result<Self, ScenarioError> {
        let value = files::resolve(text, read)?;
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
    /// let larger = default.change(|spec| spec.graph.servers = 100.into())?;
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
            known.map_or_else(
                || policies::named("policies", name).map(Into::into),
                |policy| Ok(policy.clone()),
            )
        };
        let chosen: Result<Vec<_>, _> = names.into_iter().map(chosen).collect();
        self.with_policies(chosen?)
    }

    fn without_sweep_of(&self, key: &str) -> Self {
        let mut scenario = self.clone();
        scenario.spec.sweep = scenario.spec.sweep.and_then(|sweep| sweep.without(key));
        scenario
    }

    /// The same scenario, nothing varied.
    #[must_use]
    pub fn without_sweep(&self) -> Self {
        Self { spec: Spec { sweep: None, ..self.spec.clone() }, seeds: self.seeds.clone() }
    }

    /// The scenario at each value of its sweep, with the value as it is written, or with commas between the
    /// values of several keys; the scenario itself, with an empty text, where it has none.
    ///
    /// # Errors
    /// Never for a scenario that was read; the values were checked then.
    pub fn points(&self) -> Result<Vec<(String, Scenario)>, ScenarioError> {
        let mut points = vec![(String::new(), self.without_sweep())];
        for sweep in self.sweeps() {
            let mut next = Vec::with_capacity(points.len() * sweep.values.len());
            for (at, scenario) in &points {
                for value in &sweep.values {
                    let at = if at.is_empty() { value.clone() } else { format!("{at},{value}") };
                    next.push((at, scenario.set(&sweep.key, value)?));
                }
            }
            points = next;
        }
        Ok(points)
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
        self.spec.graph.servers.count()
    }

    /// Whether jobs wait and hold their devices until they are done.
    pub fn holds_devices(&self) -> bool {
        self.spec.jobs.held
    }

    /// What a slot maximises.
    pub fn objective(&self) -> Objective {
        self.spec.objective.unwrap_or(if self.spec.jobs.held { Objective::Relative } else { Objective::Sum })
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

    /// What it varies: one key after another; empty where it varies nothing.
    pub fn sweeps(&self) -> &[Sweep] {
        self.spec.sweep.as_ref().map_or(&[], SweepTable::keys)
    }

    /// Everything a run needs but the policy.
    ///
    /// # Errors
    /// When the drawn cluster is none, which a scenario that was read does not allow.
    pub fn setting(&self, seed: u64) -> Result<Setting, ScenarioError> {
        let cluster = cluster::cluster(&self.spec, seed)?;
        let Spec { arrivals, feedback, graph, jobs, servers, .. } = &self.spec;
        let kind_of_server = servers::kind_of_server(&self.spec)?;
        let speeds = SpeedSpec { kind_of_server, ..self.spec.speeds.clone() };
        let build = || {
            let mut setting = Setting::build(cluster, arrivals.clone(), &speeds, feedback.delay, seed)?;
            if jobs.held {
                let objective = self.objective();
                setting =
                    setting.with_held_jobs(jobs.spec())?.with_objective(objective).with_luck(jobs.luck)?;
            }
            if let Some(weights) = &graph.weights {
                setting = setting.with_weights(weights)?;
            }
            setting.with_outages(&servers.outages)
        };
        build().map_err(|error: SettingError| ScenarioError::other("", error))
    }
}

/// Reads and checks a scenario that stands alone, as [`Scenario::from_toml`] does.
impl std::str::FromStr for Scenario {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        Self::from_toml(text)
    }
}

impl Serialize for Scenario {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spec.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
