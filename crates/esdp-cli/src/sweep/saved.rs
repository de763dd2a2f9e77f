//! `plan.json`: what a sweep computes, as a file that shards and merges agree on.

use crate::{files, output};
use anyhow::{Context, anyhow, bail};
use esdp::scenario::Scenario;
use esdp_engine::sweep::{SweepPlan, Vary};
use esdp_engine::{SweepError, part};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "plan.json";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: String,
    /// The scenario before anything is varied, resolved, as TOML.
    scenario: String,
    vary: Vec<Vary>,
}

/// The plan of a sweep.
///
/// # Errors
/// With the flag that is to blame.
pub(super) fn plan(base: Scenario, vary: Vec<Vary>) -> anyhow::Result<SweepPlan> {
    SweepPlan::new(base, vary).map_err(|error| match error {
        SweepError::KeyTwice { .. } | SweepError::Value { .. } => anyhow!("--vary {error}"),
        SweepError::TooManyPoints { .. } => anyhow!("--vary: {error}"),
        other => other.into(),
    })
}

/// Writes `plan.json`.
pub(super) fn save(plan: &SweepPlan, out: &Path) -> anyhow::Result<()> {
    let version = esdp::BUILD.to_owned();
    let saved = Saved { version, scenario: plan.base.to_toml(), vary: plan.vary.clone() };
    files::write(&out.join(FILE), serde_json::to_string_pretty(&saved)? + "\n")
}

/// Moves the result of another sweep, or of a run, out of the way, and says so. A plan with more values or
/// seeds goes on with what is there, whichever build made it.
pub(super) fn keep_other(plan: &SweepPlan, out: &Path, quiet: bool) -> anyhow::Result<()> {
    let what = match read(&out.join(FILE)) {
        Ok(saved) if extends(plan, &saved) => return Ok(()),
        Ok(saved) => saved.vary.iter().map(|vary| vary.key.as_str()).collect::<Vec<_>>().join(" and "),
        Err(_) if out.join("summary.json").exists() => "of a run".to_owned(),
        Err(_) => return Ok(()),
    };
    let place = files::keep_earlier(out, &[])?;
    if !quiet {
        let (out, place) = (out.display(), place.display());
        output::note(&format!("{out} held another result ({what}): moved to {place}"));
    }
    Ok(())
}

/// Whether a plan has all points and seeds of an earlier one.
fn extends(plan: &SweepPlan, saved: &Saved) -> bool {
    let Ok(base) = Scenario::from_toml(&saved.scenario) else { return false };
    let same_keys = plan.vary.len() == saved.vary.len();
    let has = |(now, before): (&Vary, &Vary)| {
        now.key == before.key && before.values.iter().all(|value| now.values.contains(value))
    };
    same_keys
        && plan.vary.iter().zip(&saved.vary).all(has)
        && base.seeds().iter().all(|seed| plan.base.seeds().contains(seed))
        && part::key(&base) == part::key(&plan.base)
}

/// Reads the plan that all of the directories share.
pub(super) fn load(directories: &[impl AsRef<Path>]) -> anyhow::Result<SweepPlan> {
    let mut first: Option<(&Path, Saved)> = None;
    for directory in directories {
        let directory = directory.as_ref();
        let saved = read(&directory.join(FILE))?;
        match &first {
            None => first = Some((directory, saved)),
            Some((other, plan)) if *plan != saved => {
                bail!("{} and {} hold parts of different sweeps", other.display(), directory.display())
            }
            Some(_) => {}
        }
    }
    let Some((directory, saved)) = first else { bail!("no directory to merge") };
    let file = directory.join(FILE);
    let ours = esdp::BUILD;
    if saved.version != ours {
        bail!("{}: made by esdp {}, this is {ours}, whose numbers may differ", file.display(), saved.version);
    }
    let base = Scenario::from_toml(&saved.scenario).map_err(anyhow::Error::from);
    base.and_then(|base| plan(base, saved.vary)).with_context(|| file.display().to_string())
}

fn read(file: &Path) -> anyhow::Result<Saved> {
    let name = || file.display().to_string();
    let text =
        std::fs::read(file).context("cannot be read, is this the --out of a sweep?").with_context(name)?;
    serde_json::from_slice(&text).context("is not the plan of a sweep").with_context(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let base = Scenario::preset("default").unwrap().with_seed_count(2).unwrap();
        let plan = plan(base, vec!["arrivals.rho=0.1,0.2".parse().unwrap()]).unwrap();
        save(&plan, dir.path()).unwrap();
        let back = load(&[dir.path(), dir.path()]).unwrap();
        assert_eq!((back.vary, back.base), (plan.vary, plan.base));
        assert!(load(&[dir.path().join("none")]).is_err());
        let saved = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        std::fs::write(dir.path().join(FILE), saved.replace(esdp::BUILD, "0.1.0+0123456789abcdef")).unwrap();
        let error = load(&[dir.path()]).err().unwrap().to_string();
        assert!(error.contains("made by esdp 0.1.0+0123456789abcdef, this is"), "{error}");
    }

    #[test]
    fn a_plan_with_more_values_or_seeds_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let of = |seeds: u64, slots: u64, vary: &str| {
            let base = Scenario::preset("default").unwrap().with_seed_count(seeds).unwrap();
            plan(base.with_slots(slots).unwrap(), vec![vary.parse().unwrap()]).unwrap()
        };
        save(&of(2, 9, "arrivals.rho=0.1,0.2"), dir.path()).unwrap();
        let saved = read(&dir.path().join(FILE)).unwrap();
        assert!(extends(&of(3, 9, "arrivals.rho=0.2,0.3,0.1"), &saved));
        assert!(!extends(&of(1, 9, "arrivals.rho=0.1,0.2"), &saved), "a seed less");
        assert!(!extends(&of(2, 9, "arrivals.rho=0.1"), &saved), "a value less");
        assert!(!extends(&of(2, 8, "arrivals.rho=0.1,0.2"), &saved), "other slots");
        assert!(!extends(&of(2, 9, "graph.ports=4,5"), &saved), "another key");
    }

    #[test]
    fn the_flag_is_named() {
        let refused = |vary: &[&str]| {
            let vary = vary.iter().map(|text| text.parse().unwrap()).collect();
            plan(Scenario::preset("default").unwrap(), vary).unwrap_err().to_string()
        };
        let value = refused(&["arrivals.rho=1.5"]);
        assert!(value.starts_with("--vary arrivals.rho=1.5: `arrivals.rho` is 1.5, expected"), "{value}");
        assert!(refused(&["slots=1", "slots=2"]).starts_with("--vary slots: the key is varied twice"));
        assert!(refused(&[]).starts_with("nothing to vary: give --vary"));
    }
}
