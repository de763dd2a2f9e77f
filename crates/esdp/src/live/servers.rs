//! Which server is the slow one: the verdict on the factors of `stats/factors.rs`.

use super::Live;
use crate::stats::{SeenSpeed, ServerFactor, estimate_variance, server_factors};
use serde::{Deserialize, Serialize};

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
        let (cluster, learned) = (self.scheduler.cluster(), self.scheduler.policy().learned());
        let factors = server_factors(cluster, |channel| {
            let learned = learned.filter(|learned| learned.count(channel) > 0.0)?;
            Some(SeenSpeed {
                speed: (learned.estimate(channel) + cluster.cost(channel)).max(0.0),
                variance: estimate_variance(learned, channel),
                count: learned.record(channel).count,
            })
        });
        let belief = |(server, found): (&String, ServerFactor)| {
            let ServerFactor { factor, interval, count, .. } = found;
            let verdict = match interval {
                Some(interval) if found.is_known() => verdict(interval),
                _ => Verdict::Unknown,
            };
            ServerBelief { server: server.clone(), factor, interval, verdict, count }
        };
        cluster.servers().iter().zip(factors).map(belief).collect()
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
