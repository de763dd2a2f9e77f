//! Crates point one way (they are named by their folders here: `esdp` is the package `esdp-core`, `esdp-cli`
//! the package `esdp`), and every crate can be packaged: what its sources include is in its package, and
//! nothing beside the crate is needed.
//!
//! `cargo package` lists and packs here without a build and without a network. What a build would then miss
//! are files that a source includes from elsewhere, so those are looked for in the texts.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// What reads a file while the crate is built, up to the text that names it.
const INCLUDES: &[&str] = &["include_str!(", "include_bytes!(", "include!(", "#[path ="];

/// What each crate may use of the others.
const ARROWS: &[(&str, &[&str])] = &[
    ("esdp", &[]),
    ("esdp-report", &[]),
    ("esdp-engine", &["esdp", "esdp-report"]),
    ("esdp-milp", &["esdp"]),
    ("esdp-trace", &["esdp"]),
    ("esdp-fuzz", &["esdp", "esdp-cli", "esdp-trace"]),
    ("esdp-serve", &["esdp"]),
    ("esdp-cluster", &["esdp", "esdp-serve", "esdp-trace"]),
    (
        "esdp-cli",
        &["esdp", "esdp-cluster", "esdp-engine", "esdp-milp", "esdp-report", "esdp-serve", "esdp-trace"],
    ),
];

#[test]
fn crates_use_those_below_them() {
    for name in crates() {
        let manifest = workspace_root().join("crates").join(&name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        let used = own_dependencies(&manifest);
        let allowed = ARROWS.iter().find(|(of, _)| *of == name).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("{name} has no place: give it a row in ARROWS"));
        assert_eq!(used, allowed, "what {name} uses, and what it may use");
    }
}

/// The crates of this workspace among a manifest's dependencies, those for tests aside.
fn own_dependencies(manifest: &str) -> Vec<&str> {
    let section = manifest.split("\n[").find_map(|section| section.strip_prefix("dependencies]"));
    let names = section
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once([' ', '.']))
        .map(|(name, _)| name);
    names.filter(|name| name.starts_with("esdp")).collect()
}

/// A release build with overflow checks is among the tests: that of the library, where the arithmetic is.
#[test]
fn the_library_is_tested_as_it_is_released_with_overflow_checks() {
    let manifest = std::fs::read_to_string(workspace_root().join("Cargo.toml")).unwrap();
    let section = |name: &str| {
        let found = manifest.split("\n[").find_map(|section| section.strip_prefix(&format!("{name}]\n")));
        found.unwrap_or_else(|| panic!("no [{name}]"))
    };
    assert!(section("profile.dev.package.esdp-core").starts_with("opt-level = 3\n"));
    // Cargo's own defaults: level 3 for a release, and both kinds of checks while developing.
    for (name, key) in [
        ("profile.release", "opt-level"),
        ("profile.dev", "overflow-checks"),
        ("profile.dev", "debug-assertions"),
        ("profile.dev.package.esdp-core", "overflow-checks"),
        ("profile.dev.package.esdp-core", "debug-assertions"),
    ] {
        assert!(!section(name).lines().any(|line| line.starts_with(key)), "[{name}] sets {key}");
    }
    assert!(
        !manifest.contains("\n[profile.test") && !manifest.contains("\n[profile.release.package.esdp-core]")
    );
}

#[test]
fn every_crate_can_be_packaged() {
    // Without the lock file no registry is asked for the crates of the workspace, which may not be in one.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let mut command = cargo(&["package", "--workspace", "--no-verify", "--exclude-lockfile", "--quiet"]);
    let output = command.arg("--target-dir").arg(target).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_sources_include_is_in_the_package() {
    let mut faults = Vec::new();
    for name in crates() {
        let files = packaged(&name);
        assert!(files.iter().any(|file| file.starts_with("src")), "{name}: the package has no sources");
        for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            let text =
                std::fs::read_to_string(workspace_root().join("crates").join(&name).join(file)).unwrap();
            faults.extend(missing(file, &text, &files).map(|fault| format!("crates/{name}/{fault}")));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The root of the checkout this test was built from.
fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of the crates, by which sources name them; but for this one, which stays in the project.
fn crates() -> Vec<String> {
    let folders =
        std::fs::read_dir(workspace_root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|folder| folder.join("Cargo.toml").is_file());
    let names = folders.map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned());
    let names: Vec<String> = names.filter(|name| name != "xtask").collect();
    assert!(!names.is_empty(), "no crate found");
    names
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(workspace_root()).args(arguments).args(["--allow-dirty", "--offline"]);
    command
}

/// The files of a crate's package, by their path in the crate.
fn packaged(name: &str) -> BTreeSet<PathBuf> {
    // By its manifest: the folder of the library is not called as its package.
    let manifest = format!("crates/{name}/Cargo.toml");
    let output = cargo(&["package", "--list", "--manifest-path", &manifest]).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(PathBuf::from).collect()
}

/// What a source includes and the package lacks.
fn missing<'a>(
    file: &'a Path,
    text: &'a str,
    files: &'a BTreeSet<PathBuf>,
) -> impl Iterator<Item = String> + 'a {
    included(text)
        .filter(move |(name, whole)| {
            let path = normal(&file.with_file_name(name));
            match whole {
                true => !path.is_some_and(|path| files.contains(&path)),
                // The rest of the name is put together by a macro: some file must start like this.
                false => !path.is_some_and(|path| files.iter().any(|file| file.starts_with(&path))),
            }
        })
        .map(|(name, _)| format!("{}: includes `{name}`, which is not in the package", file.display()))
}

/// The names that a source includes, each with whether it is the whole name.
fn included(text: &str) -> impl Iterator<Item = (&str, bool)> {
    INCLUDES.iter().flat_map(move |include| {
        text.split(include).skip(1).filter_map(|rest| {
            let rest = rest.trim_start();
            let (rest, whole) = rest.strip_prefix("concat!(").map_or((rest, true), |rest| (rest, false));
            // Anything but a text here is not a use of the macro, such as a mention in a comment.
            Some((rest.strip_prefix('"')?.split_once('"')?.0, whole))
        })
    })
}

/// A path without `..`, if it stays below where it starts.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !normal.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            other => normal.push(other),
        }
    }
    Some(normal)
}

#[test]
fn dependencies_are_read_from_their_section() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nanyhow = \"1\"\nesdp = { path = \"..\" }\n\n\
                    [dev-dependencies]\nesdp-milp.workspace = true\n";
    assert_eq!(own_dependencies(manifest), ["esdp"]);
}

#[test]
fn a_file_outside_is_found_however_it_is_included() {
    let files: BTreeSet<PathBuf> = ["src/a/b.rs", "src/data.txt", "presets/x.toml"].map(PathBuf::from).into();
    let faults = |text: &str| missing(Path::new("src/a/b.rs"), text, &files).count();
    for text in [
        "const A: &str = include_str!(\"../data.txt\");",
        "include_bytes!(\"../../presets/x.toml\")",
        "include_str!(concat!(\"../../presets/\", $name))",
        "// include_str!(...) is not used here",
    ] {
        assert_eq!(faults(text), 0, "{text}");
    }
    for text in [
        "include_str!(\"data.txt\")",
        "include_bytes!(\"../../../README.md\")",
        "include_str!(\n    \"../../docs/x.md\")",
        "include_str!(concat!(\"../../../presets/\", $name))",
        "#[path = \"../gone.rs\"]\nmod gone;",
    ] {
        assert_eq!(faults(text), 1, "{text}");
    }
}
