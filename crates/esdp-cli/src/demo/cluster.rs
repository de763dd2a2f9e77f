//! The cluster of the demonstration: 18 servers of four kinds, one of them at half of its speed.

use esdp::model::{ChannelRule, ClusterDescription, JobShape, PortSpec, ServerSpec};
use esdp::sim::{ArrivalSpec, Delay, HeldSpec, KindSpeeds, Rates, Setting, SpeedSpec};
use std::collections::HashMap;

/// The slow one.
pub(super) const SLOW: &str = "a100-3";
/// How much slower it is than others of its kind.
const SLOWNESS: f64 = 0.5;
/// Of the cluster; nothing else is random.
const SEED: u64 = 7;

/// Kinds of servers: name, how many, cores, GPUs.
const KINDS: [(&str, usize, u64, u64); 4] =
    [("h100", 4, 96, 8), ("a100", 6, 64, 8), ("l40s", 4, 48, 4), ("cpu", 4, 64, 0)];

/// A job type.
struct Port {
    name: &'static str,
    tasks: u32,
    cores: u64,
    gpus: u64,
    /// Samples, requests or rows per second at a utility of 1.
    unit: f64,
    /// Mean number of new jobs per slot.
    rate: f64,
    /// The speed on each kind, as a share of `unit`.
    speeds: [f64; 4],
}

const PORTS: [Port; 4] = [
    Port {
        name: "train",
        tasks: 4,
        cores: 8,
        gpus: 2,
        unit: 160.0,
        rate: 0.44,
        speeds: [0.80, 0.70, 0.68, 0.0],
    },
    Port {
        name: "finetune",
        tasks: 2,
        cores: 6,
        gpus: 1,
        unit: 48.0,
        rate: 0.9,
        speeds: [0.78, 0.70, 0.69, 0.0],
    },
    Port {
        name: "inference",
        tasks: 1,
        cores: 4,
        gpus: 1,
        unit: 900.0,
        rate: 1.6,
        speeds: [0.74, 0.70, 0.72, 0.0],
    },
    Port {
        name: "etl",
        tasks: 1,
        cores: 12,
        gpus: 0,
        unit: 5200.0,
        rate: 1.5,
        speeds: [0.70, 0.69, 0.68, 0.70],
    },
];

/// The cluster by names.
pub(super) fn described() -> ClusterDescription {
    let mut servers = Vec::new();
    for (kind, count, cores, gpus) in KINDS {
        for index in 0..count {
            let spec = ServerSpec::new(&format!("{kind}-{index}"), &[("cpu", cores), ("gpu", gpus)]);
            let hardware = if gpus > 0 { "gpu" } else { "no-gpu" };
            servers.push(ServerSpec { labels: vec![hardware.to_owned(), kind.to_owned()], ..spec });
        }
    }
    let port = |port: &Port| {
        let request = [("cpu", port.cores), ("gpu", port.gpus)];
        let channels = match port.gpus {
            0 => ChannelRule::All,
            _ => ChannelRule::Labels(vec!["gpu".to_owned()]),
        };
        let spec = PortSpec::new(port.name, JobShape::tasks(port.tasks, port.tasks, &request));
        PortSpec { reference: Some(port.unit), channels, ..spec }
    };
    let devices = vec!["cpu".to_owned(), "gpu".to_owned()];
    ClusterDescription {
        devices,
        servers,
        ports: PORTS.iter().map(port).collect(),
        ..ClusterDescription::default()
    }
}

/// Speeds at a utility of 1.
pub(super) fn units() -> HashMap<String, f64> {
    PORTS.iter().map(|port| (port.name.to_owned(), port.unit)).collect()
}

/// The cluster with its jobs and speeds.
pub(super) fn setting() -> Setting {
    let described = described();
    let kind = |server: &ServerSpec| match server.name.as_str() {
        // A kind of its own.
        SLOW => KINDS.len(),
        name => {
            KINDS.iter().position(|kind| name.starts_with(kind.0)).expect("servers are named by their kind")
        }
    };
    let slow = KINDS.iter().position(|kind| SLOW.starts_with(kind.0)).expect("the slow one is of a kind");
    let row = |port: &Port| {
        let mut speeds = port.speeds.to_vec();
        speeds.push(port.speeds[slow] * SLOWNESS);
        speeds
    };
    let speeds = SpeedSpec {
        kinds: Some(KindSpeeds::Table(PORTS.iter().map(row).collect())),
        kind_of_server: Some(described.servers.iter().map(kind).collect()),
        server_deviation: 0.01,
        deviation: 0.12,
        ..SpeedSpec::default()
    };
    let rate = Rates::Each(PORTS.iter().map(|port| port.rate).collect());
    let arrivals = ArrivalSpec::Poisson { rate, most: 8, load: None };
    let cluster = described.cluster().expect("the cluster fits together");
    let setting =
        Setting::build(cluster, arrivals, &speeds, Delay::default(), SEED).expect("the numbers are in range");
    setting.with_held_jobs(HeldSpec::Drawn(4.0, 12.0)).expect("the work is in range")
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp::model::{ChannelId, Slot};

    #[test]
    fn one_server_is_much_slower_than_all_others() {
        let setting = setting();
        let (cluster, mut truth) = (setting.cluster(), setting.truth());
        let means = truth.means(Slot(1)).to_vec();
        for (index, mean) in means.iter().enumerate() {
            let key = cluster.channel_key(ChannelId::at(index));
            assert_eq!(*mean < 0.5, key.server == SLOW, "{} on {}: {mean}", key.port, key.server);
        }
        assert!(cluster.servers().len() >= 12 && cluster.servers().iter().any(|name| name == SLOW));
    }
}
