//! A small cluster for the policies' unit tests.

use crate::model::{
    Arrivals, Capacity, ChannelSpec, Cluster, ClusterSpec, GangSpec, Slot, SlotView, SupplyCost,
};
use crate::solver::{Exhaustive, Solver};

/// Two ports, three servers, two devices. Channels 0 (port 0, server 0, request (1,2)),
/// 1 (port 0, server 1, (2,1)), 2 (port 1, server 1, (1,1)), 3 (port 1, server 2, (3,3)).
pub(super) fn tiny() -> Cluster {
    let channel = |port, server, request: [u64; 2]| ChannelSpec::new(port, server, request.to_vec());
    Cluster::new(ClusterSpec {
        devices: vec!["cpu".into(), "gpu".into()],
        servers: vec!["a".into(), "b".into(), "c".into()],
        ports: vec!["train".into(), "serve".into()],
        channels: vec![
            channel(0, 0, [1, 2]),
            channel(0, 1, [2, 1]),
            channel(1, 1, [1, 1]),
            channel(1, 2, [3, 3]),
        ],
        capacity: Capacity::cluster_wide(vec![4, 4]),
        costs: vec![
            SupplyCost::Linear { fixed: 0.0, rate: 0.1 },
            SupplyCost::Linear { fixed: 0.0, rate: 0.01 },
        ],
        ..ClusterSpec::default()
    })
    .unwrap()
}

/// One port whose jobs have 3 tasks of a kind and 1 of another, at least 3 in all; two servers with
/// one device; every task requests one. Channels 0 and 1 are for the three, 2 and 3 for the one.
pub(super) fn gang(servers: Vec<Vec<u64>>) -> Cluster {
    let channel = |id: u32| ChannelSpec { port: 0, server: id % 2, task: id / 2, request: vec![1] };
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["train".into()],
        channels: (0..4).map(channel).collect(),
        capacity: Capacity::per_server(servers),
        gangs: vec![GangSpec::new(0, 3, &[3, 1])],
        ..ClusterSpec::default()
    })
    .unwrap()
}

pub(super) fn view<'a>(
    cluster: &'a Cluster,
    slot: u64,
    arrivals: &'a Arrivals,
    free: &'a Capacity,
) -> SlotView<'a> {
    SlotView::new(cluster, Slot(slot), arrivals, free)
}

pub(super) fn solver() -> Box<dyn Solver> {
    Box::new(Exhaustive::default())
}
