//! The chapter `docs/first-scenario.md`: its scenarios run, its commands work, and the files have the columns
//! that it reads.

use crate::util::esdp_in;
use std::path::Path;

const CHAPTER: &str = include_str!("../../../../docs/first-scenario.md");

/// The blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let after = CHAPTER.split(&*format!("\n```{language}\n")).collect::<Vec<_>>();
    after[1..].iter().map(|text| text.split("\n```").next().unwrap()).collect()
}

/// A command of the chapter that starts so, with fewer slots and seeds, as arguments.
fn command(start: &str) -> Vec<String> {
    let all = blocks("sh").join("\n").replace("\\\n", " ");
    let line = all.lines().find(|line| line.starts_with(start)).expect(start).to_owned();
    let mut words: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
    for (flag, value) in [("--slots", "30"), ("--seeds", "1")] {
        if let Some(at) = words.iter().position(|word| word == flag) {
            words[at + 1] = value.to_owned();
        }
    }
    words.push("-q".to_owned());
    words
}

fn run(directory: &Path, start: &str) -> String {
    let words = command(start);
    esdp_in(directory, &words.iter().map(String::as_str).collect::<Vec<_>>(), b"").fine()
}

#[test]
fn the_chapter_works_as_written() {
    let dir = tempfile::tempdir().unwrap();
    let [small, whole] = blocks("toml")[..] else { panic!("two scenarios") };
    std::fs::write(dir.path().join("my.toml"), small.replace("slots = 500", "slots = 20")).unwrap();
    let checked = esdp_in(dir.path(), &["scenario", "check", "my.toml"], b"").fine();
    assert!(checked.starts_with("my.toml: ok, 2 ports, 3 servers"), "{checked}");
    assert!(run(dir.path(), "esdp run my.toml").contains("out/first/report.html"));

    let file = include_str!("../../../../examples/scenarios/two-gpu-kinds.toml");
    assert!(whole.trim_end() == file.trim_end(), "the chapter's scenario is not the file's");
    std::fs::write(dir.path().join("two-gpu-kinds.toml"), file).unwrap();
    run(dir.path(), "esdp run two-gpu-kinds.toml");
    let out = dir.path().join("out/two-gpu-kinds");
    let columns = |name: &str| {
        let text = std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.lines().count() > 1, "{name} has no rows");
        text.lines().next().unwrap().split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |name: &str, wanted: &[&str]| {
        let found = columns(name);
        for column in wanted {
            assert!(found.iter().any(|found| found == column), "{name} has {found:?}, not {column}");
        }
    };
    let told = ["policy", "seed", "port", "server", "uses", "estimate", "low", "high", "true_mean"];
    has("estimates.csv", &told);
    has("curves.csv", &["policy", "slot", "regret_mean"]);
    has("seeds.csv", &["policy", "seed", "oracle_ratio"]);
    let estimates = std::fs::read_to_string(out.join("estimates.csv")).unwrap();
    assert!(estimates.contains(",bert,a100-4,"), "names are in the file");
    for file in ["summary.csv", "summary.json", "cluster.json", "scenario.toml", "report.html"] {
        assert!(CHAPTER.contains(file) && out.join(file).is_file(), "{file}");
    }

    run(dir.path(), "esdp sweep two-gpu-kinds.toml");
    let sweep = std::fs::read_to_string(dir.path().join("out/two-gpu-kinds-sweep/sweep.csv")).unwrap();
    assert_eq!(sweep.lines().count(), 1 + 2 * 2 * 2, "{sweep}");
}
