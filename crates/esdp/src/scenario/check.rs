//! Whether a scenario can be run: ranges, sizes and what must fit together.
//!
//! Sizes are bounded before anything is allocated for them, so that a typing error is told
//! and does not take the machine's memory.

use super::error::ScenarioError;
use super::gangs::{ListedGang, check_gangs, reach};
use super::raw::{Graph, Raw};
use crate::model::{Amount, Capacity, ChannelSpec, Cluster, ClusterError, ClusterSpec, GangError, ServerId};
use crate::sim::{ChannelCount, ParameterError, RandomCluster};

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
pub(super) fn check(raw: &Raw) -> Result<(), ScenarioError> {
    whole("slots", raw.slots, 1, MOST_SLOTS)?;
    check_seeds(raw)?;
    check_graph(&raw.graph)?;
    let devices = &raw.devices;
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
        check_length("devices.servers", servers.len(), raw.graph.servers, "a server")?;
        for (server, amounts) in servers.iter().enumerate() {
            check_length(&format!("devices.servers[{server}]"), amounts.len(), devices.count, "a device")?;
            for (device, &amount) in amounts.iter().enumerate() {
                whole(&format!("devices.servers[{server}][{device}]"), amount, 0, LARGEST_CAPACITY)?;
            }
        }
    }
    check_kinds(raw)?;
    if let Some(amounts) = &devices.amounts {
        check_length("devices.amounts", amounts.len(), devices.count, "a device")?;
        for (device, &amount) in amounts.iter().enumerate() {
            whole(&format!("devices.amounts[{device}]"), amount, 1, LARGEST_CAPACITY)?;
        }
    }
    if let Some(costs) = &raw.costs.devices {
        check_length("costs.devices", costs.len(), devices.count, "a device")?;
        for (device, cost) in costs.iter().enumerate() {
            cost.check().map_err(|error| ScenarioError::other(format!("costs.devices[{device}]"), error))?;
        }
    }
    recipe(raw).check().map_err(|error| parameter("", error))?;
    raw.arrivals.check(raw.graph.ports as usize).map_err(|error| parameter("arrivals.", error))?;
    raw.speeds.check().map_err(|error| parameter("speeds.", error))?;
    raw.feedback.delay.check().map_err(|error| parameter("feedback.", error))?;
    raw.jobs.spec().check().map_err(|error| parameter("jobs.", error))?;
    if let Some(list) = &raw.jobs.list {
        check_length("jobs.list", list.len(), raw.graph.ports, "a port")?;
    }
    check_gangs(raw)?;
    check_table(raw)?;
    super::labels::check(raw)?;
    if raw.graph.channels.is_some() {
        cluster(raw, 0)?;
    }
    Ok(())
}

/// Servers told kind by kind: they must be as many as there are, and nothing else may tell of their devices.
fn check_kinds(raw: &Raw) -> Result<(), ScenarioError> {
    let Some(kinds) = &raw.servers.kinds else { return Ok(()) };
    if raw.devices.server_capacity.is_some() || raw.devices.servers.is_some() {
        let message = "give `servers.kinds`, or `server_capacity` or `servers`, not both";
        return Err(ScenarioError::other("devices", message));
    }
    for (kind, of) in kinds.iter().enumerate() {
        whole(&format!("servers.kinds[{kind}].count"), of.count, 1, MOST_SERVERS)?;
        check_length(&format!("servers.kinds[{kind}].capacity"), of.capacity.len(), raw.devices.count, "a device")?;
        for (device, &amount) in of.capacity.iter().enumerate() {
            whole(&format!("servers.kinds[{kind}].capacity[{device}]"), amount, 0, LARGEST_CAPACITY)?;
        }
    }
    let all: u64 = kinds.iter().map(|kind| kind.count).sum();
    if all != raw.graph.servers {
        let accepted = format!("{} in all, the number of servers", raw.graph.servers);
        return Err(ScenarioError::value("servers.kinds", format!("a list of {all} servers"), accepted));
    }
    match &raw.speeds.kinds {
        Some(speeds) if speeds.count() != kinds.len() => {
            let accepted = format!("{}, as many as `servers.kinds`", kinds.len());
            Err(ScenarioError::value("speeds.kinds", format!("{} kinds", speeds.count()), accepted))
        }
        _ => Ok(()),
    }
}

