//! What is believed of one channel, from what is expected of channels like it and what it did itself.
//!
//! Without a slab the prior of the mean speed is a Gaussian, and so is the posterior. With one, a share *p*
//! of the channels may be far from the others of their group, on either side:
//!
//! ```text
//! theta_e ~ (1 - p) N( m, tau2 ) + p N( m, tau2 + SLAB )
//! ```
//!
//! Each of the two, spike and slab, has a Gaussian posterior. What the slab's weighs is the chance, by Bayes'
//! rule, that the channel is one of the few, and follows from how likely each makes the average of its *n*
//! outcomes of sum *S*. With `D = n (tau2 + uncertainty of m) + s2` and `D' = D + n SLAB`:
//!
//! ```text
//! log odds = ln( p / (1 - p) ) + ln( D / D' ) / 2 + SLAB (S - n m)^2 / (2 D D')
//! ```
//!
//! Estimate and variance are those of the mixture; the variance has what lies between the two estimates.
//! Cost: *O(1)*, with a logarithm and an exponential where there is a slab.
//!
//! Limits: the slab's variance and *p* are fixed, since too few channels are in it to learn them from; and
//! what is read of the mixture, two moments, does not tell on which side its long tail is.

/// What the slab adds to the variance of a group's channels: a deviation of 0.3, anything in [0, 1].
const SLAB: f64 = 0.09;

/// What is expected of a channel before it was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    /// Its mean speed, *m*.
    pub(super) mean: f64,
    /// How uncertain that is, as a variance.
    pub(super) uncertainty: f64,
    /// How far channels like it are from it, as a variance: *tau2*.
    pub(super) between: f64,
}

/// What a channel did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// How many outcomes, *n*.
    pub(super) count: f64,
    /// The sum of their speeds, *S*.
    pub(super) total: f64,
    /// The variance of an outcome, *s2*.
    pub(super) noise: f64,
}

/// An estimate and its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::stats) struct Belief {
    pub(in crate::stats) estimate: f64,
    pub(in crate::stats) variance: f64,
}

/// A Gaussian posterior on speed, before the uncertainty of the prior mean.
pub(super) struct Posterior {
    pub(super) estimate: f64,
    pub(super) variance: f64,
    /// What share of the estimate comes from the prior.
    pub(super) pull: f64,
}

/// Written with one division: it is what reading a channel costs.
pub(super) fn posterior(evidence: Evidence, mean: f64, between: f64) -> Posterior {
    let Evidence { count, total, noise } = evidence;
    let share = 1.0 / (count * between + noise);
    Posterior {
        estimate: share * (total * between + mean * noise),
        variance: share * noise * between,
        pull: share * noise,
    }
}

/// The belief that follows from a Gaussian prior; open outcomes make `uses` of it and tell nothing of the
/// mean.
fn gaussian(expected: Expected, between: f64, evidence: Evidence, uses: f64) -> Belief {
    let Posterior { estimate, mut variance, mut pull } = posterior(evidence, expected.mean, between);
    if uses != evidence.count {
        Posterior { variance, pull, .. } =
            posterior(Evidence { count: uses, ..evidence }, expected.mean, between);
    }
    Belief { estimate, variance: variance + pull * pull * expected.uncertainty }
}

/// The share *p* of channels that may be far from the others of their group; 0 is no slab.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slab(f64);

impl Slab {
    pub(super) const NONE: Self = Self(0.0);

    /// # Panics
    /// If `share` is not in [0, 0.5].
    pub(super) fn new(share: f64) -> Self {
        assert!((0.0..=0.5).contains(&share), "slab is {share}, expected a number from 0 to 0.5");
        Self(share)
    }

    /// The chance that a channel is in the slab.
    pub(super) fn chance(self, expected: Expected, evidence: Evidence) -> f64 {
        if self == Self::NONE {
            return 0.0;
        }
        let Evidence { count, total, noise } = evidence;
        let spike = count * (expected.between + expected.uncertainty) + noise;
        let slab = spike + count * SLAB;
        let distance = total - count * expected.mean;
        let odds = (self.0 / (1.0 - self.0)).ln()
            + 0.5 * ((spike / slab).ln() + SLAB * (distance / spike) * (distance / slab));
        1.0 / (1.0 + (-odds).exp())
    }

    /// What is believed of a channel that was used `uses` times, some of them perhaps still open.
    pub(super) fn belief(self, expected: Expected, evidence: Evidence, uses: f64) -> Belief {
        let spike = gaussian(expected, expected.between, evidence, uses);
        if self == Self::NONE {
            return spike;
        }
        let slab = gaussian(expected, expected.between + SLAB, evidence, uses);
        let chance = self.chance(expected, evidence);
        let apart = slab.estimate - spike.estimate;
        Belief {
            estimate: spike.estimate + chance * apart,
            variance: (1.0 - chance) * spike.variance
                + chance * slab.variance
                + chance * (1.0 - chance) * apart * apart,
        }
    }

