//! Mean speeds that come from a server's hardware: its kind, and how good a specimen it is.
//!
//! ```text
//! mean speed of (port, server) = speed of (port, kind of the server) x factor of the server
//! ```
//!
//! A server's kind is drawn with equal chances, or told. The speed of a port on a kind is drawn uniformly
//! from [`SpeedSpec::mean`](super::SpeedSpec::mean), or comes from a table whose rows the ports take in turn,
//! or from a table by the names of kinds and ports. The factor is log-normal with mean 1. What a scheduler is
//! *told* of the kinds is another matter: see [`ClusterSpec::labels`](crate::model::ClusterSpec::labels).

use crate::model::{Channel, Cluster, PortId};
use crate::rng::{Purpose, stream};
use crate::sim::parameter::{ParameterError, check_number, check_whole};
use crate::sim::workload::Rates;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How mean speeds depend on the kind of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "another kind of value, expected the number of kinds or a list of rows, each of one number \
                 per kind, or a table by kind with numbers for the ports"
)]
pub enum KindSpeeds {
    /// This many kinds; the speed of each port on each of them is drawn.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = MOST_KINDS)))]
    Drawn(u64),
    /// Rows of one speed a kind; the ports take the rows in turn.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = super::FASTEST)))]
    Table(Vec<Vec<f64>>),
    /// By the name of a kind the speed of each port on it: one number for all ports, a list, or a table by
    /// port. Which server is of which kind is told, not drawn.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = super::FASTEST)))]
    Named(BTreeMap<String, Rates>),
}

/// The most kinds.
const MOST_KINDS: u64 = 1000;

impl KindSpeeds {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let rows = match self {
            Self::Drawn(count) => return check_whole("kinds", *count, 1..=MOST_KINDS),
            Self::Table(rows) => rows,
            Self::Named(kinds) => {
                check_whole("kinds", kinds.len() as u64, 1..=MOST_KINDS)?;
                let check = |(kind, speeds): (&String, &Rates)| {
                    speeds.check(&format!("kinds.{kind}"), super::FASTEST)
                };
                return kinds.iter().try_for_each(check);
            }
        };
        let kinds = rows.first().map_or(0, Vec::len);
        check_whole("kinds", kinds as u64, 1..=MOST_KINDS)?;
        for (row, speeds) in rows.iter().enumerate() {
            if speeds.len() != kinds {
                let found = format!("a list of {} numbers", speeds.len());
                return Err(ParameterError::new(
                    format!("kinds[{row}]"),
                    found,
                    format!("{kinds}, one per kind"),
                ));
            }
            for (kind, &speed) in speeds.iter().enumerate() {
                check_number(format!("kinds[{row}][{kind}]"), speed, 0.0..=super::FASTEST)?;
            }
        }
        Ok(())
    }

    /// The number of kinds.
    pub fn count(&self) -> usize {
        match self {
            Self::Drawn(count) => *count as usize,
            Self::Table(rows) => rows.first().map_or(0, Vec::len),
            Self::Named(kinds) => kinds.len(),
        }
    }

    /// The same with the speeds of named kinds by position of the ports.
    ///
    /// # Errors
    /// When a port has no speed on a kind, or there is no such port.
    pub fn by_port(&self, ports: &[String]) -> Result<Self, ParameterError> {
        let Self::Named(kinds) = self else { return Ok(self.clone()) };
        let of = |(kind, speeds): (&String, &Rates)| {
            let key = format!("kinds.{kind}");
            speeds.check_ports(&key, ports.len())?;
            Ok((kind.clone(), speeds.by_port(&key, ports)?))
        };
        Ok(Self::Named(kinds.iter().map(of).collect::<Result<_, _>>()?))
    }

    /// The kind of each server under a seed. The first servers keep theirs when there are more.
    pub fn of_servers(&self, servers: usize, seed: u64) -> Vec<usize> {
        let mut rng = stream(seed, Purpose::Laws, 0, 1);
        (0..servers).map(|_| rng.random_range(0..self.count())).collect()
    }

    /// The mean speed of each channel; `kinds` has the kind of each server.
    pub(super) fn means(
        &self,
        kinds: &[usize],
        range: impl Fn(PortId) -> (f64, f64),
        server_deviation: f64,
        cluster: &Cluster,
        seed: u64,
    ) -> Vec<f64> {
        let servers = cluster.servers().len();
        let mut rng = stream(seed, Purpose::Laws, 0, 2);
        let factors: Vec<f64> = (0..servers)
            .map(|_| {
                let noise: f64 = StandardNormal.sample(&mut rng);
                (server_deviation * noise - 0.5 * server_deviation * server_deviation).exp()
            })
            .collect();
        let named: Vec<&Rates> = match self {
            Self::Named(kinds) => kinds.values().collect(),
            _ => Vec::new(),
        };
        let speed = |port: usize, kind: usize| match self {
            Self::Drawn(_) => {
                let mut rng = stream(seed, Purpose::Laws, 1 + port as u64, 3 + kind as u64);
                let range = range(PortId::at(port));
                if range.0 < range.1 { rng.random_range(range.0..range.1) } else { range.0 }
            }
            Self::Table(rows) => rows[port % rows.len()][kind],
            Self::Named(_) => named[kind].of(PortId::at(port)),
        };
        let mean = |Channel { port, server }: &Channel| {
            speed(port.index(), kinds[server.index()]) * factors[server.index()]
        };
        cluster.channels().iter().map(mean).collect()
    }
}
