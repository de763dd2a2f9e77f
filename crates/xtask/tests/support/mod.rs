//! Reading the workspace for the architecture test.

pub(crate) mod code;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the checkout this test was built from.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every `.rs` file below the folder, by its path from there, with its text.
pub(crate) fn rust_files(folder: &Path) -> Vec<(PathBuf, String)> {
    files(folder, &["rs"])
}

/// Every file with one of these endings below the folder, by its path from there, with its text. What was
/// built is left out.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend((!path.ends_with("target")).then_some(path));
            } else if path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending)) {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path.strip_prefix(folder).unwrap().to_owned(), text));
            }
        }
    }
    // The order of a folder is not the same everywhere; that of a message should be.
    files.sort();
    files
}

/// The manifest of every crate below `crates/`, by the name of its folder.
pub(crate) fn member_manifests() -> Vec<(String, String)> {
    let mut manifests = Vec::new();
    for entry in fs::read_dir(workspace_root().join("crates")).unwrap() {
        let entry = entry.unwrap();
        if let Ok(text) = fs::read_to_string(entry.path().join("Cargo.toml")) {
            manifests.push((entry.file_name().to_string_lossy().into_owned(), text));
        }
    }
    manifests.sort();
    manifests
}
