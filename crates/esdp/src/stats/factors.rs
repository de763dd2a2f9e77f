//! Which server is the slow one: speeds as multiples of what is usual.
//!
//! Usual is, for each port and task group, the *median* over the servers that were tried: an average over
//! outcomes would lean to the fast servers, which a scheduler that learns uses more, and call all others
//! slow. A server's factor is the average of its channels' ratios, weighed by outcomes:
//!
//! ```text
//! factor_r = sum_e n_e (speed_e / median_e) / sum_e n_e        over the channels e of server r
//! ```
//!
//! with a 95 % interval from the variances of the estimates; that of the medians, which all servers share, is
//! left out.

use super::Statistics;
use crate::model::{ChannelId, Cluster, PortId};

/// The half width of a 95 % interval in standard deviations.
pub const Z95: f64 = 1.96;

/// The largest variance of an outcome from 0 to 1.
const LARGEST_VARIANCE: f64 = 0.25;

/// Fewer outcomes tell nothing of a server.
const FEWEST: f64 = 5.0;

/// What was seen of a channel's speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenSpeed {
    /// The speed.
    pub speed: f64,
    /// The variance of that estimate.
    pub variance: f64,
    /// How many outcomes stand behind it.
    pub count: f64,
}

/// How fast a server is, as a multiple of what is usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerFactor {
    /// The multiple; none before the first outcome.
    pub factor: Option<f64>,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How many outcomes stand behind it.
    pub count: f64,
    /// Whether there is another server to compare it with.
    pub is_compared: bool,
}

impl ServerFactor {
    /// Whether the factor tells anything: there were outcomes enough, and another server to compare with.
    pub fn is_known(&self) -> bool {
        self.is_compared && self.count >= FEWEST
    }
}

/// The factors of all servers, in the order of the cluster; `seen` is none for a channel never tried.
pub fn server_factors(cluster: &Cluster, seen: impl Fn(ChannelId) -> Option<SeenSpeed>) -> Vec<ServerFactor> {
    server_factors_beside(cluster, seen, |_| 0.0).into_iter().map(|(factor, _)| factor).collect()
}

/// The factors of all servers, and beside them those of other speeds of the same channels, as multiples of
/// the same medians and with the same weights.
pub fn server_factors_beside(
    cluster: &Cluster,
    seen: impl Fn(ChannelId) -> Option<SeenSpeed>,
    other: impl Fn(ChannelId) -> f64,
) -> Vec<(ServerFactor, Option<f64>)> {
    // Of each server: the weighed ratios, those of the other speeds, the variances, the outcomes.
    let mut sums = vec![(0.0, 0.0, 0.0, 0.0); cluster.servers().len()];
    let mut compared = vec![false; sums.len()];
    for port in (0..cluster.ports().len()).map(PortId::at) {
        let mut tried: Vec<(&str, SeenSpeed, ChannelId)> = Vec::new();
        for &channel in cluster.channels_of(port) {
            if let Some(seen) = seen(channel) {
                tried.push((cluster.group_name(cluster.task_group(channel)), seen, channel));
            }
        }
        tried.sort_by(|a, b| a.0.cmp(b.0).then(a.1.speed.total_cmp(&b.1.speed)));
        for alike in tried.chunk_by(|a, b| a.0 == b.0) {
            let median = (alike[(alike.len() - 1) / 2].1.speed + alike[alike.len() / 2].1.speed) / 2.0;
            if median <= 0.0 {
                continue;
            }
            for &(_, SeenSpeed { speed, variance, count }, channel) in alike {
                let server = cluster.channel(channel).server.index();
                compared[server] |= alike.len() > 1;
                let (ratios, others, variances, counts) = &mut sums[server];
                *ratios += count * speed / median;
                *others += count * other(channel) / median;
                *variances += (count / median).powi(2) * variance;
                *counts += count;
            }
        }
    }
    let factor = |((ratios, others, variances, count), is_compared): ((f64, f64, f64, f64), bool)| {
        let factor = (count > 0.0).then(|| ratios / count);
        let interval = factor.map(|factor| {
            let half = Z95 * variances.sqrt() / count;
            ((factor - half).max(0.0), factor + half)
        });
        (ServerFactor { factor, interval, count, is_compared }, factor.map(|_| others / count))
    };
    sums.into_iter().zip(compared).map(factor).collect()
}

