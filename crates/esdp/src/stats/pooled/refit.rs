//! Learning again what channels share, from everything that was seen.
//!
//! A refit takes one step of expectation-maximisation: the noise; the `b` exactly, by sums up and estimates
//! down the tree; then `u`; then the variances, each drawn to that of the parent group as if by [`OF_PARENT`]
//! more members. Cost: *O(channels + groups + servers)*.
//!
//! With a slab each channel first gets its chance of being in it, and counts that much less: with its
//! expected precision for `b` and `u`, and for `tau2` with its chance of being in the spike. What it says of
//! `tau2` from within the slab is next to nothing and left out.

use super::posterior::{Evidence, Posterior, Slab, posterior};
use super::prior::{
    OF_PARENT, OF_START, Prior, SLOWEST, START_MEAN, START_NOISE, START_SERVER, START_VARIANCE, drawn,
};
use super::tree::{Place, Tree};
use crate::stats::discounted::Discounted;

/// What a refit learns from: everything that was seen, channel by channel.
pub(super) struct Data<'a> {
    pub(super) tree: &'a Tree,
    pub(super) seen: &'a Discounted,
    /// Squared distances of outcomes from the average before them, and how many.
    pub(super) residuals: &'a [f64],
    pub(super) freedom: &'a [f64],
    pub(super) slab: Slab,
}

/// A channel that was seen.
struct Tried {
    place: Place,
    noise: f64,
    count: f64,
    /// Its average speed.
    mean: f64,
    /// The chance that it is in the slab.
    chance: f64,
}

/// Buffers of a refit.
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

impl Prior {
    /// Learns again from all channels.
    pub(super) fn refit(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        self.learn_noise(data, scratch);
        self.learn_means(data, scratch);
        self.learn_servers(data, scratch);
        self.learn_between(data, scratch);
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
        for Tried { place, noise, count, mean, chance } in self.tried(data) {
            let group = &self.groups[place.group as usize];
            let factor = 1.0 + self.servers[place.server as usize].factor;
            let weight = Slab::precision(chance, factor, noise / count + group.between);
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
            let (total, count) = members
                .fold((0.0, 0.0), |(total, count), index| (total + sum[index], count + precision[index]));
            self.levels[level] = drawn(total, count, OF_START, START_VARIANCE);
        }
    }

    fn learn_servers(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        let (precision, sum) = scratch.zeroed(tree.servers);
        for Tried { place, noise, count, mean, chance } in self.tried(data) {
            let group = &self.groups[place.group as usize];
            let around = noise / count + group.between + group.uncertainty;
            let weight = Slab::precision(chance, group.mean, around);
            precision[place.server as usize] += group.mean * weight;
            sum[place.server as usize] += weight * (mean - group.mean);
        }
        let (mut total, mut count) = (0.0, 0.0);
        for (server, (precision, sum)) in self.servers.iter_mut().zip(precision.iter().zip(&*sum)) {
            server.uncertainty = 1.0 / (1.0 / self.server_variance + precision);
            server.factor = (server.uncertainty * sum).max(SLOWEST);
            if *precision > 0.0 {
                total += server.factor * server.factor + server.uncertainty;
                count += 1.0;
            }
        }
        self.server_variance = drawn(total, count, OF_START, START_SERVER);
    }

    fn learn_between(&mut self, data: &Data<'_>, scratch: &mut Scratch) {
        let tree = data.tree;
        let (square, count) = scratch.zeroed(tree.groups.len());
        for Tried { place, noise, count: uses, mean, chance } in self.tried(data) {
            let expected = self.expected(place);
            let evidence = Evidence { count: uses, total: uses * mean, noise };
            let Posterior { estimate, variance, pull } = posterior(evidence, expected.mean, expected.between);
            let (distance, own) = (estimate - expected.mean, 1.0 - pull);
            let found = distance * distance + variance + own * own * expected.uncertainty;
            square[place.group as usize] += (1.0 - chance) * found;
            count[place.group as usize] += 1.0 - chance;
        }
        hand_up(tree, square, count);
        for index in 0..tree.groups.len() {
            let (weight, start) = match tree.groups[index].level {
                0 => (OF_START, START_VARIANCE),
                _ => (OF_PARENT, self.groups[tree.groups[index].parent].between),
            };
            self.groups[index].between = drawn(square[index], count[index], weight, start);
        }
    }

    /// The channels that were seen.
    fn tried<'a>(&'a self, data: &'a Data<'a>) -> impl Iterator<Item = Tried> + 'a {
        data.tree.places.iter().enumerate().filter_map(|(index, &place)| {
            let (count, total) = data.seen.faded(index);
            (count >= crate::stats::FORGOTTEN).then(|| {
                let noise = self.channel_noise(place, data.residuals[index], data.freedom[index]);
                let mean = total / count + place.cost;
                let evidence = Evidence { count, total: count * mean, noise };
                let chance = data.slab.chance(self.expected(place), evidence);
                Tried { place, noise, count, mean, chance }
            })
        })
    }
}

/// Adds the sums of every group to those of the group it is part of.
fn hand_up(tree: &Tree, first: &mut [f64], second: &mut [f64]) {
    for index in (1..tree.groups.len()).rev() {
        let parent = tree.groups[index].parent;
        first[parent] += first[index];
        second[parent] += second[index];
    }
}
