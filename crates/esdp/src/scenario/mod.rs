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
//!
//! [arrivals]
//! law = "bernoulli"       # see `ArrivalSpec`
//! rho = 0.9               # or one a port
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

mod check;
mod error;
mod gangs;
mod labels;
mod line;
mod policies;
mod presets;
mod raw;
mod read;
mod sweep;

pub use check::{MOST_SEEDS, MOST_SLOTS};
pub use error::{Fault, ScenarioError};
pub use policies::LabelledPolicy;
pub use presets::{SUITE, presets};
pub use sweep::Sweep;

use crate::model::Amount;
use crate::sim::{Setting, SpeedSpec};
use raw::Raw;
use serde::Serialize;
use toml::Value;

/// The probability of a channel where none is told: Table 2.
const EDGE_PROBABILITY: f64 = 0.1;
/// The range of cluster-wide capacities where nothing is told of capacities: Table 2 as we read it.
const CAPACITY: (Amount, Amount) = (4, 8);
/// The number of seeds where none is told.
const SEEDS: u64 = 10;
/// The most values of a sweep.
const MOST_VALUES: usize = 10_000;

/// A validated scenario. Serialises as the resolved TOML does.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// With every default written out.
    raw: Raw,
    policies: Vec<LabelledPolicy>,
    seeds: Vec<u64>,
    sweep: Option<Sweep>,
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
            fault: Fault::Syntax(error.message().trim().replace('\n', ", ")),
        })?;
        Self::from_value(value).map_err(|error| {
            let line = line::line_of(text, &error.key);
            ScenarioError { line, ..error }
        })
    }

    fn from_value(mut value: Value) -> Result<Self, ScenarioError> {
        // The law may be left out; an enum with a tag cannot say so.
        if let Some(Value::Table(arrivals)) = value.get_mut("arrivals") {
            arrivals.entry("law").or_insert_with(|| Value::from("bernoulli"));
        }
        let mut raw: Raw = read::read(&value, "")?;
        if raw.graph.probability.is_none() && raw.graph.count.is_none() && raw.graph.channels.is_none() {
            raw.graph.probability = Some(EDGE_PROBABILITY);
        }
        let devices = &raw.devices;
        let own = devices.server_capacity.is_some() || devices.servers.is_some() || raw.servers.kinds.is_some();
        if !own && devices.amounts.is_none() {
            raw.devices.capacity.get_or_insert(CAPACITY);
        }
        if let Some(gangs) = &mut raw.gangs {
            gangs.resolve();
        }
        if raw.seeds.list.is_none() {
            raw.seeds.first.get_or_insert(0);
            raw.seeds.count.get_or_insert(SEEDS);
        }
        check::check(&raw)?;
        if raw.policies.is_empty() {
            return Err(ScenarioError::value("policies", "empty", "at least one policy"));
        }
        let policies = policies::policies(&raw.policies)?;
        raw.policies = policies::written_out(&policies);
        let seeds = match (&raw.seeds.list, raw.seeds.first, raw.seeds.count) {
            (Some(list), ..) => list.clone(),
            (None, first, count) => {
                let first = first.unwrap_or_default();
                (first..first + count.unwrap_or(SEEDS)).collect()
            }
        };
        let sweep = raw
            .sweep
            .as_ref()
            .map(|sweep| Sweep { key: sweep.key.clone(), values: sweep.values.iter().map(Value::to_string).collect() });
        let scenario = Self { raw, policies, seeds, sweep };
        scenario.check_sweep()?;
        Ok(scenario)
    }

    fn check_sweep(&self) -> Result<(), ScenarioError> {
        let Some(sweep) = &self.raw.sweep else { return Ok(()) };
        if !(1..=MOST_VALUES).contains(&sweep.values.len()) {
            let found = format!("a list of {}", sweep.values.len());
            return Err(ScenarioError::value("sweep.values", found, format!("1 to {MOST_VALUES} values")));
        }
        for (position, value) in sweep.values.iter().enumerate() {
            self.with(&sweep.key, value.clone())
                .map_err(|error| ScenarioError::other(format!("sweep.values[{position}]"), error))?;
        }
        Ok(())
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

    /// The same scenario with another value at a dotted key, checked again. The value is written as
    /// in TOML; a text needs no quotes, and `policies` takes names with commas between them.
    ///
    /// A sweep ends where it starts: its key is set, the sweep itself is dropped.
    ///
    /// # Errors
    /// When there is no such key or the value is not accepted.
    pub fn set(&self, key: &str, value: &str) -> Result<Self, ScenarioError> {
        self.with(key, sweep::parse(key, value))
    }

    fn with(&self, key: &str, new: Value) -> Result<Self, ScenarioError> {
        let mut value = self.value();
        if let Some(sweep) = &self.raw.sweep
            && sweep.key == key
            && let Value::Table(root) = &mut value
        {
            root.remove("sweep");
        }
        sweep::put(&mut value, key, new)?;
        Self::from_value(value)
    }

    /// The scenario at each value of its sweep, with the value as it is written; the scenario
    /// itself, with an empty text, where it has none.
    ///
    /// # Errors
    /// Never for a scenario that was read; the values were checked then.
    pub fn points(&self) -> Result<Vec<(String, Scenario)>, ScenarioError> {
        match &self.sweep {
            None => Ok(vec![(String::new(), self.clone())]),
            Some(sweep) => sweep.values.iter().map(|value| Ok((value.clone(), self.set(&sweep.key, value)?))).collect(),
        }
    }

    fn value(&self) -> Value {
        Value::try_from(&self.raw).expect("what was read from TOML can be written as TOML")
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.raw.name
    }

    /// What it is about, in a sentence; may be empty.
    pub fn description(&self) -> &str {
        &self.raw.description
    }

    /// The number of slots, *T*.
    pub fn slots(&self) -> u64 {
        self.raw.slots
    }

    /// The number of servers, *|R|*.
    pub fn servers(&self) -> u64 {
        self.raw.graph.servers
    }

    /// Whether jobs wait and hold their devices until they are done.
    pub fn holds_devices(&self) -> bool {
        self.raw.jobs.held
    }

    /// The seeds.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The policies.
    pub fn policies(&self) -> &[LabelledPolicy] {
        &self.policies
    }

    /// What it varies, if it varies something.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.sweep.as_ref()
    }

    /// Everything a run needs but the policy.
    ///
    /// # Errors
    /// When the drawn cluster is none, which a scenario that was read does not allow.
    pub fn setting(&self, seed: u64) -> Result<Setting, ScenarioError> {
        let cluster = check::cluster(&self.raw, seed)?;
        let Raw { arrivals, feedback, jobs, servers, .. } = &self.raw;
        let speeds = SpeedSpec { kind_of_server: servers.kind_of_server(), ..self.raw.speeds.clone() };
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
        self.raw.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
