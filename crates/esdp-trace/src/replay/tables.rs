//! The tables of a replay's scenario that are more than a list.

use esdp::model::SupplyCost;
use esdp::scenario::{CostTable, GangTable, GraphTable, JobTable, ListedGang, ListedTasks, NumberedChannel};

/// These channels, each with the request of its port.
pub(super) fn graph(servers: usize, channels: &[(usize, usize)], requests: &[Vec<u64>]) -> GraphTable {
    let channel = |&(port, server): &(usize, usize)| NumberedChannel {
        port: port as u32,
        server: server as u32,
        task: 0,
        request: Some(requests[port].clone()),
    };
    GraphTable {
        ports: requests.len() as u64,
        servers: servers as u64,
        channels: Some(channels.iter().map(channel).collect()),
        ..GraphTable::default()
    }
}

/// Jobs of so many tasks, which start whole or not at all.
pub(super) fn gangs(tasks: &[u32]) -> GangTable {
    let gang = |(port, &count): (u32, &u32)| ListedGang {
        port,
        minimum: count,
        tasks: vec![ListedTasks { count, min: 0 }],
        requests: None,
    };
    GangTable { list: Some((0..).zip(tasks).map(gang).collect()), ..GangTable::default() }
}

/// Jobs that wait and hold their devices for this much work.
pub(super) fn jobs(mut work: Vec<Vec<f64>>) -> JobTable {
    // Six digits: the rest is noise, and the file stays readable.
    work.iter_mut().flatten().for_each(|work| *work = (*work * 1e6).round().max(1.0) / 1e6);
    JobTable { held: true, list: Some(work), ..JobTable::default() }
}

/// A small price, so that a dear request is worth less than a cheap one: about 0.02 a task.
pub(super) fn costs(requests: &[Vec<u64>]) -> CostTable {
    let devices = requests[0].len();
    let mean = |device: usize| requests.iter().map(|own| own[device] as f64).sum::<f64>() / requests.len() as f64;
    let rate = |device: usize| 0.02 / devices as f64 / mean(device).max(1e-9);
    let cost = |device: usize| SupplyCost::Linear { fixed: 0.0, rate: rate(device) };
    CostTable { devices: Some((0..devices).map(cost).collect()), ..CostTable::default() }
}
