//! Which build made a result: `esdp --version`, and what results say of it.

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
