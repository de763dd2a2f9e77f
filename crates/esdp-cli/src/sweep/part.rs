//! The results of one point and seed, in a file of its own: what makes a sweep, and a reproduction, resumable.
//!
//! A part is named by a hash of what it was computed from, and holds a hash of what it holds. One that is
//! missing, cut short or damaged is computed again.

use super::plan::Piece;
use crate::engine::{PolicyRun, Unit};
use crate::files;
use esdp::scenario::Scenario;
use esdp::sim::{Point, Summary};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The directory of parts in that of the results.
pub(crate) const DIRECTORY: &str = "parts";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    key: String,
    /// The hash of `policies` as JSON.
    sum: String,
    policies: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    label: String,
    summary: Summary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    series: Vec<Point>,
}

fn path(directory: &Path, key: &str) -> PathBuf {
    directory.join(DIRECTORY).join(format!("{key}.json"))
}

/// What the numbers of a scenario depend on: the version and the scenario, not which seeds it lists.
pub(crate) fn key(scenario: &Scenario) -> u128 {
    let seedless = scenario.set("seeds.list", "[0]").map(|scenario| scenario.to_toml());
    // Every scenario takes a list of seeds; were that to change, all seeds would count.
    let text = seedless.unwrap_or_else(|_| scenario.to_toml());
    hash([env!("CARGO_PKG_VERSION").as_bytes(), text.as_bytes()])
}

fn sum(entries: &[Entry]) -> anyhow::Result<String> {
    Ok(format!("{:032x}", hash([serde_json::to_vec(entries)?.as_slice()])))
}

/// Stores the results of a piece.
pub(super) fn store(directory: &Path, piece: &Piece, unit: &Unit<'_>, runs: Vec<PolicyRun>) -> anyhow::Result<()> {
    store_as(directory, &piece.key, unit, runs)
}

/// Stores results, with their curves if they have any, under a key.
pub(crate) fn store_as(directory: &Path, key: &str, unit: &Unit<'_>, runs: Vec<PolicyRun>) -> anyhow::Result<()> {
    let entry =
        |(label, run): (&String, PolicyRun)| Entry { label: label.clone(), summary: run.summary, series: run.series };
    let policies: Vec<Entry> = unit.policies.iter().map(|policy| &policy.label).zip(runs).map(entry).collect();
    let part = Part { key: key.to_owned(), sum: sum(&policies)?, policies };
    files::write(&path(directory, key), serde_json::to_string(&part)? + "\n")
}

/// The results of a piece, from the first of the directories that has them in good order.
pub(super) fn load(directories: &[PathBuf], piece: &Piece, unit: &Unit<'_>) -> Option<Vec<PolicyRun>> {
    directories.iter().find_map(|directory| load_as(directory, &piece.key, unit))
}

/// The results under a key, if they are there and in good order.
pub(crate) fn load_as(directory: &Path, key: &str, unit: &Unit<'_>) -> Option<Vec<PolicyRun>> {
    let part: Part = serde_json::from_slice(&std::fs::read(path(directory, key)).ok()?).ok()?;
    let labels = part.policies.iter().map(|entry| &entry.label);
    let fits = part.key == key
        && labels.eq(unit.policies.iter().map(|policy| &policy.label))
        && part.policies.iter().all(|entry| entry.summary.slots == unit.slots)
        && sum(&part.policies).ok()? == part.sum;
    let run = |entry: Entry| PolicyRun { summary: entry.summary, series: entry.series, insights: Vec::new() };
    fits.then(|| part.policies.into_iter().map(run).collect())
}

/// FNV-1a in 128 bits: names files, and notices damage. It is not there against malice.
fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    parts.into_iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, part| {
        // A byte that ends the part: "ab", "c" is not "a", "bc".
        step(part.iter().fold(hash, |hash, &byte| step(hash, byte)), 0xff)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Options, run};
    use crate::sweep::plan::Plan;
    use esdp::scenario::Scenario;

    #[test]
    fn what_is_damaged_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let base = Scenario::preset("default").unwrap().set("policies", "esdp, hauf").unwrap();
        let base = base.set("seeds.count", "1").unwrap();
        let plan = Plan::new(base, vec!["slots=40".parse().unwrap()]).unwrap();
        let piece = &plan.pieces()[0];
        let unit = plan.unit(piece);
        let runs = run(&[unit], &Options::default(), &|_, _| Ok(())).unwrap().remove(0).unwrap();

        std::fs::create_dir(dir.path().join(DIRECTORY)).unwrap();
        let directories = [dir.path().join("none"), dir.path().to_owned()];
        assert!(load(&directories, piece, &unit).is_none());
        store(dir.path(), piece, &unit, runs.clone()).unwrap();
        let back = load(&directories, piece, &unit).unwrap();
        assert!(back.iter().zip(&runs).all(|(back, run)| back.summary == run.summary));

        let path = path(dir.path(), &piece.key);
        let text = std::fs::read_to_string(&path).unwrap();
        let digit = text.find("\"aou\":").unwrap() + 6;
        let other = if text[digit..].starts_with('7') { '8' } else { '7' };
        let changed = format!("{}{other}{}", &text[..digit], &text[digit + 1..]);
        for damaged in [&text[..text.len() / 2], "", "{}", changed.as_str()] {
            std::fs::write(&path, damaged).unwrap();
            assert!(load(&directories, piece, &unit).is_none(), "{damaged}");
        }
    }

    #[test]
    fn the_hash_is_fnv() {
        // From the reference: the empty text, then our end of part.
        assert_eq!(hash([]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_ne!(hash(["ab".as_bytes(), b"c"]), hash(["a".as_bytes(), b"bc"]));
    }
}
