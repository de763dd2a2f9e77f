//! Which devices are held, and which are free.
//!
//! What is held is counted by itself and not derived from what is free: a cluster may shrink below what its
//! running jobs hold, and must then have exactly nothing free until enough of them have ended.

use crate::model::{Amount, Capacity, Cluster, Remap, ServerId};
use serde::{Deserialize, Serialize};

/// The devices of a cluster that jobs hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Devices {
    total: Capacity,
    held: Capacity,
    free: Capacity,
}

impl Devices {
    /// Nothing is held.
    pub(super) fn new(cluster: &Cluster) -> Self {
        let total = cluster.capacity().clone();
        Self { held: zeroed(&total), free: total.clone(), total }
    }

    pub(super) fn free(&self) -> &Capacity {
        &self.free
    }

    /// Takes devices, on a server and of the cluster.
    pub(super) fn take(&mut self, server: ServerId, amounts: &[Amount]) {
        self.change(server, amounts, Amount::saturating_add);
    }

    /// Gives devices back.
    pub(super) fn give(&mut self, server: ServerId, amounts: &[Amount]) {
        self.change(server, amounts, Amount::saturating_sub);
    }

    fn change(&mut self, server: ServerId, amounts: &[Amount], each: fn(Amount, Amount) -> Amount) {
        let Self { total, held, free } = self;
        let update = |total: &[Amount], held: &mut [Amount], free: &mut [Amount]| {
            for (device, &amount) in amounts.iter().enumerate() {
                held[device] = each(held[device], amount);
                free[device] = match total[device] {
                    Capacity::UNLIMITED => Capacity::UNLIMITED,
                    total => total.saturating_sub(held[device]),
                };
            }
        };
        if let (Some(total), Some(held), Some(free)) =
            (total.cluster(), held.cluster_mut(), free.cluster_mut())
        {
            update(total, held, free);
        }
        if let (Some(total), Some(held), Some(free)) =
            (total.server(server), held.server_mut(server), free.server_mut(server))
        {
            update(total, held, free);
        }
    }
}

fn zeroed(total: &Capacity) -> Capacity {
    let mut held = total.clone();
    if let Some(cluster) = held.cluster_mut() {
        cluster.fill(0);
    }
    let mut server = 0;
    while let Some(amounts) = held.try_server_mut(ServerId(server)) {
        amounts.fill(0);
        server += 1;
    }
    held
}

/// A running task's devices in the next version of a cluster.
pub(super) fn moved(amounts: &[Amount], remap: &Remap, devices: usize) -> Vec<Amount> {
    let mut next = vec![0; devices];
    for (index, &amount) in amounts.iter().enumerate() {
        if let Some(device) = remap.device(crate::model::DeviceId::at(index)) {
            next[device.index()] = amount;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ChannelSpec, ClusterSpec};

    /// Two servers with so much of each device, in a cluster that has so much in all.
    fn cluster(devices: &[&str], own: &[Amount], wide: &[Amount]) -> Cluster {
        Cluster::new(ClusterSpec {
            devices: devices.iter().map(ToString::to_string).collect(),
            servers: vec!["a".into(), "b".into()],
            ports: vec!["train".into()],
            channels: vec![ChannelSpec::new(0, 0, vec![1; devices.len()])],
            capacity: Capacity::cluster_wide(wide.to_vec())
                .with_servers(vec![own.to_vec(), own.to_vec()])
                .unwrap(),
            ..ClusterSpec::default()
        })
        .unwrap()
    }

    fn free(devices: &Devices) -> [&[Amount]; 3] {
        let server = |at| devices.free().server(ServerId(at)).unwrap();
        [devices.free().cluster().unwrap(), server(0), server(1)]
    }

    #[test]
    fn both_levels_are_counted_and_one_server_alone() {
        let mut devices = Devices::new(&cluster(&["cpu", "gpu"], &[8, 2], &[12, 3]));
        assert_eq!(free(&devices), [&[12, 3], &[8, 2], &[8, 2]]);
        devices.take(ServerId(1), &[5, 1]);
        devices.take(ServerId(0), &[1, 0]);
        assert_eq!(free(&devices), [&[6, 2], &[7, 2], &[3, 1]]);
        devices.give(ServerId(1), &[5, 1]);
        assert_eq!(free(&devices), [&[11, 3], &[7, 2], &[8, 2]]);
    }

    /// More is held than there is, as after a change of the cluster: nothing is free until enough came back.
    #[test]
    fn what_is_held_beyond_the_capacity_is_given_back_first() {
        let mut devices = Devices::new(&cluster(&["gpu"], &[4], &[8]));
        devices.take(ServerId(0), &[6]);
        assert_eq!(free(&devices), [&[2], &[0], &[4]]);
        devices.give(ServerId(0), &[1]);
        assert_eq!(free(&devices), [&[3], &[0], &[4]]);
        devices.give(ServerId(0), &[3]);
        assert_eq!(free(&devices), [&[6], &[2], &[4]]);
    }

    #[test]
    fn devices_are_moved_by_their_names() {
        let (old, new) = (
            cluster(&["cpu", "gpu", "tpu"], &[1, 1, 1], &[1, 1, 1]),
            cluster(&["gpu", "disk", "cpu", "nic"], &[1; 4], &[1; 4]),
        );
        let remap = Remap::between(&old, &new);
        assert_eq!(moved(&[3, 5, 7], &remap, 4), [5, 0, 3, 0]);
    }
}