fn check_seeds(raw: &Raw) -> Result<(), ScenarioError> {
    let seeds = &raw.seeds;
    match &seeds.list {
        Some(_) if seeds.first.is_some() || seeds.count.is_some() => {
            Err(ScenarioError::other("seeds", "give `list`, or `first` and `count`, not both"))
        }
        Some(list) => {
            if !(1..=MOST_SEEDS).contains(&(list.len() as u64)) {
                let accepted = format!("1 to {MOST_SEEDS}");
                return Err(ScenarioError::value("seeds.list", format!("a list of {}", list.len()), accepted));
            }
            let mut sorted = list.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(ScenarioError::other("seeds.list", format!("the seed {} comes twice", pair[0]))),
                None => Ok(()),
            }
        }
        None => {
            whole("seeds.count", seeds.count.unwrap_or(1), 1, MOST_SEEDS)?;
            whole("seeds.first", seeds.first.unwrap_or(0), 0, i64::MAX as u64 - MOST_SEEDS)
        }
    }
}

fn check_graph(graph: &Graph) -> Result<(), ScenarioError> {
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
pub(super) fn expected_channels(graph: &Graph) -> f64 {
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
    Err(ScenarioError::value(key, format!("a list of {found}"), format!("{expected}, one {each}")))
}

fn check_table(raw: &Raw) -> Result<(), ScenarioError> {
    let Some(table) = &raw.speeds.table else { return Ok(()) };
    let count = raw.graph.count.filter(|_| raw.gangs.is_none());
    let channels = raw.graph.channels.as_ref().map(|channels| channels.len() as u64).or(count);
    let Some(channels) = channels else {
        let message = "needs a known number of channels, give `graph.channels`, or `graph.count` without `gangs`";
        return Err(ScenarioError::other("speeds.table", message));
    };
    let check = |(row, speeds): (usize, &Vec<f64>)| {
        check_length(&format!("speeds.table[{row}]"), speeds.len(), channels, "a channel")
    };
    table.iter().enumerate().try_for_each(check)
}

/// Renames a parameter of the simulation to its key in a scenario.
fn parameter(prefix: &str, error: ParameterError) -> ScenarioError {
    let key = match error.key.as_str() {
        "ports" => "graph.ports".to_owned(),
        "servers" => "graph.servers".to_owned(),
        "devices" => "devices.count".to_owned(),
        "channels.probability" => "graph.probability".to_owned(),
        "channels.exactly" => "graph.count".to_owned(),
        key @ ("request" | "capacity" | "server_capacity") => format!("devices.{key}"),
        "cost_mean" => "costs.mean".to_owned(),
        "cost_deviation" => "costs.deviation".to_owned(),
        "cost_scale" => "costs.scale".to_owned(),
        key => format!("{prefix}{key}"),
    };
    ScenarioError::value(key, error.value, error.accepted)
}

fn recipe(raw: &Raw) -> RandomCluster {
    let Raw { graph, devices, costs, .. } = raw;
    let channels = match (graph.count, &graph.channels) {
        (Some(count), _) => ChannelCount::Exactly(count as usize),
        // The drawn ones are replaced by the list.
        (None, Some(_)) => ChannelCount::Probability(0.0),
        (None, None) => ChannelCount::Probability(graph.probability.unwrap_or(super::EDGE_PROBABILITY)),
    };
    RandomCluster {
        ports: graph.ports as usize,
        servers: graph.servers as usize,
        channels,
        devices: devices.count as usize,
        request: devices.request,
        // Where the cluster as a whole does not limit, what is drawn is dropped.
        capacity: devices.capacity.unwrap_or(super::CAPACITY),
        server_capacity: devices.server_capacity,
        cost_mean: costs.mean,
        cost_deviation: costs.deviation,
        cost_scale: costs.scale,
    }
}

/// The cluster of a seed.
pub(super) fn cluster(raw: &Raw, seed: u64) -> Result<Cluster, ScenarioError> {
    let recipe = recipe(raw);
    let mut spec = recipe.draw(seed).map_err(|error| parameter("", error))?;
    let own = raw.devices.servers.clone().or_else(|| raw.servers.capacities()).or_else(|| {
        let own = (0..spec.servers.len()).map(|server| spec.capacity.server(ServerId::at(server)));
        own.map(|amounts| amounts.map(<[Amount]>::to_vec)).collect()
    });
    if let Some(own) = own {
        let cluster = match raw.devices.capacity.is_none() && raw.devices.amounts.is_none() {
            true => Capacity::default(),
            false => spec.capacity,
        };
        spec.capacity = cluster.with_servers(own).map_err(|error| ScenarioError::other("devices", error))?;
    }
    if let Some(amounts) = &raw.devices.amounts
        && let Some(capacity) = spec.capacity.cluster_mut()
    {
        capacity.copy_from_slice(amounts);
    }
    if let Some(costs) = &raw.costs.devices {
        spec.costs.clone_from(costs);
    }
    if let Some(channels) = &raw.graph.channels {
        let mut drawn = recipe.requests(seed);
        let channel = |channel: &super::raw::Channel| {
            let request = drawn();
            let request = channel.request.clone().unwrap_or(request);
            ChannelSpec { port: channel.port, server: channel.server, task: channel.task, request }
        };
        spec.channels = channels.iter().map(channel).collect();
    }
    if let Some(gangs) = &raw.gangs {
        match &gangs.list {
            Some(list) => {
                spec.gangs = list.iter().map(ListedGang::spec).collect();
                if raw.graph.channels.is_none() {
                    reach(&mut spec, list);
                }
            }
            None => gangs
                .recipe()
                .apply(&mut spec, seed, recipe.requests(seed))
                .map_err(|error| parameter("gangs.", error))?,
        }
    }
    spec.labels = super::labels::labels(raw, seed);
    build(spec)
}

fn build(spec: ClusterSpec) -> Result<Cluster, ScenarioError> {
    let limit = spec.channels.iter().enumerate().flat_map(|(channel, spec)| {
        spec.request.iter().enumerate().map(move |(device, &amount)| (channel, device, amount))
    });
    if let Some((channel, device, amount)) = limit.into_iter().find(|(.., amount)| *amount > LARGEST_REQUEST) {
        let key = format!("graph.channels[{channel}].request[{device}]");
        return Err(ScenarioError::value(key, amount, format!("a whole number from 0 to {LARGEST_REQUEST}")));
    }
    Cluster::new(spec).map_err(|error| match error {
        ClusterError::UnknownEnd { channel, field, value, limit } => {
            let accepted = format!("a whole number from 0 to {}", limit - 1);
            ScenarioError::value(format!("graph.channels[{channel}].{field}"), value, accepted)
        }
        ClusterError::Request { channel, found, expected } => {
            let (key, found) = (format!("graph.channels[{channel}].request"), format!("a list of {found}"));
            ScenarioError::value(key, found, format!("{expected}, one a device"))
        }
        ClusterError::Duplicate { channel, port, server } => {
            let message = format!("port {port} and server {server} are joined by an earlier channel already");
            ScenarioError::other(format!("graph.channels[{channel}]"), message)
        }
        ClusterError::Gang(GangError::UnknownTask { channel, task, port, groups }) => {
            let key = format!("graph.channels[{channel}].task");
            let accepted = format!("less than {groups}, the number of task groups of port {port}");
            ScenarioError::value(key, task, accepted)
        }
        ClusterError::Gang(error) => ScenarioError::other("gangs.list", error),
        ClusterError::CostOverflow { .. } | ClusterError::Cost { .. } | ClusterError::Costs { .. } => {
            ScenarioError::other("costs", error)
        }
        other => ScenarioError::other("", other),
    })
}
