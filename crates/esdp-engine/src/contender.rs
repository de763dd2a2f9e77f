//! Who takes part in a comparison: a policy of the library, or one of your own.

use crate::RunError;
use esdp::model::Cluster;
use esdp::policy::{Policy, PolicySpec};
use esdp::scenario::{LabelledPolicy, Scenario};
use esdp::sim::{Setting, Simulation};
use std::fmt;
use std::sync::Arc;

/// Builds a policy for a cluster and a seed.
type Make = dyn Fn(&Cluster, u64) -> Box<dyn Policy> + Send + Sync;

/// A policy that takes part, under its label.
#[derive(Clone)]
pub struct Contender {
    label: String,
    made: Recipe,
}

#[derive(Clone)]
enum Recipe {
    Described(PolicySpec),
    Own(Arc<Make>),
}

impl Contender {
    /// A policy of your own. It is built anew for the cluster of every seed; its own coin, if it has one, is
    /// to be thrown by [`esdp::rng::stream`] with that seed.
    pub fn own(
        label: impl Into<String>,
        make: impl Fn(&Cluster, u64) -> Box<dyn Policy> + Send + Sync + 'static,
    ) -> Self {
        Self { label: label.into(), made: Recipe::Own(Arc::new(make)) }
    }

    /// The policies of a scenario.
    pub fn of(scenario: &Scenario) -> Vec<Self> {
        scenario.policies().iter().map(Self::from).collect()
    }

    /// What tells it from the others.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its description, if it is one of the library's.
    pub fn spec(&self) -> Option<&PolicySpec> {
        match &self.made {
            Recipe::Described(spec) => Some(spec),
            Recipe::Own(_) => None,
        }
    }

    /// Its simulation, from the first slot on.
    pub(crate) fn simulation<'a>(&self, setting: &'a Setting) -> Result<Simulation<'a>, RunError> {
        match &self.made {
            Recipe::Described(spec) => Ok(Simulation::new(setting, spec)?),
            Recipe::Own(make) => {
                Ok(Simulation::with_policy(setting, make(setting.cluster(), setting.seed())))
            }
        }
    }
}

impl From<&LabelledPolicy> for Contender {
    fn from(LabelledPolicy { label, spec }: &LabelledPolicy) -> Self {
        Self { label: label.clone(), made: Recipe::Described(spec.clone()) }
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender")
            .field("label", &self.label)
            .field("spec", &self.spec())
            .finish_non_exhaustive()
    }
}
