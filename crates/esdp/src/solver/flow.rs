//! Streams of jobs through a cluster in the long run: how much of it they take, and how long jobs last at
//! least.
//!
//! A *stream* is a kind of task that arrives again and again; a *route* sends a share of it to some devices.
//! With `x` the share of a stream that takes each of its routes, and `a` what a route takes of each limit:
//!
//! ```text
//! load   = min rho     with  sum of x over each stream = 1,  a x <= rho,  0 <= x <= 1
//! slots  = min c.x     with  sum of x over each stream = 1,  a x <= 1,    0 <= x <= 1
//! ```
//!
//! [`Lp`] packs: it takes no equations. So the share that is carried is maximised instead, for a load `rho`
//! that is too low at first. As long as not everything is carried, the prices `z` of the limits prove a
//! higher one: `load >= (sum over the streams of their cheapest route at prices z) / (sum of z)`. These steps
//! are Newton's on a convex piecewise linear function, so they end. In the second program a stream that is
//! carried earns so much that all are.
//!
//! Where many routes gain the same, the simplex method may go in circles. It is tried again then with gains
//! that differ by a hundred-thousandth at most, and the result is as exact as that.
//!
//! Nothing here trusts the numbers of the table: both results are evaluated anew from prices, by weak
//! duality, so they are never above the true ones but for rounding. Cost: a table of `(streams + limits) x
//! routes`.

use super::lp::{End, Lp};

/// A larger table is not built.
const LARGEST_TABLE: usize = 1 << 22;
/// So many multiplications are enough for programs of that size; what takes more is given up.
const MOST_WORK: u64 = 2_000_000_000;
/// So little may be missing of all that is to be carried.
const MISSING: f64 = 1e-7;
/// By how much the gains of routes are told apart, one try after another: where many routes gain the same,
/// the simplex method may go in circles.
const TELL_APART: [f64; 3] = [0.0, 1e-7, 1e-5];

/// One way to carry a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    /// The stream.
    pub stream: u32,
    /// What it costs to send the whole stream this way.
    pub cost: f64,
    /// Which limits it takes what share of, if the whole stream goes this way.
    pub takes: Vec<(u32, f64)>,
}

/// Streams, limits, and the routes between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Flow {
    pub streams: usize,
    pub limits: usize,
    pub routes: Vec<Route>,
}

impl Flow {
    /// Whether the table is small enough.
    pub fn is_small(&self) -> bool {
        (self.streams + self.limits).saturating_mul(self.routes.len()) <= LARGEST_TABLE
    }

    /// The share of the limits that is taken at least; none if it takes too much work to find out, infinite
    /// if a stream has no route.
    pub fn load(&self) -> Option<f64> {
        let mut reachable = vec![false; self.streams];
        self.routes.iter().for_each(|route| reachable[route.stream as usize] = true);
        if reachable.contains(&false) {
            return Some(f64::INFINITY);
        }
        // Bounds to start from: the dearest single limit, and all of them at one price, which is above 0 even
        // if every stream can do without any one limit.
        let single = |limit: u32| {
            let mut prices = vec![0.0; self.limits];
            prices[limit as usize] = 1.0;
            self.bound(&prices)
        };
        let all = self.bound(&vec![1.0; self.limits]);
        let mut load = (0..self.limits as u32).map(single).fold(all, f64::max);
        let mut work = 0;
        loop {
            let packed = self.pack(load.max(f64::MIN_POSITIVE), |_| 1.0, &mut work)?;
            if packed.carried >= self.streams as f64 - MISSING {
                return Some(load);
            }
            let next = self.bound(&packed.prices);
            if next <= load * (1.0 + 1e-12) {
                // Only rounding keeps the rest from being carried.
                return Some(load);
            }
            load = next;
        }
    }

    /// What all streams cost at least, together; none if they do not fit, or that takes too much work.
    pub fn least_cost(&self) -> Option<f64> {
        let dearest = self.routes.iter().map(|route| route.cost).fold(0.0, f64::max);
        let reward = 1e3 * dearest.max(f64::MIN_POSITIVE);
        let Packed { prices, carried, apart } = self.pack(1.0, |route| reward - route.cost, &mut 0)?;
        // Where gains differ, a little may be left behind to gain more with the rest.
        if carried < self.streams as f64 * (1.0 - apart) - MISSING {
            return None;
        }
        let cheapest = self.cheapest(|route| route.cost + taken(route, &prices));
        Some((cheapest.iter().sum::<f64>() - prices.iter().sum::<f64>()).max(0.0))
    }