    /// What the outcomes of a channel weigh in what is learned of its prior mean, with the variance `around`
    /// it of the average of outcomes in the spike: the expected precision. In the slab that is little.
    pub(super) fn precision(chance: f64, scale: f64, around: f64) -> f64 {
        (1.0 - chance) * scale / around + chance * scale / (around + SLAB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Expected = Expected { mean: 0.3, uncertainty: 1e-4, between: 0.002 };

    fn seen(count: f64, mean: f64) -> Evidence {
        Evidence { count, total: count * mean, noise: 0.02 }
    }

    #[test]
    fn a_channel_never_tried_has_the_moments_of_the_prior() {
        for share in [0.0, 0.03, 0.5] {
            let slab = Slab::new(share);
            let Belief { estimate, variance } = slab.belief(GROUP, seen(0.0, 0.0), 0.0);
            assert!((slab.chance(GROUP, seen(0.0, 0.0)) - share).abs() < 1e-15);
            assert!((estimate - 0.3).abs() < 1e-15, "{estimate}");
            assert!((variance - (0.002 + share * SLAB + 1e-4)).abs() < 1e-15, "{variance}");
        }
    }

    #[test]
    fn no_slab_is_the_gaussian_posterior() {
        for (count, mean, uses) in [(0.0, 0.0, 0.0), (1.0, 0.9, 1.0), (3.0, 0.1, 5.0), (0.2, 0.4, 0.2)] {
            let belief = Slab::new(0.0).belief(GROUP, seen(count, mean), uses);
            let precision = |count: f64| count / 0.02 + 1.0 / 0.002;
            let pull = 1.0 / 0.002 / precision(uses);
            let estimate = (count * mean / 0.02 + 0.3 / 0.002) / precision(count);
            assert!((belief.estimate - estimate).abs() < 1e-14, "{belief:?}");
            assert!(
                (belief.variance - (1.0 / precision(uses) + pull * pull * 1e-4)).abs() < 1e-16,
                "{belief:?}"
            );
            // A slab that hardly anything is in changes hardly anything, where nothing speaks for it.
            let tiny = Slab::new(1e-12).belief(GROUP, seen(count, mean.min(0.4)), uses);
            let none = Slab::NONE.belief(GROUP, seen(count, mean.min(0.4)), uses);
            assert!(
                (tiny.estimate - none.estimate).abs() < 1e-9 && (tiny.variance - none.variance).abs() < 1e-9
            );
        }
    }

    /// Prior times likelihood, added up over a fine grid of mean speeds.
    #[test]
    fn the_mixture_is_the_posterior_by_bayes_rule() {
        let certain = Expected { uncertainty: 0.0, ..GROUP };
        let normal = |x: f64, variance: f64| (-x * x / (2.0 * variance)).exp() / variance.sqrt();
        for (share, count, mean) in [(0.03, 1.0, 0.6), (0.03, 2.0, 0.55), (0.2, 3.0, 0.1), (0.5, 0.5, 0.9)] {
            let moments =
                (-20_000..40_000).map(|step| f64::from(step) * 1e-4).fold([0.0; 3], |sums, speed| {
                    let spike = (1.0 - share) * normal(speed - 0.3, 0.002);
                    let prior = spike + share * normal(speed - 0.3, 0.002 + SLAB);
                    let weight = prior * normal(speed - mean, 0.02 / count);
                    [sums[0] + weight, sums[1] + weight * speed, sums[2] + weight * speed * speed]
                });
            let estimate = moments[1] / moments[0];
            let belief = Slab::new(share).belief(certain, seen(count, mean), count);
            assert!((belief.estimate - estimate).abs() < 1e-9, "{belief:?}, not {estimate}");
            let variance = moments[2] / moments[0] - estimate * estimate;
            assert!((belief.variance - variance).abs() < 1e-9, "{belief:?}, not {variance}");
        }
    }

    #[test]
    fn an_outlier_is_believed_sooner_and_a_usual_channel_as_before() {
        let (none, slab) = (Slab::NONE, Slab::new(0.03));
        let outlier = [none, slab].map(|slab| slab.belief(GROUP, seen(2.0, 0.9), 2.0).estimate);
        assert!(outlier[0] < 0.42 && outlier[1] > 0.8, "{outlier:?}");
        assert!(slab.chance(GROUP, seen(2.0, 0.9)) > 0.9);
        let usual = [none, slab].map(|slab| slab.belief(GROUP, seen(8.0, 0.32), 8.0).estimate);
        assert!((usual[0] - usual[1]).abs() < 1e-3, "{usual:?}");
        assert!(slab.chance(GROUP, seen(8.0, 0.32)) < 0.03);
    }

    #[test]
    fn open_outcomes_narrow_and_nothing_overflows() {
        let slab = Slab::new(0.03);
        let [before, after] = [2.0, 4.0].map(|uses| slab.belief(GROUP, seen(2.0, 0.5), uses));
        assert!(after.estimate == before.estimate && after.variance < before.variance);
        let sharp = Expected { mean: 0.0, uncertainty: 1e-9, between: 1e-9 };
        for count in [0.0, 1e-300, 1e-3, 1.0, 1e12] {
            for mean in [0.0, 1.0, -1e3] {
                let evidence = Evidence { count, total: count * mean, noise: 1e-9 };
                let Belief { estimate, variance } = slab.belief(sharp, evidence, count);
                assert!(estimate.is_finite() && variance.is_finite() && variance > 0.0, "{count} {mean}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "slab is 0.6, expected a number from 0 to 0.5")]
    fn more_than_half_is_no_outlier() {
        let _ = Slab::new(0.6);
    }
}
