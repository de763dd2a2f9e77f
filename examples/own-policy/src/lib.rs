//! A policy in a crate of its own: explore, then commit.
//!
//! Every channel is tried a number of times; from then on the averages are trusted. In a slot
//! it maximises, over channels whose port has a job and within what is free, the sum of
//!
//! ```text
//! index_e = { 1            while channel e was tried fewer than `tries` times
//!             estimate_e   from then on
//! ```
//!
//! No net utility exceeds 1, so what is not yet known is preferred to everything known. Simple,
//! and a fair measure of what a better rule is worth: too few tries commit to the wrong
//! channels for good, too many waste slots on bad ones.

use esdp::model::{ChannelId, Cluster, SlotView};
use esdp::policy::kit::{Index, Learning, Score};
use esdp::solver::Exact;
use esdp::stats::{Means, Statistics};

/// Visits that a decision may take, about 5 ms: channels that are all worth 1 keep a solver busy for nothing.
const WORK: u64 = 2_000_000;

// begin: index
/// Tries every channel some times, then trusts the averages.
pub struct ExploreThenCommit {
    tries: f64,
}

impl Index for ExploreThenCommit {
    fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
        // A use whose outcome is still open counts as a try; otherwise late feedback would send everything to
        // one channel.
        let tried = seen.count(channel) + f64::from(seen.pending(channel));
        Score::from(if tried < self.tries { 1.0 } else { seen.estimate(channel) })
    }

    /// What was never tried counts 1 like all that was tried too seldom: it need not go first.
    fn covers(&self) -> bool {
        false
    }
}
// end: index

// begin: policy
impl ExploreThenCommit {
    /// The name that users choose it by, and that saved states carry.
    pub const NAME: &'static str = "explore-then-commit";

    /// A policy that has learned nothing yet, and will try every channel this often.
    pub fn policy(cluster: &Cluster, tries: u32) -> Learning<Self> {
        let statistics = Means::new(cluster.channels().len());
        let index = Self { tries: f64::from(tries) };
        let solver = Exact::default().with_work_budget(WORK);
        Learning::new(Self::NAME, Box::new(statistics), index).with_solver(Box::new(solver))
    }
}
// end: policy
