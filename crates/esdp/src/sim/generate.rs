//! Random clusters as in the paper's evaluation (its Table 2).
//!
//! Each port reaches each server with some probability; requests and cluster-wide
//! capacities are whole numbers from a range. Two readings of the printed table:
//!
//! - Capacities "between 1 and 2" leave room for one or two channels a slot. The default
//!   here is 4 to 8, with which the paper's curves appear.
//! - Costs drawn from `N(0.5, 0.1)` for each of three devices exceed every utility. They are
//!   divided by 15 (`cost_scale`), so that a channel costs about 0.1. One draw for each
//!   device and amount, so that *f_k* is a function of the amount; "*f_k(a_k^(l,r))* is generated" may
//!   also mean a draw for each channel (`cost_per`).
//!
//! A port that would reach no server gets one, so that no port is dead.

use super::parameter::{ParameterError, check_number, check_whole};
use crate::model::{Amount, Capacity, ChannelSpec, Cluster, ClusterError, ClusterSpec, SupplyCost};
use crate::rng::{Purpose, Stream, stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How to draw a cluster. The default is Table 2 as read above.
///
/// ```
/// use esdp::sim::{ChannelCount, RandomCluster};
///
/// let recipe = RandomCluster { channels: ChannelCount::Exactly(100), ..RandomCluster::default() };
/// assert_eq!(recipe.generate(1)?.channels().len(), 100);
/// # Ok::<(), esdp::sim::GenerateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomCluster {
    /// The number of ports, *|L|*.
    pub ports: usize,
    /// The number of servers, *|R|*.
    pub servers: usize,
    /// Which channels there are.
    pub channels: ChannelCount,
    /// The number of device types, *K*.
    pub devices: usize,
    /// The smallest and the largest request on a device.
    pub request: (Amount, Amount),
    /// The smallest and the largest cluster-wide capacity of a device.
    pub capacity: (Amount, Amount),
    /// The smallest and the largest capacity of a device on each server; without it, servers have
    /// no limits of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_capacity: Option<(Amount, Amount)>,
    /// The mean supply cost, before scaling.
    pub cost_mean: f64,
    /// Its standard deviation.
    pub cost_deviation: f64,
    /// What drawn costs are multiplied with; negative draws cost nothing.
    pub cost_scale: f64,
    /// What has a cost of its own.
    #[serde(skip_serializing_if = "CostPer::is_default")]
    pub cost_per: CostPer,
}

/// What supply costs are drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CostPer {
    /// Each amount of a device: channels that request the same cost the same.
    #[default]
    Amount,
    /// Each channel, on every device that it requests.
    Channel,
}

impl CostPer {
    /// Whether it is [`CostPer::Amount`].
    pub(crate) fn is_default(&self) -> bool {
        *self == CostPer::default()
    }
}

/// Which channels a random cluster has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelCount {
    /// Each port-server pair with this probability.
    Probability(f64),
    /// This many pairs, at least one per port.
    Exactly(usize),
}

impl Default for RandomCluster {
    fn default() -> Self {
        Self {
            ports: 8,
            servers: 40,
            channels: ChannelCount::Probability(0.1),
            devices: 3,
            request: (1, 2),
            capacity: (4, 8),
            server_capacity: None,
            cost_mean: 0.5,
            cost_deviation: 0.1,
            cost_scale: 1.0 / 15.0,
            cost_per: CostPer::Amount,
        }
    }
}

