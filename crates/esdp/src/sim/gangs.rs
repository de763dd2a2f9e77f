//! Random gangs: turns every port of a drawn cluster into one whose jobs are gangs.

use super::parameter::{ParameterError, check_number};
use crate::model::{Amount, ChannelSpec, ClusterSpec, GangSpec};
use crate::rng::{Purpose, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How to draw gangs.
///
/// ```
/// use esdp::model::{Cluster, PortId};
/// use esdp::sim::{RandomCluster, RandomGangs};
///
/// let recipe = RandomCluster { server_capacity: Some((8, 8)), ..RandomCluster::default() };
/// let mut spec = recipe.draw(1)?;
/// RandomGangs { tasks: (4, 4), ..RandomGangs::default() }.apply(&mut spec, 1, recipe.requests(1))?;
/// let cluster = Cluster::new(spec)?;
/// assert!(cluster.is_gang(PortId(0)) && cluster.minimum(PortId(0)) >= 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomGangs {
    /// The smallest and the largest number of task groups of a job (default: [1, 2]).
    pub groups: (u32, u32),
    /// The smallest and the largest number of tasks of a group (default: [1, 8]).
    pub tasks: (u32, u32),
    /// The share of its tasks that a job starts with at least, rounded up (default: 1).
    pub minimum: f64,
}

/// The most groups of a job and the most tasks of a group.
const MOST: u32 = 10_000;

impl Default for RandomGangs {
    fn default() -> Self {
        Self { groups: (1, 2), tasks: (1, 8), minimum: 1.0 }
    }
}

impl RandomGangs {
    /// Checks the parameters.
    ///
    /// # Errors
    /// With the first that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (key, (from, to)) in [("groups", self.groups), ("tasks", self.tasks)] {
            if !(1 <= from && from <= to && to <= MOST) {
                let accepted = format!("two ascending whole numbers from 1 to {MOST}");
                return Err(ParameterError::new(key, format!("[{from}, {to}]"), accepted));
            }
        }
        check_number("minimum", self.minimum, 0.0..=1.0)
    }

    /// Makes every port a gang. Every task group may use the servers that its port reaches, and asks
    /// for the same devices on all of them: `request` is called once a group.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn apply(
        &self,
        spec: &mut ClusterSpec,
        seed: u64,
        mut request: impl FnMut() -> Vec<Amount>,
    ) -> Result<(), ParameterError> {
        self.check()?;
        let pairs = std::mem::take(&mut spec.channels);
        spec.gangs.clear();
        for port in 0..spec.ports.len() as u32 {
            let mut rng = stream(seed, Purpose::Cluster, u64::from(port), 6);
            let groups = rng.random_range(self.groups.0..=self.groups.1);
            let tasks: Vec<u32> =
                (0..groups).map(|_| rng.random_range(self.tasks.0..=self.tasks.1)).collect();
            let all: u32 = tasks.iter().sum();
            let minimum = ((f64::from(all) * self.minimum).ceil() as u32).clamp(1, all);
            for task in 0..groups {
                let request = request();
                let reached = pairs.iter().filter(|pair| pair.port == port);
                spec.channels.extend(reached.map(|pair| ChannelSpec {
                    task,
                    request: request.clone(),
                    ..pair.clone()
                }));
            }
            spec.gangs.push(GangSpec::new(port, minimum, &tasks));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cluster, PortId};
    use crate::sim::RandomCluster;

    #[test]
    fn gangs_are_as_told() {
        let recipe = RandomCluster { server_capacity: Some((4, 8)), ..RandomCluster::default() };
        let gangs = RandomGangs { groups: (1, 3), tasks: (2, 6), minimum: 0.5 };
        let plain = recipe.generate(3).unwrap();
        let mut spec = recipe.draw(3).unwrap();
        gangs.apply(&mut spec, 3, recipe.requests(3)).unwrap();
        let cluster = Cluster::new(spec).unwrap();
        for port in (0..8).map(PortId) {
            let groups: Vec<_> = cluster.task_groups().iter().filter(|group| group.port == port).collect();
            assert!(
                (1..=3).contains(&groups.len()) && groups.iter().all(|group| (2..=6).contains(&group.count))
            );
            let all: u32 = groups.iter().map(|group| group.count).sum();
            assert_eq!(cluster.minimum(port), all.div_ceil(2));
            assert_eq!(cluster.channels_of(port).len(), groups.len() * plain.channels_of(port).len());
            for group in
                cluster.channels_of(port).chunk_by(|&a, &b| cluster.task_group(a) == cluster.task_group(b))
            {
                assert!(group.iter().all(|&channel| cluster.request(channel) == cluster.request(group[0])));
            }
        }
        let refused = RandomGangs { tasks: (0, 3), ..gangs }.check().unwrap_err().to_string();
        assert!(refused.contains("`tasks` is [0, 3]"), "{refused}");
        assert!(RandomGangs { minimum: f64::NAN, ..gangs }.check().is_err());
    }
}
