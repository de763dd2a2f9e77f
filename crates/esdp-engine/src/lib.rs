//! Simulations of many policies and seeds at once, and their results.
//!
//! ```
//! use esdp::model::{ChannelId, SlotView};
//! use esdp::policy::kit::{Index, Learning, Score};
//! use esdp::scenario::Scenario;
//! use esdp::stats::{Means, Statistics};
//! use esdp_engine::Runner;
//!
//! /// Trusts the averages from the first one on.
//! struct Greedy;
//!
//! impl Index for Greedy {
//!     fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
//!         Score::from(seen.estimate(channel))
//!     }
//! }
//!
//! let results = Runner::new(Scenario::preset("default").unwrap())
//!     .policies(["oracle", "esdp"])?
//!     .policy("greedy", |cluster, _seed| {
//!         Box::new(Learning::new("greedy", Box::new(Means::new(cluster.channels().len())), Greedy))
//!     })
//!     .slots(200)?
//!     .seeds(0, 2)?
//!     .run()?;
//! assert!(results.table(false).contains("greedy"));
//! let page = results.report(&[]).render();
//! assert!(page.contains("Oracle ratio") && results.rows()[2].oracle_ratio_mean < Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`Runner`] | a scenario, policies by name or of your own, seeds; a run or a sweep of them |
//! | [`each`], [`run`], [`simulate`] | below it: in parallel, the same bytes on any number of threads |
//! | [`results`], [`sweep`] | what came out, as JSON, CSV, a table and a report |
//! | [`rows`] | a policy's numbers |
//! | [`Difference`], [`leaders`] | when one policy is better than another, seed by seed |
//! | [`verdict`] | whether a queue is stable |
//! | [`part`] | the results of one scenario and seed as text, to go on from |
//!
//! It reads and writes no files and handles no signals: the caller passes in a [`Cancel`].

mod contender;
mod engine;
mod error;
mod outcome;
mod paired;
pub mod part;
pub mod results;
pub mod rows;
mod runner;
pub mod sweep;
mod verdict;

pub use contender::Contender;
pub(crate) use engine::keeps_estimates;
pub use engine::{
    Cancel, Finished, MOST_ESTIMATES, MakeSink, Options, PolicyRun, SlotSink, Thinning, Unit, each, run,
    simulate, work,
};
pub use error::{Failure, RunError, SweepError};
pub use outcome::{PolicyOutcome, RunOutcome, Spread, seeds_in_words};
pub use paired::{Difference, FEWEST_SEEDS, Sign, TOO_FEW_SEEDS, leaders};
pub use runner::Runner;
pub use verdict::{QueueVerdict, Stability, verdict};
