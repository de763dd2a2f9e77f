//! How fast chosen channels run, and the truth about it.
//!
//! A channel's speed in slot *t* is drawn from a [`SpeedLaw`] around a mean, which may come from a range,
//! once for every channel, from the server's hardware ([`KindSpeeds`]) or from an explicit table, and may
//! [`Drift`]; its noise may be correlated from slot to slot. Its net utility is the speed less the supply
//! cost, clipped to [0, 1]. The *true mean* of a channel in a slot is the mean of that clipped law at that
//! slot's mean speed, in closed form. It is what the oracle knows and what a decision is credited with. The
//! oracle knows the laws, not the luck: it does not foresee correlated noise.
//!
//! Draws are keyed by (seed, slot, channel), so every policy meets the same fate.

mod drift;
mod kinds;
mod law;
mod measured;
mod noise;
mod ports;
mod special;

pub use drift::Drift;
pub use kinds::KindSpeeds;
pub use law::{SpeedLaw, clipped_normal_mean};
pub use measured::MeasuredSpec;
pub use ports::PortSpeeds;

use super::environment::{Environment, Epoch};
use super::parameter::{ParameterError, check_number, check_whole};
use crate::model::{Channel, ChannelId, Cluster, PortId, Slot};
use crate::policy::Truth;
use crate::rng::{Purpose, Stream, stream};
use drift::Drifting;
use measured::Measured;
use noise::Correlated;
use ports::PortLaws;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How fast channels run. The default is the paper's: `N(mu, mu/2)` with `mu ~ U(0.1, 1)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SpeedSpec {
    /// The shape: `"normal"`, `"log-normal"`, `"uniform"`, `"gamma"`, `"beta"`, `"bernoulli"` or `"pareto"`
    /// (default: `"normal"`).
    pub law: SpeedLaw,
    /// Each channel's mean speed is drawn once, uniformly from this range (default: [0.1, 1]).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = FASTEST)))]
    pub mean: (f64, f64),
    /// Servers are of kinds, and the mean speed is one of (port, kind) instead of one of the channel: the
    /// number of kinds, or a table of mean speeds, rows of one number per kind that the ports take in turn,
    /// or by label: `{ a100 = [0.9, 0.8], v100 = { bert = 0.5, resnet = 0.4 } }`, for each kind one number
    /// per port. Only the last says which server is of which kind: by `servers.kinds` or `servers.list`;
    /// otherwise kinds are drawn, or are the entries of `servers.kinds` in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<KindSpeeds>,
    /// With `kinds`: the kind of each server (default: drawn). A scenario tells it by `servers.kinds`.
    #[serde(skip)]
    pub kind_of_server: Option<Vec<usize>>,
    /// With `kinds`: how far servers of a kind differ, as the standard deviation of the logarithm of a
    /// server's factor (default: 0).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 5)))]
    pub server_deviation: f64,
    /// Ports with another law, range of means or deviation, by name; none by default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<String, PortSpeeds>,
    /// The standard deviation as a share of the mean, at least 0 (default: 0.5). `bernoulli` does not use it.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e3, "x-unit" = "share")))]
    pub deviation: f64,
    /// Another deviation from a slot on: `[slot, deviation]`; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-range" = "[any slot, 0 to 1000]")))]
    pub later_deviation: Option<(u64, f64)>,
    /// The correlation of the noise of one slot with the next, below 1 (default: 0).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "exclusiveMaximum" = 1)))]
    pub correlation: f64,
    /// Explicit mean speeds instead of `mean`: rows of one number per channel, one row after
    /// another, from the start again after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = FASTEST)))]
    pub table: Option<Vec<Vec<f64>>>,
    /// How many slots a row of the table lasts, at least 1 (default: 1).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "slots")))]
    pub hold: u64,
    /// Measured fluctuation instead of `law`, `deviation` and `correlation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredSpec>,
    /// How mean speeds change over time.
    pub drift: Drift,
}

impl Default for SpeedSpec {
    fn default() -> Self {
        Self {
            law: SpeedLaw::Normal,
            mean: (0.1, 1.0),
            kinds: None,
            kind_of_server: None,
            server_deviation: 0.0,
            ports: BTreeMap::new(),
            deviation: 0.5,
            later_deviation: None,
            correlation: 0.0,
            table: None,
            hold: 1,
            measured: None,
            drift: Drift::None,
        }
    }
}

/// The largest mean speed accepted. Net utilities end at 1, so more than that tells nothing.
const FASTEST: f64 = 1e6;

