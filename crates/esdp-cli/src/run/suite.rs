//! `esdp run --suite`: the scenarios that a policy is judged by, in one table.

use super::{CommonArgs, ResultFormat, simulate};
use crate::exit::End;
use crate::source::SourceArgs;
use crate::{files, output};
use esdp::scenario::{SUITE, Scenario};
use esdp::sim::Summary;
use esdp_engine::{FEWEST_SEEDS, PolicyOutcome, PolicyRun, Spread, TOO_FEW_SEEDS, leaders};
use esdp_report::csv::line;
use esdp_report::table::TextTable;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Who is compared by default.
const POLICIES: [&str; 6] = ["esdp", "esdp-pooled", "esdp-index", "esdp-drift", "cts", "cucb"];
const SEEDS: u64 = 12;

/// A policy on a scenario.
#[derive(Debug, Clone, Serialize)]
struct Score {
    scenario: String,
    slots: u64,
    seeds: Vec<u64>,
    policy: String,
    oracle_ratio_mean: f64,
    /// None of one seed.
    oracle_ratio_stderr: Option<f64>,
    /// How much better the best policy is here, seed by seed: mean and standard error; 0 for the best.
    behind_mean: f64,
    behind_stderr: Option<f64>,
    /// Whether it is marked: nobody is clearly better.
    #[serde(skip)]
    leads: bool,
}

/// Runs the whole suite and prints one table.
pub(super) fn run(source: &SourceArgs, common: &CommonArgs) -> anyhow::Result<()> {
    let out = common.out.clone().unwrap_or_else(|| PathBuf::from("out/suite"));
    files::directory(&out)?;
    let mut scores: Vec<Score> = Vec::new();
    let scenario = |(preset, slots)| Ok((preset, source.of_suite(preset, slots, &POLICIES, SEEDS)?));
    let scenarios: Vec<(&str, Scenario)> = SUITE.into_iter().map(scenario).collect::<anyhow::Result<_>>()?;
    if is_other(&out, &scenarios) {
        let place = files::keep_earlier(&out, &[])?;
        if !common.quiet {
            let (out, place) = (out.display(), place.display());
            output::note(&format!("{out} held another result of the suite: moved to {place}"));
        }
    }
    for (preset, scenario) in scenarios {
        let outcome = simulate(&with_oracle(&scenario)?, common, None)?;
        if !outcome.is_complete() {
            return Err(
                End::Interrupted(format!("interrupted in {preset}; nothing was written for it")).into()
            );
        }
        let asked = |score: &Score| scenario.policies().iter().any(|policy| policy.label == score.policy);
        scores.extend(
            judged(preset, outcome.slots, &outcome.seeds, &outcome.policies).into_iter().filter(asked),
        );
        // Written after each: the whole takes long.
        files::write(&out.join("suite.csv"), csv(&scores))?;
        files::write(&out.join("suite.json"), serde_json::to_string_pretty(&scores)? + "\n")?;
    }
    match common.format {
        ResultFormat::Json => output::print_json(&scores),
        ResultFormat::Csv => output::print(&csv(&scores)),
        ResultFormat::Table => {
            let out = out.display();
            output::print(&format!("{}\nAlso written: {out}/suite.json, {out}/suite.csv\n", table(&scores)))
        }
    }
}

/// Whether the directory holds a suite of other policies, seeds or slots.
fn is_other(out: &Path, scenarios: &[(&str, Scenario)]) -> bool {
    let Ok(text) = std::fs::read(out.join("suite.json")) else { return false };
    let Ok(serde_json::Value::Array(scores)) = serde_json::from_slice(&text) else { return true };
    scores.iter().any(|score| {
        !scenarios.iter().any(|(preset, scenario)| {
            score["scenario"] == *preset
                && score["slots"] == scenario.slots()
                && score["seeds"] == json!(scenario.seeds())
                && scenario.policies().iter().any(|policy| score["policy"] == policy.label.as_str())
        })
    })
}

/// The same scenario with the oracle among the policies, if they are measured by its completion times.
fn with_oracle(scenario: &Scenario) -> anyhow::Result<Scenario> {
    let labels = || scenario.policies().iter().map(|policy| policy.label.as_str());
    if !scenario.holds_devices() || labels().any(|label| label == "oracle") {
        return Ok(scenario.clone());
    }
    Ok(scenario.choose(labels().chain(["oracle"]))?)
}

