//! What a sweep computes: its points and seeds, as a file that shards and merges agree on.

use super::part;
use super::vary::{Point, Vary, points};
use crate::engine::Unit;
use crate::files;
use anyhow::{Context, bail};
use esdp::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The most (point, seed) pairs.
const MOST_UNITS: usize = 1_000_000;

const FILE: &str = "plan.json";

/// `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: String,
    /// The scenario before anything is varied, resolved, as TOML.
    scenario: String,
    vary: Vec<Vary>,
}

/// The points of a sweep.
pub(super) struct Plan {
    pub(super) base: Scenario,
    pub(super) vary: Vec<Vary>,
    pub(super) points: Vec<Point>,
}

/// A (point, seed) pair and the name of its part.
pub(super) struct Piece {
    /// The position of its point.
    pub(super) point: usize,
    pub(super) seed: u64,
    pub(super) key: String,
}

impl Plan {
    /// Every combination of what is varied; the scenario's own sweep where nothing is.
    pub(super) fn new(base: Scenario, vary: Vec<Vary>) -> anyhow::Result<Self> {
        let vary = match (base.sweep(), vary.is_empty()) {
            (Some(sweep), true) => vec![Vary { key: sweep.key.clone(), values: sweep.values.clone() }],
            (None, true) => bail!("nothing to vary: give --vary KEY=VALUE,... or a scenario with a [sweep] table"),
            _ => vary,
        };
        let points = points(&base, &vary)?;
        let plan = Self { base, vary, points };
        let units: usize = plan.points.iter().map(|point| point.scenario.seeds().len()).sum();
        if units > MOST_UNITS {
            bail!("the sweep has {units} pairs of a point and a seed, at most {MOST_UNITS} are accepted");
        }
        Ok(plan)
    }

    /// Everything there is to compute, point after point.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let of = |(at, point): (usize, &Point)| {
            let key = part::key(&point.scenario);
            let piece = |&seed: &u64| Piece { point: at, seed, key: format!("{key:032x}-{seed}") };
            point.scenario.seeds().iter().map(piece).collect::<Vec<_>>()
        };
        self.points.iter().enumerate().flat_map(of).collect()
    }

    pub(super) fn unit(&self, piece: &Piece) -> Unit<'_> {
        let scenario = &self.points[piece.point].scenario;
        Unit { scenario, policies: scenario.policies(), slots: scenario.slots(), seed: piece.seed }
    }

    fn saved(&self) -> Saved {
        let version = esdp::BUILD.to_owned();
        Saved { version, scenario: self.base.to_toml(), vary: self.vary.clone() }
    }

    /// Writes `plan.json`.
    pub(super) fn save(&self, out: &Path) -> anyhow::Result<()> {
        files::write(&out.join(FILE), serde_json::to_string_pretty(&self.saved())? + "\n")
    }

    /// Reads the plan that all of the directories share.
    pub(super) fn load(directories: &[impl AsRef<Path>]) -> anyhow::Result<Self> {
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
        let plan = Scenario::from_toml(&saved.scenario).map_err(anyhow::Error::from);
        plan.and_then(|base| Self::new(base, saved.vary)).with_context(|| file.display().to_string())
    }
}

fn read(file: &Path) -> anyhow::Result<Saved> {
    let name = || file.display().to_string();
    let text = std::fs::read(file).context("cannot be read, is this the --out of a sweep?").with_context(name)?;
    serde_json::from_slice(&text).context("is no plan of a sweep").with_context(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(vary: &str, seeds: &str) -> Plan {
        let base = Scenario::preset("default").unwrap().set("seeds.count", seeds).unwrap();
        Plan::new(base, vec![vary.parse().unwrap()]).unwrap()
    }

    #[test]
    fn a_part_is_named_by_what_its_numbers_depend_on() {
        let keys = |plan: &Plan| plan.pieces().into_iter().map(|piece| piece.key).collect::<Vec<_>>();
        let (two, three) = (keys(&plan("slots=10,20", "2")), keys(&plan("slots=20,30", "3")));
        assert_eq!((two.len(), three.len()), (4, 6));
        // slots=20, seeds 0 and 1.
        assert_eq!(two[2..], three[..2]);
        let unique: std::collections::HashSet<&String> = two.iter().chain(&three).collect();
        assert_eq!(unique.len(), 8);
    }

    #[test]
    fn a_plan_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan("arrivals.rho=0.1,0.2", "2");
        plan.save(dir.path()).unwrap();
        let back = Plan::load(&[dir.path(), dir.path()]).unwrap();
        assert_eq!((back.vary, back.base), (plan.vary, plan.base));
        assert!(Plan::load(&[dir.path().join("none")]).is_err());
        let saved = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        std::fs::write(dir.path().join(FILE), saved.replace(esdp::BUILD, "0.1.0+0123456789abcdef")).unwrap();
        let error = Plan::load(&[dir.path()]).err().unwrap().to_string();
        assert!(error.contains("made by esdp 0.1.0+0123456789abcdef, this is"), "{error}");
        let alone = Plan::new(Scenario::preset("default").unwrap(), Vec::new());
        assert!(alone.err().unwrap().to_string().starts_with("nothing to vary"));
        assert_eq!(Plan::new(Scenario::preset("rho").unwrap(), Vec::new()).unwrap().points.len(), 10);
    }
}
