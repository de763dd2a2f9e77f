//! Policies as typed, serialisable descriptions.
//!
//! A policy is chosen by its name and its parameters, all of which have a default:
//!
//! ```toml
//! [[policies]]
//! name = "esdp"
//!
//! [[policies]]
//! name = "esdp-drift"
//! memory = { windowed = { slots = 500 } }
//! ```
//!
//! ```
//! use esdp::policy::PolicySpec;
//!
//! let spec: PolicySpec = "cts".parse()?;
//! assert_eq!(spec.name(), "cts");
//! let unknown = "cst".parse::<PolicySpec>().unwrap_err();
//! assert!(unknown.to_string().starts_with("unknown policy `cst`, expected one of `esdp`, "));
//! # Ok::<(), esdp::policy::SpecError>(())
//! ```

use super::cts::CtsSpec;
use super::cucb::CucbSpec;
use super::epsilon_greedy::EpsilonGreedySpec;
use super::escb::EscbSpec;
use super::esdp::EsdpSpec;
use super::esdp_drift::EsdpDriftSpec;
use super::esdp_index::EsdpIndexSpec;
use super::esdp_paper::EsdpPaperSpec;
use super::esdp_pooled::EsdpPooledSpec;
use super::hauf::HaufSpec;
use super::lcf::LcfSpec;
use super::lwtf::LwtfSpec;
use super::maxweight_ucb::MaxweightUcbSpec;
use super::{FirstFit, Oracle, Policy, Random, Truth};
use crate::model::Cluster;
use crate::solver::Solver;
use crate::stats::Exploration;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::str::FromStr;
use thiserror::Error;

/// A policy and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PolicySpec {
    /// See [`EsdpSpec`].
    Esdp(EsdpSpec),
    /// See [`EsdpIndexSpec`].
    EsdpIndex(EsdpIndexSpec),
    /// See [`EsdpPaperSpec`].
    EsdpPaper(EsdpPaperSpec),
    /// See [`EsdpDriftSpec`].
    EsdpDrift(EsdpDriftSpec),
    /// See [`EsdpPooledSpec`].
    EsdpPooled(EsdpPooledSpec),
    /// See [`EscbSpec`].
    Escb(EscbSpec),
    /// See [`CucbSpec`].
    Cucb(CucbSpec),
    /// See [`CtsSpec`].
    Cts(CtsSpec),
    /// See [`EpsilonGreedySpec`].
    EpsilonGreedy(EpsilonGreedySpec),
    /// See [`Random`].
    Random {},
    /// See [`HaufSpec`].
    Hauf(HaufSpec),
    /// See [`LcfSpec`].
    Lcf(LcfSpec),
    /// See [`LwtfSpec`].
    Lwtf(LwtfSpec),
    /// See [`FirstFit`].
    FirstFit {},
    /// See [`MaxweightUcbSpec`].
    MaxweightUcb(MaxweightUcbSpec),
    /// See [`Oracle`].
    Oracle {},
    /// First come, first served, with EASY backfill: a rule for queues, without a policy.
    Easy {},
    /// The same with conservative backfill.
    Conservative {},
}

/// Why a policy's description was rejected. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// No policy has this name.
    #[error("unknown policy `{name}`, expected one of {}", names())]
    Unknown {
        /// The name found.
        name: String,
    },
    /// A parameter is out of range.
    #[error("policy `{policy}`: `{key}` is {value}, expected {accepted}")]
    Parameter {
        /// The policy.
        policy: &'static str,
        /// The parameter's key.
        key: &'static str,
        /// The value found.
        value: String,
        /// What is accepted.
        accepted: String,
    },
    /// The oracle needs the true means.
    #[error("policy `oracle` knows the true speeds, so it runs in simulations only")]
    NoTruth,
    /// A rule for queues is not a policy.
    #[error(
        "policy `{rule}` starts the jobs of a queue, so it runs in simulations whose jobs wait only, with \
         `jobs.held = true`"
    )]
    NoQueue {
        /// The rule.
        rule: &'static str,
    },
}

