//! From a value or a spec to a scenario: defaults that depend on each other, then every check.

use super::sweep::{self, MOST_VALUES};
use super::{CAPACITY, EDGE_PROBABILITY, SEEDS, Scenario, ScenarioError, Spec, check, files, policies, read};
use toml::Value;

impl Spec {
    /// Checks it and makes a scenario of it.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn build(mut self) -> Result<Scenario, ScenarioError> {
        self.resolve();
        check::check(&self)?;
        if let Some(base) = &self.extends {
            return Err(ScenarioError::value("extends", format!("{base:?}"), "nothing, outside of a text"));
        }
        // Whoever runs a scenario writes it down, and TOML has no whole numbers above 2^63 - 1.
        Value::try_from(&self).map_err(|error| ScenarioError::other("", error))?;
        finish(self)
    }

    /// Writes the defaults out that depend on what is given.
    fn resolve(&mut self) {
        let Self { graph, devices, servers, gangs, seeds, jobs, objective, .. } = self;
        if jobs.held {
            objective.get_or_insert_default();
        }
        if graph.probability.is_none() && graph.count.is_none() && graph.channels.is_none() {
            graph.probability = Some(EDGE_PROBABILITY);
        }
        let own = devices.server_capacity.is_some() || devices.servers.is_some() || servers.has_capacities();
        if !own && devices.amounts.is_none() {
            devices.capacity.get_or_insert(CAPACITY);
        }
        if let Some(gangs) = gangs {
            gangs.resolve();
        }
        if seeds.list.is_none() {
            seeds.first.get_or_insert(0);
            seeds.count.get_or_insert(SEEDS);
        }
    }
}

impl Scenario {
    pub(super) fn from_value(mut value: Value) -> Result<Self, ScenarioError> {
        // The law may be left out; an enum with a tag cannot say so.
        if let Some(Value::Table(arrivals)) = value.get_mut("arrivals") {
            arrivals.entry("law").or_insert_with(|| Value::from("bernoulli"));
        }
        count_what_is_listed(&mut value);
        sweep::check_form(&value)?;
        let mut spec: Spec = read::read(&value, "")?;
        spec.resolve();
        check::check(&spec)?;
        if let Some(Value::Array(list)) = value.get("policies") {
            spec.policies = policies::policies(list)?;
        }
        finish(spec)
    }

    fn check_sweep(&self) -> Result<(), ScenarioError> {
        let Some(table) = &self.spec.sweep else { return Ok(()) };
        let alone = self.without_sweep();
        for (at, sweep) in table.keys().iter().enumerate() {
            let path = table.path(at);
            if table.keys()[..at].iter().any(|other| other.key == sweep.key) {
                let message = format!("`{}` is varied twice, expected each key once", sweep.key);
                return Err(ScenarioError::other(format!("{path}.key"), message));
            }
            if !(1..=MOST_VALUES).contains(&sweep.values.len()) {
                let found = format!("a list of {}", sweep.values.len());
                let accepted = format!("1 to {MOST_VALUES} values");
                return Err(ScenarioError::value(format!("{path}.values"), found, accepted));
            }
            for (position, value) in sweep.values.iter().enumerate() {
                alone
                    .set(&sweep.key, value)
                    .map_err(|error| ScenarioError::other(format!("{path}.values[{position}]"), error))?;
            }
        }
        Ok(())
    }
}

/// How many servers and devices there are where they are listed and not counted.
fn count_what_is_listed(root: &mut Value) {
    let listed = |root: &Value, section: &str, key: &str| root.get(section)?.get(key)?.as_array().cloned();
    let of = |kind: &Value| kind.get("count").and_then(Value::as_integer).unwrap_or(1);
    let servers =
        listed(root, "servers", "kinds").map(|kinds| kinds.iter().map(of).fold(0, i64::saturating_add));
    let devices = listed(root, "devices", "names").map(|names| names.len() as i64);
    for (section, key, count) in [("graph", "servers", servers), ("devices", "count", devices)] {
        let (Some(count @ 1..), Value::Table(root)) = (count, &mut *root) else { continue };
        if let Some(table) = files::table(root, section) {
            table.entry(key).or_insert(Value::from(count));
        }
    }
}

/// The policies, the seeds and the sweep of a spec that is fine otherwise.
fn finish(mut spec: Spec) -> Result<Scenario, ScenarioError> {
    // What is resolved says everything by itself, in the only version there is.
    spec.version = None;
    policies::check(&spec.policies, spec.jobs.held)?;
    let seeds = match (&spec.seeds.list, spec.seeds.first, spec.seeds.count) {
        (Some(list), ..) => list.clone(),
        (None, first, count) => {
            let first = first.unwrap_or_default();
            (first..first + count.unwrap_or(SEEDS)).collect()
        }
    };
    let scenario = Scenario { spec, seeds };
    scenario.check_sweep()?;
    Ok(scenario)
}