/// Why a recipe gives no cluster. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GenerateError {
    /// A parameter is out of range.
    #[error("random cluster: {0}")]
    Parameter(#[from] ParameterError),
    /// The drawn cluster is none.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// Amounts above this would make cost tables needlessly long.
const LARGEST_REQUEST: Amount = 1 << 20;

impl RandomCluster {
    /// Draws the cluster of a seed.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn generate(&self, seed: u64) -> Result<Cluster, GenerateError> {
        Ok(Cluster::new(self.draw(seed)?)?)
    }

    /// Draws the specification of a seed's cluster, for those who want to change something in it.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn draw(&self, seed: u64) -> Result<ClusterSpec, ParameterError> {
        self.check()?;
        // One stream a subject: a wider range of capacities does not change the channels.
        let mut pairs_rng = stream(seed, Purpose::Cluster, 0, 0);
        let mut capacity_rng = stream(seed, Purpose::Cluster, 0, 2);
        let mut server_rng = stream(seed, Purpose::Cluster, 0, 4);

        let mut request = self.requests(seed);
        let pairs = self.pairs(&mut pairs_rng);
        let channels: Vec<ChannelSpec> =
            pairs.into_iter().map(|(port, server)| ChannelSpec::new(port, server, request())).collect();
        let mut capacity = Capacity::cluster_wide(
            (0..self.devices).map(|_| within(self.capacity, &mut capacity_rng)).collect(),
        );
        if let Some(range) = self.server_capacity {
            let mut server = |_| (0..self.devices).map(|_| within(range, &mut server_rng)).collect();
            let servers = (0..self.servers).map(&mut server).collect();
            capacity = capacity.with_servers(servers).expect("one amount per device");
        }
        let mut cost = self.costs(seed);
        let costs = (0..self.devices)
            .map(|_| SupplyCost::Table { costs: (0..self.request.1.max(1)).map(|_| cost()).collect() })
            .collect();
        let channel_costs = self.channel_costs(seed, &channels);
        let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
        Ok(ClusterSpec {
            devices: names("device", self.devices),
            servers: names("server", self.servers),
            ports: names("port", self.ports),
            channels,
            capacity,
            costs,
            channel_costs,
            ..ClusterSpec::default()
        })
    }

    /// Draws costs, one after another.
    fn costs(&self, seed: u64) -> impl FnMut() -> f64 {
        let mut rng = stream(seed, Purpose::Cluster, 0, 3);
        let &Self { cost_mean, cost_deviation, cost_scale, .. } = self;
        move || {
            let draw: f64 = StandardNormal.sample(&mut rng);
            ((cost_mean + cost_deviation * draw) * cost_scale).max(0.0)
        }
    }

    /// The costs of these channels: the sum of a draw for every device that a channel requests; none where
    /// costs are drawn by amount.
    pub fn channel_costs(&self, seed: u64, channels: &[ChannelSpec]) -> Vec<f64> {
        if self.cost_per == CostPer::Amount {
            return Vec::new();
        }
        let mut cost = self.costs(seed);
        let mut of = |channel: &ChannelSpec| {
            let draws = channel.request.iter().map(|&amount| (amount, cost()));
            draws.filter(|(amount, _)| *amount > 0).map(|(_, cost)| cost).sum()
        };
        channels.iter().map(&mut of).collect()
    }

    /// Draws requests, one channel after another.
    pub fn requests(&self, seed: u64) -> impl FnMut() -> Vec<Amount> {
        let mut rng = stream(seed, Purpose::Cluster, 0, 1);
        let (devices, range) = (self.devices, self.request);
        move || (0..devices).map(|_| within(range, &mut rng)).collect()
    }

    fn pairs(&self, rng: &mut Stream) -> Vec<(u32, u32)> {
        let (ports, servers) = (self.ports as u32, self.servers as u32);
        let mut pairs = match self.channels {
            ChannelCount::Probability(probability) => {
                let mut pairs = Vec::new();
                for port in 0..ports {
                    let before = pairs.len();
                    pairs.extend(
                        (0..servers).filter(|_| rng.random_bool(probability)).map(|server| (port, server)),
                    );
                    if pairs.len() == before {
                        pairs.push((port, rng.random_range(0..servers)));
                    }
                }
                pairs
            }
            ChannelCount::Exactly(count) => {
                let mut pairs: Vec<(u32, u32)> =
                    (0..ports).map(|port| (port, rng.random_range(0..servers))).collect();
                let mut others: Vec<(u32, u32)> = (0..ports)
                    .flat_map(|port| (0..servers).map(move |server| (port, server)))
                    .filter(|&(port, server)| pairs[port as usize].1 != server)
                    .collect();
                for taken in 0..count - pairs.len() {
                    let swap = rng.random_range(taken..others.len());
                    others.swap(taken, swap);
                }
                pairs.extend_from_slice(&others[..count - ports as usize]);
                pairs
            }
        };
        pairs.sort_unstable();
        pairs
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// With the first that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (key, value) in [("ports", self.ports), ("servers", self.servers), ("devices", self.devices)] {
            check_whole(key, value as u64, 1..=1 << 24)?;
        }
        match self.channels {
            ChannelCount::Probability(value) => check_number("channels.probability", value, 0.0..=1.0)?,
            ChannelCount::Exactly(value) => {
                let most = self.ports as u64 * self.servers as u64;
                check_whole("channels.exactly", value as u64, self.ports as u64..=most)?;
            }
        }
        let ranges = [
            ("request", Some(self.request), LARGEST_REQUEST),
            ("capacity", Some(self.capacity), Amount::MAX),
            ("server_capacity", self.server_capacity, Amount::MAX),
        ];
        for (key, range, limit) in ranges {
            if let Some((from, to)) = range
                && (from > to || to > limit)
            {
                let accepted = format!("two ascending numbers of at most {limit}");
                return Err(ParameterError::new(key, format!("[{from}, {to}]"), accepted));
            }
        }
        let costs = [
            ("cost_mean", self.cost_mean),
            ("cost_deviation", self.cost_deviation),
            ("cost_scale", self.cost_scale),
        ];
        costs.into_iter().try_for_each(|(key, value)| check_number(key, value, 0.0..=1e9))
    }
}

