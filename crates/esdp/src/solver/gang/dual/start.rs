//! Prices to start from: what each group's last task would bring if the group had all servers for itself.

use crate::solver::gang::dual::prices::Layout;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::groups::Groups;
use crate::solver::gang::problem::number::ChannelNo;
use crate::solver::gang::tuning::start::TURNS;

/// Fills `prices`; `scratch` is a buffer.
pub(in crate::solver::gang) fn first_prices(
    form: &Form,
    groups: &Groups,
    prices: &mut Vec<f64>,
    scratch: &mut Vec<(f64, ChannelNo)>,
) {
    let layout = Layout::of(form);
    prices.clear();
    prices.resize(layout.len, 0.0);
    // A quarter of everything, as a first guess of the variances' sum.
    let all: f64 = form.w.iter().zip(&form.most).map(|(w, &most)| w * f64::from(most)).sum();
    let mut lambda = if form.linear { 0.0 } else { 0.5 / (0.25 * all).max(1e-24).sqrt() };
    for _ in 0..TURNS {
        let mut variance = 0.0;
        for (g, group) in form.groups.numbered() {
            scratch.clear();
            let worth = |e: ChannelNo| form.v[e] + lambda * form.w[e];
            scratch.extend(groups.channels(g).iter().map(|&e| (worth(e), e)));
            scratch.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut open = u64::from(group.count) * u64::from(form.jobs[group.job].copies);
            for &(worth, e) in scratch.iter() {
                let uses = open.min(u64::from(form.most[e]));
                open -= uses;
                variance += form.w[e] * uses as f64;
                prices[layout.group(g)] = worth.max(0.0);
                if open == 0 {
                    break;
                }
            }
        }
        if form.linear {
            return;
        }
        if variance <= 0.0 {
            variance = 0.25 * all;
        }
        lambda = 0.5 / variance.max(1e-24).sqrt();
        prices[layout.lambda] = libm::log(lambda);
    }
}
