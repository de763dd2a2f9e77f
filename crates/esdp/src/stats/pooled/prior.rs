//! What a channel is expected to be before it was tried, learned from the channels that were.
//!
//! Speeds (net utility plus supply cost) of a channel *e* in group *g* on server *r*:
//!
//! ```text
//! theta_e ~ N( b_g (1 + u_r), tau2_g )      the channel's mean speed
//! u_r     ~ N( 0, omega2 )                  how good a specimen the server is
//! b_g     ~ N( b_parent, lambda_level )     groups around the group they are part of
//! outcome ~ N( theta_e, s2_g )              noise
//! ```
//!
//! [`Prior::sweep`] takes one step of expectation-maximisation: the `b` exactly, by sums up and estimates down
//! the tree; then `u`; then the variances, each drawn to that of the parent group as if by
//! [`OF_PARENT`] more members. Cost: *O(channels + groups + servers)*.

use super::tree::{Place, Tree};
use crate::stats::StateError;
use crate::stats::discounted::Discounted;
use crate::stats::state::check_length;
use serde::{Deserialize, Serialize};

/// The weight of a parent's variances against a group's own, in channels or in degrees of freedom.
const OF_PARENT: f64 = 8.0;
/// The weight of the values that everything starts with, in members.
const OF_START: f64 = 4.0;
/// The mean speed and the variance of means that everything starts with: anything in [0, 1].
const START_MEAN: f64 = 0.5;
const START_VARIANCE: f64 = 0.09;
/// The noise that everything starts with, a deviation of 1/4.
const START_NOISE: f64 = 0.0625;
/// The variance of servers' factors at first: a deviation of 1/10.
const START_SERVER: f64 = 0.01;
/// No variance gets so small that a division by it could overflow.
const SMALLEST: f64 = 1e-9;
/// A server is never thought to be slower than a tenth of its kind by its factor alone.
const SLOWEST: f64 = -0.9;

/// What was learned of a group of channels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPrior {
    /// The mean speed of its channels, *b*.
    pub mean: f64,
    /// How uncertain that is, as a variance.
    pub uncertainty: f64,
    /// The variance of its channels' mean speeds, *tau2*.
    pub spread: f64,
    /// The variance of an outcome around its channel's mean, *s2*.
    pub noise: f64,
}

/// What was learned of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPrior {
    /// How much faster than others of its kind, as a share: *u*.
    pub factor: f64,
    /// How uncertain that is, as a variance.
    pub uncertainty: f64,
}

/// Everything that channels share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// The groups, everything first.
    pub groups: Vec<GroupPrior>,
    /// The variance of groups around the group they are part of, by the level of the part.
    pub levels: Vec<f64>,
    /// The servers.
    pub servers: Vec<ServerPrior>,
    /// The variance of the servers' factors, *omega2*.
    pub server_spread: f64,
}

/// What a sweep learns from: everything that was seen, channel by channel.
pub(super) struct Data<'a> {
    pub(super) tree: &'a Tree,
    pub(super) seen: &'a Discounted,
    /// Squared distances of outcomes from the average before them, and how many.
    pub(super) residuals: &'a [f64],
    pub(super) freedom: &'a [f64],
}

/// A channel that was seen.
struct Tried {
    place: Place,
    noise: f64,
    count: f64,
    /// Its average speed.
    mean: f64,
}

/// Buffers of a sweep.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Scratch {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Scratch {
    fn zeroed(&mut self, length: usize) -> (&mut [f64], &mut [f64]) {
        for list in [&mut self.first, &mut self.second] {
            list.clear();
            list.resize(length, 0.0);
        }
        (&mut self.first, &mut self.second)
    }
}

/// A channel's posterior on speed, before the uncertainty of what it shares.
struct Posterior {
    estimate: f64,
    variance: f64,
    /// What share of the estimate comes from the prior.
    pull: f64,
}

/// Written with one division: it is what reading a channel costs.
fn posterior(count: f64, total: f64, noise: f64, prior: f64, spread: f64) -> Posterior {
    let share = 1.0 / (count * spread + noise);
    Posterior {
        estimate: share * (total * spread + prior * noise),
        variance: share * noise * spread,
        pull: share * noise,
    }
}

