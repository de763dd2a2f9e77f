//! The shape of the workspace, as a test: dependencies point one way, the libraries without IO keep no
//! globals, and each heavy dependency stays in the one crate that needs it. Names of types (`names/`)
//! and lengths of files (`sizes/`) are next door.
//!
//! The checks read source text and not the compiler's view. That is enough for code written in
//! good faith, and it keeps the rule, the file and the line in one readable message. Every check
//! is a function of strings, so that the tests at the end can show that it is able to fail.

mod names;
mod sizes;
mod support;

use std::path::{Path, PathBuf};

use support::code::{code_only, line_of, paths_from, words_at};
use support::{member_manifests, rust_files, workspace_root};

/// The modules of `crates/esdp`, from the bottom up, each with those it may use:
/// `model <- {stats, solver, rng} <- policy <- scheduler <- live <- sim <- scenario`.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("rng", &[]),
    ("stats", &["model", "rng"]),
    ("solver", &["model"]),
    ("policy", &["model", "stats", "solver", "rng"]),
    ("scheduler", &["model", "stats", "solver", "policy"]),
    ("live", &["model", "stats", "solver", "policy", "scheduler"]),
    ("conformance", &["model", "rng", "policy", "scheduler"]),
    ("sim", &["model", "stats", "solver", "rng", "policy", "scheduler", "live"]),
    ("scenario", &["model", "stats", "solver", "rng", "policy", "scheduler", "sim"]),
];

/// The libraries without IO, clock, threads and globals. Clippy holds most of that (`clippy.toml`); what it
/// cannot see is here.
const WITHOUT_IO: [&str; 2] = ["esdp", "esdp-trace"];
/// What hands them over to clippy.
const DENIED: &str = "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types, \
                      clippy::disallowed_macros))]";
/// Items that hold state for the whole process, and functions that need somebody to drive them.
const FORBIDDEN_WORDS: [&str; 2] = ["async", "static"];

/// Dependencies that belong to one crate only.
const ONE_HOME: &[(&str, &str)] = &[
    ("anyhow", "esdp-cli"),
    ("axum", "esdp-serve"),
    ("clap", "esdp-cli"),
    ("hyper", "esdp-serve"),
    ("indicatif", "esdp-cli"),
    ("microlp", "esdp-milp"),
    ("rayon", "esdp-engine"),
    ("rusqlite", "esdp-serve"),
    ("rustls", "esdp-serve"),
    ("tiny-skia", "esdp-report"),
    ("tokio", "esdp-serve"),
];

#[test]
fn dependencies_inside_the_library_point_one_way() {
    assert_none(source_files("esdp").iter().flat_map(|(file, text)| turned_arrows(file, text)));
}

#[test]
fn libraries_without_io_have_no_globals() {
    for krate in WITHOUT_IO {
        assert_none(source_files(krate).iter().flat_map(|(file, text)| globals(file, text)));
    }
}

#[test]
fn libraries_without_io_are_held_by_clippy() {
    for krate in WITHOUT_IO {
        let files = source_files(krate);
        let (_, text) = files.iter().find(|(file, _)| file == Path::new("lib.rs")).unwrap();
        assert!(text.contains(DENIED), "crates/{krate}/src/lib.rs does not deny what clippy.toml lists");
        // An `allow` further down would undo it.
        let allows = |(_, text): &&(PathBuf, String)| text.contains("clippy::disallowed");
        assert_eq!(
            files.iter().filter(allows).count(),
            1,
            "crates/{krate}: only lib.rs speaks of `disallowed`"
        );
    }
    let list = std::fs::read_to_string(workspace_root().join("clippy.toml")).unwrap();
    for name in
        ["std::fs::File", "std::time::Instant", "std::thread::spawn", "std::sync::OnceLock", "std::println"]
    {
        assert!(list.contains(&format!("\"{name}\"")), "clippy.toml lacks {name}");
    }
}

/// The same problem has the same answer on every platform: solvers use the functions of `libm`, not the
/// platform's own, whose last digit differs from one to the next. (Square roots are exact everywhere.)
#[test]
fn solvers_use_no_mathematics_of_the_platform() {
    let solver = |(file, _): &&(PathBuf, String)| file.starts_with("solver");
    assert_none(
        source_files("esdp").iter().filter(solver).flat_map(|(file, text)| platform_mathematics(file, text)),
    );
}

#[test]
fn heavy_dependencies_have_one_home() {
    let manifests = member_manifests();
    assert!(!manifests.is_empty(), "no manifest found");
    assert_none(manifests.iter().flat_map(|(krate, text)| strays(krate, text)));
}