    /// The most that is gained if the limits are all `room`; none if that takes too much work.
    fn pack(&self, room: f64, gain: impl Fn(&Route) -> f64, work: &mut u64) -> Option<Packed> {
        for apart in TELL_APART {
            let mut number = 0_u64;
            let (mut lp, scales) = self.packing(room, |route| {
                number += 1;
                let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                gain(route) * (1.0 + apart * hash as f64 / f64::from(1 << 24))
            });
            let end = lp.solve(MOST_WORK.saturating_sub(*work), f64::NEG_INFINITY);
            *work += lp.work;
            if end == End::Optimal {
                let carried = (0..self.routes.len() as u32).map(|route| lp.share(route)).sum();
                return Some(Packed { prices: prices(&lp, self.streams, &scales), carried, apart });
            }
        }
        None
    }

    /// The program whose limits are all `room`, and by what the row of each limit was divided.
    fn packing(&self, room: f64, gain: impl FnMut(&Route) -> f64) -> (Lp, Vec<f64>) {
        let mut lp = Lp::default();
        lp.start(self.routes.iter().map(gain), std::iter::empty(), true);
        let (mut row, mut scales) = (vec![0.0; self.routes.len()], Vec::with_capacity(self.limits));
        for stream in 0..self.streams as u32 {
            row.iter_mut()
                .zip(&self.routes)
                .for_each(|(entry, route)| *entry = if route.stream == stream { 1.0 } else { 0.0 });
            lp.add_row(&row, 1.0);
        }
        for limit in 0..self.limits as u32 {
            let takes =
                |route: &Route| route.takes.iter().find(|(own, _)| *own == limit).map_or(0.0, |own| own.1);
            row.iter_mut().zip(&self.routes).for_each(|(entry, route)| *entry = takes(route));
            // Rows are compared with one tolerance.
            let scale = row.iter().copied().fold(0.0, f64::max).max(room);
            row.iter_mut().for_each(|entry| *entry /= scale);
            lp.add_row(&row, room / scale);
            scales.push(scale);
        }
        lp.price(0.0);
        (lp, scales)
    }

    /// The load that prices prove.
    fn bound(&self, prices: &[f64]) -> f64 {
        let sum: f64 = prices.iter().sum();
        if sum > 0.0 { self.cheapest(|route| taken(route, prices)).iter().sum::<f64>() / sum } else { 0.0 }
    }

    /// The cheapest route of every stream.
    fn cheapest(&self, cost: impl Fn(&Route) -> f64) -> Vec<f64> {
        let mut cheapest = vec![f64::INFINITY; self.streams];
        for route in &self.routes {
            let least = &mut cheapest[route.stream as usize];
            *least = cost(route).min(*least);
        }
        cheapest
    }
}

/// What limits carry at most.
struct Packed {
    /// The prices of the limits.
    prices: Vec<f64>,
    /// The sum of the shares that are carried.
    carried: f64,
    /// By how much the gains of routes were told apart.
    apart: f64,
}

/// The prices of the limits, whose rows come after those of the streams.
fn prices(lp: &Lp, streams: usize, scales: &[f64]) -> Vec<f64> {
    let price = |(limit, scale): (usize, &f64)| lp.row_price(streams + limit).max(0.0) / scale;
    scales.iter().enumerate().map(price).collect()
}

