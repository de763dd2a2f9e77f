//! What only runs elsewhere, the hosted workflows and the image, agrees with the project: names of packages,
//! commands and versions. The workflows are read by `actionlint` too, if it is installed.

#![allow(clippy::print_stdout, reason = "a check that is left out says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
const IMAGE: &str = "deploy/Containerfile";

/// What follows each mark in a text, up to a space or the end of the line.
fn after<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).filter_map(|rest| rest.split([' ', '\n', '"', '\'']).next())
}

/// The one value of a key of the workspace's manifest.
fn of_workspace(key: &str) -> String {
    let text = read("Cargo.toml");
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    line.unwrap_or_else(|| panic!("no `{key}`")).trim_matches('"').to_owned()
}

#[test]
fn every_workflow_is_tested() {
    let folder = std::fs::read_dir(root().join(".github/workflows")).unwrap();
    assert_eq!(folder.count(), WORKFLOWS.len());
}

#[test]
fn actions_are_pinned_by_hash_and_say_their_version() {
    for path in WORKFLOWS {
        let text = read(path);
        let used: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("uses: ")).map(|(_, rest)| rest).collect();
        assert!(!used.is_empty(), "{path}");
        for action in used {
            let (_, pin) = action.split_once('@').unwrap_or_else(|| panic!("{path}: {action}"));
            let (hash, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{path}: {action}"));
            assert!(
                hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{path}: {action}"
            );
            assert!(version.split('.').count() == 3, "{path}: {action}");
        }
        assert!(!text.contains('\t'), "{path}: YAML knows no tabs");
    }
}

#[test]
fn commands_and_packages_that_are_named_are_there() {
    let help = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let packages: String = ["crates", "examples"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).ok())
        .collect();
    let mut named = 0;
    for path in WORKFLOWS.into_iter().chain([IMAGE]) {
        let text = read(path).replace("mkdir -p ", "mkdir ").replace('`', " ");
        for command in after(&text, "cargo xtask ") {
            assert!(help.contains(&format!("\n  {command} ")), "{path}: `cargo xtask {command}`");
            named += 1;
        }
        for package in after(&text, " -p ").chain(after(&text, "--package ")) {
            assert!(packages.contains(&format!("\nname = \"{package}\"\n")), "{path}: package {package}");
            named += 1;
        }
    }
    assert!(named >= 10, "only {named} were found");
}

#[test]
fn the_oldest_compiler_is_the_promised_one_everywhere() {
    let promised = of_workspace("rust-version");
    assert!(read(WORKFLOWS[0]).contains(&format!("cargo +{promised} check ")));
    assert!(read(WORKFLOWS[0]).contains(&format!("toolchain install {promised} ")));
    assert!(read(IMAGE).contains(&format!("rust:{promised}-slim")));
}

#[test]
fn the_change_log_has_this_version_with_the_date_of_the_citation() {
    let (changes, citation) = (read("CHANGELOG.md"), read("CITATION.cff"));
    let date = citation.lines().find_map(|line| line.strip_prefix("date-released: ")).expect("a date");
    let heading = format!("\n## {} ({date})\n", of_workspace("version"));
    assert!(changes.contains(&heading), "no heading `{}`", heading.trim());
}

#[test]
fn binstall_finds_what_a_release_holds() {
    let manifest = read("crates/esdp-cli/Cargo.toml");
    let name = "esdp-{ version }-{ target }";
    for expected in [format!("/v{{ version }}/{name}.tar.gz\""), format!("bin-dir = \"{name}/{{ bin }}")] {
        assert!(manifest.contains(&expected), "{expected}");
    }
    // The same name in `cargo xtask dist`.
    assert!(read("crates/xtask/src/dist.rs").contains("format!(\"esdp-{}-{}\", self.version, self.target)"));
}

/// The instructions of the image, each on one line and without comments.
fn instructions() -> Vec<(String, String)> {
    let text = read(IMAGE);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let split = |line: &str| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        (word.to_owned(), rest.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    joined.lines().filter(|line| !line.is_empty()).map(split).collect()
}

/// The rules of hadolint that apply here (its names in brackets).
#[test]
fn the_image_is_small_unprivileged_and_watched() {
    let all = instructions();
    let of = |word: &str| -> Vec<&str> {
        all.iter().filter(|(name, _)| name == word).map(|(_, rest)| rest.as_str()).collect()
    };
    for (word, _) in &all {
        let known =
            "FROM RUN WORKDIR COPY ARG LABEL USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD";
        assert!(known.split(' ').any(|known| known == word), "{word}");
    }
    for from in of("FROM") {
        let image = from.split(' ').next().unwrap();
        let tag = image.rsplit_once(':').map(|(_, tag)| tag);
        assert!(tag.is_some_and(|tag| tag != "latest"), "{image} has no tag [DL3006, DL3007]");
        assert!(image.split('/').next().is_some_and(|host| host.contains('.')), "{image} has no registry");
    }
    for run in of("RUN") {
        for (start, needed) in [("apt-get install", "--no-install-recommends"), ("apt-get install", "--yes")]
        {
            assert!(!run.contains(start) || run.contains(needed), "{run}: no {needed} [DL3014, DL3015]");
        }
        assert!(!run.contains("apt-get") || run.contains("rm -rf /var/lib/apt/lists"), "{run} [DL3009]");
        assert!(!run.contains("sudo ") && !run.contains("curl ") && !run.contains("cd "), "{run}");
    }
    for folder in of("WORKDIR") {
        assert!(folder.starts_with('/'), "{folder} [DL3000]");
    }
    let user = of("USER");
    assert!(
        user.last().is_some_and(|user| user.parse().is_ok_and(|id: u32| id >= 1000)),
        "{user:?} [DL3002]"
    );
    assert_eq!(of("ENTRYPOINT"), ["[\"esdp\"]"]);
    let command = of("CMD");
    assert!(
        command.len() == 1 && command[0].starts_with("[\"serve\", \"--mode\", \"observe\", "),
        "{command:?}"
    );
    assert!(of("HEALTHCHECK")[0].ends_with("CMD [\"esdp\", \"healthcheck\"]"));
    let labels = of("LABEL").join(" ");
    for label in ["title", "description", "source", "licenses"] {
        assert!(labels.contains(&format!("org.opencontainers.image.{label}=")), "{label}");
    }
    assert!(labels.contains(&format!("licenses=\"{}\"", of_workspace("license"))));
    assert!(labels.contains(&format!("source=\"{}\"", of_workspace("repository"))));
    assert!(labels.contains(&format!("description=\"{}\"", of_workspace("description"))));
}

#[test]
fn actionlint_has_no_complaint_where_it_is_installed() {
    let run = Command::new("actionlint")
        .args(["-shellcheck=", "-pyflakes="])
        .args(WORKFLOWS)
        .current_dir(root())
        .output();
    match run {
        Err(_) => println!("actionlint is not installed: the workflows are not checked by it"),
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
    }
}
