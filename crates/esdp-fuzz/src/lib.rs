//! Contracts that hold for any bytes: one function per kind of input that others may write.
//!
//! | module | input |
//! |---|---|
//! | [`solve`] | a problem of `esdp solve`, JSON |
//! | [`scenario`] | a scenario, TOML |
//! | [`trace`] | a trace, in any format |
//! | [`checkpoint`] | a scheduler's saved state |
//! | [`mutate`] | new inputs from old ones, by a seeded generator |
//!
//! Each `hold` panics if its contract is broken; that is its purpose. Three programs call them:
//! `tests/corpus.rs` with the inputs in `corpus/` and some hundreds of mutants of them, wherever the tests
//! run; `cargo xtask fuzz` with many more mutants; and the targets in `fuzz/`, which libFuzzer guides by
//! coverage and which need a nightly toolchain.

pub mod checkpoint;
pub mod mutate;
pub mod scenario;
pub mod solve;
pub mod trace;

/// A kind of input: its name, which is that of its folder in `corpus/` and of its target in `fuzz/`, and its
/// function.
pub type Target = (&'static str, fn(&[u8]));

/// Every kind of input.
pub const TARGETS: [Target; 4] = [
    ("solve", solve::hold),
    ("scenario", scenario::hold),
    ("trace", trace::hold),
    ("checkpoint", checkpoint::hold),
];

/// An error as a user reads it: one sentence of bounded length, which says nothing of how the program is
/// made.
fn sentence(text: &str) {
    assert!(!text.is_empty() && !text.contains('\n'), "not one sentence: {text:?}");
    assert!(text.chars().count() < 1000, "a sentence of {} characters", text.chars().count());
    for inner in [
        "untagged enum",
        "variant identifier",
        "string only",
        "value was too large",
        "number overflowed",
        "as i128",
    ] {
        assert!(!text.contains(inner), "the reader's own words: {text}");
    }
}