impl Prior {
    /// What is believed before anything was seen.
    pub(super) fn new(tree: &Tree) -> Self {
        let group =
            GroupPrior { mean: START_MEAN, uncertainty: START_VARIANCE, spread: START_VARIANCE, noise: START_NOISE };
        Self {
            groups: vec![group; tree.groups.len()],
            levels: vec![START_VARIANCE; tree.levels],
            servers: vec![ServerPrior { factor: 0.0, uncertainty: START_SERVER }; tree.servers],
            server_spread: START_SERVER,
        }
    }

    fn mean(&self, place: Place) -> f64 {
        self.groups[place.group as usize].mean * (1.0 + self.servers[place.server as usize].factor)
    }

    /// How uncertain a channel's prior mean is, as a variance: its group's and its server's.
    fn uncertainty(&self, place: Place) -> f64 {
        let group = &self.groups[place.group as usize];
        group.uncertainty + group.mean * group.mean * self.servers[place.server as usize].uncertainty
    }

    /// The estimated speed of a channel with `count` outcomes that add up to `total`.
    pub(super) fn estimate(&self, place: Place, noise: f64, count: f64, total: f64) -> f64 {
        let spread = self.groups[place.group as usize].spread;
        posterior(count, total, noise, self.mean(place), spread).estimate
    }

    /// The variance of that estimate.
    pub(super) fn variance(&self, place: Place, noise: f64, count: f64) -> f64 {
        let spread = self.groups[place.group as usize].spread;
        let Posterior { variance, pull, .. } = posterior(count, 0.0, noise, 0.0, spread);
        variance + pull * pull * self.uncertainty(place)
    }

    /// The noise of a channel: its own residuals, drawn to the noise of its group.
    pub(super) fn channel_noise(&self, place: Place, residuals: f64, freedom: f64) -> f64 {
        drawn(residuals, freedom, OF_PARENT, self.groups[place.group as usize].noise)
    }