impl SpeedSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// With the first that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        ports::check_mean("mean", self.mean)?;
        ports::check(self)?;
        check_number("deviation", self.deviation, 0.0..=1e3)?;
        if let Some((_, later)) = self.later_deviation {
            check_number("later_deviation[1]", later, 0.0..=1e3)?;
        }
        check_number("server_deviation", self.server_deviation, 0.0..=5.0)?;
        match &self.kinds {
            Some(kinds) => kinds.check()?,
            None if self.server_deviation > 0.0 => {
                return Err(ParameterError::new(
                    "server_deviation",
                    self.server_deviation,
                    "0 unless `kinds` is given",
                ));
            }
            None => {}
        }
        if self.kinds.is_some() && self.table.is_some() {
            return Err(ParameterError::new("table", "given beside `kinds`", "one of the two"));
        }
        if !(0.0..1.0).contains(&self.correlation) {
            return Err(ParameterError::new("correlation", self.correlation, "a number from 0 to below 1"));
        }
        check_whole("hold", self.hold, 1..=u64::MAX)?;
        if let Some(table) = &self.table {
            if table.is_empty() {
                return Err(ParameterError::new("table", "empty", "at least one row"));
            }
            for (row, speeds) in table.iter().enumerate() {
                for (channel, &speed) in speeds.iter().enumerate() {
                    check_number(format!("table[{row}][{channel}]"), speed, 0.0..=FASTEST)?;
                }
            }
        }
        if let Some(measured) = &self.measured {
            measured.check()?;
        }
        self.drift.check()
    }

    /// Whether mean speeds are told and not drawn from `mean`.
    fn draws_no_means(&self) -> bool {
        self.table.is_some() || matches!(self.kinds, Some(KindSpeeds::Table(_) | KindSpeeds::Named(_)))
    }

    /// Checks what depends on the names of the ports.
    ///
    /// # Errors
    /// When a port is missing, or there is no such port.
    pub(crate) fn check_ports(&self, ports: &[String]) -> Result<(), ParameterError> {
        PortLaws::new(self, ports)?;
        self.kinds.as_ref().map_or(Ok(()), |kinds| kinds.by_port(ports).map(drop))
    }

    /// The speeds of a cluster under a seed.
    ///
    /// # Errors
    /// When a parameter is out of range or a row of the table has not one entry per channel.
    pub fn build(&self, cluster: &Arc<Cluster>, seed: u64) -> Result<Speeds, ParameterError> {
        self.check()?;
        let channels = cluster.channels().len();
        let laws = PortLaws::new(self, cluster.ports())?;
        let range = |port: PortId| laws.of(port).mean.unwrap_or(self.mean);
        let rows = match (&self.table, &self.kinds) {
            (Some(table), _) => {
                if let Some((row, found)) =
                    table.iter().map(Vec::len).enumerate().find(|(_, len)| *len != channels)
                {
                    let (key, accepted) = (format!("table[{row}]"), format!("{channels}, one per channel"));
                    return Err(ParameterError::new(key, format!("a list of {found} numbers"), accepted));
                }
                table.clone()
            }
            (None, Some(kinds)) => {
                let servers = cluster.servers().len();
                let kinds = kinds.by_port(cluster.ports())?;
                if matches!(kinds, KindSpeeds::Named(_)) && self.kind_of_server.is_none() {
                    return Err(ParameterError::new("kind_of_server", "missing", "the kind of each server"));
                }
                let of = self.kind_of_server.clone().unwrap_or_else(|| kinds.of_servers(servers, seed));
                if of.len() != servers || of.iter().any(|&kind| kind >= kinds.count()) {
                    let (found, accepted) =
                        (of.len(), format!("{servers}, one of {} a server", kinds.count()));
                    return Err(ParameterError::new(
                        "kind_of_server",
                        format!("a list of {found} kinds"),
                        accepted,
                    ));
                }
                vec![kinds.means(&of, range, self.server_deviation, cluster, seed)]
            }
            (None, None) => {
                let mut rng = stream(seed, Purpose::Laws, 0, 0);
                let mut mean = |channel: &Channel| {
                    let (from, to) = range(channel.port);
                    if from < to { rng.random_range(from..to) } else { from }
                };
                vec![cluster.channels().iter().map(&mut mean).collect()]
            }
        };
        let correlated = (self.correlation > 0.0).then(|| Correlated::new(seed, self.correlation, channels));
        Ok(Speeds {
            cluster: Arc::clone(cluster),
            seed,
            law: self.law,
            laws,
            deviation: self.deviation,
            later_deviation: self.later_deviation,
            rows: Arc::new(rows),
            hold: self.hold,
            correlated,
            measured: self.measured.as_ref().map(|measured| measured.build(seed)),
            drifting: Drifting::new(&self.drift, cluster, seed)?,
            means: vec![0.0; channels],
            known: Known::Nothing,
        })
    }
}