#[test]
fn the_map_names_what_is_there() {
    let map = std::fs::read_to_string(workspace_root().join("ARCHITECTURE.md")).unwrap();
    let paths = mapped_paths(&map);
    assert!(paths.len() > 40, "the map is not where this test looks for it: {paths:?}");
    assert_none(
        paths
            .into_iter()
            .filter(|path| !workspace_root().join(path).exists())
            .map(|path| format!("ARCHITECTURE.md: the map names `{}`, which is not there", path.display())),
    );
}

/// The paths in the first column of the map's table: `a/b/`, `c/` is `a/b/` and `a/c/`.
fn mapped_paths(map: &str) -> Vec<PathBuf> {
    let rows = map.lines().skip_while(|line| *line != "| path | what lives there |").skip(2);
    let mut paths = Vec::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let mut folder = PathBuf::new();
        for name in row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2) {
            let path = folder.join(name);
            folder = path.parent().unwrap_or(Path::new("")).to_owned();
            paths.push(path);
        }
    }
    paths
}

/// Uses of a module that is not below the file's own.
fn turned_arrows(file: &Path, text: &str) -> Vec<String> {
    let modules = module_path(file);
    // lib.rs is the front door: it declares and re-exports everything.
    let Some(own) = modules.first() else {
        return Vec::new();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == own) else {
        return vec![format!(
            "{}:1: module `{own}` has no place in the layers: give it a row in LAYERS",
            file.display()
        )];
    };
    let code = code_only(text);
    let mut found = Vec::new();
    for (line, path) in paths_from(&code, &["crate", "super"]) {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let used = if path[0] == "crate" {
            path.get(1)
        } else {
            // Only as many `super` as the file is deep reach the root of the crate. Fewer stay
            // inside; so may as many in an inline module, which is why a known name is required.
            path.get(ups).filter(|name| ups >= modules.len() && LAYERS.iter().any(|(l, _)| l == name))
        };
        let Some(used) = used.filter(|used| *used != own) else {
            continue;
        };
        if !LAYERS.iter().any(|(name, _)| name == used) {
            // A re-export at the root hides where an item lives, and with it the arrow.
            found.push(format!(
                "{}:{line}: `crate::{used}` names no module of LAYERS: write the module's path",
                file.display()
            ));
        } else if !allowed.contains(&used.as_str()) {
            found.push(format!(
                "{}:{line}: `{own}` uses `{used}`, which is not below it (it may use: {})",
                file.display(),
                if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") }
            ));
        }
    }
    // `crate::sim::{A, B}` is two paths and one fault.
    found.dedup();
    found
}

/// Items for the whole process, and asynchronous functions, outside of tests.
fn globals(file: &Path, text: &str) -> Vec<String> {
    // `#[cfg(test)] mod tests;` puts tests into a file of this name.
    if file.ends_with("tests.rs") {
        return Vec::new();
    }
    let code = support::code::without_tests(&code_only(text));
    let mut found = Vec::new();
    for word in FORBIDDEN_WORDS {
        // The lifetime `'static` is no item.
        for offset in words_at(&code, word).into_iter().filter(|at| !code[..*at].ends_with('\'')) {
            let line = line_of(&code, offset);
            found.push(format!(
                "{}:{line}: `{word}` in a library that keeps no globals and waits for nothing",
                file.display()
            ));
        }
    }
    found
}

/// Calls of functions that the platform rounds as it likes, outside of tests.
fn platform_mathematics(file: &Path, text: &str) -> Vec<String> {
    if file.to_string_lossy().ends_with("tests.rs") {
        return Vec::new();
    }
    const NAMES: [&str; 12] =
        ["cbrt", "cos", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log10", "log2", "powf", "sin", "tanh"];
    let code = support::code::without_tests(&code_only(text));
    let mut found = Vec::new();
    for name in NAMES {
        for offset in words_at(&code, name) {
            let method = code[..offset].ends_with('.') || code[..offset].ends_with("f64::");
            if method && code[offset + name.len()..].starts_with('(') {
                found.push(format!(
                    "{}:{}: `{name}` of the platform: use libm",
                    file.display(),
                    line_of(&code, offset)
                ));
            }
        }
    }
    found
}

/// Dependencies in this crate's manifest that belong to another one.
fn strays(krate: &str, manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        for (name, home) in ONE_HOME {
            let key = line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
            let table = line.ends_with(&format!("dependencies.{name}]"));
            let renamed = line.contains(&format!("package = \"{name}\""));
            if krate != *home && (key || table || renamed) {
                found.push(format!(
                    "crates/{krate}/Cargo.toml:{}: `{name}` belongs to {home} only",
                    number + 1
                ));
            }
        }
    }
    found
}