impl PolicySpec {
    /// Every policy with its default parameters, in the order users see them. The [`rules`](Self::rules) for
    /// queues are not among them.
    pub fn all() -> Vec<PolicySpec> {
        vec![
            Self::Esdp(EsdpSpec::default()),
            Self::EsdpIndex(EsdpIndexSpec::default()),
            Self::EsdpPaper(EsdpPaperSpec::default()),
            Self::EsdpDrift(EsdpDriftSpec::default()),
            Self::EsdpPooled(EsdpPooledSpec::default()),
            Self::Escb(EscbSpec::default()),
            Self::Cucb(CucbSpec::default()),
            Self::Cts(CtsSpec::default()),
            Self::EpsilonGreedy(EpsilonGreedySpec::default()),
            Self::Random {},
            Self::Hauf(HaufSpec::default()),
            Self::Lcf(LcfSpec::default()),
            Self::Lwtf(LwtfSpec::default()),
            Self::FirstFit {},
            Self::MaxweightUcb(MaxweightUcbSpec::default()),
            Self::Oracle {},
        ]
    }

    /// The rules for queues: users choose them like policies, but only simulations whose jobs wait run them.
    pub fn rules() -> [PolicySpec; 2] {
        [Self::Easy {}, Self::Conservative {}]
    }

    /// Whether it is one of the [`rules`](Self::rules) for queues.
    pub fn is_rule(&self) -> bool {
        matches!(self, Self::Easy {} | Self::Conservative {})
    }

