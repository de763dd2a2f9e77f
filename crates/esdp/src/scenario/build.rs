//! From a value or a spec to a scenario: defaults that depend on each other, then every check.

use super::{CAPACITY, EDGE_PROBABILITY, SEEDS, Scenario, ScenarioError, Spec, check, policies, read};
use toml::{Table, Value};

/// The most values of a sweep.
const MOST_VALUES: usize = 10_000;

impl Spec {
    /// Checks it and makes a scenario of it.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn build(mut self) -> Result<Scenario, ScenarioError> {
        self.resolve();
        check::check(&self)?;
        // Whoever runs a scenario writes it down, and TOML has no whole numbers above 2^63 - 1.
        Value::try_from(&self).map_err(|error| ScenarioError::other("", error))?;
        finish(self)
    }

    /// Writes the defaults out that depend on what is given.
    fn resolve(&mut self) {
        let Self { graph, devices, servers, gangs, seeds, .. } = self;
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
        let mut spec: Spec = read::read(&value, "")?;
        spec.resolve();
        check::check(&spec)?;
        if let Some(Value::Array(list)) = value.get("policies") {
            spec.policies = policies::policies(list)?;
        }
        finish(spec)
    }

    fn check_sweep(&self) -> Result<(), ScenarioError> {
        let Some(sweep) = self.sweep() else { return Ok(()) };
        if !(1..=MOST_VALUES).contains(&sweep.values.len()) {
            let found = format!("a list of {}", sweep.values.len());
            return Err(ScenarioError::value("sweep.values", found, format!("1 to {MOST_VALUES} values")));
        }
        for (position, value) in sweep.values.iter().enumerate() {
            self.set(&sweep.key, value)
                .map_err(|error| ScenarioError::other(format!("sweep.values[{position}]"), error))?;
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
        let (Some(count), Value::Table(root)) = (count, &mut *root) else { continue };
        if let Value::Table(table) = root.entry(section).or_insert_with(|| Value::Table(Table::new())) {
            table.entry(key).or_insert(Value::from(count));
        }
    }
}

/// The policies, the seeds and the sweep of a spec that is fine otherwise.
fn finish(spec: Spec) -> Result<Scenario, ScenarioError> {
    policies::check(&spec.policies)?;
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
