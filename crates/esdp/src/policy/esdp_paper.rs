//! `esdp-paper`: Algorithms 1 and 2 as printed, obvious slips fixed.
//!
//! With `m = alpha |E|` and the scale `xi = ceil(m / delta(t))`, every channel gets whole numbers
//!
//! ```text
//! Y_e  = ceil( xi   estimate_e )             (scal-mean)
//! S2_e = ceil( xi^2 g(t) / (2 n_e) )         (scal-var)
//! ```
//!
//! and the slot takes the `x` that maximises `s + sqrt(S2.x)` over the budgets `s`, subject
//! to `Y.x >= s` and the capacity (eq. P4). That maximum is the maximum of the rounded
//! objective `Y.x + sqrt(S2.x)`, so a fast exact solver serves as well as the paper's
//! dynamic program, which can be asked for by `solver = "paper"`; it needs time and memory
//! by the product of the capacities, and knows no per-server limits.
//!
//! Kept as printed: the problem is solved over *Phi(t)*, all channels once each, and
//! what was chosen for ports without a job is zeroed afterwards. The capacity that those
//! took is wasted, about 8 points of oracle ratio. Fixed: statistics hold what was known
//! before the slot, and channels never tried (infinite width, which has no ceiling) are
//! covered first; those of absent ports stay out. `cover = false` drops that round: they then count as if
//! they had been tried once and had delivered nothing.

use super::kit::{Index, Learning, Scope, Score};
use super::optimistic::{of_channels, share_of_channels};
use super::spec::{SpecError, check_exploration, check_number};
use crate::model::{ChannelId, Cluster, ClusterChange, SlotView};
use crate::solver::Paper;
use crate::stats::{Exploration, Means, Slack, Statistics};
use serde::{Deserialize, Serialize};

/// The largest table of Algorithm 2 in a simulation, whose problems are the experimenter's own.
const PAPER_BYTES: u128 = 2 << 30;

/// The parameters of `esdp-paper`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EsdpPaperSpec {
    /// *m* as a share of all channels, above 0, at most 1 (default: 0.5).
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-6, "maximum" = 1, "x-unit" = "share")))]
    pub alpha: f64,
    /// *g(t)*: `"printed"` (default), `"log-log"` or `{ log = { kappa = 1.0 } }`.
    pub exploration: Exploration,
    /// *delta(t)*: `"log-log"` (default), `"log"` or `"log-log-log"`.
    pub slack: Slack,
    /// `"exact"` (default) or `"paper"` for Algorithm 2.
    pub solver: RoundedSolver,
    /// Whether channels that were never tried go first, as many as fit (default: true).
    #[serde(skip_serializing_if = "Clone::clone")]
    pub cover: bool,
}

/// What solves the rounded problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoundedSolver {
    /// The fast exact solver.
    #[default]
    Exact,
    /// The paper's dynamic program, Algorithm 2.
    Paper,
}

impl Default for EsdpPaperSpec {
    fn default() -> Self {
        Self {
            alpha: 0.5,
            exploration: Exploration::Printed,
            slack: Slack::LogLog,
            solver: RoundedSolver::Exact,
            cover: true,
        }
    }
}

impl EsdpPaperSpec {
    pub(super) const NAME: &'static str = "esdp-paper";

    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_number(Self::NAME, "alpha", self.alpha, 1e-6..=1.0)?;
        check_exploration(Self::NAME, &self.exploration)
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn policy(&self, cluster: &Cluster) -> Result<EsdpPaper, SpecError> {
        self.check()?;
        let statistics = Box::new(Means::new(cluster.channels().len()));
        let most = share_of_channels(self.alpha, cluster);
        let &Self { exploration, slack, cover, .. } = self;
        let index = Rounded { exploration, slack, most, cover, rate: 0.0, scale: 0.0 };
        let policy = Learning::new(Self::NAME, statistics, index);
        Ok(match self.solver {
            RoundedSolver::Exact => policy,
            // The numbers are rounded before they reach the solver, so the program's own scale is 1.
            RoundedSolver::Paper => {
                policy.with_solver(Box::new(Paper::new(1.0, None).with_memory_limit(PAPER_BYTES)))
            }
        })
    }
}

/// The paper's policy.
pub type EsdpPaper = Learning<Rounded>;

/// The index of `esdp-paper`.
pub struct Rounded {
    exploration: Exploration,
    slack: Slack,
    most: f64,
    cover: bool,
    /// *g(t)* of the slot.
    rate: f64,
    /// *xi* of the slot.
    scale: f64,
}

impl Index for Rounded {
    fn prepare(&mut self, _seen: &dyn Statistics, view: &SlotView<'_>) {
        self.rate = self.exploration.at(view.slot, self.most);
        self.scale = (self.most / self.slack.at(view.slot)).ceil();
    }

    fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
        let Self { rate, scale, .. } = self;
        let mean = (scale * seen.estimate(channel)).ceil();
        // Infinite where it was never tried, and is not covered first: that of one use then.
        let variance = seen.variance(channel).min(0.5);
        let width = (scale * scale * rate * variance).ceil();
        Score { mean, width }
    }

    fn covers(&self) -> bool {
        self.cover
    }

    fn scope(&self) -> Scope {
        Scope::All
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.most = of_channels(self.most, change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Observation, Outcome, Slot};
    use crate::policy::testing::{solver, tiny, view};
    use crate::policy::{Choice, Policy};

    #[test]
    fn absent_ports_are_zeroed_after_they_took_their_share() {
        let cluster = tiny();
        let mut policy = EsdpPaperSpec::default().policy(&cluster).unwrap().with_solver(solver());
        for channel in (0..4).map(ChannelId) {
            let outcome = Outcome::Ran(if channel.0 == 3 { 0.1 } else { 0.5 });
            (0..100).for_each(|_| policy.learn(&Observation { slot: Slot(1), channel, outcome }));
        }
        let mut choice = Choice::default();
        let alone = Arrivals::new(vec![0, 1]);
        policy.decide(&view(&cluster, 200, &alone, cluster.capacity()), &mut choice).unwrap();
        // 0, 1 and 2 together fill the cluster and are best; port 0 is absent, so 2 stays alone
        // although 3 alone, or 2 twice as wide, would have fitted.
        assert_eq!(choice.channels, [ChannelId(2)]);
        let certificate = choice.certificate.unwrap();
        let scale = (2.0 / Slack::LogLog.at(Slot(200))).ceil();
        let rate = Exploration::Printed.at(Slot(200), 2.0);
        let expected = 3.0 * (0.5 * scale).ceil() + (3.0 * (scale * scale * rate / 200.0).ceil()).sqrt();
        assert!((certificate.value - expected).abs() < 1e-9, "{certificate:?}, not {expected}");
    }

    #[test]
    fn without_the_covering_round_channels_never_tried_count_as_tried_once() {
        let cluster = tiny();
        let chosen = |cover| {
            let spec = EsdpPaperSpec { cover, ..EsdpPaperSpec::default() };
            let mut policy = spec.policy(&cluster).unwrap().with_solver(solver());
            let (alone, mut choice) = (Arrivals::new(vec![0, 1]), Choice::default());
            policy.decide(&view(&cluster, 5, &alone, cluster.capacity()), &mut choice).unwrap();
            choice.channels
        };
        // Covered: what is open and fits, lightest first. Else all count alike, the three that fit together
        // are best, and port 0 is absent.
        assert_eq!(chosen(true), [2, 3].map(ChannelId));
        assert_eq!(chosen(false), [ChannelId(2)]);
    }
}
