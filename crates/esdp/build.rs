//! Tells one build of the library from another: a hash of its sources, for results that are kept and read
//! again.

#![allow(clippy::disallowed_methods, reason = "a build script reads files; the library does not")]
#![allow(clippy::print_stdout, reason = "cargo listens there")]

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in sources(Path::new("src")) {
        // The name with one separator everywhere.
        let name = file.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        let text = fs::read(&file).expect("a source file can be read");
        for &byte in name.as_bytes().iter().chain(&[0]).chain(&text).chain(&[0]) {
            // FNV-1a.
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=ESDP_SOURCES={hash:016x}");
}

/// The sources below a folder, in an order that is the same everywhere; what editors leave there does not
/// count.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    let is_source =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs" || extension == "toml");
    let below = |path: PathBuf| {
        if path.is_dir() { sources(&path) } else { vec![path].into_iter().filter(is_source).collect() }
    };
    paths.into_iter().flat_map(below).collect()
}
