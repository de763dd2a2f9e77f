//! What a policy carries from slot to slot, as a value that can be saved and restored.

use super::esdp::EsdpSpec;
use super::esdp_index::EsdpIndexSpec;
use crate::model::Slot;
use crate::stats::{StateError, StatisticsState};
use serde::{Deserialize, Serialize};

/// The version of [`PolicyState`] that this library writes and reads.
pub const POLICY_STATE_VERSION: u32 = 1;

/// Everything a policy needs to go on as if it had never stopped.
///
/// Parameters are not in it: a policy is built from its [`PolicySpec`](super::PolicySpec) and then given its
/// state back, so that learning survives a change of parameters, but for the length of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    /// The layout's version, [`POLICY_STATE_VERSION`].
    pub version: u32,
    /// The policy's name.
    pub policy: String,
    /// What was learned of the channels, by policies that learn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<StatisticsState>,
    /// Since when each port waits, by policies that look at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Option<Slot>>,
    /// What a policy of one's own keeps beside that, in whatever form it likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<serde_json::Value>,
}

impl PolicyState {
    /// A policy that carries nothing.
    pub fn empty(policy: &str) -> Self {
        let policy = policy.to_owned();
        Self { version: POLICY_STATE_VERSION, policy, statistics: None, waiting: Vec::new(), own: None }
    }

    /// Checks that a state is of the current version and of this policy.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, policy: &str) -> Result<(), StateError> {
        if self.version != POLICY_STATE_VERSION {
            let (found, expected) = (self.version, POLICY_STATE_VERSION);
            return Err(StateError::Version { what: "policy", found, expected });
        }
        let expected = policy.to_owned();
        match self.is_of_old_esdp() {
            true if policy == EsdpIndexSpec::NAME => Ok(()),
            true => Err(StateError::Renamed { found: EsdpIndexSpec::NAME, saved: EsdpSpec::NAME, expected }),
            false if self.policy == policy => Ok(()),
            false => Err(StateError::Policy { found: self.policy.clone(), expected }),
        }
    }

    /// Whether it is of what `esdp` was in the first versions, and `esdp-index` is now: today's has other
    /// statistics.
    fn is_of_old_esdp(&self) -> bool {
        let kind = self.statistics.as_ref().map(|statistics| statistics.learned.kind());
        self.policy == EsdpSpec::NAME && kind.is_some_and(|kind| kind != "adaptive")
    }

    /// Refuses statistics, for policies that keep none.
    pub(super) fn check_no_statistics(&self) -> Result<(), StateError> {
        match &self.statistics {
            Some(found) => Err(StateError::Kind { found: found.learned.kind(), expected: "none" }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_states_are_refused() {
        let own = PolicyState::empty("esdp");
        assert_eq!(own.check("esdp"), Ok(()));
        let refused = own.check("cts").unwrap_err().to_string();
        assert_eq!(refused, "the saved state is of policy `esdp`, expected `cts`");
        let means = crate::stats::Means::new(1);
        let old = PolicyState { statistics: Some(crate::stats::Statistics::state(&means)), ..own.clone() };
        assert_eq!(old.check("esdp-index"), Ok(()));
        let refused = old.check("esdp").unwrap_err().to_string();
        let expected = "the saved state is of policy `esdp-index`, then called `esdp`, expected `esdp`";
        assert_eq!(refused, expected);
        let old = PolicyState { version: 0, ..own };
        assert_eq!(
            old.check("esdp").unwrap_err().to_string(),
            "the saved `policy` has version 0, this library reads version 1"
        );
    }
}
