//! Rows that whole uses keep and fractions break: mixed-integer rounding.
//!
//! From a server's rows `sum a_ek n_e <= room_k`, weighed by `p_k / q`, follows for whole `n >= 0`, with
//! `f(t) = floor(t) + max(0, frac(t) - frac(c)) / (1 - frac(c))` and `c = p.room / q`,
//!
//! ```text
//! sum f(p.a_e / q) n_e <= floor(c)
//! ```
//!
//! Three tasks of two devices each on a server with five: the relaxation runs two and a half of them, this
//! row two. Weights tried are those that make some request, or half or a third of it, whole. What the
//! relaxation's solution breaks most is kept. A small server also has the row of its hull (`hull.rs`).

use super::hull::Hull;
use crate::model::Amount;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ByChannel, ChannelNo, Number, ServerNo};
use crate::solver::gang::tuning::cuts::{BROKEN, FULL, KEPT, PAIRED, SMALL, WEIGHTS};

const FRACTIONS: [(u64, u64); 11] =
    [(1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 6), (5, 6)];

/// A row of one server, over all of its channels.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub server: ServerNo,
    /// One entry for each of the server's channels.
    pub entries: Vec<f64>,
    pub capacity: f64,
}

/// The rows kept so far, by server.
#[derive(Debug, Clone, Default)]
pub(super) struct Cuts {
    pub list: Vec<Cut>,
    /// Where each server's begin; one more entry than servers.
    start: Vec<usize>,
    weights: Vec<Vec<(u64, u64)>>,
    found: Vec<(f64, Cut)>,
    hull: Hull,
}

impl Cuts {
    /// Forgets all rows.
    pub fn reset(&mut self, form: &Form) {
        self.list.clear();
        self.start.clear();
        self.start.resize(form.servers() + 1, 0);
    }

    /// The positions of a server's rows.
    pub fn of(&self, server: ServerNo) -> std::ops::Range<usize> {
        self.start[server.place()]..self.start[server.place() + 1]
    }

    /// Adds rows that uses break; whether there are any. Counts work.
    pub fn separate(&mut self, form: &Form, uses: &ByChannel<f64>, work: &mut u64) -> bool {
        let before = self.list.len();
        for server in form.all_servers() {
            let channels = form.channels(server);
            let is_whole = |e: ChannelNo| (uses[e] - libm::round(uses[e])).abs() < 0.02;
            *work += 2 * channels.len() as u64;
            if channels.clone().all(is_whole) {
                continue;
            }
            let sharpest = self.hull.separate(form, uses, server, work);
            self.list.extend(sharpest.filter(|&(broken, _)| broken > BROKEN).map(|(_, cut)| cut));
            self.separate_server(form, uses, server, work);
        }
        self.list.sort_by_key(|cut| cut.server);
        self.start.fill(0);
        self.list.iter().for_each(|cut| self.start[cut.server.place() + 1] += 1);
        for place in 1..self.start.len() {
            self.start[place] += self.start[place - 1];
        }
        self.list.len() > before
    }

    fn separate_server(&mut self, form: &Form, uses: &ByChannel<f64>, server: ServerNo, work: &mut u64) {
        let devices = form.devices;
        let room = &form.room[form.devices_of(server)];
        let used: Vec<ChannelNo> = form.channels(server).filter(|&e| uses[e] > 1e-3).collect();
        // Weights of each device: a whole number over a request that is there.
        self.weights.clear();
        for (device, &room) in room.iter().enumerate() {
            let mut weights = vec![(0, 1)];
            let load: f64 = used.iter().map(|&e| form.request(e)[device] as f64 * uses[e]).sum();
            if load > FULL * room as f64 {
                if room <= SMALL {
                    weights.extend_from_slice(&FRACTIONS);
                }
                for &e in &used {
                    let a = form.request(e)[device];
                    for part in 1..=3u64 {
                        if a > part && !weights.contains(&(part, a)) && weights.len() < WEIGHTS {
                            weights.push((part, a));
                        }
                    }
                }
            }
            self.weights.push(weights);
        }
        let weights = std::mem::take(&mut self.weights);
        self.found.clear();
        for first in 0..devices {
            for &weight in &weights[first][1..] {
                self.try_weights(form, uses, server, &used, &[(first, weight)], work);
                let paired =
                    weights.iter().enumerate().skip(first + 1).filter(|(_, others)| others.len() > 1);
                for (second, others) in paired.take(PAIRED) {
                    for &other in &others[1..] {
                        self.try_weights(
                            form,
                            uses,
                            server,
                            &used,
                            &[(first, weight), (second, other)],
                            work,
                        );
                    }
                }
            }
        }
        self.weights = weights;
        self.found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let kept: Vec<Cut> = self.found.drain(..).map(|(_, cut)| cut).take(KEPT).collect();
        self.list.extend(kept);
    }