    /// The name users choose it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Esdp(_) => EsdpSpec::NAME,
            Self::EsdpIndex(_) => EsdpIndexSpec::NAME,
            Self::EsdpPaper(_) => EsdpPaperSpec::NAME,
            Self::EsdpDrift(_) => EsdpDriftSpec::NAME,
            Self::EsdpPooled(_) => EsdpPooledSpec::NAME,
            Self::Escb(_) => EscbSpec::NAME,
            Self::Cucb(_) => CucbSpec::NAME,
            Self::Cts(_) => CtsSpec::NAME,
            Self::EpsilonGreedy(_) => EpsilonGreedySpec::NAME,
            Self::Random {} => Random::NAME,
            Self::Hauf(_) => HaufSpec::NAME,
            Self::Lcf(_) => LcfSpec::NAME,
            Self::Lwtf(_) => LwtfSpec::NAME,
            Self::FirstFit {} => FirstFit::NAME,
            Self::MaxweightUcb(_) => MaxweightUcbSpec::NAME,
            Self::Oracle {} => Oracle::NAME,
            Self::Easy {} => "easy",
            Self::Conservative {} => "conservative",
        }
    }

    /// What it does, in a line.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Esdp(_) => "learns across channels, finds out how fast to forget; the default",
            Self::EsdpIndex(_) => "exact optimistic index over sets on plain averages",
            Self::EsdpPaper(_) => "the paper's Algorithms 1 and 2 as printed, obvious slips fixed",
            Self::EsdpDrift(_) => "esdp-index on statistics that forget at a fixed rate",
            Self::EsdpPooled(_) => "channels learn from each other; forgets nothing, or at a fixed rate",
            Self::Escb(_) => "exact optimistic index over sets with the printed exploration",
            Self::Cucb(_) => "a confidence bonus on every channel, linear",
            Self::Cts(_) => "combinatorial Thompson sampling, linear",
            Self::EpsilonGreedy(_) => "best by the estimates, now and then random",
            Self::Random {} => "open channels in random order",
            Self::Hauf(_) => "ports by highest accumulated utility",
            Self::Lcf(_) => "channels by lowest supply cost",
            Self::Lwtf(_) => "ports by longest waiting time",
            Self::FirstFit {} => "open channels in order, whatever their speed",
            Self::MaxweightUcb(_) => "MaxWeight: backlog times an optimistic speed; for jobs that wait",
            Self::Oracle {} => "knows the true means; simulations only",
            Self::Easy {} => "first come, first served with EASY backfill; simulations of queues only",
            Self::Conservative {} => "the same with conservative backfill",
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// With the first that is out of range.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::EsdpIndex(spec) => spec.check(),
            Self::EsdpPaper(spec) => spec.check(),
            Self::EsdpDrift(spec) => spec.check(),
            Self::EsdpPooled(spec) => spec.check(),
            Self::Escb(spec) => spec.check(),
            Self::Cucb(spec) => spec.check(),
            Self::Cts(spec) => spec.check(),
            Self::EpsilonGreedy(spec) => spec.check(),
            Self::MaxweightUcb(spec) => spec.check(),
            Self::Esdp(_) | Self::Random {} | Self::Hauf(_) | Self::Lcf(_) | Self::Lwtf(_) => Ok(()),
            Self::FirstFit {} | Self::Oracle {} | Self::Easy {} | Self::Conservative {} => Ok(()),
        }
    }

    /// Builds the policy. `seed` feeds its own coin; `truth` is for the oracle.
    ///
    /// # Errors
    /// When a parameter is out of range, the oracle gets no truth, or it is a rule for queues.
    pub fn build(
        &self,
        cluster: &Cluster,
        seed: u64,
        truth: Option<Box<dyn Truth>>,
    ) -> Result<Box<dyn Policy>, SpecError> {
        self.build_with(cluster, seed, truth, None)
    }

    /// Builds the policy with another solver than its own; policies that solve nothing drop it.
    ///
    /// # Errors
    /// When a parameter is out of range, or the oracle gets no truth.
    pub fn build_with(
        &self,
        cluster: &Cluster,
        seed: u64,
        truth: Option<Box<dyn Truth>>,
        solver: Option<Box<dyn Solver>>,
    ) -> Result<Box<dyn Policy>, SpecError> {
        macro_rules! boxed {
            ($policy:expr) => {{
                let policy = $policy;
                match solver {
                    Some(solver) => Box::new(policy.with_solver(solver)),
                    None => Box::new(policy),
                }
            }};
        }
        Ok(match self {
            Self::Esdp(spec) => boxed!(spec.policy(cluster, seed)),
            Self::EsdpIndex(spec) => boxed!(spec.policy(cluster)?),
            Self::EsdpPaper(spec) => boxed!(spec.policy(cluster)?),
            Self::EsdpDrift(spec) => boxed!(spec.policy(cluster)?),
            Self::EsdpPooled(spec) => boxed!(spec.policy(cluster, seed)?),
            Self::Escb(spec) => boxed!(spec.policy(cluster)?),
            Self::Cucb(spec) => boxed!(spec.policy(cluster)?),
            Self::Cts(spec) => boxed!(spec.policy(cluster, seed)?),
            Self::EpsilonGreedy(spec) => boxed!(spec.policy(cluster, seed)?),
            Self::MaxweightUcb(spec) => boxed!(spec.policy(cluster)?),
            Self::Oracle {} => boxed!(Oracle::new(truth.ok_or(SpecError::NoTruth)?)),
            Self::Random {} => Box::new(Random::new(seed)),
            Self::Hauf(spec) => Box::new(spec.policy(cluster)),
            Self::Lcf(spec) => Box::new(spec.policy()),
            Self::Lwtf(spec) => Box::new(spec.policy(cluster)),
            Self::FirstFit {} => Box::new(FirstFit::default()),
            Self::Easy {} | Self::Conservative {} => return Err(SpecError::NoQueue { rule: self.name() }),
        })
    }
}

/// As much of an unknown name as an error shows.
const LONGEST_SHOWN: usize = 60;

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(name: &str) -> Result<Self, SpecError> {
        let found = Self::all().into_iter().chain(Self::rules()).find(|spec| spec.name() == name);
        // Whatever was given for a name is shown, but not pages of it.
        let shown = |name: &str| match name.char_indices().nth(LONGEST_SHOWN) {
            Some((end, _)) => format!("{}...", &name[..end]),
            None => name.to_owned(),
        };
        found.ok_or_else(|| SpecError::Unknown { name: shown(name) })
    }
}

/// The accepted names, for the error that lists them.
fn names() -> String {
    let all = PolicySpec::all().into_iter().chain(PolicySpec::rules());
    let names: Vec<String> = all.map(|spec| format!("`{}`", spec.name())).collect();
    names.join(", ")
}

/// Checks that a parameter is a number in a range.
pub(super) fn check_number(
    policy: &'static str,
    key: &'static str,
    value: f64,
    range: RangeInclusive<f64>,
) -> Result<(), SpecError> {
    if range.contains(&value) {
        return Ok(());
    }
    let accepted = format!("a number from {} to {}", range.start(), range.end());
    // The shortest form: 1e300 has 301 digits otherwise.
    let value = format!("{value:?}").trim_end_matches(".0").to_owned();
    Err(SpecError::Parameter { policy, key, value, accepted })
}