/// What a route takes, at prices.
fn taken(route: &Route, prices: &[f64]) -> f64 {
    route.takes.iter().map(|(limit, share)| prices[*limit as usize] * share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route: its stream, its cost, and what it takes of which limits.
    type Row<'a> = (u32, f64, &'a [(u32, f64)]);

    fn flow(streams: usize, limits: usize, routes: &[Row<'_>]) -> Flow {
        let route =
            |(stream, cost, takes): &Row<'_>| Route { stream: *stream, cost: *cost, takes: takes.to_vec() };
        Flow { streams, limits, routes: routes.iter().map(route).collect() }
    }

    #[test]
    fn the_n_model_is_loaded_as_by_hand() {
        // a takes 0.825 of s1 or 0.99 of s2, b 0.8 of s1: a share x of a on s1, 0.8 + 0.825 x = 0.99 (1 - x).
        let n = flow(2, 2, &[(0, 5.0, &[(0, 0.825)]), (0, 6.0, &[(1, 0.99)]), (1, 10.0, &[(0, 0.8)])]);
        let share = 0.19 / 1.815;
        assert!((n.load().unwrap() - (0.8 + 0.825 * share)).abs() < 1e-9);
        // As much of a on s1 as b leaves room for there.
        let most = 0.2 / 0.825;
        assert!((n.least_cost().unwrap() - (10.0 + 5.0 * most + 6.0 * (1.0 - most))).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_carried_has_no_cost() {
        let one = |takes: f64| flow(1, 1, &[(0, 3.0, &[(0, takes)])]);
        assert_eq!((one(0.5).load(), one(0.5).least_cost()), (Some(0.5), Some(3.0)));
        assert_eq!((one(2.0).load(), one(2.0).least_cost()), (Some(2.0), None));
        let lost = flow(2, 1, &[(0, 3.0, &[(0, 0.5)])]);
        assert_eq!((lost.load(), lost.least_cost()), (Some(f64::INFINITY), None));
    }

    /// Job types and servers that all differ a little, no server needed by any: the load is found, and it is
    /// the edge of what is carried.
    #[test]
    fn clusters_of_servers_that_differ_have_a_load() {
        for seed in 0..40_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut number = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64 / f64::from(1 << 24)
            };
            let (streams, servers) = (2 + seed as u32 % 12, 4 + seed as u32 % 37);
            let kinds: Vec<f64> = (0..streams * 3).map(|_| 0.1 + number()).collect();
            let mut all = Flow { streams: streams as usize, limits: servers as usize, routes: Vec::new() };
            for (stream, server) in (0..streams).flat_map(|stream| (0..servers).map(move |s| (stream, s))) {
                if number() < [1.0, 0.6][seed as usize % 2] || server % streams == stream {
                    let cost = 1.0 / kinds[(stream * 3 + server % 3) as usize] * (0.97 + 0.06 * number());
                    let takes = vec![(server, 3.0 * cost / f64::from(streams))];
                    all.routes.push(Route { stream, cost, takes });
                }
            }
            let load = all.load().unwrap_or_else(|| panic!("seed {seed} has no load"));
            let at = |share: f64| {
                let mut scaled = all.clone();
                scaled.routes.iter_mut().for_each(|route| route.takes[0].1 *= share / load);
                scaled.least_cost()
            };
            assert_eq!(at(1.001), None, "seed {seed}: more than {load} is carried");
            let (full, half) = (at(0.999), at(0.5));
            assert!(full.is_some() && full >= half && half > Some(0.0), "seed {seed}: {full:?} {half:?}");
        }
    }

    /// Against every split of two streams over two limits, in steps of a hundredth.
    #[test]
    fn no_split_is_better() {
        for seed in 0..40u32 {
            let number = |at: u32| f64::from((seed * 7919 + at * 104_729) % 97) / 97.0 + 0.05;
            let takes: Vec<[(u32, f64); 2]> =
                (0..4).map(|route| [(0, number(2 * route)), (1, number(2 * route + 1))]).collect();
            let routes: Vec<Row<'_>> =
                (0..4u32).map(|at| (at / 2, number(20 + at), &takes[at as usize][..])).collect();
            let flow = flow(2, 2, &routes);
            let (mut load, mut cost) = (f64::INFINITY, f64::INFINITY);
            for (first, second) in
                (0..=100).flat_map(|i| (0..=100).map(move |j| (i as f64 / 100.0, j as f64 / 100.0)))
            {
                let shares = [first, 1.0 - first, second, 1.0 - second];
                let used = |limit: usize| (0..4).map(|at| shares[at] * takes[at][limit].1).sum::<f64>();
                let most = used(0).max(used(1));
                load = most.min(load);
                if most <= 1.0 {
                    cost = (0..4).map(|at| shares[at] * routes[at].1).sum::<f64>().min(cost);
                }
            }
            let found = flow.load().unwrap();
            assert!(found <= load + 1e-9 && found >= load - 0.03, "seed {seed}: {found}, not {load}");
            if let Some(found) = flow.least_cost() {
                assert!(found <= cost + 1e-9 && (found >= cost - 0.1), "seed {seed}: {found}, not {cost}");
            } else {
                assert!(load > 1.0 - 0.03, "seed {seed}");
            }
        }
    }
}
