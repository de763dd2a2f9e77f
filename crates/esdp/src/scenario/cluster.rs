//! From a spec to a cluster: what is drawn, and what is written down instead.

use super::check::LARGEST_REQUEST;
use super::error::ScenarioError;
use super::gangs::{positions, reach};
use super::names::{self, Index};
use super::spec::{NumberedChannel, Spec};
use crate::model::{Amount, Capacity, ChannelSpec, Cluster, ClusterError, ClusterSpec, GangError, ServerId};
use crate::sim::{ChannelCount, ParameterError, RandomCluster};

/// Renames a parameter of the simulation to its key in a scenario; without a prefix it is one of the drawn
/// cluster.
pub(super) fn parameter(prefix: &str, error: ParameterError) -> ScenarioError {
    let key = match error.key.as_str() {
        key if !prefix.is_empty() => format!("{prefix}{key}"),
        "ports" => "graph.ports".to_owned(),
        "servers" => "graph.servers".to_owned(),
        "devices" => "devices.count".to_owned(),
        "channels.probability" => "graph.probability".to_owned(),
        "channels.exactly" => "graph.count".to_owned(),
        key @ ("request" | "capacity" | "server_capacity") => format!("devices.{key}"),
        "cost_mean" => "costs.mean".to_owned(),
        "cost_deviation" => "costs.deviation".to_owned(),
        "cost_scale" => "costs.scale".to_owned(),
        key => key.to_owned(),
    };
    ScenarioError::value(key, error.value, error.accepted)
}

pub(super) fn recipe(spec: &Spec) -> RandomCluster {
    let Spec { graph, devices, costs, .. } = spec;
    let channels = match (graph.count, &graph.channels) {
        (Some(count), _) => ChannelCount::Exactly(count as usize),
        // The drawn ones are replaced by the list.
        (None, Some(_)) => ChannelCount::Probability(0.0),
        (None, None) => ChannelCount::Probability(graph.probability.unwrap_or(super::EDGE_PROBABILITY)),
    };
    RandomCluster {
        ports: graph.ports.count() as usize,
        servers: graph.servers.count() as usize,
        channels,
        devices: devices.count as usize,
        request: devices.request,
        // Where the cluster as a whole does not limit, what is drawn is dropped.
        capacity: devices.capacity.unwrap_or(super::CAPACITY),
        server_capacity: devices.server_capacity,
        cost_mean: costs.mean,
        cost_deviation: costs.deviation,
        cost_scale: costs.scale,
        cost_per: costs.per,
    }
}

/// The cluster of a seed.
pub(super) fn cluster(told: &Spec, seed: u64) -> Result<Cluster, ScenarioError> {
    let recipe = recipe(told);
    let mut spec = recipe.draw(seed).map_err(|error| parameter("", error))?;
    spec.devices = names::devices(told);
    spec.servers = names::servers(told);
    spec.ports = names::ports(told);
    let own = told.devices.servers.clone().or_else(|| told.servers.capacities()).or_else(|| {
        let own = (0..spec.servers.len()).map(|server| spec.capacity.server(ServerId::at(server)));
        own.map(|amounts| amounts.map(<[Amount]>::to_vec)).collect()
    });
    if let Some(own) = own {
        let cluster = match told.devices.capacity.is_none() && told.devices.amounts.is_none() {
            true => Capacity::default(),
            false => spec.capacity,
        };
        spec.capacity = cluster.with_servers(own).map_err(|error| ScenarioError::other("devices", error))?;
    }
    if let Some(amounts) = &told.devices.amounts
        && let Some(capacity) = spec.capacity.cluster_mut()
    {
        capacity.copy_from_slice(amounts);
    }
    if let Some(costs) = &told.costs.devices {
        spec.costs.clone_from(costs);
    }
    if let Some(channels) = &told.graph.channels {
        let mut drawn = recipe.requests(seed);
        let (ports, servers) = (Index::ports(told), Index::servers(told));
        let channel = |(position, channel): (usize, &NumberedChannel)| {
            let request = drawn();
            let request = channel.request.clone().unwrap_or(request);
            let at = |end: &str| format!("graph.channels[{position}].{end}");
            let port = ports.find(&at("port"), &channel.port)?;
            let server = servers.find(&at("server"), &channel.server)?;
            Ok(ChannelSpec { port, server, task: channel.task, request })
        };
        spec.channels = channels.iter().enumerate().map(channel).collect::<Result<_, _>>()?;
    }
    if let Some(gangs) = &told.gangs {
        match &gangs.list {
            Some(list) => {
                let ports = positions(told, list)?;
                spec.gangs = list.iter().zip(&ports).map(|(gang, &port)| gang.spec(port, gangs)).collect();
                if told.graph.channels.is_none() {
                    reach(&mut spec, list, &ports);
                }
            }
            None => {
                let drawn = gangs.recipe().apply(&mut spec, seed, recipe.requests(seed));
                drawn.map_err(|error| parameter("gangs.", error))?;
                let pace = gangs.pace().unwrap_or_default();
                spec.gangs.iter_mut().for_each(|gang| gang.pace = pace);
            }
        }
    }
    // Those that were drawn may have been replaced.
    spec.channel_costs = recipe.channel_costs(seed, &spec.channels);
    spec.labels = super::labels::labels(told, seed);
    build(spec)
}

fn build(spec: ClusterSpec) -> Result<Cluster, ScenarioError> {
    let limit = spec.channels.iter().enumerate().flat_map(|(channel, spec)| {
        spec.request.iter().enumerate().map(move |(device, &amount)| (channel, device, amount))
    });
    if let Some((channel, device, amount)) = limit.into_iter().find(|(.., amount)| *amount > LARGEST_REQUEST)
    {
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
            ScenarioError::value(key, found, format!("{expected}, one per device"))
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
