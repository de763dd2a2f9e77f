//! The kept inputs of every kind, and mutants of them: as many as `ESDP_FUZZ` says, or some hundreds.

use esdp_fuzz::mutate::{Mutator, corpus};
use esdp_fuzz::{TARGETS, Target};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

/// How many mutants of each kind are tried where nothing is said; each kind takes a few seconds.
const TRIES: u64 = 1000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

fn tries() -> u64 {
    let Ok(text) = std::env::var("ESDP_FUZZ") else { return TRIES };
    text.parse().expect("ESDP_FUZZ: expected a whole number")
}

/// Runs one input; one that fails is kept, and said where.
fn hold((name, hold): Target, input: &[u8], what: &str) {
    if panic::catch_unwind(AssertUnwindSafe(|| hold(input))).is_err() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failed-{name}"));
        std::fs::write(&file, input).expect("the input can be kept");
        panic!("{name}: {what} fails; it is kept in {}, see above for why", file.display());
    }
}

fn kept_and_mutants(target: Target) {
    let corpus = corpus(&folder(target.0));
    for (name, input) in &corpus {
        hold(target, input, name);
    }
    let seed = std::env::var("ESDP_FUZZ_SEED")
        .map_or(14, |text| text.parse().expect("ESDP_FUZZ_SEED: a whole number"));
    let mut mutator = Mutator::new(&corpus, seed);
    for number in 0..tries() {
        hold(target, &mutator.input(), &format!("mutant {number} of seed {seed}"));
    }
}

#[test]
fn solve() {
    kept_and_mutants(TARGETS[0]);
}

#[test]
fn scenario() {
    kept_and_mutants(TARGETS[1]);
}

#[test]
fn trace() {
    kept_and_mutants(TARGETS[2]);
}

#[test]
fn checkpoint() {
    kept_and_mutants(TARGETS[3]);
}

/// Every kind has a corpus and a target for libFuzzer, and no corpus is without its kind.
#[test]
fn kinds_corpora_and_targets_are_the_same() {
    let mut folders: Vec<String> = std::fs::read_dir(folder("."))
        .expect("the corpora")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut names = TARGETS.map(|(name, _)| name);
    names.sort_unstable();
    assert_eq!(folders, names);
    for name in names {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/fuzz_targets/{name}.rs"));
        assert!(
            std::fs::read_to_string(file)
                .expect("a target")
                .contains(&format!("esdp_fuzz::{name}::hold(data)"))
        );
    }
}
