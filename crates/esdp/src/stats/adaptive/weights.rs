//! How much each memory is believed, server by server.
//!
//! Of a server one of three hypotheses holds; which one is not known, and it may change:
//!
//! | | hypothesis | expects an outcome of |
//! |---|---|---|
//! | 0 | it is as it was | the memory that forgets nothing |
//! | 1 | what changed did so for all channels alike | the same, moved by [`Trend`](super::Trend) |
//! | 2 | it drifts by itself | the short memory |
//!
//! With the share *pi_h* of the servers for which hypothesis *h* holds, and the chance *epsilon* that a
//! server changes from one outcome to the next, Bayes' rule (the filter of a hidden Markov chain) gives the
//! weights of a server after an outcome that hypothesis *h* expected with density *p_h*:
//!
//! ```text
//! w_h <- (1 - epsilon) w_h p_h / sum_k w_k p_k + epsilon pi_h
//! ```
//!
//! The shares are the mean weights of all servers, each as far as its outcomes have said anything. So a
//! single server that is throttled forgets by itself and the others do not, while in a cluster in which
//! everything drifts a server never seen before forgets from its first slot. Kept are the odds *w_h / pi_h*,
//! so that servers without outcomes follow the shares.
//!
//! The first two hypotheses read from the memory that forgets nothing: what changed for all changes no order.
//! Whoever half forgets has the costs of forgetting without its gain, so weights are sharpened when channels
//! are read: the short memory counts *w_2^3 / ((w_0 + w_1)^3 + w_2^3)*. Cost: *O(1)* per outcome and per
//! reading, *O(servers)* per refit. `docs/decisions/0012-one-policy.md` has what each part gains.
//!
//! Limit: how fast a server forgets holds for all of its ports.

use crate::model::Remap;
use crate::stats::StateError;
use crate::stats::state::check_length;

/// How many memories there are.
pub(super) const COUNT: usize = 2;

/// A number for each memory.
pub(super) type PerMemory = [f64; COUNT];

/// How many hypotheses there are of a server.
const HYPOTHESES: usize = 3;

/// A number for each hypothesis.
pub(super) type PerHypothesis = [f64; HYPOTHESES];

/// The chance that another hypothesis holds for a server from one of its outcomes to the next.
const CHANGE: f64 = 0.01;
/// The most that one outcome counts against a hypothesis, as a logarithm: an outlier is not yet a change.
pub(super) const MOST: f64 = 2.0;
/// What the shares start with, and how many servers that weighs.
const START: PerHypothesis = [0.65, 0.3, 0.05];
const OF_START: f64 = 1.0;

/// How much each memory is believed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    /// For how many servers each hypothesis holds, as shares.
    shares: PerHypothesis,
    /// By server: its weights over the shares.
    odds: Vec<PerHypothesis>,
    /// By server: how much its outcomes have said, 0 to 1.
    informed: Vec<f64>,
    /// By server: the weights by which its channels are read, which follow from the rest.
    by_server: Vec<PerMemory>,
}

/// What is saved of the weights.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MemoryWeights {
    /// For how many servers each hypothesis holds, as shares.
    pub shares: PerHypothesis,
    /// What the outcomes of each server say for each hypothesis: its weights over the shares.
    pub odds: Vec<PerHypothesis>,
    /// How much there is of that, 0 to 1, by server.
    pub informed: Vec<f64>,
}

impl Weights {
    pub(super) fn new(servers: usize) -> Self {
        Self::of(MemoryWeights {
            shares: START,
            odds: vec![[1.0; HYPOTHESES]; servers],
            informed: vec![0.0; servers],
        })
    }

    fn of(MemoryWeights { shares, odds, informed }: MemoryWeights) -> Self {
        let mut weights = Self { shares, odds, informed, by_server: Vec::new() };
        weights.weigh_all();
        weights
    }

    /// The weights by which a server's channels are read, which add up to 1.
    #[inline]
    pub(super) fn on(&self, server: u32) -> &PerMemory {
        &self.by_server[server as usize]
    }

    /// Takes an outcome of a server, by the logarithms of the densities with which the hypotheses expected
    /// it.
    pub(super) fn judge(&mut self, server: u32, densities: &PerHypothesis) {
        let server = server as usize;
        let best = densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut odds, mut sum) = (self.odds[server], 0.0);
        for hypothesis in 0..HYPOTHESES {
            odds[hypothesis] *= (densities[hypothesis] - best).max(-MOST).exp();
            sum += odds[hypothesis] * self.shares[hypothesis];
        }
        let odds = odds.map(|odds| (1.0 - CHANGE) * odds / sum + CHANGE);
        self.odds[server] = odds;
        self.by_server[server] = sharpened(&odds, &self.shares);
        self.informed[server] += CHANGE * (1.0 - self.informed[server]);
    }

    /// The share of servers that drift by themselves.
    pub(super) fn drifting(&self) -> f64 {
        self.shares[2]
    }

    /// Learns the shares again.
    pub(super) fn refit(&mut self) {
        let (mut sums, mut servers) = (START.map(|share| share * OF_START), OF_START);
        for (odds, informed) in self.odds.iter().zip(&self.informed) {
            servers += informed;
            let weights = weighed(odds, &self.shares);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += informed * weight);
        }
        self.shares = sums.map(|sum| sum / servers);
        self.weigh_all();
    }

    fn weigh_all(&mut self) {
        self.by_server.clear();
        self.by_server.extend(self.odds.iter().map(|odds| sharpened(odds, &self.shares)));
    }

    /// The same for the next version of a cluster; nothing is known of servers that are new.
    pub(super) fn change(&mut self, remap: &Remap) {
        let old = remap.old_servers();
        self.odds =
            old.iter().map(|old| old.map_or([1.0; HYPOTHESES], |old| self.odds[old.index()])).collect();
        self.informed = old.iter().map(|old| old.map_or(0.0, |old| self.informed[old.index()])).collect();
        self.weigh_all();
    }

    pub(super) fn saved(&self) -> MemoryWeights {
        MemoryWeights { shares: self.shares, odds: self.odds.clone(), informed: self.informed.clone() }
    }

    /// Saved weights of `servers` servers.
    pub(super) fn restored(saved: MemoryWeights, servers: usize) -> Result<Self, StateError> {
        check_length("odds", saved.odds.len(), servers)?;
        check_length("informed", saved.informed.len(), servers)?;
        let sound = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value > 0.0);
        if !sound(&saved.shares) {
            return damaged("shares", 0, "expected positive numbers");
        }
        if let Some(entry) = saved.odds.iter().position(|odds| !sound(odds)) {
            return damaged("odds", entry, "expected positive numbers");
        }
        if let Some(entry) = saved.informed.iter().position(|informed| !(0.0..=1.0).contains(informed)) {
            return damaged("informed", entry, "expected a number from 0 to 1");
        }
        Ok(Self::of(saved))
    }
}

