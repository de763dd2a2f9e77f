//! Which server is the slow one.
//!
//! A server's factor is its speed as a multiple of what is usual. Usual is, for each port and task group, the
//! *median* over the servers that were tried: an average over outcomes would lean to the fast servers, which
//! a scheduler that learns uses more, and call all others slow. A server's factor is the average of its
//! channels' ratios, weighed by outcomes:
//!
//! ```text
//! factor_r = sum_e n_e (speed_e / median_e) / sum_e n_e        over the channels e of server r
//! ```
//!
//! with a 95 % interval from the variances of the estimates; that of the medians, which all servers share, is
//! left out.

use super::Live;
use super::advice::{Z95, variance};
use crate::model::{ChannelId, PortId};
use serde::{Deserialize, Serialize};

/// Fewer outcomes tell nothing.
const FEWEST: f64 = 5.0;
/// A server is slow or fast if its whole interval is at least this far from 1.
const MARGIN: f64 = 0.05;
/// An interval that is wider than this tells nothing.
const WIDEST: f64 = 0.5;

/// What is believed of a server: how its channels compare with others of their ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerBelief {
    /// The server.
    pub server: String,
    /// Its speed as a multiple of what is usual; none before the first outcome.
    pub factor: Option<f64>,
    /// The ends of the factor's 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// What that means.
    pub verdict: Verdict,
    /// How many outcomes stand behind it.
    pub count: f64,
}

/// Whether a server is as fast as others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower than usual, beyond doubt.
    Slow,
    /// As fast as others.
    Usual,
    /// Faster than usual, beyond doubt.
    Fast,
    /// Too little was seen of it, or nothing to compare it with.
    Unknown,
}

impl Live {
    /// What is believed of every server, in the order of the cluster.
    pub fn server_beliefs(&self) -> Vec<ServerBelief> {
        let cluster = self.scheduler.cluster();
        // Of each server: the weighed ratios, their variances, the outcomes.
        let mut sums = vec![(0.0, 0.0, 0.0); cluster.servers().len()];
        let mut compared = vec![false; sums.len()];
        if let Some(learned) = self.scheduler.policy().learned() {
            for port in (0..cluster.ports().len()).map(PortId::at) {
                let mut seen: Vec<(&str, f64, ChannelId)> = Vec::new();
                for &channel in cluster.channels_of(port) {
                    if learned.count(channel) > 0.0 {
                        let group = cluster.group_name(cluster.task_group(channel));
                        seen.push((
                            group,
                            (learned.estimate(channel) + cluster.cost(channel)).max(0.0),
                            channel,
                        ));
                    }
                }
                seen.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
                for alike in seen.chunk_by(|a, b| a.0 == b.0) {
                    let median = (alike[(alike.len() - 1) / 2].1 + alike[alike.len() / 2].1) / 2.0;
                    if median <= 0.0 {
                        continue;
                    }
                    for &(_, speed, channel) in alike {
                        let (server, count) =
                            (cluster.channel(channel).server.index(), learned.record(channel).count);
                        compared[server] |= alike.len() > 1;
                        let (ratios, variances, counts) = &mut sums[server];
                        *ratios += count * speed / median;
                        *variances += (count / median).powi(2) * variance(learned, channel);
                        *counts += count;
                    }
                }
            }
        }
        let belief = |((server, sums), compared): ((&String, (f64, f64, f64)), bool)| {
            let (ratios, variances, count) = sums;
            let factor = (count > 0.0).then(|| ratios / count);
            let interval = factor.map(|factor| {
                let half = Z95 * variances.sqrt() / count;
                ((factor - half).max(0.0), factor + half)
            });
            let verdict = match interval {
                Some(interval) if compared && count >= FEWEST => verdict(interval),
                _ => Verdict::Unknown,
            };
            ServerBelief { server: server.clone(), factor, interval, verdict, count }
        };
        cluster.servers().iter().zip(sums).zip(compared).map(belief).collect()
    }
}

fn verdict((low, high): (f64, f64)) -> Verdict {
    match () {
        () if high <= 1.0 - MARGIN => Verdict::Slow,
        () if low >= 1.0 + MARGIN => Verdict::Fast,
        () if high - low <= WIDEST => Verdict::Usual,
        () => Verdict::Unknown,
    }
}