fn within((from, to): (Amount, Amount), rng: &mut Stream) -> Amount {
    rng.random_range(from..=to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ChannelId, PortId};

    #[test]
    fn the_default_is_table_two() {
        let (mut channels, mut cost) = (0, 0.0);
        for seed in 0..50 {
            let cluster = RandomCluster::default().generate(seed).unwrap();
            assert_eq!((cluster.ports().len(), cluster.servers().len(), cluster.devices().len()), (8, 40, 3));
            assert!(cluster.capacity().cluster().unwrap().iter().all(|c| (4..=8).contains(c)));
            for port in (0..8).map(PortId) {
                assert!(!cluster.channels_of(port).is_empty());
            }
            for channel in (0..cluster.channels().len()).map(ChannelId::at) {
                assert!(cluster.request(channel).iter().all(|a| (1..=2).contains(a)));
                cost += cluster.cost(channel);
            }
            channels += cluster.channels().len();
        }
        assert!((30..=34).contains(&(channels / 50)), "{channels}");
        let mean = cost / f64::from(channels as u32);
        assert!((mean - 0.1).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_seed_is_a_cluster() {
        let recipe = RandomCluster::default();
        assert_eq!(recipe.generate(3).unwrap(), recipe.generate(3).unwrap());
        assert_ne!(recipe.generate(3).unwrap(), recipe.generate(4).unwrap());
        let roomy = RandomCluster { capacity: (8, 16), ..recipe.clone() }.generate(3).unwrap();
        assert_eq!(roomy.channels(), recipe.generate(3).unwrap().channels());
    }

    #[test]
    fn costs_are_drawn_by_amount_or_by_channel() {
        let drawn = |cost_per| RandomCluster { cost_per, ..RandomCluster::default() }.generate(3).unwrap();
        let (amount, channel) = (drawn(CostPer::Amount), drawn(CostPer::Channel));
        assert_eq!(amount.channels(), channel.channels());
        let ids = || (0..amount.channels().len()).map(ChannelId::at);
        let alike = |cluster: &Cluster| {
            let same = |a: ChannelId, b: ChannelId| cluster.request(a) == cluster.request(b);
            let mut pairs = ids().flat_map(|a| ids().filter(move |b| a < *b).map(move |b| (a, b)));
            pairs.any(|(a, b)| same(a, b) && cluster.cost(a) == cluster.cost(b))
        };
        assert!(alike(&amount) && !alike(&channel));
        // Three draws of 1/30 each, whatever the amounts.
        let mean = ids().map(|id| channel.cost(id)).sum::<f64>() / channel.channels().len() as f64;
        assert!((mean - 0.1).abs() < 0.01, "{mean}");
        let nothing = ChannelSpec::new(0, 0, vec![0, 0, 0]);
        let recipe = RandomCluster { cost_per: CostPer::Channel, ..RandomCluster::default() };
        assert_eq!(recipe.channel_costs(3, &[nothing]), [0.0], "what is not requested costs nothing");
    }

    #[test]
    fn an_exact_number_of_channels() {
        for count in [8, 9, 100, 320] {
            let recipe = RandomCluster { channels: ChannelCount::Exactly(count), ..RandomCluster::default() };
            let cluster = recipe.generate(1).unwrap();
            assert_eq!(cluster.channels().len(), count);
            assert!((0..8).map(PortId).all(|port| !cluster.channels_of(port).is_empty()));
        }
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let refused = |change: fn(&mut RandomCluster)| {
            let mut recipe = RandomCluster::default();
            change(&mut recipe);
            recipe.generate(0).unwrap_err().to_string()
        };
        assert!(refused(|r| r.ports = 0).contains("`ports` is 0"));
        assert!(
            refused(|r| r.channels = ChannelCount::Probability(1.5))
                .contains("`channels.probability` is 1.5")
        );
        assert!(refused(|r| r.channels = ChannelCount::Exactly(7)).contains("from 8 to 320"));
        assert!(refused(|r| r.request = (2, 1)).contains("`request` is [2, 1]"));
        assert!(refused(|r| r.cost_scale = f64::NAN).contains("`cost_scale` is NaN"));
    }
}
