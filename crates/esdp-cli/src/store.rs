//! Parts in files: what makes a sweep, and a reproduction, go on where it stopped.

use crate::files;
use esdp_engine::{PolicyRun, Unit, part};
use std::path::{Path, PathBuf};

/// The directory of parts in that of the results.
pub(crate) const DIRECTORY: &str = "parts";

fn path(directory: &Path, key: &str) -> PathBuf {
    directory.join(DIRECTORY).join(format!("{key}.json"))
}

/// Stores the results of a unit under a key.
///
/// # Errors
/// With the file and what the system says.
pub(crate) fn store(
    directory: &Path,
    key: &str,
    unit: &Unit<'_>,
    runs: Vec<PolicyRun>,
) -> anyhow::Result<()> {
    files::write(&path(directory, key), part::encode(key, unit, runs)?)
}

/// The results under a key, from the first of the directories that has them in good order.
pub(crate) fn load(directories: &[impl AsRef<Path>], key: &str, unit: &Unit<'_>) -> Option<Vec<PolicyRun>> {
    let read = |directory: &Path| part::decode(key, unit, &std::fs::read(path(directory, key)).ok()?);
    directories.iter().find_map(|directory| read(directory.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp::scenario::Scenario;
    use esdp_engine::{Contender, Options, run};

    #[test]
    fn the_first_good_part_counts() {
        let dir = tempfile::tempdir().unwrap();
        let scenario = Scenario::preset("default").unwrap().set("policies", "hauf").unwrap();
        let policies = &Contender::of(&scenario);
        let unit = Unit { scenario: &scenario, policies, slots: 20, seed: 0 };
        let runs = run(&[unit], &Options::default(), &|_, _| Ok(())).unwrap().remove(0).unwrap();
        let directories = ["none", "damaged", "good"].map(|name| dir.path().join(name));
        for directory in &directories[1..] {
            files::directory(&directory.join(DIRECTORY)).unwrap();
        }
        assert!(load(&directories, "key", &unit).is_none());
        store(&directories[2], "key", &unit, runs.clone()).unwrap();
        std::fs::write(path(&directories[1], "key"), "{}").unwrap();
        // What was learned of channels is not kept: sweeps, which go on from parts, do not show it.
        let kept = runs.into_iter().map(|run| PolicyRun { estimates: Vec::new(), ..run }).collect();
        assert_eq!(load(&directories, "key", &unit), Some(kept));
        assert!(load(&directories[..2], "key", &unit).is_none());
    }
}
