//! One server's own problem: a bounded knapsack in a few dimensions, solved exactly.
//!
//! ```text
//! max sum r_e n_e   with   sum a_ek n_e <= room_k   and   0 <= n_e <= most_e
//! ```
//!
//! Depth first by falling value for weight, the weight of a use being its share of the room summed
//! over the devices: no use of the room sums to more than the number of devices, which bounds what
//! the items still to come can add (Dantzig's bound on that sum). Servers are small, so a handful
//! of visits is usual. When the visits are spent, the bound at the root is the answer's value and
//! the best pattern found its uses: too high, never too low.

use crate::model::Amount;
use crate::solver::gang::problem::form::effort;
use crate::solver::gang::problem::number::{ByChannel, ChannelNo, Number};
use crate::solver::gang::tuning::knapsack::EVEN;

/// An item offered to a server.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Item {
    /// The value of a use, positive.
    pub r: f64,
    /// The most uses.
    pub most: u32,
    /// The channel.
    pub channel: ChannelNo,
    weight: f64,
    /// Value for weight.
    density: f64,
}

impl Item {
    pub fn new(r: f64, most: u32, channel: ChannelNo) -> Self {
        Self { r, most, channel, weight: 0.0, density: 0.0 }
    }
}

/// A knapsack's buffers.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Knapsack {
    pub items: Vec<Item>,
    taken: Vec<u32>,
    best: Vec<u32>,
    room: Vec<Amount>,
    inverse: Vec<f64>,
    /// The value for weight at which the last room was full; 0 where all fitted.
    critical: f64,
    /// Visits so far, for the work budget.
    pub visits: u64,
}

fn fits(request: &[Amount], room: &[Amount], most: u32) -> u32 {
    let mut most = u64::from(most);
    for (&a, &c) in request.iter().zip(room) {
        if let Some(uses) = c.checked_div(a) {
            most = most.min(uses);
        }
    }
    most as u32
}

impl Knapsack {
    /// Solves for `items` (consumed), adds their uses to `uses`, and returns a value that is never
    /// below the optimum and equal to it unless more than `limit` visits would be needed.
    /// `prices` of the room, if there are any, say how much each device counts in the bound.
    pub fn solve(
        &mut self,
        requests: &[Amount],
        room: &[Amount],
        prices: &[f64],
        limit: u64,
        uses: &mut ByChannel<u32>,
    ) -> f64 {
        let devices = room.len();
        self.critical = 0.0;
        let request = |item: &Item| &requests[item.channel.place() * devices..][..devices];
        self.visits += self.items.len() as u64 * effort(devices);
        if let [item] = &self.items[..] {
            let most = fits(request(item), room, item.most);
            uses[item.channel] += most;
            return item.r * f64::from(most);
        }
        if self.all_fit(requests, devices, room) {
            let mut value = 0.0;
            for item in &self.items {
                uses[item.channel] += item.most;
                value += item.r * f64::from(item.most);
            }
            return value;
        }
        self.inverse.clear();
        let total: f64 = prices.iter().zip(room).map(|(price, &room)| price * room as f64).sum();
        let each = if total > 0.0 { EVEN * total } else { 1.0 };
        self.inverse.extend(room.iter().map(|&room| if room == 0 { 0.0 } else { each / room as f64 }));
        self.inverse.iter_mut().zip(prices).for_each(|(inverse, price)| *inverse += price);
        let inverse = &self.inverse;
        self.items.retain_mut(|item| {
            let request = &requests[item.channel.place() * devices..][..devices];
            item.most = fits(request, room, item.most);
            item.weight = request.iter().zip(inverse).map(|(&a, inverse)| a as f64 * inverse).sum();
            // Infinite where nothing is needed. Products instead of a quotient would not order consistently.
            item.density = item.r / item.weight;
            item.most > 0
        });
        self.items.sort_unstable_by(|a, b| b.density.total_cmp(&a.density).then(a.channel.cmp(&b.channel)));
        self.search(requests, devices, room, limit, uses)
    }

    /// What a request costs in the last room, at the price of what filled it.
    pub fn fee(&self, request: &[Amount]) -> f64 {
        if self.critical == 0.0 {
            return 0.0;
        }
        self.critical * request.iter().zip(&self.inverse).map(|(&a, inverse)| a as f64 * inverse).sum::<f64>()
    }

    fn all_fit(&self, requests: &[Amount], devices: usize, room: &[Amount]) -> bool {
        (0..devices).all(|device| {
            let need = |item: &Item| {
                u128::from(requests[item.channel.place() * devices + device]) * u128::from(item.most)
            };
            self.items.iter().map(need).sum::<u128>() <= u128::from(room[device])
        })
    }

