//! Which build made a result: `esdp --version`, what results say of it, and `esdp cite`.

use crate::run::{SMALL, read, run};
use crate::util::esdp;
use serde_json::Value;

fn version() -> String {
    let line = esdp(&["-V"], b"").fine();
    let version = line.strip_prefix("esdp ").and_then(|rest| rest.strip_suffix('\n'));
    version.expect("one line: `esdp VERSION`").to_owned()
}

#[test]
fn the_version_is_one_line_and_the_long_one_names_the_commit_and_the_compiler() {
    let short = version();
    assert!(short.starts_with(env!("CARGO_PKG_VERSION")) && !short.contains('\n'), "{short}");
    let long = esdp(&["--version"], b"").fine();
    let mut lines = long.lines();
    assert_eq!(lines.next(), Some(&*format!("esdp {short}")));
    let named: Vec<&str> = lines.map(|line| line.split_once(':').expect("NAME: VALUE").0).collect();
    assert_eq!(named, ["commit", "library", "rustc", "target", "profile"]);
    assert!(long.contains(esdp::BUILD), "{long}");
}

#[test]
fn results_and_pages_name_the_build() {
    let dir = tempfile::tempdir().unwrap();
    let printed = run(dir.path(), &[&SMALL[..], &["--format", "json"]].concat()).fine();
    let long = esdp(&["--version"], b"").fine();
    for text in [printed, read(dir.path(), "summary.json")] {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        let build = document["build"].as_object().expect("the key `build`");
        for (name, value) in build {
            // What is null is said in words.
            assert!(value.as_str().is_none_or(|value| long.contains(value)), "{name}: {value} in\n{long}");
        }
        assert_eq!(build["library"], esdp::BUILD);
    }
    let foot = format!("<footer>Made by esdp {}, ", version());
    assert!(read(dir.path(), "report.html").contains(&foot));
}

#[test]
fn the_citation_file_and_the_command_agree() {
    let file = include_str!("../../../../CITATION.cff");
    let of = |key: &str| {
        let line = file.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no `{key}`")).trim_matches('"')
    };
    let bibtex = esdp(&["cite"], b"").fine();
    let text = esdp(&["cite", "--format", "text"], b"").fine();
    assert_eq!(of("version"), env!("CARGO_PKG_VERSION"));
    let workspace = include_str!("../../../../Cargo.toml");
    let about = workspace.split("\ndescription = \"").nth(1).and_then(|rest| rest.split('"').next());
    assert_eq!(of("title"), format!("esdp: {}", about.expect("a description").replacen('A', "a", 1)));
    let paper = file.split("references:").nth(1).expect("the paper");
    let title = paper.lines().find_map(|line| line.trim().strip_prefix("title: ")).unwrap().trim_matches('"');
    for cited in [of("title"), of("repository-code"), of("doi"), "2204.04371", title, &version()] {
        let cited = cited.to_owned();
        let has = |text: &str| text.replace('\n', " ").contains(&cited);
        assert!(has(&bibtex) && has(&text), "{cited} is not in\n{bibtex}\n{text}");
    }
    for author in paper.split("family-names: ").skip(1) {
        let name = author.split([',', ' ']).next().unwrap();
        assert!(bibtex.contains(&format!("{name}, ")) && text.contains(name), "{name}");
    }
    // Every brace that opens closes, or LaTeX reads neither entry.
    let count = |brace: char| bibtex.chars().filter(|&letter| letter == brace).count();
    assert_eq!(count('{'), count('}'));
}
