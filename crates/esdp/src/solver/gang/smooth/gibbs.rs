//! One server's knapsack at a temperature `T`: every way to use the server counts, by its value.
//!
//! ```text
//! T ln Z(room)   with   Z(c) = sum over n with sum a_e n_e <= c of exp(r.n / T)
//! ```
//!
//! tends to the knapsack's optimum as `T` falls, and is smooth: its derivatives are the mean uses and,
//! over `T`, their covariances. A use more of a channel is a use less of its room, so one table of `Z` gives
//! all of them:
//!
//! ```text
//! E n_e = sum over k of exp(k r_e / T) Z(room - k a_e) / Z(room),   and so on for pairs.
//! ```
//!
//! Uses are limited by the room alone, which is counted on a grid (`grid.rs`): good enough for prices, which
//! are evaluated exactly elsewhere. A server costs `offers * (cells + offers)` or so.

use crate::solver::gang::problem::number::{ChannelNo, Number};
use crate::solver::gang::smooth::cells::rows;
use crate::solver::gang::tuning::gibbs::{CUT, LEAST, UNIT};

/// A channel that a server may use.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Offer {
    /// The value of a use.
    pub r: f64,
    pub channel: ChannelNo,
    /// Where its uses lead to in the table, and how many fit.
    stride: usize,
    most: usize,
    /// `exp` of the value, less the room's price, over the temperature: at most 1.
    factor: f64,
}

impl Offer {
    pub fn new(r: f64, channel: ChannelNo) -> Self {
        Self { r, channel, stride: 0, most: 0, factor: 0.0 }
    }
}

/// Sums over all uses of a server; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Gibbs {
    pub offers: Vec<Offer>,
    /// The mean uses of each offer, and their covariances, row after row.
    pub mean: Vec<f64>,
    pub covariance: Vec<f64>,
    /// A buffer of the caller's: channels and values.
    pub kept: Vec<(ChannelNo, f64)>,
    /// `Z` of each cell, less the room's price; as many zeros below, so that pairs need no look at what is
    /// left.
    table: Vec<f64>,
    idle: Vec<f64>,
    price: Vec<f64>,
    left: Vec<usize>,
    /// Visits so far.
    pub visits: u64,
}

impl Gibbs {
    /// The smoothed value of `offers`, of which those that hardly count are dropped; fills `mean` and
    /// `covariance`. `requests` are on the grid, channel after channel.
    pub fn solve(&mut self, requests: &[usize], levels: &[usize], temperature: f64) -> f64 {
        let devices = levels.len();
        let request = |offer: &Offer| &requests[offer.channel.place() * devices..][..devices];
        self.offers.retain(|offer| request(offer).iter().zip(levels).all(|(a, level)| a <= level));
        let bound = self.choose_price(requests, levels);
        let shortest = -(CUT * temperature + bound
            - greedy(&self.offers, requests, levels, &mut self.left, |_, _| ()))
        .max(0.0);
        let price = &self.price;
        self.offers.retain_mut(|offer| {
            let request = request(offer);
            let cost: f64 = request.iter().zip(price).map(|(&a, price)| a as f64 * price).sum();
            let reduced = (offer.r - cost).min(0.0);
            offer.factor = libm::exp(reduced / temperature);
            offer.most =
                request.iter().zip(levels).filter_map(|(&a, &level)| level.checked_div(a)).min().unwrap_or(0);
            offer.stride =
                request.iter().zip(levels).fold(0, |place, (a, level)| place * (2 * level + 1) + a);
            reduced >= shortest
        });
        self.mean.clear();
        self.covariance.clear();
        if self.offers.is_empty() {
            return 0.0;
        }
        self.fill(requests, levels, temperature);
        let last = self.table.len() - 1;
        let total = self.table[last];
        let count = self.offers.len();
        // Cells of the table, and pairs of uses.
        let uses: usize = self.offers.iter().map(|offer| offer.most).sum();
        self.visits += (count * self.table.len() / 4 + uses * uses / 2) as u64;
        self.mean.resize(count, 0.0);
        self.covariance.resize(count * count, 0.0);
        if total < LEAST {
            // The room's price is so far off that nothing can be told: a greedy use stands for all.
            let Self { offers, mean, left, .. } = self;
            offers.sort_unstable_by(|a, b| b.factor.total_cmp(&a.factor).then(a.channel.cmp(&b.channel)));
            return greedy(offers, requests, levels, left, |place, uses| mean[place] = uses as f64);
        }
        self.moments(total);
        bound + temperature * (libm::log(total) - libm::log(UNIT))
    }

