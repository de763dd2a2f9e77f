//! What to say when a policy beats the oracle.
//!
//! The oracle knows the true means and decides every slot at its best, so nobody can get more from the
//! same arrivals, unless its decision was not proved optimal. A ratio above 1 is not a measure of the
//! policy, and the reader is told. Where jobs hold their devices there is no such ratio.

use crate::{PolicyOutcome, RunOutcome};

/// Two sums of the same means differ by less, relative.
const ROUNDING: f64 = 1e-9;

const WHY: &str = "its search ended without a proof, and its figures are too low to measure regret against";

/// One sentence for every policy that beats the oracle in some seed.
pub(super) fn notes(outcome: &RunOutcome) -> Vec<String> {
    let rivals = outcome.policies.iter().filter(|policy| !policy.is_oracle());
    rivals.filter_map(|policy| note(policy, outcome)).collect()
}

fn note(policy: &PolicyOutcome, outcome: &RunOutcome) -> Option<String> {
    let ratios = policy.runs.iter().zip(&outcome.seeds).filter_map(|(run, &seed)| {
        let ratio = run.summary.oracle_ratio()?;
        (ratio > 1.0 + ROUNDING).then_some((ratio, seed))
    });
    let beaten: Vec<(f64, u64)> = ratios.collect();
    let &(ratio, seed) = beaten.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (label, count, all) = (&policy.label, beaten.len(), policy.runs.len());
    Some(format!(
        "`{label}` beats the oracle in {count} of {all} seeds, by up to {:.2} % (seed {seed}): {WHY}",
        100.0 * (ratio - 1.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contender, Options, simulate};
    use esdp::scenario::Scenario;

    /// A short run whose oracle is then said to have got less.
    fn outcome(scenario: &Scenario, oracle_share: f64) -> RunOutcome {
        let options = Options::default();
        let mut outcome =
            simulate(scenario, &Contender::of(scenario), 20, &[4, 5], &options).expect("a preset can be run");
        let weak = &mut outcome.policies[1].runs[1].summary;
        weak.oracle = Some(weak.aou * oracle_share);
        outcome
    }

    #[test]
    fn a_beaten_oracle_is_told_with_policy_seed_and_cause() {
        let scenario = Scenario::preset("default").unwrap().set("policies", "oracle,lcf,random").unwrap();
        assert!(notes(&outcome(&scenario, 1.0)).is_empty());
        let told = notes(&outcome(&scenario, 0.8));
        let expected = "`lcf` beats the oracle in 1 of 2 seeds, by up to 25.00 % (seed 5): its search ended \
                        without a \
                        proof, and its figures are too low to measure regret against";
        assert_eq!(told, [expected]);
    }
}
