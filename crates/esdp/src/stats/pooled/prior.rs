//! What a channel is expected to be before it was tried, learned from the channels that were.
//!
//! Speeds (net utility plus supply cost) of a channel *e* in group *g* on server *r*:
//!
//! ```text
//! theta_e ~ N( b_g (1 + u_r), tau2_g )      the channel's mean speed; with a slab: `posterior.rs`
//! u_r     ~ N( 0, omega2 )                  how good a specimen the server is
//! b_g     ~ N( b_parent, lambda_level )     groups around the group they are part of
//! outcome ~ N( theta_e, s2_g )              noise
//! ```
//!
//! All of it is learned by `refit.rs`.

use super::posterior::Expected;
use super::tree::{Place, Tree};
use crate::model::Remap;
use crate::stats::StateError;
use crate::stats::state::check_length;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The weight of a parent's variances against a group's own, in channels or in degrees of freedom.
pub(super) const OF_PARENT: f64 = 8.0;
/// The weight of the values that everything starts with, in members.
pub(super) const OF_START: f64 = 4.0;
/// The mean speed and the variance of means that everything starts with: anything in [0, 1].
pub(super) const START_MEAN: f64 = 0.5;
pub(super) const START_VARIANCE: f64 = 0.09;
/// The noise that everything starts with, a deviation of 1/4.
pub(super) const START_NOISE: f64 = 0.0625;
/// The variance of servers' factors at first: a deviation of 1/10.
pub(super) const START_SERVER: f64 = 0.01;
/// No variance gets so small that a division by it could overflow.
const SMALLEST: f64 = 1e-9;
/// A server is never thought to be slower than a tenth of its kind by its factor alone.
pub(super) const SLOWEST: f64 = -0.9;

/// What was learned of a group of channels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GroupPrior {
    /// The mean speed of its channels, *b*.
    pub mean: f64,
    /// How uncertain that is, as a variance.
    pub uncertainty: f64,
    /// The variance of its channels' mean speeds, *tau2*.
    #[serde(rename = "spread")]
    pub between: f64,
    /// The variance of an outcome around its channel's mean, *s2*.
    pub noise: f64,
}

/// What was learned of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ServerPrior {
    /// How much faster than others of its kind, as a share: *u*.
    pub factor: f64,
    /// How uncertain that is, as a variance.
    pub uncertainty: f64,
}

/// Everything that channels share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// The groups, everything first.
    pub groups: Vec<GroupPrior>,
    /// The variance of groups around the group they are part of, by the level of the part.
    pub levels: Vec<f64>,
    /// The servers.
    pub servers: Vec<ServerPrior>,
    /// The variance of the servers' factors, *omega2*.
    #[serde(rename = "server_spread")]
    pub server_variance: f64,
}

impl Prior {
    /// What is believed before anything was seen.
    pub(super) fn new(tree: &Tree) -> Self {
        let group = GroupPrior {
            mean: START_MEAN,
            uncertainty: START_VARIANCE,
            between: START_VARIANCE,
            noise: START_NOISE,
        };
        Self {
            groups: vec![group; tree.groups.len()],
            levels: vec![START_VARIANCE; tree.levels],
            servers: vec![ServerPrior { factor: 0.0, uncertainty: START_SERVER }; tree.servers],
            server_variance: START_SERVER,
        }
    }

    /// All speeds are `factor` times what they were.
    pub(super) fn shift(&mut self, factor: f64) {
        let square = factor * factor;
        for group in &mut self.groups {
            group.mean *= factor;
            group.uncertainty = (group.uncertainty * square).max(SMALLEST);
            group.between = (group.between * square).max(SMALLEST);
            group.noise = (group.noise * factor).max(SMALLEST);
        }
        self.levels.iter_mut().for_each(|level| *level = (*level * square).max(SMALLEST));
    }

    /// What is expected of a channel before it was tried.
    pub(super) fn expected(&self, place: Place) -> Expected {
        let group = &self.groups[place.group as usize];
        let server = &self.servers[place.server as usize];
        Expected {
            mean: group.mean * (1.0 + server.factor),
            // Its group's and its server's.
            uncertainty: group.uncertainty + group.mean * group.mean * server.uncertainty,
            between: group.between,
        }
    }

    /// The noise of a channel: its own residuals, drawn to the noise of its group.
    pub(super) fn channel_noise(&self, place: Place, residuals: f64, freedom: f64) -> f64 {
        drawn(residuals, freedom, OF_PARENT, self.groups[place.group as usize].noise)
    }

    /// The same for the next version of a cluster: groups are found by their names, servers by theirs. A
    /// group that is new is as its parent is, give or take how groups of its level differ; a server that is
    /// new is a usual specimen of its kind.
    pub(super) fn carried(&self, old: &Tree, new: &Tree, remap: &Remap) -> Self {
        let known: HashMap<Vec<String>, usize> =
            (0..old.groups.len()).map(|group| (old.path(group), group)).collect();
        let mut levels = self.levels.clone();
        levels.resize(new.levels, START_VARIANCE);
        let mut groups: Vec<GroupPrior> = Vec::with_capacity(new.groups.len());
        for (index, group) in new.groups.iter().enumerate() {
            groups.push(match known.get(&new.path(index)) {
                Some(&place) => self.groups[place],
                None => {
                    let parent = groups[group.parent];
                    GroupPrior { uncertainty: parent.uncertainty + levels[group.level], ..parent }
                }
            });
        }
        let usual = ServerPrior { factor: 0.0, uncertainty: self.server_variance };
        let servers =
            remap.old_servers().iter().map(|old| old.map_or(usual, |old| self.servers[old.index()]));
        Self { groups, levels, servers: servers.collect(), server_variance: self.server_variance }
    }

    /// Checks a saved prior.
    pub(super) fn check(&self, tree: &Tree) -> Result<(), StateError> {
        check_length("groups", self.groups.len(), tree.groups.len())?;
        check_length("levels", self.levels.len(), tree.levels)?;
        check_length("servers", self.servers.len(), tree.servers)?;
        let variance = |value: f64| value.is_finite() && value > 0.0;
        let group = |group: &GroupPrior| {
            group.mean.is_finite()
                && [group.uncertainty, group.between, group.noise].into_iter().all(variance)
        };
        check_all("groups", self.groups.iter().map(group))?;
        check_all("levels", self.levels.iter().map(|&level| variance(level)))?;
        check_all(
            "servers",
            self.servers
                .iter()
                .map(|s| s.factor >= SLOWEST && variance(s.factor + 1.0) && variance(s.uncertainty)),
        )?;
        check_all("server_variance", std::iter::once(variance(self.server_variance)))
    }
}

/// Refuses a saved list with an entry that is not sound.
fn check_all(list: &'static str, mut sound: impl Iterator<Item = bool>) -> Result<(), StateError> {
    let reason = "expected finite numbers, and positive ones for variances";
    sound.position(|sound| !sound).map_or(Ok(()), |entry| Err(StateError::Damaged { list, entry, reason }))
}

/// A variance from squares and their number, drawn to a start value as if by `weight` more.
pub(super) fn drawn(squares: f64, count: f64, weight: f64, start: f64) -> f64 {
    ((weight * start + squares) / (weight + count)).max(SMALLEST)
}
