//! `cluster.json`: the clusters that seeds drew, with what nobody but the oracle knows of them.

use crate::keeps_estimates;
use esdp::model::{Amount, ChannelId, Cluster, ServerId, Slot};
use esdp::scenario::Scenario;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    scenario: &'a str,
    /// One entry per seed, in the order of the seeds.
    clusters: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    seed: u64,
    ports: Vec<String>,
    devices: Vec<String>,
    /// What the cluster has of each device; null where only servers have limits.
    capacity: Option<Vec<Amount>>,
    servers: Vec<Server>,
    /// In the order of their numbers in `slots.csv`, from 0.
    channels: Vec<Channel>,
}

#[derive(Serialize)]
struct Server {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<Vec<Amount>>,
}

#[derive(Serialize)]
struct Channel {
    port: String,
    server: String,
    /// The group of tasks, where the port's jobs are gangs.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// How many units of each device a task takes.
    request: Vec<Amount>,
    /// What is taken off a speed to get a net utility.
    cost: f64,
    /// The true mean net utility in the first slot.
    true_mean: f64,
}

/// The document. Of large clusters, the first seeds only: as many as `estimates.csv` has.
///
/// # Errors
/// When a number has no JSON; there is none such.
pub(super) fn json(scenario: &Scenario, seeds: &[u64]) -> serde_json::Result<String> {
    let mut clusters = Vec::new();
    for (position, &seed) in seeds.iter().enumerate() {
        // It could be built when it ran; what cannot be now is left out.
        let Ok(setting) = scenario.setting(seed) else { continue };
        if !keeps_estimates(position, setting.cluster().channels().len()) {
            break;
        }
        let means = setting.truth().means(Slot(1)).to_vec();
        clusters.push(entry(seed, setting.cluster(), &means));
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(serde_json::to_string(&Document { version, scenario: scenario.name(), clusters })? + "\n")
}

fn entry(seed: u64, cluster: &Cluster, means: &[f64]) -> Entry {
    let server = |(at, name): (usize, &String)| Server {
        name: name.clone(),
        labels: cluster.labels(ServerId::at(at)).to_vec(),
        capacity: cluster.capacity().server(ServerId::at(at)).map(<[Amount]>::to_vec),
    };
    let channel = |(at, &true_mean): (usize, &f64)| {
        let id = ChannelId::at(at);
        let port = cluster.channel(id).port;
        let key = cluster.channel_key(id);
        Channel {
            port: key.port,
            server: key.server,
            group: cluster.is_gang(port).then_some(key.group),
            request: cluster.request(id).to_vec(),
            // A sum of nothing is -0.
            cost: cluster.cost(id) + 0.0,
            true_mean,
        }
    };
    Entry {
        seed,
        ports: cluster.ports().to_vec(),
        devices: cluster.devices().to_vec(),
        capacity: cluster.capacity().cluster().map(<[Amount]>::to_vec),
        servers: cluster.servers().iter().enumerate().map(server).collect(),
        channels: means.iter().enumerate().map(channel).collect(),
    }
}
