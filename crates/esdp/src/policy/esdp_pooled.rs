//! `esdp-pooled`: optimism on channels that learn from each other, at one rate of forgetting.
//!
//! On [`Pooled`] statistics, with the estimate and the variance of each channel, a slot is the linear problem
//!
//! ```text
//! max  sum_e ( estimate_e + (z(t) + scatter xi_e) sqrt( variance_e ) ) x_e,
//! z(t)^2 = kappa ln( 12 (1 + N / |E|) ) / UNIT
//! ```
//!
//! solved exactly; *N* is the number of outcomes so far, *xi_e* a standard normal draw. The more channels
//! there are for each outcome, the less it explores: where nobody can try them all, what pays is to find good
//! ones among those that look good and to stay there; where each was tried often, the last difference counts.
//! A constant *z* that suits one is wrong for the other. The draws are for channels that look alike by what
//! they share: a slot would else try several of a group at once, or none, and a fleet may settle on good
//! servers that are not the best (`docs/decisions/0006-pooled-learning.md`).
//!
//! With gamma below 1 old outcomes fade, and a channel falls back on what is known of others like it. `esdp`
//! has the same rule on statistics that find out how fast to forget: where they do, *z* is smaller by up to
//! [`CALM`] and the draws by all of it.
//!
//! Cost: *O(channels)*, one linear solve, and a refit now and then; see [`Pooled`].

use super::estimator::SLAB_RANGE;
use super::kit::{Index, Learning, Score};
use super::spec::{SpecError, check_number};
use crate::model::{ChannelId, Cluster, ClusterChange, SlotView};
use crate::rng::{Purpose, stream};
use crate::stats::{Pooled, Statistics, UNIT};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// The parameters of `esdp-pooled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EsdpPooledSpec {
    /// How much it explores. At least 0 (default: 0.045).
    pub kappa: f64,
    /// How far draws scatter around the bonus, in standard deviations of what is believed of a channel. At
    /// least 0; 0.3 by default. Where old outcomes fade, 0 is better: fading keeps the search open by itself.
    pub scatter: f64,
    /// Whether it looks at the labels of the servers (default: yes).
    pub labels: bool,
    /// The share of channels that may be far from others of their kind, as insurance for rare outliers: 0 to
    /// 0.5; 0, none, by default.
    pub slab: f64,
    /// What is left of an outcome's weight after a slot: above 0, at most 1 (default: 1, nothing fades).
    pub gamma: f64,
}

impl Default for EsdpPooledSpec {
    fn default() -> Self {
        Self { kappa: 0.045, scatter: 0.3, labels: true, slab: 0.0, gamma: 1.0 }
    }
}

impl EsdpPooledSpec {
    pub(super) const NAME: &'static str = "esdp-pooled";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "kappa", self.kappa, 0.0..=1e6)?;
        check_number(Self::NAME, "scatter", self.scatter, 0.0..=1e6)?;
        check_number(Self::NAME, "slab", self.slab, SLAB_RANGE)?;
        check_number(Self::NAME, "gamma", self.gamma, 1e-3..=1.0)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster, seed: u64) -> Result<EsdpPooled, SpecError> {
        self.check()?;
        let statistics = Box::new(Pooled::new(cluster, self.labels, self.gamma).with_slab(self.slab));
        Ok(Learning::new(Self::NAME, statistics, PooledBonus::new(self.kappa, self.scatter, cluster, seed)))
    }
}

/// A bonus on every channel that shrinks as its kind becomes known, and a random draw; one linear problem a
/// slot.
pub type EsdpPooled = Learning<PooledBonus>;

/// How much less it explores where old outcomes fade: fading keeps the search open by itself. There are no
/// draws then.
const CALM: f64 = 0.4;

/// The index of `esdp` and `esdp-pooled`.
pub struct PooledBonus {
    kappa: f64,
    scatter: f64,
    channels: usize,
    seed: u64,
    /// *z(t)* of the slot.
    optimism: f64,
}

impl PooledBonus {
    pub(super) fn new(kappa: f64, scatter: f64, cluster: &Cluster, seed: u64) -> Self {
        Self { kappa, scatter, channels: cluster.channels().len(), seed, optimism: 0.0 }
    }

    /// *z(t)*.
    fn optimism_after(&self, statistics: &dyn Statistics) -> f64 {
        (self.kappa * (12.0 * (1.0 + statistics.outcomes() / self.channels as f64)).ln() / UNIT).sqrt()
    }
}

impl Index for PooledBonus {
    fn prepare(&mut self, seen: &dyn Statistics, _view: &SlotView<'_>) {
        self.optimism = self.optimism_after(seen);
    }

    fn score(&self, seen: &dyn Statistics, view: &SlotView<'_>, channel: ChannelId) -> Score {
        let mut rng = stream(self.seed, Purpose::Policy, view.slot.0, u64::from(channel.0));
        let draw: f64 = StandardNormal.sample(&mut rng);
        let deviation = (2.0 * UNIT * seen.variance(channel)).sqrt();
        let fading = seen.fading(channel);
        let (bonus, scatter) = (self.optimism * (1.0 - CALM * fading), self.scatter * (1.0 - fading));
        Score::from(seen.estimate(channel) + (bonus + scatter * draw) * deviation)
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.channels = change.new.channels().len();
    }
}
