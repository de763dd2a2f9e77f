//! By how much learning pays, and how far the oracle is: in a sentence for each policy that learns.

use esdp_engine::{PolicyOutcome, RunOutcome, Spread};

/// Policies that do not weigh what they learn against what it costs to learn it.
const BASELINES: [&str; 5] = ["hauf", "lcf", "lwtf", "random", "first-fit"];

/// A number of a policy under each seed.
type Number = fn(&PolicyOutcome) -> Vec<f64>;

fn completion(policy: &PolicyOutcome) -> Vec<f64> {
    policy.runs.iter().map(|run| run.summary.jobs.mean_completion().unwrap_or(f64::NAN)).collect()
}

fn aou(policy: &PolicyOutcome) -> Vec<f64> {
    policy.runs.iter().map(|run| run.summary.aou).collect()
}

/// The sentences; none where there is nobody to compare with.
pub(super) fn sentences(outcome: &RunOutcome) -> Vec<String> {
    // By what they are and not by their labels, which a scenario may choose.
    let is =
        |policy: &PolicyOutcome, names: &[&str]| policy.spec.as_ref().is_some_and(|spec| names.contains(&spec.name()));
    let baselines: Vec<&PolicyOutcome> = outcome.policies.iter().filter(|policy| is(policy, &BASELINES)).collect();
    let oracle = outcome.policies.iter().find(|policy| is(policy, &["oracle"]));
    let learners = outcome.policies.iter().filter(|policy| !is(policy, &BASELINES) && !is(policy, &["oracle"]));
    let sentence = |policy: &PolicyOutcome| {
        let (quick, jct) = against_best(policy, &baselines, completion, |a, b| a < b)?;
        let (rich, aou) = against_best(policy, &baselines, aou, |a, b| a > b)?;
        let mut text = format!(
            "{}: mean JCT {} against the best baseline ({quick}), AOU {} ({rich})",
            policy.label,
            percent(&jct),
            percent(&aou)
        );
        if let Some(oracle) = oracle {
            let change = change(policy, oracle, completion);
            let word = if change.mean < 0.0 { "faster" } else { "slower" };
            text += &format!("; {} {word} than the oracle", percent(&change).trim_start_matches(['+', '-']));
        }
        Some(text)
    };
    learners.filter_map(sentence).collect()
}

/// The best baseline by its mean, and the change against it.
fn against_best(
    policy: &PolicyOutcome,
    baselines: &[&PolicyOutcome],
    number: Number,
    better: fn(f64, f64) -> bool,
) -> Option<(String, Spread)> {
    let mean = |policy: &PolicyOutcome| Spread::of(number(policy)).mean;
    let best =
        baselines.iter().copied().reduce(|best, other| if better(mean(other), mean(best)) { other } else { best })?;
    Some((best.label.clone(), change(policy, best, number)))
}

/// The relative change, seed by seed.
fn change(policy: &PolicyOutcome, other: &PolicyOutcome, number: Number) -> Spread {
    Spread::of(number(policy).into_iter().zip(number(other)).map(|(own, other)| own / other - 1.0))
}

fn percent(spread: &Spread) -> String {
    match spread.n {
        0 | 1 => format!("{:+.1} %", 100.0 * spread.mean),
        _ => format!("{:+.1} ± {:.1} %", 100.0 * spread.mean, 100.0 * spread.stderr),
    }
}
