//! From what the user wrote to a cluster: every check, once.

use super::{Channel, Cluster, ClusterError, ClusterSpec};
use crate::model::gang::Tasks;
use crate::model::{ChannelId, PortId, ServerId};
use std::collections::HashSet;

impl Cluster {
    /// Checks a specification and builds the cluster.
    ///
    /// # Errors
    /// With the first thing that is wrong, see [`ClusterError`].
    pub fn new(spec: ClusterSpec) -> Result<Self, ClusterError> {
        let ClusterSpec { devices, servers, ports, channels, capacity, costs, channel_costs, gangs, labels } =
            spec;
        let mut labels = labels;
        let lists = [
            ("devices", devices.len()),
            ("servers", servers.len()),
            ("ports", ports.len()),
            ("channels", channels.len()),
        ];
        for (list, found) in lists {
            if found == 0 {
                return Err(ClusterError::Empty { list });
            }
            if u32::try_from(found).is_err() {
                return Err(ClusterError::TooLong { list, found });
            }
        }
        for (list, names) in [("devices", &devices), ("servers", &servers), ("ports", &ports)] {
            let mut seen = HashSet::with_capacity(names.len());
            if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
                return Err(ClusterError::SameName { list, name: name.clone() });
            }
        }
        capacity.check(devices.len(), servers.len())?;
        if !costs.is_empty() && costs.len() != devices.len() {
            return Err(ClusterError::Costs { found: costs.len(), expected: devices.len() });
        }
        if !channel_costs.is_empty() && channel_costs.len() != channels.len() {
            let (found, expected) = (channel_costs.len(), channels.len());
            return Err(ClusterError::ChannelCosts { found, expected });
        }
        let wrong = |cost: &f64| !(cost.is_finite() && *cost >= 0.0);
        if let Some(channel) = channel_costs.iter().position(wrong) {
            return Err(ClusterError::ChannelCost { channel, value: channel_costs[channel] });
        }
        if !labels.is_empty() && labels.len() != servers.len() {
            return Err(ClusterError::Labels { found: labels.len(), expected: servers.len() });
        }
        labels.resize(servers.len(), Vec::new());
        for (device, cost) in costs.iter().enumerate() {
            cost.check().map_err(|source| ClusterError::Cost { device, source })?;
        }

        let mut seen = HashSet::with_capacity(channels.len());
        let mut pairs = Vec::with_capacity(channels.len());
        let mut requests = Vec::with_capacity(channels.len() * devices.len());
        let mut supply = Vec::with_capacity(channels.len());
        for (position, channel) in channels.iter().enumerate() {
            let ends = [("port", channel.port, ports.len()), ("server", channel.server, servers.len())];
            for (field, value, limit) in ends {
                if value as usize >= limit {
                    return Err(ClusterError::UnknownEnd { channel: position, field, value, limit });
                }
            }
            if channel.request.len() != devices.len() {
                let found = channel.request.len();
                return Err(ClusterError::Request { channel: position, found, expected: devices.len() });
            }
            if !seen.insert((channel.port, channel.task, channel.server)) {
                let (port, server) = (channel.port, channel.server);
                return Err(ClusterError::Duplicate { channel: position, port, server });
            }
            let by_device = || costs.iter().zip(&channel.request).map(|(f, &a)| f.at(a)).sum::<f64>();
            let cost = channel_costs.get(position).copied().unwrap_or_else(by_device);
            if !cost.is_finite() {
                return Err(ClusterError::CostOverflow { channel: position });
            }
            pairs.push(Channel { port: PortId(channel.port), server: ServerId(channel.server) });
            requests.extend_from_slice(&channel.request);
            supply.push(cost);
        }
        let tasks = Tasks::new(&gangs, &channels, ports.len())?;
        let (port_start, port_channels) = by_port(&pairs, ports.len());
        Ok(Self {
            devices,
            servers,
            ports,
            channels: pairs,
            requests,
            costs: supply,
            device_costs: costs,
            capacity,
            labels,
            tasks,
            port_start,
            port_channels,
        })
    }
}

