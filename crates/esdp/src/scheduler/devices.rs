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
                free[device] = total[device].saturating_sub(held[device]);
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
