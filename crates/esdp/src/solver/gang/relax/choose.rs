//! Which channels a relaxation is solved with.
//!
//! A large problem has dozens of channels for each group, of which a relaxation uses a few. It is solved with some that look
//! good at first, then with those that the prices found bring near use. Bounds count all channels, so that a choice
//! can make them worse, never wrong.

use super::Relaxation;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::tuning::choose::{APART, FEW, LARGE, MOST};
use std::cmp::Ordering;

impl Relaxation {
    /// Chooses channels before anything is known; whether there are others.
    pub(super) fn choose_first(&mut self, form: &Form) -> bool {
        let is_large = form.len() > LARGE;
        self.apart.clear();
        self.apart.resize(form.len(), is_large);
        if is_large {
            self.choose_by_worth(form);
        }
        is_large
    }

    /// Chooses the best channels of each group: by their worth, and by how much they are worth more than is usual on
    /// their server, which is about what it will cost to use it.
    fn choose_by_worth(&mut self, form: &Form) {
        let running = form.w.iter().sum::<f64>() / form.len() as f64 * form.jobs.len() as f64;
        let slope = if form.linear { 0.0 } else { 0.5 / running.sqrt() };
        let worth = |e: usize| form.v[e] + slope * form.w[e];
        let mean = |server: usize| form.channels(server).map(worth).sum::<f64>() / form.channels(server).len() as f64;
        let usual: Vec<f64> = (0..form.servers()).map(mean).collect();
        let (mut order, mut counts) = (Vec::new(), Vec::new());
        for l in 0..form.jobs.len() {
            let first = form.groups_of_job(l).start;
            for relative in [false, true] {
                order.clear();
                order.extend(form.channels_of_job(l).iter().map(|&e| {
                    let usual = if relative { usual[form.server[e as usize] as usize] } else { 0.0 };
                    (worth(e as usize) - usual, e)
                }));
                order.sort_unstable_by(by_falling_score);
                counts.clear();
                counts.resize(form.groups_of_job(l).len(), 0);
                for &(_, e) in &order {
                    let g = form.group[e as usize] as usize;
                    // A channel without a group has none to be chosen from.
                    let is_chosen = counts.get_mut(g.wrapping_sub(first)).is_none_or(|count| {
                        *count += 1;
                        *count <= FEW + form.groups[g].count as usize
                    });
                    self.apart[e as usize] &= !is_chosen;
                }
            }
        }
        self.work += 20 * form.len() as u64;
    }

    /// Chooses by the prices of the solution at hand.
    pub(super) fn choose_by_prices(&mut self, form: &Form) {
        self.reduce(form);
        let Self { apart, multipliers, .. } = self;
        for (e, apart) in apart.iter_mut().enumerate() {
            *apart = multipliers.score(form, e) < APART;
        }
        if form.len() > LARGE {
            let mut order: Vec<(f64, u32)> = (0..form.len()).map(|e| (multipliers.score(form, e), e as u32)).collect();
            let (_, _, beyond) = order.select_nth_unstable_by(MOST, by_falling_score);
            beyond.iter().for_each(|&(_, e)| apart[e as usize] = true);
        }
    }
}

/// The highest score first. Where scores are equal, channels of neighbouring servers must not come together: a hundred jobs
/// would all be offered the same few servers.
fn by_falling_score(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    let mixed = |e: u32| e.wrapping_mul(0x9E37_79B1).rotate_left(15).wrapping_mul(0x85EB_CA77);
    b.0.total_cmp(&a.0).then_with(|| mixed(a.1).cmp(&mixed(b.1)))
}
