//! Random clusters, and what becomes of them.

use esdp::model::{ChannelRule, ClusterDescription, JobShape, PortSpec, ServerSpec, TaskGroupSpec};
use esdp::rng::Stream;
use rand::RngExt;

/// A cluster as it is described, and how many names it has given.
pub struct Described {
    pub cluster: ClusterDescription,
    servers: u64,
    ports: u64,
}

impl Described {
    pub fn new(rng: &mut Stream) -> Self {
        let cluster = ClusterDescription { devices: vec!["cpu".into(), "gpu".into()], ..Default::default() };
        let mut described = Self { cluster, servers: 0, ports: 0 };
        for _ in 0..rng.random_range(2..6) {
            let server = described.server(rng);
            described.cluster.servers.push(server);
        }
        for _ in 0..rng.random_range(1..4) {
            let port = described.port(rng);
            described.cluster.ports.push(port);
        }
        if described.cluster.cluster().is_err() {
            described.cluster.ports[0].channels = ChannelRule::All;
        }
        described
    }

    fn server(&mut self, rng: &mut Stream) -> ServerSpec {
        self.servers += 1;
        let label = ["old", "new"][rng.random_range(0..2)];
        let (cpu, gpu) = (rng.random_range(2..9), rng.random_range(0..5));
        ServerSpec {
            labels: vec![label.into()],
            ..ServerSpec::new(&format!("n{}", self.servers), &[("cpu", cpu), ("gpu", gpu)])
        }
    }

    /// Jobs are small, so that they do start; some need so many tasks of a group.
    fn port(&mut self, rng: &mut Stream) -> PortSpec {
        self.ports += 1;
        let has_minima = rng.random_bool(0.3);
        let groups: Vec<TaskGroupSpec> = (0..rng.random_range(1..3))
            .map(|group| {
                let count = rng.random_range(1..4);
                TaskGroupSpec {
                    name: format!("g{group}"),
                    count,
                    minimum: if has_minima { rng.random_range(0..=count.min(2)) } else { 0 },
                    request: [("cpu".into(), rng.random_range(1..3)), ("gpu".into(), rng.random_range(0..2))]
                        .into(),
                }
            })
            .collect();
        let all: u32 = groups.iter().map(|group| group.count).sum();
        let minimum = rng.random_range(1..=all);
        let mut port = PortSpec::new(&format!("p{}", self.ports), JobShape::Gang { minimum, groups });
        if rng.random_bool(0.2) {
            port.weight = rng.random_range(0.5..4.0);
        }
        if rng.random_bool(0.2) {
            port.channels = ChannelRule::Labels(vec!["new".into()]);
        }
        if rng.random_bool(0.2) {
            port.reference = Some(rng.random_range(0.1..100.0));
        }
        port
    }

    /// The next version, which need not be a sound one: then the world stays as it is.
    pub fn change(&mut self, rng: &mut Stream) -> ClusterDescription {
        let mut next = self.cluster.clone();
        let at = rng.random_range(0..next.servers.len());
        match rng.random_range(0..7) {
            0 => next.servers.push(self.server(rng)),
            1 if next.servers.len() > 1 => drop(next.servers.remove(at)),
            // Replaced by another of the same shape.
            2 => next.servers[at].name = self.server(rng).name,
            3 => {
                let amount = rng.random_range(1..9);
                next.servers[at].capacity.as_mut().unwrap().insert("cpu".into(), amount);
            }
            4 => next.servers[at].labels = vec!["new".into()],
            5 if next.ports.len() < 4 => next.ports.push(self.port(rng)),
            _ if next.ports.len() > 1 => drop(next.ports.remove(rng.random_range(0..next.ports.len()))),
            _ => next.servers.reverse(),
        }
        if next.cluster().is_ok() {
            self.cluster = next.clone();
        }
        next
    }

    pub fn some_server(&self, rng: &mut Stream) -> String {
        self.cluster.servers[rng.random_range(0..self.cluster.servers.len())].name.clone()
    }

    pub fn some_port(&self, rng: &mut Stream) -> String {
        self.cluster.ports[rng.random_range(0..self.cluster.ports.len())].name.clone()
    }
}
