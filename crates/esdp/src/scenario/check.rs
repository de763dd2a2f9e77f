//! Whether a scenario can be run: ranges, sizes and what must fit together.
//!
//! Sizes are bounded before anything is allocated for them, so that a typing error is told
//! and does not take the machine's memory.

use super::cluster::{cluster, parameter, recipe};
use super::error::ScenarioError;
use super::gangs::check_gangs;
use super::spec::{GraphTable, Spec};
use crate::model::Amount;
use crate::sim::CostPer;

/// The most slots a run may have.
pub const MOST_SLOTS: u64 = 1_000_000_000;
/// The most seeds.
pub const MOST_SEEDS: u64 = 100_000;
const MOST_PORTS: u64 = 100_000;
const MOST_SERVERS: u64 = 1_000_000;
const MOST_PAIRS: u64 = 20_000_000;
pub(super) const MOST_CHANNELS: u64 = 1_000_000;
const MOST_DEVICES: u64 = 64;
pub(super) const LARGEST_REQUEST: u64 = 100_000;
/// Sums of this many capacities and requests stay far from overflowing.
const LARGEST_CAPACITY: u64 = 1_000_000_000_000;

pub(super) fn whole(key: &str, value: u64, from: u64, to: u64) -> Result<(), ScenarioError> {
    if (from..=to).contains(&value) {
        return Ok(());
    }
    Err(ScenarioError::value(key, value, format!("a whole number from {from} to {to}")))
}

fn range(key: &str, (from, to): (Amount, Amount), least: Amount, most: Amount) -> Result<(), ScenarioError> {
    if least <= from && from <= to && to <= most {
        return Ok(());
    }
    let accepted = format!("two ascending whole numbers from {least} to {most}");
    Err(ScenarioError::value(key, format!("[{from}, {to}]"), accepted))
}

/// Checks everything but the policies and the sweep.
pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    whole("slots", spec.slots, 1, MOST_SLOTS)?;
    check_seeds(spec)?;
    check_graph(&spec.graph)?;
    let devices = &spec.devices;
    whole("devices.count", devices.count, 1, MOST_DEVICES)?;
    range("devices.request", devices.request, 0, LARGEST_REQUEST)?;
    if let Some(capacity) = devices.capacity {
        range("devices.capacity", capacity, 1, LARGEST_CAPACITY)?;
    }
    if let Some(own) = devices.server_capacity {
        range("devices.server_capacity", own, 1, LARGEST_CAPACITY)?;
    }
    if let Some(servers) = &devices.servers {
        if devices.server_capacity.is_some() {
            return Err(ScenarioError::other("devices", "give `server_capacity` or `servers`, not both"));
        }
        check_length("devices.servers", servers.len(), spec.graph.servers, "server")?;
        for (server, amounts) in servers.iter().enumerate() {
            check_length(&format!("devices.servers[{server}]"), amounts.len(), devices.count, "device")?;
            for (device, &amount) in amounts.iter().enumerate() {
                whole(&format!("devices.servers[{server}][{device}]"), amount, 0, LARGEST_CAPACITY)?;
            }
        }
    }
    check_kinds(spec)?;
    if let Some(amounts) = &devices.amounts {
        check_length("devices.amounts", amounts.len(), devices.count, "device")?;
        for (device, &amount) in amounts.iter().enumerate() {
            whole(&format!("devices.amounts[{device}]"), amount, 1, LARGEST_CAPACITY)?;
        }
    }
    if spec.costs.devices.is_some() && spec.costs.per != CostPer::Amount {
        let message = "give `devices` or `per = \"channel\"`, not both: the former are costs by amount";
        return Err(ScenarioError::other("costs", message));
    }
    if let Some(costs) = &spec.costs.devices {
        check_length("costs.devices", costs.len(), devices.count, "device")?;
        for (device, cost) in costs.iter().enumerate() {
            cost.check().map_err(|error| ScenarioError::other(format!("costs.devices[{device}]"), error))?;
        }
    }
    recipe(spec).check().map_err(|error| parameter("", error))?;
    spec.arrivals.check(spec.graph.ports as usize).map_err(|error| parameter("arrivals.", error))?;
    spec.speeds.check().map_err(|error| parameter("speeds.", error))?;
    spec.feedback.delay.check().map_err(|error| parameter("feedback.", error))?;
    spec.jobs.spec().check().map_err(|error| parameter("jobs.", error))?;
    if let Some(list) = &spec.jobs.list {
        check_length("jobs.list", list.len(), spec.graph.ports, "port")?;
    }
    check_gangs(spec)?;
    check_table(spec)?;
    super::labels::check(spec)?;
    if spec.graph.channels.is_some() {
        cluster(spec, 0)?;
    }
    Ok(())
}