/// The variance of a channel's estimate: from what was seen of its scatter, or else the largest that outcomes
/// from 0 to 1 with this mean can have, over as many outcomes as still count. Where old ones are forgotten
/// these are fewer than the channel has had, so what is old is doubted more.
pub fn estimate_variance(learned: &dyn Statistics, channel: ChannelId) -> f64 {
    let (record, estimate) = (learned.record(channel), learned.estimate(channel).clamp(0.0, 1.0));
    let scatter = match record.freedom >= 4.0 {
        true => record.residuals / record.freedom,
        false => estimate * (1.0 - estimate),
    };
    let count = record.count.min(learned.count(channel));
    match count > 0.0 {
        // No mean of outcomes from 0 to 1 is less known than one outcome of them makes it.
        true => (scatter.max(1e-6) / count).min(LARGEST_VARIANCE),
        false => LARGEST_VARIANCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Capacity, ChannelSpec, ClusterSpec, Observation, Outcome, Slot};
    use crate::stats::Adaptive;

    fn cluster() -> Cluster {
        let channels =
            (0..2).flat_map(|port| (0..3).map(move |server| ChannelSpec::new(port, server, vec![1])));
        Cluster::new(ClusterSpec {
            devices: vec!["gpu".into()],
            servers: ["a", "b", "c"].map(String::from).to_vec(),
            ports: vec!["train".into(), "serve".into()],
            channels: channels.collect(),
            capacity: Capacity::cluster_wide(vec![9]),
            ..ClusterSpec::default()
        })
        .unwrap()
    }

    /// A server is throttled: what was seen before counts less and less, and the interval is that of what is
    /// left.
    #[test]
    fn what_is_forgotten_does_not_narrow_the_interval() {
        let cluster = cluster();
        let mut learned = Adaptive::new(&cluster);
        let channel = ChannelId::at(0);
        for at in 1..=800 {
            learned.advance(Slot(at));
            learned.commit(Slot(at), channel);
            let mean = if at <= 400 { 0.8 } else { 0.3 };
            let utility = mean + if at % 2 == 0 { 0.1 } else { -0.1 };
            learned.observe(&Observation { slot: Slot(at), channel, outcome: Outcome::Ran(utility) });
        }
        let (record, estimate) = (learned.record(channel), learned.estimate(channel));
        assert!(record.count == 800.0 && learned.count(channel) < 300.0, "{}", learned.count(channel));
        let (told, all) = (estimate_variance(&learned, channel), record.residuals / record.freedom / 800.0);
        assert!(told > 2.0 * all, "{told} {all}");
        assert!((estimate - 0.3).abs() < Z95 * told.sqrt(), "{estimate} {told}");
    }

    /// A throttled server, of which the estimate is old: what is true now is told by the same medians, so the
    /// other servers are as fast as they were learned.
    #[test]
    fn other_speeds_are_multiples_of_the_same_medians() {
        let cluster = cluster();
        let learned = [0.8, 0.4, 0.4, 0.2, 0.1, 0.1];
        let now = [0.2, 0.4, 0.4, 0.05, 0.1, 0.1];
        let seen = |channel: ChannelId| {
            Some(SeenSpeed { speed: learned[channel.index()], variance: 0.0, count: 5.0 })
        };
        let found = server_factors_beside(&cluster, seen, |channel| now[channel.index()]);
        let factors: Vec<(f64, f64)> =
            found.iter().map(|(learned, other)| (learned.factor.unwrap(), other.unwrap())).collect();
        assert_eq!(factors, [(2.0, 0.5), (1.0, 1.0), (1.0, 1.0)]);
        assert_eq!(server_factors(&cluster, seen)[0], found[0].0);
    }
}