    /// Prices of the room under which no offer is worth more than it costs, and what the room costs then: all
    /// devices by their share, or one alone, whichever is less.
    fn choose_price(&mut self, requests: &[usize], levels: &[usize]) -> f64 {
        let devices = levels.len();
        let mut best = f64::INFINITY;
        let mut chosen = devices;
        for one in 0..=devices {
            let weight = |offer: &Offer| -> f64 {
                let request = &requests[offer.channel.place() * devices..][..devices];
                let share = |device: usize| request[device] as f64 / levels[device].max(1) as f64;
                if one < devices { share(one) } else { (0..devices).map(share).sum() }
            };
            let dearest =
                self.offers.iter().filter(|offer| offer.r > 0.0).map(|offer| offer.r / weight(offer));
            let price = dearest.fold(0.0, f64::max);
            let count = if one < devices { 1 } else { levels.iter().filter(|&&level| level > 0).count() };
            if price * (count as f64) < best {
                (best, chosen) = (price * count as f64, one);
                self.price.clear();
                self.price
                    .extend(levels.iter().map(|&level| if level == 0 { 0.0 } else { price / level as f64 }));
            }
        }
        if chosen < devices {
            let alone = self.price[chosen];
            self.price.iter_mut().for_each(|price| *price = 0.0);
            self.price[chosen] = alone;
        }
        if best.is_finite() { best } else { 0.0 }
    }

    fn fill(&mut self, requests: &[usize], levels: &[usize], temperature: f64) {
        let devices = levels.len();
        let Self { offers, table, price, idle, .. } = self;
        table.clear();
        table.resize(levels.iter().map(|level| 2 * level + 1).product(), 0.0);
        // Idle room costs its price.
        idle.clear();
        idle.extend(price.iter().map(|price| libm::exp(-price / temperature)));
        let nothing = [0; 0];
        rows(levels, &nothing, idle, (0, UNIT), &mut |from, len, mut value| {
            for cell in &mut table[from..from + len] {
                *cell = value;
                value *= idle.last().copied().unwrap_or(1.0);
            }
        });
        for offer in offers.iter() {
            let request = &requests[offer.channel.place() * devices..][..devices];
            let (factor, stride) = (offer.factor, offer.stride);
            rows(levels, request, &[], (0, 1.0), &mut |from, len, _| {
                for place in from..from + len {
                    table[place] += factor * table[place - stride];
                }
            });
        }
    }

    fn moments(&mut self, total: f64) {
        let Self { offers, mean, covariance, table, .. } = self;
        let count = offers.len();
        let last = table.len() - 1;
        for (i, first) in offers.iter().enumerate() {
            let (mut weight, mut square) = (1.0 / total, 0.0);
            for k in 1..=first.most {
                weight *= first.factor;
                let place = last - k * first.stride;
                let share = weight * table[place];
                mean[i] += share;
                square += (2 * k - 1) as f64 * share;
                for (j, second) in offers.iter().enumerate().skip(i + 1) {
                    let mut pair = weight;
                    for l in 1..=second.most {
                        pair *= second.factor;
                        covariance[i * count + j] += pair * table[place - l * second.stride];
                    }
                }
            }
            covariance[i * count + i] = square;
        }
        for i in 0..count {
            for j in i..count {
                let covariant = covariance[i * count + j] - mean[i] * mean[j];
                covariance[i * count + j] = covariant;
                covariance[j * count + i] = covariant;
            }
        }
    }
}

/// The value of a greedy use, in the order of the offers.
fn greedy(
    offers: &[Offer],
    requests: &[usize],
    levels: &[usize],
    left: &mut Vec<usize>,
    mut used: impl FnMut(usize, usize),
) -> f64 {
    let devices = levels.len();
    left.clear();
    left.extend_from_slice(levels);
    let mut value = 0.0;
    for (place, offer) in offers.iter().enumerate().filter(|(_, offer)| offer.r > 0.0) {
        let request = &requests[offer.channel.place() * devices..][..devices];
        let uses =
            request.iter().zip(&*left).filter_map(|(&a, &left)| left.checked_div(a)).min().unwrap_or(0);
        left.iter_mut().zip(request).for_each(|(left, &a)| *left -= a * uses);
        value += offer.r * uses as f64;
        used(place, uses);
    }
    value
}

#[cfg(test)]
#[path = "gibbs_tests.rs"]
mod tests;