/// The channels of each port, as offsets into one list.
fn by_port(channels: &[Channel], ports: usize) -> (Vec<u32>, Vec<ChannelId>) {
    let mut start = vec![0u32; ports + 1];
    for channel in channels {
        start[channel.port.index() + 1] += 1;
    }
    for port in 0..ports {
        start[port + 1] += start[port];
    }
    let mut next = start.clone();
    let mut list = vec![ChannelId(0); channels.len()];
    for (index, channel) in channels.iter().enumerate() {
        let place = &mut next[channel.port.index()];
        list[*place as usize] = ChannelId::at(index);
        *place += 1;
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Capacity, ChannelSpec, SupplyCost};

    fn spec() -> ClusterSpec {
        let channel = |port, server, request: [u64; 2]| ChannelSpec::new(port, server, request.to_vec());
        ClusterSpec {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: vec!["a".into(), "b".into()],
            ports: vec!["train".into(), "serve".into()],
            channels: vec![channel(1, 0, [1, 2]), channel(0, 1, [2, 1]), channel(1, 1, [1, 1])],
            capacity: Capacity::cluster_wide(vec![6, 5]),
            costs: vec![SupplyCost::Linear { fixed: 0.0, rate: 0.1 }, SupplyCost::FREE],
            ..ClusterSpec::default()
        }
    }

    #[test]
    fn a_valid_cluster_is_indexed() {
        let cluster = Cluster::new(spec()).unwrap();
        assert_eq!(cluster.channels_of(PortId(0)), [ChannelId(1)]);
        assert_eq!(cluster.channels_of(PortId(1)), [ChannelId(0), ChannelId(2)]);
        assert_eq!(cluster.request(ChannelId(1)), [2, 1]);
        assert_eq!(cluster.cost(ChannelId(1)), 0.2);
        assert_eq!(cluster.net_utility(ChannelId(1), 0.5), 0.3);
        assert_eq!(cluster.net_utility(ChannelId(1), 0.1), 0.0);
        let own = Cluster::new(ClusterSpec { channel_costs: vec![0.5, 0.25, 0.0], ..spec() }).unwrap();
        assert_eq!([0, 1, 2].map(|id| own.cost(ChannelId(id))), [0.5, 0.25, 0.0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: fn(&mut ClusterSpec)| {
            let mut spec = spec();
            change(&mut spec);
            Cluster::new(spec).unwrap_err().to_string()
        };
        assert_eq!(
            refused(|s| s.servers[1] = "a".into()),
            "`servers`: the name `a` is used twice, expected unique names"
        );
        assert_eq!(refused(|s| s.channels.clear()), "`channels` is empty, expected at least one entry");
        assert_eq!(refused(|s| s.channels[2].server = 2), "channel 2: `server` is 2, expected less than 2");
        assert_eq!(
            refused(|s| s.channels[0].request.truncate(1)),
            "channel 0: `request` lists 1 devices, expected 2"
        );
        assert_eq!(
            refused(|s| drop(s.costs.pop())),
            "`costs` has length 1, expected 0 or 2 (one per device)"
        );
        assert!(refused(|s| s.channels[2].server = 0).contains("joined by an earlier channel already"));
        assert!(refused(|s| s.capacity = Capacity::default()).starts_with("capacity: no capacity"));
        assert_eq!(
            refused(|s| s.channel_costs = vec![0.1]),
            "`channel_costs` has length 1, expected 0 or 3 (one per channel)"
        );
        assert_eq!(
            refused(|s| s.channel_costs = vec![0.1, -1.0, 0.0]),
            "`channel_costs[1]` is -1, expected a finite number of at least 0"
        );
        assert!(
            refused(|s| s.costs[1] = SupplyCost::Step { per: 0, cost: 0.0 }).starts_with("cost of device 1")
        );
        assert!(
            refused(|s| s.costs[0] = SupplyCost::Power { rate: f64::MAX, exponent: 9.0 })
                .contains("not a finite number")
        );
    }
}