/// Where jobs wait and hold their devices, the ratio is the oracle's mean completion time over the policy's.
fn judged(preset: &str, slots: u64, seeds: &[u64], policies: &[PolicyOutcome]) -> Vec<Score> {
    let ratios = |policy: &PolicyOutcome| -> Vec<f64> {
        let own = |run: &PolicyRun| run.summary.jobs.mean_completion();
        let oracle = policies.iter().find(|policy| policy.is_oracle()).map_or(&[][..], |oracle| &oracle.runs);
        let sooner = |(at, run): (usize, &PolicyRun)| Some(own(oracle.get(at)?)? / own(run)?);
        let ratio = |(at, run): (usize, &PolicyRun)| run.summary.oracle_ratio().or_else(|| sooner((at, run)));
        policy.runs.iter().enumerate().map(|run| ratio(run).unwrap_or(1.0)).collect()
    };
    let all: Vec<Vec<f64>> = policies.iter().map(ratios).collect();
    let mean = |ratios: &Vec<f64>| Spread::of(ratios.iter().copied()).mean;
    let best = all.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).cloned().unwrap_or_default();
    let leads = match policies.iter().any(|policy| policy.completion().is_some()) {
        true => leaders(policies, |summary| summary.jobs.mean_completion(), false),
        false => leaders(policies, Summary::oracle_ratio, true),
    };
    let score = |((policy, own), leads): ((&PolicyOutcome, &Vec<f64>), bool)| {
        let ratio = Spread::of(own.iter().copied());
        let behind = Spread::of(best.iter().zip(own).map(|(best, own)| best - own));
        Score {
            scenario: preset.to_owned(),
            slots,
            seeds: seeds.to_vec(),
            policy: policy.label.clone(),
            oracle_ratio_mean: ratio.mean,
            oracle_ratio_stderr: ratio.error(),
            behind_mean: behind.mean,
            behind_stderr: behind.error(),
            leads,
        }
    };
    policies.iter().zip(&all).zip(leads).map(score).collect()
}

fn csv(scores: &[Score]) -> String {
    let head = [
        "scenario",
        "slots",
        "policy",
        "oracle_ratio_mean",
        "oracle_ratio_stderr",
        "behind_mean",
        "behind_stderr",
    ];
    let mut text = line(head);
    for score in scores {
        let numbers = [
            Some(score.oracle_ratio_mean),
            score.oracle_ratio_stderr,
            Some(score.behind_mean),
            score.behind_stderr,
        ];
        let cell = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let names = [score.scenario.clone(), score.slots.to_string(), score.policy.clone()];
        text += &line(names.into_iter().chain(numbers.map(cell)));
    }
    text
}

/// One row per scenario, one column per policy; the best are marked.
fn table(scores: &[Score]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut policies: Vec<&str> = Vec::new();
    for score in scores {
        if !names.contains(&score.scenario.as_str()) {
            names.push(&score.scenario);
        }
        if !policies.contains(&score.policy.as_str()) {
            policies.push(&score.policy);
        }
    }
    let header: Vec<&str> = ["oracle ratio", "slots"].into_iter().chain(policies.iter().copied()).collect();
    let mut table = TextTable::new(&header);
    for name in names {
        let row: Vec<&Score> = scores.iter().filter(|score| score.scenario == name).collect();
        let cell = |score: &&Score| {
            let star = if score.leads { "*" } else { "" };
            let error = score.oracle_ratio_stderr.map(|error| format!(" ± {error:.4}")).unwrap_or_default();
            format!("{:.4}{error}{star}", score.oracle_ratio_mean)
        };
        let slots = row.first().map_or(0, |score| score.slots);
        table.row([name.to_owned(), slots.to_string()].into_iter().chain(row.iter().map(cell)));
    }
    let seeds = scores.first().map_or(0, |score| score.seeds.len());
    let what = match seeds < FEWEST_SEEDS {
        true => TOO_FEW_SEEDS,
        false => "*: the best, and all that are not clearly worse seed by seed",
    };
    format!(
        "{}{seeds} seeds; mean ± standard error; {what}\ngang-queue: the oracle's mean completion time over the \
         policy's\n",
        table.render()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_of_other_seeds_slots_or_policies_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let scenario =
            Scenario::preset("default").unwrap().with_slots(9).unwrap().with_seed_count(2).unwrap();
        let scenarios = [("default", scenario)];
        assert!(!is_other(dir.path(), &scenarios), "nothing is there");
        let other = |change: fn(&mut serde_json::Value)| {
            let mut score = json!({"scenario": "default", "slots": 9, "seeds": [0, 1], "policy": "esdp"});
            change(&mut score);
            std::fs::write(dir.path().join("suite.json"), json!([score]).to_string()).unwrap();
            is_other(dir.path(), &scenarios)
        };
        assert!(!other(|_| ()));
        assert!(other(|score| score["slots"] = json!(10)));
        assert!(other(|score| score["seeds"] = json!([0])));
        assert!(other(|score| score["policy"] = json!("escb")));
    }
}
