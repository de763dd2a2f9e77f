//! What statistics have found out beside the speeds, for people.

use serde::{Deserialize, Serialize};

/// What statistics have found out: how far back they look, and how much channels learn from each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Insight {
    /// Over how many slots outcomes count, as the mean of all channels.
    pub memory: f64,
    /// What share of an estimate comes from other channels, as the mean of all channels.
    pub shared: f64,
    /// The servers, in their order.
    pub servers: Vec<ServerInsight>,
}

/// What was found out of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ServerInsight {
    /// How fast it is, as a multiple of others of its kind.
    pub factor: f64,
    /// Over how many slots its outcomes count.
    pub memory: f64,
}

impl Insight {
    /// The means of the channels' memories and shares.
    pub(super) fn over(channels: impl Iterator<Item = (f64, f64)>, servers: Vec<ServerInsight>) -> Self {
        let (memory, shared, count) =
            channels.fold((0.0, 0.0, 0.0), |(m, s, n), (memory, shared)| (m + memory, s + shared, n + 1.0));
        let mean = |sum: f64| if count > 0.0 { sum / count } else { 0.0 };
        Self { memory: mean(memory), shared: mean(shared), servers }
    }
}
