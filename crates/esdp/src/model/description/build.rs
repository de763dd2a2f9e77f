//! From names and rules to a cluster, and back.

use super::{
    Amounts, ChannelRule, ClusterDescription, DescriptionError, JobShape, ListedChannel, PortSpec,
    ServerSpec, TaskGroupSpec,
};
use crate::model::{
    Amount, Capacity, ChannelId, ChannelSpec, Cluster, ClusterError, ClusterSpec, GangSpec, Pace, PortId,
    ServerId, SupplyCost, TaskSpec,
};

impl ClusterDescription {
    /// Checks the description and gives out positions.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn cluster(&self) -> Result<Cluster, DescriptionError> {
        let mut channels = Vec::new();
        let mut gangs = Vec::new();
        for (index, port) in self.ports.iter().enumerate() {
            for (key, value) in [("weight", Some(port.weight)), ("reference", port.reference)] {
                if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                    return Err(DescriptionError::NotPositive { port: port.name.clone(), key, value });
                }
            }
            if let JobShape::Gang { minimum, groups } = &port.jobs {
                let task = |group: &TaskGroupSpec| TaskSpec {
                    name: group.name.clone(),
                    count: group.count,
                    minimum: group.minimum,
                };
                let tasks = groups.iter().map(task).collect();
                gangs.push(GangSpec { port: index as u32, minimum: *minimum, tasks, pace: port.pace });
            } else if port.pace != Pace::Sum {
                return Err(DescriptionError::Pace { port: port.name.clone() });
            }
            self.channels(index as u32, port, &mut channels)?;
        }
        let costs = match self.costs.is_empty() {
            true => Vec::new(),
            false => {
                self.check_devices("costs", "costs", self.costs.keys())?;
                self.devices
                    .iter()
                    .map(|name| self.costs.get(name).cloned().unwrap_or(SupplyCost::FREE))
                    .collect()
            }
        };
        Ok(Cluster::new(ClusterSpec {
            devices: self.devices.clone(),
            servers: self.servers.iter().map(|server| server.name.clone()).collect(),
            ports: self.ports.iter().map(|port| port.name.clone()).collect(),
            channels,
            capacity: self.limits()?,
            costs,
            channel_costs: Vec::new(),
            gangs,
            labels: self.servers.iter().map(|server| server.labels.clone()).collect(),
        })?)
    }

    fn limits(&self) -> Result<Capacity, DescriptionError> {
        let mut servers = Vec::new();
        for server in &self.servers {
            if let Some(capacity) = &server.capacity {
                servers.push(self.amounts("server", &server.name, capacity)?);
            }
        }
        let mut cluster = match &self.capacity {
            Some(capacity) => Some(self.amounts("capacity", "of the cluster", capacity)?),
            None => None,
        };
        if !servers.is_empty() && servers.len() < self.servers.len() {
            let server = self.servers.iter().find(|server| server.capacity.is_none());
            return Err(DescriptionError::MissingCapacity {
                server: server.map_or("", |s| &s.name).to_owned(),
            });
        }
        if let Some(cluster) = cluster.as_mut().filter(|_| !servers.is_empty()) {
            self.separate(cluster, &mut servers);
        }
        Ok(match (cluster, servers.is_empty()) {
            (Some(cluster), true) => Capacity::cluster_wide(cluster),
            (None, true) => Capacity::default(),
            (None, false) => Capacity::per_server(servers),
            (Some(cluster), false) => {
                Capacity::cluster_wide(cluster).with_servers(servers).map_err(ClusterError::Capacity)?
            }
        })
    }

    /// A device belongs to the servers, to the cluster as a whole, or to both: to whoever lists it. The other
    /// level does not limit it.
    fn separate(&self, cluster: &mut [Amount], servers: &mut [Vec<Amount>]) {
        for (index, device) in self.devices.iter().enumerate() {
            let lists =
                |capacity: &Option<Amounts>| capacity.as_ref().is_some_and(|all| all.contains_key(device));
            match (lists(&self.capacity), self.servers.iter().any(|server| lists(&server.capacity))) {
                (true, false) => servers.iter_mut().for_each(|own| own[index] = Capacity::UNLIMITED),
                (false, true) => cluster[index] = Capacity::UNLIMITED,
                // Listed by nobody, nobody has any.
                (true, true) | (false, false) => {}
            }
        }
    }

    fn channels(
        &self,
        index: u32,
        port: &PortSpec,
        all: &mut Vec<ChannelSpec>,
    ) -> Result<(), DescriptionError> {
        let groups: Vec<(&str, &Amounts)> = match &port.jobs {
            JobShape::Parts { request } => vec![("", request)],
            JobShape::Gang { groups, .. } => {
                groups.iter().map(|group| (&*group.name, &group.request)).collect()
            }
        };
        if let ChannelRule::Listed(listed) = &port.channels {
            for ListedChannel { server, group, request } in listed {
                let at = self.servers.iter().position(|known| known.name == *server);
                let at = at.ok_or_else(|| DescriptionError::UnknownServer {
                    port: port.name.clone(),
                    server: server.clone(),
                })?;
                let task = groups.iter().position(|known| known.0 == group);
                let task = task.ok_or_else(|| DescriptionError::UnknownGroup {
                    port: port.name.clone(),
                    group: group.clone(),
                })?;
                let request = self.amounts("port", &port.name, request)?;
                all.push(ChannelSpec { port: index, server: at as u32, task: task as u32, request });
            }
            return Ok(());
        }
        for (task, (_, request)) in groups.into_iter().enumerate() {
            let request = self.amounts("port", &port.name, request)?;
            for (server, spec) in self.servers.iter().enumerate() {
                let allowed = match &port.channels {
                    ChannelRule::Labels(labels) => labels.iter().all(|label| spec.labels.contains(label)),
                    ChannelRule::Servers(names) => names.contains(&spec.name),
                    ChannelRule::All | ChannelRule::Listed(_) => true,
                };
                if allowed {
                    let request = request.clone();
                    all.push(ChannelSpec { port: index, server: server as u32, task: task as u32, request });
                }
            }
        }
        Ok(())
    }

    fn amounts(
        &self,
        place: &'static str,
        name: &str,
        listed: &Amounts,
    ) -> Result<Vec<Amount>, DescriptionError> {
        self.check_devices(place, name, listed.keys())?;
        Ok(self.devices.iter().map(|device| listed.get(device).copied().unwrap_or(0)).collect())
    }

    fn check_devices<'a>(
        &self,
        place: &'static str,
        name: &str,
        mut listed: impl Iterator<Item = &'a String>,
    ) -> Result<(), DescriptionError> {
        match listed.find(|device| !self.devices.contains(device)) {
            Some(device) => {
                Err(DescriptionError::UnknownDevice { place, name: name.to_owned(), device: device.clone() })
            }
            None => Ok(()),
        }
    }
}