pub(super) fn check_exploration(policy: &'static str, exploration: &Exploration) -> Result<(), SpecError> {
    match exploration {
        Exploration::Printed | Exploration::LogLog => Ok(()),
        Exploration::Log { kappa } => check_number(policy, "exploration.log.kappa", *kappa, 0.0..=1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::tiny;

    fn read(text: &str) -> Result<PolicySpec, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_name_is_enough() {
        for spec in PolicySpec::all().into_iter().chain(PolicySpec::rules()) {
            let named = read(&format!(r#"{{"name": "{}"}}"#, spec.name())).unwrap();
            assert_eq!(named, spec);
            assert_eq!(spec.name().parse::<PolicySpec>().unwrap(), spec);
            let text = serde_json::to_string(&spec).unwrap();
            assert_eq!(read(&text).unwrap(), spec);
            assert_eq!(spec.check(), Ok(()));
            assert!(!spec.summary().is_empty());
        }
    }

    #[test]
    fn unknown_keys_are_refused_everywhere() {
        for spec in PolicySpec::all() {
            let text = format!(r#"{{"name": "{}", "kapa": 1}}"#, spec.name());
            assert!(read(&text).is_err(), "{text} was accepted");
        }
        let old = read(r#"{"name": "esdp", "kappa": 0.25}"#).unwrap_err().to_string();
        assert!(old.contains("`kappa` belongs to what it was, which is `esdp-index` now"), "{old}");
        assert!(read(r#"{"name": "exp3"}"#).unwrap_err().to_string().contains("esdp-paper"));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let cluster = tiny();
        let refused = |text: &str| match read(text).unwrap().build(&cluster, 0, None) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            refused(r#"{"name": "esdp-index", "kappa": -1}"#),
            "policy `esdp-index`: `kappa` is -1, expected a number from 0 to 1000000"
        );
        assert_eq!(
            refused(r#"{"name": "epsilon-greedy", "epsilon": 1.5}"#),
            "policy `epsilon-greedy`: `epsilon` is 1.5, expected a number from 0 to 1"
        );
        assert!(refused(r#"{"name": "esdp-paper", "alpha": 0}"#).contains("`alpha` is 0"));
        assert!(
            refused(r#"{"name": "escb", "exploration": {"log": {"kappa": -2}}}"#)
                .contains("exploration.log.kappa")
        );
        assert!(refused(r#"{"name": "esdp-drift", "memory": {"windowed": {"slots": 0}}}"#).contains("slots"));
        assert!(
            refused(r#"{"name": "esdp-drift", "memory": {"discounted": {"gamma": 2}}}"#).contains("gamma")
        );
        for name in ["esdp-index", "cts", "cucb"] {
            let beside = |estimator: &str, slab: f64| {
                refused(&format!(r#"{{"name": "{name}", "estimator": "{estimator}", "slab": {slab}}}"#))
            };
            assert!(beside("pooled", 0.6).ends_with("`slab` is 0.6, expected a number from 0 to 0.5"));
            assert!(
                beside("pooled-by-port", -0.1).ends_with("`slab` is -0.1, expected a number from 0 to 0.5")
            );
            assert!(beside("means", 0.1).contains("`slab` is 0.1, expected 0 for the estimator `means`"));
        }
        assert_eq!(
            refused(r#"{"name": "esdp-pooled", "slab": 1}"#),
            "policy `esdp-pooled`: `slab` is 1, expected a number from 0 to 0.5"
        );
        assert!(refused(r#"{"name": "oracle"}"#).contains("simulations only"));
        assert!(refused(r#"{"name": "easy"}"#).contains("`jobs.held = true`"));
        assert_eq!(
            refused(r#"{"name": "maxweight-ucb", "gamma": 0}"#),
            "policy `maxweight-ucb`: `gamma` is 0, expected a number from 0.001 to 1"
        );
        let nan = PolicySpec::Cts(CtsSpec { sigma: f64::NAN, ..CtsSpec::default() });
        assert!(nan.check().unwrap_err().to_string().contains("NaN"));
    }
}
