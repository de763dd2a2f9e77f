//! The short way: a scenario, some policies and seeds, and what comes of them.

use crate::results::RunResults;
use crate::sweep::{SweepPlan, SweepResults, Vary};
use crate::{Contender, Options, RunError, SweepError, Unit, run, simulate};
use esdp::model::Cluster;
use esdp::policy::Policy;
use esdp::scenario::{Scenario, ScenarioError};

/// Compares policies on a scenario: those of the scenario, or some chosen by name, and policies of your own.
#[derive(Debug, Clone)]
pub struct Runner {
    scenario: Scenario,
    own: Vec<Contender>,
    threads: usize,
}

impl Runner {
    /// The scenario as it is: its slots, its seeds, its policies.
    pub fn new(scenario: Scenario) -> Self {
        Self { scenario, own: Vec::new(), threads: 0 }
    }

    /// Other policies than the scenario's: its own by their label, any other of the library by its name.
    ///
    /// # Errors
    /// When a name is unknown, or comes twice.
    pub fn policies<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, ScenarioError> {
        Ok(Self { scenario: self.scenario.choose(names)?, ..self })
    }

    /// Adds a policy of your own, built by a function of the cluster and the seed.
    #[must_use]
    pub fn policy(
        mut self,
        label: impl Into<String>,
        make: impl Fn(&Cluster, u64) -> Box<dyn Policy> + Send + Sync + 'static,
    ) -> Self {
        self.own.push(Contender::own(label, make));
        self
    }

    /// Another number of slots.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn slots(self, slots: u64) -> Result<Self, ScenarioError> {
        Ok(Self { scenario: self.scenario.with_slots(slots)?, ..self })
    }

    /// Other seeds: so many, from the first one on.
    ///
    /// # Errors
    /// When they are too many, or none.
    pub fn seeds(self, first: u64, count: u64) -> Result<Self, ScenarioError> {
        Ok(Self { scenario: self.scenario.with_seed_count(count)?.with_first_seed(first)?, ..self })
    }

    /// How many threads; one per core by default. No result depends on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Runs every policy under every seed.
    ///
    /// # Errors
    /// When two policies have the same label, one cannot be built, or one gives no decision.
    pub fn run(&self) -> Result<RunResults, RunError> {
        let policies = self.contenders(&self.scenario)?;
        let options = Options { jobs: self.threads, ..Options::default() };
        let outcome =
            simulate(&self.scenario, &policies, self.scenario.slots(), self.scenario.seeds(), &options)?;
        Ok(RunResults::new(self.scenario.clone(), outcome))
    }

    /// Runs every policy under every seed at every combination of the values; those of the scenario's own
    /// sweep where nothing is varied.
    ///
    /// # Errors
    /// As [`run`](Runner::run), and when a value is not accepted.
    pub fn sweep(&self, vary: Vec<Vary>) -> Result<SweepResults, SweepError> {
        let mut plan = SweepPlan::new(self.scenario.clone(), vary)?;
        for point in &mut plan.points {
            point.policies = self.contenders(&point.scenario)?;
        }
        let pieces = plan.pieces();
        let units: Vec<Unit<'_>> = pieces.iter().map(|piece| plan.unit(piece)).collect();
        let options = Options { jobs: self.threads, ..Options::default() };
        let mut runs = run(&units, &options, &|_, _| Ok(()))?.into_iter();
        let mut results = SweepResults::new(plan);
        for of_a_point in pieces.chunk_by(|one, next| one.point == next.point) {
            results.add(of_a_point[0].point, runs.by_ref().take(of_a_point.len()).collect());
        }
        Ok(results)
    }

    fn contenders(&self, scenario: &Scenario) -> Result<Vec<Contender>, RunError> {
        let mut all = Contender::of(scenario);
        for own in &self.own {
            if all.iter().any(|other| other.label() == own.label()) {
                return Err(RunError::Twice { label: own.label().to_owned() });
            }
            all.push(own.clone());
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp::policy::FirstFit;

    fn runner() -> Runner {
        let scenario = Scenario::preset("gang").unwrap();
        let runner = Runner::new(scenario).policies(["oracle", "lcf"]).unwrap();
        runner.slots(30).unwrap().seeds(3, 2).unwrap().policy("mine", |_, _| Box::new(FirstFit::default()))
    }

    #[test]
    fn own_policies_stand_beside_the_others() {
        let results = runner().run().unwrap();
        let names: Vec<&str> = results.rows().iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["oracle", "lcf", "mine"]);
        assert_eq!(results.outcome().seeds, [3, 4]);
        assert!(results.csv().contains("\nmine,30,2,"));
        // The same policy by its name gives the same numbers.
        let named = runner().policies(["first-fit"]).unwrap().run().unwrap();
        assert_eq!(named.rows()[0].aou_mean, results.rows()[2].aou_mean);
        let twice = runner().policy("lcf", |_, _| Box::new(FirstFit::default())).run().unwrap_err();
        assert_eq!(twice.to_string(), "two policies have the label `lcf`, expected different ones");
    }

    #[test]
    fn a_sweep_is_many_runs() {
        let results = runner().sweep(vec!["slots=10,30".parse().unwrap()]).unwrap();
        let mine: Vec<f64> = results
            .rows()
            .iter()
            .filter(|line| line.row.name == "mine")
            .map(|line| line.row.aou_mean)
            .collect();
        assert_eq!(mine.len(), 2);
        assert_eq!(mine[1], runner().run().unwrap().rows()[2].aou_mean);
        assert!(results.is_complete() && results.report().render().contains("mine"));
        assert!(runner().sweep(Vec::new()).unwrap_err().to_string().starts_with("nothing to vary"));
    }
}
