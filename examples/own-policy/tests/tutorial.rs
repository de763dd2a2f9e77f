//! The tutorial quotes this crate: what it shows is what is compiled.

/// The lines of a source between `// begin: NAME` and `// end: NAME`, without their common indent.
fn quoted(source: &str, name: &str) -> String {
    let (begin, end) = (format!("// begin: {name}"), format!("// end: {name}"));
    let lines =
        source.lines().skip_while(|line| line.trim() != begin).skip(1).take_while(|line| line.trim() != end);
    let lines: Vec<&str> = lines.collect();
    let indent =
        lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len()).min();
    let indent = indent.unwrap_or_else(|| panic!("there are no lines {name}"));
    lines.iter().map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n").collect()
}

#[test]
fn the_tutorial_quotes_the_code() {
    let tutorial = include_str!("../../../docs/tutorial.md");
    let (lib, main) = (include_str!("../src/lib.rs"), include_str!("../src/main.rs"));
    for (source, name) in [(lib, "index"), (lib, "policy"), (main, "main")] {
        let code = format!("```rust\n{}```\n", quoted(source, name));
        assert!(tutorial.contains(&code), "docs/tutorial.md does not quote `{name}`; it should say:\n{code}");
    }
}

/// Who copies the crate takes the tutorial's manifest: its name must be the one that the sources use.
#[test]
fn the_manifest_of_the_tutorial_fits_the_sources() {
    let tutorial = include_str!("../../../docs/tutorial.md");
    let manifest = tutorial.split("```toml\n").find(|part| part.starts_with("[package]")).unwrap();
    let manifest = manifest.split("```").next().unwrap();
    assert!(manifest.contains(concat!("name = \"", env!("CARGO_PKG_NAME"), "\"\n")), "{manifest}");
    // Everything that the sources use is a dependency, by a path inside of a clone called `esdp`.
    for (sources, folder) in [("esdp::", "crates/esdp"), ("esdp_engine::", "crates/esdp-engine")] {
        let used = [include_str!("../src/lib.rs"), include_str!("../src/main.rs")].concat();
        assert!(
            used.contains(&format!("use {sources}")) && manifest.contains(&format!("\"../esdp/{folder}\""))
        );
    }
}