    fn search(
        &mut self,
        requests: &[Amount],
        devices: usize,
        room: &[Amount],
        limit: u64,
        uses: &mut ByChannel<u32>,
    ) -> f64 {
        let Self { items, taken, best, room: left, inverse, critical, visits } = self;
        let count = items.len();
        let request = |place: usize, items: &[Item]| items[place].channel.place() * devices;
        left.clear();
        left.extend_from_slice(room);
        taken.clear();
        taken.resize(count, 0);
        best.clear();
        best.resize(count, 0);
        let slack = |left: &[Amount]| -> f64 {
            // A hair more than the sum, which is rounded.
            left.iter().zip(inverse.iter()).map(|(&c, inverse)| c as f64 * inverse).sum::<f64>()
                * (1.0 + 1e-12)
        };
        let root = completion(items, slack(left));
        *critical = density_at(items, slack(left));
        let end = visits.saturating_add(limit);
        let (mut value, mut best_value, mut from) = (0.0, 0.0, 0);
        let finished = loop {
            for place in from..count {
                let at = request(place, items);
                let take = fits(&requests[at..at + devices], left, items[place].most);
                taken[place] = take;
                if take > 0 {
                    value += items[place].r * f64::from(take);
                    for (c, &a) in left.iter_mut().zip(&requests[at..]) {
                        *c -= a * u64::from(take);
                    }
                }
            }
            *visits += (count - from) as u64 * effort(devices);
            if value > best_value {
                best_value = value;
                best.copy_from_slice(taken);
            }
            if *visits > end {
                break false;
            }
            // Give back one use of the last item taken, if what may follow can beat the best.
            let mut place = count;
            let resumed = loop {
                let Some(last) = taken[..place].iter().rposition(|&taken| taken > 0) else { break false };
                *visits += effort(devices);
                place = last;
                let at = request(last, items);
                taken[last] -= 1;
                value -= items[last].r;
                left.iter_mut().zip(&requests[at..at + devices]).for_each(|(c, &a)| *c += a);
                if value + completion(&items[last + 1..], slack(left)) > best_value * (1.0 + 1e-12) {
                    from = last + 1;
                    break true;
                }
                // Fewer uses of this item leave less: the items to come are worth less for their weight.
                let rest = taken[last];
                value -= items[last].r * f64::from(rest);
                left.iter_mut()
                    .zip(&requests[at..at + devices])
                    .for_each(|(c, &a)| *c += a * u64::from(rest));
                taken[last] = 0;
            };
            if !resumed {
                break true;
            }
        };
        for (item, &taken) in items.iter().zip(&*best) {
            uses[item.channel] += taken;
        }
        if finished { best_value * (1.0 + 1e-12) } else { root.max(best_value) }
    }
}

/// The most that items, by falling value for weight, add within a sum of weights.
fn completion(items: &[Item], mut slack: f64) -> f64 {
    let mut value = 0.0;
    for item in items {
        let weight = item.weight * f64::from(item.most);
        if weight > slack {
            return value + item.r * (slack / item.weight).max(0.0);
        }
        slack -= weight;
        value += item.r * f64::from(item.most);
    }
    value
}

/// The value for weight of the item that the same sum of weights ends at, or 0.
fn density_at(items: &[Item], mut slack: f64) -> f64 {
    let last = items.iter().find(|item| {
        slack -= item.weight * f64::from(item.most);
        slack < 0.0
    });
    last.map_or(0.0, |item| item.density)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best value, by all numbers of uses of each item in turn.
    fn best(items: &[(f64, u32, [u64; 2])], room: [u64; 2]) -> f64 {
        let Some((&(r, most, request), rest)) = items.split_first() else { return 0.0 };
        let mut value = f64::NEG_INFINITY;
        for uses in 0..=u64::from(most) {
            let left = [0, 1].map(|device| room[device].checked_sub(request[device] * uses));
            let [Some(first), Some(second)] = left else { break };
            value = value.max(r * uses as f64 + best(rest, [first, second]));
        }
        value
    }

    #[test]
    fn a_value_is_never_below_the_optimum() {
        let mut unfinished = 0;
        for case in 0..200u64 {
            let number = |place: u64, limit: u64| (case * 31 + place * 17 + place * place * 7) % limit;
            let items: Vec<(f64, u32, [u64; 2])> = (0..6)
                .map(|i| {
                    let request = [1 + number(i, 4), 1 + number(i + 9, 3)];
                    let worth = (request[0] + request[1]) as f64 + 0.01 * number(i + 3, 50) as f64;
                    (worth, 1 + number(i + 5, 3) as u32, request)
                })
                .collect();
            let room = [7 + number(1, 6), 6 + number(2, 6)];
            let optimum = best(&items, room);
            let requests: Vec<u64> = items.iter().flat_map(|item| item.2).collect();
            for limit in [0, 3, 10, 30, 100_000] {
                let mut knapsack = Knapsack::default();
                knapsack.items.extend(
                    (0..).map(ChannelNo::at).zip(&items).map(|(e, item)| Item::new(item.0, item.1, e)),
                );
                let mut uses = ByChannel::from(vec![0; items.len()]);
                let value = knapsack.solve(&requests, &room, &[], limit, &mut uses);
                let found: f64 = items.iter().zip(&uses).map(|(item, &uses)| item.0 * f64::from(uses)).sum();
                assert!(value >= optimum, "case {case}, limit {limit}: {value} {optimum}");
                assert!(found <= optimum + 1e-9, "case {case}: {uses:?} {found} {optimum}");
                if limit == 100_000 {
                    assert!(value <= optimum * (1.0 + 1e-9), "case {case}: {value} {optimum}");
                } else {
                    unfinished += u32::from(value > optimum * (1.0 + 1e-9));
                }
            }
        }
        assert!(unfinished > 100, "{unfinished}");
    }
}
