//! When one policy is better than another: differences seed by seed, and whether they are clear.
//!
//! Seeds are shared by all policies, so what tells clusters apart cancels in the difference of two policies
//! under the same seed. A difference is clear if its 95 % confidence interval (Student's t) leaves out 0.

use crate::{PolicyOutcome, Spread};
use esdp::sim::Summary;

/// What a set of paired differences says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Clearly above 0.
    Above,
    /// Clearly below 0.
    Below,
    /// Its confidence interval holds 0, or there is only one seed.
    Unclear,
}

/// Differences seed by seed: their mean, standard error and sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Their mean and standard error.
    pub spread: Spread,
    /// What they say.
    pub sign: Sign,
}

impl Difference {
    /// What some differences say.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let spread = Spread::of(values);
        // What only rounding tells apart is not apart.
        let reach = (student(spread.n) * spread.stderr).max(1e-9);
        let sign = match spread.mean {
            _ if spread.n < 2 => Sign::Unclear,
            mean if mean > reach => Sign::Above,
            mean if mean < -reach => Sign::Below,
            _ => Sign::Unclear,
        };
        Self { spread, sign }
    }

    /// Seed by seed `a - b`.
    pub fn between(a: &[f64], b: &[f64]) -> Self {
        Self::of(a.iter().zip(b).map(|(a, b)| a - b))
    }

    /// Seed by seed `a / b - 1`.
    pub fn gain(a: &[f64], b: &[f64]) -> Self {
        Self::of(a.iter().zip(b).map(|(a, b)| if *b == 0.0 { 0.0 } else { a / b - 1.0 }))
    }

    /// To both sides of the mean, the 95 % confidence interval; infinite with fewer than two seeds.
    pub fn half_interval(&self) -> f64 {
        student(self.spread.n) * self.spread.stderr
    }

    /// Whether they are clearly above 0.
    pub fn is_above(&self) -> bool {
        self.sign == Sign::Above
    }

    /// Whether they are clearly below 0.
    pub fn is_below(&self) -> bool {
        self.sign == Sign::Below
    }
}

/// The 97.5 % quantile of Student's t with `n - 1` degrees of freedom.
fn student(n: usize) -> f64 {
    const TABLE: [f64; 29] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045,
    ];
    match n {
        0 | 1 => f64::INFINITY,
        n => TABLE.get(n - 2).copied().unwrap_or(2.042),
    }
}

/// With fewer seeds nobody is marked: the interval of a difference is then so wide that a policy far behind
/// is not clearly worse, and would share the mark.
pub const FEWEST_SEEDS: usize = 5;

/// What is said under a table of two to four seeds.
pub const TOO_FEW_SEEDS: &str = "too few seeds to tell policies apart: marks need 5";

/// Which policies of a column are marked: the best, and all that are not clearly worse.
///
/// The oracle is the yardstick and no rival. Nobody is marked where the mark would tell nothing: if a rival
/// lacks the number, if there is only one, if there are fewer than [`FEWEST_SEEDS`], or if none of them is
/// clearly worse than the best.
pub fn leaders(
    policies: &[PolicyOutcome],
    value: impl Fn(&Summary) -> Option<f64>,
    highest: bool,
) -> Vec<bool> {
    let nobody = vec![false; policies.len()];
    let rivals: Vec<usize> = (0..policies.len()).filter(|&at| !policies[at].is_oracle()).collect();
    let values: Option<Vec<Vec<f64>>> = rivals.iter().map(|&at| policies[at].each(&value)).collect();
    let told = |values: &Vec<Vec<f64>>| values.len() > 1 && values[0].len() >= FEWEST_SEEDS;
    let Some(values) = values.filter(told) else { return nobody };
    let worth = |at: usize| {
        let mean = Spread::of(values[at].iter().copied()).mean;
        if highest { mean } else { -mean }
    };
    let Some(best) = (0..values.len()).reduce(|best, at| if worth(at) > worth(best) { at } else { best })
    else {
        return nobody;
    };
    let worse = |at: usize| {
        let lead = Difference::between(&values[best], &values[at]);
        if highest { lead.is_above() } else { lead.is_below() }
    };
    let worse: Vec<bool> = (0..values.len()).map(worse).collect();
    if worse.iter().all(|worse| !worse) {
        return nobody;
    }
    let mut marked = nobody;
    rivals.iter().zip(worse).for_each(|(&at, worse)| marked[at] = !worse);
    marked
}