/// Servers told kind by kind: they must be as many as there are, and nothing else may tell of their devices.
fn check_kinds(spec: &Spec) -> Result<(), ScenarioError> {
    let Some(kinds) = &spec.servers.kinds else { return Ok(()) };
    if spec.devices.server_capacity.is_some() || spec.devices.servers.is_some() {
        let message = "give `servers.kinds`, or `server_capacity` or `servers`, not both";
        return Err(ScenarioError::other("devices", message));
    }
    for (kind, of) in kinds.iter().enumerate() {
        whole(&format!("servers.kinds[{kind}].count"), of.count, 1, MOST_SERVERS)?;
        check_length(
            &format!("servers.kinds[{kind}].capacity"),
            of.capacity.len(),
            spec.devices.count,
            "device",
        )?;
        for (device, &amount) in of.capacity.iter().enumerate() {
            whole(&format!("servers.kinds[{kind}].capacity[{device}]"), amount, 0, LARGEST_CAPACITY)?;
        }
    }
    let all: u64 = kinds.iter().map(|kind| kind.count).sum();
    if all != spec.graph.servers {
        let accepted = format!("{} in all, the number of servers", spec.graph.servers);
        return Err(ScenarioError::value("servers.kinds", format!("a list of {all} servers"), accepted));
    }
    match &spec.speeds.kinds {
        Some(speeds) if speeds.count() != kinds.len() => {
            let accepted = format!("{}, as many as `servers.kinds`", kinds.len());
            Err(ScenarioError::value("speeds.kinds", format!("{} kinds", speeds.count()), accepted))
        }
        _ => Ok(()),
    }
}

fn check_seeds(spec: &Spec) -> Result<(), ScenarioError> {
    let seeds = &spec.seeds;
    match &seeds.list {
        Some(_) if seeds.first.is_some() || seeds.count.is_some() => {
            Err(ScenarioError::other("seeds", "give `list`, or `first` and `count`, not both"))
        }
        Some(list) => {
            if !(1..=MOST_SEEDS).contains(&(list.len() as u64)) {
                let accepted = format!("1 to {MOST_SEEDS}");
                return Err(ScenarioError::value(
                    "seeds.list",
                    format!("a list of {}", list.len()),
                    accepted,
                ));
            }
            let mut sorted = list.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => {
                    Err(ScenarioError::other("seeds.list", format!("the seed {} comes twice", pair[0])))
                }
                None => Ok(()),
            }
        }
        None => {
            whole("seeds.count", seeds.count.unwrap_or(1), 1, MOST_SEEDS)?;
            whole("seeds.first", seeds.first.unwrap_or(0), 0, i64::MAX as u64 - MOST_SEEDS)
        }
    }
}

fn check_graph(graph: &GraphTable) -> Result<(), ScenarioError> {
    whole("graph.ports", graph.ports, 1, MOST_PORTS)?;
    whole("graph.servers", graph.servers, 1, MOST_SERVERS)?;
    let given = [graph.probability.is_some(), graph.count.is_some(), graph.channels.is_some()];
    if given.into_iter().filter(|given| *given).count() > 1 {
        return Err(ScenarioError::other("graph", "give one of `probability`, `count` and `channels`"));
    }
    if let Some(channels) = &graph.channels {
        if channels.is_empty() {
            return Err(ScenarioError::value("graph.channels", "empty", "at least one channel"));
        }
        let mut reached = vec![false; graph.ports as usize];
        for channel in channels {
            // A port that does not exist is told later, with the channel that names it.
            if let Some(reached) = reached.get_mut(channel.port as usize) {
                *reached = true;
            }
        }
        if let Some(port) = reached.iter().position(|reached| !reached) {
            return Err(ScenarioError::other("graph.channels", format!("port {port} has no channel")));
        }
        return Ok(());
    }
    let pairs = graph.ports * graph.servers;
    if pairs > MOST_PAIRS {
        let message = format!(
            "{} ports times {} servers are {pairs} pairs, at most {MOST_PAIRS} are accepted",
            graph.ports, graph.servers
        );
        return Err(ScenarioError::other("graph", message));
    }
    let expected = expected_channels(graph);
    if expected > MOST_CHANNELS as f64 {
        // The shortest form: 1e300 has 301 digits otherwise.
        let expected = format!("{:?}", expected.round());
        let expected = expected.trim_end_matches(".0");
        let message = format!("about {expected} channels, at most {MOST_CHANNELS} are accepted");
        return Err(ScenarioError::other("graph", message));
    }
    Ok(())
}

/// About how many channels are drawn.
pub(super) fn expected_channels(graph: &GraphTable) -> f64 {
    match (graph.probability, graph.count) {
        (_, Some(count)) => count as f64,
        (probability, None) => {
            probability.unwrap_or(super::EDGE_PROBABILITY) * graph.ports as f64 * graph.servers as f64
        }
    }
}

pub(super) fn check_length(key: &str, found: usize, expected: u64, each: &str) -> Result<(), ScenarioError> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(ScenarioError::value(key, format!("a list of {found}"), format!("{expected}, one per {each}")))
}

fn check_table(spec: &Spec) -> Result<(), ScenarioError> {
    let Some(table) = &spec.speeds.table else { return Ok(()) };
    let count = spec.graph.count.filter(|_| spec.gangs.is_none());
    let channels = spec.graph.channels.as_ref().map(|channels| channels.len() as u64).or(count);
    let Some(channels) = channels else {
        let message =
            "needs a known number of channels, give `graph.channels`, or `graph.count` without `gangs`";
        return Err(ScenarioError::other("speeds.table", message));
    };
    let check = |(row, speeds): (usize, &Vec<f64>)| {
        check_length(&format!("speeds.table[{row}]"), speeds.len(), channels, "channel")
    };
    table.iter().enumerate().try_for_each(check)
}