/// The modules a file of the library lies in: none for `lib.rs`, `[policy, cts]` for
/// `policy/cts.rs`, `[policy]` for `policy.rs` and `policy/mod.rs`.
fn module_path(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// Every source file of a crate, by its path below `src`.
fn source_files(krate: &str) -> Vec<(PathBuf, String)> {
    let files = rust_files(&workspace_root().join("crates").join(krate).join("src"));
    // A folder that moved must not pass as a folder without faults.
    assert!(
        files.iter().any(|(file, _)| file == Path::new("lib.rs")),
        "{krate} is not where this test looks for it"
    );
    files
}

fn assert_none(faults: impl Iterator<Item = String>) {
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

// The checks must be able to fail; each test below gives one of them something to find.

fn arrows(file: &str, text: &str) -> Vec<String> {
    turned_arrows(Path::new(file), text)
}

#[test]
fn the_paths_of_a_map_are_read_row_by_row() {
    let map = "`no`\n| path | what lives there |\n|---|---|\n| `a/b/`, `c.rs` | `no` |\n| `d/` | no |\n\n| \
               `no` | |";
    assert_eq!(mapped_paths(map), ["a/b/", "a/c.rs", "d/"].map(PathBuf::from));
}

#[test]
fn a_turned_arrow_is_caught_with_file_and_line() {
    let found = arrows("model.rs", "//! A model.\n\nuse crate::policy::Policy;\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("model.rs:3: `model` uses `policy`"));
}

#[test]
fn a_turned_arrow_is_caught_however_it_is_written() {
    for text in [
        "use crate::{model::Slot, sim};",
        "use crate::{\n    model::{Slot, Port},\n    sim::Environment,\n};",
        "fn f() { crate::sim::run() }",
        "fn f() { crate :: sim :: run() }",
        "macro_rules! m { () => { $crate::sim::run() } }",
        "use super::super::sim::Environment;",
        "/* use */ use crate::sim as s; // crate::model",
    ] {
        assert_eq!(arrows("policy/cts.rs", text).len(), 1, "{text}");
    }
    assert_eq!(arrows("policy/mod.rs", "use super::sim;").len(), 1);
}

#[test]
fn arrows_that_point_down_are_fine() {
    for text in [
        "use crate::{model::Slot, stats::Estimate};",
        "use crate::policy::Policy;",
        "use super::Policy;\nmod tests { use super::super::*; }",
        "// use crate::sim;\n/// [`crate::sim`]\n/* crate::sim /* nested */ crate::sim */",
        "const TEXT: &str = \"crate::sim // \\\" crate::sim\";",
        "const RAW: &str = r#\"crate::sim \" crate::sim\"#;",
        "const QUOTE: char = '\"'; use crate::model; const OTHER: char = '\\'';",
        "pub(crate) fn f<'a>(x: &'a str) -> &'a str { x }",
    ] {
        assert_eq!(arrows("policy/cts.rs", text), Vec::<String>::new(), "{text}");
    }
    assert!(arrows("lib.rs", "pub use crate::sim::Environment;").is_empty());
}

#[test]
fn hidden_arrows_and_unknown_modules_are_caught() {
    assert_eq!(arrows("model.rs", "use crate::Scheduler;").len(), 1);
    assert_eq!(arrows("model.rs", "use crate::*;").len(), 1);
    assert_eq!(arrows("helpers.rs", "").len(), 1);
}

#[test]
fn globals_are_caught_and_what_is_none_is_let_through() {
    let found = |text: &str| globals(Path::new("model.rs"), text);
    for text in [
        "static mut COUNT: u32 = 0;",
        "\npub static LOCK: std::sync::Mutex<u32> = std::sync::Mutex::new(0);",
        "async fn f() {}",
        "#[cfg(test)]\nmod tests { fn f() { '}'; \"}\"; } }\nstatic A: u8 = 0;",
    ] {
        assert_eq!(found(text).len(), 1, "{text}");
    }
    for text in [
        "fn f() -> &'static str { \"static\" }\n// static",
        "#[cfg(test)]\nmod tests { static A: u8 = 0; }",
        "fn my_static() {}",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn mathematics_of_the_platform_is_caught() {
    let found = |text: &str| platform_mathematics(Path::new("solver/exact.rs"), text);
    for text in
        ["fn f(x: f64) -> f64 { x.exp() }", "fn f(x: f64) -> f64 { f64::powf(x, 0.5) }", "\n(1.0 + x).ln()"]
    {
        assert_eq!(found(text).len(), 1, "{text}");
    }
    for text in [
        "libm::exp(x)",
        "x.sqrt() + x.powi(2) + x.exponent()",
        "// x.ln()",
        "#[cfg(test)]\nmod tests { x.ln(); }",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_stray_dependency_is_caught_however_it_is_written() {
    for text in [
        "[dependencies]\nclap = \"4\"",
        "clap.workspace = true",
        "[dev-dependencies.clap]",
        "cli = { package = \"clap\", version = \"4\" }",
    ] {
        assert_eq!(strays("esdp", text).len(), 1, "{text}");
        assert!(strays("esdp-cli", text).is_empty(), "{text}");
    }
    assert!(strays("esdp", "# clap = 1\nclap_lex = \"1\"").is_empty());
}
