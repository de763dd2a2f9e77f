//! Slurm, of which the tests of `esdp slurm` start clusters of their own
//! (`crates/esdp-cluster/src/testbed/`).

use std::path::PathBuf;

use crate::apt::Needed;

/// Debian's package; it depends on munge and on the clients.
pub(crate) const SLURM: Needed = Needed {
    package: "slurm-wlm",
    test: "the tests of esdp slurm",
    is_installed,
    ask: "the tests of esdp slurm start clusters of their own: install Slurm with `sudo apt install \
          slurm-wlm munge` \
          (Debian, Ubuntu), so that slurmctld, slurmd, munged and sbatch are there, and run the tests as \
          root",
};

/// The programs of tests that start clusters of Slurm, as Cargo is told of them.
pub(crate) const OF_SLURM: [&str; 4] = ["--test", "testbed", "--test", "slurm_*"];

/// Whether a program of tests is one of them, by its name.
pub(crate) fn is_started_by(test: &str) -> bool {
    test == "testbed" || test.starts_with("slurm_")
}

/// Not by running them: daemons are not on every user's search path.
fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> =
        std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect();
    let there = |program: &str| places.iter().any(|place| place.join(program).is_file());
    ["slurmctld", "slurmd", "munged", "sbatch"].into_iter().all(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_chosen_as_cargo_chooses_them() {
        assert!(is_started_by("testbed") && is_started_by("slurm_arms") && !is_started_by("serve"));
        assert!(OF_SLURM.contains(&"testbed") && OF_SLURM.contains(&"slurm_*"));
    }

    #[test]
    fn the_message_says_what_to_install() {
        assert!(SLURM.ask.contains("apt install slurm-wlm munge"));
    }
}