    /// The channels that were seen.
    fn tried<'a>(&'a self, data: &'a Data<'a>) -> impl Iterator<Item = Tried> + 'a {
        data.tree.places.iter().enumerate().filter_map(|(index, &place)| {
            let (count, total) = data.seen.faded(index);
            (count >= super::TRIED).then(|| {
                let noise = self.channel_noise(place, data.residuals[index], data.freedom[index]);
                Tried { place, noise, count, mean: total / count + place.cost }
            })
        })
    }

    /// Checks a saved prior.
    pub(super) fn check(&self, tree: &Tree) -> Result<(), StateError> {
        check_length("groups", self.groups.len(), tree.groups.len())?;
        check_length("levels", self.levels.len(), tree.levels)?;
        check_length("servers", self.servers.len(), tree.servers)?;
        let variance = |value: f64| value.is_finite() && value > 0.0;
        let group = |group: &GroupPrior| {
            group.mean.is_finite() && [group.uncertainty, group.spread, group.noise].into_iter().all(variance)
        };
        check_all("groups", self.groups.iter().map(group))?;
        check_all("levels", self.levels.iter().map(|&level| variance(level)))?;
        check_all(
            "servers",
            self.servers.iter().map(|s| s.factor >= SLOWEST && variance(s.factor + 1.0) && variance(s.uncertainty)),
        )?;
        check_all("server_spread", std::iter::once(variance(self.server_spread)))
    }

    /// Learns again from all channels.
    pub(super) fn sweep(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        self.learn_noise(data, scratch);
        self.learn_means(data, scratch);
        self.learn_servers(data, scratch);
        self.learn_spread(data, scratch);
    }

    fn learn_noise(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        let (residuals, freedom) = scratch.zeroed(tree.groups.len());
        for (place, (channel_residuals, channel_freedom)) in
            tree.places.iter().zip(data.residuals.iter().zip(data.freedom))
        {
            residuals[place.group as usize] += channel_residuals;
            freedom[place.group as usize] += channel_freedom;
        }
        hand_up(tree, residuals, freedom);
        for index in 0..tree.groups.len() {
            let (weight, start) = match index {
                0 => (OF_START, START_NOISE),
                _ => (OF_PARENT, self.groups[tree.groups[index].parent].noise),
            };
            self.groups[index].noise = drawn(residuals[index], freedom[index], weight, start);
        }
    }

    fn learn_means(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        // Of each group: the precision of what its channels say of its mean, and their weighted sum.
        let (precision, sum) = scratch.zeroed(tree.groups.len());
        for Tried { place, noise, count, mean } in self.tried(data) {
            let group = &self.groups[place.group as usize];
            let factor = 1.0 + self.servers[place.server as usize].factor;
            let weight = factor / (noise / count + group.spread);
            precision[place.group as usize] += factor * weight;
            sum[place.group as usize] += weight * mean;
        }
        for index in (1..tree.groups.len()).rev() {
            let group = &tree.groups[index];
            let share = 1.0 / (1.0 + precision[index] * self.levels[group.level]);
            precision[group.parent] += share * precision[index];
            sum[group.parent] += share * sum[index];
        }
        let uncertainty = 1.0 / (1.0 / START_VARIANCE + precision[0]);
        self.groups[0].mean = uncertainty * (START_MEAN / START_VARIANCE + sum[0]);
        self.groups[0].uncertainty = uncertainty;
        for index in 1..tree.groups.len() {
            let level = self.levels[tree.groups[index].level];
            let parent = self.groups[tree.groups[index].parent];
            let variance = 1.0 / (1.0 / level + precision[index]);
            let pull = variance / level;
            let group = &mut self.groups[index];
            group.mean = variance * (parent.mean / level + sum[index]);
            group.uncertainty = variance + pull * pull * parent.uncertainty;
            // From here on the buffers hold what this group says of its level.
            let informed = precision[index] > 0.0;
            let distance = group.mean - parent.mean;
            let rest = (1.0 - pull) * (1.0 - pull) * parent.uncertainty;
            sum[index] = if informed { distance * distance + variance + rest } else { 0.0 };
            precision[index] = f64::from(u8::from(informed));
        }
        for level in 1..self.levels.len() {
            let members = (1..tree.groups.len()).filter(|&index| tree.groups[index].level == level);
            let (total, count) =
                members.fold((0.0, 0.0), |(total, count), index| (total + sum[index], count + precision[index]));
            self.levels[level] = drawn(total, count, OF_START, START_VARIANCE);
        }
    }

    fn learn_servers(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        let (precision, sum) = scratch.zeroed(tree.servers);
        for Tried { place, noise, count, mean } in self.tried(data) {
            let group = &self.groups[place.group as usize];
            let weight = group.mean / (noise / count + group.spread + group.uncertainty);
            precision[place.server as usize] += group.mean * weight;
            sum[place.server as usize] += weight * (mean - group.mean);
        }
        let (mut total, mut count) = (0.0, 0.0);
        for (server, (precision, sum)) in self.servers.iter_mut().zip(precision.iter().zip(&*sum)) {
            server.uncertainty = 1.0 / (1.0 / self.server_spread + precision);
            server.factor = (server.uncertainty * sum).max(SLOWEST);
            if *precision > 0.0 {
                total += server.factor * server.factor + server.uncertainty;
                count += 1.0;
            }
        }
        self.server_spread = drawn(total, count, OF_START, START_SERVER);
    }

    fn learn_spread(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        let (square, count) = scratch.zeroed(tree.groups.len());
        for Tried { place, noise, count: uses, mean } in self.tried(data) {
            let group = &self.groups[place.group as usize];
            let prior = self.mean(place);
            let found = posterior(uses, uses * mean, noise, prior, group.spread);
            let (distance, own) = (found.estimate - prior, 1.0 - found.pull);
            square[place.group as usize] += distance * distance + found.variance + own * own * self.uncertainty(place);
            count[place.group as usize] += 1.0;
        }
        hand_up(tree, square, count);
        for index in 0..tree.groups.len() {
            let (weight, start) = match tree.groups[index].level {
                0 => (OF_START, START_VARIANCE),
                _ => (OF_PARENT, self.groups[tree.groups[index].parent].spread),
            };
            self.groups[index].spread = drawn(square[index], count[index], weight, start);
        }
    }
}

/// Refuses a saved list with an entry that is not sound.
fn check_all(list: &'static str, mut sound: impl Iterator<Item = bool>) -> Result<(), StateError> {
    let reason = "expected finite numbers, and positive ones for variances";
    sound.position(|sound| !sound).map_or(Ok(()), |entry| Err(StateError::Damaged { list, entry, reason }))
}

/// Adds the sums of every group to those of the group it is part of.
fn hand_up(tree: &Tree, first: &mut [f64], second: &mut [f64]) {
    for index in (1..tree.groups.len()).rev() {
        let parent = tree.groups[index].parent;
        first[parent] += first[index];
        second[parent] += second[index];
    }
}

/// A variance from squares and their number, drawn to a start value as if by `weight` more.
fn drawn(squares: f64, count: f64, weight: f64, start: f64) -> f64 {
    ((weight * start + squares) / (weight + count)).max(SMALLEST)
}
