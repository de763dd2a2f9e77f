//! Which channels a relaxation is solved with.
//!
//! A large problem has dozens of channels for each group, of which a relaxation uses a few. It is solved with
//! some that look good at first, then with those that the prices found bring near use. Bounds count all
//! channels, so that a choice can make them worse, never wrong.

use super::Relaxation;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{By, ByChannel, ByGroup, ByServer, ChannelNo, Number};
use crate::solver::gang::tuning::choose::{APART, FEW, LARGE, LEAST_APART, LEAST_USED, MOST};
use std::cmp::Ordering;

impl Relaxation {
    /// Chooses channels before anything is known; whether there are others.
    pub(super) fn choose_first(&mut self, form: &Form) -> bool {
        let is_large = form.len() > LARGE;
        self.apart.clear();
        // A channel without a group has none to be chosen from.
        self.apart.extend(form.all_channels().map(|e| is_large && form.group[e].is_some()));
        if is_large {
            self.choose_by_worth(form);
        }
        is_large
    }

    /// Chooses the best channels of each group by their worth; and the best of each group and of each server
    /// by how much they are worth more than is usual there. What is usual on a server is about what it will
    /// cost to use it.
    fn choose_by_worth(&mut self, form: &Form) {
        let running = form.w.iter().sum::<f64>() / form.len() as f64 * form.jobs.len() as f64;
        let slope = if form.linear { 0.0 } else { 0.5 / running.sqrt() };
        let worth = |e: ChannelNo| form.v[e] + slope * form.w[e];
        let on_server = usual(form, form.servers(), |e| Some(form.server[e]), worth);
        let of_group = usual(form, form.groups.len(), |e| form.group[e], worth);
        self.admit(form, worth, 0);
        let unusual = |e: ChannelNo| {
            let group = form.group[e].map_or(0.0, |g| of_group[g]);
            worth(e) - on_server[form.server[e]] - group
        };
        self.admit(form, unusual, FEW.min(per_server(form)));
        self.work += 20 * form.len() as u64;
    }

    /// Chooses by the prices of the solution at hand: what it uses, the best channels of each group and of
    /// each server, and of all others the best. A server of which the solution knew too few channels has a
    /// price that is too low, and all its others look good: the best of them come in, not any.
    /// A problem that is not large keeps what was chosen before, but for the first time.
    pub(super) fn choose_by_prices(&mut self, form: &Form, limits: &Limits, is_first: bool) {
        // Not the prices with the best bound: those of this solution, which know its channels.
        let mut multipliers = std::mem::take(&mut self.trial);
        multipliers.read(form, limits, &self.open, &self.interior, self.cuts.list.len());
        multipliers.reduce(form, &self.cuts);
        if form.len() <= LARGE {
            let is_apart = |e: ChannelNo| multipliers.gain(form, e) < APART;
            let count = form.all_channels().filter(|&e| is_apart(e)).count();
            let is_apart = |e: ChannelNo| count as f64 >= LEAST_APART * form.len() as f64 && is_apart(e);
            for e in form.all_channels() {
                self.apart[e] = (is_first || self.apart[e]) && is_apart(e);
            }
            self.trial = multipliers;
            return;
        }
        self.apart.clear();
        self.apart.extend(self.uses.iter().map(|&uses| uses < LEAST_USED));
        let order = self.admit(form, |e| multipliers.gain(form, e), per_server(form));
        let mut left = MOST.saturating_sub(self.apart.iter().filter(|apart| !**apart).count());
        for &(gain, e) in &order {
            let apart = &mut self.apart[e];
            if gain < APART {
                *apart = true;
            } else if *apart && left > 0 {
                *apart = false;
                left -= 1;
            }
        }
        self.trial = multipliers;
        self.work += 20 * form.len() as u64;
    }

    /// Takes in the channels that the prices of the solution at hand bring near use; whether there are any.
    pub(super) fn take_back(&mut self, form: &Form, limits: &Limits) -> bool {
        let count = |apart: &ByChannel<bool>| apart.iter().filter(|apart| **apart).count();
        let before = count(&self.apart);
        self.choose_by_prices(form, limits, false);
        self.work += 4 * form.len() as u64;
        count(&self.apart) < before
    }

    /// Takes in the first channels of each server and of each group by falling score; that order.
    fn admit(
        &mut self,
        form: &Form,
        score: impl Fn(ChannelNo) -> f64,
        per_server: usize,
    ) -> Vec<(f64, ChannelNo)> {
        let mut order: Vec<(f64, ChannelNo)> = form.all_channels().map(|e| (score(e), e)).collect();
        order.sort_unstable_by(by_falling_score);
        let mut on_server = ByServer::from(vec![0; form.servers()]);
        let mut of_group = ByGroup::from(vec![0; form.groups.len()]);
        for &(_, e) in &order {
            let server = &mut on_server[form.server[e]];
            *server += 1;
            let is_first_of_group = form.group[e].is_some_and(|g| {
                of_group[g] += 1;
                of_group[g] <= FEW + form.groups[g].count as usize
            });
            self.apart[e] &= !(is_first_of_group || *server <= per_server);
        }
        order
    }
}

/// The channels that servers may fill with half of what is chosen.
fn per_server(form: &Form) -> usize {
    MOST / 2 / form.servers().max(1)
}

/// The mean worth of the channels of each of several sets; each channel is in one of them, or in none.
fn usual<N: Number>(
    form: &Form,
    sets: usize,
    set: impl Fn(ChannelNo) -> Option<N>,
    worth: impl Fn(ChannelNo) -> f64,
) -> By<N, f64> {
    let mut sums = By::from(vec![(0.0, 0.0); sets]);
    for e in form.all_channels() {
        if let Some(own) = set(e) {
            sums[own].0 += worth(e);
            sums[own].1 += 1.0;
        }
    }
    By::from(sums.iter().map(|(sum, count)| sum / f64::max(*count, 1.0)).collect::<Vec<f64>>())
}

/// The highest score first. Where scores are equal, channels of neighbouring servers must not come together:
/// a hundred jobs would all be offered the same few servers.
fn by_falling_score(a: &(f64, ChannelNo), b: &(f64, ChannelNo)) -> Ordering {
    let mixed =
        |e: ChannelNo| (e.place() as u32).wrapping_mul(0x9E37_79B1).rotate_left(15).wrapping_mul(0x85EB_CA77);
    b.0.total_cmp(&a.0).then_with(|| mixed(a.1).cmp(&mixed(b.1)))
}