/// Refuses an entry of a saved list.
pub(super) fn damaged<T>(list: &'static str, entry: usize, reason: &'static str) -> Result<T, StateError> {
    Err(StateError::Damaged { list, entry, reason })
}

fn weighed(odds: &PerHypothesis, shares: &PerHypothesis) -> PerHypothesis {
    let mut weights = *odds;
    weights.iter_mut().zip(shares).for_each(|(weight, share)| *weight *= share);
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

fn sharpened(odds: &PerHypothesis, shares: &PerHypothesis) -> PerMemory {
    let [same, moved, drifts] = weighed(odds, shares);
    let [keeps, forgets] = [same + moved, drifts].map(|weight| weight * weight * weight);
    [keeps / (keeps + forgets), forgets / (keeps + forgets)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Densities of a hypothesis that is right and others that are wrong by `loss`.
    fn right(hypothesis: usize, loss: f64) -> PerHypothesis {
        let mut densities = [-loss; HYPOTHESES];
        densities[hypothesis] = 0.0;
        densities
    }

    #[test]
    fn a_server_is_judged_by_its_own_outcomes() {
        let mut weights = Weights::new(20);
        for _ in 0..200 {
            (0..19).for_each(|server| weights.judge(server, &right(0, 0.05)));
            weights.judge(19, &right(2, 0.5));
            weights.refit();
        }
        assert!(weights.on(19)[1] > 0.95, "{:?}", weights.on(19));
        assert!((0..19).all(|server| weights.on(server)[0] > 0.99), "{:?}", weights.on(0));
        assert!((weights.shares[2] - 0.05).abs() < 0.02, "one of twenty: {:?}", weights.shares);
    }

    #[test]
    fn where_all_forget_a_newcomer_does_so_too() {
        let mut weights = Weights::new(20);
        for _ in 0..200 {
            (0..10).for_each(|server| weights.judge(server, &right(2, 0.2)));
            weights.refit();
        }
        assert!(weights.on(15)[1] > 0.8 && weights.informed[15] == 0.0, "{:?}", weights.on(15));
    }

    #[test]
    fn a_server_that_changes_is_followed_within_a_few_outcomes() {
        let mut weights = Weights::new(1);
        (0..500).for_each(|_| weights.judge(0, &right(0, 0.1)));
        assert!(weights.on(0)[0] > 0.99, "{:?}", weights.on(0));
        (0..8).for_each(|_| weights.judge(0, &right(2, 1.5)));
        assert!(weights.on(0)[1] > 0.9, "{:?}", weights.on(0));
    }

    /// What changed for all is no reason to forget, as little as that nothing did.
    #[test]
    fn two_hypotheses_keep_what_is_known() {
        for keeps in [0, 1] {
            let mut weights = Weights::new(1);
            (0..50).for_each(|_| weights.judge(0, &right(2, 0.5)));
            assert!(weights.on(0)[1] > 0.9, "{:?}", weights.on(0));
            (0..50).for_each(|_| weights.judge(0, &right(keeps, 0.5)));
            assert!(weights.on(0)[0] > 0.99, "{:?}", weights.on(0));
        }
    }

    #[test]
    fn the_weights_are_the_filter_of_the_header() {
        let mut weights = Weights::new(1);
        let mut expected = START;
        let outcomes = [[-1.0, -0.5, 0.0], [-1.9, 0.0, -0.1], [0.0, -0.3, -50.0], [-0.2, -4.0, 0.0]];
        for densities in outcomes {
            weights.judge(0, &densities);
            // The densities count down to e^-2 of the best.
            for (weight, density) in expected.iter_mut().zip(densities) {
                *weight *= f64::max(density, -2.0).exp();
            }
            let sum: f64 = expected.iter().sum();
            for (weight, share) in expected.iter_mut().zip(START) {
                *weight = 0.99 * *weight / sum + 0.01 * share;
            }
            let (keeps, forgets) = ((expected[0] + expected[1]).powi(3), expected[2].powi(3));
            let found = weights.on(0);
            assert!((found[0] - keeps / (keeps + forgets)).abs() < 1e-12, "{found:?}");
            assert!((found[0] + found[1] - 1.0).abs() < 1e-12, "{found:?}");
        }
    }
}