    /// Keeps the row of some weights if it is broken, in place of less broken ones.
    fn try_weights(
        &mut self,
        form: &Form,
        uses: &ByChannel<f64>,
        server: ServerNo,
        used: &[ChannelNo],
        weights: &[(usize, (u64, u64))],
        work: &mut u64,
    ) {
        let room = &form.room[form.devices_of(server)];
        *work += 10;
        let Some(rounding) = Rounding::new(weights, room) else { return };
        *work += 10 * used.len() as u64;
        let mut load = 0.0;
        for &e in used {
            let Some(entry) = rounding.entry(weights, form.request(e)) else { return };
            load += entry * uses[e];
        }
        let broken = load / rounding.capacity - 1.0;
        if broken < BROKEN {
            return;
        }
        if self.found.len() >= KEPT {
            let weakest = self.found.iter().map(|(broken, _)| *broken).fold(f64::INFINITY, f64::min);
            if broken <= weakest + 1e-9 || self.found.iter().any(|(other, _)| (other - broken).abs() < 1e-9) {
                return;
            }
        }
        *work += 10 * form.channels(server).len() as u64;
        let entries: Option<Vec<f64>> =
            form.channels(server).map(|e| rounding.entry(weights, form.request(e))).collect();
        let Some(entries) = entries else { return };
        self.found.push((broken, Cut { server, entries, capacity: rounding.capacity }));
        if self.found.len() > KEPT
            && let Some(weakest) =
                (0..self.found.len()).min_by(|&a, &b| self.found[a].0.total_cmp(&self.found[b].0))
        {
            self.found.swap_remove(weakest);
        }
    }
}

/// The function `f` for some weights, on whole numbers over a common divisor.
struct Rounding {
    divisor: u128,
    /// The remainder of the capacity.
    rest: u128,
    capacity: f64,
}

impl Rounding {
    /// None when the row says nothing, or its numbers are too large.
    fn new(weights: &[(usize, (u64, u64))], room: &[Amount]) -> Option<Self> {
        let divisor = weights.iter().map(|&(_, (_, q))| u128::from(q)).product();
        let sum = numerator(weights, room)?;
        let (capacity, rest) = (sum / divisor, sum % divisor);
        (rest > 0 && capacity > 0).then_some(Self { divisor, rest, capacity: capacity as f64 })
    }

    fn entry(&self, weights: &[(usize, (u64, u64))], request: &[Amount]) -> Option<f64> {
        let sum = numerator(weights, request)?;
        let (whole, rest) = (sum / self.divisor, sum % self.divisor);
        let more = if rest > self.rest {
            (rest - self.rest) as f64 / (self.divisor - self.rest) as f64
        } else {
            0.0
        };
        Some(whole as f64 + more)
    }
}

/// The weighted sum of amounts, times the product of all divisors.
fn numerator(weights: &[(usize, (u64, u64))], amounts: &[Amount]) -> Option<u128> {
    let mut sum = 0u128;
    for &(device, (p, _)) in weights {
        let mut term = u128::from(amounts[device]).checked_mul(u128::from(p))?;
        for &(_, (_, q)) in weights.iter().filter(|&&(other, _)| other != device) {
            term = term.checked_mul(u128::from(q))?;
        }
        sum = sum.checked_add(term)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All uses of a server that fit keep every rounded row.
    #[test]
    fn no_whole_uses_break_a_row() {
        let mut checked = 0;
        for case in 0..60u64 {
            let number = |place: u64, limit: u64| (case * 37 + place * 23 + place * place * 5) % limit;
            let room = [3 + number(1, 5), 2 + number(2, 6)];
            let requests: Vec<[u64; 2]> = (0..3).map(|e| [1 + number(e + 4, 3), number(e + 9, 4)]).collect();
            for weights in [
                vec![(0, (1, 2))],
                vec![(0, (1, 3))],
                vec![(0, (2, 3))],
                vec![(0, (1, 2)), (1, (1, 2))],
                vec![(0, (1, 3)), (1, (2, 5))],
            ] {
                let Some(row) = Rounding::new(&weights, &room) else { continue };
                let entries: Vec<f64> = requests.iter().map(|a| row.entry(&weights, a).unwrap()).collect();
                for uses in 0..512u64 {
                    let n = [uses % 8, uses / 8 % 8, uses / 64];
                    let fits = (0..2).all(|k| (0..3).map(|e| requests[e][k] * n[e]).sum::<u64>() <= room[k]);
                    if fits {
                        checked += 1;
                        let load: f64 = entries.iter().zip(n).map(|(entry, n)| entry * n as f64).sum();
                        assert!(load <= row.capacity + 1e-9, "{room:?} {requests:?} {weights:?} {n:?}");
                    }
                }
            }
        }
        assert!(checked > 1_000, "{checked}");
    }
}
