//! Whether a scenario can be run: ranges, sizes and what must fit together.
//!
//! Sizes are bounded before anything is allocated for them, so that a typing error is told
//! and does not take the machine's memory.

use super::cluster::{cluster, parameter, recipe};
use super::error::ScenarioError;
use super::gangs::check_gangs;
use super::names::Index;
use super::spec::{GraphTable, Spec};
use super::{names, out, servers};
use crate::model::Amount;
use crate::scheduler::Objective;
use crate::sim::{ArrivalSpec, CostPer, check_luck};

/// The most slots a run may have.
pub const MOST_SLOTS: u64 = 1_000_000_000;
/// The most seeds.
pub const MOST_SEEDS: u64 = 100_000;
pub(super) const MOST_PORTS: u64 = 100_000;
pub(super) const MOST_SERVERS: u64 = 1_000_000;
const MOST_PAIRS: u64 = 20_000_000;
pub(super) const MOST_CHANNELS: u64 = 1_000_000;
pub(super) const MOST_DEVICES: u64 = 64;
pub(super) const LARGEST_REQUEST: u64 = 100_000;
/// Sums of this many capacities and requests stay far from overflowing.
pub(super) const LARGEST_CAPACITY: u64 = 1_000_000_000_000;

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
    whole("version", spec.version.unwrap_or(1), 1, 1)?;
    whole("slots", spec.slots, 1, MOST_SLOTS)?;
    check_seeds(spec)?;
    servers::check_counts(spec)?;
    check_graph(&spec.graph)?;
    names::check(spec)?;
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
        check_length("devices.servers", servers.len(), spec.graph.servers.count(), "server")?;
        for (server, amounts) in servers.iter().enumerate() {
            check_length(&format!("devices.servers[{server}]"), amounts.len(), devices.count, "device")?;
            for (device, &amount) in amounts.iter().enumerate() {
                whole(&format!("devices.servers[{server}][{device}]"), amount, 0, LARGEST_CAPACITY)?;
            }
        }
    }
    servers::check(spec)?;
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
    let ports = names::ports(spec);
    let arrivals = spec.arrivals.check(ports.len()).and_then(|()| spec.arrivals.by_port(&ports));
    arrivals.map_err(|error| parameter("arrivals.", error))?;
    let weights = spec.graph.weights.as_ref().map_or(Ok(()), |own| own.weights("weights", &ports).map(drop));
    weights.map_err(|error| parameter("graph.", error))?;
    let speeds = spec.speeds.check().and_then(|()| spec.speeds.check_ports(&ports));
    speeds.map_err(|error| parameter("speeds.", error))?;
    spec.feedback.delay.check().map_err(|error| parameter("feedback.", error))?;
    spec.jobs.spec().check().map_err(|error| parameter("jobs.", error))?;
    if spec.objective == Some(Objective::Relative) && !spec.jobs.held {
        let accepted = "\"sum\", as jobs that last one slot have no queue (`jobs.held` is false)";
        return Err(ScenarioError::value("objective", "\"relative\"", accepted));
    }
    if let ArrivalSpec::Poisson { load: Some(load), .. } = &spec.arrivals
        && !spec.jobs.held
    {
        let accepted = "none unless jobs wait and hold their devices (`jobs.held` is false)";
        return Err(ScenarioError::value("arrivals.load", load, accepted));
    }
    check_luck(spec.jobs.luck).map_err(|error| parameter("jobs.", error))?;
    if let Some(list) = &spec.jobs.list {
        check_length("jobs.list", list.len(), spec.graph.ports.count(), "port")?;
    }
    check_gangs(spec)?;
    check_table(spec)?;
    super::labels::check(spec)?;
    servers::kind_of_server(spec)?;
    out::check(spec)?;
    if spec.graph.channels.is_some() {
        check_reached(spec)?;
        cluster(spec, 0)?;
    }
    Ok(())
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
    let (ports, servers) = (graph.ports.count(), graph.servers.count());
    whole("graph.ports", ports, 1, MOST_PORTS)?;
    whole("graph.servers", servers, 1, MOST_SERVERS)?;
    let given = [graph.probability.is_some(), graph.count.is_some(), graph.channels.is_some()];
    if given.into_iter().filter(|given| *given).count() > 1 {
        return Err(ScenarioError::other("graph", "give one of `probability`, `count` and `channels`"));
    }
    if let Some(channels) = &graph.channels {
        if channels.is_empty() {
            return Err(ScenarioError::value("graph.channels", "empty", "at least one channel"));
        }
        return Ok(());
    }
    let pairs = ports * servers;
    if pairs > MOST_PAIRS {
        let message = format!(
            "{ports} ports times {servers} servers are {pairs} pairs, at most {MOST_PAIRS} are accepted"
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

/// Every port of an explicit list has a channel.
fn check_reached(spec: &Spec) -> Result<(), ScenarioError> {
    let ports = Index::ports(spec);
    let mut reached = vec![false; spec.graph.ports.count() as usize];
    for (position, channel) in spec.graph.channels.iter().flatten().enumerate() {
        let port = ports.find(&format!("graph.channels[{position}].port"), &channel.port)?;
        reached[port as usize] = true;
    }
    match reached.iter().position(|reached| !reached) {
        Some(port) => {
            Err(ScenarioError::other("graph.channels", format!("{} has no channel", ports.words(port))))
        }
        None => Ok(()),
    }
}

/// About how many channels are drawn.
pub(super) fn expected_channels(graph: &GraphTable) -> f64 {
    match (graph.probability, graph.count) {
        (_, Some(count)) => count as f64,
        (probability, None) => {
            let pairs = graph.ports.count() as f64 * graph.servers.count() as f64;
            probability.unwrap_or(super::EDGE_PROBABILITY) * pairs
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