/// The speeds of one cluster under one seed.
#[derive(Debug, Clone)]
pub struct Speeds {
    cluster: Arc<Cluster>,
    seed: u64,
    law: SpeedLaw,
    /// What is different, by port.
    laws: PortLaws,
    deviation: f64,
    later_deviation: Option<(u64, f64)>,
    /// The mean speeds before drift; more than one row when they come from a table.
    rows: Arc<Vec<Vec<f64>>>,
    hold: u64,
    correlated: Option<Correlated>,
    measured: Option<Measured>,
    drifting: Drifting,
    /// The true mean net utilities of what is `known`.
    means: Vec<f64>,
    known: Known,
}

/// Of when the cached means are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Epoch(Epoch),
    Slot(Slot),
}

impl Speeds {
    fn row(&self, slot: Slot) -> usize {
        let rows = self.rows.len() as u64;
        if rows == 1 { 0 } else { (slot.0.saturating_sub(1) / self.hold % rows) as usize }
    }

    /// The law of a channel's speed and its deviation.
    fn law(&self, slot: Slot, channel: ChannelId) -> (SpeedLaw, f64) {
        let own = self.laws.of(self.cluster.channel(channel).port);
        let deviation = match (own.deviation, self.later_deviation) {
            (Some(own), _) => own,
            (None, Some((from, later))) if slot.0 >= from => later,
            _ => self.deviation,
        };
        (own.law.unwrap_or(self.law), deviation)
    }

    /// Whether the speeds of a slot are their means: nothing fluctuates.
    pub(in crate::sim) fn are_constant(&self) -> bool {
        let still = |channel| {
            let (law, deviation) = self.law(Slot(1), ChannelId::at(channel));
            deviation == 0.0 && law != SpeedLaw::Bernoulli
        };
        self.measured.is_none() && (0..self.means.len()).all(still)
    }

    fn mean_speed(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        self.rows[self.row(slot)][channel.index()] * self.drifting.factor(slot, channel)
    }

    fn net_mean(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        let (mean, cost) = (self.mean_speed(slot, channel), self.cluster.cost(channel));
        match &self.measured {
            Some(measured) => measured.net_mean(mean, cost),
            None => {
                let (law, deviation) = self.law(slot, channel);
                law.net_mean(mean, deviation, cost)
            }
        }
    }

    fn refresh(&mut self, slot: Slot) {
        let now = self.epoch(slot).map_or(Known::Slot(slot), Known::Epoch);
        if self.known != now {
            for channel in 0..self.means.len() {
                self.means[channel] = self.net_mean(slot, ChannelId::at(channel));
            }
            self.known = now;
        }
    }
}

impl Truth for Speeds {
    fn means(&mut self, slot: Slot) -> &[f64] {
        self.refresh(slot);
        &self.means
    }
}

impl Environment for Speeds {
    fn epoch(&self, slot: Slot) -> Option<Epoch> {
        let regime = self.drifting.regime(slot)?;
        let later = self.later_deviation.is_some_and(|(from, _)| slot.0 >= from);
        Some(Epoch(2 * self.row(slot) as u64 + u64::from(later), regime))
    }

    fn mean(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        match self.epoch(slot) {
            Some(_) => {
                self.refresh(slot);
                self.means[channel.index()]
            }
            // Every slot differs: the few channels that were chosen cost less than all.
            None => self.net_mean(slot, channel),
        }
    }

    fn run(&mut self, slot: Slot, channels: &[ChannelId], utilities: &mut Vec<f64>) {
        let mut open: Option<(ChannelId, Stream)> = None;
        for &channel in channels {
            if let Some(measured) = &self.measured {
                let factor = measured.factor(slot, self.cluster.channel(channel).server);
                let speed = self.mean_speed(slot, channel) * factor;
                utilities.push(self.cluster.net_utility(channel, speed));
                continue;
            }
            let noise: f64 = match (&mut self.correlated, &mut open) {
                (Some(correlated), _) => correlated.at(slot, channel),
                // Channels come sorted: several jobs on one channel go on with its stream.
                (None, Some((current, rng))) if *current == channel => StandardNormal.sample(rng),
                (None, open) => {
                    let rng = stream(self.seed, Purpose::Speeds, slot.0, u64::from(channel.0));
                    StandardNormal.sample(&mut open.insert((channel, rng)).1)
                }
            };
            let mean = self.mean_speed(slot, channel);
            let (law, deviation) = self.law(slot, channel);
            let speed = law.speed(mean, deviation, noise);
            utilities.push(self.cluster.net_utility(channel, speed));
        }
    }
}

#[cfg(test)]
mod tests;
