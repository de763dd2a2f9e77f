//! What policies share, and all that a policy of your own needs.
//!
//! Most policies differ in one thing: what a channel counts in a slot. That is an [`Index`], and [`Learning`]
//! makes a [`Policy`](super::Policy) of it: with statistics, a solver, jobs of several tasks, weights of
//! ports, servers that are closed, late outcomes, clusters that change, and states that restore exactly.
//!
//! ```
//! use esdp::conformance::Suite;
//! use esdp::model::{ChannelId, SlotView};
//! use esdp::policy::kit::{Index, Learning, Score};
//! use esdp::stats::{Means, Statistics};
//!
//! /// Averages, and a bonus for what was tried seldom.
//! struct Curious {
//!     bonus: f64,
//! }
//!
//! impl Index for Curious {
//!     fn score(&self, seen: &dyn Statistics, _view: &SlotView<'_>, channel: ChannelId) -> Score {
//!         // The variance is 1 / (2 n), outcomes under way included.
//!         Score::from(seen.estimate(channel) + self.bonus * seen.variance(channel).sqrt())
//!     }
//! }
//!
//! Suite::new(&|cluster| {
//!     let statistics = Means::new(cluster.channels().len());
//!     Box::new(Learning::new("curious", Box::new(statistics), Curious { bonus: 0.3 }))
//! })
//! .run();
//! ```
//!
//! | | |
//! |---|---|
//! | [`Index`] | what a channel counts: `score`, and if need be `prepare`, `covers`, `scope`, `change` |
//! | [`Rule`] | a whole slot, for policies that do something else now and then |
//! | [`Learning`] | the policy around an index or a rule |
//! | [`Learner`] | statistics and the slot's problem: what a rule works with |
//! | [`SlotProblem`] | from scores to a choice: cover what is new, solve the rest |
//! | [`Order`] | for policies that solve nothing: channels or ports in some order, each if it fits |
//! | [`deal`] | which uses make a job, where jobs run at the speed of their slowest task |
//! | [`WholeJobs`], [`Room`] | jobs that start whole or not at all; the devices that are left |

mod learner;
mod learning;
mod order;
mod pace;
mod problem;
mod whole;

pub use learner::Learner;
pub use learning::{Index, Learning, Rule};
pub use order::Order;
pub use pace::deal;
pub use problem::{Scope, Score, SlotProblem};
pub use whole::WholeJobs;

pub use crate::model::Room;