impl ClusterDescription {
    /// The description of a cluster that was built from positions, every channel listed by itself.
    pub fn of(cluster: &Cluster) -> Self {
        let devices = cluster.devices();
        let named = |amounts: &[Amount]| {
            let limited = devices.iter().cloned().zip(amounts.iter().copied());
            limited.filter(|&(_, amount)| amount != Capacity::UNLIMITED).collect::<Amounts>()
        };
        let servers = cluster.servers().iter().enumerate().map(|(index, name)| ServerSpec {
            name: name.clone(),
            labels: cluster.labels(ServerId::at(index)).to_vec(),
            capacity: cluster.capacity().server(ServerId::at(index)).map(named),
        });
        let ports = cluster.ports().iter().enumerate().map(|(index, name)| {
            let port = PortId::at(index);
            let listed = |&id: &ChannelId| ListedChannel {
                server: cluster.servers()[cluster.channel(id).server.index()].clone(),
                group: cluster.group_name(cluster.task_group(id)).to_owned(),
                request: named(cluster.request(id)),
            };
            let groups = cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == port);
            let jobs = match cluster.is_gang(port) {
                false => JobShape::Parts { request: Amounts::new() },
                true => JobShape::Gang {
                    minimum: cluster.minimum(port),
                    groups: groups
                        .map(|(position, group)| TaskGroupSpec {
                            name: cluster.group_name(position).to_owned(),
                            count: group.count,
                            minimum: group.minimum,
                            request: Amounts::new(),
                        })
                        .collect(),
                },
            };
            let channels = ChannelRule::Listed(cluster.channels_of(port).iter().map(listed).collect());
            PortSpec { pace: cluster.pace(port), channels, ..PortSpec::new(name, jobs) }
        });
        let costs =
            cluster.device_costs().iter().zip(devices).map(|(cost, device)| (device.clone(), cost.clone()));
        Self {
            devices: devices.to_vec(),
            servers: servers.collect(),
            ports: ports.collect(),
            capacity: cluster.capacity().cluster().map(named),
            costs: costs.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::amounts;
    use super::*;
    use crate::model::ChannelKey;

    fn described() -> ClusterDescription {
        let mut big = ServerSpec::new("n0", &[("cpu", 64), ("gpu", 8)]);
        big.labels = vec!["a100".into()];
        ClusterDescription {
            devices: vec!["cpu".into(), "gpu".into()],
            servers: vec![big, ServerSpec::new("n1", &[("cpu", 64)])],
            ports: vec![
                PortSpec::new("train", JobShape::tasks(4, 2, &[("gpu", 2)])),
                PortSpec {
                    channels: ChannelRule::Labels(vec!["a100".into()]),
                    ..PortSpec::new("serve", JobShape::Parts { request: amounts(&[("cpu", 1)]) })
                },
            ],
            ..ClusterDescription::default()
        }
    }

    #[test]
    fn rules_become_channels() {
        let cluster = described().cluster().unwrap();
        let keys: Vec<_> = (0..3).map(|id| cluster.channel_key(ChannelId(id))).collect();
        let key = |port: &str, group: &str, server: &str| ChannelKey {
            port: port.into(),
            group: group.into(),
            server: server.into(),
        };
        assert_eq!(keys, [key("train", "task", "n0"), key("train", "task", "n1"), key("serve", "", "n0")]);
        assert_eq!(cluster.request(ChannelId(0)), [0, 2]);
        assert_eq!(cluster.capacity().server(ServerId(1)), Some(&[64, 0][..]));
        let again = ClusterDescription::of(&cluster).cluster().unwrap();
        assert_eq!(again, cluster);
        assert_eq!(again.fingerprint(), cluster.fingerprint());
    }

    #[test]
    fn a_device_belongs_to_whoever_lists_it() {
        let mut described = described();
        described.devices.push("licence".into());
        described.devices.push("watt".into());
        described.capacity = Some(amounts(&[("licence", 3), ("watt", 9)]));
        described.servers[0].capacity = Some(amounts(&[("cpu", 64), ("gpu", 8), ("watt", 5)]));
        let cluster = described.cluster().unwrap();
        let (capacity, none) = (cluster.capacity(), Capacity::UNLIMITED);
        assert_eq!(capacity.cluster(), Some(&[none, none, 3, 9][..]));
        assert_eq!(capacity.server(ServerId(0)), Some(&[64, 8, none, 5][..]));
        assert_eq!(capacity.server(ServerId(1)), Some(&[64, 0, none, 0][..]), "servers list watts");
        let again = ClusterDescription::of(&cluster);
        assert_eq!(again.capacity, described.capacity);
        assert_eq!(again.servers[0].capacity, described.servers[0].capacity);
        assert_eq!(again.cluster().unwrap().capacity(), capacity);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: fn(&mut ClusterDescription)| {
            let mut described = described();
            change(&mut described);
            described.cluster().unwrap_err().to_string()
        };
        assert_eq!(
            refused(|d| d.devices.truncate(1)),
            "port `train` speaks of the device `gpu`, which `devices` does not list"
        );
        assert_eq!(
            refused(|d| d.ports[1].name = "train".into()),
            "`ports`: the name `train` is used twice, expected unique names"
        );
        assert!(refused(|d| d.servers[1].capacity = None).starts_with("server `n1` has no `capacity`"));
        assert!(refused(|d| d.ports[0].weight = 0.0).starts_with("port `train`: `weight` is 0"));
        assert!(refused(|d| d.ports[0].reference = Some(f64::NAN)).contains("`reference` is NaN"));
        let listed = ListedChannel { server: "n9".into(), group: "task".into(), request: Amounts::new() };
        let mut unknown = described();
        unknown.ports[0].channels = ChannelRule::Listed(vec![listed]);
        assert!(unknown.cluster().unwrap_err().to_string().contains("the server `n9`"));
    }
}
