//! Policies: which channels to use in a slot, and what to learn from it.
//!
//! Three layers that are never mixed: the policy (which index, on which
//! [`Statistics`]), the objective (linear or optimistic), the
//! [`Solver`](crate::solver::Solver). One policy a file; what they share, and what a policy of
//! your own needs, is in [`kit`]. [`PolicySpec`] is the typed, serialisable description from
//! which every policy is built.

mod cts;
mod cucb;
mod epsilon_greedy;
mod escb;
mod esdp;
mod esdp_drift;
mod esdp_index;
mod esdp_paper;
mod esdp_pooled;
mod estimator;
mod first_fit;
mod hauf;
pub mod kit;
mod lcf;
mod lwtf;
mod maxweight_ucb;
mod optimistic;
mod oracle;
mod random;
mod spec;
mod state;
#[cfg(test)]
mod testing;

pub use cts::{Belief, Cts, CtsSpec};
pub use cucb::{Cucb, CucbSpec};
pub use epsilon_greedy::{EpsilonGreedy, EpsilonGreedySpec};
pub use escb::EscbSpec;
pub use esdp::EsdpSpec;
pub use esdp_drift::{EsdpDriftSpec, Memory};
pub use esdp_index::EsdpIndexSpec;
pub use esdp_paper::{EsdpPaper, EsdpPaperSpec, RoundedSolver};
pub use esdp_pooled::{EsdpPooled, EsdpPooledSpec};
pub use estimator::Estimator;
pub use first_fit::FirstFit;
pub use hauf::{Hauf, HaufSpec, Rank};
pub use lcf::{Lcf, LcfSpec};
pub use lwtf::{Lwtf, LwtfSpec};
pub use maxweight_ucb::{Backlogged, MaxweightUcb, MaxweightUcbSpec};
pub use optimistic::Optimistic;
pub use oracle::{Oracle, Truth};
pub use random::Random;
pub use spec::{PolicySpec, SpecError};
pub use state::{POLICY_STATE_VERSION, PolicyState};

use crate::model::{Arrivals, ChannelId, Cluster, ClusterChange, Observation, PlacedJob, Slot, SlotView};
use crate::solver::{Guarantee, ProblemError, SolveError, Stopped};
use crate::stats::{StateError, Statistics};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a policy chose, in a buffer that is reused from slot to slot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// The channels; one may repeat up to the number of jobs of its port.
    pub channels: Vec<ChannelId>,
    /// Which of them make a job, for ports whose jobs run at the speed of their slowest task: all of the
    /// uses of such a port, or none, and then they are dealt by what is believed of speeds.
    pub jobs: Vec<PlacedJob>,
    /// What is proved of the index problem behind the choice, for policies that solve one.
    pub certificate: Option<Certificate>,
}

impl Choice {
    /// Nothing chosen, nothing proved; the memory is kept.
    pub fn clear(&mut self) {
        self.channels.clear();
        self.jobs.clear();
        self.certificate = None;
    }
}

/// What a solver proved of the index problem of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The objective reached.
    pub value: f64,
    /// Never below the optimum.
    pub bound: f64,
    /// Whether the optimum is proved.
    pub guarantee: Guarantee,
    /// Why the solver stopped there.
    pub stopped: Stopped,
}

impl Certificate {
    /// The relative distance of the value to the bound, 0 when the optimum is proved; above 0, `stopped` says
    /// why.
    pub fn gap(&self) -> f64 {
        match self.guarantee {
            Guarantee::Optimal => 0.0,
            Guarantee::Bounded => (self.bound - self.value) / self.bound.abs().max(f64::MIN_POSITIVE),
        }
    }
}

/// Why a policy could not decide.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PolicyError {
    /// The solver gave no answer. Retryable with another solver or limit.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The policy built numbers that are no problem. Fatal: a bug, or outcomes that were never finite.
    #[error("the slot's problem is malformed: {0}")]
    Problem(#[from] ProblemError),
}

/// Decides slot by slot and learns from what happened.
pub trait Policy: Send {
    /// The policy's name, as users choose it.
    fn name(&self) -> &str;

    /// Whether it ranks jobs that wait by a rule of its own, such as backlog or age. The rule for queues
    /// leaves it alone then: no weights, no hold, no reservation.
    fn ranks_jobs(&self) -> bool {
        false
    }

    /// Limits the work of every decision from now on, in visits of its solver; none lifts the limit. A policy
    /// that solves nothing leaves it as it is.
    fn limit_work(&mut self, _visits: Option<u64>) {}

    /// Whether every decision from now on goes by estimates alone, without trying anything for the sake of
    /// knowing it better. A policy that explores nothing, or whose choice is random, leaves it as it is.
    fn limit_exploration(&mut self, _exploit: bool) {}

    /// Chooses channels for a slot, overwriting `choice`. Nothing is pending yet, and nothing that
    /// [`Policy::state`] shows may change: a decision that is never carried out leaves no trace. Before it
    /// the
    /// scheduler has brought [`Policy::learned`] to the slot.
    ///
    /// # Errors
    /// When the slot's problem cannot be solved.
    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError>;

    /// Takes note of a slot that was decided, and of who had a job in it. A policy that counts neither slots
    /// nor
    /// arrivals leaves it as it is.
    fn settle(&mut self, _slot: Slot, _arrivals: &Arrivals) {}

    /// Takes note of uses that were sealed, accepted and will run: their outcomes are open. They are of a
    /// decision of `slot`, in any order and possibly in several calls. A use that came to nothing after all
    /// is learned as [`Censored`](crate::model::Outcome::Censored).
    fn commit(&mut self, _cluster: &Cluster, _slot: Slot, _channels: &[ChannelId]) {}

    /// Takes an outcome, possibly late. A policy that learns nothing leaves it as it is.
    fn learn(&mut self, _seen: &Observation) {}

    /// Goes on in the next version of the cluster, with what was learned of all that stays. A policy that
    /// keeps nothing by channel, server or port leaves it as it is.
    fn change(&mut self, _change: &ClusterChange<'_>) {}

    /// What has been learned of the channels, for those who want to look at it; none for policies that learn
    /// nothing.
    fn learned(&self) -> Option<&dyn Statistics> {
        None
    }

    /// The mean net utility that it believes each channel has in a slot, by their ids, without any optimism;
    /// not a number where it knows nothing. False if it believes nothing of any.
    fn believed(&mut self, _slot: Slot, channels: usize, means: &mut Vec<f64>) -> bool {
        let Some(learned) = self.learned() else { return false };
        means.clear();
        means.extend((0..channels).map(ChannelId::at).map(|channel| {
            let estimate = learned.estimate(channel);
            if estimate == 0.0 && learned.count(channel) == 0.0 { f64::NAN } else { estimate }
        }));
        true
    }

    /// What was [learned](Policy::learned), to reset a channel, or to add what was seen elsewhere.
    fn learned_mut(&mut self) -> Option<&mut dyn Statistics> {
        None
    }

    /// Everything the policy would need to go on, as a versioned value; nothing by default.
    fn state(&self) -> PolicyState {
        PolicyState::empty(self.name())
    }

    /// Puts a saved state back; decisions continue exactly as they would have.
    ///
    /// # Errors
    /// When the state is not this policy's.
    fn restore(&mut self, state: PolicyState) -> Result<(), StateError> {
        state.check(self.name())?;
        state.check_no_statistics()
    }
}