/// Whether rivals could be told apart if there were more seeds.
pub(crate) fn has_too_few_seeds(outcome: &crate::RunOutcome) -> bool {
    let rivals = outcome.policies.iter().filter(|policy| !policy.is_oracle()).count();
    rivals > 1 && (2..FEWEST_SEEDS).contains(&outcome.seeds.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contender, Options, RunOutcome, simulate};
    use esdp::scenario::Scenario;

    #[test]
    fn clear_means_the_interval_excludes_nothing() {
        assert_eq!(Difference::of([1.0, 1.1, 0.9]).sign, Sign::Above);
        assert_eq!(Difference::of([-1.0, -1.1, -0.9]).sign, Sign::Below);
        assert_eq!(Difference::of([1.0, -1.1, 0.9]).sign, Sign::Unclear);
        assert_eq!(Difference::of([5.0]).sign, Sign::Unclear, "one seed decides nothing");
        assert_eq!(Difference::of([]).sign, Sign::Unclear);
        // Two seeds need 12.7 standard errors.
        assert_eq!(Difference::of([1.0, 1.2]).sign, Sign::Unclear);
        assert_eq!(Difference::of([1.0, 1.1]).sign, Sign::Above);
        assert!((student(10) - 2.262).abs() < 1e-9 && student(1000) < 2.05);
    }

    #[test]
    fn gains_are_shares_of_the_other_and_nothing_gains_over_nothing() {
        let gain = Difference::gain(&[1.2, 4.0, 3.0], &[1.0, 0.0, 2.0]);
        assert!((gain.spread.mean - (0.2 + 0.0 + 0.5) / 3.0).abs() < 1e-12, "{gain:?}");
    }

    #[test]
    fn only_several_rivals_on_two_to_four_seeds_have_too_few() {
        let has = |policies: &str, seeds: usize| {
            let aous = vec![1.0; seeds];
            has_too_few_seeds(&outcome(policies, &vec![aous.as_slice(); policies.split(',').count()]))
        };
        assert!(has("oracle,esdp,cts", 2) && has("esdp,cts,lcf", 4));
        assert!(!has("oracle,esdp", 4), "the oracle is no rival");
        assert!(!has("esdp,cts", 1) && !has("esdp,cts", 5));
    }

    /// A short run, with the AOU of each policy and seed replaced.
    fn outcome(policies: &str, aous: &[&[f64]]) -> RunOutcome {
        let scenario = Scenario::preset("default").unwrap().set("policies", policies).unwrap();
        let seeds: Vec<u64> = (0..aous[0].len() as u64).collect();
        let mut outcome =
            simulate(&scenario, &Contender::of(&scenario), 3, &seeds, &Options::default()).unwrap();
        for (policy, aous) in outcome.policies.iter_mut().zip(aous) {
            policy.runs.iter_mut().zip(*aous).for_each(|(run, aou)| run.summary.aou = *aou);
        }
        outcome
    }

    #[test]
    fn all_that_are_not_clearly_worse_are_marked() {
        let aou = |summary: &Summary| Some(summary.aou);
        // Seeds differ by tens, policies by less: only the difference seed by seed tells.
        let near = outcome(
            "oracle,esdp,cts,lcf",
            &[
                &[90.0, 190.0, 290.0, 390.0, 490.0],
                &[10.0, 110.0, 210.0, 310.0, 410.0],
                &[10.1, 109.9, 209.9, 310.1, 409.9],
                &[5.0, 105.1, 205.2, 305.0, 405.1],
            ],
        );
        assert_eq!(leaders(&near.policies, aou, true), [false, true, true, false]);
        assert_eq!(leaders(&near.policies, aou, false), [false, false, false, true]);
        assert_eq!(leaders(&near.policies, |_| None, true), [false; 4]);
        // Few seeds: a policy that is far behind, but not evenly so, would be marked as well.
        let few: [&[f64]; 3] = [&[10.0, 10.0, 10.1, 9.9], &[9.0, 9.0, 9.1, 8.9], &[1.0, 9.9, 9.9, 9.9]];
        assert_eq!(leaders(&outcome("esdp,cts,lcf", &few).policies, aou, true), [false; 3]);
        let more: Vec<Vec<f64>> = few.iter().map(|few| [*few, &[few[3]]].concat()).collect();
        let more: Vec<&[f64]> = more.iter().map(Vec::as_slice).collect();
        assert_eq!(leaders(&outcome("esdp,cts,lcf", &more).policies, aou, true), [true, false, true]);
        // Equal, or one seed: no mark, for it would tell nothing.
        let equal = outcome("esdp,cts", &[&[7.0, 8.0, 9.0, 1.0, 2.0], &[7.0, 8.0, 9.0, 1.0, 2.0]]);
        assert_eq!(leaders(&equal.policies, aou, true), [false; 2]);
        let single = outcome("esdp,cts", &[&[9.0], &[7.0]]);
        assert_eq!(leaders(&single.policies, aou, true), [false; 2]);
    }
}
